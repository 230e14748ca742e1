/* SPDX-License-Identifier: MIT */
/*
 * wmain.c - main for programs whose entry is wmain: converts the arguments from UTF-8 and calls it.
 *
 * The linker takes it from the archive only for programs that define no main. The C++ spellings are its mangled names;
 * <tchar.h> renames the wmain of a program built with -fshort-wchar to wmain16.
 */
#include "compat/crt/text.h"

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

static void *widen(const char *text, size_t width)
{
    const unsigned char *s = (const unsigned char *)text;
    void *out = calloc(strlen(text) + 1, width); /* text never has more units than bytes */
    size_t at = 0;

    while (out && *s)
        at += wide_put((char *)out + at * width, width, utf8_next(&s, 4));
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

/* Both vectors are kept until the process ends: exit handlers may use them. */
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
