/* SPDX-License-Identifier: MIT */
/*
 * winobj.c - the group "winobj": Windows' events, completion ports and waits as winobj provides them, by their public
 * functions alone, against the kernel's own objects doing the same.
 *
 * With no adapter open a wait has no device to drive, like a wait in the kernel. The tests "..._adapter" are the same
 * with one open: then a thread that waits drives the reactor (docs/internals/threads.md).
 */
#include "tests/bench/winobj.h"

#include "tests/bench/bench.h"

#include "tests/support/nd2_end.h"
#include "util/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HANDLES_FEW = 10,
    HANDLES_MANY = 100000,
    DESCRIPTORS_SPARE = 16, /* that opening handles may take, however many */
};

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

static const char *const names[] = { "event_roundtrip", "event_adapter", "port_roundtrip",
    "port_adapter", "port_local", "wait64", "handles_100k", NULL };

enum {
    EVENT,
    EVENT_FD,
    LED_EVENT,
    LED_EVENT_FD,
    PORT,
    PORT_FD,
    LED_PORT,
    LED_PORT_FD,
    PORT_LOCAL,
    WAIT,
    WAIT_FD,
    FEW,
    MANY,
    FIGURES
};

static struct bench_figure figures[FIGURES] = {
    [EVENT] = { .key = "winobj.event_roundtrip.us", .test = "event_roundtrip" },
    [EVENT_FD] = { .key = "eventfd.event_roundtrip.us", .test = "event_roundtrip" },
    [LED_EVENT] = { .key = "winobj.event_adapter.us", .test = "event_adapter" },
    [LED_EVENT_FD] = { .key = "eventfd.event_adapter.us", .test = "event_adapter" },
    [PORT] = { .key = "winobj.port_roundtrip.us", .test = "port_roundtrip" },
    [PORT_FD] = { .key = "eventfd.port_roundtrip.us", .test = "port_roundtrip" },
    [LED_PORT] = { .key = "winobj.port_adapter.us", .test = "port_adapter" },
    [LED_PORT_FD] = { .key = "eventfd.port_adapter.us", .test = "port_adapter" },
    [PORT_LOCAL] = { .key = "winobj.port_local_ns", .test = "port_local", .aim = 150 },
    [WAIT] = { .key = "winobj.wait64.us", .test = "wait64" },
    [WAIT_FD] = { .key = "poll.wait64.us", .test = "wait64" },
    [FEW] = { .key = "winobj.handles_10.ns", .test = "handles_100k" },
    [MANY] = { .key = "winobj.handles_100k.ns", .test = "handles_100k" },
};

static const struct bench_ratio ratios[] = {
    { "winobj.event_roundtrip.vs_eventfd", &figures[EVENT], &figures[EVENT_FD], .aim = 1.3 },
    { "winobj.port_roundtrip.vs_eventfd", &figures[PORT], &figures[PORT_FD], .aim = 1.5 },
    { "winobj.event_adapter.vs_eventfd", &figures[LED_EVENT], &figures[LED_EVENT_FD], .aim = 0 },
    { "winobj.port_adapter.vs_eventfd", &figures[LED_PORT], &figures[LED_PORT_FD], .aim = 0 },
    { "winobj.wait64.vs_poll", &figures[WAIT], &figures[WAIT_FD], .aim = 2 },
    { "winobj.handles_100k.vs_10", &figures[MANY], &figures[FEW], .aim = 1.1 },
};

static const struct run {
    uint64_t (*run)(unsigned count); /* nanoseconds */
    unsigned count;
    double unit_ns;
    bool adapter;
} runs[FIGURES] = {
    [EVENT] = { .run = winobj_event_turns, .count = 5000, .unit_ns = 1e3 },
    [EVENT_FD] = { .run = winobj_eventfd_turns, .count = 5000, .unit_ns = 1e3 },
    [PORT] = { .run = winobj_port_turns, .count = 5000, .unit_ns = 1e3 },
    [PORT_FD] = { .run = winobj_eventfd_turns, .count = 5000, .unit_ns = 1e3 },
    [LED_EVENT] = { .run = winobj_event_turns, .count = 5000, .unit_ns = 1e3, .adapter = true },
    [LED_EVENT_FD] = { .run = winobj_eventfd_turns, .count = 5000, .unit_ns = 1e3 },
    [LED_PORT] = { .run = winobj_port_turns, .count = 5000, .unit_ns = 1e3, .adapter = true },
    [LED_PORT_FD] = { .run = winobj_eventfd_turns, .count = 5000, .unit_ns = 1e3 },
    [PORT_LOCAL] = { .run = run_port_local, .count = 500000, .unit_ns = 1 },
    [WAIT] = { .run = winobj_wait64_turns, .count = 5000, .unit_ns = 1e3 },
    [WAIT_FD] = { .run = winobj_poll64_turns, .count = 5000, .unit_ns = 1e3 },
    [FEW] = { .run = run_handles_few, .count = 500000, .unit_ns = 1 },
    [MANY] = { .run = run_handles_many, .count = 500000, .unit_ns = 1 },
};

/* An adapter of the embedded device, with everything it takes to connect. */
static void open_adapter(void)
{
    static struct nd2_end end;
    struct nd2_end_options options = { .depth = 16, .memory_octets = 4096 };

    if (NdStartup() != ND_SUCCESS || nd2_end_open(&end, &options) != ND_SUCCESS)
        bench_die("no adapter can be opened: %s", end.step ? end.step : "NdStartup");
}

static uint64_t winobj_process(const void *argument)
{
    const struct run *run = argument;

    setenv("NDSPI_DEVICE", "soft", 1);
    if (run->adapter)
        open_adapter();
    return run->run(run->count);
}

static bool winobj_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    const struct run *run = &runs[figure - figures];
    struct bench_process process = { .run = winobj_process, .argument = run };
    uint64_t elapsed_ns;

    (void)group, (void)absent;
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
