/* SPDX-License-Identifier: MIT */
/* libfabric.c - fi_pingpong on libfabric's tcp provider, or its shm provider. */
#include "tests/bench/peer.h"

#include <stdio.h>
#include <string.h>

/* The last line is: bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec. */
static bool fabric_parse(const char *text, const struct bench_test *test, double *value)
{
    const char *line = strstr(text, "usec/xfer");
    double mb_per_s, us_per_transfer;

    if (line)
        line = strchr(line, '\n');
    if (!line || sscanf(line, "%*s %*s %*s %*s %*s %lf %lf", &mb_per_s, &us_per_transfer) != 2)
        return false;
    *value = test->stream ? mb_per_s : us_per_transfer;
    return true;
}

bool bench_libfabric(const struct bench_test *test, double *value, const char **why)
{
    char count[16], size[16], port[16];
    char *provider = test->shared ? "shm" : "tcp", *endpoint = test->shared ? "rdm" : "msg";
    char *server[] = { "fi_pingpong", "-p", provider, "-e", endpoint, "-I", count, "-S", size, "-B",
        port, NULL };
    char *client[] = { "fi_pingpong", "-p", provider, "-e", endpoint, "-I", count, "-S", size, "-P",
        port, "127.0.0.1", NULL };
    const struct bench_peer peer = { .program = "fi_pingpong",
        .missing = "fi_pingpong is not installed (package libfabric-bin)",
        .server = server,
        .client = client,
        .parse = fabric_parse };

    snprintf(count, sizeof count, "%u", test->count);
    snprintf(size, sizeof size, "%zu", test->octets);
    snprintf(port, sizeof port, "%u", bench_peer_port());
    return bench_peer_run(&peer, test, value, why);
}
