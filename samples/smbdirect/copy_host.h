/* SPDX-License-Identifier: MIT */
/* copy_host.h - what smbdcopy, smbdcat and smbdserve share: hosts, what is said of them, how a program serves. */
#ifndef COPY_HOST_H
#define COPY_HOST_H

#include "smbd.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- copy_address.c ---- */

struct copy_address {
    union {
        struct sockaddr sa;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    };
    socklen_t length;
};

enum { COPY_ADDRESSES = 16 };

/*
 * copy_parse_address - ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT; without a port it takes SMB Direct's. The name of a host
 * has several addresses, perhaps. If text has none of these forms, says what is wrong.
 * addresses  out: in the order in which they are tried, most at most
 * Returns how many; 0: none.
 */
unsigned copy_parse_address(const char *text, struct copy_address *addresses, unsigned most);
/* ADDRESS:PORT. Returns text. */
const char *copy_address_text(const struct sockaddr *address, char *text, size_t size);
/* Makes the port 0. */
void copy_any_port(struct copy_address *address);
/* The local address from which the host reaches remote, port 0. False: there is none; errno says why. */
bool copy_local_address(const struct copy_address *remote, struct copy_address *local);
/* The network interface that has the address; 0: none has. */
unsigned copy_interface_of(const struct copy_address *address);

enum { COPY_ADDRESS_TEXT = 80 };

/* A number of one digit, from 1 to most. 0: it is none. */
unsigned copy_parse_digit(const char *text, unsigned most);

/* ---- copy_listen.c ---- */

/* Beside the program's status: another address of the host may do. */
enum { COPY_NEXT_ADDRESS = -1 };

/*
 * copy_listen - serves at an address until SIGINT or SIGTERM; says where, whom it does not serve, and what fails. To be
 * called before the program has other threads: it blocks both signals.
 * adapter         out: that of the address, while it serves
 * serve, context  in: for each connection (smbd.h)
 * Returns 0 or COPY_NEXT_ADDRESS.
 */
int copy_listen(const struct copy_address *address, const SMBD_PARAMETERS *parameters,
    SMBD_ADAPTER **adapter, SMBD_SERVE *serve, void *context);

/* ---- copy_status.c ---- */

/* "STATUS_IO_TIMEOUT", or its number. Returns text. */
const char *copy_status_text(NTSTATUS status, char *text, size_t size);
/* What a user of smbdcopy can do about it, or NULL. */
const char *copy_status_hint(NTSTATUS status);
/* The program, which the one that links this names. */
extern const char copy_program[];
/* Writes "PROGRAM: " and a line to standard error, control characters as \xHH. */
void copy_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
