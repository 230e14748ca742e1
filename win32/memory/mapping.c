/* SPDX-License-Identifier: MIT */
/*
 * mapping.c - CreateFileMapping and views: shared memory over memfd_create, or with a name (mapping_name.h). There are
 * no mappings of files. A view outlives the handle; the memory is freed with the last view.
 */
#include "win32/fork.h"
#include "win32/memory/mapping_name.h"
#include "win32/memory/memory.h"
#include "win32/memory/region.h"
#include "win32/memory/secure_cache.h"

#include "winobj/handles/handle.h"
#include "win32/names/names.h"

#include "util/descriptor.h"
#include "util/file_size.h"
#include "util/list.h"
#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

struct mapping {
    struct win_object object;
    int fd;
    uint64_t size;
    bool writable;
    char *name; /* NULL: none */
    int number; /* names_open's number of the name; -1: none */
};

struct view {
    struct list_node link;
    void *base;
    size_t size;
};

static struct list_head views = { { &views.n, &views.n } };
static struct lock views_lock = LOCK_INIT(LOCK_WIN_HANDLES, "views");
WIN_HELD_OVER_FORK(views_lock);

static void mapping_free(struct mapping *mapping)
{
    if (mapping->name && mapping->fd >= 0)
        win_name_close(mapping->name, mapping->fd);
    else if (mapping->fd >= 0)
        close(mapping->fd);
    if (mapping->number >= 0)
        names_close(mapping->number);
    free(mapping->name);
    free(mapping);
}

static void mapping_destroy(struct win_object *object)
{
    mapping_free((struct mapping *)object);
}

/*
 * A descriptor of the memory for another user of the name, with a lock of its own: it counts as one more. -1 with
 * errno.
 */
static int another_user(const struct mapping *mapping)
{
    char path[40];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", mapping->fd);
    fd = open(path, (mapping->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd >= 0)
        flock(fd, LOCK_SH | LOCK_NB); /* cannot fail: this one holds the lock shared */
    return fd;
}

/* The child's handle counts as one more user of the name: it gets a descriptor and a lock of its own. */
static void mapping_forked(struct win_object *object)
{
    struct mapping *mapping = (struct mapping *)object;
    int fd;

    if (!mapping->name)
        return;
    fd = another_user(mapping);
    close(mapping->fd);
    mapping->fd = fd;
}

static DWORD mapping_carry(struct win_object *object, struct win_parcel *parcel)
{
    const struct mapping *mapping = (struct mapping *)object;
    int fd;

    if (!parcel)
        return ERROR_SUCCESS;
    if (mapping->name && strlen(mapping->name) >= sizeof(parcel->name))
        return ERROR_NOT_SUPPORTED;
    fd = mapping->name ? descriptor_raise(another_user(mapping)) : descriptor_copy(mapping->fd);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? ERROR_TOO_MANY_OPEN_FILES
                                                  : ERROR_NOT_ENOUGH_MEMORY;
    parcel->kind = WIN_PARCEL_MAPPING;
    parcel->fd = fd;
    parcel->size = mapping->size;
    parcel->numbers[0] = mapping->writable;
    if (mapping->name)
        strcpy(parcel->name, mapping->name);
    parcel->named = mapping->name != NULL;
    return ERROR_SUCCESS;
}

static const struct win_object_type mapping_type = {
    .name = "mapping",
    .destroy = mapping_destroy,
    .forked = mapping_forked,
    .carry = mapping_carry,
};

static HANDLE fail(DWORD error)
{
    SetLastError(error);
    return NULL;
}

/*
 * Takes the name as an object, so that no event or mutex can have it, too. The memory's file tells whether it existed.
 */
static bool take_name(struct mapping *mapping, bool create)
{
    const struct names_new section = { .kind = NAMES_SECTION };
    bool existed;

    mapping->number = names_open(mapping->name, &section, create, &existed);
    return mapping->number >= 0;
}

/* Memory without a name, which the system gives page by page; a descriptor, or -1 with the last error. */
static int anonymous(uint64_t size)
{
    struct sysinfo system;
    int fd, error;

    /* more than the system can ever have: the program would be killed when it touched it */
    if (size > INT64_MAX || sysinfo(&system) ||
        size / system.mem_unit > system.totalram + system.totalswap) {
        SetLastError(ERROR_COMMITMENT_LIMIT);
        return -1;
    }
    fd = memfd_create("mapping", MFD_CLOEXEC);
    error = fd < 0 ? errno : file_resize(fd, (off_t)size);
    if (!error)
        return fd;
    SetLastError(error == EMFILE || error == ENFILE ? ERROR_TOO_MANY_OPEN_FILES
                 : error == EFBIG                   ? ERROR_COMMITMENT_LIMIT
                                                    : ERROR_NOT_ENOUGH_MEMORY);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Opens or makes the memory of a name, or makes memory without a name. existed out: the name existed. */
static struct mapping *mapping_new(const char *name, uint64_t size, bool writable, bool *existed)
{
    struct mapping *mapping = calloc(1, sizeof(*mapping));
    struct stat status;

    *existed = false;
    if (!mapping || (name && !(mapping->name = strdup(name)))) {
        free(mapping);
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    }
    mapping->fd = mapping->number = -1;
    if (name && !take_name(mapping, size != 0)) {
        mapping_free(mapping);
        return NULL;
    }
    mapping->fd = name ? win_name_open(name, size, writable, existed) : anonymous(size);
    if (mapping->fd >= 0 && fstat(mapping->fd, &status)) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        mapping_free(mapping);
        return NULL;
    }
    if (mapping->fd < 0) {
        mapping_free(mapping);
        return NULL;
    }
    mapping->size = (uint64_t)status.st_size;
    mapping->writable = name ? (status.st_mode & S_IWUSR) != 0 : writable;
    return mapping;
}

static HANDLE mapping_open(struct mapping *mapping, DWORD error)
{
    HANDLE handle = win_handle_open(&mapping->object, &mapping_type);

    if (handle)
        SetLastError(error);
    else
        mapping_free(mapping);
    return handle;
}

HANDLE win_mapping_receive(const struct win_parcel *parcel)
{
    struct mapping *mapping = calloc(1, sizeof(*mapping));

    if (!mapping || (*parcel->name && !(mapping->name = strdup(parcel->name)))) {
        free(mapping);
        close(parcel->fd);
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    }
    mapping->number = -1;
    mapping->fd = parcel->fd;
    mapping->size = parcel->size;
    mapping->writable = parcel->numbers[0];
    if (mapping->name && !take_name(mapping, true)) {
        mapping_free(mapping);
        return NULL;
    }
    return mapping_open(mapping, ERROR_SUCCESS);
}

/*
 * CreateFileMappingA, CreateFileMappingW - shared memory, zero at first.
 * file        INVALID_HANDLE_VALUE
 * attributes  bInheritHandle: whether CreateProcess may hand it on; may be NULL
 * protection  PAGE_READWRITE or PAGE_READONLY, with SEC_COMMIT or not
 * size        in bytes; ignored if the name exists: its memory keeps its size
 * name        NULL, or the name by which other processes of the user find it, as long as any of them has a handle; may
 *             begin with Local\ or Global\
 * Returns     a handle, with the last error ERROR_SUCCESS, or ERROR_ALREADY_EXISTS if the name existed; NULL with
 *             ERROR_INVALID_PARAMETER (no size, another protection), ERROR_INVALID_HANDLE (a file; the name is that of
 *             another kind of object), ERROR_COMMITMENT_LIMIT (more than the system has; with a name, more than
 *             /dev/shm has left: such memory is allocated at once), ERROR_NOT_ENOUGH_MEMORY, or an error of names_open
 *             or win_name_open.
 */
HANDLE WINAPI CreateFileMappingA(HANDLE file, LPSECURITY_ATTRIBUTES attributes, DWORD protection,
    DWORD size_high, DWORD size_low, LPCSTR name)
{
    uint64_t size = (uint64_t)size_high << 32 | size_low;
    struct mapping *mapping;
    bool existed;

    protection &= ~(DWORD)SEC_COMMIT;
    if (file != INVALID_HANDLE_VALUE)
        return fail(ERROR_INVALID_HANDLE);
    if (!size || (protection != PAGE_READWRITE && protection != PAGE_READONLY))
        return fail(ERROR_INVALID_PARAMETER);
    mapping =
        mapping_new(name && *name ? name : NULL, size, protection == PAGE_READWRITE, &existed);
    if (!mapping)
        return NULL;
    win_handle_offer();
    return win_handle_attribute(
        mapping_open(mapping, existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS), attributes);
}

/*
 * OpenFileMappingA, OpenFileMappingW - opens the memory of a name for which some process has a handle.
 * access   views for writing need FILE_MAP_WRITE
 * inherit  whether CreateProcess may hand it on
 * Returns  NULL with ERROR_FILE_NOT_FOUND, ERROR_INVALID_PARAMETER (no name), ERROR_ACCESS_DENIED (FILE_MAP_WRITE for
 *          read-only memory), ERROR_INVALID_HANDLE (another kind of object), or an error of names_open or
 *          win_name_open.
 */
HANDLE WINAPI OpenFileMappingA(DWORD access, BOOL inherit, LPCSTR name)
{
    struct mapping *mapping;
    bool existed;

    if (!name)
        return fail(ERROR_INVALID_PARAMETER);
    if (!(mapping = mapping_new(name, 0, false, &existed)))
        return NULL;
    if ((access & FILE_MAP_WRITE) && !mapping->writable) {
        mapping_free(mapping);
        return fail(ERROR_ACCESS_DENIED);
    }
    mapping->writable = (access & FILE_MAP_WRITE) != 0;
    return win_handle_attribute(
        mapping_open(mapping, GetLastError()), &(SECURITY_ATTRIBUTES){ .bInheritHandle = inherit });
}

/* Maps at an address that is free, or anywhere. NULL with the last error. */
static void *view_map(const struct mapping *mapping, int prot, int flags, uint64_t offset,
    size_t bytes, void *address)
{
    void *place = address ? address : win_virtual_place(bytes), *base;

    if (!place)
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    base = mmap(place, bytes, prot, flags | (address ? MAP_FIXED_NOREPLACE : MAP_FIXED),
        mapping->fd, (off_t)offset);
    if (base == place)
        return base;
    if (base != MAP_FAILED)
        munmap(base, bytes);
    if (!address)
        munmap(place, bytes);
    return fail(address ? ERROR_INVALID_ADDRESS : ERROR_NOT_ENOUGH_MEMORY);
}

/* Has VirtualQuery know the pages of a view. */
static bool view_record(const struct view *view, bool copy, bool write)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool recorded;

    win_regions_lock();
    recorded = win_region_add((uintptr_t)view->base, (view->size + page - 1) & ~(page - 1),
        copy    ? PAGE_WRITECOPY
        : write ? PAGE_READWRITE
                : PAGE_READONLY,
        true, MEM_MAPPED);
    win_regions_unlock();
    return recorded;
}

static void *view_new(
    const struct mapping *mapping, DWORD access, uint64_t offset, size_t bytes, void *address)
{
    bool copy = access == FILE_MAP_COPY, write = copy || (access & FILE_MAP_WRITE);
    struct view *view;

    if (offset % WIN_ALLOCATION_GRANULARITY || (uintptr_t)address % WIN_ALLOCATION_GRANULARITY)
        return fail(ERROR_MAPPED_ALIGNMENT);
    if (offset >= mapping->size || bytes > mapping->size - offset ||
        (write && !copy && !mapping->writable))
        return fail(ERROR_ACCESS_DENIED);
    if (!(view = malloc(sizeof(*view))))
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    view->size = bytes ? bytes : (size_t)(mapping->size - offset);
    view->base = view_map(mapping, PROT_READ | (write ? PROT_WRITE : 0),
        copy ? MAP_PRIVATE : MAP_SHARED, offset, view->size, address);
    if (!view->base) {
        free(view);
        return NULL;
    }
    if (!view_record(view, copy, write)) {
        munmap(view->base, view->size);
        free(view);
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    }
    lock_acquire(&views_lock);
    list_add_tail(&views, &view->link);
    lock_release(&views_lock);
    return view->base;
}

/*
 * MapViewOfFile, MapViewOfFileEx - maps a range of the memory into the process.
 * access   FILE_MAP_READ, FILE_MAP_WRITE or FILE_MAP_ALL_ACCESS (both read and write), FILE_MAP_COPY (other views do
 *          not see what is written)
 * offset   a multiple of 64 KB
 * bytes    0: up to the end of the memory
 * address  where, a multiple of 64 KB; NULL: anywhere
 * Returns  NULL with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (another access), ERROR_MAPPED_ALIGNMENT,
 *          ERROR_ACCESS_DENIED (beyond the end; write access to read-only memory), ERROR_INVALID_ADDRESS (address is
 *          in use), ERROR_NOT_ENOUGH_MEMORY.
 */
LPVOID WINAPI MapViewOfFileEx(
    HANDLE handle, DWORD access, DWORD offset_high, DWORD offset_low, SIZE_T bytes, LPVOID address)
{
    struct mapping *mapping = (struct mapping *)win_handle_pin(handle, &mapping_type);
    void *base;

    if (!mapping)
        return fail(ERROR_INVALID_HANDLE);
    if (access != FILE_MAP_COPY && access != FILE_MAP_ALL_ACCESS &&
        (!access || (access & ~(DWORD)(FILE_MAP_READ | FILE_MAP_WRITE))))
        base = fail(ERROR_INVALID_PARAMETER);
    else
        base = view_new(mapping, access, (uint64_t)offset_high << 32 | offset_low, bytes, address);
    win_object_unref(&mapping->object);
    return base;
}

LPVOID WINAPI MapViewOfFile(
    HANDLE handle, DWORD access, DWORD offset_high, DWORD offset_low, SIZE_T bytes)
{
    return MapViewOfFileEx(handle, access, offset_high, offset_low, bytes, NULL);
}

/* UnmapViewOfFile - unmaps the view that begins at an address. FALSE with ERROR_INVALID_ADDRESS. */
BOOL WINAPI UnmapViewOfFile(LPCVOID base)
{
    struct view *found = NULL;

    lock_acquire(&views_lock);
    list_for_each (&views, node) {
        found = list_entry(node, struct view, link);
        if (found->base == base)
            break;
        found = NULL;
    }
    if (found)
        list_del(&found->link);
    lock_release(&views_lock);
    if (!found)
        return fail(ERROR_INVALID_ADDRESS) != NULL;
    win_memory_goes(found->base, found->size);
    win_regions_lock();
    win_region_forget((uintptr_t)found->base);
    munmap(found->base, found->size);
    win_regions_unlock();
    free(found);
    return TRUE;
}
