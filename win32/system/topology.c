/* SPDX-License-Identifier: MIT */
/*
 * topology.c - GetLogicalProcessorInformation and its Ex form: cores, packages, caches and nodes, as sysfs describes
 * them, and groups. Without Ex it is about group 0.
 */
#include "win32/system/processor.h"

#include "util/processors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A core, package, cache or node: the processors that share it. */
struct unit {
    LOGICAL_PROCESSOR_RELATIONSHIP kind;
    cpu_set_t processors;
    union {
        BYTE flags;
        DWORD node;
        CACHE_DESCRIPTOR cache;
    };
};

/* The caller's array, filled as far as it reaches; used goes on after that. add appends a unit. */
struct entries {
    void (*add)(struct entries *entries, const struct unit *unit);
    unsigned char *to;
    DWORD room, used; /* octets */
    LOGICAL_PROCESSOR_RELATIONSHIP wanted;
};

static void append(struct entries *entries, const void *entry, DWORD size)
{
    if (entries->used + size <= entries->room)
        memcpy(entries->to + entries->used, entry, size);
    entries->used += size;
}

static void add_unit(struct entries *entries, const struct unit *unit)
{
    if (entries->wanted == RelationAll || entries->wanted == unit->kind)
        entries->add(entries, unit);
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

/* Finds the processors online that share a thing (a core, a cache) with this one. False: sysfs has no such file. */
static bool sharers(unsigned processor, const char *name, const cpu_set_t *online, cpu_set_t *set)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", processor, name);
    if (!processors_read(path, set))
        return false;
    CPU_AND(set, set, online);
    return CPU_COUNT(set) > 0;
}

/* Whether to report a shared thing here: the lowest of its processors does, so that it has one entry. */
static bool reports(unsigned processor, const cpu_set_t *set)
{
    for (unsigned i = 0; i < processor; i++)
        if (CPU_ISSET(i, set))
            return false;
    return CPU_ISSET(processor, set);
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
        struct unit unit = { .kind = RelationCache };
        unsigned long ways;

        for (unsigned i = 0; i < ARRAYSIZE(names); i++)
            snprintf(file[i], sizeof(file[i]), "cache/index%u/%s", index, names[i]);
        if (!read_word(processor, file[0], word))
            return;
        unit.cache.Type = cache_type(word);
        if (!sharers(processor, file[1], online, &unit.processors) ||
            !reports(processor, &unit.processors))
            continue;
        ways = read_number(processor, file[3]);
        unit.cache.Level = (BYTE)read_number(processor, file[2]);
        unit.cache.Associativity =
            ways && ways < CACHE_FULLY_ASSOCIATIVE ? (BYTE)ways : CACHE_FULLY_ASSOCIATIVE;
        unit.cache.LineSize = (WORD)read_number(processor, file[4]);
        unit.cache.Size = (DWORD)read_number(processor, file[5]) * 1024; /* "32K": always in KB */
        add_unit(entries, &unit);
    }
}

/* A virtual machine may have no topology files: then each processor is a core, and all are one package. */
static void add_processor(struct entries *entries, unsigned processor, const cpu_set_t *online)
{
    struct unit core = { .kind = RelationProcessorCore };
    struct unit package = { .kind = RelationProcessorPackage };

    if (!sharers(processor, "topology/thread_siblings_list", online, &core.processors)) {
        CPU_ZERO(&core.processors);
        CPU_SET(processor, &core.processors);
    }
    core.flags = CPU_COUNT(&core.processors) > 1 ? LTP_PC_SMT : 0;
    if (!sharers(processor, "topology/core_siblings_list", online, &package.processors))
        package.processors = *online;
    if (reports(processor, &core.processors))
        add_unit(entries, &core);
    if (reports(processor, &package.processors))
        add_unit(entries, &package);
    add_caches(entries, processor, online);
}

static void add_nodes(struct entries *entries)
{
    ULONG highest;

    GetNumaHighestNodeNumber(&highest);
    for (ULONG node = 0; node <= highest; node++) {
        struct unit unit = { .kind = RelationNumaNode, .node = node };

        if (processors_of_node(node, &unit.processors) && CPU_COUNT(&unit.processors))
            add_unit(entries, &unit);
    }
}

static void add_all(struct entries *entries)
{
    cpu_set_t online;

    processors_online(&online);
    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &online))
            add_processor(entries, i, &online);
    add_nodes(entries);
}

/* The last error stays as it is where all entries had room. */
static BOOL answer(const struct entries *entries, PDWORD length)
{
    const bool fits = entries->used <= entries->room;

    *length = entries->used;
    if (!fits)
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return fits;
}

/* The form without groups. */
static void add_plain(struct entries *entries, const struct unit *unit)
{
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION entry = {
        .ProcessorMask = win_group_mask(&unit->processors, 0),
        .Relationship = unit->kind,
    };

    if (!entry.ProcessorMask)
        return;
    if (unit->kind == RelationCache)
        entry.Cache = unit->cache;
    else if (unit->kind == RelationNumaNode)
        entry.NumaNode.NodeNumber = unit->node;
    else
        entry.ProcessorCore.Flags = unit->flags;
    append(entries, &entry, sizeof(entry));
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
    struct entries entries = { .add = add_plain, .to = (unsigned char *)to, .wanted = RelationAll };
    const DWORD before = GetLastError();

    if (!length || (!to && *length >= sizeof(*to))) {
        SetLastError(length ? ERROR_NOACCESS : ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    entries.room = *length;
    add_all(&entries);
    SetLastError(before);
    return answer(&entries, length);
}

enum { GROUPS = CPU_SETSIZE / WIN_GROUP_SIZE };

/* An entry of the Ex form with room for all groups. */
union entry {
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX ex;
    unsigned char room[sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX) +
                       GROUPS * sizeof(PROCESSOR_GROUP_INFO)];
};

static void append_ex(struct entries *entries, union entry *entry, const void *end)
{
    entry->ex.Size = (DWORD)((const unsigned char *)end - entry->room);
    append(entries, entry, entry->ex.Size);
}

/* Stores the groups of a set, and how many there are. Returns the end of the array. */
static const void *store_groups(GROUP_AFFINITY *to, WORD *count, const cpu_set_t *set)
{
    for (unsigned group = 0; group < win_group_count(set); group++) {
        const KAFFINITY mask = win_group_mask(set, group);

        if (mask)
            to[(*count)++] = (GROUP_AFFINITY){ .Mask = mask, .Group = (WORD)group };
    }
    return to + *count;
}

/* The form with groups: of a node the lowest one, of all else all. */
static void add_ex(struct entries *entries, const struct unit *unit)
{
    union entry entry = { .ex = { .Relationship = unit->kind } };
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *ex = &entry.ex;
    const void *end;

    switch (unit->kind) {
    case RelationNumaNode:
        ex->NumaNode.NodeNumber = unit->node;
        ex->NumaNode.GroupCount = 1;
        ex->NumaNode.GroupMask = win_group_lowest(&unit->processors);
        end = &ex->NumaNode.GroupMasks[1];
        break;
    case RelationCache:
        ex->Cache.Level = unit->cache.Level;
        ex->Cache.Associativity = unit->cache.Associativity;
        ex->Cache.LineSize = unit->cache.LineSize;
        ex->Cache.CacheSize = unit->cache.Size;
        ex->Cache.Type = unit->cache.Type;
        end = store_groups(ex->Cache.GroupMasks, &ex->Cache.GroupCount, &unit->processors);
        break;
    default:
        ex->Processor.Flags = unit->flags;
        end = store_groups(ex->Processor.GroupMask, &ex->Processor.GroupCount, &unit->processors);
        break;
    }
    append_ex(entries, &entry, end);
}

static void add_groups(struct entries *entries)
{
    union entry entry = { .ex = { .Relationship = RelationGroup } };
    GROUP_RELATIONSHIP *groups = &entry.ex.Group;
    cpu_set_t online, possible;

    processors_online(&online);
    win_processors_possible(&possible);
    groups->MaximumGroupCount = (WORD)win_group_count(&possible);
    groups->ActiveGroupCount = (WORD)win_group_count(&online);
    for (unsigned i = 0; i < groups->ActiveGroupCount; i++) {
        PROCESSOR_GROUP_INFO *info = &groups->GroupInfo[i];

        info->ActiveProcessorMask = win_group_mask(&online, i);
        info->ActiveProcessorCount = (BYTE)__builtin_popcountll(info->ActiveProcessorMask);
        info->MaximumProcessorCount = (BYTE)__builtin_popcountll(win_group_mask(&possible, i));
    }
    append_ex(entries, &entry, &groups->GroupInfo[groups->ActiveGroupCount]);
}

/*
 * GetLogicalProcessorInformationEx - cores, packages, caches, nodes and groups, or those of one kind.
 * kind     RelationProcessorCore, RelationProcessorPackage, RelationCache, RelationNumaNode (of its processors those of
 *          the lowest group that has any), RelationGroup, RelationAll
 * to       out: entries of Size octets each; EfficiencyClass is 0. NULL: no room
 * length   in: size of to, in octets; out: size of all entries
 * Returns  FALSE with ERROR_INSUFFICIENT_BUFFER (length is the size needed), ERROR_INVALID_PARAMETER (no length, or
 *          another kind).
 * Source: GetLogicalProcessorInformationEx function (sysinfoapi.h).
 */
BOOL WINAPI GetLogicalProcessorInformationEx(
    LOGICAL_PROCESSOR_RELATIONSHIP kind, PSYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX to, PDWORD length)
{
    struct entries entries = { .add = add_ex, .to = (unsigned char *)to, .wanted = kind };
    const DWORD before = GetLastError();

    if (!length || (kind > RelationGroup && kind != RelationAll)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    entries.room = to ? *length : 0;
    if (kind != RelationGroup)
        add_all(&entries);
    if (kind == RelationGroup || kind == RelationAll)
        add_groups(&entries);
    SetLastError(before);
    return answer(&entries, length);
}
