/* SPDX-License-Identifier: MIT */
/*
 * wmain.c - main for programs whose entry is wmain: converts the arguments from UTF-8 and calls it.
 *
 * Taken from the archive only by programs that define no main. The C++ spellings are its mangled names; a program
 * built with -fshort-wchar has its wmain renamed wmain16 by <tchar.h>.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int wmain_fn(int argc, void *argv, void *envp);

#define ENTRY(name, symbol) extern wmain_fn name __asm__(symbol) __attribute__((weak))
ENTRY(wide_c, "wmain");
ENTRY(wide_cxx0, "_Z5wmainv");
ENTRY(wide_cxx2, "_Z5wmainiPPw");
ENTRY(wide_cxx2k, "_Z5wmainiPPKw");
ENTRY(wide_cxx3, "_Z5wmainiPPwS0_");
ENTRY(wide_cxx3k, "_Z5wmainiPPKwS1_");
ENTRY(short_c, "wmain16");
ENTRY(short_cxx0, "_Z7wmain16v");
ENTRY(short_cxx2, "_Z7wmain16iPPw");
ENTRY(short_cxx2k, "_Z7wmain16iPPKw");
ENTRY(short_cxx3, "_Z7wmain16iPPwS0_");
ENTRY(short_cxx3k, "_Z7wmain16iPPKwS1_");

/* One character of UTF-8; a byte that belongs to none stands for itself, so nothing is lost. */
static uint32_t next_char(const unsigned char **text)
{
    const unsigned char *s = *text;
    unsigned more = 0;
    uint32_t c = s[0];

    if (s[0] >= 0xc2 && s[0] < 0xf5)
        more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : 1;
    if (more)
        c &= 0x3fu >> more;
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *text = s + 1;
            return s[0];
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *text = s + 1 + more;
    return c;
}

static size_t unit_put(void *out, size_t at, size_t width, uint32_t unit)
{
    if (width == 2)
        ((uint16_t *)out)[at] = (uint16_t)unit;
    else
        ((uint32_t *)out)[at] = unit;
    return at + 1;
}

static void *widen(const char *text, size_t width)
{
    const unsigned char *s = (const unsigned char *)text;
    void *out = calloc(strlen(text) + 1, width); /* never more units than bytes */
    size_t at = 0;

    while (out && *s) {
        uint32_t c = next_char(&s);
        if (width == 2 && c > 0xffff) {
            at = unit_put(out, at, width, 0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        at = unit_put(out, at, width, c);
    }
    return out;
}

static void **widen_all(char **strings, size_t width)
{
    size_t count = 0;
    void **out;

    while (strings[count])
        count++;
    out = calloc(count + 1, sizeof(*out));
    for (size_t i = 0; out && i < count; i++) {
        if (!(out[i] = widen(strings[i], width)))
            return NULL;
    }
    return out;
}

static wmain_fn *first_of(wmain_fn *const *entries)
{
    for (int i = 0; i < 6; i++)
        if (entries[i])
            return entries[i];
    return NULL;
}

/* Both vectors live as long as the process: exit handlers may look. */
static void **volatile kept[2];

int main(int argc, char **argv, char **envp)
{
    wmain_fn *const wide[6] = { wide_c, wide_cxx3, wide_cxx3k, wide_cxx2, wide_cxx2k, wide_cxx0 };
    wmain_fn *const narrow[6] = { short_c, short_cxx3, short_cxx3k, short_cxx2, short_cxx2k,
        short_cxx0 };
    wmain_fn *entry = first_of(wide);
    size_t width = entry ? 4 : 2;
    void **wargv, **wenvp;

    if (!entry && !(entry = first_of(narrow))) {
        fputs("this program defines neither main nor wmain\n", stderr);
        return EXIT_FAILURE;
    }
    kept[0] = wargv = widen_all(argv, width);
    kept[1] = wenvp = widen_all(envp, width);
    if (!wargv || !wenvp) {
        fputs("out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    return entry(argc, wargv, wenvp);
}
