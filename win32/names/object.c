/* SPDX-License-Identifier: MIT */
/* object.c - names, and the objects that they name (names.h). */
#include "win32/names/space.h"

#include "util/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define self names_self

static bool fail(DWORD error)
{
    SetLastError(error);
    return false;
}

/* The table's form of a name: whether it is Global or Local, and the name. */
static bool key_of(const char *name, char key[NAMES_OCTETS])
{
    bool global = !strncmp(name, "Global\\", 7);
    size_t length;

    name += global ? 7 : strncmp(name, "Local\\", 6) ? 0 : 6;
    if (!*name)
        return fail(ERROR_INVALID_NAME);
    if (strchr(name, '\\'))
        return fail(ERROR_PATH_NOT_FOUND);
    length = strlen(name);
    if (length > NAMES_OCTETS - 2)
        return fail(ERROR_FILENAME_EXCED_RANGE);
    memset(key, 0, NAMES_OCTETS);
    key[0] = global ? 'g' : 'l';
    memcpy(key + 1, name, length + 1);
    return true;
}

static bool same_kind(uint32_t a, uint32_t b)
{
    return a == b || (a <= NAMES_EVENT_MANUAL && b <= NAMES_EVENT_MANUAL);
}

/* The object of a name for which some process has a handle; -1: none. Removes processes that have ended. */
static int find(const char *key)
{
    for (int i = 0; i < names_top(); i++) {
        const struct names_object *object = &self.space->objects[i];

        if (!object->kind || memcmp(object->name, key, NAMES_OCTETS))
            continue;
        for (int k = 0; k < NAMES_PROCESSES; k++)
            if (names_holds(object, k) && !names_alive(k))
                names_bury(k);
        return object->kind ? i : -1;
    }
    return -1;
}

static int free_place(void)
{
    const int top = names_top();

    for (int i = 0; i < top; i++)
        if (!self.space->objects[i].kind)
            return i;
    return top < NAMES_OBJECTS ? top : -1;
}

/* A place that is free, or was used by processes that have ended only; -1 with the last error: all are in use. */
static int take_place(void)
{
    int place = free_place();

    for (int i = 0; place < 0 && i < NAMES_PROCESSES; i++)
        if (self.space->processes[i].used && !names_alive(i)) {
            names_bury(i);
            place = free_place();
        }
    if (place >= 0)
        return place;
    log_limited(LOG_ERROR, LOG_WIN,
        "the user's processes have %d named objects, the maximum: close some; an inheritable "
        "event, mutex or semaphore without a name counts, too",
        NAMES_OBJECTS);
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return -1;
}

static int make(const char *key, const struct names_new *new)
{
    const int place = take_place();
    struct names_object *object;

    if (place < 0)
        return -1;
    object = &self.space->objects[place];
    memset(object, 0, sizeof(*object));
    memcpy(object->name, key, NAMES_OCTETS);
    object->most = new->most;
    object->state.count = new->count;
    if (new->kind == NAMES_MUTEX &&new->count) {
        object->state.process = (uint32_t)self.slot + 1;
        object->state.owner = new->owner;
    }
    object->holders[self.slot / 64] = UINT64_C(1) << (self.slot % 64);
    if (place >= names_top())
        __atomic_store_n(&self.space->top, (uint32_t)place + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&object->kind, new->kind, __ATOMIC_SEQ_CST);
    return place;
}

/* Wakes the processes that wait for the object, so that they watch this process, too. */
static void tell(int object)
{
    for (int i = 0; i < NAMES_WAITS; i++) {
        const struct names_wait *wait = &self.space->waits[i];
        const int slot = names_slot_of(names_read(wait->process));
        const unsigned count = slot < 0 ? 0 : names_count_of(wait);

        for (unsigned k = 0; k < count; k++)
            if (wait->objects[k] == object)
                names_wake(slot);
    }
}

static int open_locked(const char *key, const struct names_new *new, bool create, bool *existed)
{
    int object;

    if (!names_join())
        return -1;
    object = find(key);
    *existed = object >= 0;
    if (object >= 0 && !same_kind(self.space->objects[object].kind, new->kind)) {
        SetLastError(ERROR_INVALID_HANDLE);
        return -1;
    }
    if (object < 0 && !create) {
        SetLastError(ERROR_FILE_NOT_FOUND);
        return -1;
    }
    if (object < 0)
        object = make(key, new);
    else {
        self.space->objects[object].holders[self.slot / 64] |= UINT64_C(1) << (self.slot % 64);
        tell(object);
    }
    if (object >= 0) {
        self.handles[object]++;
        self.handles_all++;
    }
    return object;
}

void names_free(int object)
{
    int top = names_top();

    self.space->objects[object].kind = 0;
    while (top && !self.space->objects[top - 1].kind)
        top--;
    __atomic_store_n(&self.space->top, (uint32_t)top, __ATOMIC_RELAXED);
}

int names_open(const char *name, const struct names_new *new, bool create, bool *existed)
{
    char key[NAMES_OCTETS];
    int object;

    if (new->exact) {
        memset(key, 0, sizeof(key));
        strncpy(key, name, sizeof(key) - 1);
    } else if (!key_of(name, key))
        return -1;
    if (!names_map())
        return -1;
    names_lock();
    object = open_locked(key, new, create, existed);
    if (!self.handles_all)
        names_leave();
    names_unlock();
    names_look();
    return object;
}

void names_close(int object)
{
    struct names_object *of = &self.space->objects[object];
    uint64_t others = 0;

    names_lock();
    if (!--self.handles[object] && self.slot >= 0) {
        of->holders[self.slot / 64] &= ~(UINT64_C(1) << (self.slot % 64));
        for (int i = 0; i < NAMES_PROCESSES / 64; i++)
            others |= of->holders[i];
        if (!others)
            names_free(object);
    }
    if (!--self.handles_all)
        names_leave();
    names_unlock();
    names_look();
}

void names_key(int object, struct names_new *like, char *name, size_t octets)
{
    const struct names_object *of = &self.space->objects[object];

    names_lock();
    *like = (struct names_new){
        .kind = (enum names_kind)of->kind, .count = of->state.count, .most = of->most
    };
    if (like->kind == NAMES_MUTEX)
        like->count = 0;                    /* the calling thread stays its owner, if it is */
    for (size_t i = 0; i + 1 < octets; i++) /* the name in shared memory may have lost its end */
        name[i] = i < NAMES_OCTETS ? names_read(of->name[i]) : 0;
    name[octets - 1] = 0;
    names_unlock();
    names_look();
}

void names_hidden(char name[64])
{
    static atomic_uint count;
    struct timespec now;

    /* 'h': neither Global nor Local. The time tells a process from an earlier one of the same number. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(name, 64, "h%d.%u.%lld.%ld", (int)getpid(), atomic_fetch_add(&count, 1),
        (long long)now.tv_sec, now.tv_nsec);
}

enum names_kind names_kind_of(int object)
{
    return (enum names_kind)self.space->objects[object].kind;
}

static int begin(const struct names_wanted *wanted, unsigned count, bool all, uint32_t owner)
{
    for (int i = 0; i < NAMES_WAITS; i++) {
        struct names_wait *wait = &self.space->waits[i];

        if (wait->process)
            continue;
        wait->owner = owner;
        wait->result = -1;
        wait->abandoned = 0;
        wait->all = all;
        wait->count = count;
        wait->turn = ++self.space->turn;
        for (unsigned k = 0; k < count; k++) {
            wait->objects[k] = (uint16_t)wanted[k].object;
            wait->indexes[k] = (uint16_t)wanted[k].index;
        }
        __atomic_store_n(&wait->process, (uint32_t)self.slot + 1, __ATOMIC_SEQ_CST);
        return i;
    }
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return -1;
}

int names_wait_begin(const struct names_wanted *wanted, unsigned count, bool all, uint32_t owner)
{
    if (!names_join() || !names_listen())
        return -1;
    for (unsigned i = 0; i < count; i++)
        if (!names_watch(wanted[i].object))
            return -1;
    return begin(wanted, count, all, owner);
}

void names_wait_look(int wait)
{
    const struct names_wait *of = &self.space->waits[wait];
    const unsigned count = names_count_of(of);

    for (unsigned i = 0; i < count; i++) {
        const int object = names_read(of->objects[i]);

        if (object < NAMES_OBJECTS && !names_watch(object))
            log_limited(LOG_WARN, LOG_WIN,
                "a wait does not watch all processes that share its objects: no file descriptor is "
                "left; if one of them is killed, the wait may not end");
    }
}

void names_wait_end(int wait)
{
    self.space->waits[wait].process = 0;
}

int names_wait_result(int wait, unsigned most, bool *abandoned)
{
    const int32_t result = names_read(self.space->waits[wait].result);

    *abandoned = names_read(self.space->waits[wait].abandoned) != 0;
    if (result < 0 || (unsigned)result < most)
        return result;
    self.space->waits[wait].result = -1; /* rubbish: the wait goes on */
    return -1;
}

bool names_wait_withdraw(int wait, unsigned most)
{
    bool abandoned;

    if (names_wait_result(wait, most, &abandoned) >= 0)
        return false;
    self.space->waits[wait].count = 0; /* it waits for no object */
    return true;
}
