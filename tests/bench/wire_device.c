/* SPDX-License-Identifier: MIT */
/*
 * wire_device.c - the group of a device that rdma-core drives: NetworkDirect against raw verbs calls on it, between two
 * of its addresses or from one to itself.
 */
#include "tests/bench/wire_group.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <sys/mman.h>

enum { POLL, EVENT, STREAM, TESTS };

#define BY_BOTH (BY(VERBS) | BY_ND)

/* Counts for a guest on an emulated processor; sends may end before they arrive (iWARP), so streams are answered. */
static const struct wire_test tests[TESTS] = {
    [POLL] = { BY_BOTH, { .name = "poll_8B", .octets = 8, .warmup = 100, .count = 1000 } },
    [EVENT] = { BY_BOTH,
        { .name = "event_8B", .wait = BENCH_EVENT, .octets = 8, .warmup = 50, .count = 500 } },
    [STREAM] = { BY_BOTH, { .name = "stream_64KiB",
                              .stream = true,
                              .answered = BENCH_WINDOW,
                              .octets = 1 << 16,
                              .warmup = 40,
                              .count = 400 } },
};

static const struct wire_ratio compared[] = {
    { TRANSPORT_ND1, POLL, "vs_verbs", TRANSPORT_VERBS, POLL, 1.05 },
    { TRANSPORT_ND1, EVENT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND1, STREAM, "vs_verbs", TRANSPORT_VERBS, STREAM, 0.95 },
    { TRANSPORT_ND2, POLL, "vs_verbs", TRANSPORT_VERBS, POLL, 1.05 },
    { TRANSPORT_ND2, EVENT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND2, STREAM, "vs_verbs", TRANSPORT_VERBS, STREAM, 0.95 },
};

enum { DEVICE_NAME = sizeof((struct bench_place *)0)->server.device };

struct search {
    uint32_t address_be;
    char *name; /* shared with the process that searches */
};

/* In a process of its own: rdma-core's devices do not work in the child of a process that has opened them. */
static uint64_t search_process(const void *argument)
{
    const struct search *search = argument;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = search->address_be };
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id;
    char text[INET_ADDRSTRLEN];

    if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0)
        bench_die("no RDMA connection manager: %s", strerror(errno));
    if (rdma_bind_addr(id, (struct sockaddr *)&address) != 0 || !id->verbs)
        bench_die("no RDMA device of this host has the address %s",
            inet_ntop(AF_INET, &search->address_be, text, sizeof text));
    snprintf(search->name, DEVICE_NAME, "%s", ibv_get_device_name(id->verbs->device));
    return 1;
}

/* Makes NetworkDirect use only the device that has the address. False: none has (reported). */
static bool find_device(uint32_t address_be, char name[DEVICE_NAME])
{
    struct search search = { address_be,
        mmap(NULL, DEVICE_NAME, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) };
    struct bench_process process = { search_process, &search, "ndspi-bench" };
    bool found = search.name != MAP_FAILED && bench_run(&process, 1) != 0;

    if (found)
        memcpy(name, search.name, DEVICE_NAME);
    if (search.name != MAP_FAILED)
        munmap(search.name, DEVICE_NAME);
    return found;
}

/* "ADDRESS" or "ADDRESS,ADDRESS". */
static bool parse_addresses(const char *text, struct bench_place *place)
{
    char first[INET_ADDRSTRLEN];
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);

    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = 0;
    return inet_pton(AF_INET, first, &place->server.address_be) == 1 &&
           inet_pton(AF_INET, comma ? comma + 1 : first, &place->client.address_be) == 1;
}

struct bench_group *bench_device(const char *text)
{
    static struct bench_place place = { .kernel = true };
    static struct wire_group wire = {
        .group.name = place.name,
        .group.about = "NetworkDirect and verbs calls on that device: us one way, MB/s",
    };
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;

    if (length == 0 || length >= sizeof place.name || !parse_addresses(equals + 1, &place)) {
        fprintf(stderr, "ndspi-bench: -d wants NAME=SERVER[,CLIENT] with IPv4 addresses\n");
        return NULL;
    }
    if (!find_device(place.server.address_be, place.server.device) ||
        !find_device(place.client.address_be, place.client.device))
        return NULL;
    memcpy(place.name, text, length);
    return wire_group_make(
        &wire, &place, tests, TESTS, compared, sizeof compared / sizeof compared[0]);
}
