/* SPDX-License-Identifier: MIT */
/* commands.h - what ndinfo does: report.c, probe.c, serve.c. Each returns the exit status. */
#ifndef TOOLS_INFO_COMMANDS_H
#define TOOLS_INFO_COMMANDS_H

#include <winsock2.h>

#include <stdbool.h>

enum { NDINFO_STATUS_USAGE = 2 };

struct options {
    bool json;
    ULONG timeout_ms; /* of each answer in a probe, at either end */
    ULONG rounds;     /* round trips a probe times */
    ULONG count;      /* probes to serve before the end; 0: without end */
};

/*
 * Lists devices and addresses. subjects in: names of devices or network interfaces, or addresses, if only those are
 * wanted; each must then be usable.
 */
int report(const struct options *options, char *const *subjects, int count);
/* Times a connection to where "ndinfo --serve" runs. */
int probe(const struct options *options, const char *where);
/* Answers probes on one address, or (NULL) on all that can be used. */
int serve(const struct options *options, const char *where);

#endif
