/* SPDX-License-Identifier: MIT */
#include "wine/file.h"

#include "wine/nt.h"

#include "util/lock.h"
#include "util/log.h"

#include <stdlib.h>

#define THIS_PROCESS ((HANDLE)(LONG_PTR)-1)

enum {
    NT_READ = 0x00100001, /* FILE_READ_DATA, SYNCHRONIZE */
    NT_SHARE_ALL = 7,
    NT_NO_DIRECTORY = 0x40,
    NT_CASE_INSENSITIVE = 0x40,
    NT_DUPLICATE_SAME_ACCESS = 2,
    NT_COMPLETION_MODES = 41, /* FileIoCompletionNotificationInformation */
    NT_SKIP_SET_EVENT_ON_HANDLE = 2,
    NT_OBJECT_BASIC = 0,
    WINE_COMPLETE_ASYNC = 0x120348, /* IOCTL_AFD_WINE_COMPLETE_ASYNC */
};

/*
 * The list of files, oldest first, and the table of the values of their handles: a program has thousands of files, and
 * to ask Wine for the file behind a handle is a call to its server.
 */
enum { PLACES = 1024 };
static struct lock files_lock = LOCK_INIT(LOCK_WINE_FILES, "Wine's files");
static uint64_t last_number;
static struct list_head files = { { &files.n, &files.n } };
static struct list_node *swept = &files.n; /* the file with which sweep goes on */
static struct nd_wine_name *places[PLACES];

static struct nd_wine_file *file_of(struct list_node *node)
{
    return list_entry(node, struct nd_wine_file, link);
}

struct nd_wine_file *nd_wine_file_ref(struct nd_wine_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

static void close_file(struct nd_delivery *delivery)
{
    struct nd_wine_file *file = container_of(delivery, struct nd_wine_file, end);

    /* If the program closed a handle, its value may belong to another object by now. */
    if (file->close_client && NT(NtCompareObjects, file->client, file->original) == 0)
        NT(NtClose, file->client);
    NT(NtClose, file->original);
    free(file);
}

void nd_wine_file_unref(struct nd_wine_file *file)
{
    if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1)
        nd_deliver(&file->end);
}

/* ---- by handle ---- */

static struct nd_wine_name **chain_of(HANDLE handle)
{
    return &places[(ULONG_PTR)handle / 4 % PLACES]; /* the values are multiples of 4 */
}

static void drop_name_locked(struct nd_wine_name *name)
{
    struct nd_wine_name **at = chain_of(name->handle);

    lock_assert_held(&files_lock);
    while (*at && *at != name)
        at = &(*at)->next;
    if (*at)
        *at = name->next;
}

/* Puts the newest entry first: a value belongs to another file after the program has closed its handle. */
static void set_name_locked(struct nd_wine_file *file, struct nd_wine_name *name, HANDLE handle)
{
    struct nd_wine_name **at = chain_of(handle);

    lock_assert_held(&files_lock);
    drop_name_locked(name);
    *name = (struct nd_wine_name){ *at, file, handle };
    *at = name;
}

/* Returns the owner's file that had a handle of this value last, referenced; NULL: none. */
static struct nd_wine_file *find_name(HANDLE handle, const void *owner)
{
    struct nd_wine_file *found = NULL;
    struct nd_wine_name *name;

    lock_acquire(&files_lock);
    for (name = *chain_of(handle); name && !found; name = name->next)
        if (name->handle == handle && name->file->owner == owner)
            found = nd_wine_file_ref(name->file);
    lock_release(&files_lock);
    return found;
}

/* ---- the list ---- */

static bool unlist_locked(struct nd_wine_file *file)
{
    lock_assert_held(&files_lock);
    if (!file->listed)
        return false;
    if (swept == &file->link)
        swept = file->link.next;
    list_del(&file->link);
    drop_name_locked(&file->given);
    drop_name_locked(&file->other);
    file->listed = false;
    return true;
}

static void unlist(struct nd_wine_file *file)
{
    bool listed;

    lock_acquire(&files_lock);
    listed = unlist_locked(file);
    lock_release(&files_lock);
    if (listed)
        nd_wine_file_unref(file);
}

/* Whether the file comes after `before` and is the owner's. */
static bool is_next(
    const struct nd_wine_file *file, const struct nd_wine_file *before, const void *owner)
{
    return (!before || file->number > before->number) && (!owner || file->owner == owner);
}

/*
 * Returns the next listed file after `before` (NULL: the first), referenced; drops the reference to `before`. If
 * `before` was unlisted meanwhile, its number says where it was in the list.
 */
static struct nd_wine_file *next_file(struct nd_wine_file *before, const void *owner)
{
    struct nd_wine_file *found = NULL;
    struct list_node *node;

    lock_acquire(&files_lock);
    node = before && before->listed ? before->link.next : files.n.next;
    for (; node != &files.n && !found; node = node->next)
        if (is_next(file_of(node), before, owner))
            found = nd_wine_file_ref(file_of(node));
    lock_release(&files_lock);
    if (before)
        nd_wine_file_unref(before);
    return found;
}

void nd_wine_file_forget(const void *owner)
{
    struct list_head forgotten;
    struct list_node *node;

    list_init(&forgotten);
    lock_acquire(&files_lock);
    list_for_each_safe (&files, at)
        if (file_of(at)->owner == owner && unlist_locked(file_of(at)))
            list_add_tail(&forgotten, at);
    lock_release(&files_lock);
    while ((node = list_pop(&forgotten)))
        nd_wine_file_unref(file_of(node));
}

static bool program_closed(struct nd_wine_file *file)
{
    struct nt_basic_information info;

    return NT(NtQueryObject, file->original, NT_OBJECT_BASIC, &info, sizeof(info), NULL) >= 0 &&
           info.handles == 1;
}

static struct nd_wine_file *next_to_sweep(void)
{
    struct nd_wine_file *file = NULL;

    lock_acquire(&files_lock);
    if (swept == &files.n)
        swept = files.n.next;
    if (swept != &files.n) {
        file = nd_wine_file_ref(file_of(swept));
        swept = swept->next;
    }
    lock_release(&files_lock);
    return file;
}

/*
 * Called before a file is added: looks at the next two files, and removes each that no object uses and whose handle the
 * program has closed. With two for each new file, the list has few more closed files than open ones, and a new file
 * costs the same among thousands.
 */
static void sweep(void)
{
    for (int i = 0; i < 2; i++) {
        struct nd_wine_file *file = next_to_sweep();

        if (!file)
            return;
        if (atomic_load_explicit(&file->refs, memory_order_relaxed) == 2 && program_closed(file))
            unlist(file);
        nd_wine_file_unref(file);
    }
}

/* ---- a file that the program closes under its requests ---- */

/*
 * Counts first: a look that is scheduled sees the count; if none is, the second call schedules one. Both are seq_cst.
 */
void nd_wine_file_began(struct nd_wine_file *file)
{
    atomic_fetch_add(&file->requests, 1);
    nd_deliver_look_later();
}

void nd_wine_file_decided(struct nd_wine_file *file)
{
    atomic_fetch_sub_explicit(&file->requests, 1, memory_order_relaxed);
}

static void close_users(struct nd_deferred *job)
{
    struct nd_wine_file *file = container_of(job, struct nd_wine_file, close);

    nd_file_users_close(&file->users);
    nd_wine_file_unref(file);
}

/* It has another thread cancel: the last cancelled request may end its adapter, which would wait for this thread. */
void nd_wine_files_look(void)
{
    struct nd_wine_file *file = NULL;
    bool again = false;

    while ((file = next_file(file, NULL))) {
        if (!atomic_load(&file->requests))
            continue;
        if (program_closed(file)) {
            unlist(file);
            file->close.run = close_users;
            nd_wine_file_ref(file);
            nd_defer(&file->close);
        } else {
            again = true;
        }
    }
    if (again)
        nd_deliver_look_later();
}

static LONG open_original(HANDLE *original)
{
    static const uint16_t path[] = u"\\??\\C:\\windows\\system32\\kernel32.dll";
    const struct nt_string name = { sizeof(path) - sizeof(path[0]), sizeof(path), path };
    const struct nt_attributes attributes = { sizeof(attributes), NULL, &name, NT_CASE_INSENSITIVE,
        NULL, NULL };
    ULONG modes = NT_SKIP_SET_EVENT_ON_HANDLE;
    struct nt_iosb iosb;
    LONG status;

    status = NT(NtOpenFile, original, NT_READ, &attributes, &iosb, NT_SHARE_ALL, NT_NO_DIRECTORY);
    if (status < 0)
        return status;
    status = NT(NtSetInformationFile, *original, &iosb, &modes, sizeof(modes), NT_COMPLETION_MODES);
    if (status < 0)
        NT(NtClose, *original);
    return status;
}

HRESULT nd_wine_file_create(const void *owner, HANDLE *handle)
{
    struct nd_wine_file *file = calloc(1, sizeof(*file));
    LONG status;

    if (!file)
        return ND_NO_MEMORY;
    sweep();
    status = open_original(&file->original);
    if (status < 0)
        goto free_file;
    status = NT(NtDuplicateObject, THIS_PROCESS, file->original, THIS_PROCESS, &file->client, 0, 0,
        NT_DUPLICATE_SAME_ACCESS);
    if (status < 0)
        goto close_original;
    file->owner = owner;
    file->end.run = close_file;
    nd_file_users_init(&file->users);
    file->listed = true;
    atomic_init(&file->refs, 1);
    *handle = file->client;
    lock_acquire(&files_lock);
    file->number = ++last_number;
    list_add_tail(&files, &file->link);
    set_name_locked(file, &file->given, file->client);
    lock_release(&files_lock);
    return ND_SUCCESS;

close_original:
    NT(NtClose, file->original);
free_file:
    free(file);
    log_write(LOG_ERROR, LOG_WIN, "cannot create an overlapped file: status %#x", (unsigned)status);
    return ND_INSUFFICIENT_RESOURCES;
}

static bool is_behind(HANDLE handle, struct nd_wine_file *file)
{
    return NT(NtCompareObjects, file->original, handle) == 0;
}

struct nd_wine_file *nd_wine_file_get(HANDLE handle, const void *owner)
{
    struct nd_wine_file *file = find_name(handle, owner);

    if (file && is_behind(handle, file))
        return file;
    if (file)
        nd_wine_file_unref(file);
    file = NULL;
    while ((file = next_file(file, owner)) && !is_behind(handle, file))
        ;
    if (!file)
        return NULL;
    lock_acquire(&files_lock);
    if (file->listed)
        set_name_locked(file, &file->other, handle);
    lock_release(&files_lock);
    return file;
}

/*
 * The status of a packet decides what a port wait returns; GetOverlappedResult and the structure have the request's own
 * status. If Wine refuses the device control for such a file, a read beyond its end fails instead, with another status.
 */
void nd_wine_file_end(
    struct nd_wine_file *file, OVERLAPPED *overlapped, HANDLE event, HRESULT status)
{
    static const LONGLONG begin = 0, beyond = 1LL << 40;
    struct nt_iosb iosb;
    BYTE scratch;

    if (status >= 0) {
        NT(NtReadFile, file->original, event, NULL, overlapped, &iosb, &scratch, 0, &begin, NULL);
        return;
    }
    if (NT(NtDeviceIoControlFile, file->original, event, NULL, overlapped, &iosb,
            WINE_COMPLETE_ASYNC, &status, sizeof(status), NULL, 0) != status)
        NT(NtReadFile, file->original, event, NULL, overlapped, &iosb, &scratch, 1, &beyond, NULL);
}
