/* SPDX-License-Identifier: MIT */
/* forms.h - ndstat's forms of output: table.c, json.c, prometheus.c; and listen.c, a server for Prometheus. */
#ifndef TOOLS_STAT_FORMS_H
#define TOOLS_STAT_FORMS_H

#include "tools/stat/snapshot.h"

#include <stdio.h>

/* Writes layer, type and code of a Terminate as RFC 5040 does: "1/1/00". Returns text. */
enum { STAT_TERMINATE = 12 };
const char *stat_terminate_text(ULONG code, char text[STAT_TERMINATE]);

/*
 * stat_table - prints each adapter with its counters, one a line; counters that are 0 only with `all`.
 * sysfs  in: the directory of the kernel's counters (kernel.h)
 */
void stat_table(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs, bool all);

/* stat_rates - prints a line for each adapter: the changes since an earlier snapshot, per second. */
void stat_rates_title(FILE *out);
void stat_rates(FILE *out, const struct stat_snapshot *earlier, const struct stat_snapshot *now);

/* Prints one JSON object. indent in: spaces; 0: in one line. Returns 0, or -1: no memory, or a write failed. */
int stat_json(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs, unsigned indent);

/* Prints Prometheus' text format, version 0.0.4. */
void stat_prometheus(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs);

/* A server's options: the processes to show, how long it waits for them, and the directory of the kernel's counters. */
struct stat_server {
    const ULONG *wanted;
    size_t n_wanted;
    ULONG wait_ms;
    const char *sysfs;
};

enum stat_end { STAT_ENDED, STAT_NOT_LISTENING, STAT_WRONG_ADDRESS };

/*
 * stat_listen - answers GET /metrics on ADDRESS:PORT ("[ADDRESS]:PORT" for IPv6) until the program ends. Answers are
 * kept for 1 s. A client has 10 s from its connection on; with more than 16 clients the oldest is disconnected.
 * ready  in: called once it listens, with the address and the port
 * Returns STAT_ENDED: SIGINT or SIGTERM has ended it; or, with the reason in *wrong, STAT_NOT_LISTENING: the system
 * does not let it listen there, STAT_WRONG_ADDRESS: `where` is no address and port.
 */
enum stat_end stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong);

#endif
