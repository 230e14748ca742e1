/* SPDX-License-Identifier: MIT */
/*
 * ndinfo - lists the devices and addresses of this host that NetworkDirect can use, with their limits; says why it
 * cannot use the others, and what to do; probes a peer. ndinfo.1 describes it.
 */
#include "commands.h"
#include "tools/standard.h"

#include <ndsupport.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ndinfo [--json] [DEVICE|INTERFACE|ADDRESS]...\n"
    "       ndinfo --serve [ADDRESS[:PORT]] [--count N] [--timeout SECONDS]\n"
    "       ndinfo --probe ADDRESS[:PORT] [--json] [--rounds N] [--timeout SECONDS]\n"
    "\n"
    "Lists every adapter that NetworkDirect can use, and every device and address that it cannot\n"
    "use, with the reason and the remedy. With arguments: only those, and each must be usable.\n"
    "\n"
    "  -j, --json              print JSON, for programs\n"
    "  -s, --serve             answer probes on ADDRESS, or on every address that can be used\n"
    "  -p, --probe ADDRESS     connect to \"ndinfo --serve\" there, and measure times\n"
    "  -n, --rounds N          round trips of 8 bytes to time (default 100)\n"
    "  -c, --count N           serve N probes, then end\n"
    "  -t, --timeout SECONDS   for each answer in a probe (default 5)\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "ADDRESS is an IP address, or the name of a host. The default port is 54324; an IPv6\n"
    "address with a port is written [ADDRESS]:PORT.\n"
    "NDSPI_DEVICE chooses devices: auto (default: RDMA devices, or the embedded one where there "
    "is\n"
    "none), soft (the embedded one), all, or the name of a device.\n"
    "Status 0: an adapter can be used, or the probe succeeded; 1: neither; 2: wrong arguments.\n"
    "\n"
    "Next: ndperf measures between two hosts (man ndperf).\n";

static const struct option long_options[] = {
    { "json", no_argument, NULL, 'j' },
    { "serve", no_argument, NULL, 's' },
    { "probe", required_argument, NULL, 'p' },
    { "rounds", required_argument, NULL, 'n' },
    { "count", required_argument, NULL, 'c' },
    { "timeout", required_argument, NULL, 't' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { 0 },
};

__attribute__((noreturn)) static void wrong(const char *what, const char *text)
{
    fprintf(stderr, "ndinfo: %s%s%s; \"ndinfo -h\" lists the arguments\n", what, *text ? ": " : "",
        text);
    exit(NDINFO_STATUS_USAGE);
}

/* The given options of those that not every command has. */
struct given {
    bool rounds, count, timeout;
};

static ULONG number(const char *option, const char *text, ULONG maximum, bool *is_given)
{
    char *end, what[96];
    unsigned long value = strtoul(text, &end, 10);

    *is_given = true;
    if (*text >= '0' && *text <= '9' && !*end && value >= 1 && value <= maximum)
        return (ULONG)value;
    snprintf(what, sizeof(what), "%s takes a number from 1 to %u, not", option, (unsigned)maximum);
    wrong(what, text);
}

/* Ends the program if an option is given that the command does not have. */
static void check(const struct given *given, bool is_probe, bool is_server)
{
    if (given->rounds && !is_probe)
        wrong("--rounds needs --probe", "");
    if (given->count && !is_server)
        wrong("--count needs --serve", "");
    if (given->timeout && !is_probe && !is_server)
        wrong("--timeout needs --probe or --serve", "");
}

int main(int argc, char **argv)
{
    struct options options = { .timeout_ms = 5000, .rounds = 100 };
    struct given given = { 0 };
    const char *peer = NULL;
    bool is_server = false;
    int letter;

    standard_reserve();
    while ((letter = getopt_long(argc, argv, "jsp:n:c:t:Vh", long_options, NULL)) != -1)
        switch (letter) {
        case 'j': options.json = true; break;
        case 's': is_server = true; break;
        case 'p': peer = optarg; break;
        case 'n': options.rounds = number("--rounds", optarg, 1000000, &given.rounds); break;
        case 'c': options.count = number("--count", optarg, 1000000, &given.count); break;
        case 't':
            options.timeout_ms = number("--timeout", optarg, 3600, &given.timeout) * 1000;
            break;
        case 'V': puts("ndinfo " NDINFO_VERSION); return standard_end("ndinfo", 0, 1);
        case 'h': fputs(usage, stdout); return standard_end("ndinfo", 0, 1);
        default: return NDINFO_STATUS_USAGE; /* getopt_long has printed why */
        }
    if (peer && is_server)
        wrong("--probe and --serve exclude each other", "");
    if (peer && optind < argc)
        wrong("superfluous argument", argv[optind]);
    if (is_server && argc - optind > 1)
        wrong("superfluous argument", argv[optind + 1]);
    if (is_server && options.json)
        wrong("--serve has no --json", "");
    check(&given, peer != NULL, is_server);
    return standard_end("ndinfo",
        peer        ? probe(&options, peer)
        : is_server ? serve(&options, argv[optind])
                    : report(&options, argv + optind, argc - optind),
        1);
}
