/* SPDX-License-Identifier: MIT */
#include "ndspi/wine/file.h"

#include "ndspi/wine/nt.h"

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

static struct lock files_lock = LOCK_INIT(LOCK_WINE_FILES, "Wine's files");
static uint64_t last_number;
static struct list_head files = { { &files.n, &files.n } };

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

static void unlist(struct nd_wine_file *file)
{
    bool listed;

    lock_acquire(&files_lock);
    listed = file->listed;
    if (listed)
        list_del(&file->link);
    file->listed = false;
    lock_release(&files_lock);
    if (listed)
        nd_wine_file_unref(file);
}

/* The next listed file after `before` (NULL: the first), referenced; drops the reference to `before`. */
static struct nd_wine_file *next_file(struct nd_wine_file *before, const void *owner)
{
    struct nd_wine_file *found = NULL;

    lock_acquire(&files_lock);
    list_for_each (&files, node) {
        struct nd_wine_file *file = file_of(node);

        if ((!before || file->number > before->number) && (!owner || file->owner == owner)) {
            found = nd_wine_file_ref(file);
            break;
        }
    }
    lock_release(&files_lock);
    if (before)
        nd_wine_file_unref(before);
    return found;
}

void nd_wine_file_forget(const void *owner)
{
    struct nd_wine_file *file;

    while ((file = next_file(NULL, owner))) {
        unlist(file);
        nd_wine_file_unref(file);
    }
}

static bool program_closed(struct nd_wine_file *file)
{
    struct nt_basic_information info;

    return NT(NtQueryObject, file->original, NT_OBJECT_BASIC, &info, sizeof(info), NULL) >= 0 &&
           info.handles == 1;
}

/* Before adding a file: removes those that no object uses and whose handle is closed. */
static void sweep(void)
{
    struct nd_wine_file *file = NULL;

    while ((file = next_file(file, NULL)))
        if (atomic_load_explicit(&file->refs, memory_order_relaxed) == 2 && program_closed(file))
            unlist(file);
}

/* ---- a file that the program closes under its requests ---- */

/*
 * Counts first: a look that is due sees the count; if none is due, the second call schedules one. Both are seq_cst.
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

/* Another thread cancels: the last cancelled request may end its adapter, which would wait for this thread. */
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
    lock_release(&files_lock);
    return ND_SUCCESS;

close_original:
    NT(NtClose, file->original);
free_file:
    free(file);
    log_write(LOG_ERROR, LOG_WIN, "cannot create an overlapped file: status %#x", (unsigned)status);
    return ND_INSUFFICIENT_RESOURCES;
}

struct nd_wine_file *nd_wine_file_get(HANDLE handle, const void *owner)
{
    struct nd_wine_file *file = NULL;

    while ((file = next_file(file, owner)))
        if (NT(NtCompareObjects, file->original, handle) == 0)
            return file;
    return NULL;
}

/*
 * The status of a packet decides what a port wait returns; GetOverlappedResult and the structure have the request's
 * own. If Wine refuses the device control for such a file, a read beyond its end fails instead, with another status.
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
