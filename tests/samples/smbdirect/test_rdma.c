/* SPDX-License-Identifier: MIT */
/* test_rdma.c - buffers: exposed to a peer, hidden from it, moved to and from memory that it describes. */
#include "tests/samples/smbdirect/raw.h"

#include "smbd_private.h"

#include <stdlib.h>

enum { THERE = 40960, LENGTH = 20000 }; /* the part of the peer's memory that no Receive has */

static int set_up_connected(void **state)
{
    scene_set_up(state);
    library_connect(*state);
    return 0;
}

/* An adapter like that of siw: no fast registration, and Reads need a registered sink. */
static void like_siw(struct scene *scene)
{
    scene->adapter->Info.FRMRPageCount = 0;
    scene->adapter->Info.AdapterFlags &= ~NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED;
}

/* Then what a client exposes is registered by calls. */
static int set_up_plain(void **state)
{
    scene_set_up(state);
    like_siw(*state);
    library_connect(*state);
    return 0;
}

static SMBD_BUFFER *buffer_of(struct scene *scene, ULONG length)
{
    SMBD_BUFFER *buffer = NULL;

    assert_int_equal(SmbdCreateBuffer(scene->connection, length, &buffer), 0);
    assert_non_null(buffer);
    return buffer;
}

static void fill(void *memory, ULONG length, unsigned seed)
{
    for (ULONG i = 0; i < length; i++)
        ((UCHAR *)memory)[i] = (UCHAR)(i * 13 + seed);
}

static void assert_filled(const void *memory, ULONG length, unsigned seed)
{
    for (ULONG i = 0; i < length; i++)
        if (((const UCHAR *)memory)[i] != (UCHAR)(i * 13 + seed))
            fail_msg("byte %u is another", i);
}

/* What the peer describes. */
static SMBD_DESCRIPTOR there(struct scene *scene, ULONG length)
{
    return (SMBD_DESCRIPTOR){ .Offset = (ULONG_PTR)scene->peer->memory + THERE,
        .Token = scene->peer->remote_token,
        .Length = length };
}

/* The peer's request on an exposed buffer; its result. */
static NTSTATUS peer_access(
    struct scene *scene, const SMBD_DESCRIPTOR *descriptor, ULONG length, bool write)
{
    struct side *side = scene->peer;
    NDK_SGE entry = sge(side->memory + THERE, length, side->token);
    NDK_RESULT result;

    if (write)
        assert_int_equal(side->qp->Dispatch->NdkWrite(
                             side->qp, NULL, &entry, 1, descriptor->Offset, descriptor->Token, 0),
            0);
    else
        assert_int_equal(side->qp->Dispatch->NdkRead(
                             side->qp, NULL, &entry, 1, descriptor->Offset, descriptor->Token, 0),
            0);
    while (!side->initiator_cq->Dispatch->NdkGetCqResults(side->initiator_cq, &result, 1))
        sched_yield();
    return result.Status;
}

/* ---- buffers ---- */

static void buffers_have_bounds(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = NULL;

    assert_int_equal(
        SmbdCreateBuffer(scene->connection, 0, &buffer), (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdCreateBuffer(scene->connection, 65537, &buffer),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    for (unsigned i = 0; i < 16; i++)
        buffer_of(scene, i ? 1 : 65536);
    assert_int_equal(SmbdCreateBuffer(scene->connection, 1, &buffer),
        (NTSTATUS)SPEC_STATUS_INSUFFICIENT_RESOURCES);
    assert_null(buffer);
}

static void lengths_are_checked(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH - 1), mine;

    assert_int_equal(SmbdExpose(scene->connection, buffer, LENGTH + 1, TRUE, &mine),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdExpose(scene->connection, buffer, 0, TRUE, &mine),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdStartWrite(scene->connection, buffer, LENGTH, &descriptor),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdStartRead(scene->connection, buffer, 0, &descriptor),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    descriptor.Length = LENGTH + 1;
    assert_int_equal(SmbdStartRead(scene->connection, buffer, LENGTH + 1, &descriptor),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdFinish(scene->connection, buffer), 0);
    assert_int_equal(SmbdHide(scene->connection, buffer), 0);
    assert_int_equal(SmbdFailure(scene->connection, NULL), 0);
}

/* ---- moving ---- */

static void what_is_written_arrives(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH);

    for (unsigned round = 0; round < 3; round++) {
        fill(SmbdBufferMemory(buffer), LENGTH, round);
        assert_int_equal(SmbdStartWrite(scene->connection, buffer, LENGTH, &descriptor), 0);
        assert_int_equal(SmbdFinish(scene->connection, buffer), 0);
        assert_filled(scene->peer->memory + THERE, LENGTH, round);
    }
}

/* A message sent then comes behind the data. */
static void a_message_follows_the_data(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH);
    struct raw_transfer transfer;

    fill(SmbdBufferMemory(buffer), LENGTH, 7);
    assert_int_equal(SmbdStartWrite(scene->connection, buffer, LENGTH, &descriptor), 0);
    assert_int_equal(SmbdSend(scene->connection, "done", 4, NULL, 0, NULL), 0);
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 28);
    assert_filled(scene->peer->memory + THERE, LENGTH, 7);
    assert_int_equal(SmbdFinish(scene->connection, buffer), 0);
}

static void what_is_read_arrives(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH);

    for (unsigned round = 0; round < 3; round++) {
        fill(scene->peer->memory + THERE, LENGTH, round);
        assert_int_equal(SmbdStartRead(scene->connection, buffer, LENGTH, &descriptor), 0);
        assert_int_equal(SmbdFinish(scene->connection, buffer), 0);
        assert_filled(SmbdBufferMemory(buffer), LENGTH, round);
    }
}

static void a_buffer_does_one_thing(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH), mine;

    assert_int_equal(SmbdExpose(scene->connection, buffer, LENGTH, TRUE, &mine), 0);
    assert_int_equal(SmbdExpose(scene->connection, buffer, LENGTH, TRUE, &mine),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(SmbdStartWrite(scene->connection, buffer, LENGTH, &descriptor),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(SmbdStartRead(scene->connection, buffer, LENGTH, &descriptor),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(SmbdHide(scene->connection, buffer), 0);
    assert_int_equal(SmbdStartWrite(scene->connection, buffer, LENGTH, &descriptor), 0);
    assert_int_equal(SmbdFinish(scene->connection, buffer), 0);
}

static void a_wrong_descriptor_ends_the_connection(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH);
    SMBD_MESSAGE *message;

    descriptor.Token ^= 0x100;
    if (SmbdStartRead(scene->connection, buffer, LENGTH, &descriptor) == 0)
        assert_int_not_equal(SmbdFinish(scene->connection, buffer), 0);
    assert_int_not_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
    assert_int_not_equal(SmbdFailure(scene->connection, NULL), 0);
    assert_int_not_equal(SmbdSend(scene->connection, "x", 1, NULL, 0, NULL), 0);
}

/* ---- exposing ---- */

/* The registration is in effect at the peer when a message that was sent behind it is. */
static SMBD_DESCRIPTOR exposed_and_told(
    struct scene *scene, SMBD_BUFFER *buffer, BOOLEAN peer_writes)
{
    struct raw_transfer transfer;
    SMBD_DESCRIPTOR descriptor;

    assert_int_equal(SmbdExpose(scene->connection, buffer, LENGTH, peer_writes, &descriptor), 0);
    assert_int_equal(descriptor.Length, LENGTH);
    assert_int_equal(SmbdSend(scene->connection, "go", 2, NULL, 0, NULL), 0);
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 26);
    return descriptor;
}

static void the_peer_writes_what_it_may(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);

    for (unsigned round = 0; round < 3; round++) {
        SMBD_DESCRIPTOR descriptor = exposed_and_told(scene, buffer, TRUE);

        fill(scene->peer->memory + THERE, LENGTH, round);
        assert_int_equal(peer_access(scene, &descriptor, LENGTH, true), 0);
        assert_int_equal(SmbdHide(scene->connection, buffer), 0);
        assert_filled(SmbdBufferMemory(buffer), LENGTH, round);
    }
}

static void the_peer_reads_what_it_may(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor;

    fill(SmbdBufferMemory(buffer), LENGTH, 5);
    descriptor = exposed_and_told(scene, buffer, FALSE);
    assert_int_equal(peer_access(scene, &descriptor, LENGTH, false), 0);
    assert_filled(scene->peer->memory + THERE, LENGTH, 5);
    assert_int_equal(SmbdHide(scene->connection, buffer), 0);
}

/* The connection of a peer that tries has ended; so has what it could reach. */
static void assert_kept_out(struct scene *scene, const SMBD_DESCRIPTOR *descriptor, bool write)
{
    SMBD_MESSAGE *message;

    peer_access(scene, descriptor, LENGTH, write); /* a Write may succeed here, and end there */
    assert_int_not_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
}

static void a_hidden_buffer_is_out_of_reach(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor;

    memset(SmbdBufferMemory(buffer), 0, LENGTH);
    assert_int_equal(SmbdExpose(scene->connection, buffer, LENGTH, TRUE, &descriptor), 0);
    assert_int_equal(SmbdHide(scene->connection, buffer), 0);
    fill(scene->peer->memory + THERE, LENGTH, 1);
    assert_kept_out(scene, &descriptor, true);
    for (ULONG i = 0; i < LENGTH; i++)
        assert_int_equal(((UCHAR *)SmbdBufferMemory(buffer))[i], 0);
}

static void what_is_to_be_read_is_not_written(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = exposed_and_told(scene, buffer, FALSE);

    assert_kept_out(scene, &descriptor, true);
}

static void what_is_to_be_written_is_not_read(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = exposed_and_told(scene, buffer, TRUE);

    assert_kept_out(scene, &descriptor, false);
}

/* ---- invalidation by the peer ---- */

/* The peer's answer takes the registration back; the buffer is free at once, and can be exposed again. */
static void the_peer_takes_it_back(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *buffer = buffer_of(scene, LENGTH);
    struct side *side = scene->peer;
    SMBD_DESCRIPTOR descriptor;
    SMBD_MESSAGE *message;

    for (unsigned round = 0; round < 3; round++) {
        struct raw_transfer answer = { .header = {
                                           .CreditsRequested = 8,
                                           .CreditsGranted = 1,
                                           .DataOffset = 24,
                                           .DataLength = 2,
                                       } };
        NDK_SGE entry = sge(side->memory, 26, side->token);
        NDK_RESULT result;

        descriptor = exposed_and_told(scene, buffer, TRUE);
        fill(side->memory + THERE, LENGTH, round);
        assert_int_equal(peer_access(scene, &descriptor, LENGTH, true), 0);
        memcpy(side->memory, &answer, 26);
        assert_int_equal(side->qp->Dispatch->NdkSendAndInvalidate(
                             side->qp, NULL, &entry, 1, 0, descriptor.Token),
            0);
        while (!side->initiator_cq->Dispatch->NdkGetCqResults(side->initiator_cq, &result, 1))
            sched_yield();
        assert_int_equal(result.Status, 0);
        assert_int_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
        SmbdFreeMessage(message);
        assert_int_equal(SmbdHide(scene->connection, buffer), 0);
        assert_filled(SmbdBufferMemory(buffer), LENGTH, round);
    }
}

/* And the other way: the library's message invalidates a region of the peer's. */
static void a_message_invalidates(void **state)
{
    enum { PAGES = 5 };
    struct scene *scene = *state;
    struct side *side = scene->peer;
    struct told told;
    NDK_MR *region = NULL;
    NDK_LOGICAL_ADDRESS_MAPPING *lam;
    struct raw_transfer transfer;
    NDK_RESULT_EX result;
    ULONG size = 0, offset;
    UINT32 token;
    MDL mdl;

    MmInitializeMdl(&mdl, side->memory + THERE, PAGES * 4096);
    assert_int_equal(side->adapter->Dispatch->NdkBuildLAM(
                         side->adapter, &mdl, PAGES * 4096, NULL, NULL, NULL, &size, &offset),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    lam = malloc(size);
    assert_int_equal(side->adapter->Dispatch->NdkBuildLAM(
                         side->adapter, &mdl, PAGES * 4096, NULL, NULL, lam, &size, &offset),
        0);
    told_init(&told);
    region = made(&told,
        side->pd->Dispatch->NdkCreateMr(side->pd, TRUE, tell_create, &told, &region), &region);
    told_init(&told);
    assert_int_equal(ended(&told, region->Dispatch->NdkInitializeFastRegisterMr(
                                      region, PAGES, TRUE, tell_request, &told)),
        0);
    assert_int_equal(
        side->qp->Dispatch->NdkFastRegister(side->qp, NULL, region, PAGES, lam->AdapterPageArray,
            offset, PAGES * 4096, side->memory + THERE, NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
        0);
    token = region->Dispatch->NdkGetRemoteTokenFromMr(region);
    assert_int_equal(SmbdSend(scene->connection, "done", 4, NULL, 0, &token), 0);
    while (!side->receive_cq->Dispatch->NdkGetCqResultsEx(side->receive_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, 0);
    assert_int_equal(result.Type, 0x8001);
    assert_int_equal(result.TypeSpecificCompletionOutput, token);
    memcpy(&transfer, result.RequestContext, 28);
    assert_int_equal(transfer.header.DataLength, 4);
    close_mr(region);
    side->adapter->Dispatch->NdkReleaseLAM(side->adapter, lam);
    free(lam);
}

/* A connection may be closed with memory exposed, and with requests under way. */
static void a_connection_closes_under_them(void **state)
{
    struct scene *scene = *state;
    SMBD_BUFFER *exposed = buffer_of(scene, LENGTH), *moving = buffer_of(scene, LENGTH);
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH), mine;

    assert_int_equal(SmbdExpose(scene->connection, exposed, LENGTH, TRUE, &mine), 0);
    assert_int_equal(SmbdStartRead(scene->connection, moving, LENGTH, &descriptor), 0);
    SmbdClose(scene->connection);
    scene->connection = NULL;
    raw_ended(scene);
}

/* ---- a server whose adapter is like that of siw ---- */

/* What the library's passive side did. */
static struct {
    SMBD_DESCRIPTOR peer; /* its message */
    NTSTATUS made, read, written, exposed;
    bool same;
    KEVENT done;
} moved;

static bool is_filled(const void *memory, ULONG length, unsigned seed)
{
    ULONG i = 0;

    while (i < length && ((const UCHAR *)memory)[i] == (UCHAR)(i * 13 + seed))
        i++;
    return i == length;
}

static VOID move_both_ways(SMBD_CONNECTION *connection, SMBD_BUFFER *buffer)
{
    SMBD_DESCRIPTOR mine;

    moved.read = SmbdStartRead(connection, buffer, LENGTH, &moved.peer);
    if (NT_SUCCESS(moved.read))
        moved.read = SmbdFinish(connection, buffer);
    moved.same = is_filled(SmbdBufferMemory(buffer), LENGTH, 3);
    fill(SmbdBufferMemory(buffer), LENGTH, 4);
    moved.written = SmbdStartWrite(connection, buffer, LENGTH, &moved.peer);
    if (NT_SUCCESS(moved.written))
        moved.written = SmbdFinish(connection, buffer);
    moved.exposed = SmbdExpose(connection, buffer, LENGTH, TRUE, &mine);
}

static VOID serve_moves(PVOID context, SMBD_CONNECTION *connection)
{
    SMBD_BUFFER *buffer = NULL;
    SMBD_MESSAGE *message;

    (void)context;
    if (!NT_SUCCESS(SmbdReceive(connection, TRUE, &message)))
        return;
    memcpy(&moved.peer, message->Data, sizeof(moved.peer));
    SmbdFreeMessage(message);
    moved.made = SmbdCreateBuffer(connection, LENGTH, &buffer);
    if (NT_SUCCESS(moved.made))
        move_both_ways(connection, buffer);
    SmbdSend(connection, "done", 4, NULL, 0, NULL);
    KeSetEvent(&moved.done, IO_NO_INCREMENT, FALSE);
}

static void a_server_without_fast_registration_moves_data(void **state)
{
    const SMBD_NEGOTIATE_REQUEST request = { 0x0100, 0x0100, 0, 8, 1024, 1024, 131072 };
    struct scene *scene = *state;
    struct raw_transfer transfer = { .header = {
                                         .CreditsRequested = 8,
                                         .CreditsGranted = 8,
                                         .DataOffset = 24,
                                         .DataLength = sizeof(SMBD_DESCRIPTOR),
                                     } };
    SMBD_DESCRIPTOR descriptor = there(scene, LENGTH);
    SMBD_NEGOTIATE_RESPONSE response;

    like_siw(scene);
    KeInitializeEvent(&moved.done, NotificationEvent, FALSE);
    scene->serve = serve_moves;
    library_listen(scene);
    raw_connect(scene);
    raw_send(scene, &request, sizeof(request));
    assert_int_equal(raw_receive(scene, &response, sizeof(response)), 32);
    assert_int_equal(response.MaxReadWriteSize, 1048576);
    fill(scene->peer->memory + THERE, LENGTH, 3);
    memcpy(transfer.data, &descriptor, sizeof(descriptor));
    raw_send(scene, &transfer, 24 + sizeof(descriptor));
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 28);
    KeWaitForSingleObject(&moved.done, Executive, KernelMode, FALSE, NULL);
    assert_int_equal(moved.made, 0);
    assert_int_equal(moved.read, 0);
    assert_true(moved.same);
    assert_int_equal(moved.written, 0);
    assert_int_equal(moved.exposed, (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_filled(scene->peer->memory + THERE, LENGTH, 4);
}

#define test(f) cmocka_unit_test_setup_teardown(f, set_up_connected, scene_tear_down)
#define plain(f)                                                                                   \
    {                                                                                              \
        "without fast registration: " #f, f, set_up_plain, scene_tear_down, NULL                   \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(buffers_have_bounds),
        test(lengths_are_checked),
        test(what_is_written_arrives),
        test(a_message_follows_the_data),
        test(what_is_read_arrives),
        test(a_buffer_does_one_thing),
        test(a_wrong_descriptor_ends_the_connection),
        test(the_peer_writes_what_it_may),
        test(the_peer_reads_what_it_may),
        test(a_hidden_buffer_is_out_of_reach),
        test(what_is_to_be_read_is_not_written),
        test(what_is_to_be_written_is_not_read),
        test(the_peer_takes_it_back),
        test(a_message_invalidates),
        test(a_connection_closes_under_them),
        cmocka_unit_test_setup_teardown(
            a_server_without_fast_registration_moves_data, scene_set_up, scene_tear_down),
        plain(buffers_have_bounds),
        plain(the_peer_writes_what_it_may),
        plain(the_peer_reads_what_it_may),
        plain(a_hidden_buffer_is_out_of_reach),
        plain(what_is_to_be_read_is_not_written),
        plain(what_is_to_be_written_is_not_read),
    };

    return run_in_modes(NULL, tests);
}
