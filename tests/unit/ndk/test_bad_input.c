/* SPDX-License-Identifier: MIT */
/*
 * test_bad_input.c - arguments that cannot be: nothing, too much, objects of another device, domain or type. Each call
 * answers in the call itself, stores nothing, and calls nobody; afterwards everything works, and can be closed.
 */
#include "tests/unit/ndk/pair.h"

#include <stdlib.h>
#include <string.h>

#define INVALID   ((NTSTATUS)SPEC_STATUS_INVALID_PARAMETER)
#define STATE     ((NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE)
#define ACTIVE    ((NTSTATUS)SPEC_STATUS_CONNECTION_ACTIVE)
#define DENIED    ((NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION)
#define OVERRUN   ((NTSTATUS)SPEC_STATUS_DATA_OVERRUN)
#define OVERLONG  ((NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE)
#define UNREACHED ((NTSTATUS)SPEC_STATUS_HOST_UNREACHABLE)
#define NONE      ((NTSTATUS)SPEC_STATUS_NOT_SUPPORTED)
#define ADDRESS   ((NTSTATUS)SPEC_STATUS_INVALID_ADDRESS)
#define UNBOUND   ((NTSTATUS)SPEC_STATUS_CONNECTION_INVALID)

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { RECEIVE = 1, SEND = 2 };

/* Of every call that follows: its callback, which must not be called. */
static struct told nobody;

/* An object that a create function must not store. */
static void *untouched;

static void assert_refused(NTSTATUS status, NTSTATUS expected, const char *what)
{
    if (status != expected || untouched || atomic_load(&nobody.count))
        print_error("%s: 0x%08x, object %p\n", what, (unsigned)status, untouched);
    assert_int_equal(status, expected);
    assert_null(untouched);
    assert_int_equal(atomic_load(&nobody.count), 0);
}

#define REFUSED(expected, call) assert_refused(call, expected, #call)

static int set_up(void **state)
{
    told_init(&nobody);
    return pair_set_up_connected(state);
}

/* A message still passes, and is all that comes. */
static int tear_down(void **state)
{
    struct pair *pair = *state;
    struct side *from = &pair->active, *to = &pair->passive;
    NDK_SGE entry = sge(from->memory, 8, from->token), room = sge(to->memory, 8, to->token);
    NDK_RESULT_EX result;

    assert_int_equal(to->qp->Dispatch->NdkReceive(to->qp, &room, &room, 1), 0);
    assert_int_equal(from->qp->Dispatch->NdkSend(from->qp, &entry, &entry, 1, 0), 0);
    while (!to->receive_cq->Dispatch->NdkGetCqResultsEx(to->receive_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, 0);
    assert_int_equal(result.Type, RECEIVE);
    assert_ptr_equal(result.RequestContext, &room);
    while (!from->initiator_cq->Dispatch->NdkGetCqResultsEx(from->initiator_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, 0);
    assert_int_equal(result.Type, SEND);
    assert_ptr_equal(result.RequestContext, &entry);
    assert_int_equal(
        from->initiator_cq->Dispatch->NdkGetCqResultsEx(from->initiator_cq, &result, 1), 0);
    return pair_tear_down(state);
}

static NDK_SRQ *srq_create(NDK_PD *pd)
{
    struct told told;
    NDK_SRQ *srq = NULL;

    told_init(&told);
    srq = made(&told,
        pd->Dispatch->NdkCreateSrq(pd, 4, 1, 0, NULL, NULL, NULL, tell_create, &told, &srq), &srq);
    assert_non_null(srq);
    return srq;
}

/* ---- what is made of adapters ---- */

static NTSTATUS create_cq(
    NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify, void *out)
{
    return adapter->Dispatch->NdkCreateCq(
        adapter, depth, notify, NULL, NULL, tell_create, &nobody, out);
}

static NTSTATUS create_endpoint(NDK_ADAPTER *adapter, void *address, ULONG length, void *out)
{
    return adapter->Dispatch->NdkCreateSharedEndpoint(
        adapter, address, length, tell_create, &nobody, out);
}

static void objects_of_an_adapter(void **state)
{
    struct pair *pair = *state;
    NDK_ADAPTER *adapter = pair->active.adapter;
    const NDK_ADAPTER_DISPATCH *table = adapter->Dispatch;
    struct sockaddr_in local = own_address(0);
    NDK_ADAPTER_INFO info;
    ULONG octets = newest_version().Major == 1 ? 0x60 : 0x68, size = sizeof(info), small = 8;

    REFUSED(INVALID, table->NdkQueryAdapterInfo(adapter, &info, NULL));
    REFUSED(
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL, table->NdkQueryAdapterInfo(adapter, NULL, &size));
    assert_int_equal(size, octets);
    REFUSED(
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL, table->NdkQueryAdapterInfo(adapter, &info, &small));
    assert_int_equal(small, octets);
    assert_int_equal(table->NdkQueryAdapterInfo(adapter, &info, &size), 0);
    REFUSED(INVALID, create_cq(adapter, 0, tell_request, &untouched));
    REFUSED(INVALID, create_cq(adapter, info.MaxCqDepth + 1, tell_request, &untouched));
    REFUSED(INVALID, create_cq(adapter, 0xFFFFFFFF, tell_request, &untouched));
    REFUSED(INVALID, create_cq(adapter, 4, tell_request, NULL));
    REFUSED(INVALID, table->NdkCreatePd(adapter, tell_create, &nobody, NULL));
    REFUSED(INVALID, table->NdkCreateConnector(adapter, tell_create, &nobody, NULL));
    REFUSED(INVALID,
        table->NdkCreateListener(adapter, tell_incoming, NULL, tell_create, &nobody, NULL));
    REFUSED(INVALID, table->NdkCreateListener(
                         adapter, NULL, NULL, tell_create, &nobody, (NDK_LISTENER **)&untouched));
    REFUSED(INVALID, create_endpoint(adapter, NULL, sizeof(local), &untouched));
    REFUSED(INVALID, create_endpoint(adapter, &local, sizeof(local), NULL));
}

/* Of every object: there is no extension, whatever is asked for; nothing is stored. */
static void extensions(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_MW *mw = mw_create(side->pd);
    NDK_SRQ *srq = srq_create(side->pd);
    NDK_OBJECT_HEADER *headers[] = { &side->pd->Header, &side->receive_cq->Header,
        &side->qp->Header, &side->mr->Header, &mw->Header, &srq->Header, &side->connector->Header,
        &pair->listener->Header };
    NDK_EXTENSION_INTERFACE extension = { headers };
    NDK_VERSION version = { 0xFFFF, 0xFFFF };
    GUID id = { 1, 2, 3, { 4 } };

    REFUSED(NONE,
        side->adapter->Dispatch->NdkQueryExtension(&side->adapter->Header, NULL, version, NULL));
    for (size_t i = 0; i < COUNT(headers); i++) {
        /* Every table but the adapter's has it behind the close function. */
        NDK_FN_QUERY_EXTENSION_INTERFACE query =
            ((NDK_PD *)headers[i])->Dispatch->NdkQueryExtension;

        REFUSED(NONE, query(headers[i], &id, version, &extension));
        REFUSED(NONE, query(headers[i], NULL, version, NULL));
    }
    assert_ptr_equal(extension.Dispatch, headers);
    close_srq(srq);
    close_mw(mw);
}

static void depths_of_completion_queues(void **state)
{
    struct pair *pair = *state;
    NDK_CQ *cq = pair->active.receive_cq;
    const NDK_CQ_DISPATCH *table = cq->Dispatch;
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);
    NDK_RESULT_EX result;

    assert_int_equal(
        pair->active.adapter->Dispatch->NdkQueryAdapterInfo(pair->active.adapter, &info, &size), 0);
    REFUSED(INVALID, table->NdkResizeCq(cq, 0, tell_request, &nobody));
    REFUSED(INVALID, table->NdkResizeCq(cq, info.MaxCqDepth + 1, tell_request, &nobody));
    REFUSED(INVALID, table->NdkResizeCq(cq, 0xFFFFFFFF, tell_request, &nobody));
    REFUSED(INVALID, table->NdkResizeCq(cq, 0, NULL, NULL));
    /* No room; kinds of notification that are none. */
    assert_int_equal(table->NdkGetCqResults(cq, NULL, 0), 0);
    assert_int_equal(table->NdkGetCqResultsEx(cq, NULL, 0), 0);
    assert_int_equal(table->NdkGetCqResultsEx(cq, &result, 1), 0);
    table->NdkArmCq(cq, 3);
    table->NdkArmCq(cq, 0xFFFFFFFF);
    assert_int_equal(atomic_load(&pair->active.received.count), 0);
}

/* The addresses are no address of the adapter: the callback may tell of that. */
static void addresses_of_an_endpoint(void **state)
{
    struct pair *pair = *state;
    NDK_ADAPTER *adapter = pair->active.adapter;
    struct sockaddr_in local = own_address(0), far = own_address(0), strange = own_address(0);
    const struct {
        void *address;
        ULONG length;
    } rows[] = {
        { &local, 0 },
        { &local, sizeof(local) - 1 },
        { &far, sizeof(far) },
        { &strange, sizeof(strange) },
    };

    far.sin_addr.s_addr = htonl(0xC0000201); /* 192.0.2.1: nobody's */
    strange.sin_family = 77;
    for (size_t i = 0; i < COUNT(rows); i++) {
        NDK_SHARED_ENDPOINT *endpoint = NULL;
        struct told told;
        NTSTATUS status;

        told_init(&told);
        status = adapter->Dispatch->NdkCreateSharedEndpoint(
            adapter, rows[i].address, rows[i].length, tell_create, &told, &endpoint);
        assert_int_equal(ended(&told, status), (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS);
        assert_null(endpoint);
        assert_null(told.object);
    }
}

/* ---- what is made of domains ---- */

static void objects_of_a_domain(void **state)
{
    struct pair *pair = *state;
    NDK_PD *pd = pair->active.pd;
    const NDK_PD_DISPATCH *table = pd->Dispatch;
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);

    assert_int_equal(
        pair->active.adapter->Dispatch->NdkQueryAdapterInfo(pair->active.adapter, &info, &size), 0);
    for (int fast = 0; fast < 2; fast++)
        REFUSED(INVALID, table->NdkCreateMr(pd, (BOOLEAN)fast, tell_create, &nobody, NULL));
    REFUSED(INVALID, table->NdkCreateMw(pd, tell_create, &nobody, NULL));
    const struct {
        ULONG depth, entries, threshold;
    } rows[] = {
        { 0, 1, 0 },
        { info.MaxSrqDepth + 1, 1, 0 },
        { 0xFFFFFFFF, 1, 0 },
        { 4, 0xFFFFFFFF, 0 },
        { 4, 1, 5 },
        { 4, 1, 0xFFFFFFFF },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(
            INVALID, table->NdkCreateSrq(pd, rows[i].depth, rows[i].entries, rows[i].threshold,
                         tell_request, NULL, NULL, tell_create, &nobody, (NDK_SRQ **)&untouched));
    REFUSED(INVALID,
        table->NdkCreateSrq(pd, 4, 1, 0, tell_request, NULL, NULL, tell_create, &nobody, NULL));
    table->NdkGetPrivilegedMemoryRegionToken(pd, NULL);
}

static void queue_pairs(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_CQ *cq = side->receive_cq, *foreign = one_device() ? NULL : pair->passive.receive_cq;
    NDK_CQ *other = (NDK_CQ *)side->pd;
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);

    assert_int_equal(side->adapter->Dispatch->NdkQueryAdapterInfo(side->adapter, &info, &size), 0);
    const struct {
        NDK_CQ *receive, *initiator;
        ULONG receive_depth, initiator_depth, receive_entries, initiator_entries, inline_data;
    } rows[] = {
        { NULL, cq, 4, 4, 1, 1, 0 },
        { cq, NULL, 4, 4, 1, 1, 0 },
        { foreign, cq, 4, 4, 1, 1, 0 },
        { cq, foreign, 4, 4, 1, 1, 0 },
        { other, cq, 4, 4, 1, 1, 0 },
        { cq, other, 4, 4, 1, 1, 0 },
        { cq, cq, 4, 0, 1, 1, 0 },
        { cq, cq, info.MaxReceiveQueueDepth + 1, 4, 1, 1, 0 },
        { cq, cq, 4, info.MaxInitiatorQueueDepth + 1, 1, 1, 0 },
        { cq, cq, 4, 4, info.MaxReceiveRequestSge + 1, 1, 0 },
        { cq, cq, 4, 4, 1, info.MaxInitiatorRequestSge + 1, 0 },
        { cq, cq, 4, 4, 1, 1, info.MaxInlineDataSize + 1 },
        { cq, cq, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(
            INVALID, side->pd->Dispatch->NdkCreateQp(side->pd, rows[i].receive, rows[i].initiator,
                         NULL, rows[i].receive_depth, rows[i].initiator_depth,
                         rows[i].receive_entries, rows[i].initiator_entries, rows[i].inline_data,
                         tell_create, &nobody, (NDK_QP **)&untouched));
    REFUSED(INVALID, side->pd->Dispatch->NdkCreateQp(
                         side->pd, cq, cq, NULL, 4, 4, 1, 1, 0, tell_create, &nobody, NULL));
}

static void shared_receive_queues(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_PD *pd = side->pd, *second = pd_create(side->adapter);
    NDK_CQ *cq = side->receive_cq;
    NDK_SRQ *srq = srq_create(pd), *far = srq_create(pair->passive.pd), *near = srq_create(second);
    NDK_SGE list[65];
    const struct {
        NDK_CQ *receive, *initiator;
        NDK_SRQ *srq;
        ULONG depth, entries, inline_data;
    } rows[] = {
        { cq, cq, NULL, 4, 1, 0 },
        { cq, cq, far, 4, 1, 0 },
        { cq, cq, near, 4, 1, 0 },
        { cq, cq, (NDK_SRQ *)cq, 4, 1, 0 },
        { NULL, cq, srq, 4, 1, 0 },
        { cq, one_device() ? NULL : pair->passive.initiator_cq, srq, 4, 1, 0 },
        { cq, cq, srq, 0, 1, 0 },
        { cq, cq, srq, 4, 0xFFFFFFFF, 0 },
        { cq, cq, srq, 4, 1, 0xFFFFFFFF },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(INVALID, pd->Dispatch->NdkCreateQpWithSrq(pd, rows[i].receive, rows[i].initiator,
                             rows[i].srq, NULL, rows[i].depth, rows[i].entries, rows[i].inline_data,
                             tell_create, &nobody, (NDK_QP **)&untouched));
    REFUSED(INVALID, pd->Dispatch->NdkCreateQpWithSrq(
                         pd, cq, cq, srq, NULL, 4, 1, 0, tell_create, &nobody, NULL));
    REFUSED(INVALID, srq->Dispatch->NdkModifySrq(srq, 0xFFFFFFFF, 0, tell_request, &nobody));
    REFUSED(INVALID, srq->Dispatch->NdkModifySrq(srq, 0, 0xFFFFFFFF, tell_request, &nobody));
    for (size_t i = 0; i < COUNT(list); i++)
        list[i] = sge(side->memory, 1, side->token);
    REFUSED(INVALID, srq->Dispatch->NdkSrqReceive(srq, NULL, NULL, 1));
    REFUSED(OVERRUN, srq->Dispatch->NdkSrqReceive(srq, NULL, list, 2));
    REFUSED(OVERRUN, srq->Dispatch->NdkSrqReceive(srq, NULL, list, 65));
    list[0].MemoryRegionToken = 0xFFFFFFFF;
    REFUSED(DENIED, srq->Dispatch->NdkSrqReceive(srq, NULL, list, 1));
    close_srq(srq);
    close_srq(far);
    close_srq(near);
    close_pd(second);
}

/* ---- memory ---- */

static void regions(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_MR *mr = mr_create(side->pd);
    MDL mdl, endless;

    MmInitializeMdl(&mdl, side->memory, 4096);
    MmInitializeMdl(&endless, (void *)~(ULONG_PTR)4095, 8192); /* over the end of all addresses */
    REFUSED(INVALID, mr->Dispatch->NdkRegisterMr(mr, NULL, 1, 0, tell_request, &nobody));
    REFUSED(INVALID, mr->Dispatch->NdkRegisterMr(mr, &mdl, 0, 0, tell_request, &nobody));
    REFUSED(INVALID, mr->Dispatch->NdkRegisterMr(mr, &mdl, 4097, 0, tell_request, &nobody));
    REFUSED(INVALID, mr->Dispatch->NdkRegisterMr(mr, &mdl, ~(SIZE_T)0, 0, tell_request, &nobody));
    REFUSED(DENIED, mr->Dispatch->NdkRegisterMr(mr, &endless, 8192, 0, tell_request, &nobody));
    REFUSED(STATE, mr->Dispatch->NdkDeregisterMr(mr, tell_request, &nobody));
    REFUSED(STATE, mr->Dispatch->NdkInitializeFastRegisterMr(mr, 1, FALSE, tell_request, &nobody));
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), 0);
    close_mr(mr);
}

static NDK_MR *fast_create(NDK_PD *pd)
{
    NDK_MR *fast = NULL;
    struct told told;

    told_init(&told);
    fast = made(&told, pd->Dispatch->NdkCreateMr(pd, TRUE, tell_create, &told, &fast), &fast);
    assert_non_null(fast);
    return fast;
}

static void regions_for_fast_registration(void **state)
{
    struct side *side = &((struct pair *)*state)->active;
    NDK_MR *fast = fast_create(side->pd);
    MDL mdl;

    MmInitializeMdl(&mdl, side->memory, 4096);
    REFUSED(STATE, fast->Dispatch->NdkRegisterMr(fast, &mdl, 4096, 0, tell_request, &nobody));
    REFUSED(STATE, fast->Dispatch->NdkDeregisterMr(fast, tell_request, &nobody));
    REFUSED(INVALID,
        fast->Dispatch->NdkInitializeFastRegisterMr(fast, 0, FALSE, tell_request, &nobody));
    REFUSED((NTSTATUS)SPEC_STATUS_IMPLEMENTATION_LIMIT,
        fast->Dispatch->NdkInitializeFastRegisterMr(fast, 257, FALSE, tell_request, &nobody));
    REFUSED((NTSTATUS)SPEC_STATUS_IMPLEMENTATION_LIMIT,
        fast->Dispatch->NdkInitializeFastRegisterMr(
            fast, 0xFFFFFFFF, FALSE, tell_request, &nobody));
    assert_int_equal(fast->Dispatch->NdkGetLocalTokenFromMr(fast), 0);
    assert_int_equal(fast->Dispatch->NdkGetRemoteTokenFromMr(fast), 0);
    close_mr(fast);
}

static void fast_registrations(void **state)
{
    struct pair *pair = breaks_rules(state);
    struct side *side = &pair->active;
    const NDK_QP_DISPATCH *table = side->qp->Dispatch;
    NDK_PD *second = pd_create(side->adapter);
    NDK_MR *fast = fast_create(side->pd), *near = fast_create(second);
    NDK_MR *far = fast_create(pair->passive.pd);
    union {
        NDK_LOGICAL_ADDRESS_MAPPING lam;
        unsigned char octets[0x10 + 8 * 2];
    } mapping;
    ULONG size = sizeof(mapping), offset;
    const NDK_LOGICAL_ADDRESS *pages = mapping.lam.AdapterPageArray;
    struct told told;
    MDL mdl;

    MmInitializeMdl(&mdl, side->memory, 8192);
    assert_int_equal(side->adapter->Dispatch->NdkBuildLAM(
                         side->adapter, &mdl, 8192, NULL, NULL, &mapping.lam, &size, &offset),
        0);
    for (int i = 0; i < 3; i++) {
        NDK_MR *mr = i == 0 ? fast : i == 1 ? near : far;

        told_init(&told);
        assert_int_equal(ended(&told, mr->Dispatch->NdkInitializeFastRegisterMr(
                                          mr, 2, TRUE, tell_request, &told)),
            0);
    }
    const struct {
        NDK_MR *mr;
        ULONG count;
        const NDK_LOGICAL_ADDRESS *pages;
        ULONG offset;
        SIZE_T length;
        UINT64 base;
        NTSTATUS status;
    } rows[] = {
        { NULL, 2, pages, 0, 16, 0, INVALID }, { near, 2, pages, 0, 16, 0, INVALID },
        { far, 2, pages, 0, 16, 0, INVALID }, { side->mr, 2, pages, 0, 16, 0, INVALID },
        { (NDK_MR *)side->pd, 2, pages, 0, 16, 0, INVALID }, { fast, 2, NULL, 0, 16, 0, INVALID },
        { fast, 0, pages, 0, 16, 0, INVALID }, { fast, 3, pages, 0, 16, 0, INVALID },
        { fast, 0xFFFFFFFF, pages, 0, 16, 0, INVALID }, { fast, 2, pages, 4096, 16, 4096, INVALID },
        { fast, 2, pages, 0xFFFFFFFF, 16, 0xFFFFFFFF, INVALID },
        { fast, 2, pages, 0, 0, 0, INVALID }, { fast, 2, pages, 0, 8193, 0, INVALID },
        { fast, 2, pages, 1, 8192, 1, INVALID }, { fast, 2, pages, 0, ~(SIZE_T)0, 0, INVALID },
        { fast, 2, pages, 0, 16, 1, INVALID }, { fast, 2, pages, 1, 16, 0, INVALID },
        { fast, 2, pages, 0, 8192, ~(UINT64)4095, INVALID }, /* over the end of all addresses */
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(rows[i].status, table->NdkFastRegister(side->qp, NULL, rows[i].mr, rows[i].count,
                                    rows[i].pages, rows[i].offset, rows[i].length,
                                    (PVOID)(ULONG_PTR)rows[i].base, NDK_OP_FLAG_ALLOW_REMOTE_READ));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &near->Header, 0));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &far->Header, 0));
    REFUSED(STATE, table->NdkInvalidate(side->qp, NULL, &fast->Header, 0));
    side->adapter->Dispatch->NdkReleaseLAM(side->adapter, &mapping.lam);
    close_mr(fast);
    close_mr(near);
    close_mr(far);
    close_pd(second);
}

static void mappings(void **state)
{
    struct pair *pair = breaks_rules(state);
    NDK_ADAPTER *adapter = pair->active.adapter;
    NDK_FN_BUILD_LAM build = adapter->Dispatch->NdkBuildLAM;
    unsigned char room[64] = { 0 };
    NDK_LOGICAL_ADDRESS_MAPPING *lam = (NDK_LOGICAL_ADDRESS_MAPPING *)room;
    ULONG size = sizeof(room), offset = 77;
    MDL mdl;

    MmInitializeMdl(&mdl, pair->active.memory, 8192);
    REFUSED(INVALID, build(adapter, NULL, 1, tell_request, &nobody, lam, &size, &offset));
    REFUSED(INVALID, build(adapter, &mdl, 0, tell_request, &nobody, lam, &size, &offset));
    REFUSED(INVALID, build(adapter, &mdl, 8193, tell_request, &nobody, lam, &size, &offset));
    REFUSED(INVALID, build(adapter, &mdl, ~(SIZE_T)0, tell_request, &nobody, lam, &size, &offset));
    REFUSED(INVALID, build(adapter, &mdl, 1, tell_request, &nobody, lam, NULL, &offset));
    REFUSED(INVALID, build(adapter, &mdl, 1, tell_request, &nobody, lam, &size, NULL));
    assert_int_equal(size, sizeof(room));
    assert_int_equal(offset, 77);
    adapter->Dispatch->NdkReleaseLAM(adapter, NULL);
    adapter->Dispatch->NdkReleaseLAM(adapter, lam); /* of nothing */
}

/* ---- requests ---- */

static void requests(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    const NDK_QP_DISPATCH *table = side->qp->Dispatch;
    NDK_QP *qp = side->qp;
    UINT64 there = (UINT64)(ULONG_PTR)pair->passive.memory;
    UINT32 token = pair->passive.remote_token;
    NDK_SGE good[65], bad = sge(side->memory, 1, 0xFFFFFFFF);
    NDK_SGE outside = sge(side->memory, 65, 0);

    for (size_t i = 0; i < COUNT(good); i++)
        good[i] = sge(side->memory, 1, side->token);
    const struct {
        const NDK_SGE *list;
        ULONG n;
        NTSTATUS status;
    } rows[] = {
        { NULL, 1, INVALID },
        { NULL, 0xFFFFFFFF, INVALID },
        { good, 5, OVERRUN }, /* the queue pair takes 4 */
        { good, 65, OVERRUN },
        { good, 0xFFFFFFFF, OVERRUN },
        { &bad, 1, DENIED },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const NDK_SGE *list = rows[i].list;
        ULONG n = rows[i].n;

        REFUSED(rows[i].status, table->NdkSend(qp, NULL, list, n, 0));
        REFUSED(rows[i].status, table->NdkSendAndInvalidate(qp, NULL, list, n, 0, token));
        REFUSED(rows[i].status, table->NdkReceive(qp, NULL, list, n));
        REFUSED(rows[i].status, table->NdkRead(qp, NULL, list, n, there, token, 0));
        REFUSED(rows[i].status, table->NdkWrite(qp, NULL, list, n, there, token, 0));
    }
    REFUSED(INVALID, table->NdkSend(qp, NULL, NULL, 1, NDK_OP_FLAG_INLINE));
    REFUSED(OVERLONG, table->NdkSend(qp, NULL, &outside, 1, NDK_OP_FLAG_INLINE));
    REFUSED(OVERLONG, table->NdkWrite(qp, NULL, &outside, 1, there, token, NDK_OP_FLAG_INLINE));
}

static void windows(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    const NDK_QP_DISPATCH *table = side->qp->Dispatch;
    NDK_PD *second = pd_create(side->adapter);
    NDK_MR *mr = side->mr, *near = mr_register(second, side->memory, 4096, 0);
    NDK_MW *mw = mw_create(side->pd), *near_mw = mw_create(second);
    NDK_MW *far_mw = mw_create(pair->passive.pd);
    char *memory = side->memory;
    const struct {
        NDK_MR *mr;
        NDK_MW *mw;
        void *address;
        SIZE_T length;
    } rows[] = {
        { NULL, mw, memory, 16 },
        { mr, NULL, memory, 16 },
        { pair->passive.mr, mw, memory, 16 },
        { near, mw, memory, 16 },
        { mr, far_mw, memory, 16 },
        { mr, near_mw, memory, 16 },
        { (NDK_MR *)mw, mw, memory, 16 },
        { mr, (NDK_MW *)mr, memory, 16 },
        { mr, mw, memory - 1, 16 },
        { mr, mw, memory + MEMORY - 15, 16 },
        { mr, mw, memory, ~(SIZE_T)0 },
        { mr, mw, NULL, 16 },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(INVALID, table->NdkBind(side->qp, NULL, rows[i].mr, rows[i].mw, rows[i].address,
                             rows[i].length, NDK_OP_FLAG_ALLOW_REMOTE_READ));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, NULL, 0));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &mr->Header, 0));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &side->qp->Header, 0));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &far_mw->Header, 0));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &near_mw->Header, 0));
    REFUSED(STATE, table->NdkInvalidate(side->qp, NULL, &mw->Header, 0));
    assert_int_equal(mw->Dispatch->NdkGetRemoteTokenFromMw(mw), 0);
    close_mw(mw);
    close_mw(near_mw);
    close_mw(far_mw);
    close_mr(near);
    close_pd(second);
}

/* Over regions that hold no registration, or not one that windows are for. */
static void windows_over_nothing(void **state)
{
    struct pair *pair = breaks_rules(state);
    struct side *side = &pair->active;
    const NDK_QP_DISPATCH *table = side->qp->Dispatch;
    NDK_MR *regions[] = { mr_create(side->pd), fast_create(side->pd) };
    NDK_MW *mw = mw_create(side->pd);

    for (size_t i = 0; i < COUNT(regions); i++)
        REFUSED(INVALID, table->NdkBind(side->qp, NULL, regions[i], mw, side->memory, 16,
                             NDK_OP_FLAG_ALLOW_REMOTE_READ));
    REFUSED(INVALID, table->NdkInvalidate(side->qp, NULL, &regions[0]->Header, 0));
    REFUSED(STATE, table->NdkInvalidate(side->qp, NULL, &regions[1]->Header, 0));
    for (size_t i = 0; i < COUNT(regions); i++)
        close_mr(regions[i]);
    close_mw(mw);
}

/* ---- connections ---- */

static void connectors(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_CONNECTOR *connector = connector_create(side->adapter);
    const NDK_CONNECTOR_DISPATCH *table = connector->Dispatch;
    NDK_QP *qp = qp_create(side->pd, side->receive_cq, side->initiator_cq, NULL);
    struct sockaddr_in local = own_address(0);
    struct told told;
    NDK_SHARED_ENDPOINT *endpoint = NULL;
    SOCKADDR *to = (SOCKADDR *)&pair->address;
    NDK_QP *foreign = one_device() ? NULL : pair->passive.qp, *other = (NDK_QP *)side->pd;
    NDK_SHARED_ENDPOINT *far = NULL;
    struct sockaddr_in there = peer_address(0), nowhere = { .sin_family = AF_INET };
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(5000), .sin6_addr = IN6ADDR_LOOPBACK_INIT
    };

    told_init(&told);
    endpoint = made(&told,
        side->adapter->Dispatch->NdkCreateSharedEndpoint(
            side->adapter, (SOCKADDR *)&local, sizeof(local), tell_create, &told, &endpoint),
        &endpoint);
    assert_non_null(endpoint);
    told_init(&told);
    far = made(&told,
        pair->passive.adapter->Dispatch->NdkCreateSharedEndpoint(
            pair->passive.adapter, (SOCKADDR *)&there, sizeof(there), tell_create, &told, &far),
        &far);
    assert_non_null(far);
    nowhere.sin_port = htons(5000);
    const struct {
        NDK_QP *qp;
        NDK_SHARED_ENDPOINT *endpoint;
        SOCKADDR *to;
        void *data;
        ULONG length;
        NDK_FN_REQUEST_COMPLETION completion;
        NTSTATUS status;
    } rows[] = {
        { NULL, endpoint, to, NULL, 0, tell_request, INVALID },
        { foreign, endpoint, to, NULL, 0, tell_request, INVALID },
        { other, endpoint, to, NULL, 0, tell_request, INVALID },
        { qp, NULL, to, NULL, 0, tell_request, INVALID },
        { qp, (NDK_SHARED_ENDPOINT *)side->pd, to, NULL, 0, tell_request, INVALID },
        { qp, (NDK_SHARED_ENDPOINT *)pair->listener, to, NULL, 0, tell_request, INVALID },
        { qp, one_device() ? NULL : far, to, NULL, 0, tell_request, INVALID },
        { side->qp, endpoint, to, NULL, 0, tell_request, ACTIVE },
        { qp, endpoint, (SOCKADDR *)&nowhere, NULL, 0, tell_request, UNREACHED },
        { qp, endpoint, (SOCKADDR *)&six, NULL, 0, tell_request, UNREACHED },
        { qp, endpoint, NULL, NULL, 0, tell_request, INVALID },
        { qp, endpoint, to, NULL, 1, tell_request, INVALID },
        { qp, endpoint, to, side->memory, 57, tell_request, OVERLONG },
        { qp, endpoint, to, side->memory, 0xFFFFFFFF, tell_request, OVERLONG },
        { qp, endpoint, to, NULL, 0, NULL, INVALID },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        REFUSED(rows[i].status, table->NdkConnectWithSharedEndpoint(connector, rows[i].qp,
                                    rows[i].endpoint, rows[i].to, sizeof(pair->address), 4, 4,
                                    rows[i].data, rows[i].length, rows[i].completion, &nobody));
    REFUSED(INVALID,
        table->NdkAccept(connector, NULL, 1, 1, NULL, 0, NULL, NULL, tell_request, &nobody));
    REFUSED(INVALID,
        table->NdkAccept(connector, foreign, 1, 1, NULL, 0, NULL, NULL, tell_request, &nobody));
    REFUSED(INVALID,
        table->NdkAcceptEx(connector, other, 1, 1, NULL, 0, NULL, NULL, tell_request, &nobody));
    REFUSED(
        INVALID, table->NdkAccept(connector, qp, 1, 1, NULL, 1, NULL, NULL, tell_request, &nobody));
    REFUSED(INVALID, table->NdkAccept(connector, qp, 1, 1, NULL, 0, NULL, NULL, NULL, NULL));
    REFUSED(
        ACTIVE, table->NdkAccept(connector, qp, 1, 1, NULL, 0, NULL, NULL, tell_request, &nobody));
    table = pair->passive.connector->Dispatch; /* connected */
    REFUSED(INVALID, table->NdkConnect(pair->passive.connector, pair->passive.qp, NULL, 0, to, 16,
                         1, 1, NULL, 0, tell_request, &nobody));
    REFUSED(STATE, table->NdkConnect(pair->passive.connector, pair->passive.qp, (SOCKADDR *)&there,
                       sizeof(there), to, 16, 1, 1, NULL, 0, tell_request, &nobody));
    REFUSED(STATE, table->NdkReject(pair->passive.connector, NULL, 0));
    REFUSED(UNBOUND,
        table->NdkCompleteConnect(pair->passive.connector, NULL, NULL, tell_request, &nobody));
    REFUSED(UNBOUND, table->NdkDisconnect(connector, tell_request, &nobody));
    REFUSED(INVALID, table->NdkCompleteConnect(connector, NULL, NULL, NULL, NULL));
    REFUSED(INVALID, table->NdkCompleteConnectEx(connector, NULL, NULL, NULL, NULL));
    REFUSED(INVALID, table->NdkDisconnect(connector, NULL, NULL));
    REFUSED(INVALID, table->NdkReject(connector, NULL, 1));
    REFUSED(INVALID, table->NdkGetConnectionData(connector, NULL, NULL, NULL, NULL));
    REFUSED(INVALID, table->NdkGetLocalAddress(connector, NULL, NULL));
    REFUSED(INVALID, table->NdkGetPeerAddress(connector, NULL, NULL));
    REFUSED(INVALID, endpoint->Dispatch->NdkGetLocalAddress(endpoint, NULL, NULL));
    close_connector(connector);
    close_qp(qp);
    close_object(&endpoint->Header, endpoint->Dispatch->NdkCloseSharedEndpoint);
    close_object(&far->Header, far->Dispatch->NdkCloseSharedEndpoint);
}

static void listeners(void **state)
{
    struct pair *pair = *state;
    struct told incoming, told;
    NDK_LISTENER *listener = listener_create(pair->passive.adapter, &incoming);
    const NDK_LISTENER_DISPATCH *table = listener->Dispatch;
    struct sockaddr_in address = peer_address(0), far = peer_address(0), strange = peer_address(0);
    const struct {
        void *address;
        ULONG length;
        NTSTATUS status;
    } rows[] = {
        { NULL, 0, INVALID },
        { NULL, sizeof(address), INVALID },
        { &address, 0, ADDRESS },
        { &address, sizeof(address) - 1, ADDRESS },
        { &far, sizeof(far), ADDRESS },
        { &strange, sizeof(strange), ADDRESS },
    };
    ULONG length = sizeof(address);

    far.sin_addr.s_addr = htonl(0xC0000201); /* 192.0.2.1: nobody's */
    strange.sin_family = 77;
    for (size_t i = 0; i < COUNT(rows); i++) {
        told_init(&told); /* the callback may tell of an address that is not the adapter's */
        assert_int_equal(ended(&told, table->NdkListen(listener, rows[i].address, rows[i].length,
                                          tell_request, &told)),
            rows[i].status);
    }
    REFUSED(STATE, table->NdkGetLocalAddress(listener, (SOCKADDR *)&address, &length));
    REFUSED(INVALID, table->NdkGetLocalAddress(listener, NULL, NULL));
    table->NdkControlConnectEvents(listener, TRUE); /* it does not listen */
    table->NdkControlConnectEvents(listener, 77);
    table->NdkControlConnectEvents(listener, FALSE);
    address = peer_address(0);
    assert_int_equal(
        table->NdkListen(listener, (SOCKADDR *)&address, sizeof(address), NULL, NULL), 0);
    REFUSED(STATE,
        table->NdkListen(listener, (SOCKADDR *)&address, sizeof(address), tell_request, &nobody));
    length = 3;
    REFUSED((NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL,
        table->NdkGetLocalAddress(listener, (SOCKADDR *)&address, &length));
    assert_int_equal(length, sizeof(address));
    close_listener(listener);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(objects_of_an_adapter),
        ROW(extensions),
        ROW(depths_of_completion_queues),
        ROW(addresses_of_an_endpoint),
        ROW(objects_of_a_domain),
        ROW(queue_pairs),
        ROW(shared_receive_queues),
        ROW(regions),
        ROW(regions_for_fast_registration),
        ROW(fast_registrations),
        ROW(mappings),
        ROW(requests),
        ROW(windows),
        ROW(windows_over_nothing),
        ROW(connectors),
        ROW(listeners),
    };

    return run_in_modes("bad_input", tests);
}
