/* SPDX-License-Identifier: MIT */
/* ndinfo.h - what the files of ndinfo share. */
#ifndef NDSPI_TOOLS_NDINFO_H
#define NDSPI_TOOLS_NDINFO_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <ndspi_linux.h>
#include <ndsupport.h>

#include <jansson.h>
#include <stdbool.h>

enum { NDINFO_PORT = 54324, NDINFO_STATUS_USAGE = 2, NDINFO_ADDRESS_OCTETS = 80 };

/* The destination of a Connect is no address of a host. */
#define BAD_NETWORK_NAME ((HRESULT)0xC00000CCu)

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

struct options {
    bool json;
    ULONG timeout_ms; /* of a probe, at either end */
    ULONG rounds;     /* round trips a probe times */
    ULONG count;      /* probes to serve before the end; 0: without end */
};

/* ---- addresses: address.c ---- */

/* "10.0.0.1", "10.0.0.1:80", "::1", "[::1]:80"; the port is NDINFO_PORT unless told. False: none of these. */
bool address_parse(const char *text, SOCKADDR_INET *address);
SIZE_T address_size(const SOCKADDR_INET *address);
/* With the port, or (with_port false) without. Returns text. */
const char *address_text(
    const struct sockaddr *address, bool with_port, char text[NDINFO_ADDRESS_OCTETS]);

/* ---- failures: failure.c ---- */

/* What went wrong, for people and for --json. */
struct failure {
    const char *step; /* "Connect"; NULL: nothing failed */
    HRESULT status;   /* ND_SUCCESS: the reason says all */
    char reason[512];
    char remedy[512];
};

/* All return false, to be handed on. */
bool failure_set(struct failure *failure, const char *step, HRESULT status);
bool failure_say(struct failure *failure, const char *step, const char *reason, const char *remedy);
/* Why an address of this host has no adapter, in the words of the library. */
bool failure_local(struct failure *failure, const char *step, const struct sockaddr *local);
void failure_print(const struct failure *failure);
/* New reference. */
json_t *failure_json(const struct failure *failure);

/* ---- what ndinfo does ---- */

/*
 * Devices and addresses. subjects in: names of devices or network interfaces, or addresses: told alone, and each has to
 * be one that can be used. Returns the exit status.
 */
int report(const struct options *options, char *const *subjects, int count);
/* Times a connection to where is_serve runs. Returns the exit status. */
int probe(const struct options *options, const char *where);
/* Answers probes on one address, or (NULL) on all that can be used. Returns the exit status. */
int serve(const struct options *options, const char *where);

#endif
