/* SPDX-License-Identifier: MIT */
/* ndk_group.c - the group "ndk": the kernel flavour on the embedded device (ndk.c). */
#include "tests/bench/bench.h"
#include "tests/bench/ndk.h"
#include "tests/bench/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRANSFERS = 1000 };

enum { REGISTER_16, REGISTER_256, WRITES, READS };

static const char *const names[] = { "ndk_register_16", "ndk_register_256", "smb_read", NULL };

static struct bench_figure figures[] = {
    { .key = "soft.ndk.register_16.us",
        .test = "ndk_register_16",
        .what = REGISTER_16,
        .aim = 1.5 },
    { .key = "soft.ndk.register_256.us",
        .test = "ndk_register_256",
        .what = REGISTER_256,
        .aim = 3 },
    { .key = "soft.ndk.write_1MiB.us", .test = "smb_read", .what = WRITES },
    { .key = "soft.ndk.smb_read_1MiB.us", .test = "smb_read", .what = READS },
};

/* Of times, so it is the throughput of the reads over that of the Writes. */
static const struct bench_ratio ratios[] = {
    { .key = "soft.ndk.smb_read_over_write",
        .figure = &figures[2],
        .to = &figures[3],
        .aim = 0.85,
        .at_least = true },
};

static uint64_t run_register(uint32_t pages)
{
    struct bench_process process = { .run = ndk_register_process, .argument = &pages };

    snprintf(process.who, sizeof process.who, "ndspi-bench ndk %u pages", pages);
    return bench_run(&process, 1);
}

static uint64_t run_transfers(bool registers)
{
    struct ndk_transfers transfers = { .registers = registers, .count = TRANSFERS };
    struct bench_process processes[] = {
        { .run = ndk_client_process, .argument = &transfers, .who = "ndspi-bench ndk client" },
        { .run = ndk_server_process, .argument = &transfers, .who = "ndspi-bench ndk server" },
    };
    uint64_t elapsed_ns;

    if (pipe(transfers.port) != 0) {
        fprintf(stderr, "ndspi-bench: pipe: %s\n", strerror(errno));
        return 0;
    }
    elapsed_ns = bench_run(processes, 2);
    close(transfers.port[0]);
    close(transfers.port[1]);
    return elapsed_ns;
}

static bool measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    bool registers = figure->what == REGISTER_16 || figure->what == REGISTER_256;
    uint64_t elapsed_ns = registers ? run_register(figure->what == REGISTER_16 ? 16 : 256)
                                    : run_transfers(figure->what == READS);

    (void)group, (void)absent;
    *value = (double)elapsed_ns / (registers ? NDK_REGISTER_COUNT : TRANSFERS) / 1e3;
    return elapsed_ns != 0;
}

struct bench_group *bench_ndk(void)
{
    static struct bench_group group = {
        .name = "ndk",
        .about =
            "NDKPI on softrdma: fast registration and its end; reads of 1 MiB as SMB Direct's: us",
        .tests = names,
        .figures = figures,
        .figure_count = sizeof figures / sizeof figures[0],
        .ratios = ratios,
        .ratio_count = sizeof ratios / sizeof ratios[0],
        .measure = measure,
    };

    return &group;
}
