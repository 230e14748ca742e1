/* SPDX-License-Identifier: MIT */
/* processor.c - processors and nodes of ndkwdm.h: groups of 64 processors, as the system numbers them. */
#include <ndkwdm.h>

#include "util/log.h"
#include "util/processors.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { GROUP_SIZE = 64, GROUPS = CPU_SETSIZE / GROUP_SIZE };

static KAFFINITY mask_of(const cpu_set_t *set, unsigned group)
{
    KAFFINITY mask = 0;

    for (unsigned i = 0; i < GROUP_SIZE; i++)
        if (CPU_ISSET(group * GROUP_SIZE + i, set))
            mask |= (KAFFINITY)1 << i;
    return mask;
}

VOID KeQueryNodeActiveAffinity(USHORT node, PGROUP_AFFINITY affinity, PUSHORT count)
{
    GROUP_AFFINITY found = { .Mask = 0 };
    cpu_set_t set;

    if (processors_of_node(node, &set))
        for (unsigned group = 0; group < GROUPS; group++) {
            KAFFINITY mask = mask_of(&set, group);

            if (__builtin_popcountll(mask) > __builtin_popcountll(found.Mask))
                found = (GROUP_AFFINITY){ .Mask = mask, .Group = (USHORT)group };
        }
    if (affinity)
        *affinity = found;
    if (count)
        *count = (USHORT)__builtin_popcountll(found.Mask);
}

USHORT KeQueryHighestNodeNumber(void)
{
    return (USHORT)processors_highest_node();
}

ULONG KeQueryActiveProcessorCountEx(USHORT group)
{
    cpu_set_t online;

    processors_online(&online);
    if (group == ALL_PROCESSOR_GROUPS)
        return (ULONG)CPU_COUNT(&online);
    return group < GROUPS ? (ULONG)__builtin_popcountll(mask_of(&online, group)) : 0;
}

USHORT KeQueryActiveGroupCount(void)
{
    cpu_set_t online;
    USHORT groups = GROUPS;

    processors_online(&online);
    while (groups > 1 && !mask_of(&online, groups - 1u))
        groups--;
    return groups;
}

ULONG KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number)
{
    int processor = sched_getcpu();

    if (processor < 0)
        processor = 0;
    if (number)
        *number = (PROCESSOR_NUMBER){ .Group = (USHORT)(processor / GROUP_SIZE),
            .Number = (UCHAR)(processor % GROUP_SIZE) };
    return (ULONG)processor;
}

/* ---- where a thread runs ---- */

static _Thread_local struct {
    GROUP_AFFINITY bound; /* Mask 0: the thread is not bound */
    cpu_set_t before;     /* the processors that it had before */
} place;

static bool bind_to(const cpu_set_t *set)
{
    int error = pthread_setaffinity_np(pthread_self(), sizeof(*set), set);

    if (error)
        log_limited(LOG_WARN, LOG_NDK,
            "cannot bind a thread to processors: %s; it stays where it is", strerror(error));
    return !error;
}

VOID KeSetSystemGroupAffinityThread(PGROUP_AFFINITY affinity, PGROUP_AFFINITY previous)
{
    cpu_set_t set;

    if (previous)
        *previous = place.bound;
    CPU_ZERO(&set);
    for (unsigned i = 0; i < GROUP_SIZE; i++)
        if (affinity->Group < GROUPS && affinity->Mask >> i & 1)
            CPU_SET((size_t)affinity->Group * GROUP_SIZE + i, &set);
    if (!place.bound.Mask)
        pthread_getaffinity_np(pthread_self(), sizeof(place.before), &place.before);
    if (bind_to(&set))
        place.bound = *affinity;
}

VOID KeRevertToUserGroupAffinityThread(PGROUP_AFFINITY previous)
{
    if (previous->Mask)
        KeSetSystemGroupAffinityThread(previous, NULL);
    else if (place.bound.Mask && bind_to(&place.before))
        place.bound = *previous;
}
