/* SPDX-License-Identifier: MIT */
/*
 * object.h - what keeps a core object alive: its pins (docs/internals/overview.md, "Objects").
 *
 * A core object is embedded in a facade. The facade's count has the application's references; pins count each user
 * inside the library, and one for "the application still holds it", which the last Release drops.
 */
#ifndef NDSPI_CORE_OBJECT_H
#define NDSPI_CORE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct nd_object {
    atomic_uint pins;
    void (*destroy)(
        struct nd_object *object); /* the facade's: fini of the core object, then free */
    struct nd_object *next_dead;   /* only nd_object_unpin_later uses it */
};

/* Objects whose last pin went while a lock was held; guarded by that lock. */
struct nd_dead {
    struct nd_object *first;
};

/* Zeroed room for a facade; queues in it are aligned to cache lines. NULL: no memory. Given back with free. */
static inline void *nd_object_alloc(size_t size)
{
    size_t whole = (size + 63) / 64 * 64;
    void *object = aligned_alloc(64, whole);

    return object ? memset(object, 0, whole) : NULL;
}

static inline void nd_object_init(
    struct nd_object *object, void (*destroy)(struct nd_object *object))
{
    atomic_init(&object->pins, 1);
    object->destroy = destroy;
    object->next_dead = NULL;
}

/* Relaxed: the caller already holds a pin, or knows of one. */
static inline void nd_object_pin(struct nd_object *object)
{
    atomic_fetch_add_explicit(&object->pins, 1, memory_order_relaxed);
}

/* Pins an object of a list, which it leaves while it is destroyed. Returns false if its destruction has begun. */
static inline bool nd_object_try_pin(struct nd_object *object)
{
    unsigned pins = atomic_load_explicit(&object->pins, memory_order_relaxed);

    while (pins)
        if (atomic_compare_exchange_weak_explicit(
                &object->pins, &pins, pins + 1, memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* The last unpin destroys: the caller may hold no lock then. */
static inline void nd_object_unpin(struct nd_object *object)
{
    if (atomic_fetch_sub_explicit(&object->pins, 1, memory_order_acq_rel) == 1)
        object->destroy(object);
}

/* Gives up a pin while a lock is held: if it was the last, the object goes on the list, to be destroyed later. */
static inline void nd_object_unpin_later(struct nd_object *object, struct nd_dead *dead)
{
    if (atomic_fetch_sub_explicit(&object->pins, 1, memory_order_acq_rel) == 1) {
        object->next_dead = dead->first;
        dead->first = object;
    }
}

/* Takes the list over with the lock held; the caller then drops the lock and calls nd_object_destroy_dead. */
static inline struct nd_object *nd_object_take_dead(struct nd_dead *dead)
{
    struct nd_object *first = dead->first;

    dead->first = NULL;
    return first;
}

static inline void nd_object_destroy_dead(struct nd_object *first)
{
    while (first) {
        struct nd_object *next = first->next_dead;

        first->destroy(first);
        first = next;
    }
}

#endif
