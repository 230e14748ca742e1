/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/publish.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/adapter/counters.h"
#include "ndspi/core/board.h"

#include "util/fork.h"
#include "util/held_signal.h"
#include "util/log.h"
#include "util/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of one process at once: libndspi and libndk have a board each. */
enum { BOARDS = 16, PROGRAM_OCTETS = 256 };

static struct {
    struct lock lock; /* LOCK_BOARD; guards all of it */
    struct list_head adapters;
    bool made, tried;
    unsigned process; /* counts forks */
    uint64_t answers;
    uint32_t serials; /* how many were given to adapters */
    char directory[ND_BOARD_PATH], name[64], program[PROGRAM_OCTETS];
    struct reactor_source source;
} board = { .lock = LOCK_INIT(LOCK_BOARD, "published adapters"),
    .adapters = { { &board.adapters.n, &board.adapters.n } },
    .source.fd = -1 };

/* ---- the text ---- */

struct text {
    char *octets;
    size_t count;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *text, const char *format, ...)
{
    size_t room = ND_BOARD_OCTETS - text->count;
    va_list list;
    int octets;

    va_start(list, format);
    octets = vsnprintf(text->octets + text->count, room, format, list);
    va_end(list);
    if (octets > 0)
        text->count += (size_t)octets < room ? (size_t)octets : room - 1;
}

/* Makes a word of it: a program may be called anything. */
static void put_word(struct text *text, const char *word)
{
    for (; *word; word++)
        put(text, "%c", *word > ' ' && *word < 127 ? *word : '_');
}

static unsigned version_of(const struct nd_adapter *adapter)
{
    switch (adapter->dialect->index) {
    case ND_V1: return 1;
    case ND_V2: return 2;
    default: return 3;
    }
}

static void put_adapter(struct text *text, struct nd_adapter *adapter)
{
    const ND_LINUX_COUNTER *row;
    ND_LINUX_COUNTERS counters;

    nd_counters_read(adapter, &counters);
    put(text, "adapter ");
    put_word(text, adapter->device->name);
    put(text, " %u %u %llu %lu\n", adapter->device->port, version_of(adapter),
        (unsigned long long)adapter->device->adapter_id, (unsigned long)adapter->published.serial);
    for (size_t i = 0; (row = nd_counter_row(i)); i++) {
        UINT64 value;

        memcpy(&value, (const char *)&counters + row->Offset, sizeof(value));
        put(text, "%s %llu\n", row->Name, (unsigned long long)value);
    }
    for (ULONG i = 0; i < counters.TerminateCount; i++)
        put(text, "terminate %u %llu %llu\n", counters.Terminates[i].Code,
            (unsigned long long)counters.Terminates[i].Sent,
            (unsigned long long)counters.Terminates[i].Received);
}

static void write_text_locked(struct text *text)
{
    put(text, ND_BOARD_TITLE " %d\nprocess %ld\nprogram ", ND_BOARD_FORM, (long)getpid());
    put_word(text, board.program);
    put(text, "\nanswer %llu\n", (unsigned long long)++board.answers);
    list_for_each (&board.adapters, node)
        put_adapter(text, list_entry(node, struct nd_adapter, published.link));
    put(text, "end\n");
}

/* ---- the files ---- */

static void path_of(char path[ND_BOARD_PATH], const char *end)
{
    snprintf(path, ND_BOARD_PATH, "%.180s/%.60s%s", board.directory, board.name, end);
}

/* Returns 0 or a negative errno. */
static int store(const char *path, const struct text *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct held_signal sigxfsz; /* RLIMIT_FSIZE raises SIGXFSZ */
    int error = 0;

    if (fd < 0)
        return -errno;
    if (fchmod(fd, 0600)) /* whatever the umask */
        error = -errno;
    held_signal_begin(&sigxfsz, SIGXFSZ);
    for (size_t at = 0; at < text->count && !error;) {
        ssize_t octets = write(fd, text->octets + at, text->count - at);

        if (octets > 0)
            at += (size_t)octets;
        else if (octets < 0 && errno != EINTR)
            error = -errno;
    }
    held_signal_end(&sigxfsz, error == -EFBIG);
    if (close(fd) && !error)
        error = -errno;
    return error;
}

static int answer_locked(void)
{
    struct text text = { .octets = malloc(ND_BOARD_OCTETS) };
    char fresh[ND_BOARD_PATH], path[ND_BOARD_PATH];
    int error;

    if (!text.octets)
        return -ENOMEM;
    write_text_locked(&text);
    path_of(fresh, ND_BOARD_NEW);
    path_of(path, ND_BOARD_TEXT);
    error = store(fresh, &text);
    if (!error && rename(fresh, path))
        error = -errno;
    if (error)
        unlink(fresh);
    free(text.octets);
    return error;
}

static void ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    char octets[256];
    int error = 0;

    (void)events, (void)how;
    while (read(source->fd, octets, sizeof(octets)) == sizeof(octets))
        ;
    lock_acquire(&board.lock);
    if (board.made)
        error = answer_locked();
    lock_release(&board.lock);
    if (error)
        log_limited(LOG_INFO, LOG_DEVICE, "counters cannot be shown: %s", strerror(-error));
}

static const struct reactor_source_ops source_ops = { .ready = ready };

/*
 * Takes a unique name. The FIFO is open before it gets that name, so no cleaner mistakes it for that of a dead process.
 */
static int take_name_locked(const char *fresh)
{
    struct stat space;

    if (stat("/proc/self/ns/pid",
            &space)) /* the name has it: process numbers mean nothing in another one */
        space.st_ino = 0;
    for (unsigned i = 0; i < BOARDS; i++) {
        char path[ND_BOARD_PATH];

        snprintf(board.name, sizeof(board.name), ND_BOARD_BEGIN "%lu.%ld.%u",
            (unsigned long)space.st_ino, (long)getpid(), i);
        path_of(path, ND_BOARD_ASK);
        if (!link(fresh, path))
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static int open_fifo_locked(int *fd)
{
    char fresh[ND_BOARD_PATH];
    int error;

    snprintf(
        board.name, sizeof(board.name), ND_BOARD_FRESH "%ld.%p", (long)getpid(), (void *)&board);
    path_of(fresh, "");
    unlink(fresh); /* left by a process with this number that was killed in here */
    if (mkfifo(fresh, 0600))
        return -errno;
    if (!chmod(fresh, 0600)) /* whatever the umask */
        *fd = open(fresh, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    error = *fd < 0 ? -errno : take_name_locked(fresh);
    unlink(fresh);
    return error;
}

static void remove_files_locked(void)
{
    char path[ND_BOARD_PATH];

    path_of(path, ND_BOARD_TEXT);
    unlink(path);
    path_of(path, ND_BOARD_ASK);
    unlink(path);
}

static int make_locked(void)
{
    int fd = -1, error = nd_board_directory(board.directory, true);

    if (error)
        return error;
    nd_board_clean(board.directory);
    error = open_fifo_locked(&fd);
    if (!error && (error = answer_locked()))
        remove_files_locked();
    if (!error) {
        reactor_source_init(&board.source, &source_ops, fd);
        if ((error = reactor_add(&board.source, EPOLLIN)))
            remove_files_locked();
    }
    if (error && fd >= 0)
        close(fd);
    board.made = !error;
    return error;
}

/* ---- the process forks, and ends ---- */

/*
 * The child starts anew, whatever a thread of the parent was doing in here: the files, the reactor and the adapters
 * are the parent's.
 */
static void forked(void)
{
    lock_init(&board.lock, LOCK_BOARD, "published adapters");
    if (board.made)
        close(board.source.fd);
    board.made = board.tried = false;
    board.answers = 0;
    board.serials = 0;
    board.process++;
    list_init(&board.adapters);
}

FORK_CHILD(forked);

/* Threads of the program may still run: the reactor's callback then answers nothing. */
static __attribute__((destructor)) void process_ends(void)
{
    /* A thread that the end has caught in here may hold the lock: a cleaner removes the files then. */
    if (!lock_try(&board.lock))
        return;
    if (board.made)
        remove_files_locked();
    board.made = false;
    board.tried = true;
    lock_release(&board.lock);
}

/* ---- the program's name ---- */

/* Copied before main: it lies in argv, over which a program may write a title. */
static __attribute__((constructor)) void note_program(void)
{
    nd_publish_program(program_invocation_short_name);
}

void nd_publish_program(const char *name)
{
    lock_acquire(&board.lock);
    snprintf(board.program, sizeof(board.program), "%s", name);
    lock_release(&board.lock);
}

/* ---- adapters ---- */

void nd_publish(struct nd_adapter *adapter)
{
    int error = 0;

    lock_acquire(&board.lock);
    adapter->published.process = board.process;
    adapter->published.serial = board.serials++;
    list_add_tail(&board.adapters, &adapter->published.link);
    if (!board.tried && setting_number("NDSPI_COUNTERS", 1, 1)) {
        board.tried = true;
        error = make_locked();
    }
    lock_release(&board.lock);
    if (error)
        log_write(LOG_INFO, LOG_DEVICE,
            "other processes cannot read the counters of this one: %s: %s", board.directory,
            strerror(-error));
}

void nd_unpublish(struct nd_adapter *adapter)
{
    lock_acquire(&board.lock);
    if (adapter->published.process == board.process)
        list_del(&adapter->published.link);
    lock_release(&board.lock);
}
