/* SPDX-License-Identifier: MIT */
#include "softrdma/queues/hold.h"

#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>

static void expired(struct reactor_source *source, enum reactor_how how)
{
    struct srd_hold *hold = (struct srd_hold *)source;

    (void)how;
    hold->over(hold->owner);
}

static void free_hold(struct reactor_source *source)
{
    free(source);
}

static const struct reactor_source_ops ops = { .expired = expired, .free = free_hold };

struct srd_hold *srd_hold_make(void (*over)(void *owner), void *owner, int *error)
{
    struct srd_hold *hold = calloc(1, sizeof(*hold));

    if (!hold) {
        *error = -ENOMEM;
        return NULL;
    }
    hold->over = over;
    hold->owner = owner;
    reactor_source_init(&hold->source, &ops, -1);
    if ((*error = reactor_add(&hold->source, 0))) {
        reactor_unref(&hold->source);
        return NULL;
    }
    return hold;
}

void srd_hold_end(struct srd_hold *hold)
{
    if (!hold)
        return;
    reactor_remove_sync(&hold->source);
    reactor_unref(&hold->source);
}

bool srd_hold_takes(struct srd_hold *hold)
{
    if (hold->count < 2 || hold->held + 1 >= hold->count)
        return false;
    if (hold->held++ == 0)
        reactor_deadline(&hold->source, clock_now_ns() + hold->us * 1000ull);
    return true;
}

uint32_t srd_hold_give_up(struct srd_hold *hold)
{
    uint32_t held = hold->held;

    hold->held = 0;
    if (held)
        reactor_deadline(&hold->source, REACTOR_NEVER);
    return held;
}
