/* SPDX-License-Identifier: MIT */
/*
 * idioms.c - the group "idioms": the ways in which programs wait for results (enum bench_idiom), by event and by
 * completion port, on the embedded device through shared memory and over TCP, against plain TCP sockets that block.
 */
#include "tests/bench/wire_group.h"

#include <netinet/in.h>

/* Of the time that TCP sockets take which block. */
#define AIM 0.3

enum {
    BLOCKING,
    POLLING,
    SHM, /* the first test of each path */
    NETWORK = SHM + 9,
    TESTS = NETWORK + 9
};

#define SMALL .octets = 8, .warmup = 200, .count = 2000

#define ROW(path, is_shared, idiom_name, by_idiom, wait_name, wait_by)                             \
    {                                                                                              \
        BY(ND2),                                                                                   \
        {                                                                                          \
            .name = "idiom_" idiom_name "_" path "_" wait_name, .shared = (is_shared),             \
            .idiom = (by_idiom), .wait = (wait_by), SMALL                                          \
        }                                                                                          \
    }

#define BOTH(path, is_shared, name, idiom)                                                         \
    ROW(path, is_shared, name, idiom, "event", BENCH_EVENT),                                       \
        ROW(path, is_shared, name, idiom, "port", BENCH_PORT)

#define ALL(path, is_shared)                                                                       \
    BOTH(path, is_shared, "notify_first", BENCH_NOTIFY_FIRST),                                     \
        BOTH(path, is_shared, "look_twice", BENCH_LOOK_TWICE),                                     \
        BOTH(path, is_shared, "one_each", BENCH_ONE_EACH),                                         \
        ROW(path, is_shared, "two_queues", BENCH_TWO_QUEUES, "port", BENCH_PORT),                  \
        BOTH(path, is_shared, "beside", BENCH_BESIDE)

static const struct wire_test tests[TESTS] = {
    { BY(TCP), { .name = "blocking_8B", .wait = BENCH_EVENT, SMALL } },
    { BY(TCP), { .name = "polling_8B", SMALL } },
    ALL("shm", true),
    ALL("tcp", false),
};

struct bench_group *bench_idioms(void)
{
    static struct bench_place place = {
        .name = "soft", .server.device = "soft", .client.device = "soft"
    };
    static struct wire_group idioms = {
        .group.name = "idioms",
        .group.about = "ways to wait for results, shared memory and TCP, event and port, against "
                       "TCP sockets that block: us one way",
    };
    static struct wire_ratio compared[TESTS - 1];

    place.server.address_be = place.client.address_be = htonl(INADDR_LOOPBACK);
    for (unsigned test = POLLING; test < TESTS; test++)
        compared[test - 1] = (struct wire_ratio){ test == POLLING ? TRANSPORT_TCP : TRANSPORT_ND2,
            test, "vs_blocking", TRANSPORT_TCP, BLOCKING, test == POLLING ? 0 : AIM };
    return wire_group_make(&idioms, &place, tests, TESTS, compared, TESTS - 1);
}
