/* SPDX-License-Identifier: MIT */
#include "tests/hostile/victim.h"

#include "tests/support/settle.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, REGION_OFFSET = 96, HEALTHY_OCTETS = 4096 };

static struct ibv_mr *victim_register(struct ibv_pd *pd, void *memory, size_t octets, int access)
{
    struct ibv_mr *mr = srd_reg_mr(pd, memory, octets, access);

    assert_non_null(mr);
    return mr;
}

int victim_event(struct victim *victim, int timeout_ms, struct rdma_cm_id **id, int *status)
{
    uint64_t deadline_ms = clock_now_ms() + (uint64_t)timeout_ms;
    struct rdma_cm_event *event;
    int type;

    while (srd_get_cm_event(victim->events, &event) != 0) {
        struct pollfd pollfd = { .fd = victim->events->fd, .events = POLLIN };
        uint64_t now_ms = clock_now_ms();

        assert_int_equal(errno, EAGAIN);
        if (now_ms >= deadline_ms || poll(&pollfd, 1, (int)(deadline_ms - now_ms)) == 0)
            return -1;
    }
    type = event->event;
    if (id)
        *id = event->id;
    if (status)
        *status = event->status;
    assert_int_equal(srd_ack_cm_event(event), 0);
    return type;
}

static void victim_expect(struct victim *victim, int type, struct rdma_cm_id **id)
{
    assert_int_equal(victim_event(victim, VICTIM_WAIT_MS, id, NULL), type);
}

static void victim_queue_pair(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_cq *cq,
    struct ibv_srq *srq, unsigned depth)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .srq = srq,
        .cap = { .max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
    };

    assert_int_equal(srd_create_id_qp(id, pd, &attr), 0);
}

/* ------------------------------------------------------------------------------------------------ neighbours */

static void healthy_open(struct victim *victim)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = victim->port_be,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct rdma_conn_param param = {
        .responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 6
    };
    unsigned established = 0;

    victim->healthy_cq = srd_create_cq(victim->context, 64, NULL, NULL, 0);
    assert_non_null(victim->healthy_cq);
    victim->healthy_memory =
        mmap(NULL, HEALTHY_OCTETS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(victim->healthy_memory, MAP_FAILED);
    victim->healthy_mr = victim_register(victim->pd, victim->healthy_memory, HEALTHY_OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    assert_int_equal(srd_create_id(victim->events, &victim->healthy[0], NULL, RDMA_PS_TCP), 0);
    assert_int_equal(
        srd_resolve_addr(victim->healthy[0], NULL, (struct sockaddr *)&address, 1000), 0);
    victim_expect(victim, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    assert_int_equal(srd_resolve_route(victim->healthy[0], 1000), 0);
    victim_expect(victim, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    victim_queue_pair(victim->healthy[0], victim->pd, victim->healthy_cq, NULL, 8);
    assert_int_equal(srd_connect(victim->healthy[0], &param), 0);
    victim_expect(victim, RDMA_CM_EVENT_CONNECT_REQUEST, &victim->healthy[1]);
    victim_queue_pair(victim->healthy[1], victim->pd, victim->healthy_cq, NULL, 8);
    assert_int_equal(srd_accept(victim->healthy[1], &param), 0);
    while (established++ < 2)
        victim_expect(victim, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static void healthy_close(struct victim *victim)
{
    for (int i = 0; i < 2; i++) {
        srd_disconnect(victim->healthy[i]);
        srd_destroy_id_qp(victim->healthy[i]);
        assert_int_equal(srd_destroy_id(victim->healthy[i]), 0);
    }
    assert_int_equal(srd_dereg_mr(victim->healthy_mr), 0);
    assert_int_equal(srd_destroy_cq(victim->healthy_cq), 0);
    munmap(victim->healthy_memory, HEALTHY_OCTETS);
}

void victim_fetch(struct ibv_cq *cq, struct ibv_wc *wc)
{
    uint64_t deadline_ms = clock_now_ms() + VICTIM_WAIT_MS;
    int count;

    do
        count = ibv_poll_cq(cq, 1, wc);
    while (count == 0 && clock_now_ms() < deadline_ms);
    assert_int_equal(count, 1);
}

/* One message of either direction, and a write, each with its own value. */
static void healthy_check(struct victim *victim)
{
    static uint8_t value;

    for (int from = 0; from < 2; from++) {
        struct ibv_sge source = { (uintptr_t)victim->healthy_memory, 16, victim->healthy_mr->lkey };
        struct ibv_sge target = { (uintptr_t)victim->healthy_memory + 1024, 16,
            victim->healthy_mr->lkey };
        struct ibv_recv_wr receive = { .sg_list = &target, .num_sge = 1 }, *bad_receive;
        struct ibv_send_wr send = { .sg_list = &source,
            .num_sge = 1,
            .opcode = IBV_WR_SEND,
            .send_flags = IBV_SEND_SIGNALED },
                           *bad_send;
        struct ibv_send_wr write = { .next = &send,
            .sg_list = &source,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED,
            .wr.rdma = { (uintptr_t)victim->healthy_memory + 2048, victim->healthy_mr->rkey } };
        struct ibv_wc wc;

        memset(victim->healthy_memory, ++value, 16);
        assert_int_equal(ibv_post_recv(victim->healthy[!from]->qp, &receive, &bad_receive), 0);
        assert_int_equal(ibv_post_send(victim->healthy[from]->qp, &write, &bad_send), 0);
        for (int i = 0; i < 3; i++) {
            victim_fetch(victim->healthy_cq, &wc);
            assert_int_equal(wc.status, IBV_WC_SUCCESS);
        }
        assert_memory_equal(victim->healthy_memory, victim->healthy_memory + 1024, 16);
        assert_memory_equal(victim->healthy_memory, victim->healthy_memory + 2048, 16);
    }
}

/* ------------------------------------------------------------------------------------------------ memory */

static void memory_fill(struct victim *victim)
{
    memset(victim->pages, VICTIM_POISON, 2 * PAGE);
    memset(victim->region, VICTIM_FILL, VICTIM_REGION);
    if (victim->receives)
        memset(victim->receives, VICTIM_FILL, VICTIM_RECEIVE * VICTIM_RECEIVES);
}

static void memory_open(struct victim *victim)
{
    uint8_t *map =
        mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_ptr_not_equal(map, MAP_FAILED);
    victim->pages = map + PAGE;
    assert_int_equal(mprotect(victim->pages, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
    victim->region = victim->pages + REGION_OFFSET;
    victim->receives = mmap(NULL, VICTIM_RECEIVE * VICTIM_RECEIVES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(victim->receives, MAP_FAILED);
    memory_fill(victim);
    victim->mr = victim_register(victim->pd, victim->region, VICTIM_REGION,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_MW_BIND);
    victim->mr_read =
        victim_register(victim->pd, victim->region, VICTIM_REGION, IBV_ACCESS_REMOTE_READ);
    victim->mr_local =
        victim_register(victim->pd, victim->region, VICTIM_REGION, IBV_ACCESS_LOCAL_WRITE);
    victim->mr_other = victim_register(victim->other_pd, victim->region, VICTIM_REGION,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    victim->mr_receives = victim_register(
        victim->pd, victim->receives, VICTIM_RECEIVE * VICTIM_RECEIVES, IBV_ACCESS_LOCAL_WRITE);
}

static void memory_close(struct victim *victim)
{
    struct ibv_mr *mrs[] = { victim->mr, victim->mr_read, victim->mr_local, victim->mr_other,
        victim->mr_receives };

    for (size_t i = 0; i < sizeof mrs / sizeof mrs[0]; i++)
        assert_int_equal(srd_dereg_mr(mrs[i]), 0);
    munmap(victim->pages - PAGE, 4 * PAGE);
    munmap(victim->receives, VICTIM_RECEIVE * VICTIM_RECEIVES);
}

void victim_untouched(struct victim *victim)
{
    for (size_t i = 0; i < VICTIM_REGION; i++)
        if (victim->region[i] != VICTIM_FILL)
            fail_msg("octet %zu of the region was written", i);
    for (size_t i = 0; i < VICTIM_RECEIVE * VICTIM_RECEIVES; i++)
        if (victim->receives[i] != VICTIM_FILL)
            fail_msg("octet %zu of the receives was written", i);
}

void victim_unharmed(struct victim *victim)
{
    for (size_t i = 0; i < 2 * PAGE; i++)
        if ((i < REGION_OFFSET || i >= REGION_OFFSET + VICTIM_REGION) &&
            victim->pages[i] != VICTIM_POISON)
            fail_msg("memory %zd octets off the region was written",
                (ptrdiff_t)i - REGION_OFFSET - (i < REGION_OFFSET ? 0 : VICTIM_REGION - 1));
    memory_fill(victim);
    healthy_check(victim);
}

/* ------------------------------------------------------------------------------------------------ the victim */

void victim_open(struct victim *victim)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    memset(victim, 0, sizeof *victim);
    victim->events = srd_create_event_channel();
    assert_non_null(victim->events);
    assert_int_equal(fcntl(victim->events->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(srd_create_id(victim->events, &victim->listener, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(victim->listener, (struct sockaddr *)&address), 0);
    assert_int_equal(srd_listen(victim->listener, 128), 0);
    victim->port_be = srd_get_src_port(victim->listener);
    victim->context = victim->listener->verbs;
    assert_non_null(victim->context);
    victim->pd = srd_alloc_pd(victim->context);
    victim->other_pd = srd_alloc_pd(victim->context);
    victim->cq = srd_create_cq(victim->context, 256, NULL, NULL, 0);
    assert_true(victim->pd && victim->other_pd && victim->cq);
    memory_open(victim);
    healthy_open(victim);
}

void victim_close(struct victim *victim)
{
    healthy_close(victim);
    memory_close(victim);
    assert_int_equal(srd_destroy_cq(victim->cq), 0);
    assert_int_equal(srd_destroy_id(victim->listener), 0);
    assert_int_equal(srd_dealloc_pd(victim->pd), 0);
    assert_int_equal(srd_dealloc_pd(victim->other_pd), 0);
    srd_destroy_event_channel(victim->events);
}

static void victim_receives(struct victim_end *end, unsigned receives)
{
    struct victim *victim = end->victim;

    for (unsigned i = 0; i < receives; i++) {
        struct ibv_sge sge = { (uintptr_t)victim->receives + i * VICTIM_RECEIVE, VICTIM_RECEIVE,
            victim->mr_receives->lkey };
        struct ibv_recv_wr wr = { .wr_id = 100 + i, .sg_list = &sge, .num_sge = 1 }, *bad;

        assert_int_equal(ibv_post_recv(end->id->qp, &wr, &bad), 0);
    }
}

void victim_take(struct victim *victim, struct victim_end *end)
{
    *end = (struct victim_end){ .victim = victim, .cq = victim->cq };
    victim_expect(victim, RDMA_CM_EVENT_CONNECT_REQUEST, &end->id);
    victim_queue_pair(end->id, victim->pd, victim->cq, victim->srq, 8);
}

void victim_accept(struct victim_end *end, unsigned receives)
{
    struct rdma_conn_param param = {
        .responder_resources = VICTIM_READS, .initiator_depth = VICTIM_READS, .rnr_retry_count = 1
    };

    victim_receives(end, receives);
    assert_int_equal(srd_accept(end->id, &param), 0);
}

void victim_established(struct victim_end *end)
{
    struct rdma_cm_id *id;

    victim_expect(end->victim, RDMA_CM_EVENT_ESTABLISHED, &id);
    assert_ptr_equal(id, end->id);
}

void victim_connect(struct victim *victim, struct victim_end *end, uint16_t port_be)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = port_be, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    struct rdma_conn_param param = {
        .responder_resources = VICTIM_READS, .initiator_depth = VICTIM_READS, .rnr_retry_count = 1
    };

    *end = (struct victim_end){ .victim = victim, .cq = victim->cq };
    assert_int_equal(srd_create_id(victim->events, &end->id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_resolve_addr(end->id, NULL, (struct sockaddr *)&address, 1000), 0);
    victim_expect(victim, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    assert_int_equal(srd_resolve_route(end->id, 1000), 0);
    victim_expect(victim, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    victim_queue_pair(end->id, victim->pd, victim->cq, NULL, 8);
    victim_receives(end, VICTIM_RECEIVES);
    assert_int_equal(srd_connect(end->id, &param), 0);
}

static void victim_post(struct victim_end *end, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    wr->send_flags = IBV_SEND_SIGNALED;
    assert_int_equal(ibv_post_send(end->id->qp, wr, &bad), 0);
    victim_fetch(end->cq, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

void victim_bind(struct victim_end *end)
{
    struct victim *victim = end->victim;
    struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

    end->mw = ibv_alloc_mw(victim->pd, IBV_MW_TYPE_2);
    assert_non_null(end->mw);
    wr.bind_mw.mw = end->mw;
    wr.bind_mw.rkey = ibv_inc_rkey(end->mw->rkey);
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ victim->mr, (uintptr_t)victim->region,
        VICTIM_REGION, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE };
    victim_post(end, &wr);
    end->mw->rkey = wr.bind_mw.rkey;
}

void victim_invalidate(struct victim_end *end)
{
    struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = end->mw->rkey };

    victim_post(end, &wr);
}

void victim_drop(struct victim_end *end)
{
    struct ibv_wc wc;

    if (end->id->qp)
        srd_destroy_id_qp(end->id);
    if (end->mw)
        assert_int_equal(ibv_dealloc_mw(end->mw), 0);
    assert_int_equal(srd_destroy_id(end->id), 0);
    while (ibv_poll_cq(end->cq, 1, &wc) > 0)
        ;
}

void victim_over(struct victim_end *end)
{
    int event;

    /* A responder that got a bad first FPDU never was established. */
    do
        event = victim_event(end->victim, VICTIM_WAIT_MS, NULL, NULL);
    while (event == RDMA_CM_EVENT_ESTABLISHED);
    assert_true(event == RDMA_CM_EVENT_DISCONNECTED || event == RDMA_CM_EVENT_REJECTED ||
                event == RDMA_CM_EVENT_CONNECT_ERROR || event == RDMA_CM_EVENT_UNREACHABLE);
    victim_drop(end);
}

unsigned victim_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

void victim_settle(unsigned descriptors)
{
    assert_true(SETTLES(victim_descriptors() <= descriptors));
}
