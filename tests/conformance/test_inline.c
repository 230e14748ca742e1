/* SPDX-License-Identifier: MIT */
/*
 * test_inline.c - inline data: unregistered, limits, reuse.
 */
#include "fixture.h"

static struct pair *inline_pair(ULONG sge)
{
    struct node *node = new_node();
    ULONG bytes = node->info.MaxInlineDataSize < 128 ? node->info.MaxInlineDataSize : 128;
    expect_true(bytes >= 16);
    return connected_pair(&(struct pair_options){
        .active = { .node = node, .inline_bytes = bytes, .sge = sge, .two_cqs = true } });
}

static void inline_data_needs_no_registration(void)
{
    struct pair *pair = inline_pair(1);
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE data[16];
    fill(data, 16, 1);
    struct sge sge = { data, 16, 0xDEADBEEF };
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 16));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), &sge, 1, ND_OP_FLAG_INLINE));
    memset(data, 0, sizeof(data)); /* may be reused at once */
    expect_equal(16, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes, 16, 1);
}

/* The number of entries is not limited for inline data. */
static void inline_data_in_many_entries(void)
{
    struct pair *pair = inline_pair(1);
    struct end *a = &pair->active, *p = &pair->passive;
    ULONG count = a->options.inline_bytes;
    BYTE *data = keep_memory(count);
    struct sge *sge = keep_memory((count + 1) * sizeof(*sge));
    fill(data, count, 6);
    for (ULONG i = 0; i < count; i++)
        sge[i] = (struct sge){ data + i, 1, 0 };
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, count));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), sge, count, ND_OP_FLAG_INLINE));
    memset(data, 0, count);
    expect_equal(count, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes, count, 6);
}

static void inline_length_limit(void)
{
    ULONG most = new_node()->info.MaxInitiatorSge;
    /* In version 1 inline entries count as entries. */
    HRESULT too_long = row_is_v1() && most < 2 ? ND_DATA_OVERRUN : ND_BUFFER_OVERFLOW;
    struct pair *pair = inline_pair(most < 2 ? most : 2);
    struct end *a = &pair->active, *p = &pair->passive;
    ULONG limit = a->options.inline_bytes;
    BYTE *data = keep_memory(limit + 1);
    struct sge one = { data, limit + 1, 0 };
    struct sge two[2] = { { data, limit, 0 }, { data, 1, 0 } };
    fill(data, limit + 1, 2);
    expect_status(ND_BUFFER_OVERFLOW, CALL(a->qp, Send, TAG(1), &one, 1, ND_OP_FLAG_INLINE));
    expect_status(too_long, CALL(a->qp, Send, TAG(1), two, 2, ND_OP_FLAG_INLINE));
    expect_status(too_long, CALL(a->qp, Write, TAG(1), two, 2, (UINT64)(uintptr_t)p->memory.bytes,
                                remote_token(p), ND_OP_FLAG_INLINE));
    one.BufferLength = limit;
    expect_status(ND_SUCCESS, post_receive(p, TAG(2), 0, limit));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(3), &one, 1, ND_OP_FLAG_INLINE));
    expect_equal(limit, expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(3), ND_SUCCESS);
    expect_filled(p->memory.bytes, limit, 2);
}

static void inline_without_room_for_it(void)
{
    struct pair *pair = connected_pair(NULL); /* inlineDataSize 0 */
    expect_status(ND_BUFFER_OVERFLOW, post_send(&pair->active, TAG(1), 0, 1, ND_OP_FLAG_INLINE));
    exchange(&pair->active, &pair->passive);
}

static void inline_write(void)
{
    struct pair *pair = inline_pair(1);
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE data[16];
    struct sge sge = { data, 16, 0 };
    fill(data, 16, 3);
    expect_status(
        ND_SUCCESS, CALL(a->qp, Write, TAG(1), &sge, 1, (UINT64)(uintptr_t)(p->memory.bytes + 7),
                        remote_token(p), ND_OP_FLAG_INLINE));
    memset(data, 0, sizeof(data));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    exchange(a, p); /* behind it, so that the write is there */
    expect_filled(p->memory.bytes + 7, 16, 3);
}

/* A full window of inline messages whose buffer is reused for each. */
static void inline_buffer_reuse(void)
{
    struct pair *pair = inline_pair(1);
    struct end *a = &pair->active, *p = &pair->passive;
    BYTE data[16];
    struct sge sge = { data, 16, 0 };
    for (int i = 0; i < 16; i++)
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), (SIZE_T)i * 16, 16));
    for (unsigned i = 0; i < 16; i++) {
        fill(data, 16, i);
        expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(i), &sge, 1, ND_OP_FLAG_INLINE));
    }
    memset(data, 0, sizeof(data));
    for (unsigned i = 0; i < 16; i++) {
        expect_equal(16, expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
        expect_filled(p->memory.bytes + (SIZE_T)i * 16, 16, i);
    }
}

SUITE(inline);
