/* SPDX-License-Identifier: MIT */
/* ucx.c - ucx_perftest: tag matching over UCX's TCP, or its shared memory with the kernel's copies (cma). */
#include "tests/bench/peer.h"

#include <stdio.h>
#include <string.h>

/*
 * With -v the last line has iterations, a percentile and two means of the latency in us, two of the throughput in
 * MiB/s, two of the rate of messages. The second mean of each is that of the whole run.
 */
static bool ucx_parse(const char *text, const struct bench_test *test, double *value)
{
    const char *line = strstr(text, "overall_mr\n");
    double us, mebibytes_per_s;

    if (!line || sscanf(strchr(line, '\n'), " %*u , %*f , %*f , %lf , %*f , %lf", &us,
                     &mebibytes_per_s) != 2)
        return false;
    *value = test->stream ? mebibytes_per_s * 1.048576 : us;
    return true;
}

bool bench_ucx(const struct bench_test *test, double *value, const char **why)
{
    char count[16], warmup[16], size[16], port[16], window[16];
    char *transports = test->shared ? "UCX_TLS=shm,self" : "UCX_TLS=tcp,self";
    char *server[] = { "env", transports, "ucx_perftest", "-p", port, NULL };
    char *client[] = { "env", transports, "ucx_perftest", "127.0.0.1", "-p", port, "-t",
        test->stream ? "tag_bw" : "tag_lat", "-n", count, "-w", warmup, "-s", size, "-O", window,
        "-f", "-v", NULL };
    const struct bench_peer peer = { .program = "ucx_perftest",
        .missing = "ucx_perftest is not installed (package ucx-utils)",
        .server = server,
        .client = client,
        .parse = ucx_parse };

    snprintf(count, sizeof count, "%u", test->count);
    snprintf(warmup, sizeof warmup, "%u", test->warmup);
    snprintf(size, sizeof size, "%zu", test->octets);
    snprintf(port, sizeof port, "%u", bench_peer_port());
    snprintf(window, sizeof window, "%u", BENCH_WINDOW);
    return bench_peer_run(&peer, test, value, why);
}
