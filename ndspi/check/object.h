/* SPDX-License-Identifier: MIT */
/*
 * object.h - the wrapper that a program holds under NDSPI_CHECK instead of an object, and the record of all wrappers. A
 * wrapper checks each call, then passes it on.
 *
 * A wrapper is a COM object with the interface of its inner object and a count of its own; it holds one reference to
 * the inner object until its own last Release. The memory of a released wrapper is kept until ND_CHECK_DEAD_MOST others
 * were released, so that the checker can report a call on it; such a call does nothing and returns
 * ND_INVALID_DEVICE_STATE, or 0. One lock guards all of it, and is never held over a call of the objects. Without the
 * checker nothing here exists.
 */
#ifndef NDSPI_CHECK_OBJECT_H
#define NDSPI_CHECK_OBJECT_H

#include "ndspi/check/place.h"
#include "ndspi/check/report.h"

#include "util/list.h"
#include "util/lock.h"

#include <winsock2.h>
#include <windows.h>

#include <ndspi.h>

#include <pthread.h>
#include <sys/types.h>

enum { ND_CHECK_DEAD_MOST = 4096 };

/* An interface. */
struct nd_check_kind {
    const char *name;                   /* the interface's, such as "IND2QueuePair" */
    const IID *iid;                     /* its own */
    const IID *base;                    /* IND2Overlapped, INDOverlapped; NULL: it has none */
    const void *const vtable;           /* its wrappers' */
    struct nd_qp *(*core)(void *inner); /* finds a queue pair's nd_qp; other kinds: NULL */
    bool (*passed)(void *inner);        /* a completion queue's nd_cq_passed; other kinds: NULL */
    bool keeps_maker; /* an object has a reference to the one whose method made it */
};

struct nd_check_call;
struct nd_check_queue;
struct nd_qp;

/* What a queue pair, endpoint or shared receive queue was made for; of another object all is 0. */
struct nd_check_limits {
    size_t receives, initiators, receive_entries, initiator_entries;
    size_t inline_octets;
};

/* What the program has to call next on an object, while others wait for it (debt.h). */
struct nd_check_debt {
    const char *since; /* the call that has ended; NULL: nothing */
    enum nd_check_rule rule;
    unsigned seconds; /* counted by the watch */
};

/* What the watch has seen of a peer's message that has no Receive (late.h). */
struct nd_check_wait {
    bool watched;     /* it was to be connected, and nothing was reported yet */
    UINT64 messages;  /* how many had waited until the last check */
    unsigned seconds; /* how long the last of them has waited since then */
};

struct nd_checked {
    const void *vtable; /* first: interface pointer is object pointer */
    void *inner;        /* the object */
    const struct nd_check_kind *kind;
    struct nd_checked *next; /* next in its bucket */
    /* node of the living, in the order of their creation, or of the dead, in the order of their last Release */
    struct list_node link;
    const struct nd_checked *adapter; /* its adapter, or itself if it is one; NULL: a provider */
    struct nd_check_limits limits;
    struct nd_check_debt debt;
    const void *qp;            /* a connector: the queue pair of its last Connect or Accept */
    struct list_head requests; /* requests whose OVERLAPPEDs are remembered */
    /* A queue pair's initiator and receive queue, or NULL. */
    struct nd_check_queue *queues;
    struct nd_check_wait wait; /* a queue pair: for its Receives */
    bool ending;               /* a queue pair: the program has begun to end its connection */
    /* What Query of its adapter returns. InfoVersion says which of the two is known; 0: neither. */
    ND2_ADAPTER_INFO info;
    ND_ADAPTER_INFO info1;
    bool bound;     /* a connector or listener: Bind has succeeded */
    bool first_due; /* a queue pair: accepted, and the peer's first message not seen yet */
    bool passed;    /* a completion queue: that its depth was passed is reported */
    UINT64 region;  /* a region: its last name */
    unsigned held;  /* how many threads need its memory */
    struct nd_checked *maker; /* kinds with keeps_maker: the object whose method made it */
    ULONG refs;
    ULONG kept; /* how many of refs are held by objects that it made */
    bool dead;
    struct nd_check_call *calls; /* calls that run on it */
    pid_t process;               /* the process that made it; a forked child owes no Release */
    const char *made_by;         /* the call that made it */
    struct nd_check_place made_at;
};

/* A call, on its stack. */
struct nd_check_call {
    struct nd_checked *object;
    const char *name; /* the method's, such as "IND2QueuePair::Send" */
    pthread_t thread;
    const char *frame;           /* the program's functions have their frames above it */
    struct nd_check_call *next;  /* next call on the object */
    struct nd_check_call *outer; /* the thread's call around this one */
};

/* Guards all that the checker knows. */
extern struct lock nd_check_lock;

/*
 * nd_check_begin - a method of a wrapper begins.
 * call   out: stays in use until nd_check_end
 * iface  in: the wrapper
 * name   in: a literal such as "IND2QueuePair::Send"
 * Returns the object in the wrapper; NULL: it was released, and the method returns without nd_check_end.
 * frame is the upper end of the method's own frame. Its frame pointer does not do: on aarch64 that is the lower
 * end.
 */
#define nd_check_begin(call, iface, name)                                                          \
    nd_check_begin_at(call, iface, name, __builtin_dwarf_cfa())
void *nd_check_begin_at(
    struct nd_check_call *call, void *iface, const char *name, const char *frame);
void nd_check_end(struct nd_check_call *call);

/* The innermost call of this thread that runs; NULL: none. */
const struct nd_check_call *nd_check_current(void);

/* Checks another object among the call's arguments. Returns it, to be handed on; NULL: it was released. */
void *nd_check_argument(const struct nd_check_call *call, void *given);

/*
 * nd_check_made - the end of a call that makes an object.
 * name  in: the call's, a literal
 * out   inout: the object, which its wrapper replaces if there is memory for one
 * Returns hr.
 */
HRESULT nd_check_made(const char *name, HRESULT hr, const struct nd_check_kind *kind, void **out);

/* Records the limits of a queue that the call has made; made  in: its wrapper, or the object if it has none. */
void nd_check_limit(const void *made, const struct nd_check_limits *limits);

/* The end of a call that gives a receive queue another depth; depth  in: 0: it keeps its depth. */
void nd_check_resized(const struct nd_check_call *call, HRESULT hr, size_t depth);

/* The wrapper at this address, also a dead one; NULL: there is none. */
struct nd_checked *nd_check_find_locked(const void *object);

/* The first living object for which the test is true, or NULL. Lock held. */
struct nd_checked *nd_check_first_locked(
    bool (*test)(struct nd_checked *checked, const void *context), const void *context);

/* IUnknown of every wrapper. */
HRESULT nd_check_query(void *iface, const char *name, REFIID iid, void **out);
ULONG nd_check_addref(void *iface, const char *name);
ULONG nd_check_release(void *iface, const char *name);

#endif
