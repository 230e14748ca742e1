/* SPDX-License-Identifier: MIT */
/* vectors.c - see vectors.h. */
#include "vectors.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct vector vectors[128];
size_t vectors_count;

static void parse_line(char *line)
{
    struct vector *v = &vectors[vectors_count];
    char *name = strtok(line, "\t\n"), *direction = strtok(NULL, "\t\n"),
         *hex = strtok(NULL, "\t\n"), *meaning = strtok(NULL, "\t\n");

    if (!direction || !hex || !meaning || strlen(hex) > 2 * sizeof(v->octets) ||
        vectors_count == 128) {
        fprintf(stderr, "bad line in the vector file: %s\n", name);
        exit(1);
    }
    snprintf(v->name, sizeof(v->name), "%s", name);
    snprintf(v->meaning, sizeof(v->meaning), "%s", meaning);
    for (v->count = 0; hex[2 * v->count]; v->count++) {
        unsigned octet;

        if (sscanf(hex + 2 * v->count, "%2x", &octet) != 1)
            exit(1);
        v->octets[v->count] = (uint8_t)octet;
    }
    vectors_count++;
}

void vectors_load(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : VECTOR_FILE;
    FILE *file = fopen(path, "r");
    char line[1024];

    if (!file) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof(line), file))
        if (line[0] != '#' && line[0] != '\n')
            parse_line(line);
    fclose(file);
}

const struct vector *vector_named(const char *name)
{
    for (size_t i = 0; i < vectors_count; i++)
        if (!strcmp(vectors[i].name, name))
            return &vectors[i];
    fail_msg("no vector %s", name);
    return NULL;
}
