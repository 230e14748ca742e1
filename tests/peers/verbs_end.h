/* SPDX-License-Identifier: MIT */
/*
 * verbs_end.h - the other end of a connection, which knows libibverbs and librdmacm alone: verbs_peer.c, which it
 * starts and commands. For tests of both versions, with the arguments: this end's address, the peer's, the peer's
 * program with its arguments. The wire contract of docs/wire.md is what peers may rely on.
 */
#ifndef TESTS_PEERS_VERBS_END_H
#define TESTS_PEERS_VERBS_END_H

#include "tests/support/program.h"

#include "tests/support/nd_end.h"

#include <stdbool.h>

enum { WAIT_MS = 20000 };

extern const char *here, *there;

/* Private data of the active and of the passive side; also as the peer's hex digits. */
extern const unsigned char hello[7], answer[4];
extern const char hello_hex[], answer_hex[];

/* Takes a test program's arguments; false: with a message on standard error. */
bool verbs_arguments(int argc, char **argv);

void verbs_start(void);
void verbs_end(void);
void verbs_kill(void);

/* A command; the next line of its answers, valid until the next call. */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);
const char *hear(void);

#define expect(...)                                                                                \
    do {                                                                                           \
        tell(__VA_ARGS__);                                                                         \
        assert_string_equal(hear(), "ok");                                                         \
    } while (0)

/* ok N, of a request: enum ibv_wc_status. */
enum { WC_SUCCESS = 0, WC_RNR_RETRY_EXC_ERR = 13 };
#define expect_status(status, ...)                                                                 \
    do {                                                                                           \
        char wanted[16];                                                                           \
        snprintf(wanted, sizeof(wanted), "ok %d", status);                                         \
        tell(__VA_ARGS__);                                                                         \
        assert_string_equal(hear(), wanted);                                                       \
    } while (0)

/* It listens on an address of its own: the port. */
unsigned verbs_listens(void);

/* It takes the request with hello that this end has made: the read limits it was asked for. */
void verbs_request(unsigned *responder, unsigned *initiator);

/* Makes the peer connect to port with hello; verbs_connected then waits for the connection and its answer. */
void verbs_connects(USHORT port_be, unsigned responder, unsigned initiator);
void verbs_connected(void);

/* Waits until the peer's Connect is rejected with this data. */
void verbs_rejected(const char *hex);

/* Its one buffer. */
struct target {
    UINT64 address;
    UINT32 token;
};
struct target verbs_memory(void);

/*
 * Takes the answer for a request that failed, then orders a disconnect: where no device ends the peer's connection, its
 * program has to.
 */
void verbs_gives_up(void);

/* Hex digits of private data: what was sent, and nothing behind it but the zeros of some transports. */
void assert_data(const char *hex, const char *wanted);
/* The same of octets. */
void assert_octets(const unsigned char *data, size_t size, const void *wanted, size_t length);

/* An address of the arguments as a number in network order. */
ULONG address_of(const char *text);

/* The device of this end: the kernel's iWARP; the embedded one. */
bool on_siw(void);
bool on_softrdma(void);

#endif
