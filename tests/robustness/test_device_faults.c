/* SPDX-License-Identifier: MIT */
/*
 * test_device_faults.c - what a device may do to the provider, played on the fake device: every status of a completion,
 * a completion queue that fails, a device that goes away.
 */
#include "tests/support/fake_device.h"
#include "tests/support/nd2_end.h"

#include "tests/support/settle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8, SOON_MS = 5000 };

static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = 4096 };
static struct nd2_end end;
static unsigned live_before;

static int connected_end(void **state)
{
    (void)state;
    fake_reset();
    live_before = fake_live();
    assert_int_equal(nd2_end_open(&end, &options), ND_SUCCESS);
    assert_int_equal(nd2_end_connect(&end, htons(7)), ND_SUCCESS);
    fake_set_mode(FAKE_HOLD);
    return 0;
}

/* After any fault everything can be released, and the device has no object left. */
static int released_end(void **state)
{
    (void)state;
    nd2_end_close(&end);
    assert_true(SETTLES(fake_live() == live_before));
    fake_reset();
    return 0;
}

/* ------------------------------------------------------------------------------------------------ statuses */

static const struct {
    enum ibv_wc_status device;
    HRESULT initiator, receive;
} statuses[] = {
    { IBV_WC_LOC_LEN_ERR, (HRESULT)SPEC_ND_DATA_OVERRUN, (HRESULT)SPEC_ND_BUFFER_OVERFLOW },
    { IBV_WC_LOC_QP_OP_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_LOC_EEC_OP_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_LOC_PROT_ERR, (HRESULT)SPEC_ND_ACCESS_VIOLATION, (HRESULT)SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_WR_FLUSH_ERR, (HRESULT)SPEC_ND_CANCELED, (HRESULT)SPEC_ND_CANCELED },
    { IBV_WC_MW_BIND_ERR, (HRESULT)SPEC_ND_ACCESS_VIOLATION, (HRESULT)SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_BAD_RESP_ERR, (HRESULT)SPEC_STATUS_DATA_ERROR, (HRESULT)SPEC_STATUS_DATA_ERROR },
    { IBV_WC_LOC_ACCESS_ERR, (HRESULT)SPEC_ND_ACCESS_VIOLATION, (HRESULT)SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_REM_INV_REQ_ERR, (HRESULT)SPEC_STATUS_DATA_ERROR, (HRESULT)SPEC_STATUS_DATA_ERROR },
    { IBV_WC_REM_ACCESS_ERR, (HRESULT)SPEC_ND_ACCESS_VIOLATION, (HRESULT)SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_REM_OP_ERR, (HRESULT)SPEC_STATUS_DATA_ERROR, (HRESULT)SPEC_STATUS_DATA_ERROR },
    { IBV_WC_RETRY_EXC_ERR, (HRESULT)SPEC_ND_IO_TIMEOUT, (HRESULT)SPEC_ND_IO_TIMEOUT },
    { IBV_WC_RNR_RETRY_EXC_ERR, (HRESULT)SPEC_ND_IO_TIMEOUT, (HRESULT)SPEC_ND_IO_TIMEOUT },
    { IBV_WC_LOC_RDD_VIOL_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_REM_INV_RD_REQ_ERR, (HRESULT)SPEC_STATUS_DATA_ERROR, (HRESULT)SPEC_STATUS_DATA_ERROR },
    { IBV_WC_REM_ABORT_ERR, (HRESULT)SPEC_ND_REMOTE_ERROR, (HRESULT)SPEC_ND_REMOTE_ERROR },
    { IBV_WC_INV_EECN_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_INV_EEC_STATE_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_FATAL_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_RESP_TIMEOUT_ERR, (HRESULT)SPEC_ND_IO_TIMEOUT, (HRESULT)SPEC_ND_IO_TIMEOUT },
    { IBV_WC_GENERAL_ERR, (HRESULT)SPEC_ND_INTERNAL_ERROR, (HRESULT)SPEC_ND_INTERNAL_ERROR },
};

/* A failed completion says nothing but which request it is: kind and contexts are the provider's to remember. */
static void expect_result(
    const ND2_RESULT *result, HRESULT status, ND2_REQUEST_TYPE type, void *context)
{
    assert_int_equal(result->Status, status);
    assert_int_equal(result->RequestType, type);
    assert_ptr_equal(result->RequestContext, context);
    assert_ptr_equal(result->QueuePairContext, &end);
}

static void test_every_status_of_a_send(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        ND2_RESULT results[4];

        connected_end(NULL);
        assert_int_equal(
            nd2_end_send(&end, (void *)0x11, 0, 8, ND_OP_FLAG_SILENT_SUCCESS), ND_SUCCESS);
        assert_int_equal(nd2_end_send(&end, (void *)0x22, 0, 8, 0), ND_SUCCESS);
        assert_int_equal(
            nd2_end_send(&end, (void *)0x33, 0, 8, ND_OP_FLAG_SILENT_SUCCESS), ND_SUCCESS);
        assert_int_equal(nd2_end_receive(&end, (void *)0x44, 0, 8), ND_SUCCESS);
        assert_true(fake_complete(0, false, IBV_WC_SUCCESS, 0));
        assert_true(fake_complete(0, false, statuses[i].device, 0));
        assert_int_equal(nd2_end_results(&end, results, 3, SOON_MS), 3);
        expect_result(&results[0], statuses[i].initiator, Nd2RequestTypeSend, (void *)0x22);
        expect_result(&results[1], (HRESULT)SPEC_ND_CANCELED, Nd2RequestTypeSend, (void *)0x33);
        expect_result(&results[2], (HRESULT)SPEC_ND_CANCELED, Nd2RequestTypeReceive, (void *)0x44);
        assert_int_equal(nd2_end_results(&end, results, 1, 0), 0);
        released_end(NULL);
    }
}

static void test_every_status_of_a_receive(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        ND2_RESULT result;

        connected_end(NULL);
        assert_int_equal(nd2_end_receive(&end, (void *)0x55, 0, 8), ND_SUCCESS);
        assert_true(fake_complete(0, true, statuses[i].device, 0));
        assert_int_equal(nd2_end_results(&end, &result, 1, SOON_MS), 1);
        expect_result(&result, statuses[i].receive, Nd2RequestTypeReceive, (void *)0x55);
        released_end(NULL);
    }
}

/* Kinds of request, failed ones too. */
static void test_every_kind_of_request_is_remembered(void **state)
{
    ND2_SGE sge = { end.memory, 8, end.lkey };
    IND2QueuePair *qp = end.qp;
    IND2MemoryWindow *mw;
    ND2_RESULT results[5];

    (void)state;
    assert_int_equal(
        end.adapter->lpVtbl->CreateMemoryWindow(end.adapter, &IID_IND2MemoryWindow, (void **)&mw),
        ND_SUCCESS);
    assert_int_equal(qp->lpVtbl->Bind(qp, (void *)1, (IUnknown *)end.mr, (IUnknown *)mw, end.memory,
                         64, ND_OP_FLAG_ALLOW_READ),
        ND_SUCCESS);
    assert_int_equal(qp->lpVtbl->Read(qp, (void *)2, &sge, 1, 0x1000, 0x99, 0), ND_SUCCESS);
    assert_int_equal(qp->lpVtbl->Write(qp, (void *)3, &sge, 1, 0x1000, 0x99, 0), ND_SUCCESS);
    assert_int_equal(qp->lpVtbl->Invalidate(qp, (void *)4, (IUnknown *)mw, 0), ND_SUCCESS);
    assert_true(fake_complete(0, false, IBV_WC_SUCCESS, 0));
    assert_true(fake_complete(0, false, IBV_WC_SUCCESS, 0));
    assert_true(fake_complete(0, false, IBV_WC_REM_ACCESS_ERR, 0));
    assert_int_equal(nd2_end_results(&end, results, 4, SOON_MS), 4);
    expect_result(&results[0], ND_SUCCESS, Nd2RequestTypeBind, (void *)1);
    expect_result(&results[1], ND_SUCCESS, Nd2RequestTypeRead, (void *)2);
    expect_result(&results[2], (HRESULT)SPEC_ND_ACCESS_VIOLATION, Nd2RequestTypeWrite, (void *)3);
    expect_result(&results[3], (HRESULT)SPEC_ND_CANCELED, Nd2RequestTypeInvalidate, (void *)4);
    mw->lpVtbl->Release(mw);
}

/* ------------------------------------------------------------------------------------------------ overlapped */

enum { NOTIFY, NOTIFY_DISCONNECT, CONNECTION_REQUEST, CONNECT, WAITING };

/* One pending request of each kind. */
struct waiting {
    OVERLAPPED overlapped[WAITING];
    IND2Overlapped *object[WAITING];
    IND2Listener *listener;
    IND2Connector *taker, *caller;
    IND2QueuePair *qp;
};

static HRESULT waiting_start(struct waiting *waiting, unsigned which, IUnknown *object)
{
    memset(&waiting->overlapped[which], 0, sizeof waiting->overlapped[which]);
    waiting->overlapped[which].hEvent = CreateEventA(NULL, TRUE, FALSE, NULL);
    assert_non_null(waiting->overlapped[which].hEvent);
    waiting->object[which] = (IND2Overlapped *)object;
    return ND_PENDING;
}

static void waiting_open(struct waiting *waiting)
{
    unsigned connects = fake_connects();
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    IND2Adapter *adapter = end.adapter;

    assert_int_equal(adapter->lpVtbl->CreateListener(
                         adapter, &IID_IND2Listener, end.file, (void **)&waiting->listener),
        ND_SUCCESS);
    assert_int_equal(adapter->lpVtbl->CreateConnector(
                         adapter, &IID_IND2Connector, end.file, (void **)&waiting->taker),
        ND_SUCCESS);
    assert_int_equal(adapter->lpVtbl->CreateConnector(
                         adapter, &IID_IND2Connector, end.file, (void **)&waiting->caller),
        ND_SUCCESS);
    assert_int_equal(
        adapter->lpVtbl->CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)end.cq,
            (IUnknown *)end.cq, NULL, 1, 1, 1, 1, 0, (void **)&waiting->qp),
        ND_SUCCESS);
    assert_int_equal(waiting->listener->lpVtbl->Bind(
                         waiting->listener, (struct sockaddr *)&address, sizeof address),
        ND_SUCCESS);
    assert_int_equal(waiting->listener->lpVtbl->Listen(waiting->listener, 0), ND_SUCCESS);
    assert_int_equal(
        waiting->caller->lpVtbl->Bind(waiting->caller, (struct sockaddr *)&address, sizeof address),
        ND_SUCCESS);
    fake_set_answer(false);

    waiting_start(waiting, NOTIFY, (IUnknown *)end.cq);
    assert_int_equal(
        end.cq->lpVtbl->Notify(end.cq, ND_CQ_NOTIFY_ANY, &waiting->overlapped[NOTIFY]), ND_PENDING);
    waiting_start(waiting, NOTIFY_DISCONNECT, (IUnknown *)end.connector);
    assert_int_equal(end.connector->lpVtbl->NotifyDisconnect(
                         end.connector, &waiting->overlapped[NOTIFY_DISCONNECT]),
        ND_PENDING);
    waiting_start(waiting, CONNECTION_REQUEST, (IUnknown *)waiting->listener);
    assert_int_equal(waiting->listener->lpVtbl->GetConnectionRequest(waiting->listener,
                         (IUnknown *)waiting->taker, &waiting->overlapped[CONNECTION_REQUEST]),
        ND_PENDING);
    waiting_start(waiting, CONNECT, (IUnknown *)waiting->caller);
    address.sin_port = htons(9);
    assert_int_equal(waiting->caller->lpVtbl->Connect(waiting->caller, (IUnknown *)waiting->qp,
                         (struct sockaddr *)&address, sizeof address, 1, 1, NULL, 0,
                         &waiting->overlapped[CONNECT]),
        ND_PENDING);
    /* On its way until the device has the request. */
    assert_true(SETTLES(fake_connects() == connects + 1));
}

static HRESULT waiting_end(struct waiting *waiting, unsigned which)
{
    HANDLE event = waiting->overlapped[which].hEvent;
    HRESULT hr;

    assert_int_equal(WaitForSingleObject(event, SOON_MS), WAIT_OBJECT_0);
    hr = waiting->object[which]->lpVtbl->GetOverlappedResult(
        waiting->object[which], &waiting->overlapped[which], FALSE);
    CloseHandle(event);
    return hr;
}

static void waiting_close(struct waiting *waiting)
{
    waiting->listener->lpVtbl->Release(waiting->listener);
    waiting->taker->lpVtbl->Release(waiting->taker);
    waiting->caller->lpVtbl->Release(waiting->caller);
    waiting->qp->lpVtbl->Release(waiting->qp);
}

/* ------------------------------------------------------------------------------------------------ removal */

static void expect_removed(struct waiting *waiting)
{
    OVERLAPPED overlapped = { .hEvent = end.event };
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    ND2_SGE sge = { end.memory, 8, end.lkey };
    IND2Adapter *adapter = end.adapter;
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof info;
    void *object;

#define REMOVED(call)                                                                              \
    assert_int_equal(nd2_end_wait(&end, end.cq, (call), SOON_MS), (HRESULT)SPEC_ND_DEVICE_REMOVED)
    for (unsigned i = 0; i < WAITING; i++)
        assert_int_equal(waiting_end(waiting, i), (HRESULT)SPEC_ND_DEVICE_REMOVED);
    REMOVED(adapter->lpVtbl->Query(adapter, &info, &size));
    REMOVED(adapter->lpVtbl->CreateCompletionQueue(
        adapter, &IID_IND2CompletionQueue, end.file, 4, 0, 0, &object));
    REMOVED(adapter->lpVtbl->CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, end.file, &object));
    REMOVED(adapter->lpVtbl->CreateMemoryWindow(adapter, &IID_IND2MemoryWindow, &object));
    REMOVED(adapter->lpVtbl->CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)end.cq,
        (IUnknown *)end.cq, NULL, 1, 1, 1, 1, 0, &object));
    REMOVED(adapter->lpVtbl->CreateConnector(adapter, &IID_IND2Connector, end.file, &object));
    REMOVED(adapter->lpVtbl->CreateListener(adapter, &IID_IND2Listener, end.file, &object));
    REMOVED(end.qp->lpVtbl->Send(end.qp, NULL, &sge, 1, 0));
    REMOVED(end.qp->lpVtbl->Receive(end.qp, NULL, &sge, 1));
    REMOVED(end.qp->lpVtbl->Read(end.qp, NULL, &sge, 1, 0, 0, 0));
    REMOVED(end.qp->lpVtbl->Write(end.qp, NULL, &sge, 1, 0, 0, 0));
    REMOVED(end.cq->lpVtbl->Notify(end.cq, ND_CQ_NOTIFY_ANY, &overlapped));
    REMOVED(waiting->listener->lpVtbl->GetConnectionRequest(
        waiting->listener, (IUnknown *)waiting->taker, &overlapped));
    REMOVED(waiting->caller->lpVtbl->Connect(waiting->caller, (IUnknown *)waiting->qp,
        (struct sockaddr *)&address, sizeof address, 1, 1, NULL, 0, &overlapped));
    REMOVED(end.connector->lpVtbl->NotifyDisconnect(end.connector, &overlapped));
    REMOVED(end.connector->lpVtbl->Disconnect(end.connector, &overlapped));
#undef REMOVED
}

static void test_removal_told_by_the_device(void **state)
{
    struct waiting waiting;

    (void)state;
    waiting_open(&waiting);
    fake_remove();
    fake_raise_device_fatal();
    expect_removed(&waiting);
    waiting_close(&waiting);
}

static void test_removal_told_by_the_connection_manager(void **state)
{
    struct waiting waiting;

    (void)state;
    waiting_open(&waiting);
    fake_remove();
    fake_raise_removal();
    expect_removed(&waiting);
    waiting_close(&waiting);
}

/* Requests that the vanished device holds stay with it: only the queue's failure is reported; releases do not wait. */
static void test_removal_with_requests_under_way(void **state)
{
    OVERLAPPED overlapped = { .hEvent = end.event };
    ND2_RESULT results[3];

    (void)state;
    assert_int_equal(nd2_end_receive(&end, (void *)1, 0, 8), ND_SUCCESS);
    assert_int_equal(nd2_end_send(&end, (void *)2, 0, 8, ND_OP_FLAG_SILENT_SUCCESS), ND_SUCCESS);
    assert_int_equal(nd2_end_send(&end, (void *)3, 0, 8, 0), ND_SUCCESS);
    assert_int_equal(end.cq->lpVtbl->Notify(end.cq, ND_CQ_NOTIFY_ANY, &overlapped), ND_PENDING);
    fake_remove();
    fake_raise_device_fatal();
    assert_int_equal(WaitForSingleObject(end.event, SOON_MS), WAIT_OBJECT_0);
    assert_int_equal(end.cq->lpVtbl->GetOverlappedResult(end.cq, &overlapped, FALSE),
        (HRESULT)SPEC_ND_DEVICE_REMOVED);
    assert_int_equal(end.cq->lpVtbl->GetResults(end.cq, results, 3), 0);
}

/* ------------------------------------------------------------------------------------------------ completion queue */

/* Its current and later Notifies end with the failure, also those for errors alone; no more results come. */
static void test_a_completion_queue_fails(void **state)
{
    static const ULONG types[] = { ND_CQ_NOTIFY_ERRORS, ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_SOLICITED };
    OVERLAPPED overlapped[3];
    ND2_RESULT result;

    (void)state;
    memset(overlapped, 0, sizeof overlapped);
    for (int i = 0; i < 3; i++) {
        overlapped[i].hEvent = CreateEventA(NULL, TRUE, FALSE, NULL);
        assert_int_equal(end.cq->lpVtbl->Notify(end.cq, types[i], &overlapped[i]), ND_PENDING);
    }
    fake_raise_cq_error();
    for (int i = 0; i < 3; i++) {
        HRESULT hr;

        assert_int_equal(WaitForSingleObject(overlapped[i].hEvent, SOON_MS), WAIT_OBJECT_0);
        hr = end.cq->lpVtbl->GetOverlappedResult(end.cq, &overlapped[i], FALSE);
        assert_int_equal(hr, (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    }
    for (int i = 0; i < 3; i++) {
        HRESULT hr = end.cq->lpVtbl->Notify(end.cq, types[i], &overlapped[i]);

        if (hr == ND_PENDING) {
            assert_int_equal(WaitForSingleObject(overlapped[i].hEvent, SOON_MS), WAIT_OBJECT_0);
            hr = end.cq->lpVtbl->GetOverlappedResult(end.cq, &overlapped[i], FALSE);
        }
        assert_int_equal(hr, (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
        CloseHandle(overlapped[i].hEvent);
    }
    assert_int_equal(end.cq->lpVtbl->GetResults(end.cq, &result, 1), 0);
}

static int group_open(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", FAKE_DEVICE_NAME, 1);
    return NdStartup() == ND_SUCCESS ? 0 : -1;
}

static int group_close(void **state)
{
    (void)state;
    return NdCleanup() == ND_SUCCESS ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------ ports */

/* Connect on a connector that is bound: its completion. */
static HRESULT connect_again(void)
{
    struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(7) };

    peer.sin_addr.s_addr = htonl(0x7F000001);
    return nd2_end_wait(&end, end.connector,
        end.connector->lpVtbl->Connect(end.connector, (IUnknown *)end.qp, (struct sockaddr *)&peer,
            sizeof peer, 1, 1, NULL, 0, &end.overlapped),
        SOON_MS);
}

/* All ports towards one peer are used up for the moment, or the wanted one is: the next Connect takes another. */
static void test_no_port_to_the_peer(void **state)
{
    struct sockaddr_in local = { 0 };
    ULONG octets = sizeof local;

    (void)state;
    fake_reset();
    assert_int_equal(nd2_end_open(&end, &options), ND_SUCCESS);
    fake_break(FAKE_CONNECT, EADDRNOTAVAIL);
    assert_int_equal(nd2_end_connect(&end, htons(7)), (HRESULT)SPEC_ND_TOO_MANY_ADDRESSES);
    assert_int_equal(
        end.connector->lpVtbl->GetLocalAddress(end.connector, (struct sockaddr *)&local, &octets),
        ND_SUCCESS);
    assert_int_equal(connect_again(), (HRESULT)SPEC_ND_TOO_MANY_ADDRESSES);
    assert_int_equal(fake_bound_port_be(), 0);
    fake_break(FAKE_CONNECT, 0);
    assert_int_equal(connect_again(), ND_SUCCESS);
    assert_int_equal(nd2_end_connect_complete(&end), ND_SUCCESS);
    nd2_end_close(&end);
    fake_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_of_a_send),
        cmocka_unit_test(test_every_status_of_a_receive),
        cmocka_unit_test_setup_teardown(
            test_every_kind_of_request_is_remembered, connected_end, released_end),
        cmocka_unit_test_setup_teardown(
            test_removal_told_by_the_device, connected_end, released_end),
        cmocka_unit_test_setup_teardown(
            test_removal_told_by_the_connection_manager, connected_end, released_end),
        cmocka_unit_test_setup_teardown(
            test_removal_with_requests_under_way, connected_end, released_end),
        cmocka_unit_test_setup_teardown(test_a_completion_queue_fails, connected_end, released_end),
        cmocka_unit_test(test_no_port_to_the_peer),
    };

    return cmocka_run_group_tests_name("device faults", tests, group_open, group_close);
}
