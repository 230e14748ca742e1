/* SPDX-License-Identifier: MIT */
/*
 * winobj.c - the group "winobj": Windows' events, completion ports and waits as winobj provides them, by their public
 * functions alone, against the kernel's own objects doing the same.
 *
 * No adapter is open: nothing is to be moved by a wait, as in the kernel's. Two threads run on two processors.
 */
#include "tests/bench/bench.h"
#include "tests/bench/process.h"

#include "util/clock.h"

#include <windows.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    WAIT64 = 64, /* objects in one wait */
    HANDLES_FEW = 10,
    HANDLES_MANY = 100000,
    DESCRIPTORS_SPARE = 16, /* that opening handles may take, however many */
};

/* ---- ping-pong between two threads ----------------------------------------------------------------------------- */

/* The asker's side of turn n, and the other's. Both wait for the other; errors end the process. */
struct ping_pong {
    void (*ask)(unsigned turn);
    void (*answer)(unsigned turn);
    unsigned turns; /* including the warm-up */
};

static void *answer_main(void *arg)
{
    const struct ping_pong *game = arg;

    bench_pin(1);
    for (unsigned turn = 0; turn < game->turns; turn++)
        game->answer(turn);
    return NULL;
}

/* Returns what count turns took, after a tenth as many. */
static uint64_t play(void (*ask)(unsigned), void (*answer)(unsigned), unsigned count)
{
    unsigned warmup = count / 10;
    struct ping_pong game = { ask, answer, warmup + count };
    uint64_t start_ns = 0;
    pthread_t thread;
    int error;

    if ((error = pthread_create(&thread, NULL, answer_main, &game)) != 0)
        bench_die("pthread_create: %s", strerror(error));
    for (unsigned turn = 0; turn < game.turns; turn++) {
        if (turn == warmup)
            start_ns = clock_now_ns();
        ask(turn);
    }
    start_ns = clock_now_ns() - start_ns;
    pthread_join(thread, NULL);
    return start_ns;
}

static HANDLE there, back, many[WAIT64];
static int there_fd, back_fd, many_fd[WAIT64];

static HANDLE new_event(void)
{
    HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL);

    if (!event)
        bench_die("CreateEvent: %u", (unsigned)GetLastError());
    return event;
}

static void set(HANDLE event)
{
    if (!SetEvent(event))
        bench_die("SetEvent: %u", (unsigned)GetLastError());
}

static void await(HANDLE event)
{
    if (WaitForSingleObject(event, INFINITE) != WAIT_OBJECT_0)
        bench_die("WaitForSingleObject: %u", (unsigned)GetLastError());
}

static int new_eventfd(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);

    if (fd < 0)
        bench_die("eventfd: %s", strerror(errno));
    return fd;
}

static void set_fd(int fd)
{
    if (eventfd_write(fd, 1) != 0)
        bench_die("write: %s", strerror(errno));
}

static void await_fd(int fd)
{
    eventfd_t value;

    if (eventfd_read(fd, &value) != 0)
        bench_die("read: %s", strerror(errno));
}

/* A bare eventfd: what each of the others is held against. */

static void eventfd_ask(unsigned turn)
{
    (void)turn;
    set_fd(there_fd);
    await_fd(back_fd);
}

static void eventfd_answer(unsigned turn)
{
    (void)turn;
    await_fd(there_fd);
    set_fd(back_fd);
}

static uint64_t run_eventfd(unsigned count)
{
    there_fd = new_eventfd();
    back_fd = new_eventfd();
    return play(eventfd_ask, eventfd_answer, count);
}

/* SetEvent, WaitForSingleObject. */

static void event_ask(unsigned turn)
{
    (void)turn;
    set(there);
    await(back);
}

static void event_answer(unsigned turn)
{
    (void)turn;
    await(there);
    set(back);
}

static uint64_t run_event(unsigned count)
{
    there = new_event();
    back = new_event();
    return play(event_ask, event_answer, count);
}

/* PostQueuedCompletionStatus, GetQueuedCompletionStatus. */

static HANDLE new_port(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);

    if (!port)
        bench_die("CreateIoCompletionPort: %u", (unsigned)GetLastError());
    return port;
}

static void post(HANDLE port, unsigned turn)
{
    if (!PostQueuedCompletionStatus(port, turn, 1, NULL))
        bench_die("PostQueuedCompletionStatus: %u", (unsigned)GetLastError());
}

static void fetch(HANDLE port, unsigned turn)
{
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD octets;

    if (!GetQueuedCompletionStatus(port, &octets, &key, &overlapped, INFINITE))
        bench_die("GetQueuedCompletionStatus: %u", (unsigned)GetLastError());
    if (octets != turn || key != 1)
        bench_die(
            "packet %u with key %u came in place of %u", (unsigned)octets, (unsigned)key, turn);
}

static void port_ask(unsigned turn)
{
    post(there, turn);
    fetch(back, turn);
}

static void port_answer(unsigned turn)
{
    fetch(there, turn);
    post(back, turn);
}

static uint64_t run_port(unsigned count)
{
    there = new_port();
    back = new_port();
    return play(port_ask, port_answer, count);
}

/* One of 64 is set. */

static unsigned which(unsigned turn)
{
    return turn * 37 % WAIT64;
}

static void wait64_ask(unsigned turn)
{
    set(many[which(turn)]);
    await(back);
}

static void wait64_answer(unsigned turn)
{
    DWORD result = WaitForMultipleObjects(WAIT64, many, FALSE, INFINITE);

    if (result != WAIT_OBJECT_0 + which(turn))
        bench_die("WaitForMultipleObjects: %u, last error %u", (unsigned)result,
            (unsigned)GetLastError());
    set(back);
}

static uint64_t run_wait64(unsigned count)
{
    back = new_event();
    for (unsigned i = 0; i < WAIT64; i++)
        many[i] = new_event();
    return play(wait64_ask, wait64_answer, count);
}

static void poll64_ask(unsigned turn)
{
    set_fd(many_fd[which(turn)]);
    await_fd(back_fd);
}

static void poll64_answer(unsigned turn)
{
    struct pollfd pollfds[WAIT64];
    unsigned ready = 0;

    for (unsigned i = 0; i < WAIT64; i++)
        pollfds[i] = (struct pollfd){ .fd = many_fd[i], .events = POLLIN };
    if (poll(pollfds, WAIT64, -1) != 1)
        bench_die("poll: %s", strerror(errno));
    while (!pollfds[ready].revents)
        ready++;
    if (ready != which(turn))
        bench_die("descriptor %u is ready in place of %u", ready, which(turn));
    await_fd(many_fd[ready]);
    set_fd(back_fd);
}

static uint64_t run_poll64(unsigned count)
{
    back_fd = new_eventfd();
    for (unsigned i = 0; i < WAIT64; i++)
        many_fd[i] = new_eventfd();
    return play(poll64_ask, poll64_answer, count);
}

/* ---- one thread ------------------------------------------------------------------------------------------------ */

static uint64_t run_port_local(unsigned count)
{
    HANDLE port = new_port();
    uint64_t start_ns = clock_now_ns();

    for (unsigned turn = 0; turn < count; turn++) {
        post(port, turn);
        fetch(port, turn);
    }
    return clock_now_ns() - start_ns;
}

static unsigned open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    if (!directory)
        bench_die("/proc/self/fd: %s", strerror(errno));
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Set and wait on one event of the many, while they are open. */
static uint64_t run_handles(unsigned handles, unsigned count)
{
    unsigned before = open_descriptors(), after;
    HANDLE event = NULL;
    uint64_t start_ns;

    for (unsigned i = 0; i < handles; i++) {
        HANDLE opened = new_event();

        if (i == handles / 2)
            event = opened;
    }
    after = open_descriptors();
    if (after > before + DESCRIPTORS_SPARE)
        bench_die("%u handles take %u descriptors", handles, after - before);
    start_ns = clock_now_ns();
    for (unsigned turn = 0; turn < count; turn++) {
        set(event);
        await(event);
    }
    return clock_now_ns() - start_ns;
}

static uint64_t run_handles_few(unsigned count)
{
    return run_handles(HANDLES_FEW, count);
}

static uint64_t run_handles_many(unsigned count)
{
    return run_handles(HANDLES_MANY, count);
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static const char *const names[] = { "event_roundtrip", "port_roundtrip", "port_local", "wait64",
    "handles_100k", NULL };

enum { EVENT, EVENT_FD, PORT, PORT_FD, PORT_LOCAL, WAIT, WAIT_FD, FEW, MANY, FIGURES };

static struct bench_figure figures[FIGURES] = {
    [EVENT] = { .key = "winobj.event_roundtrip.us", .test = "event_roundtrip" },
    [EVENT_FD] = { .key = "eventfd.event_roundtrip.us", .test = "event_roundtrip" },
    [PORT] = { .key = "winobj.port_roundtrip.us", .test = "port_roundtrip" },
    [PORT_FD] = { .key = "eventfd.port_roundtrip.us", .test = "port_roundtrip" },
    [PORT_LOCAL] = { .key = "winobj.port_local_ns", .test = "port_local", .aim = 150 },
    [WAIT] = { .key = "winobj.wait64.us", .test = "wait64" },
    [WAIT_FD] = { .key = "poll.wait64.us", .test = "wait64" },
    [FEW] = { .key = "winobj.handles_10.ns", .test = "handles_100k" },
    [MANY] = { .key = "winobj.handles_100k.ns", .test = "handles_100k" },
};

static const struct bench_ratio ratios[] = {
    { "winobj.event_roundtrip.vs_eventfd", &figures[EVENT], &figures[EVENT_FD], .aim = 1.3 },
    { "winobj.port_roundtrip.vs_eventfd", &figures[PORT], &figures[PORT_FD], .aim = 1.5 },
    { "winobj.wait64.vs_poll", &figures[WAIT], &figures[WAIT_FD], .aim = 2 },
    { "winobj.handles_100k.vs_10", &figures[MANY], &figures[FEW], .aim = 1.1 },
};

static const struct run {
    uint64_t (*run)(unsigned count); /* nanoseconds */
    unsigned count;
    double unit_ns;
} runs[FIGURES] = {
    [EVENT] = { run_event, 5000, 1e3 },
    [EVENT_FD] = { run_eventfd, 5000, 1e3 },
    [PORT] = { run_port, 5000, 1e3 },
    [PORT_FD] = { run_eventfd, 5000, 1e3 },
    [PORT_LOCAL] = { run_port_local, 500000, 1 },
    [WAIT] = { run_wait64, 5000, 1e3 },
    [WAIT_FD] = { run_poll64, 5000, 1e3 },
    [FEW] = { run_handles_few, 500000, 1 },
    [MANY] = { run_handles_many, 500000, 1 },
};

static uint64_t winobj_process(const void *argument)
{
    const struct run *run = argument;

    return run->run(run->count);
}

static bool winobj_measure(const struct bench_figure *figure, double *value, const char **absent)
{
    const struct run *run = &runs[figure - figures];
    struct bench_process process = { .run = winobj_process, .argument = run };
    uint64_t elapsed_ns;

    (void)absent;
    snprintf(process.who, sizeof process.who, "ndspi-bench %s", figure->key);
    elapsed_ns = bench_run(&process, 1);
    *value = (double)elapsed_ns / run->count / run->unit_ns;
    return elapsed_ns != 0;
}

struct bench_group *bench_winobj(void)
{
    static struct bench_group winobj = {
        .name = "winobj",
        .about = "events, completion ports and waits against the kernel's: round trips in us, "
                 "local work in ns",
        .tests = names,
        .figures = figures,
        .figure_count = FIGURES,
        .ratios = ratios,
        .ratio_count = sizeof ratios / sizeof ratios[0],
        .measure = winobj_measure,
    };

    return &winobj;
}
