/* SPDX-License-Identifier: MIT */
/* processor.c - processors, groups and nodes. */
#include "winobj/system/processor.h"

#include <stdio.h>
#include <unistd.h>

bool win_processors_read(const char *path, cpu_set_t *set)
{
    FILE *file = fopen(path, "re");
    unsigned first, last;
    int got = 0, next = ',';

    CPU_ZERO(set);
    while (file && next == ',' && fscanf(file, "%u", &first) == 1) {
        last = first;
        if ((next = getc(file)) == '-') {
            if (fscanf(file, "%u", &last) != 1)
                break;
            next = getc(file);
        }
        for (unsigned i = first; i <= last && i < CPU_SETSIZE; i++)
            CPU_SET(i, set);
        got++;
    }
    if (file)
        fclose(file);
    return got > 0;
}

void win_processors_online(cpu_set_t *set)
{
    if (win_processors_read("/sys/devices/system/cpu/online", set))
        return;
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPU_SETSIZE; i++)
        CPU_SET((size_t)i, set);
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

/* GetActiveProcessorGroupCount - the number of groups up to that of the last processor online. */
WORD WINAPI GetActiveProcessorGroupCount(void)
{
    cpu_set_t online;
    unsigned groups = CPU_SETSIZE / WIN_GROUP_SIZE;

    win_processors_online(&online);
    while (groups > 1 && !win_group_mask(&online, groups - 1))
        groups--;
    return (WORD)groups;
}

/*
 * GetActiveProcessorCount - the number of processors online in a group, or in ALL_PROCESSOR_GROUPS. 0 with
 * ERROR_INVALID_PARAMETER: no such group.
 */
DWORD WINAPI GetActiveProcessorCount(WORD group)
{
    cpu_set_t online;

    win_processors_online(&online);
    if (group == ALL_PROCESSOR_GROUPS)
        return (DWORD)CPU_COUNT(&online);
    if (group < GetActiveProcessorGroupCount())
        return (DWORD)__builtin_popcountll(win_group_mask(&online, group));
    SetLastError(ERROR_INVALID_PARAMETER);
    return 0;
}

/* The highest node number; 0 where the kernel lists no nodes. */
static unsigned highest_node(void)
{
    cpu_set_t nodes;
    unsigned node = CPU_SETSIZE - 1;

    if (!win_processors_read("/sys/devices/system/node/online", &nodes))
        return 0;
    while (node && !CPU_ISSET(node, &nodes))
        node--;
    return node;
}

/* Finds the processors of a node that are online. False: no such node. */
static bool node_processors(unsigned node, cpu_set_t *set)
{
    char path[64];
    cpu_set_t online;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
    win_processors_online(&online);
    if (win_processors_read(path, set)) {
        CPU_AND(set, set, &online);
        return true;
    }
    CPU_ZERO(set);
    if (!access(path, F_OK)) /* a node of memory alone */
        return true;
    if (node || highest_node())
        return false;
    *set = online;
    return true;
}

/* GetNumaHighestNodeNumber - 0 on machines without nodes. */
BOOL WINAPI GetNumaHighestNodeNumber(PULONG node)
{
    *node = highest_node();
    return TRUE;
}

/*
 * GetNumaProcessorNode - the node of a processor of group 0. FALSE, node 0xff, with ERROR_INVALID_PARAMETER: none is
 * online.
 */
BOOL WINAPI GetNumaProcessorNode(UCHAR processor, PUCHAR node)
{
    cpu_set_t set;

    for (unsigned i = 0, highest = highest_node(); processor < WIN_GROUP_SIZE && i <= highest; i++)
        if (node_processors(i, &set) && CPU_ISSET(processor, &set)) {
            *node = (UCHAR)i;
            return TRUE;
        }
    *node = 0xff;
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
}

/* GetNumaNodeProcessorMask - a node's processors of group 0. FALSE with ERROR_INVALID_PARAMETER: no such node. */
BOOL WINAPI GetNumaNodeProcessorMask(UCHAR node, PULONGLONG mask)
{
    cpu_set_t set;

    if (!node_processors(node, &set)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *mask = win_group_mask(&set, 0);
    return TRUE;
}
