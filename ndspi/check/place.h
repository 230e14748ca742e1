/* SPDX-License-Identifier: MIT */
/* place.h - where in the program a call was made. */
#ifndef NDSPI_CHECK_PLACE_H
#define NDSPI_CHECK_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { ND_CHECK_FRAMES = 3, ND_CHECK_PLACE_OCTETS = 256 };

struct nd_check_place {
    const void *frames[ND_CHECK_FRAMES]; /* return addresses, the innermost first; NULL: no more */
};

/* The innermost callers of this library. Any thread; allocates nothing. */
void nd_check_place_here(struct nd_check_place *place);

/* Makes every place unknown from now on: the program runs on Wine's stacks, which this library cannot walk. */
void nd_check_place_never(void);
bool nd_check_place_known(void);

/*
 * Writes "program+0x1234 (main) < program+0x1180". addr2line -e PROGRAM takes these offsets; a function has its name
 * there if the program (-rdynamic) or library exports it. Returns text, which has room for ND_CHECK_PLACE_OCTETS, or
 * "an unknown place" if there is no frame.
 */
const char *nd_check_place_text(const struct nd_check_place *place, char *text);

#endif
