/* SPDX-License-Identifier: MIT */
/*
 * list_methods.c - docs/compatibility.md: every method of every interface, what it does here, the rows that prove it.
 *
 *     list_methods          prints the file
 *     list_methods FILE     fails when the file is another one
 *
 * The vtables are the list of what there is: methods.h has to name each of their slots once, with rows that exist and
 * run over the version the interface belongs to. Anything else is an error either way.
 */
#include <windows.h>

#include <ndspi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "list.h"
#include "methods.h"
#include "rows.h"

enum { V1 = 1, V2 = 2, BOTH = V1 | V2 };

#define ROW_(versions, function, covers) { versions, #function },
#define GROUP_(group)                    { 0, #group }, ROWS_##group(ROW_)
static const struct {
    int versions; /* 0: a suite begins */
    const char *name;
} rows[] = { SUITES(GROUP_) };

struct method {
    const char *name, *state, *rows;
    size_t slot;
};

struct iface {
    const char *name, *base; /* base NULL: none */
    int versions;
    size_t first, end; /* slots: its own are first to end - 1 */
    const struct method *methods;
    size_t count;
};

static FILE *out;
static int mistakes;

static void mistake(const struct iface *iface, const char *method, const char *what)
{
    fprintf(stderr, "%s::%s: %s\n", iface->name, method, what);
    mistakes++;
}

/* The versions a row runs over, named suite.row; 0: there is none. */
static int row_versions(const char *name)
{
    const char *dot = strchr(name, '.'), *suite = NULL;

    for (size_t i = 0; dot && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].versions == 0)
            suite = rows[i].name;
        else if (strlen(suite) == (size_t)(dot - name) &&
                 strncmp(suite, name, (size_t)(dot - name)) == 0 &&
                 strcmp(rows[i].name, dot + 1) == 0)
            return rows[i].versions;
    }
    return 0;
}

static void print_rows(FILE *to, const struct iface *iface, const struct method *method)
{
    char copy[512];
    int proved = 0;

    snprintf(copy, sizeof(copy), "%s", method->rows);
    for (char *name = strtok(copy, " "), *comma = ""; name;
         name = strtok(NULL, " "), comma = ", ") {
        int versions = row_versions(name);

        if (!(versions & iface->versions)) {
            fprintf(stderr, "%s: ", name);
            mistake(iface, method->name, versions ? "row of another version" : "no such row");
        }
        proved |= versions;
        fprintf(to, "%s%s", comma, name);
    }
    if ((proved & iface->versions) != iface->versions)
        mistake(iface, method->name, "no row proves it");
}

/* A method as an item: slot, name, what it does here, the rows that prove it. */
static void print_method(const struct iface *iface, const struct method *method)
{
    char *item = NULL;
    size_t size;
    FILE *to = open_memstream(&item, &size);

    if (!to)
        abort();
    fprintf(to, "%zu **%s**: %s. ", method->slot, method->name, method->state);
    print_rows(to, iface, method);
    fclose(to);
    list_item(out, item);
    free(item);
}

static void print_iface(const struct iface *iface)
{
    fprintf(out, "\n### %s\n", iface->name);
    if (iface->base)
        fprintf(out, "Slots 0 to %zu: %s.\n\n", iface->first - 1, iface->base);
    else
        fprintf(out, "Of every object; its rows run over both versions.\n\n");
    if (iface->first == iface->end) {
        fprintf(out, "No methods of its own.\n");
        return;
    }
    for (size_t slot = iface->first; slot < iface->end; slot++) {
        const struct method *method = NULL;

        for (size_t i = 0; i < iface->count; i++) {
            if (iface->methods[i].slot != slot)
                continue;
            if (method)
                mistake(iface, method->name, "named twice");
            method = &iface->methods[i];
        }
        if (!method) {
            fprintf(stderr, "slot %zu: ", slot);
            mistake(iface, "?", "a method that methods.h does not name");
            continue;
        }
        print_method(iface, method);
    }
}

#define SLOTS_(vtable) (sizeof(vtable) / sizeof(void *))
#define METHOD_(method, state, rows)                                                               \
    { #method, state, rows, offsetof(vtable, method) / sizeof(void *) },

/* One function for each interface, which defines `vtable` as its vtable. */
#define PRINT_(type, base, version) PRINT_BASE_(type, #base, SLOTS_(base##Vtbl), version)
#define PRINT_BASE_(type, base_name, base_slots, version)                                          \
    static void print_##type(void)                                                                 \
    {                                                                                              \
        typedef type##Vtbl vtable;                                                                 \
        static const struct method methods[] = { METHODS_##type(METHOD_) };                        \
        static const struct iface iface = { #type, base_name, version, base_slots, SLOTS_(vtable), \
            methods, sizeof(methods) / sizeof(methods[0]) };                                       \
        print_iface(&iface);                                                                       \
    }
PRINT_BASE_(IUnknown, NULL, 0, BOTH)
INTERFACES(PRINT_)

#define CALL_(type, base, version) print_##type();

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    int status;

    out = open_memstream(&text, &size);
    if (!out)
        abort();
    fputs("# Compatibility\n\n"
          "Every method of NetworkDirect's interfaces, what it does here, and the rows of the\n"
          "conformance suite (`tests/conformance`) that prove it; then which rows do not pass on\n"
          "which device; last the tables of NDKPI. How the behaviour differs from Windows:\n"
          "[porting.md](porting.md). This page is generated ([testing.md](testing.md),\n"
          "\"Generated pages\").\n",
        out);
    print_IUnknown();
    INTERFACES(CALL_)
    fclose(out);
    status = list_end(argc, argv, text, mistakes);
    free(text);
    return status;
}
