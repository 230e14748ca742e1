/* SPDX-License-Identifier: MIT */
/*
 * list_rows.c - the table of behaviours and rows: prints it, or compares it with a file that must contain it.
 *
 *     list_rows            prints the table (Markdown)
 *     list_rows README.md  fails when the file does not contain it
 *
 * Either way a behaviour without a row, or a row that names no behaviour, is an error.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviours.h"
#include "list.h"
#include "rows.h"

#define ROW_(dialects, function, covers) { #dialects, #function, covers },
#define GROUP_(group)                    { NULL, #group, NULL }, ROWS_##group(ROW_)
static const struct {
    const char *dialects, *name, *covers; /* covers NULL: a suite begins */
} rows[] = { SUITES(GROUP_) };

#define BEHAVIOUR_(name, text) { #name, text },
static const struct {
    const char *name, *text;
} behaviours[] = { BEHAVIOURS(BEHAVIOUR_) };

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
enum { NAMES = sizeof(behaviours) / sizeof(behaviours[0]) };

/* Whether a word is in a list of words. */
static bool covers(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static bool names_are_known(const char *list)
{
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", list);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        int i = 0;
        while (i < NAMES && strcmp(behaviours[i].name, word) != 0)
            i++;
        if (i == NAMES)
            return false;
    }
    return *list != '\0';
}

/* Returns the number of mistakes; *table: to be freed. */
static int build(char **table)
{
    size_t size;
    int mistakes = 0;
    FILE *out = open_memstream(table, &size);
    if (!out)
        abort();
    fprintf(out, "| Behaviour | | Rows |\n|---|---|---|\n");
    for (int b = 0; b < NAMES; b++) {
        const char *group = NULL, *told = NULL;
        int count = 0;
        fprintf(out, "| %s | %s |", behaviours[b].name, behaviours[b].text);
        for (int r = 0; r < ROWS; r++) {
            if (!rows[r].covers) {
                group = rows[r].name;
                continue;
            }
            if (!covers(rows[r].covers, behaviours[b].name))
                continue;
            if (told != group)
                fprintf(out, "%s **%s** %s", count ? ";" : "", group, rows[r].name);
            else
                fprintf(out, ", %s", rows[r].name);
            if (strcmp(rows[r].dialects, "BOTH") != 0)
                fprintf(out, " (%s)", rows[r].dialects);
            told = group;
            count++;
        }
        fprintf(out, " |\n");
        if (count == 0) {
            fprintf(stderr, "no row covers %s\n", behaviours[b].name);
            mistakes++;
        }
    }
    for (int r = 0; r < ROWS; r++)
        if (rows[r].covers && !names_are_known(rows[r].covers)) {
            fprintf(
                stderr, "row %s covers an unknown behaviour: %s\n", rows[r].name, rows[r].covers);
            mistakes++;
        }
    fclose(out);
    return mistakes;
}

int main(int argc, char **argv)
{
    char *table = NULL;
    int mistakes = build(&table), status = list_end(argc, argv, table, mistakes);
    free(table);
    return status;
}
