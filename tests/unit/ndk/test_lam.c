/* SPDX-License-Identifier: MIT */
/* test_lam.c - mappings of memory, and requests that name it with the privileged token. */
#include "tests/unit/ndk/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4 };

/* Room for a mapping of some pages. */
union mapping {
    NDK_LOGICAL_ADDRESS_MAPPING lam;
    unsigned char bytes[0x10 + 8 * 300];
};

static ULONG_PTR page_of(union mapping *mapping, ULONG index)
{
    const NDK_LOGICAL_ADDRESS *pages = mapping->lam.AdapterPageArray;

    return (ULONG_PTR)pages[index].QuadPart;
}

static NTSTATUS build(
    NDK_ADAPTER *adapter, void *memory, SIZE_T length, union mapping *mapping, ULONG *size)
{
    ULONG offset = 77;
    NTSTATUS status;
    MDL mdl;

    MmInitializeMdl(&mdl, memory, length);
    status = adapter->Dispatch->NdkBuildLAM(
        adapter, &mdl, length, NULL, NULL, &mapping->lam, size, &offset);
    assert_int_equal(offset, status ? 77 : BYTE_OFFSET(memory));
    return status;
}

static void release(NDK_ADAPTER *adapter, union mapping *mapping)
{
    adapter->Dispatch->NdkReleaseLAM(adapter, &mapping->lam);
}

static void mapping_has_the_pages(void **state)
{
    static _Alignas(4096) char memory[PAGES * 4096];
    NDK_ADAPTER *adapter = adapter_open_newest();
    union mapping mapping;
    ULONG size = 0, offset = 0;
    MDL chain[2];

    (void)state;
    memset(&mapping, 0xEE, sizeof(mapping));
    /* 0x10 and 8 for each page that a byte lies in. */
    assert_int_equal(build(adapter, memory + 100, 4096, &mapping, &size),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, 0x10 + 2 * 8);
    size--;
    assert_int_equal(build(adapter, memory + 100, 4096, &mapping, &size),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, 0x20);
    assert_int_equal(mapping.bytes[0], 0xEE);
    assert_int_equal(build(adapter, memory + 100, 4096, &mapping, &size), 0);
    assert_int_equal(size, 0x20);
    assert_int_equal(mapping.lam.AdapterPageCount, 2);
    assert_int_equal(page_of(&mapping, 0), (ULONG_PTR)memory);
    assert_int_equal(page_of(&mapping, 1), (ULONG_PTR)memory + 4096);
    assert_int_equal(mapping.bytes[0x20], 0xEE);
    release(adapter, &mapping);
    /* More room than is needed: the size tells what was stored. */
    size = sizeof(mapping);
    assert_int_equal(build(adapter, memory, 4096, &mapping, &size), 0);
    assert_int_equal(size, 0x18);
    assert_int_equal(mapping.lam.AdapterPageCount, 1);
    release(adapter, &mapping);
    /* A chain; a query without a buffer. */
    MmInitializeMdl(&chain[0], memory + 4095, 2);
    MmInitializeMdl(&chain[1], memory + 4097, 4096);
    chain[0].Next = &chain[1];
    size = 0x1000;
    assert_int_equal(
        adapter->Dispatch->NdkBuildLAM(adapter, chain, 4098, NULL, NULL, NULL, &size, &offset),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(size, 0x10 + 3 * 8);
    assert_int_equal(adapter->Dispatch->NdkBuildLAM(
                         adapter, chain, 4098, NULL, NULL, &mapping.lam, &size, &offset),
        0);
    assert_int_equal(offset, 4095);
    release(adapter, &mapping);
    NdklCloseAdapter(adapter);
}

static void bad_mappings_are_refused(void **state)
{
    static char memory[2 * 4096];
    NDK_ADAPTER *adapter = adapter_open_newest();
    NDK_FN_BUILD_LAM call = adapter->Dispatch->NdkBuildLAM;
    NTSTATUS invalid = (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER;
    union mapping mapping;
    ULONG size = sizeof(mapping), offset;
    MDL chain[2];

    (void)state;
    MmInitializeMdl(&chain[0], memory, 100);
    MmInitializeMdl(&chain[1], memory + 101, 100);
    chain[0].Next = &chain[1];
    assert_int_equal(call(adapter, NULL, 1, NULL, NULL, &mapping.lam, &size, &offset), invalid);
    assert_int_equal(call(adapter, chain, 0, NULL, NULL, &mapping.lam, &size, &offset), invalid);
    assert_int_equal(call(adapter, chain, 101, NULL, NULL, &mapping.lam, &size, &offset), invalid);
    assert_int_equal(call(adapter, chain, 100, NULL, NULL, &mapping.lam, NULL, &offset), invalid);
    assert_int_equal(call(adapter, chain, 100, NULL, NULL, &mapping.lam, &size, NULL), invalid);
    assert_int_equal(size, sizeof(mapping));
    assert_int_equal(call(adapter, chain, 100, NULL, NULL, &mapping.lam, &size, &offset), 0);
    release(adapter, &mapping);
    NdklCloseAdapter(adapter);
}

/* A second release finds no mapping; what was the first one's is not looked at. */
static void second_release_does_nothing(void **state)
{
    static char memory[4096];
    union mapping mapping, other;
    ULONG size = sizeof(mapping);
    NDK_ADAPTER *adapter;

    (void)breaks_rules(state);
    adapter = adapter_open_newest();
    assert_int_equal(build(adapter, memory, 4096, &mapping, &size), 0);
    release(adapter, &mapping);
    release(adapter, &mapping);
    size = sizeof(other);
    assert_int_equal(build(adapter, memory, 4096, &other, &size), 0);
    mapping.lam.AdapterContext = NULL;
    release(adapter, &mapping);
    release(adapter, &other);
    NdklCloseAdapter(adapter);
}

static UINT32 privileged(struct side *side)
{
    UINT32 token = 0;

    side->pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(side->pd, &token);
    assert_int_not_equal(token, 0);
    assert_int_not_equal(token, side->token);
    return token;
}

static NTSTATUS post_receive(struct side *side, void *memory, ULONG length, UINT32 token)
{
    NDK_SGE entry = sge(memory, length, token);

    return side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1);
}

static NTSTATUS post_send(struct side *side, void *memory, ULONG length, UINT32 token)
{
    NDK_SGE entry = sge(memory, length, token);

    return side->qp->Dispatch->NdkSend(side->qp, NULL, &entry, 1, 0);
}

static NTSTATUS status_of_next(NDK_CQ *cq)
{
    NDK_RESULT result;

    while (!cq->Dispatch->NdkGetCqResults(cq, &result, 1))
        sched_yield();
    return result.Status;
}

static void privileged_token_names_mapped_memory(void **state)
{
    struct pair *pair = breaks_rules(state);
    struct side *from = &pair->active, *to = &pair->passive;
    UINT32 token_from = privileged(from), token_to = privileged(to);
    /* With a page before, and one between them: opens of one device share its mappings. */
    char *memory = malloc(8 * 4096), *source = memory + 4096, *target = memory + 5 * 4096;
    union mapping map_from, map_to, again;
    ULONG size = sizeof(map_from);
    NDK_SGE entry;

    assert_non_null(memory);
    for (int i = 0; i < 3 * 4096; i++)
        source[i] = (char)(i * 7);
    memset(target, 0, 3 * 4096);
    /* Before there is a mapping it names nothing. */
    assert_int_equal(
        post_send(from, source, 16, token_from), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(build(from->adapter, source, 3 * 4096, &map_from, &size), 0);
    size = sizeof(map_to);
    assert_int_equal(build(to->adapter, target, 3 * 4096, &map_to, &size), 0);
    size = sizeof(again);
    assert_int_equal(build(to->adapter, target + 100, 200, &again, &size), 0); /* over it */
    assert_int_equal(post_receive(to, target, 3 * 4096, token_to), 0);
    assert_int_equal(post_send(from, source, 3 * 4096, token_from), 0);
    assert_int_equal(status_of_next(to->receive_cq), 0);
    assert_int_equal(status_of_next(from->initiator_cq), 0);
    assert_memory_equal(source, target, 3 * 4096);
    /* Of another device, beyond the end, before the start. */
    if (!one_device())
        assert_int_equal(
            post_send(from, target, 16, token_from), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(post_send(from, source + 3 * 4096 - 1, 2, token_from),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(
        post_send(from, source - 1, 1, token_from), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(post_send(from, (void *)UINTPTR_MAX, 2, token_from),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    /* Write from it; a Read into it needs a right that the token never gives, where the transport asks for one. */
    entry = sge(source + 5, 10, token_from);
    assert_int_equal(from->qp->Dispatch->NdkWrite(from->qp, NULL, &entry, 1,
                         (UINT64)(ULONG_PTR)to->memory, to->remote_token, 0),
        0);
    assert_int_equal(status_of_next(from->initiator_cq), 0);
    assert_memory_equal(to->memory, source + 5, 10);
    memset(to->memory, 'r', 10);
    assert_int_equal(from->qp->Dispatch->NdkRead(from->qp, NULL, &entry, 1,
                         (UINT64)(ULONG_PTR)to->memory, to->remote_token, 0),
        strcmp(device_name(), "siw") == 0 ? (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION
                                          : STATUS_SUCCESS);
    if (strcmp(device_name(), "siw") != 0) {
        assert_int_equal(status_of_next(from->initiator_cq), 0);
        assert_memory_equal(source + 5, "rrrrrrrrrr", 10);
    }
    /* The larger of two mappings goes: the smaller one's memory is still named. */
    release(to->adapter, &map_to);
    assert_int_equal(post_receive(to, target + 100, 200, token_to), 0);
    assert_int_equal(
        post_receive(to, target + 99, 2, token_to), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(post_send(from, source, 200, token_from), 0);
    assert_int_equal(status_of_next(to->receive_cq), 0);
    assert_int_equal(status_of_next(from->initiator_cq), 0);
    assert_memory_equal(source, target + 100, 200);
    release(to->adapter, &again);
    release(from->adapter, &map_from);
    assert_int_equal(
        post_receive(to, target + 100, 200, token_to), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    free(memory);
}

/* Memory at the same address, but other pages: nothing of the old registration is left. */
static void released_memory_may_be_mapped_anew(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    UINT32 token = privileged(from);
    const size_t length = PAGES * 4096;
    char *memory = NULL;

    for (int round = 0; round < 3; round++) {
        union mapping mapping;
        ULONG size = sizeof(mapping);
        void *again = mmap(memory, length, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | (memory ? MAP_FIXED_NOREPLACE : 0), -1, 0);

        assert_ptr_not_equal(again, MAP_FAILED);
        memory = again;
        memset(memory, 'a' + round, length);
        assert_int_equal(build(from->adapter, memory, length, &mapping, &size), 0);
        assert_int_equal(post_receive(to, to->memory, (ULONG)length, to->token), 0);
        assert_int_equal(post_send(from, memory, (ULONG)length, token), 0);
        assert_int_equal(status_of_next(to->receive_cq), 0);
        assert_int_equal(status_of_next(from->initiator_cq), 0);
        for (size_t i = 0; i < length; i++)
            assert_int_equal(to->memory[i], 'a' + round);
        release(from->adapter, &mapping);
        assert_int_equal(munmap(memory, length), 0);
    }
}

/* What goes to standard error from here on, until log_end, is counted. */
struct log {
    FILE *file;
    int saved;
};

static struct log log_begin(void)
{
    struct log log = { tmpfile(), dup(STDERR_FILENO) };

    assert_non_null(log.file);
    assert_true(log.saved >= 0 && dup2(fileno(log.file), STDERR_FILENO) >= 0);
    return log;
}

static long log_end(struct log log)
{
    long octets;

    assert_true(dup2(log.saved, STDERR_FILENO) >= 0);
    close(log.saved);
    fseek(log.file, 0, SEEK_END);
    octets = ftell(log.file);
    fclose(log.file);
    return octets;
}

/* Nothing complains of it. */
static void memory_without_a_right_to_write_is_sent(void **state)
{
    static const char text[] = "a text that cannot be written";
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    union mapping mapping;
    ULONG size = sizeof(mapping);
    NTSTATUS status;
    struct log log;

    assert_int_equal(build(from->adapter, (void *)text, sizeof(text), &mapping, &size), 0);
    assert_int_equal(post_receive(to, to->memory, sizeof(text), to->token), 0);
    log = log_begin();
    status = post_send(from, (void *)text, sizeof(text), privileged(from));
    assert_int_equal(log_end(log), 0);
    assert_int_equal(status, 0);
    assert_int_equal(status_of_next(to->receive_cq), 0);
    assert_int_equal(status_of_next(from->initiator_cq), 0);
    assert_string_equal(to->memory, text);
    release(from->adapter, &mapping);
}

/* Mappings in any order, one in another: each range is found while it is mapped, and not after. */
static void many_mappings_come_and_go(void **state)
{
    enum { MANY = 200 };
    struct pair *pair = breaks_rules(state);
    struct side *side = &pair->active;
    UINT32 token = privileged(side);
    union mapping *mappings = calloc(MANY, sizeof(*mappings));
    struct {
        ULONG start, length;
        bool mapped;
    } ranges[MANY];
    unsigned seed = 1;

    assert_non_null(mappings);
    for (int i = 0; i < MANY; i++) {
        ranges[i].start = (ULONG)rand_r(&seed) % (MEMORY - 5000);
        ranges[i].length = 1 + (ULONG)rand_r(&seed) % 5000;
        ranges[i].mapped = false;
    }
    for (int round = 0; round < 3000; round++) {
        ULONG i = (ULONG)rand_r(&seed) % MANY, size = sizeof(mappings[0]);
        ULONG start = (ULONG)rand_r(&seed) % MEMORY, length = 1 + (ULONG)rand_r(&seed) % 100;
        bool inside = false;
        NTSTATUS status;

        if (ranges[i].mapped)
            release(side->adapter, &mappings[i]);
        else
            assert_int_equal(build(side->adapter, side->memory + ranges[i].start, ranges[i].length,
                                 &mappings[i], &size),
                0);
        ranges[i].mapped = !ranges[i].mapped;
        for (int j = 0; j < MANY; j++)
            inside |= ranges[j].mapped && ranges[j].start <= start &&
                      start + length <= ranges[j].start + ranges[j].length;
        /* Not connected: with a token of something the connection is what is missing. */
        status = post_send(side, side->memory + start, length, token);
        assert_int_equal(status, inside ? (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID
                                        : (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    }
    for (int i = 0; i < MANY; i++)
        if (ranges[i].mapped)
            release(side->adapter, &mappings[i]);
    free(mappings);
}

int main(void)
{
#define ROW(test)       cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)
#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, pair_set_up_connected, pair_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping_has_the_pages),
        cmocka_unit_test(bad_mappings_are_refused),
        cmocka_unit_test(second_release_does_nothing),
        CONNECTED(privileged_token_names_mapped_memory),
        CONNECTED(released_memory_may_be_mapped_anew),
        CONNECTED(memory_without_a_right_to_write_is_sent),
        ROW(many_mappings_come_and_go),
    };

    return run_in_modes("lam", tests);
}
