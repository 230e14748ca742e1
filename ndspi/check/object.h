/* SPDX-License-Identifier: MIT */
/*
 * object.h - the wrapper that a program holds under NDSPI_CHECK instead of an object: it checks each call, then passes
 * it on. And the checker's record of all wrappers.
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
    const char *name;                   /* as "IND2QueuePair" */
    const IID *iid;                     /* its own */
    const IID *base;                    /* IND2Overlapped, INDOverlapped; NULL: it has none */
    const void *const vtable;           /* of its wrappers */
    struct nd_qp *(*core)(void *inner); /* of a queue pair; of others NULL */
    bool (*passed)(void *inner);        /* of a completion queue: nd_cq_passed; of others NULL */
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
    unsigned seconds; /* that the watch has seen */
};

/* What the watch has seen of a peer's message that has no Receive (late.h). */
struct nd_check_wait {
    bool watched;     /* it was to be connected, and nothing was reported yet */
    UINT64 messages;  /* that had waited at the last check */
    unsigned seconds; /* that the last of them has waited since */
};

struct nd_checked {
    const void *vtable; /* first: interface pointer is object pointer */
    void *inner;        /* the object */
    const struct nd_check_kind *kind;
    struct nd_checked *next; /* of its bucket */
    /* In the list of the living, by creation, or of the dead, by their end. */
    struct list_node link;
    const struct nd_checked *adapter; /* that it is of, or itself; NULL: a provider */
    struct nd_check_limits limits;
    struct nd_check_debt debt;
    const void *qp;            /* a connector: the queue pair of its last Connect or Accept */
    struct list_head requests; /* whose OVERLAPPEDs are remembered */
    /* A queue pair's initiator and receive queue, or NULL. */
    struct nd_check_queue *queues;
    struct nd_check_wait wait; /* a queue pair: for its Receives */
    bool ending;               /* a queue pair: the program has begun to end its connection */
    /* What Query of its adapter returns. InfoVersion says which of the two is known; 0: neither. */
    ND2_ADAPTER_INFO info;
    ND_ADAPTER_INFO info1;
    bool bound;     /* a connector or listener: Bind has succeeded */
    bool first_due; /* a queue pair: accepted, and its peer has not sent as far as is known */
    bool passed;    /* a completion queue: that its depth was passed is reported */
    UINT64 region;  /* a region: its last name */
    unsigned held;  /* threads that need its memory */
    struct nd_checked *maker; /* kept by this one, or NULL */
    ULONG refs;
    ULONG kept; /* of them: by what it made */
    bool dead;
    struct nd_check_call *calls; /* that run on it */
    pid_t process;               /* that made it: a forked child inherits it, and owes no Release */
    const char *made_by;         /* the call */
    struct nd_check_place made_at;
};

/* A call, on its stack. */
struct nd_check_call {
    struct nd_checked *object;
    const char *name; /* as "IND2QueuePair::Send" */
    pthread_t thread;
    const char *frame;           /* the stack of the program's functions is above */
    struct nd_check_call *next;  /* on the object */
    struct nd_check_call *outer; /* of this thread */
};

/* Guards all that the checker knows. */
extern struct lock nd_check_lock;

/*
 * nd_check_begin - a method of a wrapper begins.
 * call   out: until nd_check_end
 * iface  in: the wrapper
 * name   in: as "IND2QueuePair::Send", a literal
 * Returns the object in it; NULL: it was released, and nothing else may be done.
 * The frame is where the method's own ends, not where its frame pointer is: on aarch64 that is the other end.
 */
#define nd_check_begin(call, iface, name)                                                          \
    nd_check_begin_at(call, iface, name, __builtin_dwarf_cfa())
void *nd_check_begin_at(
    struct nd_check_call *call, void *iface, const char *name, const char *frame);
void nd_check_end(struct nd_check_call *call);

/* The innermost call of this thread that runs; NULL: none. */
const struct nd_check_call *nd_check_current(void);

/* Another object of the call. Returns it, to be handed on; NULL: it was released. */
void *nd_check_argument(const struct nd_check_call *call, void *given);

/*
 * nd_check_made - the end of a call that makes an object.
 * name  in: of the call, a literal
 * out   inout: the object, which is replaced by its wrapper; without memory for one it stays
 * Returns hr.
 */
HRESULT nd_check_made(const char *name, HRESULT hr, const struct nd_check_kind *kind, void **out);

/* The same call made a queue; made in: its wrapper, or the object itself if it has none. */
void nd_check_limit(const void *made, const struct nd_check_limits *limits);

/* The end of a call that gives a receive queue another depth; 0: as before. */
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
