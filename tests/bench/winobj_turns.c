/* SPDX-License-Identifier: MIT */
/* winobj_turns.c - round trips between two threads: Windows' objects and the kernel's. */
#include "tests/bench/winobj.h"

#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

enum { WAIT64 = 64 }; /* objects in one wait */

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

uint64_t winobj_eventfd_turns(unsigned count)
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

uint64_t winobj_event_turns(unsigned count)
{
    there = new_event();
    back = new_event();
    return play(event_ask, event_answer, count);
}

/* PostQueuedCompletionStatus, GetQueuedCompletionStatus. */

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

uint64_t winobj_port_turns(unsigned count)
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

uint64_t winobj_wait64_turns(unsigned count)
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

uint64_t winobj_poll64_turns(unsigned count)
{
    back_fd = new_eventfd();
    for (unsigned i = 0; i < WAIT64; i++)
        many_fd[i] = new_eventfd();
    return play(poll64_ask, poll64_answer, count);
}
