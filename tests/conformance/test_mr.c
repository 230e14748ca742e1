/* SPDX-License-Identifier: MIT */
/*
 * test_mr.c - IND2MemoryRegion: registering, its errors, tokens, deregistering.
 */
#include "fixture.h"

static HRESULT try_register(struct mr *mr, const void *bytes, SIZE_T length, ULONG flags)
{
    struct op *op = new_op();
    return finish(mr, CALL(mr, Register, bytes, length, flags, &op->overlapped), op);
}

static HRESULT try_deregister(struct mr *mr)
{
    struct op *op = new_op();
    return finish(mr, CALL(mr, Deregister, &op->overlapped), op);
}

static void null_buffer(void)
{
    struct mr *mr = new_mr(new_node());
    expect_status(ND_INVALID_PARAMETER, try_register(mr, NULL, 0, MR_LOCAL));
    expect_status(ND_INVALID_PARAMETER, try_register(mr, NULL, 4096, MR_LOCAL));
}

static void zero_length(void)
{
    static BYTE buffer[16];
    struct mr *mr = new_mr(new_node());
    expect_status(ND_INVALID_BUFFER_SIZE, try_register(mr, buffer, 0, MR_LOCAL));
    expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), MR_LOCAL));
}

static void larger_than_the_adapter_takes(void)
{
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    static BYTE buffer[16];
    if (node->info.MaxRegistrationSize == (SIZE_T)-1)
        return; /* every length is within the limit; others rows cover unmapped memory */
    expect_status(ND_INVALID_PARAMETER,
        try_register(mr, buffer, node->info.MaxRegistrationSize + 1, MR_LOCAL));
}

static void unmapped_memory(void)
{
    struct mr *mr = new_mr(new_node());
    SIZE_T size = 8 * 65536;
    BYTE *memory = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    expect_true(memory != NULL);
    expect_status(ND_SUCCESS, try_register(mr, memory, size, MR_LOCAL));
    expect_status(ND_SUCCESS, try_deregister(mr));
    expect_true(VirtualFree(memory, 0, MEM_RELEASE));
    expect_status(ND_ACCESS_VIOLATION, try_register(mr, memory, size, MR_LOCAL));
    expect_status(ND_ACCESS_VIOLATION, try_register(mr, (void *)(uintptr_t)16, 8, MR_LOCAL));
    /* The object is as before. */
    static BYTE buffer[16];
    expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), MR_LOCAL));
}

static void registered_already(void)
{
    static BYTE buffer[16];
    struct mr *mr = new_mr(new_node());
    expect_status(ND_SUCCESS, try_register(mr, buffer, 16, MR_LOCAL));
    uintptr_t token = CALL(mr, GetLocalToken);
    expect_status(ND_INVALID_DEVICE_STATE, try_register(mr, buffer, 16, MR_LOCAL));
    expect_equal(token, CALL(mr, GetLocalToken));
}

static void deregister_without_a_registration(void)
{
    static BYTE buffer[16];
    struct mr *mr = new_mr(new_node());
    expect_status(ND_INVALID_DEVICE_STATE, try_deregister(mr));
    expect_status(ND_SUCCESS, try_register(mr, buffer, 16, MR_LOCAL));
    expect_status(ND_SUCCESS, try_deregister(mr));
    expect_status(ND_INVALID_DEVICE_STATE, try_deregister(mr));
}

static void every_size_again_and_again(void)
{
    enum { LARGEST = 4 * 1024 * 1024 };
    struct mr *mr = new_mr(new_node());
    struct op *op = new_op();
    BYTE *buffer = keep_memory(LARGEST);
    for (SIZE_T size = 1; size <= LARGEST; size *= 2) {
        expect_status(ND_SUCCESS,
            finish(mr, CALL(mr, Register, buffer, size, MR_REMOTE, &op->overlapped), op));
        expect_status(ND_SUCCESS, finish(mr, CALL(mr, Deregister, &op->overlapped), op));
    }
    for (int i = 0; i < 3000; i++) {
        expect_status(ND_SUCCESS,
            finish(mr, CALL(mr, Register, buffer + i, 8, MR_REMOTE, &op->overlapped), op));
        expect_status(ND_SUCCESS, finish(mr, CALL(mr, Deregister, &op->overlapped), op));
    }
}

/* Small pieces inside larger objects, side by side. */
static void unaligned_small_buffers(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE *object = keep_memory(200);
    struct memory pieces[8];
    for (int i = 0; i < 8; i++) {
        pieces[i] = (struct memory){ new_mr(p->node), object + 3 + i * 17, 8, 0, 0 };
        register_memory(pieces[i].mr, pieces[i].bytes, 8, MR_LOCAL);
        struct sge sge = { pieces[i].bytes, 8, CALL(pieces[i].mr, GetLocalToken) };
        expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(i), &sge, 1));
    }
    for (unsigned i = 0; i < 8; i++) {
        fill(a->memory.bytes, 8, i);
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 0, 8, 0));
        expect_equal(8, expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
        expect_filled(pieces[i].bytes, 8, i);
        expect_equal(0, pieces[i].bytes[8]);
    }
}

static void flags(void)
{
    static BYTE buffer[64];
    static const ULONG good[] = { 0, ND_MR_FLAG_ALLOW_LOCAL_WRITE, ND_MR_FLAG_ALLOW_REMOTE_READ,
        ND_MR_FLAG_ALLOW_REMOTE_WRITE, ND_MR_FLAG_RDMA_READ_SINK,
        ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_DO_NOT_SECURE_VM, 0x8000000F };
    struct mr *mr = new_mr(new_node());
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        note("flags 0x%x", (unsigned)good[i]);
        expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), good[i]));
        expect_status(ND_SUCCESS, try_deregister(mr));
    }
}

/* A token of today is no token of yesterday. */
static void tokens_change_with_each_registration(void)
{
    static BYTE buffer[64];
    struct mr *mr = new_mr(new_node());
    uintptr_t local[8];
    UINT32 remote[8];
    for (int i = 0; i < 8; i++) {
        expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), MR_REMOTE));
        local[i] = CALL(mr, GetLocalToken);
        remote[i] = CALL(mr->v2, GetRemoteToken);
        expect_true(i == 0 || (local[i] != local[i - 1] && remote[i] != remote[i - 1]));
        expect_status(ND_SUCCESS, try_deregister(mr));
    }
}

static void many_regions_of_the_same_memory(void)
{
    enum { COUNT = 100 };
    static BYTE buffer[4096];
    struct node *node = new_node();
    uintptr_t tokens[COUNT];
    for (int i = 0; i < COUNT; i++) {
        struct mr *mr = new_mr(node);
        expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), MR_LOCAL));
        tokens[i] = CALL(mr, GetLocalToken);
        for (int k = 0; k < i; k++)
            expect_true(tokens[k] != tokens[i]);
    }
}

/* The file is attached to a port; bit 0 of hEvent keeps the packet away. */
static void synchronous_registration_on_a_port(void)
{
    static BYTE buffer[64];
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    HANDLE port = new_port();
    struct op *op = new_op_tagged();
    attach(port, node->file, 5);
    HRESULT hr = CALL(mr, Register, buffer, sizeof(buffer), MR_LOCAL, &op->overlapped);
    expect_status(ND_PENDING, hr);
    expect_status(ND_SUCCESS, CALL(mr, GetOverlappedResult, &op->overlapped, TRUE));
    expect_no_packet(port);
    hr = CALL(mr, Deregister, &op->overlapped);
    expect_status(ND_PENDING, hr);
    expect_status(ND_SUCCESS, CALL(mr, GetOverlappedResult, &op->overlapped, TRUE));
    expect_no_packet(port);
}

static void every_registration_queues_a_packet(void)
{
    static BYTE buffer[64];
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    HANDLE port = new_port();
    struct op *op = new_op_without_event();
    attach(port, node->file, 6);
    for (int i = 0; i < 100; i++) {
        expect_status(
            ND_PENDING, CALL(mr, Register, buffer, sizeof(buffer), MR_LOCAL, &op->overlapped));
        expect_packet(port, 6, op, 0);
        expect_status(ND_SUCCESS, result_of(mr, op));
        expect_status(ND_PENDING, CALL(mr, Deregister, &op->overlapped));
        expect_packet(port, 6, op, 0);
        expect_status(ND_SUCCESS, result_of(mr, op));
    }
}

/* Requests that were posted keep working; later ones are refused. */
static void release_deregisters(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory m = new_memory(p->node, 64, MR_REMOTE);
    expect_status(ND_SUCCESS, post_write(a, TAG(1), 0, 8, m.bytes, m.remote, 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    exchange(a, p); /* on iWARP a Write ends when it has been sent: now it is there, too */
    expect_equal(0, release_now(m.mr));
    expect_status(ND_SUCCESS, post_write(a, TAG(2), 0, 8, m.bytes, m.remote, 0));
    expect_refused(a, Nd2RequestTypeWrite, TAG(2), ND_ACCESS_VIOLATION);
}

static void register_without_an_overlapped(void)
{
    static BYTE buffer[64];
    struct mr *mr = new_mr(new_node());
    expect_true(FAILED(CALL(mr, Register, buffer, sizeof(buffer), MR_LOCAL, NULL)));
    expect_status(ND_SUCCESS, try_register(mr, buffer, sizeof(buffer), MR_LOCAL));
    expect_true(FAILED(CALL(mr, Deregister, NULL)));
    expect_status(ND_SUCCESS, try_deregister(mr));
}

SUITE(mr);
