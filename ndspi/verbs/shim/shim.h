/* SPDX-License-Identifier: MIT */
/*
 * shim.h - makes a device that deviates from verbs conform to them.
 *
 * The drivers of some families lose flushes, let completions overtake each other, refuse valid requests or report them
 * otherwise than verbs say (the quirks of ND_SHIM_QUIRKS, each with its row in quirks.h). The shim stands between the
 * core and such a device: the core calls the shim's table of verbs, posts to its queue pairs and polls its completion
 * queues, and sees a device that conforms. Families without these quirks have no shim.
 *
 * The shim has a ring of records for each send and receive queue, and gives the device the address of a record, with
 * its lowest bit set, for wr_id; so its own client's wr_ids for shared receive queues are even. It holds a completion
 * back until those before it are known, and completes by itself what the device would forget. An event for such a
 * completion shows at the context's async_fd, after which get_cq_event returns it. If the device needs a new queue pair
 * after a failed attempt to connect, the client reports that attempt by nd_verbs.attempt_ended.
 *
 * Threads: any, as of libibverbs. A queue pair is not destroyed while another thread polls a completion queue of it
 * that may still hold its completions; so a record that a completion names always exists.
 */
#ifndef NDSPI_VERBS_SHIM_SHIM_H
#define NDSPI_VERBS_SHIM_SHIM_H

#include "ndspi/verbs/quirks.h"
#include "ndspi/verbs/verbs.h"

/* What the shim repairs. */
#define ND_SHIM_QUIRKS                                                                             \
    (ND_QUIRK_BIT(LATE_RECEIVES) | ND_QUIRK_BIT(LATE_SENDS) | ND_QUIRK_BIT(FORGOTTEN) |            \
        ND_QUIRK_BIT(SOLICITED) | ND_QUIRK_BIT(LOCAL_STATUS) | ND_QUIRK_BIT(FLUSH_STATUS) |        \
        ND_QUIRK_BIT(EMPTY_RECEIVES) | ND_QUIRK_BIT(READ_FENCE) | ND_QUIRK_BIT(OVERTAKES) |        \
        ND_QUIRK_BIT(UNWAKED) | ND_QUIRK_BIT(NEGATIVE_ERRNO) | ND_QUIRK_BIT(INVALIDATED_BIT) |     \
        ND_QUIRK_BIT(ONE_ATTEMPT) | ND_QUIRK_BIT(FLUSHES_AT_END))

/*
 * nd_shim_open - put a shim over an opened device.
 * verbs    in: its calls; out: the shim's, good until the shim's close_device
 * context  in: the device's; out: the shim's, whose close_device closes both. Unchanged on failure
 * Returns 0 or a negative errno.
 */
int nd_shim_open(const struct nd_verbs **verbs, struct ibv_context **context, nd_quirk_set quirks);

/* Removes a shim in which no object was made: restores what nd_shim_open was given. */
void nd_shim_remove(const struct nd_verbs **verbs, struct ibv_context **context);

#endif
