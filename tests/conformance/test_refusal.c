/* SPDX-License-Identifier: MIT */
/*
 * test_refusal.c - connections that are refused, given up or cancelled, on either side.
 */
#include "fixture.h"

static const char sorry[] = "sorry";

static void passive_side_rejects(void)
{
    struct pair *pair = new_pair(NULL);
    char data[256] = "";
    ULONG size = sizeof(data);
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, sorry, sizeof(sorry)));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, data, &size));
    expect_true(size >= sizeof(sorry));
    expect_true(strcmp(data, sorry) == 0);
}

/* The Accept of a side whose peer backs out; where that is no message of its own the connection stood, and is lost. */
static void expect_unconfirmed(struct pair *pair)
{
    HRESULT refused = V2_V1(ND_CONNECTION_REFUSED, ND_CONNECTION_ABORTED);
    expect_status(
        row_holds_in_full() ? refused : ND_SUCCESS, wait_op(pair->passive.connector, pair->accept));
}

static void active_side_rejects(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, Reject, sorry, sizeof(sorry)));
    expect_unconfirmed(pair);
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void active_side_is_released_unconfirmed(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    pair_request(pair);
    pair_accept(pair);
    expect_equal(0, release_now(pair->active.connector));
    expect_unconfirmed(pair);
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void passive_side_is_released_unanswered(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_equal(0, release_now(pair->passive.connector));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
}

static void reject_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->passive.node->info.MaxCalleeData;
    char *data = keep_memory(limit + 1);
    pair_request(pair);
    expect_status(ND_INVALID_BUFFER_SIZE, CALL(pair->passive.connector, Reject, data, limit + 1));
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, data, limit));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
}

/* Waits until the passive connector has learnt that its request is dead; in a row that holds in part it never does. */
static void wait_until_dead(struct connector *connector)
{
    if (!row_holds_in_full())
        return;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    ULONG inbound, outbound;
    while (CALL(connector, GetReadLimits, &inbound, &outbound) == ND_SUCCESS) {
        if (GetTickCount64() > end)
            fail_row("the peer has gone and the connector does not know");
        SwitchToThread();
    }
}

static void accept_of_a_dead_request(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    pair_request(pair);
    release_now(pair->active.connector);
    wait_until_dead(pair->passive.connector);
    HRESULT hr = expect_one_of(finish(pair->passive.connector, start_accept(pair, op), op),
        ND_CONNECTION_ABORTED, row_holds_in_full() ? ND_CONNECTION_ABORTED : ND_SUCCESS);
    if (hr == ND_SUCCESS)
        expect_lost(&pair->passive);
}

static void reject_of_a_dead_request(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG inbound, outbound;
    pair_request(pair);
    release_now(pair->active.connector);
    wait_until_dead(pair->passive.connector);
    if (row_holds_in_full())
        expect_status(ND_CONNECTION_INVALID,
            CALL(pair->passive.connector, GetReadLimits, &inbound, &outbound));
    HRESULT hr = expect_one_of(CALL(pair->passive.connector, Reject, NULL, 0), ND_SUCCESS,
        ND_CONNECTION_INVALID, ND_CONNECTION_ABORTED);
    if (row_holds_in_full())
        expect_status(ND_CONNECTION_INVALID, hr);
}

static void cancel_connect(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, CancelOverlappedRequests));
    expect_true(event_is_set(pair->connect));
    expect_status(ND_CANCELED, result_of(pair->active.connector, pair->connect));
    wait_until_dead(pair->passive.connector);
}

static void cancel_accept(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, CancelOverlappedRequests));
    expect_true(event_is_set(pair->accept));
    if (!row_holds_in_full()) { /* as a rule it had ended before */
        expect_one_of(result_of(pair->passive.connector, pair->accept), ND_SUCCESS, ND_CANCELED);
        return;
    }
    expect_status(ND_CANCELED, result_of(pair->passive.connector, pair->accept));
    struct op *op = new_op();
    expect_status(
        ND_CONNECTION_ABORTED, finish(pair->passive.connector, start_accept(pair, op), op));
}

SUITE(refusal);
