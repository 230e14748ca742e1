/* SPDX-License-Identifier: MIT */
/*
 * list_tables.c - the part of docs/compatibility.md about NDKPI: every slot, structure, constant and status code, what
 * it does here, and the tests of this folder that prove it.
 *
 *     list_tables FOLDER          prints it; FOLDER has the tests' sources
 *     list_tables FOLDER FILE     fails when the file does not contain it
 *
 * tests/abi/ndk.def is the list of what there is (the test abi.ndk.complete holds that against the headers): tables.h
 * has to have each of its names once, and no other, with tests that exist. Anything else is an error either way.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "tests/conformance/list.h"
#include "tests/support/spec_codes.h"

/* ---- what there is: a row of ndk.def ---- */

struct row {
    enum { SIZE, FIELD, VALUE, CODE, SLOT, TYPE } kind;
    const char *name;   /* of a field or slot: its type or table */
    const char *member; /* of a field or slot */
    const char *type;   /* of a slot */
    uint32_t number;    /* size, offset, value or slot */
};

#define NDK_SIZE(type, bytes) { SIZE, #type, NULL, NULL, bytes },
#define NDK_ALIGN(type, bytes)
#define NDK_FIELD(type, field, bytes, offset)   { FIELD, #type, #field, NULL, offset },
#define NDK_VALUE(name, value)                  { VALUE, #name, NULL, NULL, value },
#define NDK_CODE(name, value)                   { CODE, #name, NULL, NULL, value },
#define NDK_SLOT(table, member, slot, function) { SLOT, #table, #member, #function, slot },
#define NDK_SLOTS(table, slots)
#define NDK_TYPE(name, result, ...) { TYPE, #name, NULL, NULL, 0 },
static const struct row rows[] = {
#include "tests/abi/ndk.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- what is said of it: a row of tables.h ---- */

struct entry {
    const char *name, *member, *since, *text, *tests;
    bool met;
};

#define SLOT_(table, member, since, text, tests) { #table, #member, since, text, tests, false },
#define TEXT_(name, since, text)                 { #name, NULL, since, text, NULL, false },
#define FIELD_(name, since, text)                { "NDK_ADAPTER_INFO", #name, since, text, NULL, false },
#define CODE_(name, text)                        { #name, NULL, "1.1", text, NULL, false },
static struct entry slots[] = { SLOTS(SLOT_) };
static struct entry types[] = { TYPES(TEXT_) };
static struct entry structs[] = { STRUCTS(TEXT_) };
static struct entry fields[] = { INFO(FIELD_) };
static struct entry values[] = { VALUES(TEXT_) };
static struct entry codes[] = { CODES(CODE_) };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static FILE *out;
static int mistakes;
static const char *folder;

static void mistake(const char *name, const char *member, const char *what)
{
    fprintf(stderr, "%s%s%s: %s\n", name, member ? "." : "", member ? member : "", what);
    mistakes++;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The entry of a row, or NULL. An entry is met once. */
static struct entry *entry_of(struct entry *entries, size_t count, const struct row *row)
{
    struct entry *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!same(entries[i].name, row->name) || !same(entries[i].member, row->member))
            continue;
        if (found || entries[i].met)
            mistake(row->name, row->member, "named twice");
        found = &entries[i];
        found->met = true;
    }
    return found;
}

static void all_met(const struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!entries[i].met)
            mistake(entries[i].name, entries[i].member, "ndk.def has no such name");
}

/* Whether the sources have a test of this name, suite.row. */
static bool is_test(const char *name)
{
    static char source[1 << 20];
    const char *dot = strchr(name, '.');
    char path[4096], wanted[256];
    FILE *file;
    size_t size;

    if (!dot)
        return false;
    snprintf(path, sizeof(path), "%s/test_%.*s.c", folder, (int)(dot - name), name);
    snprintf(wanted, sizeof(wanted), "\nstatic void %s(void **state)\n", dot + 1);
    if (!(file = fopen(path, "r")))
        return false;
    size = fread(source, 1, sizeof(source) - 1, file);
    fclose(file);
    source[size] = '\0';
    return strstr(source, wanted);
}

static void print_tests(FILE *to, const struct entry *entry)
{
    char copy[512];

    snprintf(copy, sizeof(copy), "%s", entry->tests);
    for (char *name = strtok(copy, " "), *comma = ". "; name;
         name = strtok(NULL, " "), comma = ", ") {
        if (!is_test(name)) {
            fprintf(stderr, "%s: ", name);
            mistake(entry->name, entry->member, "no such test");
        }
        fprintf(to, "%s%s", comma, name);
    }
}

static void print_offsets(FILE *to, const struct row *row)
{
    const char *comma = ". ";

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind != FIELD || !same(rows[i].name, row->name))
            continue;
        fprintf(to, "%s%s 0x%02x", comma, rows[i].member, (unsigned)rows[i].number);
        comma = ", ";
    }
}

/* A row as an item: number, name, version, what it does here, tests or offsets. */
static void print_item(const struct row *row, const struct entry *entry)
{
    char *item = NULL;
    size_t size;
    FILE *to = open_memstream(&item, &size);

    if (!to)
        abort();
    if (row->kind == SLOT)
        fprintf(to, "%u ", (unsigned)row->number);
    fprintf(to, "**%s**", row->member ? row->member : row->name);
    if (row->kind == VALUE || row->kind == CODE)
        fprintf(to, row->number > 11 || strstr(row->name, "_FLAG_") ? " 0x%x" : " %u",
            (unsigned)row->number);
    if (row->kind == SIZE || row->kind == FIELD)
        fprintf(to, row->kind == SIZE ? " 0x%x bytes" : " 0x%02x", (unsigned)row->number);
    if (!same(entry->since, "1.1"))
        fprintf(to, " (%s)", entry->since);
    fprintf(to, ": %s", entry->text);
    if (entry->tests)
        print_tests(to, entry);
    if (row->kind == SIZE && !same(row->name, "NDK_ADAPTER_INFO"))
        print_offsets(to, row);
    fclose(to);
    list_item(out, item);
    free(item);
}

static void print_row(struct entry *entries, size_t count, const struct row *row)
{
    struct entry *entry = entry_of(entries, count, row);

    if (entry)
        print_item(row, entry);
    else
        mistake(row->name, row->member, "tables.h does not name it");
}

/* ---- the parts ---- */

static void print_tables(void)
{
    const char *table = NULL;

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].kind != SLOT)
            continue;
        if (!same(table, rows[i].name))
            fprintf(out, "\n### %s\n", rows[i].name);
        table = rows[i].name;
        print_row(slots, COUNT(slots), &rows[i]);
    }
    all_met(slots, COUNT(slots));
}

static bool has_slot(const char *type)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == SLOT && same(rows[i].type, type))
            return true;
    return false;
}

static void print_types(void)
{
    fputs("\n### Types of functions without a slot\n", out);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == TYPE && !has_slot(rows[i].name))
            print_row(types, COUNT(types), &rows[i]);
    all_met(types, COUNT(types));
}

static bool has_fields(const char *type)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == FIELD && same(rows[i].name, type))
            return true;
    return false;
}

/* Of the base types the headers say enough. */
static bool is_base(const char *type)
{
    return strncmp(type, "NDK_", 4) != 0 && strcmp(type, "MDL") != 0;
}

static void print_structs(void)
{
    fputs("\n### Structures\nSizes and offsets are those of Windows with pointers of 64 bits.\n\n",
        out);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == SIZE && !is_base(rows[i].name) && has_fields(rows[i].name))
            print_row(structs, COUNT(structs), &rows[i]);
    all_met(structs, COUNT(structs));
    fputs("\n### NDK_ADAPTER_INFO\n", out);
    for (uint32_t offset = 0; offset < 0x68; offset += 4)
        for (size_t i = 0; i < ROWS; i++)
            if (rows[i].kind == FIELD && rows[i].number == offset &&
                same(rows[i].name, "NDK_ADAPTER_INFO"))
                print_row(fields, COUNT(fields), &rows[i]);
    all_met(fields, COUNT(fields));
}

static void print_values(void)
{
    fputs(
        "\n### Constants\nFlags that are not known, or not of that request, are not looked at.\n\n",
        out);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == VALUE)
            print_row(values, COUNT(values), &rows[i]);
    all_met(values, COUNT(values));
}

static void print_codes(void)
{
    fputs("\n### Status codes\nEach with the calls that return it, or that end with it.\n\n", out);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == CODE)
            print_row(codes, COUNT(codes), &rows[i]);
    all_met(codes, COUNT(codes));
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    int status;

    if (argc < 2) {
        fputs("usage: list_tables FOLDER [FILE]\n", stderr);
        return 2;
    }
    folder = argv[1];
    out = open_memstream(&text, &size);
    if (!out)
        abort();
    fputs("## NDKPI\n\n"
          "The kernel flavour ([ndk.md](ndk.md)): every slot of every dispatch table, then types,\n"
          "structures, constants and status codes, with what each does here and the tests of\n"
          "`tests/unit/ndk` that prove it. The version in parentheses is the first one that has a\n"
          "name; without, that is 1.1. On a device whose adapters have version 1.1 alone (ndk.md,\n"
          "\"Versions\") slots of later versions work as far as the device can.\n",
        out);
    print_tables();
    print_types();
    print_structs();
    print_values();
    print_codes();
    fclose(out);
    argv[1] = argv[0];
    status = list_end(argc - 1, argv + 1, text, mistakes);
    free(text);
    return status;
}
