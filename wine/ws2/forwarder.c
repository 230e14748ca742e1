/* SPDX-License-Identifier: MIT */
/*
 * forwarder.c - makes a ws2_32.dll for the installed Wine: it has the functions of a template, and for each other
 * export of Wine's own ws2_32.dll a forwarder to a renamed copy of that DLL. Names and ordinals stay Wine's.
 *
 * usage: ndspi-wine-forwarder WINE-DLL TEMPLATE NAME OUTPUT
 *   WINE-DLL  in: Wine's ws2_32.dll       TEMPLATE  in: a DLL with functions to put in place of Wine's
 *   NAME      what the copy is called, without .dll       OUTPUT  written
 * The export directory goes into a section of its own at the end of the template.
 *
 * Source: Microsoft's PE format, ".edata".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PE_OFFSET_AT = 0x3c,
    COFF_SECTIONS = 6, /* this constant and those below are offsets in the PE header */
    COFF_OPTIONAL_SIZE = 20,
    OPTIONAL = 24,
    OPT_SECTION_ALIGNMENT = OPTIONAL + 32,
    OPT_FILE_ALIGNMENT = OPTIONAL + 36,
    OPT_IMAGE_SIZE = OPTIONAL + 56,
    OPT_HEADERS_SIZE = OPTIONAL + 60,
    OPT_CHECKSUM = OPTIONAL + 64,
    OPT_EXPORTS = OPTIONAL + 112,
    MAGIC_PE32_PLUS = 0x20b,
    SECTION_OCTETS = 40,
    SECTION_VIRTUAL_SIZE = 8,
    SECTION_VIRTUAL = 12,
    SECTION_RAW_SIZE = 16,
    SECTION_RAW = 20,
    SECTION_FLAGS = 36,
    DIRECTORY_OCTETS = 40,
    MAX_EXPORTS = 4096,
};

struct image {
    const char *path;
    uint8_t *data;
    size_t size;
    uint32_t pe; /* offset of the PE header */
    unsigned sections;
    uint32_t section_table;
};

struct export
{
    uint32_t ordinal; /* index in the address table */
    uint32_t address;
    const char *name; /* NULL: by ordinal alone */
};

struct exports {
    uint32_t base, count; /* first ordinal and length of the address table */
    struct export *list;  /* has count elements */
};

static _Noreturn void fail(const char *path, const char *why)
{
    fprintf(stderr, "ndspi-wine-forwarder: %s: %s\n", path, why);
    exit(1);
}

static uint32_t get(const struct image *image, size_t offset, unsigned octets)
{
    uint32_t value = 0;

    if (offset > image->size || image->size - offset < octets)
        fail(image->path, "ends too early");
    for (unsigned i = 0; i < octets; i++)
        value |= (uint32_t)image->data[offset + i] << 8 * i;
    return value;
}

static void put(uint8_t *at, uint32_t value, unsigned octets)
{
    for (unsigned i = 0; i < octets; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void *allocate(size_t octets)
{
    void *memory = calloc(1, octets ? octets : 1);

    if (!memory)
        fail("memory", strerror(ENOMEM));
    return memory;
}

static struct image read_image(const char *path)
{
    struct image image = { .path = path };
    FILE *file = fopen(path, "rb");
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        fail(path, strerror(errno));
    image.size = (size_t)size;
    image.data = allocate(image.size);
    if (fread(image.data, 1, image.size, file) != image.size)
        fail(path, "cannot be read");
    fclose(file);
    image.pe = get(&image, PE_OFFSET_AT, 4);
    if (get(&image, 0, 2) != 0x5a4d || get(&image, image.pe, 4) != 0x4550 ||
        get(&image, (size_t)image.pe + OPTIONAL, 2) != MAGIC_PE32_PLUS)
        fail(path, "is no 64-bit DLL");
    image.sections = get(&image, (size_t)image.pe + COFF_SECTIONS, 2);
    image.section_table =
        image.pe + OPTIONAL + get(&image, (size_t)image.pe + COFF_OPTIONAL_SIZE, 2);
    return image;
}

static size_t section_at(const struct image *image, unsigned number)
{
    return (size_t)image->section_table + (size_t)number * SECTION_OCTETS;
}

/* Returns the file offset of an address. */
static size_t offset_of(const struct image *image, uint32_t address)
{
    for (unsigned i = 0; i < image->sections; i++) {
        size_t at = section_at(image, i);
        uint32_t begin = get(image, at + SECTION_VIRTUAL, 4);

        if (address >= begin && address - begin < get(image, at + SECTION_RAW_SIZE, 4))
            return (size_t)get(image, at + SECTION_RAW, 4) + (address - begin);
    }
    fail(image->path, "has an address outside of its sections");
}

static const char *text_at(const struct image *image, uint32_t address)
{
    size_t offset = offset_of(image, address);

    if (offset >= image->size || !memchr(image->data + offset, 0, image->size - offset))
        fail(image->path, "has a name without an end");
    return (const char *)image->data + offset;
}

static struct exports read_exports(const struct image *image)
{
    size_t directory = offset_of(image, get(image, (size_t)image->pe + OPT_EXPORTS, 4));
    struct exports exports = { .base = get(image, directory + 16, 4),
        .count = get(image, directory + 20, 4) };
    uint32_t names = get(image, directory + 24, 4);
    size_t functions = offset_of(image, get(image, directory + 28, 4));

    if (!exports.count || exports.count > MAX_EXPORTS || names > exports.count)
        fail(image->path, "has an export directory that makes no sense");
    exports.list = allocate(exports.count * sizeof(*exports.list));
    for (uint32_t i = 0; i < exports.count; i++)
        exports.list[i] =
            (struct export){ .ordinal = i, .address = get(image, functions + (size_t)4 * i, 4) };
    for (uint32_t i = 0; i < names; i++) {
        uint32_t name =
            get(image, offset_of(image, get(image, directory + 32, 4)) + (size_t)4 * i, 4);
        uint32_t ordinal =
            get(image, offset_of(image, get(image, directory + 36, 4)) + (size_t)2 * i, 2);

        if (ordinal >= exports.count)
            fail(image->path, "has an export without an address");
        exports.list[ordinal].name = text_at(image, name);
    }
    return exports;
}

static uint32_t own_function(const struct exports *template, const char *name)
{
    for (uint32_t i = 0; name && i < template->count; i++)
        if (template->list[i].name && strcmp(template->list[i].name, name) == 0)
            return template->list[i].address;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct export *)a)->name, ((const struct export *)b)->name);
}

/* The octets of the new section, as they are appended. */
struct text {
    uint8_t *data;
    uint32_t used, room;
    uint32_t address; /* the section's address in the image */
};

static uint32_t append(struct text *text, const char *string)
{
    uint32_t at = text->used, octets = (uint32_t)strlen(string) + 1;

    if (text->room - text->used < octets)
        fail("export directory", "is too large");
    memcpy(text->data + at, string, octets);
    text->used += octets;
    return text->address + at;
}

static uint32_t forward(
    struct text *text, const char *library, const struct export *export, uint32_t base)
{
    char target[512];
    int length = export->name
                     ? snprintf(target, sizeof(target), "%s.%s", library, export->name)
                     : snprintf(target, sizeof(target), "%s.#%u", library, base + export->ordinal);

    if (length < 0 || (size_t)length >= sizeof(target))
        fail(library, "has too long a name");
    return append(text, target);
}

/* Makes the export directory: header, addresses, names, ordinals, then texts. */
static struct text make_directory(const struct exports *wine, const struct exports *template,
    const char *library, uint32_t address)
{
    struct export *named = allocate(wine->count * sizeof(*named));
    uint32_t names = 0, functions_at = DIRECTORY_OCTETS, names_at, ordinals_at;
    struct text text = { .room = 1 << 20, .address = address };

    text.data = allocate(text.room);
    for (uint32_t i = 0; i < wine->count; i++)
        if (wine->list[i].address && wine->list[i].name)
            named[names++] = wine->list[i];
    qsort(named, names, sizeof(*named), by_name);
    names_at = functions_at + 4 * wine->count;
    ordinals_at = names_at + 4 * names;
    text.used = ordinals_at + 2 * names;
    put(text.data + 12, append(&text, "ws2_32.dll"), 4);
    put(text.data + 16, wine->base, 4);
    put(text.data + 20, wine->count, 4);
    put(text.data + 24, names, 4);
    put(text.data + 28, address + functions_at, 4);
    put(text.data + 32, address + names_at, 4);
    put(text.data + 36, address + ordinals_at, 4);
    for (uint32_t i = 0; i < wine->count; i++) {
        const struct export *export = &wine->list[i];
        uint32_t own = own_function(template, export->name);

        if (export->address)
            put(text.data + functions_at + (size_t)4 * i,
                own ? own : forward(&text, library, export, wine->base), 4);
    }
    for (uint32_t i = 0; i < names; i++) {
        put(text.data + names_at + (size_t)4 * i, append(&text, named[i].name), 4);
        put(text.data + ordinals_at + (size_t)2 * i, named[i].ordinal, 2);
    }
    free(named);
    return text;
}

static uint32_t align(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}

static void write_output(const char *path, const struct image *image, uint32_t raw,
    const struct text *text, uint32_t raw_size)
{
    FILE *file = fopen(path, "wb");
    uint8_t *padding = allocate((size_t)raw - image->size + raw_size);

    if (!file || fwrite(image->data, 1, image->size, file) != image->size ||
        fwrite(padding, 1, raw - image->size, file) != raw - image->size ||
        fwrite(text->data, 1, text->used, file) != text->used ||
        fwrite(padding, 1, raw_size - text->used, file) != raw_size - text->used || fclose(file))
        fail(path, strerror(errno));
    free(padding);
}

static void check_functions(
    const struct image *image, const struct exports *wine, const struct exports *template)
{
    for (uint32_t i = 0; i < template->count; i++) {
        bool found = false;

        for (uint32_t j = 0; template->list[i].name && j < wine->count; j++)
            found = found ||
                    (wine->list[j].name && !strcmp(wine->list[j].name, template->list[i].name));
        if (!found)
            fail(image->path, "exports a function that Wine's has not");
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: ndspi-wine-forwarder WINE-DLL TEMPLATE NAME OUTPUT\n");
        return 1;
    }
    struct image wine_image = read_image(argv[1]), image = read_image(argv[2]);
    struct exports wine = read_exports(&wine_image), template = read_exports(&image);
    size_t last = section_at(&image, image.sections - 1), header = last + SECTION_OCTETS,
           pe = image.pe;
    uint32_t file_alignment = get(&image, pe + OPT_FILE_ALIGNMENT, 4);
    uint32_t section_alignment = get(&image, pe + OPT_SECTION_ALIGNMENT, 4);
    uint32_t address = get(&image, pe + OPT_IMAGE_SIZE, 4);

    check_functions(&image, &wine, &template);
    if (!image.sections || !file_alignment || !section_alignment || address % section_alignment ||
        header + SECTION_OCTETS > get(&image, pe + OPT_HEADERS_SIZE, 4))
        fail(argv[2], "has no room for another section");
    struct text text = make_directory(&wine, &template, argv[3], address);
    uint32_t raw = align((uint32_t)image.size, file_alignment),
             raw_size = align(text.used, file_alignment);

    memset(image.data + header, 0, SECTION_OCTETS);
    memcpy(image.data + header, ".forward", 8);
    put(image.data + header + SECTION_VIRTUAL_SIZE, text.used, 4);
    put(image.data + header + SECTION_VIRTUAL, address, 4);
    put(image.data + header + SECTION_RAW_SIZE, raw_size, 4);
    put(image.data + header + SECTION_RAW, raw, 4);
    put(image.data + header + SECTION_FLAGS, 0x40000040, 4); /* initialised data, readable */
    put(image.data + pe + COFF_SECTIONS, image.sections + 1, 2);
    put(image.data + pe + OPT_IMAGE_SIZE, align(address + text.used, section_alignment), 4);
    put(image.data + pe + OPT_CHECKSUM, 0, 4);
    put(image.data + pe + OPT_EXPORTS, address, 4);
    put(image.data + pe + OPT_EXPORTS + 4, text.used, 4);
    write_output(argv[4], &image, raw, &text, raw_size);
    return 0;
}
