/* SPDX-License-Identifier: MIT */
/* commands.h - ndinfo's commands: report.c, probe.c, serve.c. Each function returns the exit status. */
#ifndef TOOLS_INFO_COMMANDS_H
#define TOOLS_INFO_COMMANDS_H

#include <winsock2.h>

#include <stdbool.h>

enum { NDINFO_STATUS_USAGE = 2 };

struct options {
    bool json;
    ULONG timeout_ms; /* how long each answer in a probe may take, at either end */
    ULONG rounds;     /* number of round trips that a probe times */
    ULONG count;      /* number of probes to serve; 0: without end */
};

/*
 * Lists devices and addresses. subjects in: names of devices or network interfaces, or addresses, if only those are
 * wanted; each must then be usable.
 */
int report(const struct options *options, char *const *subjects, int count);
/* Connects to an "ndinfo --serve" and measures times. */
int probe(const struct options *options, const char *where);
/* Answers probes on one address, or (NULL) on all addresses that can be used. */
int serve(const struct options *options, const char *where);

#endif
