/* SPDX-License-Identifier: MIT */
/* test_queue.c - completion queues, shared receive queues and queue pairs that are not connected. */
#include "tests/unit/ndk/harness.h"

#include <stdlib.h>
#include <string.h>

struct end {
    NDK_ADAPTER *adapter;
    NDK_PD *pd;
    NDK_CQ *cq;
    struct told notified;
    NDK_QP *qp;
    NDK_MR *mr;
    char memory[4096];
};

static int set_up(void **state)
{
    struct end *end = calloc(1, sizeof(*end));

    assert_non_null(end);
    end->adapter = adapter_open_newest();
    end->pd = pd_create(end->adapter);
    end->cq = cq_create(end->adapter, 64, &end->notified);
    end->qp = qp_create(end->pd, end->cq, end->cq, end);
    end->mr = mr_register(end->pd, end->memory, sizeof(end->memory), NDK_MR_FLAG_ALLOW_LOCAL_WRITE);
    *state = end;
    return 0;
}

static int tear_down(void **state)
{
    struct end *end = *state;

    if (end->qp)
        close_qp(end->qp);
    close_mr(end->mr);
    if (end->cq)
        close_cq(end->cq);
    close_pd(end->pd);
    NdklCloseAdapter(end->adapter);
    free(end);
    return 0;
}

static NTSTATUS make_cq(NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
    GROUP_AFFINITY *affinity)
{
    struct told told;
    NDK_CQ *cq = NULL;
    NTSTATUS status;

    told_init(&told);
    status = adapter->Dispatch->NdkCreateCq(
        adapter, depth, notify, &told, affinity, tell_create, &told, &cq);
    cq = made(&told, status, &cq);
    if (!cq)
        return status;
    close_cq(cq);
    return 0;
}

static void completion_queues_have_limits(void **state)
{
    struct end *end = *state;
    GROUP_AFFINITY affinity = { .Mask = 1 }, nowhere = { .Mask = 1, .Group = 900 };
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);

    assert_int_equal(end->adapter->Dispatch->NdkQueryAdapterInfo(end->adapter, &info, &size), 0);
    assert_int_equal(
        make_cq(end->adapter, 0, tell_request, NULL), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(make_cq(end->adapter, info.MaxCqDepth + 1, tell_request, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(make_cq(end->adapter, 1, tell_request, NULL), 0);
    assert_int_equal(make_cq(end->adapter, info.MaxCqDepth, tell_request, NULL), 0);
    assert_int_equal(make_cq(end->adapter, 1, tell_request, &affinity), 0);
    assert_int_equal(make_cq(end->adapter, 1, tell_request, &affinity), 0);
    assert_int_equal(make_cq(end->adapter, 1, tell_request, &nowhere), 0);
}

/*
 * Source: by the page of NdkCreateCq a callback is called only as NdkArmCq asks; that a consumer which never arms may
 * give none is our reading. Arming such a queue has no effect.
 */
static void completion_queue_without_a_callback_is_polled(void **state)
{
    struct end *end = *state;
    NDK_CQ *cq = NULL;
    NDK_RESULT result;
    struct told told;
    NDK_QP *qp;

    told_init(&told);
    cq = made(&told,
        end->adapter->Dispatch->NdkCreateCq(
            end->adapter, 16, NULL, NULL, NULL, tell_create, &told, &cq),
        &cq);
    assert_non_null(cq);
    qp = qp_create(end->pd, cq, cq, NULL);
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
    assert_int_equal(qp->Dispatch->NdkReceive(qp, NULL, NULL, 0), 0);
    qp->Dispatch->NdkFlush(qp);
    while (!cq->Dispatch->NdkGetCqResults(cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
    close_qp(qp);
    close_cq(cq);
}

static void moderation_has_an_end(void **state)
{
    static const struct {
        ULONG interval, count;
        NTSTATUS status;
    } rows[] = {
        { 10, 10, 0 },
        { 0xFFFFFFFE, 0xFFFFFFFF, 0 },
        { 0xFFFFFFFF, 16, 0 }, /* as many as the queue is deep */
        { 0xFFFFFFFF, 17, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER_MIX },
        { 0xFFFFFFFF, 0xFFFFFFFF, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER_MIX },
        { 0, 0xFFFFFFFF, 0 }, /* these are none */
        { 0xFFFFFFFF, 1, 0 },
        { 0, 0, 0 },
    };
    struct end *end = *state;
    struct told told;
    NDK_CQ *cq = cq_create(end->adapter, 16, &told);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(
            cq->Dispatch->NdkControlCqInterruptModeration(cq, rows[i].interval, rows[i].count),
            row_holds_in_full() ? rows[i].status : (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    close_cq(cq);
}

static NTSTATUS resize(NDK_CQ *cq, ULONG depth)
{
    struct told told;

    told_init(&told);
    return ended(&told, cq->Dispatch->NdkResizeCq(cq, depth, tell_request, &told));
}

static NTSTATUS post_receive(struct end *end, void *context)
{
    NDK_SGE entry = sge(end->memory, 16, end->mr->Dispatch->NdkGetLocalTokenFromMr(end->mr));

    return end->qp->Dispatch->NdkReceive(end->qp, context, &entry, 1);
}

static void depth_changes(void **state)
{
    struct end *end = *state;

    assert_int_equal(resize(end->cq, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(resize(end->cq, 0x7fffffff), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(resize(end->cq, 100), 0);
    assert_int_equal(resize(end->cq, 32), 0);
}

static void queue_pairs_have_limits(void **state)
{
    struct end *end = *state;
    NDK_PD *pd = end->pd;
    const ULONG most = 0x7fffffff;
    struct {
        NDK_CQ *receive, *initiator;
        ULONG numbers[5];
    } rows[] = {
        { NULL, end->cq, { 1, 1, 1, 1, 0 } },
        { end->cq, NULL, { 1, 1, 1, 1, 0 } },
        { (NDK_CQ *)end->pd, end->cq, { 1, 1, 1, 1, 0 } },
        { end->cq, end->cq, { most, 1, 1, 1, 0 } },
        { end->cq, end->cq, { 1, most, 1, 1, 0 } },
        { end->cq, end->cq, { 1, 0, 1, 1, 0 } },
        { end->cq, end->cq, { 1, 1, most, 1, 0 } },
        { end->cq, end->cq, { 1, 1, 1, most, 0 } },
        { end->cq, end->cq, { 1, 1, 1, 1, most } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const ULONG *n = rows[i].numbers;
        NDK_QP *qp = NULL;

        assert_int_equal(pd->Dispatch->NdkCreateQp(pd, rows[i].receive, rows[i].initiator, NULL,
                             n[0], n[1], n[2], n[3], n[4], tell_create, NULL, &qp),
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
        assert_null(qp);
    }
    assert_int_equal(pd->Dispatch->NdkCreateQp(
                         pd, end->cq, end->cq, NULL, 1, 1, 1, 1, 0, tell_create, NULL, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
}

static void initiator_needs_a_connection(void **state)
{
    struct end *end = *state;
    UINT32 token = end->mr->Dispatch->NdkGetLocalTokenFromMr(end->mr);
    NDK_SGE entry = sge(end->memory, 16, token);
    const NDK_QP_DISPATCH *qp = end->qp->Dispatch;
    NTSTATUS invalid = (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID;
    NDK_MR *region = mr_register(end->pd, end->memory, 100, NDK_MR_FLAG_ALLOW_REMOTE_WRITE);
    NDK_MW *mw = mw_create(end->pd);
    NDK_RESULT result;

    assert_int_equal(qp->NdkSend(end->qp, NULL, &entry, 1, 0), invalid);
    assert_int_equal(qp->NdkSend(end->qp, NULL, &entry, 1, NDK_OP_FLAG_INLINE), invalid);
    assert_int_equal(qp->NdkSend(end->qp, NULL, NULL, 0, NDK_OP_FLAG_DEFER), invalid);
    assert_int_equal(qp->NdkSendAndInvalidate(end->qp, NULL, &entry, 1, 0, 0x12345678), invalid);
    assert_int_equal(qp->NdkRead(end->qp, NULL, &entry, 1, 0, 0, 0), invalid);
    assert_int_equal(qp->NdkWrite(end->qp, NULL, &entry, 1, 0, 0, 0), invalid);
    assert_int_equal(
        qp->NdkBind(end->qp, NULL, region, mw, end->memory, 10, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        invalid);
    assert_int_equal(end->cq->Dispatch->NdkGetCqResults(end->cq, &result, 1), 0);
    close_mw(mw);
    close_mr(region);
}

static void bad_lists_are_refused(void **state)
{
    struct end *end = *state;
    const NDK_QP_DISPATCH *qp = end->qp->Dispatch;
    UINT32 token = end->mr->Dispatch->NdkGetLocalTokenFromMr(end->mr);
    NDK_SGE list[70];
    NDK_RESULT result;

    for (int i = 0; i < 70; i++)
        list[i] = sge(end->memory, 1, token);
    assert_int_equal(
        qp->NdkReceive(end->qp, NULL, NULL, 1), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(qp->NdkReceive(end->qp, NULL, list, 5), (NTSTATUS)SPEC_STATUS_DATA_OVERRUN);
    assert_int_equal(qp->NdkReceive(end->qp, NULL, list, 70), (NTSTATUS)SPEC_STATUS_DATA_OVERRUN);
    list[1].MemoryRegionToken = token + 1; /* another generation */
    assert_int_equal(
        qp->NdkReceive(end->qp, NULL, list, 2), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    list[1].MemoryRegionToken = 0xFFFFFFFF;
    assert_int_equal(
        qp->NdkReceive(end->qp, NULL, list, 2), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    list[1].MemoryRegionToken = 0;
    assert_int_equal(
        qp->NdkReceive(end->qp, NULL, list, 2), (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(qp->NdkReceive(end->qp, NULL, list, 1), 0);
    for (int i = 1; i < 16; i++)
        assert_int_equal(post_receive(end, NULL), 0);
    assert_int_equal(post_receive(end, NULL),
        (NTSTATUS)SPEC_STATUS_INSUFFICIENT_RESOURCES); /* the queue is full */
    assert_int_equal(end->cq->Dispatch->NdkGetCqResults(end->cq, &result, 1), 0);
}

static void flush_ends_receives(void **state)
{
    struct end *end = *state;
    NDK_RESULT_EX results[8];
    NDK_RESULT plain[8];
    int contexts[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(post_receive(end, &contexts[i]), 0);
    end->cq->Dispatch->NdkArmCq(end->cq, NDK_CQ_NOTIFY_SOLICITED); /* failures count */
    end->qp->Dispatch->NdkFlush(end->qp);
    told_wait(&end->notified);
    assert_int_equal(end->notified.status, 0);
    assert_int_equal(end->notified.level, 2);
    assert_false(pthread_equal(end->notified.thread, pthread_self()));
    memset(results, 0xEE, sizeof(results));
    memset(plain, 0xEE, sizeof(plain));
    assert_int_equal(end->cq->Dispatch->NdkGetCqResultsEx(end->cq, results, 3), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(results[i].Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
        assert_int_equal(results[i].BytesTransferred, 0);
        assert_ptr_equal(results[i].QPContext, end);
        assert_ptr_equal(results[i].RequestContext, &contexts[i]);
        assert_int_equal(results[i].Type, 1);
        assert_int_not_equal(results[i].ProviderErrorCode, 0);
        assert_int_equal(results[i].TypeSpecificCompletionOutput, 0);
    }
    assert_int_equal(((unsigned char *)&results[3])[0], 0xEE);
    assert_int_equal(end->cq->Dispatch->NdkGetCqResults(end->cq, plain, 8), 1);
    assert_int_equal(plain[0].Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
    assert_int_equal(plain[0].BytesTransferred, 0);
    assert_ptr_equal(plain[0].QPContext, end);
    assert_ptr_equal(plain[0].RequestContext, &contexts[3]);
    assert_int_equal(((unsigned char *)&plain[1])[0], 0xEE);
    assert_int_equal(end->cq->Dispatch->NdkGetCqResults(end->cq, plain, 8), 0);
    /* It is of no further use. */
    assert_int_equal(post_receive(end, NULL), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(end->qp->Dispatch->NdkSend(end->qp, NULL, NULL, 0, 0),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(atomic_load(&end->notified.count), 1);
}

/* Nobody takes the results: the close needs nobody who does. */
static void close_ends_receives(void **state)
{
    struct end *end = *state;

    for (int i = 0; i < 16; i++)
        assert_int_equal(post_receive(end, NULL), 0);
    close_qp(end->qp);
    end->qp = NULL;
}

/* ---- order of closes ---- */

static struct {
    struct told qp, cq;
    unsigned
        seen; /* callbacks of the queue pair's close, when that of the completion queue's came */
} order;

static VOID note_cq(PVOID context)
{
    order.seen = atomic_load(&order.qp.count);
    tell_close(context);
}

static void completion_queue_ends_after_its_queue_pair(void **state)
{
    struct end *end = *state;
    NTSTATUS status;

    told_init(&order.cq);
    told_init(&order.qp);
    assert_int_equal(
        end->cq->Dispatch->NdkCloseCq(&end->cq->Header, note_cq, &order.cq), SPEC_STATUS_PENDING);
    end->cq = NULL;
    assert_int_equal(KeReadStateEvent(&order.cq.event), 0);
    status = end->qp->Dispatch->NdkCloseQp(&end->qp->Header, tell_close, &order.qp);
    end->qp = NULL;
    told_wait(&order.cq);
    assert_int_equal(order.seen, status == SPEC_STATUS_PENDING ? 1 : 0);
}

static struct {
    KEVENT entered, go;
    NDK_CQ *cq;
    atomic_uint calls;
} late;

static VOID arm_late(PVOID context, NTSTATUS status)
{
    (void)context;
    (void)status;
    atomic_fetch_add(&late.calls, 1);
    KeSetEvent(&late.entered, 0, FALSE);
    while (!KeReadStateEvent(&late.go))
        sched_yield();
    late.cq->Dispatch->NdkArmCq(late.cq, NDK_CQ_NOTIFY_ANY);
}

/* The queue is closed while its callback runs, which arms it once more: nothing comes of that. */
static void close_waits_for_the_callback(void **state)
{
    struct end *end = breaks_rules(state);
    struct told told;
    NDK_QP *qp;

    KeInitializeEvent(&late.entered, NotificationEvent, FALSE);
    KeInitializeEvent(&late.go, NotificationEvent, FALSE);
    atomic_store(&late.calls, 0);
    told_init(&told);
    late.cq = made(&told,
        end->adapter->Dispatch->NdkCreateCq(
            end->adapter, 16, arm_late, NULL, NULL, tell_create, &told, &late.cq),
        &late.cq);
    qp = qp_create(end->pd, late.cq, end->cq, NULL);
    assert_int_equal(qp->Dispatch->NdkReceive(qp, NULL, NULL, 0), 0);
    late.cq->Dispatch->NdkArmCq(late.cq, NDK_CQ_NOTIFY_ANY);
    qp->Dispatch->NdkFlush(qp);
    assert_int_equal(KeWaitForSingleObject(&late.entered, Executive, KernelMode, FALSE, NULL), 0);
    close_qp(qp);
    told_init(&told);
    assert_int_equal(
        late.cq->Dispatch->NdkCloseCq(&late.cq->Header, tell_close, &told), SPEC_STATUS_PENDING);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(atomic_load(&told.count), 0);
    KeSetEvent(&late.go, 0, FALSE);
    told_wait(&told);
    assert_int_equal(atomic_load(&late.calls), 1);
}

static void overrun_is_told(void **state)
{
    struct end *end = *state;
    struct told notified;
    NDK_CQ *cq = cq_create(end->adapter, 2, &notified);
    NDK_QP *
        qps[13]; /* of 16 Receives each: 208 results, and the queue, rounded up, has room for 191 */

    for (size_t i = 0; i < sizeof(qps) / sizeof(qps[0]); i++) {
        qps[i] = qp_create(end->pd, cq, end->cq, NULL);
        for (int k = 0; k < 16; k++)
            assert_int_equal(qps[i]->Dispatch->NdkReceive(qps[i], NULL, NULL, 0), 0);
        qps[i]->Dispatch->NdkFlush(qps[i]);
    }
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ERRORS);
    told_wait(&notified);
    assert_int_equal(notified.status, (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
    /* It has failed for good: a later arm is told, too. */
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
    told_wait(&notified);
    assert_int_equal(notified.status, (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
    for (size_t i = 0; i < sizeof(qps) / sizeof(qps[0]); i++)
        close_qp(qps[i]);
    close_cq(cq);
}

/* ---- shared receive queues ---- */

static NTSTATUS make_srq(
    NDK_PD *pd, ULONG depth, ULONG entries, ULONG threshold, struct told *notified, NDK_SRQ **out)
{
    struct told told;
    NDK_SRQ *srq = NULL;
    NTSTATUS status;

    told_init(&told);
    if (notified)
        told_init(notified);
    status = pd->Dispatch->NdkCreateSrq(pd, depth, entries, threshold,
        notified ? tell_request : NULL, notified, NULL, tell_create, &told, &srq);
    *out = made(&told, status, &srq);
    return *out ? 0 : status;
}

static NTSTATUS modify(NDK_SRQ *srq, ULONG depth, ULONG threshold)
{
    struct told told;

    told_init(&told);
    return ended(&told, srq->Dispatch->NdkModifySrq(srq, depth, threshold, tell_request, &told));
}

static void shared_receive_queue_tells_its_threshold(void **state)
{
    struct end *end = *state;
    NDK_SGE entry = sge(end->memory, 16, end->mr->Dispatch->NdkGetLocalTokenFromMr(end->mr));
    struct told notified;
    NDK_SRQ *srq;

    assert_int_equal(
        make_srq(end->pd, 0, 1, 0, NULL, &srq), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        make_srq(end->pd, 0x7fffffff, 1, 0, NULL, &srq), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        make_srq(end->pd, 4, 0x7fffffff, 0, NULL, &srq), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        make_srq(end->pd, 4, 1, 5, NULL, &srq), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    /* It is empty: the threshold is passed at once, and told once. */
    assert_int_equal(make_srq(end->pd, 4, 1, 2, &notified, &srq), 0);
    assert_int_equal(srq->Header.ObjectType, 10);
    told_wait(&notified);
    assert_int_equal(notified.status, 0);
    assert_int_equal(notified.level, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(srq->Dispatch->NdkSrqReceive(srq, NULL, &entry, 1), 0);
    assert_int_equal(srq->Dispatch->NdkSrqReceive(srq, NULL, &entry, 1),
        (NTSTATUS)SPEC_STATUS_INSUFFICIENT_RESOURCES);
    assert_int_equal(
        srq->Dispatch->NdkSrqReceive(srq, NULL, NULL, 1), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(modify(srq, 0x7fffffff, 0), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(modify(srq, 8, 6), 0);
    told_wait(&notified);
    assert_int_equal(atomic_load(&notified.count), 2);
    close_srq(srq);
    assert_int_equal(atomic_load(&notified.count), 2);
}

static void queue_pair_takes_a_shared_receive_queue(void **state)
{
    struct end *end = *state;
    NDK_PD *other = pd_create(end->adapter);
    struct told told;
    NDK_SRQ *srq, *foreign;
    NDK_QP *qp = NULL;

    assert_int_equal(make_srq(end->pd, 4, 1, 0, NULL, &srq), 0);
    assert_int_equal(make_srq(other, 4, 1, 0, NULL, &foreign), 0);
    told_init(&told);
    assert_int_equal(end->pd->Dispatch->NdkCreateQpWithSrq(
                         end->pd, end->cq, end->cq, NULL, NULL, 4, 1, 0, tell_create, &told, &qp),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(end->pd->Dispatch->NdkCreateQpWithSrq(end->pd, end->cq, end->cq, foreign, NULL,
                         4, 1, 0, tell_create, &told, &qp),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    qp = made(&told,
        end->pd->Dispatch->NdkCreateQpWithSrq(
            end->pd, end->cq, end->cq, srq, NULL, 4, 1, 0, tell_create, &told, &qp),
        &qp);
    assert_non_null(qp);
    told_init(&told);
    assert_int_equal(
        srq->Dispatch->NdkCloseSrq(&srq->Header, tell_close, &told), SPEC_STATUS_PENDING);
    assert_int_equal(atomic_load(&told.count), 0);
    close_qp(qp);
    told_wait(&told);
    close_srq(foreign);
    close_pd(other);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(completion_queues_have_limits),
        ROW(completion_queue_without_a_callback_is_polled),
        ROW(moderation_has_an_end),
        ROW(depth_changes),
        ROW(queue_pairs_have_limits),
        ROW(initiator_needs_a_connection),
        ROW(bad_lists_are_refused),
        ROW(flush_ends_receives),
        ROW(close_ends_receives),
        ROW(completion_queue_ends_after_its_queue_pair),
        ROW(close_waits_for_the_callback),
        ROW(overrun_is_told),
        ROW(shared_receive_queue_tells_its_threshold),
        ROW(queue_pair_takes_a_shared_receive_queue),
    };

    return run_in_modes("queue", tests);
}
