/* SPDX-License-Identifier: MIT */
/* test_processor.c - processors, affinities, priorities. */
#include "tests/support/win32_test.h"

#include <intrin.h>
#include <stdlib.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

static void test_processors(void **state)
{
    DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), sum = 0;
    PROCESSOR_NUMBER number = { 99, 99, 99 };
    SYSTEM_INFO info;
    DWORD_PTR process = 0, machine = 0;

    (void)state;
    GetSystemInfo(&info);
    assert_true(count >= 1 && count >= info.dwNumberOfProcessors);
    for (WORD i = 0; i < GetActiveProcessorGroupCount(); i++)
        sum += GetActiveProcessorCount(i);
    assert_int_equal(sum, count);
    assert_fails(GetActiveProcessorCount(GetActiveProcessorGroupCount()),
        DIFFERS(SPEC_ERROR_INVALID_PARAMETER, SPEC_ERROR_INSUFFICIENT_BUFFER,
            "a group that is not there: Wine's error is another"));
    assert_true(GetMaximumProcessorGroupCount() >= GetActiveProcessorGroupCount());
    assert_true(GetMaximumProcessorCount(ALL_PROCESSOR_GROUPS) >= count);
    assert_true(GetMaximumProcessorCount(0) >= GetActiveProcessorCount(0));
    assert_fails(GetMaximumProcessorCount(GetMaximumProcessorGroupCount()),
        DIFFERS(SPEC_ERROR_INVALID_PARAMETER, SPEC_ERROR_INSUFFICIENT_BUFFER,
            "a group that is not there: Wine's error is another"));
    assert_true(GetCurrentProcessorNumber() < 64);
    GetCurrentProcessorNumberEx(&number);
    assert_true(number.Group < GetActiveProcessorGroupCount());
    assert_true(number.Number < 64);
    assert_int_equal(number.Reserved, 0);
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    assert_true(process && !(process & ~machine));
    assert_int_equal(__popcnt64(machine), GetActiveProcessorCount(0));
    assert_fails(
        GetProcessAffinityMask((HANDLE)0x12345670, &process, &machine), SPEC_ERROR_INVALID_HANDLE);
}

static void test_nodes(void **state)
{
    ULONG highest = 99;
    DWORD_PTR process, machine;
    UCHAR node = 99;

    (void)state;
    assert_true(GetNumaHighestNodeNumber(&highest));
    assert_true(highest < 64);
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    for (UCHAR i = 0; i < 64; i++)
        if (machine >> i & 1) {
            assert_true(GetNumaProcessorNode(i, &node));
            assert_true(node <= highest);
        }
}

#ifndef _WIN32 /* Wine has none of these but GetNumaProcessorNode, which takes any processor for one of node 0 */
static void test_nodes_and_processors(void **state)
{
    ULONG highest = 99;
    ULONGLONG mask = 0, all = 0;
    DWORD_PTR process, machine;
    UCHAR node = 99;

    (void)state;
    assert_true(GetNumaHighestNodeNumber(&highest));
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    for (ULONG i = 0; i <= highest; i++)
        if (GetNumaNodeProcessorMask((UCHAR)i, &mask)) {
            assert_int_equal(all & mask, 0);
            all |= mask;
        }
    assert_true(all == machine);
    for (UCHAR i = 0; i < 64; i++)
        if (machine >> i & 1) {
            assert_true(GetNumaProcessorNode(i, &node));
            assert_true(GetNumaNodeProcessorMask(node, &mask));
            assert_true(mask >> i & 1);
        }
    assert_fails(
        GetNumaNodeProcessorMask((UCHAR)(highest + 1), &mask), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(GetNumaProcessorNode(255, &node), SPEC_ERROR_INVALID_PARAMETER);
    assert_int_equal(node, 0xff);
}

static void test_nodes_and_processors_of_groups(void **state)
{
    PROCESSOR_NUMBER number = { 0, 0, 0 };
    GROUP_AFFINITY affinity;
    USHORT node = 99, other = 99;
    ULONG highest = 99;
    ULONGLONG mask = 0;
    UCHAR plain = 99;

    (void)state;
    GetCurrentProcessorNumberEx(&number);
    assert_true(GetNumaProcessorNodeEx(&number, &node));
    memset(&affinity, 0xee, sizeof(affinity));
    assert_true(GetNumaNodeProcessorMaskEx(node, &affinity));
    assert_true(affinity.Mask != 0);
    assert_int_equal(affinity.Reserved[0] | affinity.Reserved[1] | affinity.Reserved[2], 0);
    if (affinity.Group == number.Group)
        assert_true(affinity.Mask >> number.Number & 1);
    if (number.Group == 0) {
        assert_true(GetNumaProcessorNode(number.Number, &plain));
        assert_int_equal(plain, node);
        assert_true(GetNumaNodeProcessorMask(plain, &mask));
        assert_true(mask == affinity.Mask);
    }
    assert_true(GetNumaHighestNodeNumber(&highest));
    assert_fails(
        GetNumaNodeProcessorMaskEx((USHORT)(highest + 1), &affinity), SPEC_ERROR_INVALID_PARAMETER);
    number.Reserved = 1;
    assert_fails(GetNumaProcessorNodeEx(&number, &other), SPEC_ERROR_INVALID_PARAMETER);
    assert_int_equal(other, 0xffff);
    number = (PROCESSOR_NUMBER){ 15, 63, 0 };
    assert_fails(GetNumaProcessorNodeEx(&number, &other), SPEC_ERROR_INVALID_PARAMETER);
    number = (PROCESSOR_NUMBER){ 0, 64, 0 };
    assert_fails(GetNumaProcessorNodeEx(&number, &other), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_groups_of_the_process(void **state)
{
    USHORT groups[16] = { 99 }, count = 0;
    GROUP_AFFINITY affinity;
    bool found = false;

    (void)state;
    assert_fails(
        GetProcessGroupAffinity(GetCurrentProcess(), &count, NULL), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_in_range(count, 1, GetActiveProcessorGroupCount());
    count = 0;
    assert_fails(GetProcessGroupAffinity(GetCurrentProcess(), &count, groups),
        SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(groups[0], 99);
    count = 16;
    assert_true(GetProcessGroupAffinity(GetCurrentProcess(), &count, groups));
    assert_true(GetThreadGroupAffinity(GetCurrentThread(), &affinity));
    for (USHORT i = 0; i < count; i++) {
        assert_true(i == 0 || groups[i] > groups[i - 1]);
        found |= groups[i] == affinity.Group;
    }
    assert_true(found);
    assert_fails(
        GetProcessGroupAffinity(GetCurrentProcess(), NULL, groups), SPEC_ERROR_INVALID_PARAMETER);
    count = 1;
    assert_fails(
        GetProcessGroupAffinity(GetCurrentProcess(), &count, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        GetProcessGroupAffinity((HANDLE)0x12345670, &count, groups), SPEC_ERROR_INVALID_HANDLE);
}
#endif

static void test_logical_processors(void **state)
{
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *entries;
    DWORD length = 0, needed, again;
    ULONG_PTR cores = 0, packages = 0, nodes = 0;
    DWORD_PTR process, machine;

    (void)state;
    assert_int_equal(sizeof(*entries), 32);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, Relationship), 8);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, ProcessorCore.Flags), 16);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, NumaNode.NodeNumber), 16);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, Cache.LineSize), 18);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, Cache.Size), 20);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION, Cache.Type), 24);
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    assert_fails(GetLogicalProcessorInformation(NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(GetLogicalProcessorInformation(NULL, &length), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_true(length >= 3 * sizeof(*entries) && length % sizeof(*entries) == 0);
    needed = length;
    assert_non_null(entries = malloc(needed));
    memset(entries, 0xee, needed);
    again = needed - 1;
    assert_fails(GetLogicalProcessorInformation(entries, &again), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(again, needed);
    assert_true(GetLogicalProcessorInformation(entries, &length));
    assert_int_equal(length, needed);
    for (DWORD i = 0; i < needed / sizeof(*entries); i++) {
        const ULONG_PTR mask = entries[i].ProcessorMask;

        assert_true(mask && !(mask & ~machine));
        switch (entries[i].Relationship) {
        case RelationProcessorCore:
            assert_int_equal(cores & mask, 0);
            assert_int_equal(entries[i].ProcessorCore.Flags, __popcnt64(mask) > 1);
            cores |= mask;
            break;
        case RelationProcessorPackage:
            assert_int_equal(packages & mask, 0);
            packages |= mask;
            break;
        case RelationNumaNode:
            assert_int_equal(nodes & mask, 0);
            nodes |= mask;
            break;
        case RelationCache:
            assert_in_range(entries[i].Cache.Level, 1, 4);
            assert_true(entries[i].Cache.Type <= CacheData);
            assert_true(entries[i].Cache.Associativity && entries[i].Cache.LineSize);
            assert_true(entries[i].Cache.Size >= 1024);
            break;
        default: fail_msg("entry %lu is of no known kind", (unsigned long)i);
        }
    }
    assert_true(cores == machine && packages == machine && nodes == machine);
#ifndef _WIN32 /* Wine writes to NULL */
    assert_fails(GetLogicalProcessorInformation(NULL, &length), SPEC_ERROR_NOACCESS);
#endif
    free(entries);
}

/* The numbers are those of Windows' headers for one group: 8 octets, and then 40, 40, 48 and 72. */
static DWORD expected_size(LOGICAL_PROCESSOR_RELATIONSHIP kind, unsigned groups)
{
    switch (kind) {
    case RelationProcessorCore:
    case RelationProcessorPackage: return 32 + 16 * groups;
    case RelationNumaNode: return 48;
    case RelationCache: return 40 + 16 * groups;
    case RelationGroup: return 32 + 48 * groups;
    default: return 0;
    }
}

/* What the entries of one kind have of group 0, and how many there are. */
struct seen {
    KAFFINITY mask;
    unsigned count;
};

static void look_at(const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *entry, struct seen *seen)
{
    const GROUP_AFFINITY *groups = NULL;
    unsigned count = 1;

    switch (entry->Relationship) {
    case RelationProcessorCore:
    case RelationProcessorPackage:
        groups = entry->Processor.GroupMask;
        count = entry->Processor.GroupCount;
        if (entry->Relationship == RelationProcessorCore && count == 1)
            assert_int_equal(entry->Processor.Flags, __popcnt64(groups[0].Mask) > 1);
        break;
    case RelationNumaNode: groups = &entry->NumaNode.GroupMask; break;
    case RelationCache:
        groups = &entry->Cache.GroupMask;
        assert_in_range(entry->Cache.Level, 1, 4);
        assert_true(entry->Cache.Type <= CacheData);
        assert_true(entry->Cache.Associativity && entry->Cache.LineSize);
        assert_true(entry->Cache.CacheSize >= 1024);
#ifndef _WIN32 /* MinGW's header does not have it */
        count = entry->Cache.GroupCount;
#endif
        break;
    case RelationGroup:
        count = entry->Group.ActiveGroupCount;
        assert_int_equal(count, GetActiveProcessorGroupCount());
        assert_int_equal(entry->Group.MaximumGroupCount, GetMaximumProcessorGroupCount());
        for (unsigned i = 0; i < count; i++) {
            const PROCESSOR_GROUP_INFO *info = &entry->Group.GroupInfo[i];

            assert_int_equal(info->ActiveProcessorCount, GetActiveProcessorCount((WORD)i));
            assert_int_equal(__popcnt64(info->ActiveProcessorMask), info->ActiveProcessorCount);
            assert_int_equal(info->MaximumProcessorCount, GetMaximumProcessorCount((WORD)i));
        }
        seen->mask |= entry->Group.GroupInfo[0].ActiveProcessorMask;
        break;
    default: fail_msg("an entry of kind %d", (int)entry->Relationship);
    }
    assert_int_equal(entry->Size, expected_size(entry->Relationship, count));
    for (unsigned i = 0; groups && i < count; i++) {
        assert_true(groups[i].Mask != 0);
        assert_int_equal(groups[i].Reserved[0] | groups[i].Reserved[1], 0);
        if (groups[i].Group == 0) {
            if (entry->Relationship != RelationCache)
                assert_int_equal(seen->mask & groups[i].Mask, 0);
            seen->mask |= groups[i].Mask;
        }
    }
    seen->count++;
}

/* All entries of a kind, or of RelationAll, by kind. Returns their octets. */
static DWORD look_at_all(LOGICAL_PROCESSOR_RELATIONSHIP kind, struct seen seen[5])
{
    DWORD length = 0, needed, at = 0;
    char *room;

    memset(seen, 0, 5 * sizeof(*seen));
    assert_fails(
        GetLogicalProcessorInformationEx(kind, NULL, &length), SPEC_ERROR_INSUFFICIENT_BUFFER);
    needed = length--;
    assert_non_null(room = malloc(needed));
    assert_fails(GetLogicalProcessorInformationEx(kind, (void *)room, &length),
        SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(length, needed);
    memset(room, 0xee, needed);
    SetLastError(0xdead);
    assert_true(GetLogicalProcessorInformationEx(kind, (void *)room, &length));
    assert_win_error(0xdead);
    assert_int_equal(length, needed);
    while (at < length) {
        const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *entry = (void *)(room + at);

        assert_true(entry->Size >= 48 && entry->Size <= length - at);
        assert_true(entry->Relationship <= RelationGroup);
        assert_true(kind == RelationAll || kind == entry->Relationship);
        look_at(entry, &seen[entry->Relationship]);
        at += entry->Size;
    }
    assert_int_equal(at, length);
    free(room);
    return length;
}

static void test_logical_processors_of_all_groups(void **state)
{
    struct seen all[5], one[5];
    DWORD_PTR process, machine;
    DWORD length = 0, sum = 0;

    (void)state;
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Processor.GroupCount), 30);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Processor.GroupMask), 32);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, NumaNode.GroupMask), 32);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Cache.CacheSize), 12);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Cache.GroupMask), 40);
    assert_int_equal(offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Group.GroupInfo), 32);
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    length = look_at_all(RelationAll, all);
    for (int kind = RelationProcessorCore; kind <= RelationGroup; kind++) {
        if (kind == RelationCache && !all[kind].count) /* a virtual machine that hides them */
            continue;
        sum += look_at_all((LOGICAL_PROCESSOR_RELATIONSHIP)kind, one);
        assert_int_equal(one[kind].count, all[kind].count);
        assert_true(one[kind].mask == machine && all[kind].mask == machine);
    }
    assert_int_equal(sum, length);
    assert_int_equal(all[RelationGroup].count, 1);
    assert_fails(
        GetLogicalProcessorInformationEx(RelationAll, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine takes any kind */
    assert_fails(GetLogicalProcessorInformationEx(
                     (LOGICAL_PROCESSOR_RELATIONSHIP)(RelationGroup + 1), NULL, &length),
        SPEC_ERROR_INVALID_PARAMETER);
#endif
}

static DWORD WINAPI tell_affinity(LPVOID parameter)
{
    GROUP_AFFINITY *affinity = parameter;

    return GetThreadGroupAffinity(GetCurrentThread(), affinity) ? GetCurrentProcessorNumber() : 999;
}

static void test_thread_affinity(void **state)
{
    GROUP_AFFINITY affinity = { 0, 9, { 0 } }, before = { 0, 9, { 0 } };
    DWORD_PTR process, machine, one;
    DWORD code = 0, index = 0;
    HANDLE thread;

    (void)state;
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    assert_true(_BitScanReverse64(&index, process));
    one = (DWORD_PTR)1 << index;
    assert_true(SetThreadAffinityMask(GetCurrentThread(), one) == process);
    assert_int_equal(GetCurrentProcessorNumber(), index);
    assert_true(SetThreadAffinityMask(GetCurrentThread(), process) == one);
    /* All bits set: all that the process may use, as Wine has it. */
    assert_true(SetThreadAffinityMask(GetCurrentThread(), one) == process);
    assert_true(SetThreadAffinityMask(GetCurrentThread(), ~(DWORD_PTR)0) == one);
    assert_true(SetThreadAffinityMask(GetCurrentThread(), process) == process);
    assert_fails(SetThreadAffinityMask(GetCurrentThread(), 0), SPEC_ERROR_INVALID_PARAMETER);
    if (~machine)
        assert_fails(
            SetThreadAffinityMask(GetCurrentThread(), ~machine), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetThreadAffinityMask((HANDLE)0x12345670, one), SPEC_ERROR_INVALID_HANDLE);

    /* Of a thread that does not run yet. */
    assert_non_null(
        thread = CreateThread(NULL, 0, tell_affinity, &affinity, CREATE_SUSPENDED, NULL));
    assert_true(SetThreadAffinityMask(thread, one) == process);
    assert_int_equal(ResumeThread(thread), 1);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, index);
    assert_int_equal(affinity.Group, 0);
    assert_true(affinity.Mask == one);
#ifndef _WIN32 /* there the affinity of an ended thread can still be set */
    assert_fails(SetThreadAffinityMask(thread, one), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(GetThreadPriority(thread), THREAD_PRIORITY_ERROR_RETURN);
#endif
    assert_true(CloseHandle(thread));

    affinity.Mask = one;
    assert_true(SetThreadGroupAffinity(GetCurrentThread(), &affinity, &before));
    assert_true(before.Mask == process);
    assert_int_equal(before.Group, 0);
    assert_true(GetThreadGroupAffinity(GetCurrentThread(), &affinity));
    assert_true(affinity.Mask == one);
    assert_true(SetThreadGroupAffinity(GetCurrentThread(), &before, NULL));
    affinity.Mask = 0;
    assert_fails(
        SetThreadGroupAffinity(GetCurrentThread(), &affinity, NULL), SPEC_ERROR_INVALID_PARAMETER);
    affinity.Mask = one;
    affinity.Reserved[1] = 1;
    assert_fails(
        SetThreadGroupAffinity(GetCurrentThread(), &affinity, NULL), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_process_affinity(void **state)
{
    DWORD_PTR before, process, machine;
    GROUP_AFFINITY affinity;
    DWORD index = 0;

    (void)state;
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &before, &machine));
    assert_true(_BitScanForward64(&index, before));
    assert_true(SetProcessAffinityMask(GetCurrentProcess(), (DWORD_PTR)1 << index));
    assert_true(GetProcessAffinityMask(GetCurrentProcess(), &process, &machine));
    assert_true(process == (DWORD_PTR)1 << index);
    assert_true(GetThreadGroupAffinity(GetCurrentThread(), &affinity));
    assert_true(affinity.Mask == process);
    if (before != process)
        assert_fails(SetThreadAffinityMask(GetCurrentThread(), before & ~process),
            SPEC_ERROR_INVALID_PARAMETER);
    assert_true(SetProcessAffinityMask(GetCurrentProcess(), before));
    assert_true(GetThreadGroupAffinity(GetCurrentThread(), &affinity));
    assert_true(affinity.Mask == before);
    assert_fails(SetProcessAffinityMask(GetCurrentProcess(), 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetProcessAffinityMask((HANDLE)0x12345670, before), SPEC_ERROR_INVALID_HANDLE);
}

static DWORD WINAPI change_priorities(LPVOID unused)
{
    HANDLE self = GetCurrentThread();

    (void)unused;
    if (GetThreadPriority(self) != THREAD_PRIORITY_NORMAL)
        return 1;
    if (!SetThreadPriority(self, THREAD_PRIORITY_NORMAL))
        return 2;
    if (!SetThreadPriority(self, THREAD_PRIORITY_BELOW_NORMAL) ||
        GetThreadPriority(self) != THREAD_PRIORITY_BELOW_NORMAL)
        return 3;
    if (!SetThreadPriority(self, THREAD_PRIORITY_LOWEST) ||
        GetThreadPriority(self) != THREAD_PRIORITY_LOWEST)
        return 4;
    if (!SetThreadPriority(self, THREAD_PRIORITY_IDLE) ||
        GetThreadPriority(self) != THREAD_PRIORITY_IDLE)
        return 5;
    /* Linux gives this to the privileged only. */
    if (SetThreadPriority(self, THREAD_PRIORITY_HIGHEST))
        return GetThreadPriority(self) == THREAD_PRIORITY_HIGHEST ? 0 : 6;
    return GetLastError() == ERROR_ACCESS_DENIED && GetThreadPriority(self) == THREAD_PRIORITY_IDLE
               ? 0
               : 7;
}

static void test_thread_priority(void **state)
{
    HANDLE thread;
    DWORD code = 99;

    (void)state;
#ifndef _WIN32 /* niceness is the host's */
    int nice_here = getpriority(PRIO_PROCESS, 0);

    if (nice_here < -11 || nice_here > 10) {
        print_message("started at nice %d, where some of the levels are one\n", nice_here);
        skip();
    }
#endif
    thread = CreateThread(NULL, 0, change_priorities, NULL, 0, NULL);
    assert_non_null(thread);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
    assert_int_equal(GetThreadPriority(GetCurrentThread()), THREAD_PRIORITY_NORMAL);
    assert_fails(SetThreadPriority(GetCurrentThread(), 7), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetThreadPriority((HANDLE)0x12345670, 0), SPEC_ERROR_INVALID_HANDLE);
}

static void test_thread_id_of_the_calling_thread(void **state)
{
    (void)state;
    assert_int_equal(GetThreadId(GetCurrentThread()), GetCurrentThreadId());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_logical_processors),
        cmocka_unit_test(test_logical_processors_of_all_groups),
#ifndef _WIN32
        cmocka_unit_test(test_nodes_and_processors),
        cmocka_unit_test(test_nodes_and_processors_of_groups),
        cmocka_unit_test(test_groups_of_the_process),
#endif
        cmocka_unit_test(test_thread_affinity),
        cmocka_unit_test(test_process_affinity),
        cmocka_unit_test(test_thread_priority),
        cmocka_unit_test(test_thread_id_of_the_calling_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
