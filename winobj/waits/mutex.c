/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - mutexes: a wait acquires one, its owner any number of times; when the owner ends it becomes abandoned.
 *
 * A thread is an owner from its first wait for a mutex on. The owner is thread-local memory: thread_ends abandons its
 * mutexes, so no mutex points to it after the thread has ended.
 */
#include "winobj/waits/mutex.h"

#include "util/once.h"

#include <pthread.h>
#include <stdlib.h>

struct win_owner {
    struct list_head owned; /* dispatcher lock */
    bool registered; /* thread_ends will run for this thread; only the thread itself uses it */
};

struct win_mutex {
    struct win_waitable waitable; /* count: how often the owner acquired it */
    struct win_owner *owner;      /* the dispatcher lock guards these */
    struct list_node link;        /* owner->owned */
    bool abandoned;               /* until a wait acquires it */
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
    if (self.registered)
        win_waitable_change_each(first_owned, abandon, &self);
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
    self.registered = true;
    return &self;
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

static const struct win_object_type mutex_type = {
    .name = "mutex",
    .waitable = true,
    .destroy = mutex_destroy,
    .forked = mutex_forked,
};

static bool take_first(struct win_waitable *waitable, void *owner)
{
    win_mutex_take_locked(waitable, owner);
    return false;
}

static HANDLE mutex_create(bool named, BOOL owned)
{
    struct win_owner *owner = owned ? win_owner_self() : NULL;
    struct win_mutex *mutex;
    HANDLE handle;

    if (named || (owned && !owner)) {
        SetLastError(named ? ERROR_NOT_SUPPORTED : ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    if (!(mutex = calloc(1, sizeof(*mutex)))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&mutex->waitable, WAITABLE_OWNED, true);
    list_node_init(&mutex->link);
    handle = win_waitable_open(&mutex->waitable, &mutex_type);
    if (handle && owner)
        win_handle_change(handle, &mutex_type, take_first, owner);
    return handle;
}

/*
 * CreateMutexA, CreateMutexW - a new unnamed mutex. attributes are ignored (handles are not inherited).
 * owned    the calling thread acquires it at once
 * Returns  NULL with ERROR_NOT_SUPPORTED for a name (no objects are shared between processes), ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCSTR name)
{
    (void)attributes;
    return mutex_create(name != NULL, owned);
}

HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCWSTR name)
{
    (void)attributes;
    return mutex_create(name != NULL, owned);
}

static HANDLE mutex_create_ex(bool named, DWORD flags)
{
    if (flags & ~(DWORD)CREATE_MUTEX_INITIAL_OWNER) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return mutex_create(named, !!flags);
}

/*
 * CreateMutexExA, CreateMutexExW - the same by flags; another one is ERROR_INVALID_PARAMETER. A handle has all rights.
 */
HANDLE WINAPI CreateMutexExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return mutex_create_ex(name != NULL, flags);
}

HANDLE WINAPI CreateMutexExW(
    LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return mutex_create_ex(name != NULL, flags);
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
    bool owned;

    if (!win_handle_change(handle, &mutex_type, release, &owned))
        return FALSE;
    if (!owned)
        SetLastError(ERROR_NOT_OWNER);
    return owned;
}
