/* SPDX-License-Identifier: MIT */
/*
 * diagnosis.h - why a device or an address can or cannot be an adapter: a code for programs, a text for people, and the
 * remedy. The file that decides (provider.c, scan.c, trial.c) writes the diagnosis; all its texts are in diagnosis.c.
 */
#ifndef NDSPI_CORE_DEVICE_DIAGNOSIS_H
#define NDSPI_CORE_DEVICE_DIAGNOSIS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    ND_DEVICE_NAME_OCTETS = 64,
    ND_DIAGNOSIS_DETAIL_OCTETS = 96,
    ND_DIAGNOSIS_TEXT_OCTETS = 384
};

enum nd_reason {
    ND_REASON_USED,
    ND_REASON_NOT_CHOSEN,
    ND_REASON_NOT_NEEDED,
    ND_REASON_GONE,
    ND_REASON_NO_UVERBS,
    ND_REASON_NO_DRIVER,
    ND_REASON_NOT_BUILT,
    ND_REASON_MODULE_MISSING,
    ND_REASON_FILE_MISSING,
    ND_REASON_PERMISSION,
    ND_REASON_OPEN_FAILED,
    ND_REASON_NO_DESCRIPTORS,
    ND_REASON_CM_MISSING,
    ND_REASON_CM_PERMISSION,
    ND_REASON_CM_FAILED,
    ND_REASON_PORT_DOWN,
    ND_REASON_NO_SUBNET_MANAGER,
    ND_REASON_INTERFACE_DOWN,
    ND_REASON_NO_ADDRESS,
    ND_REASON_NO_HOST_ADDRESS, /* NO_ADDRESS for the embedded device, which has no interface of its own */
    ND_REASON_NO_CONNECTIONS,
    ND_REASON_MEMLOCK,
    ND_REASON_OBJECTS_FAILED,
    ND_REASON_DEVICE_NOT_USED, /* this and the following: only for addresses */
    ND_REASON_NOT_RDMA,
    ND_REASON_NOT_SERVED,
    ND_REASON_BIND_FAILED,
    ND_REASONS
};

struct nd_diagnosis {
    enum nd_reason reason;
    int error; /* errno, or 0 */
    char device[ND_DEVICE_NAME_OCTETS];
    char netdev[IF_NAMESIZE]; /* "" = not known */
    char detail
        [ND_DIAGNOSIS_DETAIL_OCTETS]; /* a detail that this reason's text names, besides the above */
};

static inline bool nd_diagnosis_used(const struct nd_diagnosis *diagnosis)
{
    return diagnosis->reason == ND_REASON_USED;
}

/* Sets reason, error and (printf) detail; device and interface stay. */
__attribute__((format(printf, 4, 5))) void nd_diagnosis_set(
    struct nd_diagnosis *diagnosis, enum nd_reason reason, int error, const char *detail, ...);

/* What a failed ibv_open_device says; file in: name of the device's file in /dev/infiniband. */
void nd_diagnosis_set_open(struct nd_diagnosis *diagnosis, int error, const char *file);
/* What a failed rdma_create_event_channel says. */
void nd_diagnosis_set_cm(struct nd_diagnosis *diagnosis, int error);
/* What a failed create call of a device says: mostly the limit of locked memory. what in: "queues" or the like */
void nd_diagnosis_set_objects(struct nd_diagnosis *diagnosis, int error, const char *what);

/* Returns "port-down" or the like, for programs: it never changes. */
const char *nd_diagnosis_code(const struct nd_diagnosis *diagnosis);
/* The reason, in words. Returns text. */
const char *nd_diagnosis_text(
    const struct nd_diagnosis *diagnosis, char text[ND_DIAGNOSIS_TEXT_OCTETS]);
/* What to do. Returns text, or NULL if there is nothing to do. */
const char *nd_diagnosis_remedy(
    const struct nd_diagnosis *diagnosis, char text[ND_DIAGNOSIS_TEXT_OCTETS]);

/*
 * nd_memory_lock_limit - the limit of locked memory, in words ("64 KiB").
 * Returns false when there is none.
 */
bool nd_memory_lock_limit(char text[ND_DIAGNOSIS_DETAIL_OCTETS]);

#endif
