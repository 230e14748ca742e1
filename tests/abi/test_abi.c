/* SPDX-License-Identifier: MIT */
/*
 * test_abi.c - compares the .abi sections of object files (abi_table.h), named on the command line, with the literals
 * of abi.def, and so with each other. Without a name: the identifiers this program is linked with. Every difference is
 * printed.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <ndspi.h>
#include <ndprovider.h>

#include "../support/spec_codes.h"

enum kind { NUMBER, IDENTIFIER, SLOT };

struct row {
    enum kind kind;
    const char *what, *name;
    uint64_t wanted[2]; /* with pointers of 64 and of 32 bits; of a slot: its number */
    unsigned char bytes[16];
};

#define BYTE_OF(value, shift)          (unsigned char)((uint64_t)(value) >> (shift))
#define ABI_SIZE(type, size64, size32) { NUMBER, "size of", #type, { size64, size32 }, { 0 } },
#define ABI_INTEGER(type, size64, size32, is_signed)                                               \
    { NUMBER, "size of", #type, { size64, size32 }, { 0 } },                                       \
        { NUMBER, "sign of", #type, { is_signed, is_signed }, { 0 } },
#define ABI_ALIGN(type, align64, align32)                                                          \
    { NUMBER, "alignment of", #type, { align64, align32 }, { 0 } },
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)                                 \
    { NUMBER, "size of", #type "." #field, { size64, size32 }, { 0 } },                            \
        { NUMBER, "offset of", #type "." #field, { offset64, offset32 }, { 0 } },
#define ABI_VALUE(name, value) { NUMBER, "value of", #name, { value, value }, { 0 } },
#define ABI_STATUS(name, value)                                                                    \
    { NUMBER, "value of", #name, { value, value }, { 0 } },                                        \
        { NUMBER, "size of", #name, { 4, 4 }, { 0 } },
#define ABI_IID(name, g1, g2, g3, g4, g5)                                                          \
    { IDENTIFIER, "bytes of", #name, { 0, 0 },                                                     \
        { BYTE_OF(g1, 0), BYTE_OF(g1, 8), BYTE_OF(g1, 16), BYTE_OF(g1, 24), BYTE_OF(g2, 0),        \
            BYTE_OF(g2, 8), BYTE_OF(g3, 0), BYTE_OF(g3, 8), BYTE_OF(g4, 8), BYTE_OF(g4, 0),        \
            BYTE_OF(g5, 40), BYTE_OF(g5, 32), BYTE_OF(g5, 24), BYTE_OF(g5, 16), BYTE_OF(g5, 8),    \
            BYTE_OF(g5, 0) } },
#define ABI_FIRST_SLOT(iface) ABI_SLOT(iface, QueryInterface, 0)
#define ABI_SLOT(iface, method, slot)                                                              \
    { SLOT, "slot of", #iface "::" #method, { slot, slot }, { 0 } },
#define ABI_SLOTS(iface, base, count)                                                              \
    { NUMBER, "size of", #iface, { 8, 4 }, { 0 } },                                                \
        { SLOT, "slots in", #iface, { count, count }, { 0 } },
#define ABI_FUNCTION(name, result, arguments)
static const struct row rows[] = {
#include "abi.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The section, read from the front. */
struct section {
    unsigned char data[1 << 16];
    size_t bytes, at;
    unsigned pointer_bytes;
    bool cplusplus;
};

static uint64_t take(struct section *section, unsigned bytes)
{
    uint64_t value = 0;

    if (section->at + bytes <= section->bytes)
        for (unsigned i = bytes; i--;)
            value = value << 8 | section->data[section->at + i];
    section->at += bytes;
    return value;
}

/*
 * Of C the offset in the vtable. Of C++ a pointer to a virtual method: 1 + offset, and 0; where functions may be odd,
 * the offset, and 1. UINT64_MAX: no virtual method.
 */
static uint64_t take_slot(struct section *section)
{
    uint64_t pointer, adjustment;

    if (!section->cplusplus)
        return take(section, 8) / section->pointer_bytes;
    pointer = take(section, section->pointer_bytes);
    adjustment = take(section, section->pointer_bytes);
    if (pointer % section->pointer_bytes == 1 && adjustment == 0)
        return pointer / section->pointer_bytes;
    return pointer % section->pointer_bytes == 0 && adjustment == 1
               ? pointer / section->pointer_bytes
               : UINT64_MAX;
}

static unsigned check_row(const char *path, const struct row *row, struct section *section)
{
    uint64_t wanted = row->wanted[section->pointer_bytes == 4], got;

    if (row->kind == IDENTIFIER) {
        const unsigned char *bytes = section->data + section->at;

        section->at += 16;
        if (section->at <= section->bytes && !memcmp(bytes, row->bytes, 16))
            return 0;
        printf("%s: %s %s are others\n", path, row->what, row->name);
        return 1;
    }
    got = row->kind == SLOT ? take_slot(section) : take(section, 8);
    if (got == wanted)
        return 0;
    printf("%s: %s %s is %#llx, not %#llx\n", path, row->what, row->name, (unsigned long long)got,
        (unsigned long long)wanted);
    return 1;
}

static unsigned check_file(const char *path)
{
    static struct section section;
    FILE *file = fopen(path, "rb");
    unsigned wrong = 0;
    uint64_t bytes;

    if (!file) {
        perror(path);
        return 1;
    }
    section.at = 0;
    section.bytes = fread(section.data, 1, sizeof(section.data), file);
    fclose(file);
    section.pointer_bytes = (unsigned)take(&section, 8);
    section.cplusplus = take(&section, 8) != 0;
    bytes = take(&section, 8);
    if (section.pointer_bytes != 4 && section.pointer_bytes != 8) {
        printf("%s: no .abi section\n", path);
        return 1;
    }
    for (size_t i = 0; i < ROWS; i++)
        wrong += check_row(path, &rows[i], &section);
    if (section.at != bytes || bytes > section.bytes) {
        printf("%s: %zu bytes, not %zu\n", path, (size_t)bytes, section.at);
        wrong++;
    }
    return wrong;
}

static unsigned check_linked(const char *name, const GUID *linked)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == IDENTIFIER && !strcmp(rows[i].name, name) &&
            !memcmp(linked, rows[i].bytes, 16))
            return 0;
    printf("%s in the library has other bytes\n", name);
    return 1;
}

static unsigned check_library(void)
{
    unsigned wrong = 0;
#define ABI_SIZE(type, size64, size32)
#define ABI_INTEGER(type, size64, size32, is_signed)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5) wrong += check_linked(#name, &name);
#define ABI_FIRST_SLOT(iface)
#define ABI_SLOT(iface, method, slot)
#define ABI_SLOTS(iface, base, count)
#define ABI_FUNCTION(name, result, arguments)
#include "abi.def"
    return wrong;
}

int main(int argc, char **argv)
{
    unsigned wrong = 0;

    if (argc < 2)
        wrong = check_library();
    for (int i = 1; i < argc; i++)
        wrong += check_file(argv[i]);
    printf("%zu rows, %d files, %u differences\n", ROWS, argc - 1, wrong);
    return wrong != 0;
}
