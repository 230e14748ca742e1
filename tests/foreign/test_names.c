/* SPDX-License-Identifier: MIT */
/*
 * The preload library's names from a program written for rdma-core alone: what rdma-core's calls do beyond those of the
 * other programs here, and what iWARP cannot do. Linked in front of rdma-core's own libraries.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { OCTETS = 4096, INLINE_OCTETS = 64, DEADLINE_MS = 20000 };

struct end {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    _Alignas(8) uint8_t memory[OCTETS];
};

struct pair {
    struct rdma_cm_id *listener;
    struct end active, passive;
};

static struct ibv_qp_init_attr_ex qp_attr(void)
{
    return (struct ibv_qp_init_attr_ex){
        .cap = { .max_send_wr = 8,
            .max_recv_wr = 8,
            .max_send_sge = 2,
            .max_recv_sge = 1,
            .max_inline_data = INLINE_OCTETS },
        .qp_type = IBV_QPT_RC,
        .comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
                          IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND_WITH_INV |
                          IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_IMM |
                          IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                          IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
    };
}

static void make_queues(struct end *end)
{
    struct ibv_qp_init_attr_ex attr = qp_attr();

    assert_non_null(end->id->pd); /* librdmacm has a domain for each device */
    assert_int_equal(rdma_create_qp_ex(end->id, &attr), 0);
    assert_true(attr.cap.max_inline_data >= INLINE_OCTETS);
    end->mr = ibv_reg_mr(end->id->pd, end->memory, OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_REMOTE_ATOMIC);
    assert_non_null(end->mr);
}

static void *accept_one(void *arg)
{
    struct pair *pair = arg;

    if (rdma_get_request(pair->listener, &pair->passive.id))
        return "get_request";
    make_queues(&pair->passive);
    return rdma_accept(pair->passive.id, NULL) ? "accept" : NULL;
}

/* Both ends with synchronous ids, as rdma_create_ep makes them. */
static void connect_pair(struct pair *pair)
{
    struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *info;
    char port[8];
    pthread_t thread;
    void *failed;

    memset(pair, 0, sizeof(*pair));
    assert_int_equal(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
    assert_int_equal(rdma_create_ep(&pair->listener, info, NULL, NULL), 0);
    rdma_freeaddrinfo(info);
    assert_int_equal(rdma_listen(pair->listener, 1), 0);
    assert_int_equal(pthread_create(&thread, NULL, accept_one, pair), 0);
    snprintf(port, sizeof(port), "%u", (unsigned)ntohs(rdma_get_src_port(pair->listener)));
    hints.ai_flags = 0;
    assert_int_equal(rdma_getaddrinfo("127.0.0.1", port, &hints, &info), 0);
    assert_int_equal(rdma_create_ep(&pair->active.id, info, NULL, NULL), 0);
    rdma_freeaddrinfo(info);
    make_queues(&pair->active);
    assert_int_equal(rdma_connect(pair->active.id, NULL), 0);
    assert_int_equal(pair->active.id->event->event, RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
}

static void close_end(struct end *end)
{
    rdma_destroy_qp(end->id);
    assert_int_equal(ibv_dereg_mr(end->mr), 0);
    rdma_destroy_ep(end->id);
}

static void close_pair(struct pair *pair)
{
    assert_int_equal(rdma_disconnect(pair->active.id), 0);
    assert_int_equal(pair->active.id->event->event, RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdma_disconnect(pair->passive.id), 0);
    assert_int_equal(rdma_disconnect(pair->passive.id), 0); /* over already: it does not wait */
    close_end(&pair->active);
    close_end(&pair->passive);
    rdma_destroy_ep(pair->listener);
}

static void expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
    struct ibv_comp_channel *channel = cq->channel;
    struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
    struct ibv_wc wc;
    void *context;
    int got;

    while (!(got = ibv_poll_cq(cq, 1, &wc))) {
        assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
        if ((got = ibv_poll_cq(cq, 1, &wc)) != 0)
            break;
        assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
        assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
        ibv_ack_cq_events(cq, 1);
    }
    assert_int_equal(got, 1);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(wc.wr_id, wr_id);
    assert_int_equal(wc.opcode, opcode);
}

/* ibv_wr_post(3): built call by call, posted by wr_complete. */
static void extended_requests_are_posted_together(void **state)
{
    struct pair pair;
    struct end *a = &pair.active, *b = &pair.passive;
    struct ibv_data_buf parts[2] = { { .addr = "abc", .length = 3 },
        { .addr = "defg", .length = 4 } };
    struct ibv_sge pieces[2];
    struct ibv_qp_ex *qp;
    char text[8] = "inline";

    (void)state;
    connect_pair(&pair);
    qp = ibv_qp_to_qp_ex(a->id->qp);
    assert_non_null(qp);
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(
            rdma_post_recv(b->id, (void *)(uintptr_t)i, b->memory + 256 * i, 256, b->mr), 0);
    memset(a->memory, 0x5A, 512);
    memset(b->memory + 2048, 0xC3, 512);
    pieces[0] = (struct ibv_sge){ (uintptr_t)a->memory, 100, a->mr->lkey };
    pieces[1] = (struct ibv_sge){ (uintptr_t)a->memory + 200, 28, a->mr->lkey };

    ibv_wr_start(qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    qp->wr_id = 11;
    ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 1024);
    ibv_wr_set_sge_list(qp, 2, pieces);
    qp->wr_id = 12;
    ibv_wr_rdma_read(qp, b->mr->rkey, (uintptr_t)b->memory + 2048);
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory + 2048, 512);
    qp->wr_id = 13;
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, text, sizeof(text));
    qp->wr_id = 14;
    ibv_wr_send(qp);
    ibv_wr_set_inline_data_list(qp, 2, parts);
    memset(text, 0, sizeof(text)); /* inline data is taken at the call */
    assert_int_equal(ibv_wr_complete(qp), 0);

    expect_wc(a->id->send_cq, 11, IBV_WC_RDMA_WRITE);
    expect_wc(a->id->send_cq, 12, IBV_WC_RDMA_READ);
    expect_wc(a->id->send_cq, 13, IBV_WC_SEND);
    expect_wc(a->id->send_cq, 14, IBV_WC_SEND);
    expect_wc(b->id->recv_cq, 0, IBV_WC_RECV);
    expect_wc(b->id->recv_cq, 1, IBV_WC_RECV);
    assert_memory_equal(b->memory + 1024, a->memory, 128);
    assert_memory_equal(a->memory + 2048, b->memory + 2048, 512);
    assert_string_equal((char *)b->memory, "inline");
    assert_memory_equal(b->memory + 256, "abcdefg", 7);
    close_pair(&pair);
}

static void an_extended_list_is_posted_whole_or_not_at_all(void **state)
{
    struct pair pair;
    struct end *a = &pair.active, *b = &pair.passive;
    uint8_t large[2048] = { 0 };
    struct ibv_qp_ex *qp;

    (void)state;
    connect_pair(&pair);
    qp = ibv_qp_to_qp_ex(a->id->qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_start(qp);
    qp->wr_id = 1;
    ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory);
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory, 8);
    qp->wr_id = 2;
    ibv_wr_send(qp);
    ibv_wr_set_inline_data(qp, large, sizeof(large));
    assert_int_equal(ibv_wr_complete(qp), ENOMEM);

    ibv_wr_start(qp);
    for (int i = 0; i < 9; i++) { /* the queue holds 8 */
        ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory);
        ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory, 8);
    }
    assert_int_equal(ibv_wr_complete(qp), ENOMEM);

    ibv_wr_start(qp);
    qp->wr_id = 3;
    ibv_wr_send(qp);
    ibv_wr_abort(qp);

    ibv_wr_start(qp);
    qp->wr_id = 4;
    ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory);
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory, 8);
    assert_int_equal(ibv_wr_complete(qp), 0);
    expect_wc(a->id->send_cq, 4, IBV_WC_RDMA_WRITE); /* the first that was posted at all */
    close_pair(&pair);
}

static void a_connection_to_nobody_is_refused_in_the_call(void **state)
{
    struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP }, *info;
    struct ibv_qp_init_attr_ex attr = qp_attr();
    struct rdma_cm_id *closed, *id;
    char port[8];

    (void)state;
    assert_int_equal(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
    assert_int_equal(rdma_create_ep(&closed, info, NULL, NULL), 0); /* has a port, never listens */
    rdma_freeaddrinfo(info);
    snprintf(port, sizeof(port), "%u", (unsigned)ntohs(rdma_get_src_port(closed)));
    hints.ai_flags = 0;
    assert_int_equal(rdma_getaddrinfo("127.0.0.1", port, &hints, &info), 0);
    assert_int_equal(rdma_create_ep(&id, info, NULL, NULL), 0);
    rdma_freeaddrinfo(info);
    assert_int_equal(rdma_create_qp_ex(id, &attr), 0);
    assert_int_equal(rdma_connect(id, NULL), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(id->event->event, RDMA_CM_EVENT_REJECTED);
    rdma_destroy_ep(id);
    rdma_destroy_ep(closed);
}

static void the_gid_table_has_every_address(void **state)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(devices[0]);
    struct ibv_port_attr port;
    struct ibv_gid_entry table[8], entry;
    union ibv_gid gid;
    ssize_t count;

    (void)state;
    assert_non_null(context);
    assert_int_equal(ibv_query_port(context, 1, &port), 0);
    count = ibv_query_gid_table(context, table, 8, 0);
    assert_int_equal(count, port.gid_tbl_len < 8 ? port.gid_tbl_len : 8);
    for (ssize_t i = 0; i < count; i++) {
        assert_int_equal(ibv_query_gid_ex(context, 1, (uint32_t)i, &entry, 0), 0);
        assert_memory_equal(&entry, &table[i], sizeof(entry));
        assert_int_equal(ibv_query_gid(context, 1, (int)i, &gid), 0);
        assert_memory_equal(&entry.gid, &gid, sizeof(gid));
        assert_int_equal(entry.port_num, 1);
        assert_int_equal(entry.gid_index, i);
    }
    assert_int_equal(ibv_query_gid_ex(context, 1, (uint32_t)port.gid_tbl_len, &entry, 0), ENODATA);
    assert_int_equal(ibv_query_gid_ex(context, 2, 0, &entry, 0), EINVAL);
    assert_int_equal(ibv_get_pkey_index(context, 1, htons(0xFFFF)), 0);
    assert_int_equal(ibv_get_pkey_index(context, 1, htons(0x1234)), -1);
    assert_int_equal(ibv_get_device_index(devices[0]), -1);
    assert_int_equal(ibv_close_device(context), 0);
    ibv_free_device_list(devices);
}

static void a_small_completion_queue_is_made_larger(void **state)
{
    static const int wanted[3] = { 1, 16, 100 }, given[3] = { 16, 16, 100 };
    struct ibv_cq_init_attr_ex attr = { .cqe = 0 };
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(devices[0]);

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ibv_cq *cq = ibv_create_cq(context, wanted[i], NULL, NULL, 0);

        assert_non_null(cq);
        assert_int_equal(cq->cqe, given[i]);
        assert_int_equal(ibv_destroy_cq(cq), 0);
        attr.cqe = (uint32_t)wanted[i];
        cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(context, &attr));
        assert_non_null(cq);
        assert_int_equal(cq->cqe, given[i]);
        assert_int_equal(ibv_destroy_cq(cq), 0);
    }
    errno = 0;
    assert_null(ibv_create_cq(context, 0, NULL, NULL, 0));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(ibv_close_device(context), 0);
    ibv_free_device_list(devices);
}

static void what_iwarp_cannot_do_is_refused(void **state)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(devices[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD, .cap = { 1, 1, 1, 1, 0 }
    };
    struct ibv_qp_init_attr_ex other = qp_attr();
    struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4,
        .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
    struct ibv_ah_attr ah = { .port_num = 1 };
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id;
    struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xE0000001) };
    struct ibv_mr *mr;
    union ibv_gid gid = { .raw = { 0xFF, 0x0E } };
    uint8_t memory[64];

    (void)state;
    assert_null(ibv_create_qp(pd, &init));
    assert_int_equal(errno, EOPNOTSUPP);
    other.send_cq = other.recv_cq = cq;
    other.pd = pd;
    other.comp_mask |= IBV_QP_INIT_ATTR_PD;
    other.send_ops_flags |= IBV_QP_EX_WITH_TSO;
    errno = 0;
    assert_null(ibv_create_qp_ex(context, &other));
    assert_int_equal(errno, EOPNOTSUPP);
    errno = 0;
    assert_null(ibv_create_ah(pd, &ah));
    assert_int_equal(errno, EOPNOTSUPP);
    errno = 0;
    assert_null(ibv_create_cq_ex(context, &cq_attr));
    assert_int_equal(errno, EOPNOTSUPP);
    mr = ibv_reg_mr_iova(pd, memory, sizeof(memory), 0, IBV_ACCESS_LOCAL_WRITE);
    assert_null(mr);
    assert_int_equal(errno, EOPNOTSUPP);
    init.qp_type = IBV_QPT_RC;
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    assert_non_null(qp);
    assert_null(ibv_qp_to_qp_ex(qp)); /* made without the extension */
    assert_int_equal(ibv_attach_mcast(qp, &gid, 0), EOPNOTSUPP);
    assert_int_equal(ibv_detach_mcast(qp, &gid, 0), EOPNOTSUPP);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), -1);
    assert_int_equal(errno, EPROTONOSUPPORT);
    assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(rdma_join_multicast(id, (struct sockaddr *)&group, NULL), -1);
    assert_int_equal(errno, EOPNOTSUPP);
    assert_int_equal(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    assert_int_equal(ibv_close_device(context), 0);
    ibv_free_device_list(devices);
}

/* As libibverbs' programs ask for them: the device says that it has atomics, and both ends are it. */
static void atomics_and_immediate_data(void **state)
{
    struct pair pair;
    struct end *a = &pair.active, *b = &pair.passive;
    struct ibv_device_attr attr;
    struct ibv_qp_ex *qp;
    uint64_t word = 40, got = 0;

    (void)state;
    connect_pair(&pair);
    assert_int_equal(ibv_query_device(a->id->verbs, &attr), 0);
    assert_int_equal(attr.atomic_cap, IBV_ATOMIC_GLOB);
    qp = ibv_qp_to_qp_ex(a->id->qp);
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(
            rdma_post_recv(b->id, (void *)(uintptr_t)i, b->memory + 256 * i, 256, b->mr), 0);
    memcpy(b->memory + 1024, &word, 8);
    memset(a->memory, 0x5A, 128);
    ibv_wr_start(qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    qp->wr_id = 11;
    ibv_wr_atomic_fetch_add(qp, b->mr->rkey, (uintptr_t)b->memory + 1024, 2);
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory + 2048, 8);
    qp->wr_id = 12;
    ibv_wr_atomic_cmp_swp(qp, b->mr->rkey, (uintptr_t)b->memory + 1024, 42, 7);
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory + 2056, 8);
    qp->wr_id = 13;
    ibv_wr_send_imm(qp, htonl(0x11223344));
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory, 128);
    qp->wr_id = 14;
    ibv_wr_rdma_write_imm(qp, b->mr->rkey, (uintptr_t)b->memory + 2048, htonl(0x55667788));
    ibv_wr_set_sge(qp, a->mr->lkey, (uintptr_t)a->memory, 100);
    assert_int_equal(ibv_wr_complete(qp), 0);
    expect_wc(a->id->send_cq, 11, IBV_WC_FETCH_ADD);
    expect_wc(a->id->send_cq, 12, IBV_WC_COMP_SWAP);
    expect_wc(a->id->send_cq, 13, IBV_WC_SEND);
    expect_wc(a->id->send_cq, 14, IBV_WC_RDMA_WRITE);
    expect_wc(b->id->recv_cq, 0, IBV_WC_RECV);
    expect_wc(b->id->recv_cq, 1, IBV_WC_RECV_RDMA_WITH_IMM);
    memcpy(&got, a->memory + 2048, 8);
    assert_int_equal(got, 40);
    memcpy(&got, a->memory + 2056, 8);
    assert_int_equal(got, 42);
    memcpy(&word, b->memory + 1024, 8);
    assert_int_equal(word, 7);
    assert_memory_equal(b->memory, a->memory, 128);
    assert_memory_equal(b->memory + 2048, a->memory, 100);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extended_requests_are_posted_together),
        cmocka_unit_test(an_extended_list_is_posted_whole_or_not_at_all),
        cmocka_unit_test(a_connection_to_nobody_is_refused_in_the_call),
        cmocka_unit_test(the_gid_table_has_every_address),
        cmocka_unit_test(a_small_completion_queue_is_made_larger),
        cmocka_unit_test(what_iwarp_cannot_do_is_refused),
        cmocka_unit_test(atomics_and_immediate_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
