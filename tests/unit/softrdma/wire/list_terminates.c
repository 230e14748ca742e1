/* SPDX-License-Identifier: MIT */
/* list_terminates.c - the list of docs/troubleshooting.md: prints it, or compares it with that file. */
#include "softrdma/wire/fault.h"
#include "tests/conformance/list.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    char item[512], *text;
    size_t size;
    int status;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    for (const struct srd_fault_row *row = srd_fault_rows; row->fault != SRD_FAULT_NONE; row++) {
        snprintf(item, sizeof(item), "`%x/%x/%02x` %s. _Cause:_ %s.", SRD_FAULT_NUMBERS(row->fault),
            row->name, row->cause);
        list_item(out, item);
    }
    fclose(out);
    status = list_end(argc, argv, text, 0);
    free(text);
    return status;
}
