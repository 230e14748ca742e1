/* SPDX-License-Identifier: MIT */
/* process.h - threads as the C runtime starts them. */
#ifndef WINCOMPAT_PROCESS_H
#define WINCOMPAT_PROCESS_H

#include <wincompat/handle.h>
#include <wincompat/stdlib.h>

WINCOMPAT_BEGIN

typedef unsigned(__stdcall *_beginthreadex_proc_type)(void *parameter);

WINOBJ_API uintptr_t __cdecl _beginthreadex(void *security, unsigned stack_size,
    _beginthreadex_proc_type start, void *parameter, unsigned flags, unsigned *thread_id);
WINOBJ_API DECLSPEC_NORETURN void __cdecl _endthreadex(unsigned exit_code);

WINCOMPAT_END

#endif
