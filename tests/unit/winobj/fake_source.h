/* SPDX-License-Identifier: MIT */
/*
 * fake_source.h - a source made of an eventfd: what is written to it is a number of events; run takes them and tells a
 * function of the test. Sources may share a fake device, which a leader sleeps in.
 */
#ifndef FAKE_SOURCE_H
#define FAKE_SOURCE_H

#include "tests/support/win32_test.h"

#include "winobj/provider.h"

#include <stdatomic.h>

/* Something a leader can sleep in: an epoll set over an eventfd. The sources of a device share it. */
struct fake_device {
    int set, moved;
    atomic_long waits;
    atomic_int watched; /* descriptors of winobj's that are watched: 0 or 1 */
};

void fake_device_open(struct fake_device *device);
void fake_device_close(struct fake_device *device);
/* Moves the device: one event for the source in whose name the leader sleeps. */
void fake_device_move(struct fake_device *device);

struct fake_source {
    struct win_source source;
    struct fake_device *device; /* NULL: lead_fd is a descriptor like any other */
    atomic_long moved;          /* events that wait found, for run to take */
    atomic_long hosted;         /* waits in the device in the name of this source */
    void (*taken)(struct fake_source *fake,
        unsigned long count); /* in run, when there were events; may be NULL */
    void *context;
    atomic_long events;   /* taken so far */
    atomic_long led_runs; /* runs by a leader or poller that took events */
    atomic_long own_runs; /* runs by the service thread that took events */
    atomic_long prepared; /* prepare calls that said true, less finish calls */
    atomic_long prepares;
    atomic_int running; /* threads in run: never more than one */
    atomic_bool broken; /* a rule was broken */
    atomic_bool busy;   /* prepare says false */
};

void fake_source_add(struct fake_source *fake);
void fake_source_remove(struct fake_source *fake);
void fake_source_fire(struct fake_source *fake, unsigned long count);
/* The same on lead_fd. */
void fake_source_fire_lead(struct fake_source *fake);

/* Waits (in poll, not in a wait of winobj) until count events were taken. */
bool fake_source_reached(struct fake_source *fake, long count);

#endif
