/* SPDX-License-Identifier: MIT */
/*
 * ndstat - shows the counters of NetworkDirect adapters in the user's processes, and to root those of all processes.
 * ndstat.1 describes it.
 */
#include "tools/stat/forms.h"

#include "tools/standard.h"
#include "tools/stat/kernel.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    WAIT_MS = 500,
    WAIT_MOST_MS = 60000,
    PROCESSES = 256,
    TITLE_ROWS = 20
};

static const char usage[] =
    "usage: ndstat [--all | --json | --prometheus] [PROCESS]...\n"
    "       ndstat --interval SECONDS [--count N] [--json] [PROCESS]...\n"
    "       ndstat --listen ADDRESS:PORT [PROCESS]...\n"
    "\n"
    "Shows the counters of NetworkDirect adapters in your processes (root: all users'),\n"
    "or in those with the numbers given: traffic, connections, errors, requests, memory.\n"
    "Counters that are 0 are left out.\n"
    "\n"
    "  -a, --all               counters that are 0, too\n"
    "  -i, --interval SECONDS  a line for each adapter every so many seconds: what was added a "
    "second\n"
    "  -c, --count N           end after N of these\n"
    "  -j, --json              print JSON, for programs; with -i one object a line\n"
    "  -p, --prometheus        print Prometheus' text format\n"
    "  -l, --listen ADDRESS:PORT  answer GET /metrics there with that, until ended; port 0: any\n"
    "  -w, --wait MILLISECONDS how long to wait for processes that do not answer (default 500)\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "A process with NDSPI_COUNTERS=0 is not seen.\n"
    "Status 0: all was read; 1: it could not be read, or some process's was damaged; 2: wrong\n"
    "arguments.\n"
    "\n"
    "Next: the settings of the libraries, the log, building programs (man ndspi).\n";

static const struct option long_options[] = {
    { "all", no_argument, NULL, 'a' },
    { "interval", required_argument, NULL, 'i' },
    { "count", required_argument, NULL, 'c' },
    { "json", no_argument, NULL, 'j' },
    { "prometheus", no_argument, NULL, 'p' },
    { "listen", required_argument, NULL, 'l' },
    { "wait", required_argument, NULL, 'w' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { 0 },
};

struct options {
    bool all, json, prometheus;
    ULONG interval, count, wait;
    const char *listen;
    ULONG wanted[PROCESSES];
    size_t n_wanted;
};

__attribute__((noreturn)) static void wrong(const char *what, const char *text)
{
    fprintf(stderr, "ndstat: %s%s%s; \"ndstat -h\" lists the arguments\n", what, *text ? ": " : "",
        text);
    exit(STATUS_USAGE);
}

/* what in: "--count takes" and so on, for the message */
static ULONG number(const char *what, const char *text, unsigned long maximum)
{
    unsigned long value;
    char *end, range[96];

    errno = 0;
    value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && value >= 1 && value <= maximum)
        return (ULONG)value;
    snprintf(range, sizeof(range), "%s a number from 1 to %lu, not", what, maximum);
    wrong(range, text);
}

/* Takes a snapshot. False: nothing could be read, and it has printed why. */
static bool take(const struct options *options, struct stat_snapshot *snapshot)
{
    HRESULT status;
    const char *name;

    *snapshot = (struct stat_snapshot){ .wanted = options->wanted, .n_wanted = options->n_wanted };
    status = stat_take(snapshot, options->wait);
    if (SUCCEEDED(status))
        return true;
    name = NdLinuxStatusName(status);
    fprintf(stderr, "ndstat: the counters cannot be read: %s\n", name ? name : "?");
    stat_free(snapshot);
    return false;
}

/* Ends the program's work. written in: false: no memory, or the output failed, which standard_end reports */
static int end(const struct stat_snapshot *snapshot, bool written)
{
    if (!written && !ferror(stdout)) {
        fprintf(stderr, "ndstat: out of memory\n");
        return STATUS_FAILED;
    }
    return standard_end("ndstat", snapshot->damaged ? STATUS_FAILED : 0, STATUS_FAILED);
}

/* Prints which of the wanted processes are not there. Returns whether any is missing. */
static bool tell_missing(const struct options *options, const struct stat_snapshot *snapshot)
{
    bool missing = false;

    for (size_t i = 0; i < options->n_wanted; i++) {
        size_t row = 0;

        while (row < snapshot->count && snapshot->rows[row].process != options->wanted[i])
            row++;
        if (row < snapshot->count)
            continue;
        fprintf(stderr, "ndstat: process %u has no adapter open%s\n", (unsigned)options->wanted[i],
            geteuid() ? ", or is another user's, whose processes are shown to root alone" : "");
        missing = true;
    }
    return missing;
}

static int show_once(const struct options *options)
{
    struct stat_snapshot snapshot;
    bool written = true;
    int status;

    if (!take(options, &snapshot))
        return STATUS_FAILED;
    if (options->json)
        written = !stat_json(stdout, &snapshot, STAT_SYSFS, 2);
    else if (options->prometheus)
        stat_prometheus(stdout, &snapshot, STAT_SYSFS);
    else if (snapshot.count)
        stat_table(stdout, &snapshot, STAT_SYSFS, options->all);
    else if (!options->n_wanted)
        fprintf(
            stderr, "ndstat: no process%s has an adapter open\n", geteuid() ? " of this user" : "");
    status = end(&snapshot, written);
    if (tell_missing(options, &snapshot) && !status)
        status = STATUS_FAILED;
    stat_free(&snapshot);
    return status;
}

/* Prints as vmstat does: a title from time to time, and lines with the changes since the previous ones. */
static int show_rates(const struct options *options)
{
    const struct timespec pause = { .tv_sec = options->interval };
    struct stat_snapshot earlier, now;
    unsigned lines = 0;
    int status = 0;

    if (!take(options, &earlier))
        return STATUS_FAILED;
    for (ULONG i = 0; !status && (!options->count || i < options->count); i++) {
        bool written = true;

        nanosleep(&pause, NULL);
        if (!take(options, &now)) {
            status = STATUS_FAILED;
            break;
        }
        if (options->json) {
            written = !stat_json(stdout, &now, STAT_SYSFS, 0);
        } else {
            if (lines % TITLE_ROWS == 0)
                stat_rates_title(stdout);
            stat_rates(stdout, &earlier, &now);
            lines++;
        }
        status = end(&now, written);
        stat_free(&earlier);
        earlier = now;
    }
    stat_free(&earlier);
    return status;
}

static void is_ready(const char *address, unsigned port)
{
    bool v6 = strchr(address, ':');

    printf("http://%s%s%s:%u/metrics\n", v6 ? "[" : "", address, v6 ? "]" : "", port);
    fflush(stdout);
}

static int listen_there(const struct options *options)
{
    const struct stat_server server = { options->wanted, options->n_wanted, options->wait,
        STAT_SYSFS };
    const char *why = "";

    switch (stat_listen(options->listen, &server, is_ready, &why)) {
    case STAT_ENDED: return standard_end("ndstat", 0, STATUS_FAILED);
    case STAT_WRONG_ADDRESS:
        fprintf(stderr, "ndstat: --listen %s: %s; \"ndstat -h\" lists the arguments\n",
            options->listen, why);
        return STATUS_USAGE;
    default:
        fprintf(stderr, "ndstat: --listen %s: %s\n", options->listen, why);
        return STATUS_FAILED;
    }
}

static void parse(struct options *options, int argc, char **argv)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "ai:c:jpl:w:Vh", long_options, NULL)) != -1)
        switch (letter) {
        case 'a': options->all = true; break;
        case 'i': options->interval = number("--interval takes", optarg, 86400); break;
        case 'c': options->count = number("--count takes", optarg, 1000000000); break;
        case 'j': options->json = true; break;
        case 'p': options->prometheus = true; break;
        case 'l': options->listen = optarg; break;
        case 'w': options->wait = number("--wait takes", optarg, WAIT_MOST_MS); break;
        case 'V': puts("ndstat " NDSTAT_VERSION); exit(standard_end("ndstat", 0, STATUS_FAILED));
        case 'h': fputs(usage, stdout); exit(standard_end("ndstat", 0, STATUS_FAILED));
        default: exit(STATUS_USAGE); /* getopt_long has printed why */
        }
    if (options->all + options->json + options->prometheus + (options->listen != NULL) > 1)
        wrong("--all, --json, --prometheus and --listen exclude each other", "");
    if (options->interval && (options->all || options->prometheus || options->listen))
        wrong("--interval has lines of rates, or --json", "");
    if (options->count && !options->interval)
        wrong("--count needs --interval", "");
    for (; optind < argc; optind++) {
        if (options->n_wanted == PROCESSES)
            wrong("too many processes", argv[optind]);
        options->wanted[options->n_wanted++] = number("a process is", argv[optind], UINT32_MAX);
    }
}

int main(int argc, char **argv)
{
    struct options options = { .wait = WAIT_MS };

    standard_reserve();
    parse(&options, argc, argv);
    if (options.listen)
        return listen_there(&options);
    return options.interval ? show_rates(&options) : show_once(&options);
}
