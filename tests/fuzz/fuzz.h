/* SPDX-License-Identifier: MIT */
/* fuzz.h - what a fuzzer calls: libFuzzer where the compiler has it, else replay.c with inputs that are kept. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t octets);

/* Ends the program, so that the fuzzer keeps the input. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Takes values from an input's front; zeros once it is empty. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t fuzz_octet(struct fuzz_input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->at++;
}

#endif
