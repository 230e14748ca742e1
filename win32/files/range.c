/* SPDX-License-Identifier: MIT */
/*
 * range.c - LockFileEx, UnlockFileEx: locked octets of a file, by locks of the open file description. Each handle lists
 * its own ranges, because Windows unlocks exactly what was locked, and a handle's exclusive lock excludes the handle
 * itself, too.
 */
#include "win32/files/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define RANGE_END 0x7fffffffffffe000ull /* share.c uses the octets beyond */

struct range {
    struct list_node link;
    uint64_t begin, end; /* first octet; the one behind the last */
    bool exclusive;
    bool got; /* false while range_lock waits for it */
};

static bool overlaps(const struct range *range, uint64_t begin, uint64_t end)
{
    return range->begin < end && begin < range->end;
}

static int set_lock(int fd, short type, uint64_t begin, uint64_t end, bool wait)
{
    struct flock lock = {
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)begin,
        .l_len = (off_t)(end - begin),
    };

    while (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Where a range of the program ends. False: it is empty, or beyond what a file can have. */
static bool range_end(uint64_t begin, uint64_t bytes, uint64_t *end)
{
    if (!bytes || begin >= RANGE_END)
        return false;
    *end = bytes > RANGE_END - begin ? RANGE_END : begin + bytes;
    return true;
}

DWORD range_check(const struct plain_file *plain, uint64_t offset, uint64_t bytes, bool writes)
{
    struct flock lock = { .l_type = writes ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET };
    uint64_t end;

    if (plain->type != FILE_TYPE_DISK || !range_end(offset, bytes, &end))
        return ERROR_SUCCESS;
    lock.l_start = (off_t)offset;
    lock.l_len = (off_t)(end - offset);
    return !fcntl(plain->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK ? ERROR_LOCK_VIOLATION
                                                                           : ERROR_SUCCESS;
}

static bool excluded_by_own_locked(
    const struct plain_file *plain, uint64_t begin, uint64_t end, bool exclusive)
{
    list_for_each (&plain->ranges, node) {
        const struct range *range = list_entry(node, struct range, link);
        if (overlaps(range, begin, end) && (exclusive || range->exclusive))
            return true;
    }
    return false;
}

DWORD range_lock(struct win_file *file, uint64_t offset, uint64_t bytes, bool exclusive, bool wait)
{
    struct plain_file *plain = win_file_room(file);
    struct range *range;
    uint64_t end;
    bool excluded;
    int error;

    if (!range_end(offset, bytes, &end))
        return ERROR_INVALID_PARAMETER;
    if (!(range = malloc(sizeof(*range))))
        return ERROR_NOT_ENOUGH_MEMORY;
    *range = (struct range){ .begin = offset, .end = end, .exclusive = exclusive };
    lock_acquire(&file->lock);
    if (!(excluded = excluded_by_own_locked(plain, offset, end, exclusive)))
        list_add_tail(&plain->ranges, &range->link);
    lock_release(&file->lock);
    error =
        excluded ? EAGAIN : set_lock(plain->fd, exclusive ? F_WRLCK : F_RDLCK, offset, end, wait);
    if (!error) {
        lock_acquire(&file->lock);
        range->got = true;
        lock_release(&file->lock);
        return ERROR_SUCCESS;
    }
    if (!excluded) {
        lock_acquire(&file->lock);
        list_del(&range->link);
        lock_release(&file->lock);
    }
    free(range);
    return error == EAGAIN || error == EACCES ? ERROR_LOCK_VIOLATION : files_error(error);
}

/* Unlocks the octets of a range but those that another shared lock of the handle has. */
static void unlock_rest_locked(const struct plain_file *plain, uint64_t begin, uint64_t end)
{
    while (begin < end) {
        uint64_t to = end, skip = 0;

        list_for_each (&plain->ranges, node) {
            const struct range *range = list_entry(node, struct range, link);
            if (range->begin <= begin && begin < range->end)
                skip = range->end;
            else if (range->begin > begin && range->begin < to)
                to = range->begin;
        }
        if (!skip)
            set_lock(plain->fd, F_UNLCK, begin, to, false);
        begin = skip ? skip : to;
    }
}

DWORD range_unlock(struct win_file *file, uint64_t offset, uint64_t bytes)
{
    struct plain_file *plain = win_file_room(file);
    struct range *found = NULL;
    uint64_t end = 0;

    if (!range_end(offset, bytes, &end))
        return ERROR_NOT_LOCKED;
    lock_acquire(&file->lock);
    list_for_each (&plain->ranges, node) {
        struct range *range = list_entry(node, struct range, link);
        if (range->got && range->begin == offset && range->end == end) {
            found = range;
            break;
        }
    }
    if (found) {
        list_del(&found->link);
        unlock_rest_locked(plain, offset, end);
    }
    lock_release(&file->lock);
    free(found);
    return found ? ERROR_SUCCESS : ERROR_NOT_LOCKED;
}

void range_free_all(struct plain_file *plain)
{
    struct list_node *node;

    while ((node = list_pop(&plain->ranges)))
        free(list_entry(node, struct range, link));
}

static BOOL answer(struct win_file *file, DWORD error)
{
    win_file_unref(file);
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * LockFileEx - locks octets of a file, from the place that overlapped names on. There ReadFile and WriteFile of other
 * handles fail with ERROR_LOCK_VIOLATION (with a shared lock WriteFile alone); other programs are not held to it.
 * flags     LOCKFILE_EXCLUSIVE_LOCK: else shared; LOCKFILE_FAIL_IMMEDIATELY: does not wait for another handle's lock
 * low,high  how many octets; the locks may be beyond the end of the file
 * Returns   TRUE. FALSE with ERROR_IO_PENDING (the file was opened with FILE_FLAG_OVERLAPPED, and the lock waits: at
 *           most 32 ms pass until it takes a free lock), ERROR_LOCK_VIOLATION (also where this handle has the octets
 *           and was not opened so), ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY,
 *           ERROR_NO_SYSTEM_RESOURCES, ERROR_ACCESS_DENIED (exclusive, and Linux lets this user only read the file).
 */
BOOL WINAPI LockFileEx(
    HANDLE handle, DWORD flags, DWORD reserved, DWORD low, DWORD high, LPOVERLAPPED overlapped)
{
    const bool exclusive = flags & LOCKFILE_EXCLUSIVE_LOCK;
    const bool wait = !(flags & LOCKFILE_FAIL_IMMEDIATELY);
    const uint64_t bytes = (uint64_t)high << 32 | low;
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);
    DWORD error;

    if (!file)
        return FALSE;
    if (reserved || !overlapped || plain->type != FILE_TYPE_DISK || !bytes ||
        (flags & ~(DWORD)(LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY)))
        return answer(file, ERROR_INVALID_PARAMETER);
    error = range_lock(file, overlapped_offset(overlapped), bytes, exclusive,
        wait && !(plain->flags & FILE_FLAG_OVERLAPPED));
    if (error == ERROR_LOCK_VIOLATION && wait && (plain->flags & FILE_FLAG_OVERLAPPED))
        return answer(file, lock_wait(file, bytes, exclusive, overlapped));
    if (error || !(plain->flags & FILE_FLAG_OVERLAPPED))
        return answer(file, error);
    if ((error = win_io_succeed(file, overlapped, 0)))
        range_unlock(file, overlapped_offset(overlapped), bytes);
    return answer(file, error);
}

/*
 * UnlockFileEx - unlocks octets that LockFileEx has locked, with exactly the same place and size.
 * Returns FALSE with ERROR_NOT_LOCKED, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER.
 */
BOOL WINAPI UnlockFileEx(
    HANDLE handle, DWORD reserved, DWORD low, DWORD high, LPOVERLAPPED overlapped)
{
    struct plain_file *plain;
    struct win_file *file = plain_pin(handle, &plain);

    if (!file)
        return FALSE;
    if (reserved || !overlapped || plain->type != FILE_TYPE_DISK)
        return answer(file, ERROR_INVALID_PARAMETER);
    return answer(
        file, range_unlock(file, overlapped_offset(overlapped), (uint64_t)high << 32 | low));
}
