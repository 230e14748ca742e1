/* SPDX-License-Identifier: MIT */
/* list.h - how a program that makes a part of a document ends: it prints it, or compares it with the document. */
#ifndef TESTS_CONFORMANCE_LIST_H
#define TESTS_CONFORMANCE_LIST_H

#include <stdio.h>
#include <string.h>

enum { LIST_COLUMNS = 118 };

/*
 * list_item - prints an item of a list, "- TEXT", in lines of at most LIST_COLUMNS; broken at blanks.
 */
static inline void list_item(FILE *out, const char *text)
{
    const char *lead = "- ";

    while (*text) {
        size_t length = strlen(text), room = LIST_COLUMNS - strlen(lead);

        if (length > room) {
            for (length = room; length && text[length] != ' ';)
                length--;
            if (!length)
                length = strcspn(text, " ");
        }
        fprintf(out, "%s%.*s\n", lead, (int)length, text);
        text += length + strspn(text + length, " ");
        lead = "  ";
    }
}

/*
 * list_end - main's last step.
 * text      in: the part
 * mistakes  in: found while it was made
 * With an argument the file of that name has to contain text; without, text is printed. Returns the exit status: 0
 * unless there were mistakes, or the file differs.
 */
static inline int list_end(int argc, char **argv, const char *text, int mistakes)
{
    static char document[1 << 20];
    FILE *file;
    size_t size;

    if (argc < 2) {
        fputs(text, stdout);
        return mistakes != 0;
    }
    file = fopen(argv[1], "r");
    size = file ? fread(document, 1, sizeof(document) - 1, file) : 0;
    if (file)
        fclose(file);
    document[size] = '\0';
    if (!strstr(document, text)) {
        fprintf(stderr, "%s does not contain what %s prints\n", argv[1], argv[0]);
        mistakes++;
    }
    return mistakes != 0;
}

#endif
