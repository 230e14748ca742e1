/* SPDX-License-Identifier: MIT */
/* fold.c - letters without their case, by the C library's table for UTF-8. */
#include "win32/text/fold.h"

#include "util/once.h"

#include <errno.h>
#include <locale.h>
#include <wctype.h>

static struct once once = ONCE_INIT;
static locale_t unicode;

/* A missing locale is final; other errors may pass, so the next call tries again. */
static int open_locale(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return unicode || errno == ENOENT ? 0 : -errno;
}

uint32_t win_fold(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
    return !once_run(&once, open_locale) && unicode ? (uint32_t)towlower_l((wint_t)c, unicode) : c;
}
