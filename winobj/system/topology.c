/* SPDX-License-Identifier: MIT */
/*
 * topology.c - GetLogicalProcessorInformation: cores, packages, caches and nodes of group 0, as sysfs describes them.
 */
#include "winobj/system/processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The caller's array, filled as far as it reaches; count goes on after that. */
struct entries {
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *to;
    DWORD room, count;
};

static void add(struct entries *entries, const SYSTEM_LOGICAL_PROCESSOR_INFORMATION *entry)
{
    if (entries->count < entries->room)
        entries->to[entries->count] = *entry;
    entries->count++;
}

/* Reads the first word of a processor's file. False: there is none. */
static bool read_word(unsigned processor, const char *name, char word[32])
{
    char path[128];
    FILE *file;
    bool got;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", processor, name);
    if (!(file = fopen(path, "re")))
        return false;
    got = fscanf(file, "%31s", word) == 1;
    fclose(file);
    return got;
}

static unsigned long read_number(unsigned processor, const char *name)
{
    char word[32];

    return read_word(processor, name, word) ? strtoul(word, NULL, 10) : 0;
}

/* The processors of group 0 online that share a thing (a core, a cache) with this one; 0 if sysfs has no such file. */
static KAFFINITY sharers(unsigned processor, const char *name, const cpu_set_t *online)
{
    char path[128];
    cpu_set_t set;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", processor, name);
    if (!win_processors_read(path, &set))
        return 0;
    CPU_AND(&set, &set, online);
    return win_group_mask(&set, 0);
}

/* Whether to report a shared thing here: the lowest of its processors does, so that it has one entry. */
static bool reports(unsigned processor, KAFFINITY mask)
{
    return mask && (unsigned)__builtin_ctzll(mask) == processor;
}

static PROCESSOR_CACHE_TYPE cache_type(const char *word)
{
    return !strcmp(word, "Data")          ? CacheData
           : !strcmp(word, "Instruction") ? CacheInstruction
                                          : CacheUnified;
}

static void add_caches(struct entries *entries, unsigned processor, const cpu_set_t *online)
{
    static const char *const names[] = { "type", "shared_cpu_list", "level",
        "ways_of_associativity", "coherency_line_size", "size" };
    char file[ARRAYSIZE(names)][64], word[32];

    for (unsigned index = 0;; index++) {
        SYSTEM_LOGICAL_PROCESSOR_INFORMATION entry = { .Relationship = RelationCache };
        unsigned long ways;

        for (unsigned i = 0; i < ARRAYSIZE(names); i++)
            snprintf(file[i], sizeof(file[i]), "cache/index%u/%s", index, names[i]);
        if (!read_word(processor, file[0], word))
            return;
        entry.Cache.Type = cache_type(word);
        entry.ProcessorMask = sharers(processor, file[1], online);
        if (!reports(processor, entry.ProcessorMask))
            continue;
        ways = read_number(processor, file[3]);
        entry.Cache.Level = (BYTE)read_number(processor, file[2]);
        entry.Cache.Associativity =
            ways && ways < CACHE_FULLY_ASSOCIATIVE ? (BYTE)ways : CACHE_FULLY_ASSOCIATIVE;
        entry.Cache.LineSize = (WORD)read_number(processor, file[4]);
        entry.Cache.Size = (DWORD)read_number(processor, file[5]) * 1024; /* "32K": always in KB */
        add(entries, &entry);
    }
}

/* A virtual machine may have no topology files: then each processor is a core, and all are one package. */
static void add_processor(struct entries *entries, unsigned processor, const cpu_set_t *online)
{
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION core = { .Relationship = RelationProcessorCore };
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION package = { .Relationship = RelationProcessorPackage };

    if (!(core.ProcessorMask = sharers(processor, "topology/thread_siblings_list", online)))
        core.ProcessorMask = (KAFFINITY)1 << processor;
    core.ProcessorCore.Flags = (core.ProcessorMask & (core.ProcessorMask - 1)) != 0;
    if (!(package.ProcessorMask = sharers(processor, "topology/core_siblings_list", online)))
        package.ProcessorMask = win_group_mask(online, 0);
    if (reports(processor, core.ProcessorMask))
        add(entries, &core);
    if (reports(processor, package.ProcessorMask))
        add(entries, &package);
    add_caches(entries, processor, online);
}

static void add_nodes(struct entries *entries)
{
    ULONG highest;
    ULONGLONG mask;

    GetNumaHighestNodeNumber(&highest);
    for (ULONG node = 0; node <= highest && node <= 0xff; node++) {
        SYSTEM_LOGICAL_PROCESSOR_INFORMATION entry = { .Relationship = RelationNumaNode };

        if (!GetNumaNodeProcessorMask((UCHAR)node, &mask) || !mask)
            continue;
        entry.ProcessorMask = (ULONG_PTR)mask;
        entry.NumaNode.NodeNumber = node;
        add(entries, &entry);
    }
}

/*
 * GetLogicalProcessorInformation - cores (flag 1: of several processors), packages, caches and nodes; processors of
 * group 0.
 * length   in: size of the array, in bytes; out: size of all entries
 * Returns  FALSE with ERROR_INSUFFICIENT_BUFFER (length is the size needed), ERROR_INVALID_PARAMETER (no length),
 *          ERROR_NOACCESS (NULL with room).
 */
BOOL WINAPI GetLogicalProcessorInformation(PSYSTEM_LOGICAL_PROCESSOR_INFORMATION to, PDWORD length)
{
    struct entries entries = { .to = to };
    DWORD before = GetLastError();
    cpu_set_t online;

    if (!length || (!to && *length >= sizeof(*to))) {
        SetLastError(length ? ERROR_NOACCESS : ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    entries.room = *length / sizeof(*to);
    win_processors_online(&online);
    for (unsigned i = 0; i < WIN_GROUP_SIZE; i++)
        if (CPU_ISSET(i, &online))
            add_processor(&entries, i, &online);
    add_nodes(&entries);
    *length = entries.count * (DWORD)sizeof(*to);
    SetLastError(entries.count > entries.room ? ERROR_INSUFFICIENT_BUFFER : before);
    return entries.count <= entries.room;
}
