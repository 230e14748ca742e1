/* SPDX-License-Identifier: MIT */
/* test_fast_calls.c - NdkFastRegister, NdkInvalidate and the poll that finds their results make no system call. */
#include "tests/support/ndk_end.h"
#include "tests/support/no_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 10000, MOST = 256, OCTETS = 2 * MOST * PAGE_SIZE };

/* A silent registration and its end, which is told. */
static bool turn(
    struct ndk_end *end, NDK_MR *mr, const NDK_LOGICAL_ADDRESS *pages, ULONG count, ULONG silent)
{
    const ULONG flags = NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE | silent;
    const NDK_QP_DISPATCH *table = end->qp->Dispatch;
    NDK_RESULT_EX results[2];
    ULONG expected = silent ? 1 : 2;

    return table->NdkFastRegister(end->qp, NULL, mr, count, pages, 0, (SIZE_T)count * PAGE_SIZE,
               (PVOID)(ULONG_PTR)0x70000000, flags) == 0 &&
           table->NdkInvalidate(end->qp, end, &mr->Header, 0) == 0 &&
           end->cq->Dispatch->NdkGetCqResultsEx(end->cq, results, expected) == expected &&
           results[expected - 1].Status == 0 && results[expected - 1].RequestContext == end;
}

/* argument: how many pages */
static void child(const void *argument)
{
    const struct ndk_end_options options = { .depth = 16, .memory_octets = OCTETS };
    ULONG count = *(const ULONG *)argument;
    NDK_LOGICAL_ADDRESS pages[MOST];
    NDK_LOGICAL_ADDRESS_MAPPING *mapping;
    struct ndk_end active, passive;
    NDK_MR *mr;

    if (ndk_end_open(&passive, &options) || ndk_end_open(&active, &options) ||
        ndk_end_join(&active, &passive) || ndk_end_fast_region(&active, count, &mr) ||
        ndk_end_map(&active, active.memory, 2 * count, &mapping))
        return;
    for (ULONG i = 0; i < count; i++)
        pages[i] = mapping->AdapterPageArray[2 * ((i * 5 + 1) % count)];
    if (!turn(&active, mr, pages, count, 0)) /* what happens once has happened */
        return;
    no_calls_from_here();
    for (int i = 0; i < ROUNDS; i++)
        if (!turn(&active, mr, pages, count, i % 2 ? NDK_OP_FLAG_SILENT_SUCCESS : 0))
            return;
    _exit(NO_CALLS_DONE);
}

static void registering_makes_no_system_call(void **state)
{
    static const ULONG few = 16, most = MOST;

    (void)state;
    if (!NO_CALLS_TESTABLE)
        skip();
    assert_int_equal(no_calls_run(child, &few), NO_CALLS_DONE);
    assert_int_equal(no_calls_run(child, &most), NO_CALLS_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering_makes_no_system_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
