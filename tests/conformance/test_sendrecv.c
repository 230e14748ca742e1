/* SPDX-License-Identifier: MIT */
/*
 * test_sendrecv.c - messages: sizes, gather and scatter, order, silent success, what goes wrong.
 */
#include "fixture.h"

/* Both completion orders are right: the two ends have queues of their own. */
static void one_message(struct end *from, struct end *to, ULONG length, ULONG room, ULONG flags)
{
    note("%u octets into %u", (unsigned)length, (unsigned)room);
    fill(from->memory.bytes, length, length);
    memset(to->memory.bytes, 0, room);
    expect_status(ND_SUCCESS, post_receive(to, TAG(1), 0, room));
    expect_status(ND_SUCCESS, post_send(from, TAG(2), 0, length, flags));
    expect_equal(length, expect_result(to, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(from, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(to->memory.bytes, length, length);
    for (ULONG i = length; i < room; i++)
        expect_equal(0, to->memory.bytes[i]);
}

static void sizes(void)
{
    static const ULONG lengths[] = { 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255, 1023, 1024, 1408, 1460,
        2048, 4095, 4096, 4097, 9000, 16384, 65535, 65536 };
    struct pair *pair = connected_pair(NULL);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        one_message(&pair->active, &pair->passive, lengths[i], END_MEMORY, 0);
        one_message(&pair->passive, &pair->active, lengths[i], lengths[i], 0);
    }
}

static void large_message(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    const ULONG most = a->node->info.MaxTransferLength, odd = 8 * 1024 * 1024 + 5;
    const ULONG length = most < odd ? most : odd;
    a->memory = new_memory(a->node, length, MR_LOCAL);
    p->memory = new_memory(p->node, length, MR_LOCAL);
    fill(a->memory.bytes, length, 3);
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, length));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, length, 0));
    expect_equal(length, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes, length, 3);
}

static void receives_posted_before_connecting(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(1), 0, 64));
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(2), 0, 64));
    connect_ends(pair);
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(3), 64, 64, 0));
    expect_equal(64, expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
    expect_result(&pair->active, Nd2RequestTypeSend, TAG(3), ND_SUCCESS);
    expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(4), 64, 64, 0));
    expect_equal(64, expect_result(&pair->active, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(&pair->passive, Nd2RequestTypeSend, TAG(4), ND_SUCCESS);
}

static void zero_length_messages(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    /* into a Receive with room, and into one without any */
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 64));
    expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(2), NULL, 0));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(3), NULL, 0, 0));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(4), NULL, 0, 0));
    expect_equal(0, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_equal(0, expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(3), ND_SUCCESS);
    expect_result(a, Nd2RequestTypeSend, TAG(4), ND_SUCCESS);
}

static void gather_and_scatter(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    fill(a->memory.bytes, 4000, 9);
    struct sge out[4] = { sge_of(a, 0, 1), sge_of(a, 1, 1499), sge_of(a, 1500, 500),
        sge_of(a, 2000, 2000) };
    struct sge in[3] = { sge_of(p, 10, 700), sge_of(p, 5000, 2501), sge_of(p, 20000, 1000) };
    expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(1), in, 3));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), out, fit_entries(a, out, 4), 0));
    expect_equal(4000, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    BYTE *all = keep_memory(4000);
    memcpy(all, p->memory.bytes + 10, 700);
    memcpy(all + 700, p->memory.bytes + 5000, 2501);
    memcpy(all + 3201, p->memory.bytes + 20000, 799);
    expect_filled(all, 4000, 9);
    for (int i = 799; i < 1000; i++)
        expect_equal(0, p->memory.bytes[20000 + i]);
}

/* Empty entries, and entries of different regions. */
static void mixed_entries(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory other = new_memory(a->node, 64, 0);
    fill(other.bytes, 64, 4);
    fill(a->memory.bytes, 36, 4 /* continues nothing: compared apart */);
    struct sge out[4] = { { other.bytes, 64, other.local }, sge_of(a, 0, 0), sge_of(a, 0, 36),
        { NULL, 0, V2_V1(0, other.local) /* 0 there means inline */ } };
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 100));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), out, 4, 0));
    expect_equal(100, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes, 64, 4);
    expect_filled(p->memory.bytes + 64, 36, 4);
}

static void most_entries_the_adapter_takes(void)
{
    struct node *node = new_node();
    ULONG n = node->info.MaxInitiatorSge < node->info.MaxReceiveSge ? node->info.MaxInitiatorSge
                                                                    : node->info.MaxReceiveSge;
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .sge = n }, .passive = { .sge = n } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct sge *out = keep_memory(n * sizeof(*out)), *in = keep_memory(n * sizeof(*in));
    fill(a->memory.bytes, n * 3, 8);
    for (ULONG i = 0; i < n; i++) {
        out[i] = sge_of(a, i * 3, 3);
        in[i] = sge_of(p, i * 3, 3);
    }
    expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(1), in, n));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), out, n, 0));
    expect_equal(n * 3, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes, n * 3, 8);
}

/* Windows of messages in both directions; results come in the order of the posts, with their contexts and lengths. */
static void streams_both_ways_keep_their_order(void)
{
    enum { COUNT = 500, WINDOW = 8, ROOM = 512 };
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .two_cqs = true }, .passive = { .two_cqs = true } });
    struct end *ends[2] = { &pair->active, &pair->passive };
    unsigned received[2] = { 0 }, sent[2] = { 0 }, done[2] = { 0 };
    for (int e = 0; e < 2; e++)
        for (unsigned i = 0; i < 2 * WINDOW; i++)
            expect_status(
                ND_SUCCESS, post_receive(ends[e], TAG(i), 8192 + i % (2 * WINDOW) * ROOM, ROOM));
    ULONGLONG end = GetTickCount64() + 3 * DEADLINE_MS;
    while (received[0] < COUNT || received[1] < COUNT || done[0] < COUNT || done[1] < COUNT) {
        if (GetTickCount64() > end)
            fail_row("the stream has stopped: %u %u received, %u %u sent", received[0], received[1],
                done[0], done[1]);
        for (int e = 0; e < 2; e++) {
            struct end *self = ends[e];
            ND2_RESULT results[4];
            /* One message fewer in flight than the peer has Receives. */
            while (
                sent[e] < COUNT && sent[e] - done[e] < WINDOW && sent[e] - received[!e] < WINDOW) {
                unsigned i = sent[e]++;
                BYTE *out = self->memory.bytes + i % WINDOW * ROOM;
                fill(out, 1 + i % ROOM, i);
                expect_status(ND_SUCCESS,
                    post_send(self, TAG(i), (SIZE_T)(i % WINDOW) * ROOM, 1 + i % ROOM, 0));
            }
            ULONG n = CALL(self->initiator_cq, GetResults, results, 4);
            for (ULONG k = 0; k < n; k++) {
                expect_status(ND_SUCCESS, results[k].Status);
                expect_pointer(TAG(done[e]), results[k].RequestContext);
                expect_equal(Nd2RequestTypeSend, results[k].RequestType);
                done[e]++;
            }
            n = CALL(self->cq, GetResults, results, 4);
            for (ULONG k = 0; k < n; k++) {
                unsigned i = received[e]++;
                BYTE *in = self->memory.bytes + 8192 + i % (2 * WINDOW) * ROOM;
                expect_status(ND_SUCCESS, results[k].Status);
                expect_pointer(TAG(i), results[k].RequestContext);
                expect_pointer(self, results[k].QueuePairContext);
                expect_equal(1 + i % ROOM, results[k].BytesTransferred);
                expect_filled(in, 1 + i % ROOM, i);
                expect_status(ND_SUCCESS, post_receive(self, TAG(i + 2 * WINDOW),
                                              (SIZE_T)(in - self->memory.bytes), ROOM));
            }
        }
        SwitchToThread();
    }
}

/* Silent success */

static void silent_requests_without_end(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .initiator_depth = 8, .two_cqs = true, .cq_depth = 8 } });
    struct end *a = &pair->active, *p = &pair->passive;
    for (int i = 0; i < 80; i++) {
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
        ULONGLONG end = GetTickCount64() + DEADLINE_MS;
        HRESULT hr;
        while ((hr = post_send(a, TAG(i), 0, 8, ND_OP_FLAG_SILENT_SUCCESS)) == ND_NO_MORE_ENTRIES) {
            expect_no_result(a->initiator_cq);
            expect_true(GetTickCount64() < end);
            SwitchToThread();
        }
        expect_status(ND_SUCCESS, hr);
        expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
        expect_no_result(a->initiator_cq);
    }
    /* The first that is not silent is the first seen. */
    expect_status(ND_SUCCESS, post_receive(p, TAG(90), 0, 8));
    expect_status(ND_SUCCESS, post_send(a, TAG(91), 0, 8, 0));
    expect_result(a, Nd2RequestTypeSend, TAG(91), ND_SUCCESS);
    expect_no_result(a->initiator_cq);
}

static void silent_and_visible_requests_mixed(void)
{
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .initiator_depth = 6, .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 6; i++)
            expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
        for (int i = 0; i < 6; i++)
            expect_status(ND_SUCCESS,
                post_send(a, TAG(i), 0, 8, i == 2 || i == 5 ? 0 : ND_OP_FLAG_SILENT_SUCCESS));
        expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
        expect_result(a, Nd2RequestTypeSend, TAG(5), ND_SUCCESS);
        for (int i = 0; i < 6; i++)
            expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
    }
}

static void silent_request_that_fails_is_reported(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_write(a, TAG(2), 0, 8, p->memory.bytes + END_MEMORY,
                                  remote_token(p), ND_OP_FLAG_SILENT_SUCCESS));
    if (row_holds_in_full())
        expect_result(a, Nd2RequestTypeWrite, TAG(2), REMOTE_ACCESS_REFUSED);
    else
        expect_lost(a);
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

/* What goes wrong */

static void receive_is_too_small(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 1023));
    expect_status(ND_SUCCESS, post_receive(p, TAG(2), 0, 1023));
    expect_status(ND_SUCCESS, post_send(a, TAG(3), 0, 1024, 0));
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_BUFFER_OVERFLOW);
    expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_CANCELED);
    ND2_RESULT sent = next_result(a->cq);
    expect_equal(Nd2RequestTypeSend, sent.RequestType);
    expect_pointer(TAG(3), sent.RequestContext);
    if (row_holds_in_full())
        expect_one_of(sent.Status, ND_SUCCESS, V2_V1(NT_DATA_ERROR, ND_REMOTE_ERROR));
    else
        expect_one_of(sent.Status, ND_SUCCESS, ND_INTERNAL_ERROR);
}

static void no_receive_is_posted(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    ULONGLONG start = GetTickCount64();
    expect_status(ND_SUCCESS, post_send(a, TAG(1), 0, 8, 0));
    expect_refused(a, Nd2RequestTypeSend, TAG(1), ND_IO_TIMEOUT);
    expect_true(GetTickCount64() - start < 4000);
    expect_no_result(p->cq);
}

/* A Receive that comes a little late is in time. */
static void receive_comes_late(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_send(a, TAG(1), 0, 8, 0));
    expect_status(ND_SUCCESS, post_receive(p, TAG(2), 8, 8));
    expect_equal(8, expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(1), ND_SUCCESS);
}

static void bad_send(struct sge sge, const char *what)
{
    note("%s", what);
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory gone = new_memory(a->node, 64, MR_LOCAL);
    if (sge.MemoryRegionToken == 1)
        sge = sge_of(a, END_MEMORY - 4, 5);
    else if (sge.MemoryRegionToken == 2) {
        struct op *op = new_op();
        HRESULT hr = CALL(gone.mr, Deregister, &op->overlapped);
        expect_status(ND_SUCCESS, finish(gone.mr, hr, op));
        sge = (struct sge){ gone.bytes, 8, gone.local };
    } else if (sge.MemoryRegionToken == 3) {
        struct memory foreign = new_memory(new_node(), 64, MR_LOCAL);
        sge = (struct sge){ foreign.bytes, 8, foreign.local };
    }
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 64));
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), &sge, 1, 0));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_ACCESS_VIOLATION);
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

/* The sender alone knows what was wrong; the peer sees the connection go. */
static void bad_local_memory_of_a_send(void)
{
    static BYTE buffer[8];
    bad_send((struct sge){ buffer, 8, 0xDEADBE00 }, "a token of nothing");
    bad_send((struct sge){ NULL, 0, 1 }, "beyond the region's end");
    bad_send((struct sge){ NULL, 0, 2 }, "a region that is no more");
    bad_send((struct sge){ NULL, 0, 3 }, "a region of another adapter");
}

static void send_beyond_its_region(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 64));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), END_MEMORY - 4, 5, 0));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_ACCESS_VIOLATION);
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void receive_without_the_right_to_write(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct memory constant = new_memory(p->node, 64, 0);
    struct sge sge = { constant.bytes, 64, constant.local };
    expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(1), &sge, 1));
    fill(a->memory.bytes, 8, 1);
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, 8, 0));
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_ACCESS_VIOLATION);
    expect_equal(0, constant.bytes[0]);
}

static void receive_beyond_its_region(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), END_MEMORY - 4, 8));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, 8, 0));
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_ACCESS_VIOLATION);
}

/* After a failing completion the requests behind it are flushed, in order. */
static void failure_flushes_the_rest(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    expect_status(ND_SUCCESS, post_receive(a, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_receive(p, TAG(2), 0, 8));
    expect_status(
        ND_SUCCESS, post_write(a, TAG(3), 0, 8, p->memory.bytes, remote_token(p) ^ 0x5A5A, 0));
    expect_status(ND_SUCCESS, post_send(a, TAG(4), 0, 8, 0));
    expect_status(ND_SUCCESS,
        post_read(a, TAG(5), 0, 8, p->memory.bytes, remote_token(p), ND_OP_FLAG_SILENT_SUCCESS));
    bool told = row_holds_in_full();
    expect_result(a, Nd2RequestTypeWrite, TAG(3), told ? REMOTE_ACCESS_REFUSED : ND_SUCCESS);
    ND2_RESULT sent = next_result(a->initiator_cq);
    expect_pointer(TAG(4), sent.RequestContext);
    expect_one_of(sent.Status, ND_CANCELED, told ? ND_CANCELED : ND_SUCCESS);
    expect_result(a, Nd2RequestTypeRead, TAG(5), ND_CANCELED);
    expect_result(a, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
    expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_CANCELED);
}

/* Posting to one queue from several threads. */

enum { POSTERS = 4, EACH = 50 };
struct poster {
    struct end *end;
    HRESULT worst;
};

static DWORD WINAPI post_many(void *arg)
{
    struct poster *poster = arg;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    for (int i = 0; i < EACH; i++) {
        HRESULT hr;
        while ((hr = post_send(poster->end, TAG(1), 0, 16, 0)) == ND_NO_MORE_ENTRIES &&
               GetTickCount64() < end)
            SwitchToThread();
        if (hr != ND_SUCCESS)
            poster->worst = hr;
    }
    return 0;
}

static void several_threads_post_to_one_queue(void)
{
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .two_cqs = true, .cq_depth = 64 },
            .passive = { .receive_depth = POSTERS * EACH, .cq_depth = POSTERS * EACH } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct poster *posters = keep_memory(POSTERS * sizeof(*posters));
    HANDLE threads[POSTERS];
    for (int i = 0; i < POSTERS * EACH; i++)
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 1024, 16));
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){ a, ND_SUCCESS };
        threads[i] = CreateThread(NULL, 0, post_many, &posters[i], 0, NULL);
        expect_true(threads[i] != NULL);
        keep_handle(threads[i]);
    }
    bool sent = true;
    for (int i = 0; i < POSTERS * EACH && sent; i++) {
        ND2_RESULT result = poll_result(a->initiator_cq);
        sent = result.Status == ND_SUCCESS && result.RequestType == Nd2RequestTypeSend;
    }
    expect_equal(WAIT_OBJECT_0, WaitForMultipleObjects(POSTERS, threads, TRUE, 3 * DEADLINE_MS));
    expect_true(sent);
    for (int i = 0; i < POSTERS; i++)
        expect_status(ND_SUCCESS, posters[i].worst);
    for (int i = 0; i < POSTERS * EACH; i++)
        expect_equal(16, expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
}

SUITE(sendrecv);
