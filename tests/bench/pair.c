/* SPDX-License-Identifier: MIT */
/* pair.c - the two processes at either end of a connection. */
#include "tests/bench/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void bench_tell(const struct bench_side *side, const void *data, size_t octets)
{
    if (send(side->control, data, octets, MSG_NOSIGNAL) != (ssize_t)octets)
        bench_die("the other side is gone: %s", strerror(errno));
}

void bench_hear(const struct bench_side *side, void *data, size_t octets)
{
    if (recv(side->control, data, octets, MSG_WAITALL) != (ssize_t)octets)
        bench_die("the other side is gone");
}

void bench_meet(const struct bench_side *side)
{
    char here = 0;

    bench_tell(side, &here, sizeof here);
    bench_hear(side, &here, sizeof here);
}

void *bench_alloc(size_t octets)
{
    void *memory = mmap(
        NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        bench_die("no memory for %zu octets", octets);
    memset(memory, 0x5a, octets);
    return memory;
}

static uint64_t side_play(const void *argument)
{
    const struct bench_side *side = argument;

    setenv(
        "NDSPI_DEVICE", side->client ? side->place->client.device : side->place->server.device, 1);
    if (side->test->crc)
        setenv("NDSPI_SOFT_CRC", "1", 1);
    setenv("NDSPI_SOFT_SHM", side->test->shared ? "1" : "0", 1);
    return side->play(side);
}

uint64_t bench_run_pair(const struct bench_place *place, const char *transport,
    const struct bench_test *test, bench_play_fn *play)
{
    struct bench_side sides[2];
    struct bench_process processes[2];
    uint64_t elapsed_ns;
    int control[2];
    void *shared = mmap(NULL, BENCH_SHARED_OCTETS, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (shared == MAP_FAILED)
        bench_die("no memory for both sides: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0)
        bench_die("no descriptors: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        sides[i] = (struct bench_side){ .test = test,
            .place = place,
            .play = play,
            .client = i == 0,
            .control = control[i],
            .shared = shared };
        processes[i] = (struct bench_process){ .run = side_play, .argument = &sides[i] };
        snprintf(processes[i].who, sizeof processes[i].who, "ndspi-bench %s %s %s %s", place->name,
            transport, test->name, sides[i].client ? "client" : "server");
    }
    elapsed_ns = bench_run(processes, 2);
    close(control[0]);
    close(control[1]);
    munmap(shared, BENCH_SHARED_OCTETS);
    return elapsed_ns;
}
