/* SPDX-License-Identifier: MIT */
/* inherit.c - what a process that CreateProcess starts inherits, on the starting side (inherit.h). */
#include "win32/spawn/inherit.h"

#include "win32/fork.h"
#include "winobj/handles/descriptor.h"

#include "reactor/reactor.h"
#include "util/descriptor.h"
#include "util/held_signal.h"
#include "util/list.h"
#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Objects kept until the new process closes its end of a pipe. It is made before the process, so that CreateProcess
 * fails where it cannot be had, and is in the list, so that the child of a fork gives back what it has no thread for.
 */
struct win_keeper {
    struct reactor_source source; /* first; this process's end */
    struct list_node link;
    int other; /* the new process's end; -1: it alone has it */
    uint32_t count;
    struct win_object *objects[]; /* referenced */
};

static struct lock lock =
    LOCK_INIT(LOCK_WIN_INHERIT, "inherited objects"); /* guards the list, and other */
FORK_ROW(.place = LOCK_WIN_INHERIT, .lock = &lock);
static struct list_head keepers = { { &keepers.n, &keepers.n } };

static void keeper_free(struct reactor_source *source)
{
    close(source->fd);
    free(source);
}

/* Gives up the objects, and the caller's reference. */
static void keeper_end(struct win_keeper *keeper)
{
    reactor_remove(&keeper->source); /* first: the close would wake another thread for it */
    lock_acquire(&lock);
    list_del(&keeper->link);
    if (keeper->other >= 0)
        close(keeper->other);
    lock_release(&lock);
    for (uint32_t i = 0; i < keeper->count; i++)
        win_object_unref(keeper->objects[i]);
    reactor_unref(&keeper->source);
}

static void keeper_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    (void)events;
    (void)how;
    keeper_end((struct win_keeper *)source);
}

static const struct reactor_source_ops keeper_ops = { .ready = keeper_ready, .free = keeper_free };

/* Records one handle. A Win32 error. */
static DWORD add(struct win_inheritance *in, HANDLE value)
{
    struct win_inherit_handle *entry = &in->handles[in->count];
    struct win_object *object;
    DWORD error;

    for (uint32_t i = 0; i < in->count; i++)
        if (in->handles[i].value == (uintptr_t)value)
            return ERROR_SUCCESS; /* a list may name it twice */
    if (!(object = win_handle_pin(value, NULL)))
        return ERROR_INVALID_PARAMETER; /* closed meanwhile, or never open */
    *entry = (struct win_inherit_handle){
        .value = (uintptr_t)value, .same_as = -1, .parcel = { .fd = -1, .at = -1 }
    };
    for (uint32_t i = 0; i < in->count && entry->same_as < 0; i++)
        if (in->objects[i] == object)
            entry->same_as = (int32_t)i;
    error = entry->same_as >= 0 ? ERROR_SUCCESS : object->type->carry(object, &entry->parcel);
    if (error) {
        win_object_unref(object);
        return error;
    }
    in->objects[in->count++] = object;
    /*
     * A socket is identified by its descriptor; a duplicate would outlive it there, and closesocket would not close it.
     */
    if (entry->same_as >= 0) {
        const struct win_parcel *first = &in->handles[entry->same_as].parcel;
        return first->kind == WIN_PARCEL_SOCKET &&
                       win_descriptor_handle((uintptr_t)first->at) != value
                   ? ERROR_NOT_SUPPORTED
                   : ERROR_SUCCESS;
    }
    if (entry->parcel.kind == WIN_PARCEL_SOCKET &&
        win_descriptor_handle((uintptr_t)entry->parcel.at) != value &&
        (uintptr_t)entry->parcel.at != (uintptr_t)value)
        return ERROR_NOT_SUPPORTED;
    return ERROR_SUCCESS;
}

static bool room(struct win_inheritance *in, size_t count)
{
    void *handles = realloc(in->handles, count * sizeof(*in->handles));
    void *objects;

    if (handles)
        in->handles = handles;
    objects = realloc(in->objects, count * sizeof(*in->objects));
    if (objects)
        in->objects = objects;
    return handles && objects;
}

static DWORD add_all(struct win_inheritance *in)
{
    DWORD error = ERROR_SUCCESS;
    uint32_t place = 0;
    HANDLE value;

    while (!error && (value = win_handle_next_inherited(&place))) {
        if (in->count == WIN_INHERIT_MOST)
            return ERROR_NOT_SUPPORTED;
        if (!(in->count & (in->count - 1)) && !room(in, in->count ? 2 * (size_t)in->count : 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        error = add(in, value);
        if (error == ERROR_INVALID_PARAMETER)
            error = ERROR_SUCCESS; /* another thread has closed it */
    }
    return error;
}

static DWORD add_list(struct win_inheritance *in, const HANDLE *list, size_t count)
{
    DWORD error = ERROR_SUCCESS;

    if (count > WIN_INHERIT_MOST)
        return ERROR_NOT_SUPPORTED;
    if (count && !room(in, count))
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < count && !error; i++) {
        win_descriptor_adopt(list[i]);
        error = win_handle_inherits(list[i]) ? add(in, list[i]) : ERROR_INVALID_PARAMETER;
    }
    return error;
}

/* Copies took free numbers; if one is the number of a listed socket, that socket was closed meanwhile. */
static bool numbers_are_free(const struct win_inheritance *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        for (uint32_t k = 0; k < in->count && in->handles[i].parcel.at >= 0; k++)
            if (in->handles[k].parcel.fd == in->handles[i].parcel.at)
                return false;
    return true;
}

static DWORD error_of(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case EAGAIN: return ERROR_NO_SYSTEM_RESOURCES; /* a thread */
    default: return ERROR_NOT_ENOUGH_MEMORY;
    }
}

/* Opens the pipe. An errno. */
static int pipe_open(int ends[2])
{
    int error = pipe2(ends, O_CLOEXEC) ? errno : 0;

    if (error)
        return error;
    for (int i = 0; i < 2; i++)
        if ((ends[i] = descriptor_raise(ends[i])) < 0)
            error = errno;
    for (int i = 0; i < 2 && error; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return error;
}

/* Gives the pipe to a keeper. A fork finds neither the one without the other. */
static int keeper_open(struct win_keeper *keeper)
{
    int ends[2], error;

    lock_acquire(&lock);
    if (!(error = pipe_open(ends))) {
        reactor_source_init(&keeper->source, &keeper_ops, ends[0]);
        keeper->other = ends[1];
        list_add_tail(&keepers, &keeper->link);
    }
    lock_release(&lock);
    return error;
}

/* Whether the object of a handle lives by its name. */
static bool is_named(const struct win_inheritance *in, uint32_t index)
{
    const struct win_inherit_handle *entry = &in->handles[index];

    return in->handles[entry->same_as >= 0 ? (uint32_t)entry->same_as : index].parcel.named;
}

/* Gives the references to objects that live by their names to a keeper, if there are any. A Win32 error. */
static DWORD keep(struct win_inheritance *in)
{
    struct win_keeper *keeper;
    uint32_t count = 0;
    int error;

    for (uint32_t i = 0; i < in->count; i++)
        count += is_named(in, i);
    if (!count)
        return ERROR_SUCCESS;
    if (!(keeper = calloc(1, sizeof(*keeper) + count * sizeof(keeper->objects[0]))))
        return ERROR_NOT_ENOUGH_MEMORY;
    if ((error = keeper_open(keeper))) {
        free(keeper);
        return error_of(error);
    }
    in->keeper = keeper;
    for (uint32_t i = 0; i < in->count; i++)
        if (is_named(in, i)) {
            keeper->objects[keeper->count++] = in->objects[i];
            in->objects[i] = NULL;
        }
    error = -reactor_add(&keeper->source, EPOLLIN);
    return error ? error_of(error) : ERROR_SUCCESS;
}

static DWORD write_file(struct win_inheritance *in)
{
    const struct win_inherit_head head = { WIN_INHERIT_MAGIC, in->count,
        in->keeper ? in->keeper->other : -1, sizeof(*in->handles) };
    const size_t octets = in->count * sizeof(*in->handles);
    struct held_signal sigxfsz; /* RLIMIT_FSIZE raises it */
    bool written;

    if ((in->file = descriptor_raise(memfd_create("inherited", MFD_CLOEXEC))) < 0)
        return error_of(errno);
    errno = 0;
    held_signal_begin(&sigxfsz, SIGXFSZ);
    written = pwrite(in->file, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
              pwrite(in->file, in->handles, octets, sizeof(head)) == (ssize_t)octets;
    held_signal_end(&sigxfsz, errno == EFBIG);
    return written ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

DWORD win_inherit_collect(struct win_inheritance *in, const HANDLE *list, size_t count)
{
    DWORD error = list ? add_list(in, list, count) : add_all(in);

    if (error || !in->count)
        return error;
    if (!numbers_are_free(in))
        return ERROR_INVALID_HANDLE;
    error = keep(in);
    return error ? error : write_file(in);
}

int win_inherit_descriptors(
    const struct win_inheritance *in, int (*move)(void *argument, int from, int to), void *argument)
{
    int error = 0;

    if (in->file < 0)
        return 0;
    error = move(argument, in->file, in->file);
    if (!error && in->keeper)
        error = move(argument, in->keeper->other, in->keeper->other);
    for (uint32_t i = 0; i < in->count && !error; i++) {
        const struct win_parcel *parcel = &in->handles[i].parcel;

        if (parcel->fd >= 0)
            error = move(argument, parcel->fd, parcel->at >= 0 ? parcel->at : parcel->fd);
    }
    return error;
}

static bool is_ours(const char *variable)
{
    return !strncmp(variable, WIN_INHERITED "=", sizeof(WIN_INHERITED)) ||
           !strncmp(variable, WIN_STARTED "=", sizeof(WIN_STARTED));
}

char **win_inherit_environment(struct win_inheritance *in, char **variables, const char *started)
{
    size_t count = 0, kept = 0;

    while (variables[count])
        count++;
    if (!(in->variables = calloc(count + 3, sizeof(*in->variables))))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(variables[i]))
            in->variables[kept++] = variables[i];
    if (asprintf(&in->started, WIN_STARTED "=%s", started) < 0) {
        in->started = NULL;
        return NULL;
    }
    in->variables[kept++] = in->started;
    if (in->file < 0)
        return in->variables;
    snprintf(in->variable, sizeof(in->variable), WIN_INHERITED "=%d", in->file);
    in->variables[kept] = in->variable;
    return in->variables;
}

void win_inherit_started(struct win_inheritance *in)
{
    struct win_keeper *keeper = in->keeper;

    if (!keeper)
        return;
    in->keeper = NULL; /* it ends by itself */
    lock_acquire(&lock);
    close(keeper->other);
    keeper->other = -1;
    lock_release(&lock);
}

void win_inherit_free(struct win_inheritance *in)
{
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->handles[i].parcel.fd >= 0)
            close(in->handles[i].parcel.fd);
        if (in->objects[i]) /* else the keeper has it */
            win_object_unref(in->objects[i]);
    }
    if (in->keeper)
        keeper_end(in->keeper);
    if (in->file >= 0)
        close(in->file);
    free(in->handles);
    free(in->objects);
    free(in->variables);
    free(in->started);
}

/* The new processes are the parent's to wait for; an end that this one had would look like theirs there. */
void win_inherit_forked(void)
{
    struct list_node *node;

    while ((node = list_pop(&keepers))) {
        struct win_keeper *keeper = list_entry(node, struct win_keeper, link);

        for (uint32_t i = 0; i < keeper->count; i++)
            win_object_unref(keeper->objects[i]);
        if (keeper->other >= 0)
            close(keeper->other);
        keeper_free(&keeper->source);
    }
}
