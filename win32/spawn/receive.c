/* SPDX-License-Identifier: MIT */
/* receive.c - the handles that a process has inherited, made when the library is loaded (inherit.h). */
#include "winobj/handles/descriptor.h"
#include "win32/parcels/open.h"
#include "win32/parcels/serve.h"
#include "win32/spawn/inherit.h"
#include "win32/spawn/startup.h"
#include "win32/sockets/object.h"

#include "util/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void receive_socket(const struct win_parcel *parcel)
{
    win_socket_adopt(parcel->at);
    win_handle_set_inherit((HANDLE)(uintptr_t)(unsigned)parcel->at, true);
}

/* One handle under its number. */
static void receive(const struct win_inherit_handle *all, uint32_t index)
{
    const struct win_inherit_handle *entry = &all[index];
    const HANDLE value = (HANDLE)(uintptr_t)entry->value;
    struct win_object *object;
    HANDLE handle;

    if (!entry->value) { /* the handle's number was in use */
        if (entry->parcel.fd >= 0)
            close(entry->parcel.fd);
        return;
    }
    if (entry->same_as >= 0) {
        object = win_handle_pin((HANDLE)(uintptr_t)all[entry->same_as].value, NULL);
        if (object) {
            win_handle_place(object, value);
            win_object_unref(object);
        }
        return;
    }
    if (!(handle = win_parcel_open(&entry->parcel))) {
        log_write(LOG_ERROR, LOG_WIN, "cannot create the inherited handle %#llx: error %u",
            (unsigned long long)entry->value, (unsigned)GetLastError());
        return;
    }
    object = win_handle_pin(handle, NULL);
    win_handle_place(object, value);
    win_object_unref(object);
    CloseHandle(handle);
}

static void receive_all(struct win_inherit_handle *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct win_parcel *parcel = &all[i].parcel;
        const int fd = parcel->at >= 0 ? parcel->at : parcel->fd;

        if (fd >= 0)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        if (parcel->kind != WIN_PARCEL_SOCKET &&
            !win_handle_reserve((HANDLE)(uintptr_t)all[i].value)) {
            log_write(LOG_ERROR, LOG_WIN,
                "the number of the inherited handle %#llx is in use: the library was loaded too "
                "late",
                (unsigned long long)all[i].value);
            all[i].value = 0;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (all[i].parcel.kind == WIN_PARCEL_SOCKET)
            receive_socket(&all[i].parcel);
        else
            receive(all, i);
}

/*
 * The variable is not trusted: an entry may refer to earlier ones only, its name ends, and no handle is a descriptor.
 */
static bool is_table(const struct win_inherit_handle *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].same_as < -1 || all[i].same_as >= (int32_t)i ||
            !memchr(all[i].parcel.name, 0, sizeof(all[i].parcel.name)) ||
            (all[i].parcel.kind != WIN_PARCEL_SOCKET &&
                (all[i].value < WIN_DESCRIPTORS || all[i].value > UINT32_MAX)))
            return false;
    return true;
}

/* Reads the table of a memory file; NULL: it is none, or there is no memory. */
static struct win_inherit_handle *read_file(int file, struct win_inherit_head *head)
{
    struct win_inherit_handle *all;
    size_t octets;

    if (pread(file, head, sizeof(*head), 0) != (ssize_t)sizeof(*head) ||
        head->magic != WIN_INHERIT_MAGIC || head->count > WIN_INHERIT_MOST ||
        head->octets != sizeof(*all))
        return NULL;
    octets = head->count * sizeof(*all);
    if (!(all = malloc(octets)))
        return NULL;
    if (pread(file, all, octets, sizeof(*head)) == (ssize_t)octets && is_table(all, head->count))
        return all;
    free(all);
    return NULL;
}

/* The table of the variable, if there is one. */
static void receive_table(void)
{
    const char *number = secure_getenv(WIN_INHERITED);
    struct win_inherit_handle *all;
    struct win_inherit_head head;
    int file;

    if (!number)
        return;
    file = atoi(number);
    unsetenv(WIN_INHERITED);
    if (!(all = read_file(file, &head))) {
        log_write(LOG_WARN, LOG_WIN,
            "%s does not name a handle table: the process inherits no handles", WIN_INHERITED);
        return;
    }
    receive_all(all, head.count);
    free(all);
    close(file);
    if (head.hold >= 0)
        close(head.hold);
}

/* The last of the library's constructors: the others have a priority. */
__attribute__((constructor)) static void receive_load(void)
{
    const DWORD before = GetLastError();
    const char *started = secure_getenv(WIN_STARTED);

    receive_table();
    if (started) {
        win_startup_receive(started);
        unsetenv(WIN_STARTED);
        win_parcels_listen(); /* the starting process has a handle of this one */
    }
    SetLastError(before);
}
