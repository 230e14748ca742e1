/* SPDX-License-Identifier: MIT */
/* message_lines.c - lines of a width (message_lines.h). */
#include "win32/text/message_lines.h"

#include <stdlib.h>
#include <string.h>

/* Characters of UTF-8. */
static size_t characters(const char *octets, size_t count)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += ((unsigned char)octets[i] & 0xc0) != 0x80;
    return found;
}

/* Puts octets in the place of those of [begin, end). */
static void replace(
    struct message_lines *lines, size_t begin, size_t end, const char *octets, size_t count)
{
    const size_t wanted = lines->length - (end - begin) + count + 1;

    if (wanted > lines->room) {
        char *larger = lines->failed ? NULL : realloc(lines->text, 2 * wanted);

        if (!larger) {
            lines->failed = true;
            return;
        }
        lines->text = larger;
        lines->room = 2 * wanted;
    }
    memmove(lines->text + begin + count, lines->text + end, lines->length - end);
    memcpy(lines->text + begin, octets, count);
    lines->length = wanted - 1;
}

static void wrap(struct message_lines *lines)
{
    size_t rest;

    if (!lines->width || lines->column < lines->width || lines->failed)
        return;
    if (!lines->has_space) {
        message_lines_end(lines, "\r\n");
        return;
    }
    rest = lines->length - lines->space_end;
    replace(lines, lines->space_begin, lines->space_end, "\r\n", 2);
    lines->column = lines->failed ? 0 : characters(lines->text + lines->length - rest, rest);
    lines->has_space = false;
}

void message_lines_put(struct message_lines *lines, const char *octets, size_t count)
{
    replace(lines, lines->length, lines->length, octets, count);
    lines->column += characters(octets, count);
    wrap(lines);
}

void message_lines_space(struct message_lines *lines)
{
    if (!lines->has_space || lines->space_end != lines->length) {
        lines->space_begin = lines->length;
        lines->has_space = true;
    }
    lines->space_end = lines->length + 1;
    message_lines_put(lines, " ", 1);
}

void message_lines_end(struct message_lines *lines, const char *octets)
{
    replace(lines, lines->length, lines->length, octets, strlen(octets));
    lines->column = 0;
    lines->has_space = false;
}
