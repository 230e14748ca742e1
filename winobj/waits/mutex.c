/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes: a wait acquires one, its owner any number of times; when the owner ends it becomes abandoned.
 *
 * A thread is an owner from its first wait for a mutex on. The owner is thread-local memory: thread_ends abandons its
 * mutexes, so no mutex points to it after the thread has ended.
 */
#include "winobj/waits/mutex.h"

#include "winobj/waits/named.h"

#include "util/once.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct win_owner {
    struct list_head owned; /* dispatcher lock */
    uint32_t id;            /* the kernel's of the thread */
    bool registered; /* thread_ends will run for this thread; only the thread itself uses it */
};

struct win_mutex {
    struct win_waitable waitable; /* count: how often the owner acquired it */
    struct win_owner *owner;      /* the dispatcher lock guards these */
    struct list_node link;        /* owner->owned */
    bool abandoned;               /* its owner ended, and no wait has acquired it since */
};

static pthread_key_t key;
static struct once key_once = ONCE_INIT;

static _Thread_local struct win_owner self;

static struct win_mutex *mutex_of(struct win_waitable *waitable)
{
    return (struct win_mutex *)waitable;
}

static bool let_go_locked(struct win_mutex *mutex)
{
    list_del(&mutex->link);
    mutex->owner = NULL;
    mutex->waitable.count = 0;
    return true;
}

static struct win_waitable *first_owned(void *owner)
{
    struct win_owner *of = owner;

    return list_empty(&of->owned) ? NULL
                                  : &list_entry(of->owned.n.next, struct win_mutex, link)->waitable;
}

static bool abandon(struct win_waitable *waitable, void *unused)
{
    (void)unused;
    mutex_of(waitable)->abandoned = true;
    return let_go_locked(mutex_of(waitable));
}

void win_owner_abandon(void)
{
    if (!self.registered)
        return;
    win_waitable_change_each(first_owned, abandon, &self);
    if (win_named)
        win_named->abandon(&self);
}

static void thread_ends(void *unused)
{
    (void)unused;
    win_owner_abandon();
    self.registered = false; /* a later destructor of the thread may acquire a mutex again */
}

static int make_key(void)
{
    return pthread_key_create(&key, thread_ends);
}

struct win_owner *win_owner_self(void)
{
    if (self.registered)
        return &self;
    if (once_run(&key_once, make_key) || pthread_setspecific(key, &self)) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    list_init(&self.owned);
    self.id = (uint32_t)gettid();
    self.registered = true;
    return &self;
}

uint32_t win_owner_id(const struct win_owner *owner)
{
    return owner->id;
}

bool win_mutex_is_owned_locked(const struct win_waitable *waitable, const struct win_owner *owner)
{
    return owner && ((const struct win_mutex *)waitable)->owner == owner;
}

bool win_mutex_take_locked(struct win_waitable *waitable, struct win_owner *owner)
{
    struct win_mutex *mutex = mutex_of(waitable);
    bool abandoned = mutex->abandoned;

    if (!waitable->count++) {
        mutex->owner = owner;
        mutex->abandoned = false;
        list_add_tail(&owner->owned, &mutex->link);
    }
    return abandoned;
}

static bool forget(struct win_waitable *waitable, void *unused)
{
    (void)unused;
    return waitable->count ? let_go_locked(mutex_of(waitable)) : waitable->signalled;
}

static void mutex_destroy(struct win_object *object)
{
    win_waitable_change((struct win_waitable *)object, forget, NULL); /* takes it from its owner */
    win_waitable_destroy(object);
}

/* The child's one thread keeps its mutexes; those of the parent's other threads become abandoned. */
static void mutex_forked(struct win_object *object)
{
    struct win_mutex *mutex = mutex_of((struct win_waitable *)object);

    win_waitable_object_forked(object);
    if (mutex->owner && mutex->owner != &self) {
        list_node_init(&mutex->link); /* the child has no such thread, and so no list */
        mutex->owner = NULL;
        mutex->abandoned = true;
        mutex->waitable.count = 0;
        mutex->waitable.signalled = true;
    }
}

const struct win_object_type win_mutex_type = {
    .name = "mutex",
    .waitable = true,
    .destroy = mutex_destroy,
    .forked = mutex_forked,
    .carry = win_waitable_carry,
};

static bool take_first(struct win_waitable *waitable, void *owner)
{
    win_mutex_take_locked(waitable, owner);
    return false;
}

struct win_waitable *win_mutex_new(void)
{
    struct win_mutex *mutex = calloc(1, sizeof(*mutex));

    if (!mutex) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&mutex->waitable, WAITABLE_OWNED, true);
    list_node_init(&mutex->link);
    return &mutex->waitable;
}

/*
 * CreateMutexA, CreateMutexW - a new mutex, or the one that has the name. attributes as in CreateEventA.
 * owned    the calling thread acquires a new mutex at once
 * name     NULL or empty: none. Else by which the user's processes find it, as long as any has a handle; case counts;
 *          may begin with Local\ or Global\. When its owner is killed, the next wait finds it abandoned
 * Returns  a handle, with the last error ERROR_SUCCESS, or ERROR_ALREADY_EXISTS if the name existed; NULL with
 *          ERROR_NOT_ENOUGH_MEMORY, ERROR_INVALID_HANDLE (an event or a semaphore has the name), or an error of
 *          names_open. Any thread.
 * Source: CreateMutexA function (synchapi.h).
 */
HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCSTR name)
{
    struct win_owner *owner = owned ? win_owner_self() : NULL;
    const struct win_named_new how = { .name = name, .attributes = attributes, .owner = owner };
    struct win_waitable *mutex = owned && !owner ? NULL : win_mutex_new();
    HANDLE handle = mutex ? win_waitable_create(mutex, &win_mutex_type, &how) : NULL;

    if (handle && owner && !win_named_wanted(&how))
        win_handle_change(handle, &win_mutex_type, take_first, owner);
    return handle;
}

/*
 * CreateMutexExA, CreateMutexExW - CreateMutex by flags; another flag is ERROR_INVALID_PARAMETER. A handle has all
 * rights.
 */
HANDLE WINAPI CreateMutexExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access)
{
    (void)access;
    if (flags & ~(DWORD)CREATE_MUTEX_INITIAL_OWNER) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return CreateMutexA(attributes, !!flags, name);
}

static bool release(struct win_waitable *waitable, void *owned)
{
    struct win_mutex *mutex = mutex_of(waitable);

    *(bool *)owned = win_mutex_is_owned_locked(waitable, &self);
    if (!*(bool *)owned)
        return waitable->signalled;
    return --waitable->count ? false : let_go_locked(mutex);
}

/*
 * ReleaseMutex - releases the mutex; the owner calls it once for each wait that acquired it. FALSE with
 * ERROR_INVALID_HANDLE, ERROR_NOT_OWNER (the calling thread does not own it).
 */
BOOL WINAPI ReleaseMutex(HANDLE handle)
{
    struct win_waitable *mutex = (struct win_waitable *)win_handle_pin(handle, &win_mutex_type);
    bool owned = false;

    if (!mutex) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    if (mutex->name < 0)
        win_waitable_change(mutex, release, &owned);
    else
        owned = self.registered && !win_named->release(mutex, &self);
    win_object_unref(&mutex->object);
    if (!owned)
        SetLastError(ERROR_NOT_OWNER);
    return owned;
}
