/* SPDX-License-Identifier: MIT */
/* string.c - upper and lower case of ndkwdm.h, whatever the program's locale is. */
#include <ndkwdm.h>

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <wctype.h>

static locale_t unicode;

static void make_locale(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static bool has_unicode(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_locale);
    return unicode != (locale_t)0;
}

/* Where the system lacks that locale, these two change letters of ASCII alone. */
ULONG NdkwdmUpcase(ULONG character)
{
    if (character < 0x80)
        return character >= 'a' && character <= 'z' ? character - 'a' + 'A' : character;
    return has_unicode() ? (ULONG)towupper_l((wint_t)character, unicode) : character;
}

ULONG NdkwdmDowncase(ULONG character)
{
    if (character < 0x80)
        return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
    return has_unicode() ? (ULONG)towlower_l((wint_t)character, unicode) : character;
}
