/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - the checker's record of the objects of adapters that were opened with NDK_VERIFIER: one shadow for each,
 * found by the object's address, and the calls that run on the object.
 *
 * The objects get tables whose functions check first and then call the plain ones (tables.h). The memory of a closed
 * object is not freed until NDK_DEAD_MOST others were closed: so the checker can report a call on it, which does
 * nothing. One lock guards all of it. Without the checker nothing here is called.
 */
#ifndef NDK_VERIFIER_SHADOW_H
#define NDK_VERIFIER_SHADOW_H

#include "ndk/object/object.h"
#include "ndk/verifier/report.h"

#include "util/list.h"
#include "util/lock.h"

#include <pthread.h>

enum { NDK_DEAD_MOST = 4096 };

enum ndk_shadow_state {
    NDK_SHADOW_MADE, /* not the consumer's yet */
    NDK_SHADOW_OPEN,
    NDK_SHADOW_CLOSED,
};

struct ndk_shadow {
    struct ndk_shadow *next; /* next in its hash bucket */
    /* the list of the living, in the order of their creation, or of the dead, in the order of their end */
    struct list_node link;
    struct ndk_object *object;
    const char *kind;  /* the public type's name, such as "NDK_QP" */
    const void *plain; /* its own table */
    void (*free)(struct ndk_object *object);
    struct ndk_root *root;
    enum ndk_shadow_state state;
    bool dead;             /* freed, but for its memory */
    const char *closed_by; /* CLOSED: the call */
    struct ndk_use *uses;  /* calls that run on it */
    void *of_callback;     /* what its callback is called with; freed with the shadow */
};

/* The calls of one lane of an object do not overlap. */
enum ndk_lane { NDK_LANE_NONE, NDK_LANE_INITIATOR, NDK_LANE_RECEIVE, NDK_LANE_RESULTS };

/* A call, on its stack. */
struct ndk_use {
    struct ndk_shadow *shadow;
    const char *call;
    enum ndk_lane lane;
    pthread_t thread;
    uint64_t number; /* the call's, counted over all calls */
    struct ndk_use *next;
};

/*
 * ndk_use_begin - a checked function begins.
 * object  in: what it is called on
 * type    in: the type that the object should have; NdkObjectTypeUndefined: any
 * call    in: its name; NULL: that of the object's close function
 * Returns false: the object is closed, or none. Then nothing else may be done.
 */
bool ndk_use_begin(struct ndk_use *use, const void *object, NDK_OBJECT_TYPE type,
    enum ndk_lane lane, const char *call);
/* The checked function ends; the object may be gone. */
void ndk_use_end(struct ndk_use *use);

/* Another object of the call; may be NULL. Returns false: it is closed. */
bool ndk_use_argument(const struct ndk_use *use, const void *object);

/* The call closes its object: checks and records that. */
void ndk_use_closes(struct ndk_use *use);

/* The object is the consumer's from now on. of_callback in: NULL, or what is freed with it. */
void ndk_shadow_give(const void *object, void *of_callback);

/*
 * The library calls this thread's consumer, or hands it results: from here on the calls that began before are no reason
 * to report an overlap. The consumer may know by this that they took effect, and go on, before they have returned.
 */
void ndk_use_told(void);

/* The number of the call whose completion callback this thread is in; 0: none. */
extern _Thread_local uint64_t ndk_completing;

/*
 * ndk_shadow_watch - ndk_root.made: gives an object a shadow and the checked table.
 * Where there is no memory for it, the object stays as it is.
 */
void ndk_shadow_watch(struct ndk_object *object);

/* Whether an object at this address has a shadow. */
bool ndk_shadow_known(const void *object);

/*
 * ndk_shadow_report_open - reports the objects that the consumer did not close.
 * root  in: reports the objects of this adapter; NULL: of all adapters, and the adapters, too
 * call  in: what ends
 * Returns whether it reported any. The caller calls ndk_report_end.
 */
bool ndk_shadow_report_open(const struct ndk_root *root, enum ndk_rule rule, const char *call);

/* Guards all that the checker knows. */
extern struct lock ndk_verifier_lock;

#endif
