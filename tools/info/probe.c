/* SPDX-License-Identifier: MIT */
/* probe.c - connects to a peer's "ndinfo --serve", and measures times. */
#include "address.h"
#include "commands.h"
#include "end.h"

#include <ndspi_linux.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 7 }; /* number of digits of times in JSON */

struct probe {
    struct end end;
    SOCKADDR_INET peer, local;
    bool connected, established;
    double connect_us;
    const char *path;  /* NdLinuxConnectionPath */
    double *rounds_us; /* times of the round trips; sorted in the end */
    ULONG rounds;
};

static double now_us(void)
{
    static LARGE_INTEGER frequency;
    LARGE_INTEGER now;

    if (!frequency.QuadPart)
        QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    return (double)now.QuadPart * 1e6 / (double)frequency.QuadPart;
}

static HRESULT ask_route(const SOCKADDR_INET *peer, SOCKADDR_INET *local)
{
    SOCKET sock = socket(peer->si_family, SOCK_DGRAM, 0);
    DWORD size;
    int error = 0;

    if (sock == INVALID_SOCKET ||
        WSAIoctl(sock, SIO_ROUTING_INTERFACE_QUERY, (VOID *)peer, (DWORD)address_size(peer), local,
            sizeof(*local), &size, NULL, NULL) != 0)
        error = WSAGetLastError();
    if (sock != INVALID_SOCKET)
        closesocket(sock);
    local->Ipv4.sin_port = 0;
    switch (error) {
    case 0: return ND_SUCCESS;
    case WSAENETUNREACH:
    case WSAEAFNOSUPPORT:
    case WSAEADDRNOTAVAIL: return ND_NETWORK_UNREACHABLE;
    case WSAEHOSTUNREACH: return ND_HOST_UNREACHABLE;
    case WSAENOBUFS: return ND_INSUFFICIENT_RESOURCES;
    default: return BAD_NETWORK_NAME;
    }
}

/* Finds the local address by which this host's routes reach the peer, whether an adapter has it or not. */
static bool route(struct probe *probe)
{
    WSADATA winsock;
    HRESULT hr = ND_INSUFFICIENT_RESOURCES;

    if (WSAStartup(MAKEWORD(2, 2), &winsock) == 0) {
        hr = ask_route(&probe->peer, &probe->local);
        WSACleanup();
    }
    return SUCCEEDED(hr) || failure_set(&probe->end.failure, "finding the route", hr);
}

static bool connect_peer(struct probe *probe)
{
    struct end *end = &probe->end;
    struct greeting greeting = greeting_make(probe->rounds);
    double start;

    if (!end_finish(end, end->connector,
            CALL(end->connector, Bind, (struct sockaddr *)&probe->local,
                (ULONG)address_size(&probe->local)),
            "Bind") ||
        !end_post_receive(end))
        return false;
    start = now_us();
    if (!end_finish(end, end->connector,
            CALL(end->connector, Connect, (IUnknown *)end->qp, (struct sockaddr *)&probe->peer,
                (ULONG)address_size(&probe->peer), 0, 0, &greeting, sizeof(greeting),
                &end->overlapped),
            "Connect"))
        return false;
    probe->connected = true;
    if (!greeting_take(end, &greeting)) {
        CALL(end->connector, Reject, NULL, 0);
        return failure_say(&end->failure, "Connect",
            "an RDMA program answers there, but not \"ndinfo --serve\"",
            "probe the address and port that \"ndinfo --serve\" prints");
    }
    if (!end_finish(end, end->connector, CALL(end->connector, CompleteConnect, &end->overlapped),
            "CompleteConnect"))
        return false;
    probe->established = true;
    probe->connect_us = now_us() - start;
    probe->path = NdLinuxConnectionPath(end->qp);
    return true;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static bool run(struct probe *probe)
{
    struct end *end = &probe->end;

    if (!route(probe))
        return false;
    if (!end_open(end, (struct sockaddr *)&probe->local, address_size(&probe->local)) ||
        !connect_peer(probe))
        return false;
    for (ULONG i = 0; i < probe->rounds; i++) {
        double start = now_us();
        if (!end_exchange(end, false, i, i + 1 < probe->rounds))
            return false;
        probe->rounds_us[i] = now_us() - start;
    }
    qsort(probe->rounds_us, probe->rounds, sizeof(*probe->rounds_us), ascending);
    return end_finish(
        end, end->connector, CALL(end->connector, Disconnect, &end->overlapped), "Disconnect");
}

static const char *path_text(const char *path)
{
    return strcmp(path, "shm") == 0 ? "shared memory" : "TCP";
}

static void print(const struct probe *probe, bool good)
{
    char peer[NDINFO_ADDRESS_OCTETS], local[NDINFO_ADDRESS_OCTETS];

    if (!good) {
        failure_print(&probe->end.failure);
        return;
    }
    printf("%s answers, from %s\n", address_text((struct sockaddr *)&probe->peer, true, peer),
        address_text((struct sockaddr *)&probe->local, false, local));
    if (probe->path)
        printf("  connected in %.1f us, through %s\n", probe->connect_us, path_text(probe->path));
    else
        printf("  connected in %.1f us\n", probe->connect_us);
    printf("  round trip of %d bytes: %.2f us (median of %u; %.2f to %.2f)\n", END_MESSAGE_OCTETS,
        probe->rounds_us[probe->rounds / 2], (unsigned)probe->rounds, probe->rounds_us[0],
        probe->rounds_us[probe->rounds - 1]);
}

static bool print_json(const struct probe *probe, bool good)
{
    char peer[NDINFO_ADDRESS_OCTETS], local[NDINFO_ADDRESS_OCTETS] = "";
    json_t *all = json_pack("{s:s, s:b}", "peer",
        address_text((struct sockaddr *)&probe->peer, true, peer), "reached", (int)good);
    bool done;

    if (probe->local.si_family)
        json_object_set_new(all, "local",
            json_string(address_text((struct sockaddr *)&probe->local, false, local)));
    if (!good)
        json_object_set_new(all, "failure", failure_json(&probe->end.failure));
    if (probe->established)
        json_object_set_new(all, "connect_us", json_real(probe->connect_us));
    if (probe->path)
        json_object_set_new(all, "path", json_string(probe->path));
    if (good)
        json_object_set_new(all, "round_trip_us",
            json_pack("{s:i, s:i, s:f, s:f, s:f}", "bytes", END_MESSAGE_OCTETS, "rounds",
                (int)probe->rounds, "least", probe->rounds_us[0], "median",
                probe->rounds_us[probe->rounds / 2], "most", probe->rounds_us[probe->rounds - 1]));
    done = all && !json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS)) &&
           puts("") >= 0;
    json_decref(all);
    return done;
}

/* Probes one address. */
static bool probe_one(struct probe *probe, const struct options *options)
{
    bool good = false;
    HRESULT hr = probe->rounds_us ? NdStartup() : ND_NO_MEMORY;

    if (FAILED(hr))
        return failure_set(&probe->end.failure, "NdStartup", hr);
    probe->end.patience_ms = options->timeout_ms;
    good = run(probe);
    end_close(&probe->end);
    NdCleanup();
    return good;
}

/* Prints what failed at an address before the next one is tried. */
static void go_on(const struct probe *probe)
{
    char peer[NDINFO_ADDRESS_OCTETS];

    fprintf(stderr, "ndinfo: %s does not answer; another address of the name is tried\n",
        address_text((struct sockaddr *)&probe->peer, true, peer));
    failure_print(&probe->end.failure);
}

int probe(const struct options *options, const char *where)
{
    SOCKADDR_INET peers[NDINFO_MOST_ADDRESSES];
    double *rounds_us = calloc(options->rounds, sizeof(*rounds_us));
    struct probe probe = { .rounds = 0 };
    char text[NDINFO_HINT_OCTETS];
    bool good = false;
    int count = address_parse(where, peers, text);

    for (int i = 0; i < count && !good; i++) {
        if (i)
            go_on(&probe);
        probe =
            (struct probe){ .rounds = options->rounds, .rounds_us = rounds_us, .peer = peers[i] };
        good = probe_one(&probe, options);
    }
    if (!count)
        fprintf(stderr, "ndinfo: %s\n", text);
    else if (options->json)
        good = print_json(&probe, good) && good;
    else
        print(&probe, good);
    if (count && !good && address_hint(where, text))
        fprintf(stderr, "    hint: %s\n", text);
    free(rounds_us);
    return !count ? NDINFO_STATUS_USAGE : good ? 0 : 1;
}
