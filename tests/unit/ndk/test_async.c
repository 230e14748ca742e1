/* SPDX-License-Identifier: MIT */
/*
 * test_async.c - each call that may end by a callback, in each mode: how it ends, and that its object may be closed in
 * that callback; closes in any order. On the embedded device.
 */
#include "tests/unit/ndk/pair.h"

#include <string.h>

enum { FAST_PAGES = 4 };

/* Every table of an object that is closed so begins with the function that does it. */
static NDK_FN_CLOSE_OBJECT close_of(NDK_OBJECT_HEADER *header)
{
    return ((NDK_PD *)header)->Dispatch->NdkClosePd;
}

/* What a callback was told that closes the object, and what became of that. */
struct closer {
    NDK_OBJECT_HEADER *object;
    atomic_uint count;
    NTSTATUS status;
    KIRQL level;
    NTSTATUS closing; /* what the close function returned */
    unsigned early;   /* callbacks of the close, when it did */
    struct told closed;
};

static void closer_init(struct closer *closer, NDK_OBJECT_HEADER *object)
{
    memset(closer, 0, sizeof(*closer));
    closer->object = object;
    told_init(&closer->closed);
}

static VOID close_when_ended(PVOID context, NTSTATUS status)
{
    struct closer *closer = context;

    atomic_fetch_add(&closer->count, 1);
    closer->status = status;
    closer->level = KeGetCurrentIrql();
    closer->closing = close_of(closer->object)(closer->object, tell_close, &closer->closed);
    closer->early = atomic_load(&closer->closed.count);
}

static VOID close_when_disconnected(PVOID context)
{
    close_when_ended(context, STATUS_SUCCESS);
}

static VOID close_when_made(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    ((struct closer *)context)->object = object;
    close_when_ended(context, status);
}

/* The callback came once, and so did the close's, after it. */
static void assert_closed(struct closer *closer, NTSTATUS status)
{
    told_wait(&closer->closed);
    assert_int_equal(atomic_load(&closer->count), 1);
    assert_int_equal(closer->status, status);
    assert_int_equal(closer->level, 2);
    assert_int_equal(closer->closing, SPEC_STATUS_PENDING);
    assert_int_equal(closer->early, 0);
    assert_int_equal(closer->closed.level, 2);
    assert_int_equal(atomic_load(&closer->closed.count), 1);
}

static bool forced(void)
{
    return mode_now() != BY_DEFAULT;
}

/* ---- creations ---- */

static NTSTATUS make_cq(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->adapter->Dispatch->NdkCreateCq(
        side->adapter, 4, tell_request, NULL, NULL, completion, context, out);
}

static NTSTATUS make_pd(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->adapter->Dispatch->NdkCreatePd(side->adapter, completion, context, out);
}

static NTSTATUS make_endpoint(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    struct sockaddr_in address = own_address(0);

    return side->adapter->Dispatch->NdkCreateSharedEndpoint(
        side->adapter, (SOCKADDR *)&address, sizeof(address), completion, context, out);
}

static NTSTATUS make_connector(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->adapter->Dispatch->NdkCreateConnector(side->adapter, completion, context, out);
}

static NTSTATUS make_listener(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->adapter->Dispatch->NdkCreateListener(
        side->adapter, tell_incoming, NULL, completion, context, out);
}

static NTSTATUS make_mr(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateMr(side->pd, FALSE, completion, context, out);
}

static NTSTATUS make_fast_mr(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateMr(side->pd, TRUE, completion, context, out);
}

static NTSTATUS make_mw(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateMw(side->pd, completion, context, out);
}

static NTSTATUS make_srq(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateSrq(
        side->pd, 4, 1, 0, NULL, NULL, NULL, completion, context, out);
}

static NTSTATUS make_qp(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateQp(side->pd, side->receive_cq, side->initiator_cq, NULL, 4,
        4, 1, 1, 0, completion, context, out);
}

static NDK_SRQ *srq; /* of the domain */

static NTSTATUS make_qp_with_srq(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out)
{
    return side->pd->Dispatch->NdkCreateQpWithSrq(side->pd, side->receive_cq, side->initiator_cq,
        srq, NULL, 4, 1, 0, completion, context, out);
}

typedef NTSTATUS (*make_function)(
    struct side *side, NDK_FN_CREATE_COMPLETION completion, PVOID context, void *out);

static const struct {
    make_function make;
    int type;
} creations[] = {
    { make_cq, 3 },
    { make_pd, 6 },
    { make_endpoint, 7 },
    { make_connector, 8 },
    { make_listener, 9 },
    { make_mr, 4 },
    { make_fast_mr, 4 },
    { make_mw, 5 },
    { make_srq, 10 },
    { make_qp, 2 },
    { make_qp_with_srq, 2 },
};

static void *make(struct side *side, make_function function)
{
    struct told told;
    void *object = NULL;

    told_init(&told);
    object = made(&told, function(side, tell_create, &told, &object), &object);
    assert_non_null(object);
    return object;
}

static void objects_are_closed_where_they_are_told(void **state)
{
    struct side *side = &((struct pair *)*state)->active;
    NDK_VERSION version = newest_version();

    srq = make(side, make_srq);
    for (size_t i = 0; i < sizeof(creations) / sizeof(creations[0]); i++) {
        NDK_OBJECT_HEADER *header = NULL;
        struct closer closer;
        void *object = NULL;

        closer_init(&closer, NULL);
        if (forced()) {
            assert_int_equal(
                creations[i].make(side, close_when_made, &closer, &object), SPEC_STATUS_PENDING);
            assert_closed(&closer, 0);
            assert_null(object);
        } else {
            assert_int_equal(creations[i].make(side, close_when_made, &closer, &object), 0);
            assert_int_equal(atomic_load(&closer.count), 0);
            close_object(object, close_of(object));
        }
        header = make(side, creations[i].make);
        assert_int_equal(header->ObjectType, creations[i].type);
        assert_int_equal(header->Version.Major, version.Major);
        assert_int_equal(header->Version.Minor, version.Minor);
        for (int r = 0; r < 4; r++)
            assert_null(header->NdkReserved.rf[r]);
        close_object(header, close_of(header));
    }
    close_srq(srq);
}

/* ---- requests that end in the call by default ---- */

static MDL mdl;

static NTSTATUS resize_cq(void *cq, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    return ((NDK_CQ *)cq)->Dispatch->NdkResizeCq(cq, 8, completion, context);
}

static NTSTATUS register_mr(void *mr, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    return ((NDK_MR *)mr)
        ->Dispatch->NdkRegisterMr(
            mr, &mdl, 4096, NDK_MR_FLAG_ALLOW_REMOTE_READ, completion, context);
}

static NTSTATUS deregister_mr(void *mr, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct told told;

    told_init(&told);
    assert_int_equal(ended(&told, register_mr(mr, tell_request, &told)), 0);
    return ((NDK_MR *)mr)->Dispatch->NdkDeregisterMr(mr, completion, context);
}

static NTSTATUS initialize_mr(void *mr, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    return ((NDK_MR *)mr)
        ->Dispatch->NdkInitializeFastRegisterMr(mr, FAST_PAGES, TRUE, completion, context);
}

static NTSTATUS modify_srq(void *queue, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    return ((NDK_SRQ *)queue)->Dispatch->NdkModifySrq(queue, 8, 0, completion, context);
}

static NTSTATUS start_listen(void *listener, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct sockaddr_in address = own_address(0);

    return ((NDK_LISTENER *)listener)
        ->Dispatch->NdkListen(listener, (SOCKADDR *)&address, sizeof(address), completion, context);
}

static void objects_are_closed_where_their_requests_end(void **state)
{
    static const struct {
        make_function make;
        NTSTATUS (*request)(void *object, NDK_FN_REQUEST_COMPLETION completion, PVOID context);
    } rows[] = {
        { make_cq, resize_cq },
        { make_mr, register_mr },
        { make_mr, deregister_mr },
        { make_fast_mr, initialize_mr },
        { make_srq, modify_srq },
        { make_listener, start_listen },
    };
    struct side *side = &((struct pair *)*state)->active;

    MmInitializeMdl(&mdl, side->memory, 4096);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *object = make(side, rows[i].make);
        struct closer closer;

        closer_init(&closer, object);
        if (forced()) {
            assert_int_equal(
                rows[i].request(object, close_when_ended, &closer), SPEC_STATUS_PENDING);
            assert_closed(&closer, 0);
        } else {
            assert_int_equal(rows[i].request(object, close_when_ended, &closer), 0);
            assert_int_equal(atomic_load(&closer.count), 0);
            close_object(object, close_of(object));
        }
        /* Without a callback it ends in the call in every mode. */
        object = make(side, rows[i].make);
        assert_int_equal(rows[i].request(object, NULL, NULL), 0);
        close_object(object, close_of(object));
    }
}

/* ---- requests that always end by their callback ---- */

/* The peer accepts, but the connector that asked is gone. */
static void assert_peer_is_left_alone(struct pair *pair)
{
    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->passive), (NTSTATUS)SPEC_STATUS_CONNECTION_ABORTED);
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 0);
}

static void connector_is_closed_where_its_connect_ends(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    struct sockaddr_in from = own_address(0);
    struct closer closer;

    closer_init(&closer, &side->connector->Header);
    assert_int_equal(side->connector->Dispatch->NdkConnect(side->connector, side->qp,
                         (SOCKADDR *)&from, sizeof(from), (SOCKADDR *)&pair->address,
                         sizeof(pair->address), 1, 1, NULL, 0, close_when_ended, &closer),
        SPEC_STATUS_PENDING);
    side->connector = NULL;
    assert_peer_is_left_alone(pair);
    assert_closed(&closer, 0);
}

static void connector_is_closed_where_its_shared_connect_ends(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_SHARED_ENDPOINT *endpoint = make(side, make_endpoint);
    struct closer closer;

    closer_init(&closer, &side->connector->Header);
    assert_int_equal(side->connector->Dispatch->NdkConnectWithSharedEndpoint(side->connector,
                         side->qp, endpoint, (SOCKADDR *)&pair->address, sizeof(pair->address), 1,
                         1, NULL, 0, close_when_ended, &closer),
        SPEC_STATUS_PENDING);
    side->connector = NULL;
    assert_peer_is_left_alone(pair);
    assert_closed(&closer, 0);
    close_object(&endpoint->Header, endpoint->Dispatch->NdkCloseSharedEndpoint);
}

static void connector_is_closed_where_it_is_connected(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    struct closer closer;

    assert_int_equal(start_connect(side, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(side), 0);
    closer_init(&closer, &side->connector->Header);
    assert_int_equal(side->connector->Dispatch->NdkCompleteConnect(side->connector, tell_disconnect,
                         &side->disconnect, close_when_ended, &closer),
        SPEC_STATUS_PENDING);
    side->connector = NULL;
    assert_closed(&closer, 0);
    assert_int_equal(outcome(&pair->passive), 0);
    told_wait(&pair->passive.disconnect);
    assert_int_equal(atomic_load(&side->disconnect.count), 0);
}

static void connector_is_closed_where_its_accept_ends(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->passive;
    struct closer closer;

    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    closer_init(&closer, &side->connector->Header);
    assert_int_equal(side->connector->Dispatch->NdkAccept(side->connector, side->qp, 1, 1, NULL, 0,
                         tell_disconnect, &side->disconnect, close_when_ended, &closer),
        SPEC_STATUS_PENDING);
    side->connector = NULL;
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(start_complete(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_closed(&closer, 0);
    told_wait(&pair->active.disconnect);
    assert_int_equal(atomic_load(&side->disconnect.count), 0);
}

static void connector_is_closed_where_its_disconnect_ends(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    struct closer closer;

    pair_connect(pair);
    closer_init(&closer, &side->connector->Header);
    assert_int_equal(
        side->connector->Dispatch->NdkDisconnect(side->connector, close_when_ended, &closer),
        SPEC_STATUS_PENDING);
    side->connector = NULL;
    assert_closed(&closer, 0);
    told_wait(&pair->passive.disconnect);
    assert_int_equal(atomic_load(&side->disconnect.count), 0);
}

/* The event's callback runs on the same thread as the others: the close ends after it. */
static void connector_is_closed_where_its_disconnect_is_told(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->passive;
    struct closer closer;

    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    closer_init(&closer, &side->connector->Header);
    assert_int_equal(side->connector->Dispatch->NdkAccept(side->connector, side->qp, 1, 1, NULL, 0,
                         close_when_disconnected, &closer, tell_request, &side->request),
        SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(start_complete(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(outcome(side), 0);
    assert_int_equal(start_disconnect(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_closed(&closer, 0);
    side->connector = NULL;
}

/* ---- closes ---- */

/* A region that a window is bound to: its close ends after the window's. */
static void region_ends_after_its_window(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_MR *mr = mr_register(side->pd, side->memory, 4096, NDK_MR_FLAG_ALLOW_REMOTE_READ);
    NDK_MW *mw = mw_create(side->pd);
    struct told told;
    NDK_RESULT result;

    pair_connect(pair);
    assert_int_equal(side->qp->Dispatch->NdkBind(
                         side->qp, NULL, mr, mw, side->memory, 16, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        0);
    while (!side->initiator_cq->Dispatch->NdkGetCqResults(side->initiator_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, 0);
    assert_int_equal(
        mr->Dispatch->NdkDeregisterMr(mr, NULL, NULL), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    told_init(&told);
    assert_int_equal(mr->Dispatch->NdkCloseMr(&mr->Header, tell_close, &told), SPEC_STATUS_PENDING);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(atomic_load(&told.count), 0);
    close_mw(mw);
    told_wait(&told);
    assert_int_equal(atomic_load(&told.count), 1);
}

/* Places in which closes ended, from 1 on. */
static struct {
    atomic_uint ended;
    struct told told[8];
    unsigned place[8];
} closes;

static VOID note_place(PVOID context)
{
    size_t i = (size_t)(ULONG_PTR)context;

    closes.place[i] = atomic_fetch_add(&closes.ended, 1) + 1;
    tell_close(&closes.told[i]);
}

enum { PD, RECEIVE_CQ, INITIATOR_CQ, MR, LISTENER, QP, CONNECTOR, OBJECTS };

/* Returns whether it ends by the callback. */
static bool begin_close(int which, NDK_OBJECT_HEADER *header)
{
    NTSTATUS status;

    told_init(&closes.told[which]);
    closes.place[which] = 0;
    status = close_of(header)(header, note_place, (PVOID)(ULONG_PTR)which);
    assert_true(status == SPEC_STATUS_PENDING || status == 0);
    if (status == 0)
        closes.place[which] = atomic_fetch_add(&closes.ended, 1) + 1;
    return status == SPEC_STATUS_PENDING;
}

/*
 * All of one side, what others were made from or use first, while it is connected and has requests. The last close
 * sets the others free.
 */
static void everything_is_closed_antecedents_first(void **state)
{
    static const struct {
        int before, after;
    } order[] = {
        { CONNECTOR, QP },
        { CONNECTOR, LISTENER },
        { QP, PD },
        { MR, PD },
        { QP, RECEIVE_CQ },
        { QP, INITIATOR_CQ },
    };
    struct pair *pair = *state;
    struct side *side = &pair->passive;
    NDK_SGE entry = sge(side->memory, 16, side->token);
    NDK_LISTENER *listener = pair->listener;
    bool pends[OBJECTS];

    pair_connect(pair);
    for (int i = 0; i < 16; i++)
        assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1), 0);
    side->receive_cq->Dispatch->NdkArmCq(side->receive_cq, NDK_CQ_NOTIFY_ERRORS);
    atomic_store(&closes.ended, 0);
    side->closed = true;
    pair->listener = NULL;
    pends[PD] = begin_close(PD, &side->pd->Header);
    pends[RECEIVE_CQ] = begin_close(RECEIVE_CQ, &side->receive_cq->Header);
    pends[INITIATOR_CQ] = begin_close(INITIATOR_CQ, &side->initiator_cq->Header);
    pends[LISTENER] = begin_close(LISTENER, &listener->Header);
    pends[QP] = begin_close(QP, &side->qp->Header);
    assert_true(pends[PD] && pends[RECEIVE_CQ] && pends[INITIATOR_CQ] && pends[LISTENER]);
    assert_true(pends[QP]);
    told_wait(&pair->active.disconnect); /* the queue pair's close has ended the connection */
    assert_int_equal(atomic_load(&closes.ended), 0);
    pends[MR] = begin_close(MR, &side->mr->Header);
    pends[CONNECTOR] = begin_close(CONNECTOR, &side->connector->Header);
    for (int i = 0; i < OBJECTS; i++)
        if (pends[i])
            told_wait(&closes.told[i]);
    assert_int_equal(atomic_load(&closes.ended), OBJECTS);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (pends[order[i]
                      .before]) /* else it has ended in the call, which the others may have overtaken */
            assert_true(closes.place[order[i].after] > closes.place[order[i].before]);
    assert_int_equal(atomic_load(&side->disconnect.count), 0);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(objects_are_closed_where_they_are_told),
        ROW(objects_are_closed_where_their_requests_end),
        ROW(connector_is_closed_where_its_connect_ends),
        ROW(connector_is_closed_where_its_shared_connect_ends),
        ROW(connector_is_closed_where_it_is_connected),
        ROW(connector_is_closed_where_its_accept_ends),
        ROW(connector_is_closed_where_its_disconnect_ends),
        ROW(connector_is_closed_where_its_disconnect_is_told),
        ROW(region_ends_after_its_window),
        ROW(everything_is_closed_antecedents_first),
    };

    return run_in_modes(NULL, tests);
}
