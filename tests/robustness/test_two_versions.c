/* SPDX-License-Identifier: MIT */
/*
 * test_two_versions.c - a program of version 1 and one of version 2, in two processes, either of them the active one.
 */
#include "tests/robustness/child.h"
#include "tests/support/nd1_end.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4, OCTETS = 65536, MESSAGE = 3000, AT = 8192 };

static const struct nd2_end_options options2 = { .depth = DEPTH, .memory_octets = OCTETS };
static const struct nd1_end_options options1 = { .depth = DEPTH, .memory_octets = OCTETS };

static void fill(unsigned char *octets, unsigned seed)
{
    for (unsigned i = 0; i < MESSAGE; i++)
        octets[i] = (unsigned char)(i * 7 + seed);
}

static bool filled(const unsigned char *octets, unsigned seed)
{
    for (unsigned i = 0; i < MESSAGE; i++)
        if (octets[i] != (unsigned char)(i * 7 + seed))
            return false;
    return true;
}

/* ---- version 2, the child ---- */

/* One result, of a Send or Receive. */
static void child_result(struct nd2_end *end, ND2_REQUEST_TYPE type)
{
    ND2_RESULT result;

    if (nd2_end_results(end, &result, 1, ND_END_WAIT_MS) != 1 || result.Status != ND_SUCCESS ||
        result.RequestType != type)
        exit(3);
}

/* Receives a message and sends back where the memory is. */
static void child_answer(struct nd2_end *end)
{
    const struct child_memory memory = { (uintptr_t)end->memory + AT, end->rkey };

    child_result(end, Nd2RequestTypeReceive);
    if (!filled(end->memory, 1))
        exit(4);
    fill(end->memory + AT, 2);
    memcpy(end->memory, &memory, sizeof memory);
    child_check(nd2_end_send(end, NULL, 0, sizeof memory, 0), end);
    child_result(end, Nd2RequestTypeSend);
}

static int play(const char *name, int control)
{
    bool active = strcmp(name, "active") == 0;
    struct nd2_end end;
    USHORT port_be;
    char done;

    child_open(&end, &options2);
    child_check(nd2_end_receive(&end, NULL, 0, MESSAGE), &end);
    if (active) {
        child_hear(control, &port_be, sizeof port_be);
        child_check(nd2_end_connect(&end, port_be), &end);
        /* On iWARP the active side sends first. */
        child_check(nd2_end_send(&end, NULL, AT, 0, 0), &end);
        child_result(&end, Nd2RequestTypeSend);
    } else {
        child_check(nd2_end_listen(&end, &port_be), &end);
        child_tell(control, &port_be, sizeof port_be);
        child_check(nd2_end_request(&end), &end);
        child_check(nd2_end_accept(&end), &end);
    }
    child_answer(&end);
    child_hear(control, &done, sizeof done);
    nd2_end_close(&end);
    child_check(NdCleanup(), &end);
    return 0;
}

/* ---- version 1 ---- */

/* The next result; fails the test when there is none in time. */
static void expect_result(struct nd1_end *end, const ND_RESULT *expected, SIZE_T octets)
{
    ND_RESULT *result = NULL;

    while (!end->cq->lpVtbl->GetResults(end->cq, &result, 1)) {
        OVERLAPPED *overlapped = nd_end_fresh(&end->overlapped, end->event);
        HRESULT hr = end->cq->lpVtbl->Notify(end->cq, ND_CQ_NOTIFY_ANY, overlapped);

        assert_int_equal(nd1_end_wait(end, end->cq, hr, ND_END_WAIT_MS), ND_SUCCESS);
    }
    assert_ptr_equal(result, expected);
    assert_int_equal(result->Status, ND_SUCCESS);
    assert_int_equal(result->BytesTransferred, octets);
}

/* Sends, receives where the peer's memory is, and reads it. */
static void talk(struct nd1_end *end, const ND_RESULT *receive)
{
    struct child_memory memory;
    ND_MW_DESCRIPTOR there;
    ND_RESULT sent, read;
    ND_SGE to = { end->memory + 2 * AT, MESSAGE, end->mr };

    fill(end->memory + AT, 1);
    assert_int_equal(nd1_end_send(end, &sent, AT, MESSAGE, 0), ND_SUCCESS);
    expect_result(end, &sent, MESSAGE);
    expect_result(end, receive, sizeof memory);
    memcpy(&memory, end->memory, sizeof memory);
    there = (ND_MW_DESCRIPTOR){ htobe64(memory.address), htobe64(MESSAGE), memory.token };
    assert_int_equal(
        end->endpoint->lpVtbl->Read(end->endpoint, &read, &to, 1, &there, 0, 0), ND_SUCCESS);
    expect_result(end, &read, MESSAGE);
    assert_true(filled(end->memory + 2 * AT, 2));
}

static void finish(struct child *child, struct nd1_end *end)
{
    OVERLAPPED *overlapped = nd_end_fresh(&end->overlapped, end->event);
    HRESULT hr = end->connector->lpVtbl->NotifyDisconnect(end->connector, overlapped);

    assert_int_equal(hr, ND_PENDING);
    child_tell(child->control, "", 1);
    assert_int_equal(nd1_end_wait(end, end->connector, hr, ND_END_WAIT_MS), ND_SUCCESS);
    child_finish(child);
    nd1_end_close(end);
    assert_int_equal(NdCleanup(), ND_SUCCESS);
}

static void test_version_1_connects_to_a_program_of_version_2(void **state)
{
    struct child child;
    struct nd1_end end;
    ND_RESULT receive;
    USHORT port_be;

    (void)state;
    child_start(&child, "passive");
    assert_int_equal(NdStartup(), ND_SUCCESS);
    assert_int_equal(nd1_end_open(&end, &options1), ND_SUCCESS);
    assert_int_equal(nd1_end_receive(&end, &receive, 0, 64), ND_SUCCESS);
    child_hear(child.control, &port_be, sizeof port_be);
    assert_int_equal(nd1_end_connect(&end, port_be), ND_SUCCESS);
    talk(&end, &receive);
    finish(&child, &end);
}

static void test_version_1_listens_for_a_program_of_version_2(void **state)
{
    struct child child;
    struct nd1_end end;
    ND_RESULT first, receive;
    USHORT port_be;

    (void)state;
    child_start(&child, "active");
    assert_int_equal(NdStartup(), ND_SUCCESS);
    assert_int_equal(nd1_end_open(&end, &options1), ND_SUCCESS);
    assert_int_equal(nd1_end_listen(&end, &port_be), ND_SUCCESS);
    assert_int_equal(nd1_end_receive(&end, &first, 0, 64), ND_SUCCESS);
    assert_int_equal(nd1_end_receive(&end, &receive, 0, 64), ND_SUCCESS);
    child_tell(child.control, &port_be, sizeof port_be);
    assert_int_equal(nd1_end_request(&end), ND_SUCCESS);
    assert_int_equal(nd1_end_accept(&end), ND_SUCCESS);
    expect_result(&end, &first, 0);
    talk(&end, &receive);
    finish(&child, &end);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_1_connects_to_a_program_of_version_2),
        cmocka_unit_test(test_version_1_listens_for_a_program_of_version_2),
    };

    child_main(argc, argv, play);
    setenv("NDSPI_DEVICE", "soft", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
