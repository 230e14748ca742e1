/* SPDX-License-Identifier: MIT */
/*
 * ndsample.h - what the samples share: arguments, addresses, errors, and one connected queue pair with all it needs.
 *
 * Uses only Microsoft's headers: the same sources build on Windows. A call that fails ends the program with a message
 * that says what failed, where, and what to do; so these functions return only after a success.
 */
#ifndef NDSAMPLE_H
#define NDSAMPLE_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <ndsupport.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SAMPLE_VERSION /* the build defines it */
#define SAMPLE_VERSION "of no known version"
#endif
#define SAMPLE_PORT     54325
#define SAMPLE_MAX_SIZE (4u << 20) /* of a message, in bytes */

#define SAMPLE_MOST_ADDRESSES 16

/* The addresses of a name, in the order in which they are tried, and why those that were tried did not do. */
typedef struct _SAMPLE_ADDRESSES {
    ULONG count;
    ULONG tried; /* of them; the next one has this index */
    struct {
        SOCKADDR_INET address;
        const char *what; /* failed */
        HRESULT hr;
    } each[SAMPLE_MOST_ADDRESSES];
} SAMPLE_ADDRESSES;

typedef struct _SAMPLE {
    const char *name; /* of the program, for messages */
    const char *peer; /* the argument of -s or -c */
    char where[64];   /* the address being worked on, for messages */
    char hint[128];   /* what the user may have meant instead; usually "" */
    BOOL server;
    BOOL blocking; /* wait for completions asleep; otherwise poll */
    SOCKADDR_INET
    address; /* server: where to listen, client: the server's address; one of addresses */
    SAMPLE_ADDRESSES addresses;
    BOOL refused; /* at one of those tried in this round */
    ULONG rounds; /* through all addresses */

    IND2Adapter *adapter;
    HANDLE file;
    ND2_ADAPTER_INFO info;
    IND2CompletionQueue *cq; /* of both queues of the queue pair */
    IND2QueuePair *qp;
    IND2Connector *connector;
    OVERLAPPED overlapped; /* of everything but Notify */
    OVERLAPPED notify;
    BOOL notified; /* notify is pending */
} SAMPLE;

/* Prints "NAME VERSION". */
void sample_version(SAMPLE *sample);

/*
 * sample_arguments - the arguments all samples have: -s ip[:port] or -c ip[:port]; -b or -p; -V or --version; -h or
 * --help. A mistake ends the program with status 2.
 * usage    in: printed by -h and after a mistake
 * options  in: letters of further options, which take a value
 * values   out: their values, in the order of options; NULL where not given
 */
void sample_arguments(SAMPLE *sample, int argc, char **argv, const char *usage, const char *options,
    const char **values);

/* Parses an option's number, from minimum to maximum; returns fallback when value is NULL. As sample_arguments. */
ULONG sample_number(
    SAMPLE *sample, const char *value, ULONG minimum, ULONG maximum, ULONG fallback);

/*
 * Parses an address, 192.0.2.1:5000 or [2001:db8::1]:5000, or looks up the name of a host, with a port or without. All
 * addresses of a name are kept, in the order of getaddrinfo, which is that of RFC 6724.
 * sample        out: hint, where the last part of an IPv6 address may be meant as a port
 * default_port  in: without one, in host order
 * Returns FALSE: it is neither.
 */
BOOL sample_parse_addresses(
    SAMPLE *sample, const char *text, USHORT default_port, SAMPLE_ADDRESSES *addresses);

/*
 * Whether it is a link-local address without the interface that it is on.
 * problem  out: then, what is wrong, and how to write it; size bytes
 */
BOOL sample_lacks_scope(const SOCKADDR_INET *address, char *problem, size_t size);

/* Ends the program if hr is a failure. what in: "Connect", for "Connect to 10.0.0.1:54325 failed". */
void sample_check(SAMPLE *sample, HRESULT hr, const char *what);
/* Ends the program with status 1. Takes printf's arguments, without a line end. */
void sample_fail(SAMPLE *sample, const char *format, ...);
/* The same with status 2: the arguments are wrong. */
void sample_wrong(SAMPLE *sample, const char *format, ...);
/* Writes out what was printed. Ends the program if that fails. */
void sample_write_out(SAMPLE *sample);
/* "ND_CONNECTION_REFUSED", or "unknown code". */
const char *sample_code_name(HRESULT hr);
/* What the user can do about it, or NULL. */
const char *sample_code_hint(HRESULT hr);
/* Writes "10.0.0.1:54325" or "[::1]:54325". Returns text. */
const char *sample_address_text(const struct sockaddr *address, char *text, size_t size);

/*
 * The parameters of a run of growing sizes; the client sends them to the server (as private data).
 */
typedef struct _SAMPLE_ORDER {
    UINT32 rounds; /* of each size; 0: by size */
    UINT32 max_size;
    UINT32 blocking;
} SAMPLE_ORDER;

/* From the values of the options n and m, and back. */
SAMPLE_ORDER sample_order(SAMPLE *sample, const char *rounds, const char *max_size);
/* Converts to network order; the same function converts back. */
SAMPLE_ORDER sample_order_swap(SAMPLE_ORDER order);
/* Rounds of messages of this size. */
ULONG sample_rounds(const SAMPLE_ORDER *order, ULONG size);

/* Data both ends know: byte i is a function of seed and i. */
void sample_fill(unsigned char *data, ULONG size, ULONG seed);
/* The first of bytes begin to end (exclusive) that is not what sample_fill made; end if all are. */
ULONG sample_damage(const unsigned char *data, ULONG begin, ULONG end, ULONG seed);
/* Ends the program if bytes begin to end (exclusive) are not what sample_fill made. */
void sample_compare(SAMPLE *sample, const unsigned char *data, ULONG begin, ULONG end, ULONG seed);

/* Sets address to that whose turn it is. */
void sample_take_address(SAMPLE *sample);
/*
 * Goes on to the next address, because what failed with hr at this one. After the last one of a client it begins anew,
 * as often as sample_try_again permits, if a server may just be starting at one of them; otherwise it ends the program
 * with the reasons of all.
 */
void sample_next_address(SAMPLE *sample, const char *what, HRESULT hr);
/*
 * The local address from which sample->address is reached (client), or which it is (server). Returns its length. Where
 * there is none it goes on to the next address.
 */
SIZE_T sample_local_address(SAMPLE *sample, SOCKADDR_INET *local);
SIZE_T sample_address_size(const SOCKADDR_INET *address);
/*
 * Whether to repeat an attempt to connect, because the server may just be starting. Waits a little before it returns
 * TRUE, some seconds in all.
 * attempt  inout: the number of calls, 0 at first
 */
BOOL sample_try_again(ULONG *attempt);
/*
 * Checks the result of reading private data into room for size bytes, of which length came. Some transports pad it with
 * zeros, which is no error; fewer than size bytes end the program. what in: the call that returned hr
 */
void sample_check_private_data(
    SAMPLE *sample, HRESULT hr, const char *what, SIZE_T length, SIZE_T size);
/* Says on which address the server listens, and keeps it for messages. */
void sample_listening(SAMPLE *sample, const SOCKADDR_INET *local);

/*
 * NdStartup, and the adapter of sample->address: opened, queried, with a file and a completion queue of depth results.
 */
void sample_open(SAMPLE *sample, ULONG cq_depth);
void sample_create_queue_pair(SAMPLE *sample, ULONG receive_depth, ULONG initiator_depth);
/* Registers memory. flags in: ND_MR_FLAG_*. */
IND2MemoryRegion *sample_register(SAMPLE *sample, void *buffer, SIZE_T size, ULONG flags);
void sample_deregister(SAMPLE *sample, IND2MemoryRegion *region);

/*
 * Connects the queue pair, as server or client. Post Receives before. A server prints the address it listens on, and
 * waits for one client.
 * data, size  client: in: private data for the server; server: out: the client's private data
 * Returns FALSE: another address is to be tried, and the posted Receives are flushed. It may belong to another adapter,
 * so release everything, with sample_close at the end, and begin again with sample_open.
 */
BOOL sample_connect(SAMPLE *sample, void *data, ULONG size);
/* Disconnects; a server waits for its client to do so first. */
void sample_disconnect(SAMPLE *sample);
void sample_close(SAMPLE *sample);

/* Waits for an overlapped request that returned hr. what as in sample_check. */
void sample_wait(SAMPLE *sample, void *object, HRESULT hr, const char *what);

/* The next result; polls or sleeps, as the arguments ask. Ends the program if the request failed. */
void sample_next(SAMPLE *sample, ND2_RESULT *result);
/* The same without waiting: FALSE when there is none. */
BOOL sample_try_next(SAMPLE *sample, ND2_RESULT *result);

/* Seconds since some moment. */
double sample_seconds(void);

#ifdef __cplusplus
}
#endif
#endif
