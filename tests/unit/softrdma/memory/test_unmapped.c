/* SPDX-License-Identifier: MIT */
/*
 * Memory that is registered, or posted, and has been unmapped since: its request ends with a local protection error,
 * the peer's with the Terminate; no process crashes or hangs. The device does not handle faults elsewhere.
 *
 * The same for fast regions, whose memory nobody looks at before: over pages in the opposite order, and over addresses
 * where no memory can be.
 */
#include "tests/unit/softrdma/pair.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { OCTETS = 1 << 18 };
static const uint32_t sizes[] = { 64, 5000, 65536,
    OCTETS }; /* copied, over staging, straight, several FPDUs */
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

/* gcc's thread sanitizer does not see that a handler was left by a jump, and takes what follows for a part of it. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

/*
 * cmocka installs handlers of its own for each test: the device's, which stand from the first one opened on, go back.
 */
static void guard(void)
{
    static const int signals[2] = { SIGSEGV, SIGBUS };
    static struct sigaction ours[2];
    static bool known;
    struct end end;

    if (!known) {
        end_open(&end);
        end_close(&end);
    }
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], known ? &ours[i] : NULL, known ? NULL : &ours[i]);
    known = true;
}

struct mapped {
    uint8_t *memory;
    struct ibv_mr *mr;
};

/* An address where no other mapping lands once it is free again. A thread sanitizer's program has other addresses. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#endif
#if defined(UNDER_TSAN) || defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_SANITIZER
#endif
#endif
#ifdef UNDER_TSAN
#define SOMEWHERE UINT64_C(0x700000000)
#else
#define SOMEWHERE UINT64_C(0x200000000000)
#endif

enum way { WHOLE, PAGES, NOWHERE };
static const enum way whole = WHOLE, pages = PAGES;
#ifndef UNDER_SANITIZER /* whose own look at such an address ends the process */
static const enum way nowhere = NOWHERE;
#endif
static enum way way; /* of the test that runs */

static void begin(void **state)
{
    way = *(const enum way *)*state;
    guard();
}

/* The peers of its address find its octets in pages. */
static struct ibv_mr *register_pages(struct end *end, uint8_t *memory)
{
    enum { COUNT = OCTETS / SRD_FAST_PAGE_OCTETS };
    uint64_t list[COUNT];
    struct srd_fast_reg reg = { .mr = srd_alloc_fast_mr(end->pd, COUNT),
        .pages = list,
        .n_pages = COUNT,
        .length = OCTETS,
        .base = (uintptr_t)memory,
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
        .send_flags = IBV_SEND_SIGNALED };
    struct ibv_wc wc;

    for (size_t i = 0; i < COUNT; i++) {
        uint64_t back = (COUNT - 1 - i) * SRD_FAST_PAGE_OCTETS;

        list[i] = way == PAGES ? (uintptr_t)memory + back : (UINT64_C(0xabcdef) << 28) + back;
    }
    assert_int_equal(srd_post_fast_reg(end->qp, &reg), 0);
    test_poll(end->cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    return reg.mr;
}

static struct mapped map(struct end *end, int fd)
{
    struct mapped mapped;

    mapped.memory = mmap((void *)(uintptr_t)SOMEWHERE, OCTETS, PROT_READ | PROT_WRITE,
        fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    assert_ptr_not_equal(mapped.memory, MAP_FAILED);
    if (way == WHOLE)
        mapped.mr = srd_reg_mr(end->pd, mapped.memory, OCTETS,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    else
        mapped.mr = register_pages(end, mapped.memory);
    assert_non_null(mapped.mr);
    return mapped;
}

static void unmap(struct mapped *mapped)
{
    assert_int_equal(munmap(mapped->memory, OCTETS), 0);
}

static struct ibv_sge sge_of(struct mapped *mapped, uint32_t octets)
{
    return (struct ibv_sge){ (uintptr_t)mapped->memory, octets, mapped->mr->lkey };
}

static void post(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, struct ibv_sge sge,
    uint64_t remote, uint32_t rkey)
{
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED };
    struct ibv_send_wr *bad;

    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    assert_int_equal(ibv_post_send(end->qp, &wr, &bad), 0);
}

static struct ibv_sge good_sge(struct end *end, uint32_t octets)
{
    return (struct ibv_sge){ (uintptr_t)end->memory, octets, end->mr->lkey };
}

static struct ibv_wc expect(struct end *end, uint64_t wr_id, enum ibv_wc_status status)
{
    struct ibv_wc wc;

    test_poll(end->cq, 1, &wc);
    if (wc.wr_id != wr_id || wc.status != status)
        fail_msg("request %d with status %d, but %d with %d was due", (int)wc.wr_id, wc.status,
            (int)wr_id, status);
    return wc;
}

static void expect_event(struct end *end, enum ibv_event_type type)
{
    struct pollfd fd = { .fd = end->context->async_fd, .events = POLLIN };
    struct ibv_async_event event;

    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    assert_int_equal(srd_get_async_event(end->context, &event), 0);
    assert_int_equal(event.event_type, type);
    srd_ack_async_event(&event);
}

static void finish(struct pair *pair, struct mapped *mapped)
{
    assert_int_equal(srd_dereg_mr(mapped->mr), 0);
    pair_close(pair);
}

static void send_from(uint32_t octets, enum ibv_wr_opcode opcode)
{
    struct pair pair;
    struct mapped mapped;

    pair_connect(&pair, "127.0.0.1");
    mapped = map(&pair.active, -1);
    end_recv(&pair.passive, 10, 0, OCTETS);
    end_recv(&pair.passive, 11, 0, OCTETS);
    unmap(&mapped);
    end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    post(&pair.active, opcode, 2, sge_of(&mapped, octets), (uintptr_t)pair.passive.memory,
        pair.passive.mr->rkey);
    end_post(&pair.active, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0);
    expect(&pair.active, 1, IBV_WC_SUCCESS);
    expect(&pair.active, 2, IBV_WC_LOC_PROT_ERR);
    expect(&pair.active, 3, IBV_WC_WR_FLUSH_ERR);
    expect(&pair.passive, 10, IBV_WC_SUCCESS);
    expect(&pair.passive, 11, IBV_WC_WR_FLUSH_ERR);
    expect_event(&pair.passive, IBV_EVENT_QP_FATAL); /* of the Terminate */
    finish(&pair, &mapped);
}

static void send_or_write_from_it(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++) {
        send_from(sizes[i], IBV_WR_SEND);
        send_from(sizes[i], IBV_WR_RDMA_WRITE);
    }
}

static void read_of(uint32_t octets)
{
    struct pair pair;
    struct mapped mapped;

    pair_connect(&pair, "127.0.0.1");
    mapped = map(&pair.passive, -1);
    unmap(&mapped);
    end_post(&pair.active, IBV_WR_RDMA_READ, 1, 0, 64, &pair.passive, 0, 0);
    post(&pair.active, IBV_WR_RDMA_READ, 2, good_sge(&pair.active, octets),
        (uintptr_t)mapped.memory, mapped.mr->rkey);
    end_post(&pair.active, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0);
    expect(&pair.active, 1, IBV_WC_SUCCESS);
    assert_int_equal(expect(&pair.active, 2, IBV_WC_REM_OP_ERR).vendor_err, 0);
    expect(&pair.active, 3, IBV_WC_WR_FLUSH_ERR);
    expect_event(&pair.passive, IBV_EVENT_QP_FATAL);
    finish(&pair, &mapped);
}

static void read_of_it_by_the_peer(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++)
        read_of(sizes[i]);
}

/* fd: of a file that is cut in place of an unmapping; -1 */
static void receive_into(uint32_t octets, int fd)
{
    struct pair pair;
    struct mapped mapped;
    struct ibv_sge sge;
    struct ibv_recv_wr wr = { .wr_id = 10, .sg_list = &sge, .num_sge = 1 }, *bad;

    pair_connect(&pair, "127.0.0.1");
    mapped = map(&pair.passive, fd);
    sge = sge_of(&mapped, octets);
    assert_int_equal(ibv_post_recv(pair.passive.qp, &wr, &bad), 0);
    end_recv(&pair.passive, 11, 0, OCTETS);
    if (fd < 0)
        unmap(&mapped);
    else
        assert_int_equal(ftruncate(fd, 0), 0);
    post(&pair.active, IBV_WR_SEND, 1, good_sge(&pair.active, octets), 0, 0);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
    assert_int_equal(expect(&pair.active, 1, IBV_WC_REM_OP_ERR).vendor_err, 0);
    expect(&pair.active, 2, IBV_WC_WR_FLUSH_ERR);
    expect(&pair.passive, 10, IBV_WC_LOC_PROT_ERR);
    expect(&pair.passive, 11, IBV_WC_WR_FLUSH_ERR);
    if (fd >= 0)
        unmap(&mapped);
    finish(&pair, &mapped);
}

static void receive_into_it(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++)
        receive_into(sizes[i], -1);
}

static void receive_into_a_file_that_was_cut(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++) {
        int fd = memfd_create("unmapped", MFD_CLOEXEC);

        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, OCTETS), 0);
        receive_into(sizes[i], fd);
        close(fd);
    }
}

static void write_into(uint32_t octets)
{
    struct pair pair;
    struct mapped mapped;

    pair_connect(&pair, "127.0.0.1");
    mapped = map(&pair.passive, -1);
    unmap(&mapped);
    post(&pair.active, IBV_WR_RDMA_WRITE, 1, good_sge(&pair.active, octets),
        (uintptr_t)mapped.memory, mapped.mr->rkey);
    assert_int_equal(expect(&pair.active, 1, IBV_WC_REM_OP_ERR).vendor_err, 0);
    expect_event(&pair.passive, IBV_EVENT_QP_FATAL);
    finish(&pair, &mapped);
}

static void write_into_it_by_the_peer(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++)
        write_into(sizes[i]);
}

static void read_into(uint32_t octets)
{
    struct pair pair;
    struct mapped mapped;

    pair_connect(&pair, "127.0.0.1");
    mapped = map(&pair.active, -1);
    unmap(&mapped);
    post(&pair.active, IBV_WR_RDMA_READ, 1, sge_of(&mapped, octets), (uintptr_t)pair.passive.memory,
        pair.passive.mr->rkey);
    expect(&pair.active, 1, IBV_WC_LOC_PROT_ERR);
    expect_event(&pair.passive, IBV_EVENT_QP_FATAL);
    finish(&pair, &mapped);
}

static void read_into_it(void **state)
{
    begin(state);
    for (int i = 0; i < SIZES; i++)
        read_into(sizes[i]);
}

/*
 * Memory unmapped while its message is on the way, then the end of the connection: a half-sent FPDU would be completed
 * from a copy.
 */
static void end_while_it_is_being_sent(void **state)
{
    struct pair pair;
    struct mapped mapped;
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    enum { SENDS = 64 }; /* more than the peer keeps and both sockets take */

    begin(state);
    for (int destroy = 0; destroy < 2; destroy++) {
        pair_connect(&pair, "127.0.0.1");
        mapped = map(&pair.active, -1);
        for (int i = 0; i < SENDS; i++)
            post(&pair.active, IBV_WR_SEND, (uint64_t)i, sge_of(&mapped, OCTETS), 0, 0);
        unmap(&mapped);
        if (destroy) {
            assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
            pair.active.qp = NULL;
        } else {
            struct ibv_wc wc[SENDS];

            assert_int_equal(srd_modify_qp(pair.active.qp, &attr, IBV_QP_STATE), 0);
            test_poll(pair.active.cq, SENDS, wc);
            for (int i = 0; i < SENDS; i++) {
                assert_int_equal(wc[i].wr_id, i);
                assert_int_not_equal(wc[i].status, IBV_WC_SUCCESS);
            }
        }
        finish(&pair, &mapped);
    }
}

/* There is no file to be cut where there is no memory. */
#define MOST_OF(way)                                                                               \
    cmocka_unit_test_prestate(send_or_write_from_it, (void *)&(way)),                              \
        cmocka_unit_test_prestate(read_of_it_by_the_peer, (void *)&(way)),                         \
        cmocka_unit_test_prestate(receive_into_it, (void *)&(way)),                                \
        cmocka_unit_test_prestate(write_into_it_by_the_peer, (void *)&(way)),                      \
        cmocka_unit_test_prestate(read_into_it, (void *)&(way)),                                   \
        cmocka_unit_test_prestate(end_while_it_is_being_sent, (void *)&(way))
#define ALL_OF(way)                                                                                \
    MOST_OF(way), cmocka_unit_test_prestate(receive_into_a_file_that_was_cut, (void *)&(way))

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALL_OF(whole),
        ALL_OF(pages),
#ifndef UNDER_SANITIZER
        MOST_OF(nowhere),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
