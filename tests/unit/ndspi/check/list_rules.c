/* SPDX-License-Identifier: MIT */
/* list_rules.c - the table of docs/checker.md: prints it, or compares it with that file. */
#include "ndspi/check/rules.h"
#include "tests/conformance/list.h"

#include <stdlib.h>

#define ROW(name, rule, advice) { rule, advice },
static const struct row {
    const char *rule, *advice;
} rules[] = { ND_CHECK_RULES(ROW) };

static void item(FILE *out, const struct row *row)
{
    char text[512];

    snprintf(text, sizeof(text), "%s. _%s._", row->rule, row->advice);
    list_item(out, text);
}

int main(int argc, char **argv)
{
    char *text;
    size_t size;
    int status;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        item(out, &rules[i]);
    fclose(out);
    status = list_end(argc, argv, text, 0);
    free(text);
    return status;
}
