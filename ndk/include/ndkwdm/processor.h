/* SPDX-License-Identifier: MIT */
/* processor.h - processors, nodes and where a thread runs, a part of ndkwdm.h. */
#ifndef NDKWDM_PROCESSOR_H
#define NDKWDM_PROCESSOR_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef WINCOMPAT_PROCESSOR_H /* wincompat's header has these */
#define ALL_PROCESSOR_GROUPS 0xffff

typedef struct _PROCESSOR_NUMBER {
    USHORT Group;
    UCHAR Number;
    UCHAR Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;
#endif

/*
 * The processors of a node that are online; of one that does not exist, none.
 * affinity  out, may be NULL: those of one group: that with most of them
 * count     out, may be NULL: of the processors in affinity
 */
VOID KeQueryNodeActiveAffinity(USHORT node, PGROUP_AFFINITY affinity, PUSHORT count);
/* The highest number of a node. */
USHORT KeQueryHighestNodeNumber(void);
/* How many processors of a group, or of all (ALL_PROCESSOR_GROUPS), are online; 0: no such group. */
ULONG KeQueryActiveProcessorCountEx(USHORT group);
USHORT KeQueryActiveGroupCount(void);
/* The processor that the calling thread is on, counted through all groups. number: out, may be NULL: the same. */
ULONG KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number);

/*
 * Binds the calling thread to processors, until KeRevertToUserGroupAffinityThread.
 * affinity  in: one group, bits of processors that are online; else nothing changes, and the log says so
 * previous  out, may be NULL: what an earlier call bound it to; all zeros: it was not bound
 */
VOID KeSetSystemGroupAffinityThread(PGROUP_AFFINITY affinity, PGROUP_AFFINITY previous);
/* previous: of that call. All zeros: the thread runs where it did before the first one. */
VOID KeRevertToUserGroupAffinityThread(PGROUP_AFFINITY previous);

#ifdef __cplusplus
}
#endif

#endif
