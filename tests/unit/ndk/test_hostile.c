/* SPDX-License-Identifier: MIT */
/*
 * test_hostile.c - a peer that knows verbs alone invalidates what it may not, and uses tokens that are not any more:
 * its connection ends, once, and nothing else does: another connection of the same domain, and a region that is
 * registered for it, go on.
 */
#include "tests/unit/ndk/pair.h"

#include "softrdma/softrdma.h"

#include <stdlib.h>
#include <string.h>

enum { FAST_BASE = 0x20000000, OCTETS = 8 };

struct scene {
    struct pair pair; /* connected; the passive side is the victim */
    union {
        NDK_LOGICAL_ADDRESS_MAPPING lam;
        unsigned char bytes[0x10 + 8 * 16];
    } mapping;
    NDK_MR *healthy; /* registered over the start of the victim's memory, for the pair */
    NDK_MR *spoiled; /* the same, which the hostile peer gets */
    NDK_QP *qp;      /* of the victim: to the hostile peer */
    NDK_CONNECTOR *connector;
    struct told request, disconnect;
    struct rdma_cm_id *peer;
    struct ibv_mr *peers_mr;
    char peers_memory[64];
};

/* ---- the victim ---- */

static NDK_RESULT_EX next(NDK_CQ *cq)
{
    NDK_RESULT_EX result;

    while (!cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1))
        sched_yield();
    return result;
}

static NDK_MR *fast_region(struct side *side, const NDK_LOGICAL_ADDRESS *page)
{
    const ULONG flags = NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE;
    struct told told;
    NDK_MR *mr = NULL;
    NDK_RESULT_EX result;

    told_init(&told);
    mr = made(&told, side->pd->Dispatch->NdkCreateMr(side->pd, TRUE, tell_create, &told, &mr), &mr);
    assert_non_null(mr);
    told_init(&told);
    assert_int_equal(
        ended(&told, mr->Dispatch->NdkInitializeFastRegisterMr(mr, 1, TRUE, tell_request, &told)),
        0);
    assert_int_equal(side->qp->Dispatch->NdkFastRegister(
                         side->qp, NULL, mr, 1, page, 0, 4096, (PVOID)FAST_BASE, flags),
        0);
    result = next(side->initiator_cq);
    assert_int_equal(result.Status, 0);
    return mr;
}

static UINT32 token_of(NDK_MR *mr)
{
    return mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
}

static NTSTATUS receive(struct side *side, NDK_QP *qp, void *context)
{
    NDK_SGE entry = sge(side->memory + 8192, 64, side->token);

    return qp->Dispatch->NdkReceive(qp, context, &entry, 1);
}

/* ---- the peer ---- */

static void *connect_main(void *peer)
{
    return srd_connect(peer, NULL) ? NULL : peer;
}

static struct rdma_cm_id *new_peer(struct sockaddr_in *address)
{
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct rdma_cm_id *id;

    assert_int_equal(srd_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_resolve_addr(id, NULL, (struct sockaddr *)address, 2000), 0);
    assert_int_equal(srd_resolve_route(id, 2000), 0);
    assert_int_equal(srd_create_id_qp(id, NULL, &attr), 0);
    return id;
}

/* What it does, told by the peer's own words. key in: in the order of verbs */
static void play(struct scene *scene, enum ibv_wr_opcode opcode, uint32_t key)
{
    struct ibv_sge entry = {
        .addr = (uintptr_t)scene->peers_memory, .length = OCTETS, .lkey = scene->peers_mr->lkey
    };
    struct ibv_send_wr wr = { .opcode = opcode, .sg_list = &entry, .num_sge = 1 }, *bad;

    if (opcode == IBV_WR_SEND_WITH_INV) {
        wr.invalidate_rkey = key;
    } else {
        wr.wr.rdma.remote_addr = FAST_BASE;
        wr.wr.rdma.rkey = key;
    }
    assert_int_equal(ibv_post_send(scene->peer->qp, &wr, &bad), 0);
}

/* ---- the scene ---- */

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct side *victim = &scene->pair.passive;
    ULONG size = sizeof(scene->mapping), offset;
    pthread_t thread;
    void *well;
    MDL mdl;

    assert_non_null(scene);
    pair_open(&scene->pair);
    pair_connect(&scene->pair);
    MmInitializeMdl(&mdl, victim->memory, MEMORY);
    assert_int_equal(victim->adapter->Dispatch->NdkBuildLAM(victim->adapter, &mdl, MEMORY, NULL,
                         NULL, &scene->mapping.lam, &size, &offset),
        0);
    scene->healthy = fast_region(victim, scene->mapping.lam.AdapterPageArray);
    scene->spoiled = fast_region(victim, scene->mapping.lam.AdapterPageArray);
    told_init(&scene->request);
    told_init(&scene->disconnect);
    scene->qp = qp_create(victim->pd, victim->receive_cq, victim->initiator_cq, scene);
    for (int i = 0; i < 3; i++)
        assert_int_equal(receive(victim, scene->qp, scene), 0);
    scene->peer = new_peer(&scene->pair.address);
    scene->peers_mr = srd_reg_mr(scene->peer->pd, scene->peers_memory, sizeof(scene->peers_memory),
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE); /* a sink of Reads, too */
    assert_non_null(scene->peers_mr);
    assert_int_equal(pthread_create(&thread, NULL, connect_main, scene->peer), 0);
    told_wait(&scene->pair.incoming);
    scene->connector = (NDK_CONNECTOR *)scene->pair.incoming.object;
    assert_int_equal(scene->connector->Dispatch->NdkAccept(scene->connector, scene->qp, 4, 4, NULL,
                         0, tell_disconnect, &scene->disconnect, tell_request, &scene->request),
        SPEC_STATUS_PENDING);
    assert_int_equal(pthread_join(thread, &well), 0);
    assert_non_null(well);
    told_wait(&scene->request);
    assert_int_equal(scene->request.status, 0);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    struct side *victim = &scene->pair.passive;

    close_connector(scene->connector);
    close_qp(scene->qp);
    close_mr(scene->healthy);
    close_mr(scene->spoiled);
    victim->adapter->Dispatch->NdkReleaseLAM(victim->adapter, &scene->mapping.lam);
    pair_close(&scene->pair);
    srd_dereg_mr(scene->peers_mr);
    srd_destroy_id_qp(scene->peer);
    srd_destroy_id(scene->peer);
    free(scene);
    return 0;
}

/*
 * The hostile peer's connection has ended, once; the other one and its region serve.
 * status  in: of the first of its Receives that fails
 */
static void assert_its_own_alone(struct scene *scene, NTSTATUS status)
{
    struct side *victim = &scene->pair.passive, *friend = &scene->pair.active;
    NDK_SGE entry = sge(friend->memory, OCTETS, friend->token);
    NDK_RESULT_EX result;

    told_wait(&scene->disconnect);
    scene->qp->Dispatch->NdkFlush(scene->qp);
    do { /* its Receives: used by what was allowed, then flushed */
        result = next(victim->receive_cq);
        assert_ptr_equal(result.QPContext, scene);
    } while (result.Status == 0);
    assert_int_equal(result.Status, status);
    memcpy(friend->memory, "friendly", OCTETS);
    memset(victim->memory, 0, OCTETS);
    assert_int_equal(friend->qp->Dispatch->NdkWrite(friend->qp, NULL, &entry, 1, FAST_BASE,
                         token_of(scene->healthy), NDK_OP_FLAG_SILENT_SUCCESS),
        0);
    assert_int_equal(receive(victim, victim->qp, NULL), 0);
    assert_int_equal(friend->qp->Dispatch->NdkSendAndInvalidate(
                         friend->qp, NULL, &entry, 1, 0, token_of(scene->healthy)),
        0);
    do
        result = next(victim->receive_cq);
    while (result.QPContext == scene); /* the rest of the flushed ones */
    assert_ptr_equal(result.QPContext, victim);
    assert_int_equal(result.Status, 0);
    assert_int_equal(result.Type, 0x8001);
    assert_int_equal(result.TypeSpecificCompletionOutput, token_of(scene->healthy));
    assert_memory_equal(victim->memory, "friendly", OCTETS);
    assert_int_equal(next(friend->initiator_cq).Status, 0);
    assert_int_equal(atomic_load(&scene->disconnect.count), 1);
    assert_int_equal(atomic_load(&victim->disconnect.count), 0);
    assert_int_equal(atomic_load(&friend->disconnect.count), 0);
}

/* ---- cases ---- */

static void invalidates_nothing(void **state)
{
    struct scene *scene = *state;

    play(scene, IBV_WR_SEND_WITH_INV, 0x01020304);
    assert_its_own_alone(scene, (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
}

/* Registered by NdkRegisterMr: nobody may invalidate it. */
static void invalidates_an_ordinary_region(void **state)
{
    struct scene *scene = *state;
    struct side *victim = &scene->pair.passive;

    play(scene, IBV_WR_SEND_WITH_INV, victim->remote_token);
    assert_its_own_alone(scene, (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(
        victim->mr->Dispatch->NdkGetRemoteTokenFromMr(victim->mr), victim->remote_token);
}

/* Of the other side's adapter, in another domain. */
static void invalidates_a_region_of_another_domain(void **state)
{
    struct scene *scene = *state;
    struct side *other = &scene->pair.active;

    play(scene, IBV_WR_SEND_WITH_INV, other->remote_token);
    assert_its_own_alone(scene, (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
}

static void invalidates_twice(void **state)
{
    struct scene *scene = *state;
    struct side *victim = &scene->pair.passive;
    NDK_RESULT_EX result;

    play(scene, IBV_WR_SEND_WITH_INV, token_of(scene->spoiled));
    result = next(victim->receive_cq);
    assert_int_equal(result.Status, 0);
    assert_int_equal(result.Type, 0x8001);
    assert_int_equal(atomic_load(&scene->disconnect.count), 0);
    play(scene, IBV_WR_SEND_WITH_INV, token_of(scene->spoiled));
    assert_its_own_alone(scene, (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_REQUEST);
}

static void use_after_invalidation(struct scene *scene, enum ibv_wr_opcode opcode, bool by_peer)
{
    struct side *victim = &scene->pair.passive;

    memset(scene->peers_memory, 'p', sizeof(scene->peers_memory));
    memset(victim->memory, 'v', 64);
    if (by_peer) {
        play(scene, IBV_WR_SEND_WITH_INV, token_of(scene->spoiled));
        assert_int_equal(next(victim->receive_cq).Type, 0x8001);
    } else {
        assert_int_equal(
            victim->qp->Dispatch->NdkInvalidate(victim->qp, NULL, &scene->spoiled->Header, 0), 0);
        assert_int_equal(next(victim->initiator_cq).Status, 0);
    }
    play(scene, opcode, token_of(scene->spoiled));
    told_wait(&scene->disconnect);
    KeSetEvent(&scene->disconnect.event, 0, FALSE); /* for the next who waits */
    assert_int_equal(victim->memory[0], 'v');
    assert_int_equal(scene->peers_memory[0], 'p');
    assert_its_own_alone(scene, (NTSTATUS)SPEC_STATUS_CANCELLED);
}

static void writes_after_its_invalidation(void **state)
{
    use_after_invalidation(*state, IBV_WR_RDMA_WRITE, true);
}

static void reads_after_its_invalidation(void **state)
{
    use_after_invalidation(*state, IBV_WR_RDMA_READ, true);
}

static void writes_after_the_owners_invalidation(void **state)
{
    use_after_invalidation(*state, IBV_WR_RDMA_WRITE, false);
}

static void reads_after_the_owners_invalidation(void **state)
{
    use_after_invalidation(*state, IBV_WR_RDMA_READ, false);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(invalidates_nothing),
        ROW(invalidates_an_ordinary_region),
        ROW(invalidates_a_region_of_another_domain),
        ROW(invalidates_twice),
        ROW(writes_after_its_invalidation),
        ROW(reads_after_its_invalidation),
        ROW(writes_after_the_owners_invalidation),
        ROW(reads_after_the_owners_invalidation),
    };

    return run_in_modes(NULL, tests);
}
