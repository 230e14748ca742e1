/* SPDX-License-Identifier: MIT */
/* processor.c - processors, groups and nodes. */
#include "win32/system/processor.h"

#include "util/processors.h"

void win_processors_possible(cpu_set_t *set)
{
    if (!processors_read("/sys/devices/system/cpu/possible", set))
        processors_online(set);
}

unsigned win_group_count(const cpu_set_t *set)
{
    unsigned groups = CPU_SETSIZE / WIN_GROUP_SIZE;

    while (groups > 1 && !win_group_mask(set, groups - 1))
        groups--;
    return groups;
}

GROUP_AFFINITY win_group_lowest(const cpu_set_t *set)
{
    GROUP_AFFINITY result = { .Mask = win_group_mask(set, 0) };

    for (unsigned group = 1; !result.Mask && group < win_group_count(set); group++)
        result = (GROUP_AFFINITY){ .Mask = win_group_mask(set, group), .Group = (WORD)group };
    return result;
}

KAFFINITY win_group_mask(const cpu_set_t *set, unsigned group)
{
    KAFFINITY mask = 0;

    for (unsigned i = 0; i < WIN_GROUP_SIZE && group * WIN_GROUP_SIZE + i < CPU_SETSIZE; i++)
        if (CPU_ISSET(group * WIN_GROUP_SIZE + i, set))
            mask |= (KAFFINITY)1 << i;
    return mask;
}

void win_group_set(cpu_set_t *set, unsigned group, KAFFINITY mask)
{
    CPU_ZERO(set);
    for (unsigned i = 0; i < WIN_GROUP_SIZE && group * WIN_GROUP_SIZE + i < CPU_SETSIZE; i++)
        if (mask >> i & 1)
            CPU_SET(group * WIN_GROUP_SIZE + i, set);
}

/* GetCurrentProcessorNumber, GetCurrentProcessorNumberEx - the processor that runs this thread at this moment. */
DWORD WINAPI GetCurrentProcessorNumber(void)
{
    int processor = sched_getcpu();

    return processor < 0 ? 0 : (DWORD)processor % WIN_GROUP_SIZE;
}

void WINAPI GetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number)
{
    int processor = sched_getcpu();

    *number = (PROCESSOR_NUMBER){ .Group = (WORD)(processor < 0 ? 0 : processor / WIN_GROUP_SIZE),
        .Number = (BYTE)(processor < 0 ? 0 : processor % WIN_GROUP_SIZE) };
}

/*
 * GetActiveProcessorGroupCount, GetMaximumProcessorGroupCount - the number of groups up to that of the last processor
 * that is online, or may come online.
 */
WORD WINAPI GetActiveProcessorGroupCount(void)
{
    cpu_set_t online;

    processors_online(&online);
    return (WORD)win_group_count(&online);
}

WORD WINAPI GetMaximumProcessorGroupCount(void)
{
    cpu_set_t possible;

    win_processors_possible(&possible);
    return (WORD)win_group_count(&possible);
}

/* How many processors of a set there are in a group, or in ALL_PROCESSOR_GROUPS. */
static DWORD count_in(const cpu_set_t *set, WORD group)
{
    if (group == ALL_PROCESSOR_GROUPS)
        return (DWORD)CPU_COUNT(set);
    if (group < win_group_count(set))
        return (DWORD)__builtin_popcountll(win_group_mask(set, group));
    SetLastError(ERROR_INVALID_PARAMETER);
    return 0;
}

/*
 * GetActiveProcessorCount, GetMaximumProcessorCount - the number of processors that are online, or may come online, in
 * a group or in ALL_PROCESSOR_GROUPS. 0 with ERROR_INVALID_PARAMETER: no such group.
 */
DWORD WINAPI GetActiveProcessorCount(WORD group)
{
    cpu_set_t online;

    processors_online(&online);
    return count_in(&online, group);
}

DWORD WINAPI GetMaximumProcessorCount(WORD group)
{
    cpu_set_t possible;

    win_processors_possible(&possible);
    return count_in(&possible, group);
}

/* GetNumaHighestNodeNumber - 0 on machines without nodes. */
BOOL WINAPI GetNumaHighestNodeNumber(PULONG node)
{
    *node = processors_highest_node();
    return TRUE;
}

/* Finds the node of a processor that is online. */
static bool node_of(unsigned processor, unsigned *node)
{
    const unsigned highest = processors_highest_node();
    cpu_set_t set;

    for (*node = 0; *node <= highest; ++*node)
        if (processors_of_node(*node, &set) && CPU_ISSET(processor, &set))
            return true;
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
}

/*
 * GetNumaProcessorNode, GetNumaProcessorNodeEx - the node of a processor, of group 0 without Ex.
 * node     out: on failure all bits
 * Returns  FALSE with ERROR_INVALID_PARAMETER: no such processor is online, or Reserved is not 0.
 */
BOOL WINAPI GetNumaProcessorNode(UCHAR processor, PUCHAR node)
{
    PROCESSOR_NUMBER number = { .Number = processor };
    USHORT found;
    BOOL result = GetNumaProcessorNodeEx(&number, &found);

    *node = (UCHAR)found;
    return result;
}

BOOL WINAPI GetNumaProcessorNodeEx(PPROCESSOR_NUMBER processor, PUSHORT node)
{
    unsigned found;

    *node = 0xffff;
    if (processor->Reserved || processor->Number >= WIN_GROUP_SIZE ||
        processor->Group >= CPU_SETSIZE / WIN_GROUP_SIZE) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!node_of(processor->Group * WIN_GROUP_SIZE + processor->Number, &found))
        return FALSE;
    *node = (USHORT)found;
    return TRUE;
}

/*
 * GetNumaNodeProcessorMask, GetNumaNodeProcessorMaskEx - a node's processors: without Ex those of group 0, with it
 * those of the lowest group that has any; none: a node of memory alone. FALSE with ERROR_INVALID_PARAMETER: no such
 * node.
 */
BOOL WINAPI GetNumaNodeProcessorMask(UCHAR node, PULONGLONG mask)
{
    cpu_set_t set;

    if (!processors_of_node(node, &set)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *mask = win_group_mask(&set, 0);
    return TRUE;
}

BOOL WINAPI GetNumaNodeProcessorMaskEx(USHORT node, PGROUP_AFFINITY affinity)
{
    cpu_set_t set;

    if (!processors_of_node(node, &set)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *affinity = win_group_lowest(&set);
    return TRUE;
}
