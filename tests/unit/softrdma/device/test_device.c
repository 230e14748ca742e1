/* SPDX-License-Identifier: MIT */
/*
 * Devices and their attributes. Runs with
 * NDSPI_SOFT_DEVICES="left=127.0.0.1;broken;right=127.0.0.2,nonsense,127.0.0.3": the device leaves out what is wrong
 * there.
 */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/qp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void devices_are_those_of_the_environment(void **state)
{
    struct ibv_device **list;
    int count = 0;

    (void)state;
    list = srd_get_device_list(&count);
    assert_int_equal(count, 2);
    assert_string_equal(srd_get_device_name(list[0]), "left");
    assert_string_equal(srd_get_device_name(list[1]), "right");
    assert_null(list[2]);
    assert_int_equal(list[0]->transport_type, IBV_TRANSPORT_IWARP);
    assert_int_equal(list[0]->node_type, IBV_NODE_RNIC);
    assert_true(srd_get_device_guid(list[0]) != 0);
    assert_true(srd_get_device_guid(list[0]) != srd_get_device_guid(list[1]));
    srd_free_device_list(list);
}

static struct ibv_context *open_right(void)
{
    struct ibv_device **list = srd_get_device_list(NULL);
    struct ibv_context *context = srd_open_device(list[1]);

    srd_free_device_list(list);
    assert_non_null(context);
    return context;
}

static void a_port_has_a_gid_for_each_address(void **state)
{
    static const uint8_t third[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 3 };
    struct ibv_context *context = open_right();
    struct ibv_port_attr port;
    union ibv_gid gid;
    __be16 pkey;

    (void)state;
    assert_int_equal(srd_query_port(context, 1, &port), 0);
    assert_int_equal(port.state, IBV_PORT_ACTIVE);
    assert_int_equal(port.gid_tbl_len, 2);
    assert_int_equal(port.max_msg_sz, 0xFFFFFFFF);
    assert_int_equal(srd_query_gid(context, 1, 1, &gid), 0);
    assert_memory_equal(gid.raw, third, 16);
    assert_int_equal(srd_query_gid(context, 1, 2, &gid), -1);
    assert_int_equal(srd_query_gid(context, 2, 0, &gid), -1);
    assert_int_equal(srd_query_port(context, 0, &port), EINVAL);
    assert_int_equal(srd_query_pkey(context, 1, 0, &pkey), 0);
    assert_int_equal(pkey, 0xFFFF);
    assert_int_equal(ibv_query_port(context, 1, &port), 0); /* libibverbs' inline function, too */
    assert_int_equal(port.gid_tbl_len, 2);
    assert_int_equal(srd_close_device(context), 0);
}

static void a_gid_table_has_to_take_all_entries(void **state)
{
    struct ibv_context *context = open_right();
    struct ibv_gid_entry entries[3] = { 0 };

    (void)state;
    assert_int_equal(srd_query_gid_table(context, entries, 1, 0, sizeof(entries[0])), -EINVAL);
    assert_int_equal(entries[0].port_num, 0); /* untouched */
    assert_int_equal(srd_query_gid_table(context, entries, 0, 0, sizeof(entries[0])), -EINVAL);
    assert_int_equal(srd_query_gid_table(context, entries, 2, 0, 0), -EINVAL);
    assert_int_equal(srd_query_gid_table(context, entries, 2, 1, sizeof(entries[0])), -EOPNOTSUPP);
    assert_int_equal(srd_query_gid_table(context, entries, 2, 0, sizeof(entries[0])), 2);
    assert_int_equal(entries[1].gid_index, 1);
    assert_int_equal(srd_query_gid_table(context, entries, 3, 0, sizeof(entries[0])), 2);
    assert_int_equal(srd_close_device(context), 0);
}

static void a_device_has_a_vendor_and_a_port(void **state)
{
    struct ibv_context *context = open_right();
    struct ibv_device_attr_ex attr;

    (void)state;
    assert_int_equal(ibv_query_device_ex(context, NULL, &attr), 0);
    assert_int_equal(attr.orig_attr.vendor_id, 0x72646D);
    assert_int_equal(attr.orig_attr.vendor_part_id, 1);
    assert_int_equal(attr.orig_attr.phys_port_cnt, 1);
    assert_int_equal(attr.phys_port_cnt_ex, 1);
    /* of an older library, whose structure is shorter than anything that it has asked for */
    assert_int_equal(
        verbs_get_ctx(context)->query_device_ex(context, NULL, &attr, sizeof(attr.orig_attr) - 1),
        EINVAL);
    assert_int_equal(srd_close_device(context), 0);
}

static void what_is_reported_can_be_created_together(void **state)
{
    struct ibv_context *context = open_right();
    struct ibv_pd *pd = srd_alloc_pd(context);
    struct ibv_device_attr attr;
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
    struct ibv_qp *qp;
    struct ibv_cq *cq;

    (void)state;
    assert_int_equal(srd_query_device(context, &attr), 0);
    assert_true(attr.max_qp_wr >= 16384);
    assert_true(attr.max_cqe >= 65536);
    assert_true(attr.max_sge >= 16);
    assert_int_equal(attr.phys_port_cnt, 1);
    assert_int_equal(
        attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B, IBV_DEVICE_MEM_WINDOW_TYPE_2B);
    assert_int_equal(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW, IBV_DEVICE_MEM_WINDOW);
    for (int type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
        struct ibv_mw *mw = ibv_alloc_mw(pd, (enum ibv_mw_type)type);
        assert_non_null(mw);
        assert_int_equal(ibv_dealloc_mw(mw), 0);
    }
    assert_int_equal(
        attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS, IBV_DEVICE_MEM_MGT_EXTENSIONS);
    assert_int_equal(attr.node_guid, srd_get_device_guid(context->device));
    cq = srd_create_cq(context, attr.max_cqe, NULL, NULL, 0);
    assert_non_null(cq);
    init.send_cq = init.recv_cq = cq;
    init.cap.max_send_wr = init.cap.max_recv_wr = (uint32_t)attr.max_qp_wr;
    init.cap.max_send_sge = init.cap.max_recv_sge = (uint32_t)attr.max_sge;
    qp = srd_create_qp(pd, &init);
    assert_non_null(qp);
    assert_int_equal(srd_destroy_cq(cq), EBUSY);
    assert_int_equal(srd_dealloc_pd(pd), EBUSY);
    assert_int_equal(srd_destroy_qp(qp), 0);
    assert_int_equal(srd_destroy_cq(cq), 0);
    assert_int_equal(srd_dealloc_pd(pd), 0);
    assert_int_equal(srd_close_device(context), 0);
}

/*
 * A return of EBUSY says what errno says: ibv_alloc_pd(3) and its kind return "the value of errno on failure", and
 * programs print that.
 */
static void expect_busy(int result)
{
    assert_int_equal(result, EBUSY);
    assert_int_equal(errno, EBUSY);
    errno = 0;
}

static void what_is_in_use_is_busy_in_errno_too(void **state)
{
    static uint8_t memory[64];
    struct ibv_context *context = open_right();
    struct ibv_pd *pd = srd_alloc_pd(context);
    struct ibv_comp_channel *channel = srd_create_comp_channel(context);
    struct ibv_cq *cq = srd_create_cq(context, 1, NULL, channel, 0);
    struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 1, .max_sge = 1 } };
    struct ibv_srq *srq = srd_create_srq(pd, &srq_init);
    struct ibv_qp_init_attr init = {
        .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .srq = srq
    };
    struct ibv_mr *mr = srd_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_MW_BIND);
    struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    struct srd_bind bind = { .region_key = mr->rkey, .addr = (uintptr_t)memory, .length = 8 };
    struct ibv_qp *qp = srd_create_qp(pd, &init);

    (void)state;
    assert_non_null(qp);
    assert_int_equal(
        srd_stag_bind(srd_qp_from(qp), srd_mw_entry(mw), mw->rkey, &bind), IBV_WC_SUCCESS);
    errno = 0;
    expect_busy(srd_dereg_mr(mr));
    expect_busy(srd_destroy_srq(srq));
    expect_busy(srd_destroy_cq(cq));
    expect_busy(srd_destroy_comp_channel(channel));
    expect_busy(srd_dealloc_pd(pd));
    expect_busy(srd_close_device(context));
    assert_int_equal(srd_destroy_qp(qp), 0);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(srd_destroy_srq(srq), 0);
    assert_int_equal(srd_destroy_cq(cq), 0);
    assert_int_equal(srd_destroy_comp_channel(channel), 0);
    assert_int_equal(srd_dealloc_pd(pd), 0);
    assert_int_equal(srd_close_device(context), 0);
}

static void an_address_leads_to_its_device(void **state)
{
    struct rdma_event_channel *events = srd_create_event_channel();
    struct sockaddr_storage address;
    struct rdma_cm_id *id;

    (void)state;
    assert_int_equal(srd_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
    test_address("192.0.2.1", 0, &address); /* not even the host's */
    assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&address), -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    test_address("127.0.0.3", 0, &address);
    assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&address), 0);
    assert_string_equal(id->verbs->device->name, "right");
    assert_int_equal(srd_destroy_id(id), 0);
    srd_destroy_event_channel(events);
}

/* As to the kernel's connection manager: bound, it names no device; the route to a peer gives another. */
static void loopback_of_no_device_is_like_the_wildcard(void **state)
{
    struct rdma_event_channel *events = srd_create_event_channel();
    struct sockaddr_storage address;
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;

    (void)state;
    assert_int_equal(srd_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
    test_address("127.0.0.4", 0, &address);
    assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&address), 0);
    assert_null(id->verbs);
    assert_int_not_equal(srd_get_src_port(id), 0);
    assert_int_equal(srd_listen(id, 1), 0);
    assert_null(id->verbs);
    assert_int_equal(srd_destroy_id(id), 0);

    /* The route's source is a device's address; the port may be another process' there. */
    assert_int_equal(srd_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&address), 0);
    while (srd_resolve_addr(id, NULL, (struct sockaddr *)&address, 100)) {
        assert_int_equal(errno, EADDRINUSE);
        assert_int_equal(srd_destroy_id(id), 0);
        assert_int_equal(srd_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
        assert_int_equal(srd_bind_addr(id, (struct sockaddr *)&address), 0);
    }
    assert_int_equal(srd_get_cm_event(events, &event), 0);
    assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_non_null(id->verbs);
    assert_int_equal(srd_destroy_id(id), 0);
    srd_destroy_event_channel(events);
}

static void a_wildcard_listener_serves_all_devices(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct sockaddr_storage any, right;
    struct rdma_cm_event *event;
    struct rdma_cm_id *listener;
    struct end end;

    (void)state;
    end_open(&end); /* left */
    end_make_qp(&end);
    test_address("0.0.0.0", 0, &any);
    assert_int_equal(srd_create_id(end.events, &listener, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(listener, (struct sockaddr *)&any), 0);
    assert_null(listener->verbs);
    assert_int_equal(srd_listen(listener, 0), 0);
    test_address("127.0.0.2", ntohs(srd_get_src_port(listener)), &right);
    test_address("127.0.0.1", 0, &any);
    assert_int_equal(srd_create_id(end.events, &end.id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(
        srd_resolve_addr(end.id, (struct sockaddr *)&any, (struct sockaddr *)&right, 100), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    assert_string_equal(end.id->verbs->device->name, "left");
    assert_int_equal(srd_resolve_route(end.id, 100), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    param.qp_num = end.qp->qp_num;
    assert_int_equal(srd_connect(end.id, &param), 0);
    event = test_event(end.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_string_equal(event->id->verbs->device->name, "right");
    assert_int_equal(event->id->port_num, 1);
    /* This device refuses a queue pair of the other. */
    assert_int_equal(srd_accept(event->id, &param), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_int_equal(srd_destroy_id(listener), 0);
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_those_of_the_environment),
        cmocka_unit_test(a_port_has_a_gid_for_each_address),
        cmocka_unit_test(a_gid_table_has_to_take_all_entries),
        cmocka_unit_test(a_device_has_a_vendor_and_a_port),
        cmocka_unit_test(what_is_reported_can_be_created_together),
        cmocka_unit_test(what_is_in_use_is_busy_in_errno_too),
        cmocka_unit_test(an_address_leads_to_its_device),
        cmocka_unit_test(loopback_of_no_device_is_like_the_wildcard),
        cmocka_unit_test(a_wildcard_listener_serves_all_devices),
    };

    setenv("NDSPI_SOFT_DEVICES", "left=127.0.0.1;broken;right=127.0.0.2,nonsense,127.0.0.3", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
