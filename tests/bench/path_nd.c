/* SPDX-License-Identifier: MIT */
/* path_nd.c - see path_nd.h. */
#include "tests/bench/path_nd.h"

#include "tests/bench/process.h"

#include <arpa/inet.h>
#include <pthread.h>

enum { OCTETS = 8, DEPTH = 8 };

static void check(HRESULT hr, const char *what)
{
    if (FAILED(hr))
        bench_die("%s: %#lx", what, (unsigned long)hr);
}

static void check_step(const struct nd2_end *end, HRESULT hr)
{
    check(hr, end->step ? end->step : "NetworkDirect");
}

struct connect {
    struct nd2_end *end;
    USHORT port_be;
};

static void *connect_end(void *argument)
{
    struct connect *connect = argument;

    check_step(connect->end, nd2_end_connect(connect->end, connect->port_be));
    return NULL;
}

void path_pair(struct nd2_end ends[2])
{
    struct nd2_end_options options = { .depth = DEPTH,
        .memory_octets = OCTETS,
        .local_be = htonl(INADDR_LOOPBACK),
        .peer_be = htonl(INADDR_LOOPBACK) };
    struct connect connect = { .end = &ends[0] };
    pthread_t thread;

    check(NdStartup(), "NdStartup");
    for (int i = 0; i < 2; i++) {
        check_step(&ends[i], nd2_end_open(&ends[i], &options));
        for (int j = 0; j < DEPTH; j++)
            check(nd2_end_receive(&ends[i], NULL, 0, OCTETS), "Receive");
    }
    check_step(&ends[1], nd2_end_listen(&ends[1], &connect.port_be));
    if (pthread_create(&thread, NULL, connect_end, &connect))
        bench_die("no thread to connect from");
    check_step(&ends[1], nd2_end_request(&ends[1]));
    check_step(&ends[1], nd2_end_accept(&ends[1]));
    pthread_join(thread, NULL);
}

static void nobody(void)
{
}

static void nobody_after(enum path_call call)
{
    (void)call;
}

static const struct path_probe none = { nobody, nobody_after };

/* Returns whether a message has come. */
static bool look(struct nd2_end *end, const struct path_probe *probe, enum path_call expected)
{
    ND2_RESULT results[DEPTH];
    bool received = false;
    ULONG count;

    probe->begin();
    count = end->cq->lpVtbl->GetResults(end->cq, results, DEPTH);
    for (ULONG i = 0; i < count; i++)
        received = received || results[i].RequestType == Nd2RequestTypeReceive;
    probe->end(received == (expected == PATH_HIT) ? expected : PATH_OTHER);
    for (ULONG i = 0; i < count; i++)
        check(results[i].Status, "result");
    return received;
}

void path_message(struct nd2_end *from, struct nd2_end *to, const struct path_probe *probe)
{
    HRESULT hr;

    probe = probe ? probe : &none;
    probe->begin();
    hr = nd2_end_send(from, NULL, 0, OCTETS, 0);
    probe->end(PATH_SEND);
    check(hr, "Send");
    while (!look(to, probe, PATH_HIT))
        ;
    probe->begin();
    hr = nd2_end_receive(to, NULL, 0, OCTETS);
    probe->end(PATH_RECEIVE);
    check(hr, "Receive");
    look(to, probe, PATH_MISS);
}

void path_close(struct nd2_end ends[2])
{
    nd2_end_close(&ends[0]);
    nd2_end_close(&ends[1]);
    NdCleanup();
}
