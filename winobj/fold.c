/* SPDX-License-Identifier: MIT */
/* fold.c - letters without their case, by the C library's table for UTF-8. */
#include "winobj/fold.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t unicode;

static void open_locale(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

uint32_t win_fold(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
    pthread_once(&once, open_locale);
    return unicode ? (uint32_t)towlower_l((wint_t)c, unicode) : c;
}
