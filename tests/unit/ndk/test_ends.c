/* SPDX-License-Identifier: MIT */
/*
 * test_ends.c - what decides between two ends of a call: refusals where all ends by a callback, the order of two
 * closes, a type of arm that the pages do not have, and a mapping that goes while a request looks for it. On the
 * embedded device.
 */
#include "tests/unit/ndk/pair.h"

#include "softrdma/softrdma.h"

#include <dlfcn.h>
#include <string.h>

/* ---- registrations of the device: something happens right before one ---- */

static void (*before_next)(void); /* called once */
static atomic_int registrations;

static struct ibv_mr *(*real_reg_mr)(struct ibv_pd *pd, void *memory, size_t length, int access);
static int (*real_dereg_mr)(struct ibv_mr *mr);

__attribute__((visibility("default"))) struct ibv_mr *srd_reg_mr(
    struct ibv_pd *pd, void *memory, size_t length, int access)
{
    void (*before)(void) = before_next;

    before_next = NULL;
    if (before)
        before();
    atomic_fetch_add(&registrations, 1);
    return real_reg_mr(pd, memory, length, access);
}

__attribute__((visibility("default"))) int srd_dereg_mr(struct ibv_mr *mr)
{
    atomic_fetch_sub(&registrations, 1);
    return real_dereg_mr(mr);
}

/* ---- refusals ---- */

static struct sockaddr_in nobodys(void)
{
    struct sockaddr_in address = own_address(0);

    address.sin_addr.s_addr = htonl(0xC0000201); /* 192.0.2.1, for documents */
    return address;
}

/* Where all calls end by their callbacks, a refusal that the pages allow both ways comes so, too. */
static void expect_refusal(NTSTATUS returned, struct told *told, NTSTATUS status, bool both_ways)
{
    if (mode_now() == BY_DEFAULT || !both_ways) {
        assert_int_equal(returned, status);
        assert_int_equal(atomic_load(&told->count), 0);
        return;
    }
    assert_int_equal(returned, SPEC_STATUS_PENDING);
    told_wait(told);
    assert_int_equal(told->status, status);
    assert_int_equal(told->level, 2);
    assert_int_equal(atomic_load(&told->count), 1);
}

/* The tables of the pages of NdkListen and NdkCreateSharedEndpoint: "returned, or given to the callback". */
static void refusals_end_as_calls_do(void **state)
{
    struct pair *pair = *state;
    NDK_ADAPTER *adapter = pair->passive.adapter;
    struct sockaddr_in far = nobodys();
    NDK_SHARED_ENDPOINT *endpoint = NULL;
    struct told incoming, told;
    NDK_LISTENER *listener = listener_create(adapter, &incoming);

    told_init(&told);
    expect_refusal(
        listener->Dispatch->NdkListen(listener, (SOCKADDR *)&far, sizeof(far), tell_request, &told),
        &told, (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS, true);
    told_init(&told);
    expect_refusal(listener->Dispatch->NdkListen(listener, (SOCKADDR *)&pair->address,
                       sizeof(pair->address), tell_request, &told),
        &told, (NTSTATUS)SPEC_STATUS_SHARING_VIOLATION, true);
    told_init(&told);
    expect_refusal(listener->Dispatch->NdkListen(listener, NULL, 16, tell_request, &told), &told,
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER, false);
    close_listener(listener);
    told_init(&told);
    expect_refusal(adapter->Dispatch->NdkCreateSharedEndpoint(
                       adapter, (SOCKADDR *)&far, sizeof(far), tell_create, &told, &endpoint),
        &told, (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS, true);
    assert_null(endpoint);
    assert_null(told.object);
    told_init(&told);
    expect_refusal(pair->active.initiator_cq->Dispatch->NdkResizeCq(
                       pair->active.initiator_cq, 0, tell_request, &told),
        &told, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER, false);
}

/* ---- two closes ---- */

static NTSTATUS next_status(NDK_CQ *cq)
{
    NDK_RESULT result;

    while (!cq->Dispatch->NdkGetCqResults(cq, &result, 1))
        sched_yield();
    return result.Status;
}

static struct {
    struct told region, window;
    unsigned regions; /* callbacks of the region's close, at the end of that of the window's */
} closes;

static VOID note_window(PVOID context)
{
    for (int i = 0; i < 1000; i++) /* the region's would come on another thread */
        sched_yield();
    closes.regions = atomic_load(&closes.region.count);
    tell_close(context);
}

/* A bound window is a successor of its region (the page of NdkCloseObject: antecedents complete last). */
static void the_close_of_a_region_ends_after_that_of_its_window(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    NDK_MR *mr = mr_register(side->pd, side->memory, 4096, NDK_MR_FLAG_ALLOW_REMOTE_READ);
    NDK_MW *mw = mw_create(side->pd);
    NTSTATUS status;

    assert_int_equal(side->qp->Dispatch->NdkBind(
                         side->qp, NULL, mr, mw, side->memory, 16, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        0);
    assert_int_equal(next_status(side->initiator_cq), 0);
    told_init(&closes.region);
    told_init(&closes.window);
    assert_int_equal(
        mr->Dispatch->NdkCloseMr(&mr->Header, tell_close, &closes.region), SPEC_STATUS_PENDING);
    status = mw->Dispatch->NdkCloseMw(&mw->Header, note_window, &closes.window);
    if (status == SPEC_STATUS_PENDING) {
        told_wait(&closes.window);
        assert_int_equal(closes.regions, 0);
    } else {
        assert_int_equal(status, 0);
    }
    told_wait(&closes.region);
    assert_int_equal(atomic_load(&closes.region.count), 1);
}

/* ---- an unknown arm ---- */

static NTSTATUS post_send(struct side *side, void *memory, ULONG length, UINT32 token)
{
    NDK_SGE entry = sge(memory, length, token);

    return side->qp->Dispatch->NdkSend(side->qp, NULL, &entry, 1, 0);
}

static NTSTATUS post_receive(struct side *side, void *memory, ULONG length, UINT32 token)
{
    NDK_SGE entry = sge(memory, length, token);

    return side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1);
}

/*
 * NdkArmCq returns nothing, so it cannot refuse: an unknown type is taken for the weakest, that of errors, which a
 * failure of the queue alone ends. Our reading.
 */
static void an_unknown_arm_is_that_of_errors(void **state)
{
    /* of 16 Receives each: 208 results, and the queue, rounded up, has room for 191 */
    enum { QPS = 13 };
    static const ULONG types[] = { 3, 0x80, MAXULONG };
    struct pair *pair = breaks_rules(state);
    struct side *side = &pair->active;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct told notified;
        NDK_CQ *cq = cq_create(side->adapter, 2, &notified);
        NDK_QP *qps[QPS];

        cq->Dispatch->NdkArmCq(cq, types[i]);
        for (int q = 0; q < QPS; q++) {
            qps[q] = qp_create(side->pd, cq, side->initiator_cq, NULL);
            for (int k = 0; k < 16; k++)
                assert_int_equal(qps[q]->Dispatch->NdkReceive(qps[q], NULL, NULL, 0), 0);
            qps[q]->Dispatch->NdkFlush(qps[q]);
        }
        told_wait(&notified);
        assert_int_equal(notified.status, (NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW);
        assert_int_equal(atomic_load(&notified.count), 1);
        for (int q = 0; q < QPS; q++)
            close_qp(qps[q]);
        close_cq(cq);
    }
}

/* ---- a mapping that goes ---- */

/* Room for a mapping of two pages. */
static union {
    NDK_LOGICAL_ADDRESS_MAPPING lam;
    unsigned char bytes[0x10 + 8 * 2];
} mapping;
static struct side *mapped;

static void build(struct side *side)
{
    ULONG size = sizeof(mapping), offset;
    MDL mdl;

    mapped = side;
    MmInitializeMdl(&mdl, side->memory, 4096);
    assert_int_equal(side->adapter->Dispatch->NdkBuildLAM(
                         side->adapter, &mdl, 4096, NULL, NULL, &mapping.lam, &size, &offset),
        0);
}

static void release(void)
{
    mapped->adapter->Dispatch->NdkReleaseLAM(mapped->adapter, &mapping.lam);
}

static UINT32 privileged(struct side *side)
{
    UINT32 token = 0;

    side->pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(side->pd, &token);
    return token;
}

/* A request has found the mapping and registers its memory, when another thread releases it. */
static void a_mapping_released_meanwhile_names_nothing(void **state)
{
    struct pair *pair = breaks_rules(state);
    struct side *side = &pair->active;
    int before = atomic_load(&registrations);

    build(side);
    before_next = release;
    assert_int_equal(post_send(side, side->memory, 16, privileged(side)),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    assert_null(before_next);
    assert_int_equal(atomic_load(&registrations), before);
    build(side); /* the same memory anew */
    assert_int_equal(
        post_receive(&pair->passive, pair->passive.memory, 16, pair->passive.token), 0);
    assert_int_equal(post_send(side, side->memory, 16, privileged(side)), 0);
    assert_int_equal(next_status(pair->passive.receive_cq), 0);
    assert_int_equal(next_status(side->initiator_cq), 0);
    assert_int_equal(atomic_load(&registrations), before + 1);
    release();
    assert_int_equal(atomic_load(&registrations), before);
}

static void register_first(void)
{
    assert_int_equal(post_receive(mapped, mapped->memory, 16, privileged(mapped)), 0);
}

/* Two requests register it at once: one registration stays, and both go on. */
static void a_mapping_is_registered_once(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active, *peer = &pair->passive;
    int before = atomic_load(&registrations);

    build(side);
    assert_int_equal(post_receive(peer, peer->memory, 16, peer->token), 0);
    before_next = register_first;
    memcpy(side->memory + 16, "sent and returned", 16);
    assert_int_equal(post_send(side, side->memory + 16, 16, privileged(side)), 0);
    assert_int_equal(atomic_load(&registrations), before + 1);
    assert_int_equal(next_status(peer->receive_cq), 0);
    assert_int_equal(next_status(side->initiator_cq), 0);
    assert_int_equal(post_send(peer, peer->memory, 16, peer->token), 0);
    assert_int_equal(next_status(side->receive_cq), 0);
    assert_int_equal(next_status(peer->initiator_cq), 0);
    assert_memory_equal(side->memory, "sent and returned", 16);
    release();
    assert_int_equal(atomic_load(&registrations), before);
}

int main(void)
{
#define ROW(test)       cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)
#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, pair_set_up_connected, pair_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(refusals_end_as_calls_do),
        CONNECTED(the_close_of_a_region_ends_after_that_of_its_window),
        ROW(an_unknown_arm_is_that_of_errors),
        CONNECTED(a_mapping_released_meanwhile_names_nothing),
        CONNECTED(a_mapping_is_registered_once),
    };

    real_reg_mr =
        (struct ibv_mr * (*)(struct ibv_pd *, void *, size_t, int)) dlsym(RTLD_NEXT, "srd_reg_mr");
    real_dereg_mr = (int (*)(struct ibv_mr *))dlsym(RTLD_NEXT, "srd_dereg_mr");
    return run_in_modes(NULL, tests);
}
