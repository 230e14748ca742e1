/* SPDX-License-Identifier: MIT */
/* print.c - DbgPrint of ndkwdm.h, compiled for each width of wchar_t: the format is Windows'. */
#include "compat/crt/crt.h"

#include <ndkwdm.h>

ULONG DbgPrint(const CHAR *format, ...)
{
    struct crt_out out = { .stream = stderr };
    va_list arguments;
    int written;

    va_start(arguments, format);
    flockfile(stderr);
    written = CRT(crt_format)(&out, format, arguments);
    fflush(stderr);
    funlockfile(stderr);
    va_end(arguments);
    return (ULONG)(written < 0 ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS);
}
