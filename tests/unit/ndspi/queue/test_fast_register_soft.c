/* SPDX-License-Identifier: MIT */
/* Fast regions of the core on the embedded device: two queue pairs, connected over loopback. */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"
#include "tests/unit/softrdma/pair.h"

#include "ndspi/core/memory/frmr.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, COUNT = 16, OCTETS = 15 * PAGE + 77, DEPTH = 32 };

static const uint64_t base = UINT64_C(0xABCDEF000000) + 100;

struct fixture {
    struct pair pair;
    struct nd_adapter *adapter;
    struct nd_port played; /* the adapter's of before */
    struct nd_cq *cq[2];   /* of the end that writes, of the one that registers */
    struct nd_qp *qp[2];
    struct nd_frmr *frmr;
    uint8_t *memory; /* of COUNT pages */
    uint64_t addresses[COUNT];
    struct nd_pages pages;
};

static void destroy(struct nd_object *object)
{
    nd_frmr_fini((struct nd_frmr *)object);
    free(object);
}

/* Both queue pairs are the core's, of the active end's domain. */
static void open_all(struct fixture *f)
{
    struct end *ends[2] = { &f->pair.active, &f->pair.passive };
    struct nd_port *port;

    memset(f, 0, sizeof(*f));
    pair_prepare(&f->pair, "127.0.0.1");
    f->adapter = fake_adapter_open();
    port = &f->adapter->port;
    f->played = *port;
    f->adapter->verbs = port->verbs = &nd_verbs_soft;
    port->context = f->pair.active.context;
    port->pd = f->pair.active.pd;
    port->caps.fast_register = ND_FAST_DEVICE;
    port->caps.max_fast_pages = 256;
    port->caps.send_invalidate = true;
    f->adapter->channel = f->pair.active.channel;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(srd_destroy_qp(ends[i]->qp), 0);
        assert_non_null(f->cq[i] = fake_make_cq(f->adapter, 64));
        assert_non_null(f->qp[i] = fake_make_qp(f->adapter, f->cq[i], NULL, DEPTH));
        ends[i]->qp = f->qp[i]->ibv;
    }
    pair_request(&f->pair, 4);
    pair_accept(&f->pair, 4);
    pair_establish(&f->pair);
    for (int i = 0; i < 2; i++)
        nd_qp_set_sendable(f->qp[i]);
    f->frmr = nd_object_alloc(sizeof(*f->frmr));
    nd_frmr_init(f->frmr, f->adapter, destroy);
    assert_int_equal(nd_frmr_allocate(f->frmr, COUNT, true), 0);
    f->memory = aligned_alloc(PAGE, COUNT * PAGE);
    for (unsigned i = 0; i < COUNT; i++)
        f->addresses[i] = (uintptr_t)f->memory + (i * 7 % COUNT) * PAGE;
    f->pages = (struct nd_pages){
        .addresses = f->addresses, .count = COUNT, .offset = 100, .length = OCTETS, .base = base
    };
}

static void close_all(struct fixture *f)
{
    nd_frmr_close(f->frmr);
    for (int i = 0; i < 2; i++) {
        nd_qp_close(f->qp[i]);
        nd_cq_close(f->cq[i]);
    }
    f->pair.active.qp = f->pair.passive.qp = NULL;
    f->adapter->port = f->played;
    fake_adapter_close(f->adapter);
    pair_close(&f->pair);
    free(f->memory);
}

static ND2_RESULT next_result(struct nd_cq *cq)
{
    uint64_t deadline_ms = test_now_ms() + DEADLINE_MS;
    ND2_RESULT one = { 0 };

    while (!nd_cq_results_v2(&cq->poll, &one, 1))
        if (test_now_ms() > deadline_ms)
            fail_msg("no result within %d ms", DEADLINE_MS);
    return one;
}

static void expect(struct nd_cq *cq, uint32_t status, int type)
{
    ND2_RESULT one = next_result(cq);

    assert_int_equal((uint32_t)one.Status, status);
    assert_int_equal(one.RequestType, type);
}

static void register_it(struct fixture *f, uint32_t flags)
{
    assert_int_equal(nd_qp_fast_register(f->qp[1], NULL, f->frmr, &f->pages, flags), 0);
}

static uint8_t octet(const struct fixture *f, size_t i)
{
    size_t place = i + f->pages.offset;

    return ((uint8_t *)(uintptr_t)f->addresses[place / PAGE])[place % PAGE];
}

static ND2_SGE plain(struct fixture *f, uint32_t octets)
{
    return (ND2_SGE){ .Buffer = f->pair.active.memory,
        .BufferLength = octets,
        .MemoryRegionToken = f->pair.active.mr->lkey };
}

static void test_written_taken_back_and_used_again(void **state)
{
    struct fixture f;
    uint32_t key;

    (void)state;
    open_all(&f);
    key = nd_frmr_key(f.frmr);
    for (unsigned round = 0; round < 50; round++) {
        struct nd_remote remote = { .address = base, .token = htobe32(key) };
        ND2_SGE sge = plain(&f, OCTETS), none = plain(&f, 8);

        register_it(&f, ND_OP_FLAG_ALLOW_WRITE | (round % 2 ? ND_OP_FLAG_SILENT_SUCCESS : 0));
        if (round % 2 == 0)
            expect(f.cq[1], 0, ND_REQUEST_TYPE_FAST_REGISTER);
        for (size_t i = 0; i < OCTETS; i++)
            f.pair.active.memory[i] = (uint8_t)(i * 13 + i / 4096 + round);
        assert_int_equal(nd_queue_receive_general(&f.qp[1]->receive, NULL, &none, 1), 0);
        assert_int_equal(nd_qp_write(f.qp[0], NULL, &sge, 1, &remote, 0), 0);
        assert_int_equal(nd_qp_send_invalidate(f.qp[0], NULL, NULL, 0, htobe32(key), 0), 0);
        expect(f.cq[0], 0, Nd2RequestTypeWrite);
        expect(f.cq[0], 0, Nd2RequestTypeSend);
        assert_true(nd_frmr_registered(f.frmr)); /* until its end is told */
        expect(f.cq[1], 0, Nd2RequestTypeReceive);
        assert_false(nd_frmr_registered(f.frmr));
        assert_int_equal(nd_frmr_key(f.frmr), key);
        for (size_t i = 0; i < OCTETS; i++)
            if (octet(&f, i) != (uint8_t)(i * 13 + i / 4096 + round))
                fail_msg("octet %zu", i);
    }
    close_all(&f);
}

static void test_own_entries_and_invalidate(void **state)
{
    struct fixture f;
    ND2_SGE sge, into;

    (void)state;
    open_all(&f);
    for (size_t i = 0; i < COUNT * PAGE; i++)
        f.memory[i] = (uint8_t)(i / 3);
    register_it(&f, ND_POST_LOCAL_WRITE);
    expect(f.cq[1], 0, ND_REQUEST_TYPE_FAST_REGISTER);
    sge = (ND2_SGE){ .Buffer = (void *)(uintptr_t)base,
        .BufferLength = OCTETS,
        .MemoryRegionToken = nd_frmr_lkey(f.frmr) };
    into = plain(&f, OCTETS);
    assert_int_equal(nd_queue_receive_general(&f.qp[0]->receive, NULL, &into, 1), 0);
    assert_int_equal(nd_queue_send_general(&f.qp[1]->initiator, NULL, &sge, 1, 0), 0);
    expect(f.cq[1], 0, Nd2RequestTypeSend);
    expect(f.cq[0], 0, Nd2RequestTypeReceive);
    for (size_t i = 0; i < OCTETS; i++)
        assert_int_equal(f.pair.active.memory[i], octet(&f, i));
    assert_int_equal(nd_qp_invalidate_frmr(f.qp[1], NULL, f.frmr, 0), 0);
    expect(f.cq[1], 0, Nd2RequestTypeInvalidate);
    assert_int_equal(nd_frmr_lkey(f.frmr), 0);
    /* by the key of before: its own connection ends */
    assert_int_equal(nd_queue_send_general(&f.qp[1]->initiator, NULL, &sge, 1, 0), 0);
    expect(f.cq[1], SPEC_ND_ACCESS_VIOLATION, Nd2RequestTypeSend);
    close_all(&f);
}

/* A peer that writes by a key that was taken back ends its connection; the region can be used on another one. */
static void test_the_peer_comes_late(void **state)
{
    struct nd_remote remote = { .address = base };
    struct fixture f;
    ND2_SGE sge;

    (void)state;
    open_all(&f);
    memset(f.memory, 0x55, COUNT * PAGE);
    remote.token = htobe32(nd_frmr_key(f.frmr));
    register_it(&f, ND_OP_FLAG_ALLOW_WRITE);
    assert_int_equal(nd_qp_invalidate_frmr(f.qp[1], NULL, f.frmr, ND_OP_FLAG_SILENT_SUCCESS), 0);
    expect(f.cq[1], 0, ND_REQUEST_TYPE_FAST_REGISTER);
    sge = plain(&f, 100);
    assert_int_equal(nd_qp_write(f.qp[0], NULL, &sge, 1, &remote, 0), 0);
    expect(f.cq[0], SPEC_ND_ACCESS_VIOLATION, Nd2RequestTypeWrite);
    for (size_t i = 0; i < COUNT * PAGE; i++)
        assert_int_equal(f.memory[i], 0x55);
    register_it(
        &f, ND_OP_FLAG_ALLOW_WRITE); /* flushed: the connection has ended at this side, too */
    expect(f.cq[1], SPEC_ND_CANCELED, ND_REQUEST_TYPE_FAST_REGISTER);
    assert_false(nd_frmr_registered(f.frmr));
    close_all(&f);
}

/* ---- which device can do it, and how ---- */

static struct ibv_mr *registers_anywhere(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    (void)iova;
    return srd_reg_mr(pd, addr, length, access);
}

static struct nd_port open_port(const struct nd_verbs *verbs)
{
    struct ibv_device **list = verbs->get_device_list(NULL);
    struct nd_port port;

    assert_non_null(list);
    assert_int_equal(nd_port_init(&port, verbs, verbs->open_device(list[0]), 1, true), 0);
    verbs->free_device_list(list);
    return port;
}

static void test_what_devices_can(void **state)
{
    struct nd_verbs other = nd_verbs_soft;
    struct nd_port port = open_port(&nd_verbs_soft);

    (void)state;
    assert_int_equal(port.caps.fast_register, ND_FAST_DEVICE);
    assert_int_equal(port.caps.max_fast_pages, 256);
    assert_null(port.caps.no_fast_register);
    nd_port_fini(&port);
    other.post_fast_reg = NULL;
    port = open_port(&other);
    assert_int_equal(port.caps.fast_register, ND_FAST_NONE);
    assert_int_equal(port.caps.max_fast_pages, 0);
    assert_string_equal(
        port.caps.no_fast_register, "memory cannot be registered under another address");
    nd_port_fini(&port);
    other.reg_mr_iova = registers_anywhere;
    port = open_port(&other);
    assert_int_equal(port.caps.fast_register, ND_FAST_WINDOWS);
    assert_int_equal(port.caps.max_fast_pages, 256);
    nd_port_fini(&port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_taken_back_and_used_again),
        cmocka_unit_test(test_own_entries_and_invalidate),
        cmocka_unit_test(test_the_peer_comes_late),
        cmocka_unit_test(test_what_devices_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
