/* SPDX-License-Identifier: MIT */
/* vectors.h - the wire vectors of tests/vectors/iwarp-fpdu.txt. */
#ifndef TESTS_UNIT_SOFTRDMA_VECTORS_H
#define TESTS_UNIT_SOFTRDMA_VECTORS_H

#include <stddef.h>
#include <stdint.h>

struct vector {
    char name[32];
    char meaning[256];
    uint8_t octets[256];
    size_t count;
};

/* Reads the file named by the first argument of the program, else VECTOR_FILE; ends the program when it cannot. */
void vectors_load(int argc, char **argv);
extern struct vector vectors[128];
extern size_t vectors_count;
/* Fails the test when there is none of that name. */
const struct vector *vector_named(const char *name);

#endif
