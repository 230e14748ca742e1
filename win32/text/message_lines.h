/* SPDX-License-Identifier: MIT */
/*
 * message_lines.h - the text that FormatMessage makes, in lines of a width. A line that reaches the width ends at its
 * last spaces, which go; without one it ends where it is.
 */
#ifndef WIN32_TEXT_MESSAGE_LINES_H
#define WIN32_TEXT_MESSAGE_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct message_lines {
    size_t width; /* characters of a line; 0: lines end where the message says */
    char *text;   /* UTF-8, for the caller to free; its end is not written */
    size_t length, room;
    bool failed;                   /* there was no memory */
    size_t column;                 /* characters of the present line */
    bool has_space;                /* the present line has spaces, where it may end */
    size_t space_begin, space_end; /* where its last spaces begin and end */
};

/* Octets that a line does not end within: a character, or an insert. */
void message_lines_put(struct message_lines *lines, const char *octets, size_t count);

/* A space, where a line may end. */
void message_lines_space(struct message_lines *lines);

/* Octets behind which a line begins. */
void message_lines_end(struct message_lines *lines, const char *octets);

#endif
