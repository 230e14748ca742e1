/* SPDX-License-Identifier: MIT */
/*
 * sal1.h - source annotations of the first kind (__in, __out, ...), for code that is ported.
 *
 * The C and C++ libraries use the plain words as names of parameters. This header reads the C library's headers that
 * use them first, and the C++ library's without the words (words_push.inc). -DNDSPI_NO_SAL1 leaves the words out.
 * __reserved is not here: it is a member name in kernel headers. No header of ours relies on this one; <windows.h>,
 * <sal.h> and <ndspi.h> bring it, and for drivers <wdm.h>.
 */
#if !defined(WINCOMPAT_SAL1_H) && !defined(NDSPI_NO_SAL1)
#define WINCOMPAT_SAL1_H

#include <wincompat/inaddr.h>

#include <netdb.h>

#include <wincompat/sal1_buffers.h>

#define __in
#define __in_opt
#define __inout
#define __inout_opt
#define __out
#define __out_opt
#define __deref_in
#define __deref_in_opt
#define __deref_inout
#define __deref_inout_opt
#define __deref_opt_out
#define __deref_opt_out_opt
#define __deref_out
#define __deref_out_opt
#define __in_z
#define __in_opt_z
#define __nullterminated
#define __out_z
#define __inout_z

#define __in_bcount(...)
#define __in_bcount_opt(...)
#define __in_bcount_part(...)
#define __in_bcount_part_opt(...)
#define __in_bcount_full(...)
#define __in_bcount_z(...)
#define __in_bcount_nz(...)
#define __in_ecount(...)
#define __in_ecount_opt(...)
#define __in_ecount_part(...)
#define __in_ecount_part_opt(...)
#define __in_ecount_full(...)
#define __in_ecount_z(...)
#define __in_ecount_nz(...)
#define __out_bcount(...)
#define __out_bcount_opt(...)
#define __out_bcount_part(...)
#define __out_bcount_part_opt(...)
#define __out_bcount_full(...)
#define __out_bcount_z(...)
#define __out_bcount_nz(...)
#define __out_ecount(...)
#define __out_ecount_opt(...)
#define __out_ecount_part(...)
#define __out_ecount_part_opt(...)
#define __out_ecount_full(...)
#define __out_ecount_z(...)
#define __out_ecount_nz(...)
#define __inout_bcount(...)
#define __inout_bcount_opt(...)
#define __inout_bcount_part(...)
#define __inout_bcount_part_opt(...)
#define __inout_bcount_full(...)
#define __inout_bcount_z(...)
#define __inout_bcount_nz(...)
#define __inout_ecount(...)
#define __inout_ecount_opt(...)
#define __inout_ecount_part(...)
#define __inout_ecount_part_opt(...)
#define __inout_ecount_full(...)
#define __inout_ecount_z(...)
#define __inout_ecount_nz(...)
#define __deref_out_bcount(...)
#define __deref_out_ecount(...)
#define __deref_out_bcount_opt(...)
#define __deref_out_ecount_opt(...)
#define __bcount(...)
#define __ecount(...)
#define __field_bcount(...)
#define __field_ecount(...)
#define __success(...)
#define __in_range(...)
#define __out_range(...)
#define __bcount_opt(...)
#define __ecount_opt(...)
#define __in_awcount(...)
#define __in_data_source(...)
#define __out_awcount(...)
#define __out_data_source(...)
#define __out_has_adt_prop(...)

#endif
