/* SPDX-License-Identifier: MIT */
/*
 * test_rdma.c - Read and Write through region tokens: placement, order, fences, read limits, rights.
 */
#include "fixture.h"

static void write_sizes(void)
{
    static const ULONG lengths[] = { 1, 3, 4, 64, 1000, 1460, 4096, 5001, 32768 };
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        ULONG n = lengths[i];
        note("%u octets", (unsigned)n);
        fill(a->memory.bytes, n, n);
        memset(p->memory.bytes, 0, END_MEMORY);
        expect_status(
            ND_SUCCESS, post_write(a, TAG(i), 0, n, p->memory.bytes + 1001, remote_token(p), 0));
        expect_result(a, Nd2RequestTypeWrite, TAG(i), ND_SUCCESS);
        expect_status(ND_SUCCESS, post_receive(p, TAG(50), 0, 0));
        expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(51), NULL, 0, 0));
        expect_result(p, Nd2RequestTypeReceive, TAG(50), ND_SUCCESS);
        expect_result(a, Nd2RequestTypeSend, TAG(51), ND_SUCCESS);
        expect_filled(p->memory.bytes + 1001, n, n);
        expect_equal(0, p->memory.bytes[1000]);
        expect_equal(0, p->memory.bytes[1001 + n]);
    }
}

static void read_sizes(void)
{
    static const ULONG lengths[] = { 1, 3, 4, 64, 1000, 1460, 4096, 5001, 32768 };
    struct pair *pair = connected_pair(NULL);
    struct end *ends[2] = { &pair->active, &pair->passive };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (int e = 0; e < 2; e++) {
            struct end *a = ends[e], *p = ends[!e];
            ULONG n = lengths[i];
            note("%u octets", (unsigned)n);
            fill(p->memory.bytes + 77, n, n);
            memset(a->memory.bytes, 0, END_MEMORY);
            expect_status(
                ND_SUCCESS, post_read(a, TAG(i), 5, n, p->memory.bytes + 77, remote_token(p), 0));
            expect_result(a, Nd2RequestTypeRead, TAG(i), ND_SUCCESS);
            expect_filled(a->memory.bytes + 5, n, n);
            expect_equal(0, a->memory.bytes[4]);
            expect_equal(0, a->memory.bytes[5 + n]);
        }
}

/* Nothing is looked at for nothing: neither the token nor the address. */
static void zero_length_read_and_write(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    UINT64 remote = (UINT64)(uintptr_t)pair->passive.memory.bytes;
    UINT32 token = remote_token(&pair->passive);
    expect_status(ND_SUCCESS, CALL(a->qp, Write, TAG(1), NULL, 0, remote, token, 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    expect_status(ND_SUCCESS, CALL(a->qp, Read, TAG(2), NULL, 0, remote, token, 0));
    expect_result(a, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
    exchange(a, &pair->passive);
}

static void write_gathers(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct sge sge[3] = { sge_of(a, 0, 7), sge_of(a, 7, 3000), sge_of(a, 3007, 993) };
    ULONG n = fit_entries(a, sge, 3);
    fill(a->memory.bytes, 4000, 12);
    expect_status(ND_SUCCESS,
        CALL(a->qp, Write, TAG(1), sge, n, (UINT64)(uintptr_t)p->memory.bytes, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    expect_status(
        ND_SUCCESS, post_read(a, TAG(2), 8000, 4000, p->memory.bytes, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
    expect_filled(a->memory.bytes + 8000, 4000, 12);
}

static void read_scatters(void)
{
    struct node *node = new_node();
    ULONG n = node->info.MaxReadSge < 4 ? node->info.MaxReadSge : 4;
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .node = node, .sge = n } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct sge sge[4];
    for (ULONG i = 0; i < n; i++)
        sge[i] = sge_of(a, i * 4096 + i, 1000);
    fill(p->memory.bytes, n * 1000, 13);
    expect_status(ND_SUCCESS,
        CALL(a->qp, Read, TAG(1), sge, n, (UINT64)(uintptr_t)p->memory.bytes, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeRead, TAG(1), ND_SUCCESS);
    BYTE *all = keep_memory(4000);
    for (ULONG i = 0; i < n; i++)
        memcpy(all + i * 1000, a->memory.bytes + i * 4096 + i, 1000);
    expect_filled(all, n * 1000, 13);
}

/* As many as the queue has room for, each a request, of as many entries as there may be. */
static void queue_full_of_scattering_reads(void)
{
    enum { DEPTH = 16, PIECE = 16, MOST = 64 };
    struct node *node = new_node();
    ULONG n = least(least(node->info.MaxReadSge, node->info.MaxReceiveSge), MOST);
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .node = node, .sge = n, .initiator_depth = DEPTH } });
    struct end *a = &pair->active, *p = &pair->passive;
    UINT64 remote = (UINT64)(uintptr_t)p->memory.bytes;
    fill(p->memory.bytes, END_MEMORY, 14);
    for (int round = 0; round < 4; round++) {
        ULONG flags = round % 2 ? ND_OP_FLAG_SILENT_SUCCESS : 0;
        memset(a->memory.bytes, 0, END_MEMORY);
        for (ULONG i = 0; i < DEPTH; i++) {
            struct sge sge[MOST];
            for (ULONG j = 0; j < n; j++) /* the last first */
                sge[j] = sge_of(a, (i * n + n - 1 - j) * PIECE, PIECE);
            expect_status(ND_SUCCESS, CALL(a->qp, Read, TAG(i), sge, n, remote + i * n * PIECE,
                                          remote_token(p), i == DEPTH - 1 ? 0 : flags));
        }
        if (!flags) /* silent ones may be over */
            expect_status(ND_NO_MORE_ENTRIES,
                post_read(a, TAG(99), 0, 8, (void *)remote, remote_token(p), 0));
        for (ULONG i = flags ? DEPTH - 1 : 0; i < DEPTH; i++)
            expect_result(a, Nd2RequestTypeRead, TAG(i), ND_SUCCESS);
        expect_no_result(a->cq);
        for (ULONG i = 0; i < DEPTH * n; i++) {
            ULONG from = i / n * n + n - 1 - i % n;
            expect_equal(
                0, memcmp(a->memory.bytes + i * PIECE, p->memory.bytes + from * PIECE, PIECE));
        }
    }
}

/* A list whose last entry alone goes too far is refused as a whole. */
static void scattering_read_beyond_the_region(void)
{
    struct node *node = new_node();
    ULONG n = node->info.MaxReadSge < 3 ? node->info.MaxReadSge : 3;
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .node = node, .sge = n } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct sge sge[3];
    for (ULONG i = 0; i < n; i++)
        sge[i] = sge_of(a, i * 100, 9);
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
    expect_status(
        ND_SUCCESS, CALL(a->qp, Read, TAG(2), sge, n,
                        (UINT64)(uintptr_t)(p->memory.bytes + END_MEMORY - 9 * (SIZE_T)n + 1),
                        remote_token(p), 0));
    expect_refused(a, Nd2RequestTypeRead, TAG(2), REMOTE_ACCESS_REFUSED);
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

/* Small pieces anywhere in a large region. */
static void large_region_at_any_offset(void)
{
    enum { SIZE = 64 * 1024 * 1024 };
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    struct memory big = new_memory(pair->passive.node, SIZE, MR_REMOTE);
    SIZE_T offset = 0;
    for (ULONG n = 4; n <= 32 * 1024; n *= 4, offset = (offset * 5 + 12345677) % (SIZE - 65536)) {
        fill(a->memory.bytes, n, n);
        expect_status(ND_SUCCESS, post_write(a, TAG(n), 0, n, big.bytes + offset, big.remote, 0));
        expect_status(
            ND_SUCCESS, post_read(a, TAG(n + 1), 32768, n, big.bytes + offset, big.remote, 0));
        expect_result(a, Nd2RequestTypeWrite, TAG(n), ND_SUCCESS);
        expect_result(a, Nd2RequestTypeRead, TAG(n + 1), ND_SUCCESS);
        expect_filled(a->memory.bytes + 32768, n, n);
    }
    /* All of a large piece, both ways, up to the last octet. */
    const ULONG most = a->node->info.MaxTransferLength, wanted = 32 * 1024 * 1024;
    const ULONG piece = most < wanted ? most : wanted;
    struct memory own = new_memory(a->node, piece, MR_LOCAL);
    fill(own.bytes, piece, 99);
    struct sge sge = { own.bytes, piece, own.local };
    UINT64 at = (UINT64)(uintptr_t)(big.bytes + SIZE - piece);
    expect_status(ND_SUCCESS, CALL(a->qp, Write, TAG(1), &sge, 1, at, big.remote, 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    memset(own.bytes, 0, piece);
    expect_status(ND_SUCCESS, CALL(a->qp, Read, TAG(2), &sge, 1, at, big.remote, 0));
    expect_result(a, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
    expect_filled(own.bytes, piece, 99);
}

static void send_delivers_behind_the_write(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    for (unsigned i = 0; i < 100; i++) {
        ULONG n = 1 + i * 61;
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 60000, 8));
        fill(a->memory.bytes, n, i);
        expect_status(ND_SUCCESS, post_write(a, TAG(i), 0, n, p->memory.bytes, remote_token(p),
                                      ND_OP_FLAG_SILENT_SUCCESS));
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 60000, 8, 0));
        expect_equal(8, expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
        expect_filled(p->memory.bytes, n, i);
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
    }
}

/* A full queue of each kind; results come in the order of the posts, with their contexts. */
static void batches_complete_in_order(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    fill(p->memory.bytes, 16 * 512, 21);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 16; i++) {
            void *remote = p->memory.bytes + i * 512;
            if ((i + round) % 3)
                expect_status(ND_SUCCESS,
                    post_read(a, TAG(i), (SIZE_T)i * 512, 512, remote, remote_token(p), 0));
            else
                expect_status(ND_SUCCESS, post_write(a, TAG(i), 30000 + (SIZE_T)i, 512,
                                              p->memory.bytes + 30000, remote_token(p), 0));
        }
        for (int i = 0; i < 16; i++)
            expect_result(
                a, (i + round) % 3 ? Nd2RequestTypeRead : Nd2RequestTypeWrite, TAG(i), ND_SUCCESS);
    }
    for (int i = 0; i < 16; i++)
        expect_equal(0, memcmp(a->memory.bytes + i * 512, p->memory.bytes + i * 512, 512));
}

/* More Reads than may be in flight wait their turn. */
static void reads_beyond_the_limit_wait(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .outbound_reads = 1 }, .passive = { .inbound_reads = 1 } });
    struct end *a = &pair->active, *p = &pair->passive;
    fill(p->memory.bytes, END_MEMORY, 31);
    for (int i = 0; i < 16; i++)
        expect_status(ND_SUCCESS, post_read(a, TAG(i), (SIZE_T)i * 4096, 4096,
                                      p->memory.bytes + i * 4096, remote_token(p), 0));
    for (int i = 0; i < 16; i++)
        expect_result(a, Nd2RequestTypeRead, TAG(i), ND_SUCCESS);
    expect_filled(a->memory.bytes, END_MEMORY, 31);
}

/* The ends agreed on no Reads: a posted Read fails, and disturbs nothing else. */
static void read_with_a_limit_of_zero(void)
{
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .outbound_reads = READS_NONE } });
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(
        ND_INVALID_DEVICE_REQUEST, post_read(a, TAG(1), 0, 8, p->memory.bytes, remote_token(p), 0));
    exchange(a, p);
    /* The other direction has its own limit. */
    expect_status(ND_SUCCESS, post_read(p, TAG(2), 0, 8, a->memory.bytes, remote_token(a), 0));
    expect_result(p, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
}

static void peer_offered_no_reads(void)
{
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .inbound_reads = READS_NONE } });
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(
        ND_INVALID_DEVICE_REQUEST, post_read(p, TAG(1), 0, 8, a->memory.bytes, remote_token(a), 0));
    exchange(p, a);
    expect_status(ND_SUCCESS, post_read(a, TAG(2), 0, 8, p->memory.bytes, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
}

/* What a Read fetches is what a fenced Send behind it sends. */
static void fence_waits_for_reads(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    for (unsigned i = 0; i < 20; i++) {
        fill(p->memory.bytes, 20000, i);
        memset(a->memory.bytes, 0, 20000);
        expect_status(ND_SUCCESS, post_receive(p, TAG(1), 30000, 20000));
        expect_status(ND_SUCCESS, post_read(a, TAG(2), 0, 20000, p->memory.bytes, remote_token(p),
                                      ND_OP_FLAG_SILENT_SUCCESS));
        expect_status(ND_SUCCESS, post_send(a, TAG(3), 0, 20000, ND_OP_FLAG_READ_FENCE));
        expect_equal(20000, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
        expect_result(a, Nd2RequestTypeSend, TAG(3), ND_SUCCESS);
        expect_filled(p->memory.bytes + 30000, 20000, i);
    }
}

static void fence_on_every_kind(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    fill(p->memory.bytes, 8192, 55);
    expect_status(ND_SUCCESS, post_read(a, TAG(1), 0, 8192, p->memory.bytes, remote_token(p), 0));
    expect_status(ND_SUCCESS, post_write(a, TAG(2), 0, 8192, p->memory.bytes + 16384,
                                  remote_token(p), ND_OP_FLAG_READ_FENCE));
    expect_status(ND_SUCCESS, post_read(a, TAG(3), 8192, 8192, p->memory.bytes + 16384,
                                  remote_token(p), ND_OP_FLAG_READ_FENCE));
    expect_result(a, Nd2RequestTypeRead, TAG(1), ND_SUCCESS);
    expect_result(a, Nd2RequestTypeWrite, TAG(2), ND_SUCCESS);
    expect_result(a, Nd2RequestTypeRead, TAG(3), ND_SUCCESS);
    expect_filled(a->memory.bytes + 8192, 8192, 55);
}

/* Rights */

enum way { READING, WRITING };

static void denied(enum way way, struct pair *pair, const void *remote, ULONG length, UINT32 token,
    const char *what)
{
    note("%s, %s", way == READING ? "Read" : "Write", what);
    expect_no_access(
        pair, way == READING ? Nd2RequestTypeRead : Nd2RequestTypeWrite, remote, length, token);
}

static void no_token(void)
{
    for (int way = READING; way <= WRITING; way++) {
        struct pair *pair = connected_pair(NULL);
        denied((enum way)way, pair, pair->passive.memory.bytes, 8, 0, "token 0");
        pair = connected_pair(NULL);
        denied((enum way)way, pair, pair->passive.memory.bytes, 8, ~remote_token(&pair->passive),
            "a token of nothing");
    }
}

static void beyond_the_region(void)
{
    for (int way = READING; way <= WRITING; way++) {
        struct pair *pair = connected_pair(NULL);
        struct end *p = &pair->passive;
        denied((enum way)way, pair, p->memory.bytes + END_MEMORY - 8, 9, remote_token(p),
            "one octet too far");
        pair = connected_pair(NULL);
        p = &pair->passive;
        denied((enum way)way, pair, p->memory.bytes - 1, 8, remote_token(p), "one octet before");
        pair = connected_pair(NULL);
        p = &pair->passive;
        denied((enum way)way, pair, (void *)~(uintptr_t)3, 8, remote_token(p), "around the end");
    }
}

static void region_grants_only_what_its_flags_say(void)
{
    /* Not MR_LOCAL: on iWARP the peer may also write to memory that may be the sink of a Read. */
    static const ULONG none[] = { 0, ND_MR_FLAG_ALLOW_LOCAL_WRITE };
    for (int i = 0; i < 2; i++)
        for (int way = row_holds_in_full() ? READING : WRITING; way <= WRITING; way++) {
            struct pair *pair = connected_pair(NULL);
            struct memory m = new_memory(pair->passive.node, 64, none[i]);
            denied((enum way)way, pair, m.bytes, 8, m.remote, "no remote rights");
            expect_equal(0, m.bytes[0]);
        }
    struct pair *pair = connected_pair(NULL);
    struct memory m = new_memory(
        pair->passive.node, 64, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ);
    denied(WRITING, pair, m.bytes, 8, m.remote, "read only");
    expect_equal(0, m.bytes[0]);
    pair = connected_pair(NULL);
    m = new_memory(pair->passive.node, 64, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
    if (row_holds_in_full())
        denied(READING, pair, m.bytes, 8, m.remote, "write only");
}

static void token_of_another_adapter(void)
{
    for (int way = READING; way <= WRITING; way++) {
        struct pair *pair = connected_pair(NULL);
        struct memory m = new_memory(new_node(), 64, MR_REMOTE);
        denied((enum way)way, pair, m.bytes, 8, m.remote, "another protection domain");
        expect_equal(0, m.bytes[0]);
    }
}

static void deregistered_region(void)
{
    for (int way = READING; way <= WRITING; way++) {
        struct pair *pair = connected_pair(NULL);
        struct memory m = new_memory(pair->passive.node, 64, MR_REMOTE);
        struct op *op = new_op();
        HRESULT hr = CALL(m.mr, Deregister, &op->overlapped);
        expect_status(ND_SUCCESS, finish(m.mr, hr, op));
        denied((enum way)way, pair, m.bytes, 8, m.remote, "deregistered");
    }
}

/* The local side is wrong: the peer only sees the connection go. */
static void bad_local_memory(void)
{
    for (int way = READING; way <= WRITING; way++) {
        struct pair *pair = connected_pair(NULL);
        struct end *a = &pair->active, *p = &pair->passive;
        note("%s", way == READING ? "Read" : "Write");
        expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
        if (way == READING)
            expect_status(ND_SUCCESS,
                post_read(a, TAG(2), END_MEMORY - 4, 8, p->memory.bytes, remote_token(p), 0));
        else
            expect_status(ND_SUCCESS,
                post_write(a, TAG(2), END_MEMORY - 4, 8, p->memory.bytes, remote_token(p), 0));
        expect_result(a, way == READING ? Nd2RequestTypeRead : Nd2RequestTypeWrite, TAG(2),
            ND_ACCESS_VIOLATION);
        expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
    }
}

static void read_into_memory_without_the_right(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory constant = new_memory(a->node, 64, ND_MR_FLAG_ALLOW_REMOTE_READ);
    struct sge sge = { constant.bytes, 8, constant.local };
    fill(p->memory.bytes, 8, 1);
    expect_status(ND_SUCCESS,
        CALL(a->qp, Read, TAG(1), &sge, 1, (UINT64)(uintptr_t)p->memory.bytes, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeRead, TAG(1), ND_ACCESS_VIOLATION);
    expect_equal(0, constant.bytes[0]);
}

/* Two regions over one buffer, each with its own rights. */
static void same_memory_with_different_rights(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mr *second = new_mr(p->node);
    register_memory(second, p->memory.bytes, 4096, ND_MR_FLAG_ALLOW_REMOTE_READ);
    UINT32 token = CALL(second->v2, GetRemoteToken);
    fill(a->memory.bytes, 100, 4);
    expect_status(
        ND_SUCCESS, post_write(a, TAG(1), 0, 100, p->memory.bytes + 8, remote_token(p), 0));
    expect_result(a, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
    expect_status(ND_SUCCESS, post_read(a, TAG(2), 200, 100, p->memory.bytes + 8, token, 0));
    expect_result(a, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
    expect_filled(a->memory.bytes + 200, 100, 4);
    denied(WRITING, pair, p->memory.bytes, 8, token, "the region for reading");
}

SUITE(rdma);
