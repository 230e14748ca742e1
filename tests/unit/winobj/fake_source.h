/* SPDX-License-Identifier: MIT */
/*
 * fake_source.h - a source of the reactor made of an eventfd: what is written to it is a number of events; its callback
 * takes them and calls a function of the test.
 */
#ifndef TESTS_UNIT_WINOBJ_FAKE_SOURCE_H
#define TESTS_UNIT_WINOBJ_FAKE_SOURCE_H

#include "tests/support/win32_test.h"

#include "reactor/reactor.h"
#include "winobj/provider.h"

#include <stdatomic.h>

struct fake_source {
    struct reactor_source source;
    /* In the callback, when there were events; may be NULL. */
    void (*taken)(struct fake_source *fake, unsigned long count);
    void *context;
    atomic_long events;   /* taken so far */
    atomic_long led_runs; /* callbacks in waiting or looking threads */
    atomic_long own_runs; /* callbacks in the background thread */
    atomic_int running;   /* threads in the callback: never more than one */
    atomic_bool broken;   /* a rule was broken */
};

void fake_source_prepare(struct fake_source *fake); /* for a test that adds it itself */
void fake_source_add(struct fake_source *fake);
void fake_source_remove(struct fake_source *fake);
void fake_source_fire(struct fake_source *fake, unsigned long count);

/* Waits (in poll, not in a wait of winobj) until count events were taken. */
bool fake_source_reached(struct fake_source *fake, long count);

/* Setup of a group of tests without a background thread: what no thread of the test drives stays undone. */
int fake_source_alone(void **state);

#endif
