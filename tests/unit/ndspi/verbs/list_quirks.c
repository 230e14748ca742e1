/* SPDX-License-Identifier: MIT */
/*
 * list_quirks.c - docs/devices.md: the families of devices, and what each does otherwise than verbs say.
 *
 *     list_quirks          prints the file
 *     list_quirks FILE     fails when the file is another one
 */
#include "ndspi/verbs/quirks.h"
#include "tests/conformance/list.h"

#include <stdlib.h>

static FILE *out;

/* The family's quirks by name, its connection manager's included. */
static void print_family(const struct nd_family *family)
{
    const char *before = *family->remarks ? ". " : "";
    char item[4096];
    int length = snprintf(item, sizeof(item), "**%s** (%s%s): %s", family->name, family->source,
        family->run ? "" : "; **not run**", family->remarks);

    for (int i = 0; i < ND_QUIRK_COUNT; i++) {
        if (!(family->quirks & (nd_quirk_set)1 << i))
            continue;
        length += snprintf(
            item + length, sizeof(item) - (size_t)length, "%s%s", before, nd_quirk_texts[i].name);
        before = ", ";
    }
    list_item(out, item);
}

static void print_quirk(const struct nd_quirk_text *quirk)
{
    char item[4096];

    snprintf(item, sizeof(item), "**%s**. %s *Done:* %s *Tests:* %s.", quirk->name, quirk->wrong,
        quirk->done, quirk->tests);
    list_item(out, item);
}

int main(int argc, char **argv)
{
    int mistakes = 0, status;
    nd_quirk_set used = 0;
    char *text = NULL;
    size_t size;

    out = open_memstream(&text, &size);
    if (!out)
        abort();
    fputs("# Devices\n\n"
          "How devices deviate from verbs, and what the library does about it. `ndinfo` shows the "
          "quirks of this machine's\n"
          "devices. Families marked \"not run\" were not available: their rows follow their "
          "drivers and manual pages, untested. This\n"
          "page is generated ([testing.md](testing.md), \"Generated pages\") from "
          "`ndspi/verbs/quirks.h` and `quirks.c`, which the\n"
          "library uses, too.\n\n"
          "## Families\n\n",
        out);
    for (size_t i = 0; i < nd_family_count; i++) {
        print_family(&nd_families[i]);
        used |= nd_families[i].quirks;
    }
    fputs("\n## Quirks\n\n"
          "Tests of `conformance` show them on the device itself (`./run test-kernel`), those of "
          "`ndspi` on a device\nthat the test simulates.\n\n",
        out);
    for (int i = 0; i < ND_QUIRK_COUNT; i++) {
        const struct nd_quirk_text *quirk = &nd_quirk_texts[i];

        if (!(used & (nd_quirk_set)1 << i)) {
            fprintf(stderr, "%s: no family has it\n", quirk->name);
            mistakes++;
        }
        print_quirk(quirk);
    }
    fclose(out);
    status = list_end(argc, argv, text, mistakes);
    free(text);
    return status;
}
