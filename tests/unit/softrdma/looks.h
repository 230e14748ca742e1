/* SPDX-License-Identifier: MIT */
/*
 * looks.h - counts the looks of threads that will look again. Included once, in a test whose linker leads srd_conn_poll
 * here.
 */
#ifndef TESTS_UNIT_SOFTRDMA_LOOKS_H
#define TESTS_UNIT_SOFTRDMA_LOOKS_H

#include "softrdma/connection/conn.h"

#include <stdatomic.h>
#include <stdbool.h>

/* At this source; NULL: at none. */
static struct srd_source *_Atomic looks_at;
static atomic_uint looks;

bool __real_srd_conn_poll(struct srd_source *source, bool again);
bool __wrap_srd_conn_poll(struct srd_source *source, bool again);
bool __wrap_srd_conn_poll(struct srd_source *source, bool again)
{
    if (again && source == atomic_load(&looks_at))
        atomic_fetch_add(&looks, 1);
    return __real_srd_conn_poll(source, again);
}

#endif
