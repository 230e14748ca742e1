/* SPDX-License-Identifier: MIT */
/*
 * places.h - the folders of core/board.h: the user's own, and for root those of all other users.
 *
 * What is in another user's folder is that user's choice, at every moment: it is opened step by step, never through a
 * link, never into another file system (which could be one of the user's own, whose answers do not come), and is not
 * changed, but for the octet by which a process is asked.
 */
#ifndef NDSPI_CORE_PLACES_H
#define NDSPI_CORE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct nd_place {
    int fd;
    uid_t owner;
    bool foreign; /* not of the process's own user */
};

struct nd_places {
    struct nd_place *list;
    size_t count;
};

/*
 * nd_places_open - own is the first, if there is one. Removes there what killed processes left behind.
 * places  out: to be given to nd_places_close, also after a failure
 * Returns 0; a negative errno of the own folder, as nd_board_directory; -ENOMEM. Other users' folders that cannot be
 * opened are left out.
 */
int nd_places_open(struct nd_places *places);
void nd_places_close(struct nd_places *places);

/*
 * nd_place_open - opens the file of that name and end if it is the place's owner's, or fails.
 * flags  in: of open; those that keep it from waiting, from following a link and from being inherited are added
 * Returns a descriptor or a negative errno; EACCES: it is another user's.
 */
int nd_place_open(const struct nd_place *place, const char *name, const char *end, int flags);

#endif
