/* SPDX-License-Identifier: MIT */
/* state.c - the state of objects with names, and the waits that it satisfies (names.h). */
#include "win32/names/space.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#define self names_self

static struct names_object *object_at(int object)
{
    return &self.space->objects[object];
}

/* Keeps compiler and processor from reordering stores, so that a killed process leaves consistent shared memory. */
static void order(void)
{
    static atomic_int step;

    atomic_exchange(&step, 0);
}

void names_step(void)
{
    struct names_journal *journal = &self.space->journal;
    const uint32_t count = names_read(journal->count);
    const int32_t wait = names_read(journal->wait);

    for (uint32_t i = 0; i < count && i < MAXIMUM_WAIT_OBJECTS; i++) {
        const uint32_t object = names_read(journal->entries[i].object);

        if (object < NAMES_OBJECTS)
            self.space->objects[object].state = journal->entries[i].state;
    }
    if (wait >= 0 && wait < NAMES_WAITS) {
        self.space->waits[wait].abandoned = journal->abandoned;
        self.space->waits[wait].result = journal->result;
    }
    order();
    journal->count = 0;
    journal->abandoned = 0;
    order();
    journal->armed = 0;
}

/* Adds an object to the step under way; returns its state there, for the caller to change. */
static struct names_state *add(int object)
{
    struct names_journal *journal = &self.space->journal;
    const uint32_t before = names_read(journal->count);
    const uint32_t at = before < MAXIMUM_WAIT_OBJECTS ? before : 0; /* a wait has no more objects */

    journal->entries[at].object = (uint32_t)object;
    journal->entries[at].state = object_at(object)->state;
    journal->count = at + 1;
    return &journal->entries[at].state;
}

void names_taken(int wait, int result)
{
    self.space->journal.wait = wait;
    self.space->journal.result = result;
    order();
    self.space->journal.armed = 1;
    order();
    names_step();
}

static bool owns(const struct names_state *state, int slot, uint32_t owner)
{
    return state->process == (uint32_t)slot + 1 && state->owner == owner;
}

static bool allows(const struct names_object *object, int slot, uint32_t owner)
{
    return object->kind == NAMES_MUTEX ? !object->state.process || owns(&object->state, slot, owner)
                                       : object->state.count > 0;
}

void names_check(int object)
{
    const int slot = names_slot_of(names_read(object_at(object)->state.process));

    if (slot >= 0 && !names_alive(slot))
        names_bury(slot);
}

bool names_is_there(int object, uint32_t owner)
{
    return allows(object_at(object), self.slot, owner);
}

/* Adds without overflow as C has it: another process may have written any count. */
static int32_t sum(int32_t count, int32_t more)
{
    return (int32_t)((uint32_t)count + (uint32_t)more);
}

/* Adds to the step what a wait of a thread takes. */
static bool take(int object, int slot, uint32_t owner)
{
    struct names_state *state;
    bool abandoned;

    if (object_at(object)->kind == NAMES_EVENT_MANUAL)
        return false;
    state = add(object);
    abandoned = state->abandoned;
    if (object_at(object)->kind == NAMES_MUTEX) {
        state->count = sum(state->count, 1);
        state->process = (uint32_t)slot + 1;
        state->owner = owner;
        state->abandoned = 0;
        self.space->journal.abandoned |= abandoned;
    } else
        state->count = sum(state->count, -1);
    return abandoned;
}

bool names_take(int object, uint32_t owner)
{
    return take(object, self.slot, owner);
}

/* A pending wait, as it was when it was found. */
struct pending {
    int wait, slot;
    uint32_t owner;
    bool all;
    uint64_t turn;
    int result; /* the wait's result, if it takes the object */
};

/* The oldest pending wait for the object that began after a turn. */
static bool oldest(int object, uint64_t after, struct pending *found)
{
    found->wait = -1;
    for (int i = 0; i < NAMES_WAITS; i++) {
        const struct names_wait *wait = &self.space->waits[i];
        const int slot = names_slot_of(names_read(wait->process));
        const uint64_t turn = names_read(wait->turn);
        unsigned count;

        if (slot < 0 || names_read(wait->result) >= 0 || turn <= after ||
            (found->wait >= 0 && turn > found->turn))
            continue;
        count = names_count_of(wait);
        for (unsigned k = 0; k < count; k++)
            if (names_read(wait->objects[k]) == object) {
                *found = (struct pending){ .wait = i,
                    .slot = slot,
                    .owner = wait->owner,
                    .all = wait->all,
                    .turn = turn,
                    .result = names_read(wait->indexes[k]) };
                break;
            }
    }
    return found->wait >= 0;
}

void names_serve(int object)
{
    struct pending found = { .turn = 0 };

    while (object_at(object)->kind &&
           (object_at(object)->kind == NAMES_MUTEX || object_at(object)->state.count > 0) &&
           oldest(object, found.turn, &found)) {
        const int slot = found.slot;

        if (!allows(object_at(object), slot, found.owner))
            continue;
        if (!names_alive(slot)) {
            names_bury(slot);
            continue;
        }
        if (!found.all) {
            take(object, slot, found.owner);
            names_taken(found.wait, found.result);
        }
        names_wake(slot);
    }
}

void names_repair(void)
{
    if (self.space->journal.armed)
        names_step();
    self.space->journal.count = 0;
    self.space->journal.abandoned = 0;
    for (int i = 0; i < names_top(); i++)
        if (object_at(i)->kind)
            names_serve(i);
    for (int i = 0; i < NAMES_PROCESSES; i++)
        if (self.space->processes[i].used)
            names_wake(i);
}

/* Sets the state of one object, as one step, and serves it. */
static void set(int object, struct names_state state)
{
    *add(object) = state;
    names_taken(-1, 0);
    names_serve(object);
}

int32_t names_signal(int object, int32_t units, int32_t *before)
{
    struct names_state state = object_at(object)->state;

    *before = state.count;
    if (object_at(object)->kind == NAMES_SEMAPHORE) {
        if (units > (int64_t)object_at(object)->most - state.count)
            return -EOVERFLOW;
        state.count = sum(state.count, units);
    } else
        state.count = 1;
    set(object, state);
    return 0;
}

void names_reset(int object)
{
    struct names_state state = object_at(object)->state;

    state.count = 0;
    set(object, state);
}

int names_release(int object, uint32_t owner)
{
    struct names_state state = object_at(object)->state;

    if (!owns(&state, self.slot, owner))
        return -EPERM;
    state.count = sum(state.count, -1);
    if (!state.count)
        state = (struct names_state){ 0 };
    set(object, state);
    return 0;
}

/* Abandons the mutexes of a process: all, or those of one thread. */
static void abandon(int slot, bool every, uint32_t owner)
{
    for (int i = 0; i < names_top(); i++) {
        const struct names_object *object = object_at(i);

        if (object->kind == NAMES_MUTEX && object->state.process == (uint32_t)slot + 1 &&
            (every || object->state.owner == owner))
            set(i, (struct names_state){ .abandoned = 1 });
    }
}

void names_abandon(uint32_t owner)
{
    if (self.slot >= 0)
        abandon(self.slot, false, owner);
}

void names_bury(int slot)
{
    char path[108];

    /* Removes its waits first, so that none of them is satisfied. */
    for (int i = 0; i < NAMES_WAITS; i++)
        if (self.space->waits[i].process == (uint32_t)slot + 1)
            self.space->waits[i].process = 0;
    for (int i = 0; i < names_top(); i++) {
        struct names_object *object = object_at(i);
        uint64_t others = 0;

        if (!object->kind || !names_holds(object, slot))
            continue;
        object->holders[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
        for (int k = 0; k < NAMES_PROCESSES / 64; k++)
            others |= object->holders[k];
        if (!others)
            names_free(i);
    }
    abandon(slot, true, 0);
    names_wake_path(slot, path);
    unlink(path);
    order();
    self.space->processes[slot].used = 0;
}
