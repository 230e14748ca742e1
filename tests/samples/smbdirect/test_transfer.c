/* SPDX-License-Identifier: MIT */
/* test_transfer.c - messages, fragments and credits, with a peer that may break the rules of each. */
#include "tests/samples/smbdirect/raw.h"

#include <stdlib.h>

/* With data of so many bytes; asks for 8 credits, and grants that many. */
static struct raw_transfer transfer_of(ULONG length, ULONG remaining, USHORT granted)
{
    struct raw_transfer transfer = {
        .header = { .CreditsRequested = 8,
            .CreditsGranted = granted,
            .RemainingDataLength = remaining,
            .DataOffset = length ? 24 : 0,
            .DataLength = length },
    };

    memset(transfer.data, 'x', length);
    return transfer;
}

static void send_transfer(struct scene *scene, const struct raw_transfer *transfer)
{
    raw_send(scene, transfer, transfer->header.DataLength ? 24 + transfer->header.DataLength : 20);
}

static int set_up_negotiated(void **state)
{
    scene_set_up(state);
    library_listen(*state);
    raw_negotiate(*state);
    return 0;
}

/* ---- right ones ---- */

/* The echo grants the one credit that was used, and asks for all it can have. */
static void a_message_is_echoed(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 2);
    struct scene *scene = *state;

    send_transfer(scene, &transfer);
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 29);
    assert_int_equal(transfer.header.CreditsRequested, 255);
    assert_int_equal(transfer.header.CreditsGranted, 1);
    assert_int_equal(transfer.header.Flags, 0);
    assert_int_equal(transfer.header.RemainingDataLength, 0);
    assert_int_equal(transfer.header.DataOffset, 24);
    assert_int_equal(transfer.header.DataLength, 5);
    assert_memory_equal(transfer.data, "xxxxx", 5);
}

/* The peer receives 1024 bytes, 24 of which are no data. */
static void fragments_go_both_ways(void **state)
{
    struct raw_transfer first = transfer_of(1000, 500, 8), second = transfer_of(500, 0, 0);
    struct scene *scene = *state;

    send_transfer(scene, &first);
    send_transfer(scene, &second);
    assert_int_equal(raw_receive(scene, &first, sizeof(first)), 1024);
    assert_int_equal(first.header.RemainingDataLength, 500);
    assert_int_equal(first.header.DataLength, 1000);
    assert_int_equal(raw_receive(scene, &second, sizeof(second)), 524);
    assert_int_equal(second.header.RemainingDataLength, 0);
    assert_int_equal(second.header.DataLength, 500);
}

/* Data may begin at any multiple of 8 behind the header, and messages without data may come in between. */
static void data_may_lie_anywhere(void **state)
{
    struct raw_transfer first = transfer_of(3, 2, 8), between = transfer_of(0, 0, 0),
                        second = transfer_of(40, 0, 0);
    struct scene *scene = *state;

    send_transfer(scene, &first);
    send_transfer(scene, &between);
    second.header.DataOffset = 64;
    second.header.DataLength = 2;
    second.data[40] = 'y';
    second.data[41] = 'z';
    raw_send(scene, &second, 66);
    assert_int_equal(raw_receive(scene, &first, sizeof(first)), 29);
    assert_memory_equal(first.data, "xxxyz", 5);
}

/* 8 credits, half of which are used: a message that grants them anew, though there is nothing to say. */
static void credits_are_granted_in_time(void **state)
{
    struct raw_transfer empty = transfer_of(0, 0, 4);
    struct scene *scene = *state;

    for (unsigned i = 0; i < 4; i++)
        send_transfer(scene, &empty);
    assert_int_equal(raw_receive(scene, &empty, sizeof(empty)), 20);
    assert_int_equal(empty.header.CreditsGranted, 4);
    assert_int_equal(empty.header.DataOffset, 0);
    assert_int_equal(empty.header.DataLength, 0);
}

/* With one credit alone a message goes only if it grants some. */
static void the_last_credit_comes_back(void **state)
{
    struct raw_transfer transfer = transfer_of(1, 0, 1);
    struct scene *scene = *state;

    for (unsigned i = 0; i < 20; i++) {
        transfer = transfer_of(1, 0, 1);
        send_transfer(scene, &transfer);
        assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 25);
        assert_int_equal(transfer.header.CreditsGranted, 1);
    }
}

static void a_response_is_given(void **state)
{
    struct raw_transfer empty = transfer_of(0, 0, 2);
    struct scene *scene = *state;

    empty.header.Flags = 1;
    send_transfer(scene, &empty);
    assert_int_equal(raw_receive(scene, &empty, sizeof(empty)), 20);
    assert_int_equal(empty.header.Flags, 0);
    assert_int_equal(empty.header.CreditsGranted, 1);
}

/* The rest of the credits waits for those that the peer grants later. */
static void sending_waits_for_credits(void **state)
{
    struct raw_transfer first = transfer_of(1000, 1000, 2), second = transfer_of(1000, 0, 0),
                        empty = transfer_of(0, 0, 8);
    struct scene *scene = *state;

    send_transfer(scene, &first);
    send_transfer(scene, &second);
    assert_int_equal(raw_receive(scene, &first, sizeof(first)), 1024);
    send_transfer(scene, &empty);
    assert_int_equal(raw_receive(scene, &second, sizeof(second)), 1024);
    assert_int_equal(second.header.RemainingDataLength, 0);
}

/* ---- wrong ones: they end the connection ---- */

static void violates(struct scene *scene, const void *message, ULONG length, const char *reason)
{
    raw_send(scene, message, length);
    raw_ended(scene);
    served_as(scene, SPEC_STATUS_INVALID_DEVICE_REQUEST, reason);
}

static void a_message_without_a_header(void **state)
{
    struct raw_transfer transfer = transfer_of(0, 0, 1);

    violates(*state, &transfer, 19, "the peer sends a message that is shorter than a header");
}

static void no_credits_wanted(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 1);

    transfer.header.CreditsRequested = 0;
    violates(*state, &transfer, 29, "the peer asks for no credits");
}

#define OUTSIDE "the peer sends a message whose data lies outside of it"

static void data_that_is_not_aligned(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 1);

    transfer.header.DataOffset = 20;
    violates(*state, &transfer, 29, OUTSIDE);
}

static void data_inside_the_header(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 1);

    transfer.header.DataOffset = 16;
    violates(*state, &transfer, 29, OUTSIDE);
}

static void data_behind_the_message(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 1);

    transfer.header.DataOffset = 32;
    violates(*state, &transfer, 29, OUTSIDE);
}

static void data_beyond_the_message(void **state)
{
    struct raw_transfer transfer = transfer_of(6, 0, 1);

    violates(*state, &transfer, 29, OUTSIDE);
}

static void data_that_wraps(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 1);

    transfer.header.DataLength = 0xFFFFFFFF;
    violates(*state, &transfer, 29, OUTSIDE);
}

static void a_rest_without_data(void **state)
{
    struct raw_transfer transfer = transfer_of(0, 5, 1);

    violates(*state, &transfer, 20, OUTSIDE);
}

static void a_message_that_is_too_long(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 1048576 - 4, 1);

    violates(*state, &transfer, 29, "the peer sends a longer message than was agreed");
}

static void a_message_whose_length_wraps(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0xFFFFFFFF, 1);

    violates(*state, &transfer, 29, "the peer sends a longer message than was agreed");
}

static void a_fragment_of_another_message(void **state)
{
    struct raw_transfer first = transfer_of(10, 10, 1), second = transfer_of(5, 4, 1);
    struct scene *scene = *state;

    send_transfer(scene, &first);
    violates(scene, &second, 29, "the peer sends a fragment that does not continue its message");
}

static void a_fragment_that_is_too_long(void **state)
{
    struct raw_transfer first = transfer_of(10, 10, 1), second = transfer_of(20, 0, 1);
    struct scene *scene = *state;

    send_transfer(scene, &first);
    violates(scene, &second, 44, "the peer sends a fragment that does not continue its message");
}

/* The library has no credit to grant any with, so after 8 messages there is none. */
static void a_message_without_a_credit(void **state)
{
    struct raw_transfer empty = transfer_of(0, 0, 0);
    struct scene *scene = *state;

    for (unsigned i = 0; i < 8; i++)
        send_transfer(scene, &empty);
    violates(scene, &empty, 20, "the peer sends without a credit");
}

static void a_longer_message_than_was_offered(void **state)
{
    struct scene *scene = *state;
    struct side *side = scene->peer;
    NDK_SGE entry = sge(side->memory, 8193, side->token);
    char reason[96];

    assert_int_equal(side->qp->Dispatch->NdkSend(side->qp, NULL, &entry, 1, 0), 0);
    raw_ended(scene);
    assert_int_not_equal(served_status(scene, reason), 0);
}

/* ---- peers that do nothing ---- */

static int set_up_impatient(void **state)
{
    struct scene *scene;

    scene_set_up(state);
    scene = *state;
    scene->parameters.KeepAliveMs = 20;
    library_listen(scene);
    raw_negotiate(scene);
    return 0;
}

/* As often as it answers; the message may also grant credits. */
static void a_silent_peer_is_asked(void **state)
{
    struct raw_transfer answer = transfer_of(0, 0, 8), empty;
    struct scene *scene = *state;
    unsigned asked = 0;

    send_transfer(scene, &answer);
    while (asked < 3) {
        assert_int_equal(raw_receive(scene, &empty, sizeof(empty)), 20);
        assert_int_equal(empty.header.DataLength, 0);
        asked += empty.header.Flags == 1;
        answer = transfer_of(0, 0, 1);
        if (empty.header.Flags == 1)
            send_transfer(scene, &answer);
    }
    assert_int_equal(atomic_load(&scene->served.served_count), 0);
}

static int set_up_very_impatient(void **state)
{
    struct scene *scene;

    scene_set_up(state);
    scene = *state;
    scene->parameters.KeepAliveMs = 20;
    scene->parameters.ResponseMs = 20;
    library_listen(scene);
    raw_negotiate(scene);
    return 0;
}

static void a_silent_peer_is_given_up(void **state)
{
    struct scene *scene = *state;

    raw_ended(scene);
    served_as(scene, SPEC_STATUS_IO_TIMEOUT, "the peer gives no sign of life");
}

static void a_peer_that_grants_nothing_is_given_up(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 0);
    struct scene *scene = *state;

    scene->parameters.CreditMs = 20;
    library_listen(scene);
    raw_negotiate(scene);
    send_transfer(scene, &transfer);
    raw_ended(scene);
    served_as(scene, SPEC_STATUS_IO_TIMEOUT, "the peer grants no credits");
}

/* What was sent before is taken first. */
static void a_peer_may_leave(void **state)
{
    struct raw_transfer transfer = transfer_of(5, 0, 4);
    struct scene *scene = *state;

    send_transfer(scene, &transfer);
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 29);
    assert_int_equal(start_disconnect(scene->peer), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(scene->peer), 0);
    served_as(scene, SPEC_STATUS_CONNECTION_DISCONNECTED, "the peer ended the connection");
}

/* ---- the library with itself ---- */

static int set_up_library(void **state)
{
    struct sockaddr_in from = own_address(0);
    struct scene *scene;

    scene_set_up(state);
    scene = *state;
    library_listen(scene);
    assert_int_equal(SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&scene->address,
                         sizeof(from), &scene->parameters, &scene->connection, NULL),
        0);
    return 0;
}

static void assert_echoed(struct scene *scene, UCHAR *data, ULONG length)
{
    SMBD_MESSAGE *message;
    ULONG head = length < 10 ? length : 10;

    for (ULONG i = 0; i < length; i++)
        data[i] = (UCHAR)(i * 7 + i / 1340);
    assert_int_equal(SmbdSend(scene->connection, data, head, data + head, length - head, NULL), 0);
    assert_int_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
    assert_int_equal(message->Length, length);
    assert_memory_equal(message->Data, data, length);
    SmbdFreeMessage(message);
}

/* One fragment has 1340 bytes; 1048576 is more than all credits carry. */
static void messages_of_any_length(void **state)
{
    static const ULONG lengths[] = { 1, 9, 10, 11, 1339, 1340, 1341, 2680, 2681, 100000, 341700,
        1048575, 1048576 };
    UCHAR *data = malloc(1048577);
    struct scene *scene = *state;

    assert_non_null(data);
    assert_int_equal(SmbdLongestSend(scene->connection), 1048576);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        assert_echoed(scene, data, lengths[i]);
    assert_int_equal(SmbdSend(scene->connection, data, 1048577, NULL, 0, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(SmbdSend(scene->connection, data, 0, NULL, 0, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_echoed(scene, data, 1);
    free(data);
}

/* The peer echoes while this side still sends: what it has not taken waits there, and here. */
static void many_messages_wait(void **state)
{
    enum { COUNT = 40, LENGTH = 50000 };
    UCHAR *data = calloc(1, LENGTH);
    struct scene *scene = *state;
    SMBD_MESSAGE *message;

    assert_non_null(data);
    for (unsigned i = 0; i < COUNT; i++) {
        data[0] = (UCHAR)i;
        assert_int_equal(SmbdSend(scene->connection, data, LENGTH, NULL, 0, NULL), 0);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
        assert_int_equal(message->Length, LENGTH);
        assert_int_equal(message->Data[0], i);
        SmbdFreeMessage(message);
    }
    assert_int_equal(SmbdReceive(scene->connection, FALSE, &message),
        SPEC_STATUS_TIMEOUT); /* none, and no wait */
    free(data);
}

/* What was echoed before is still taken. */
static void a_listener_that_closes_ends_its_connections(void **state)
{
    struct scene *scene = *state;
    SMBD_MESSAGE *message;
    const char *reason;
    UCHAR data[2000];

    assert_echoed(scene, data, sizeof(data));
    SmbdCloseListener(scene->listener);
    scene->listener = NULL;
    served_as(scene, SPEC_STATUS_CANCELLED, "this side is ending");
    assert_int_equal(SmbdReceive(scene->connection, TRUE, &message),
        (NTSTATUS)SPEC_STATUS_CONNECTION_DISCONNECTED);
    assert_int_equal(
        SmbdFailure(scene->connection, &reason), (NTSTATUS)SPEC_STATUS_CONNECTION_DISCONNECTED);
    assert_string_equal(reason, "the peer ended the connection");
    assert_int_equal(SmbdSend(scene->connection, "x", 1, NULL, 0, NULL),
        (NTSTATUS)SPEC_STATUS_CONNECTION_DISCONNECTED);
}

/* The listener serves 2 at a time. */
static void one_too_many_is_rejected(void **state)
{
    struct sockaddr_in from = own_address(0);
    SMBD_CONNECTION *second = NULL, *third = NULL;
    struct scene *scene = *state;

    assert_int_equal(SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&scene->address,
                         sizeof(from), &scene->parameters, &second, NULL),
        0);
    assert_int_equal(SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&scene->address,
                         sizeof(from), &scene->parameters, &third, NULL),
        (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    served_as(scene, SPEC_STATUS_INSUFFICIENT_RESOURCES, "too many connections");
    assert_null(third);
    SmbdClose(second);
}

#define test(f, set_up) cmocka_unit_test_setup_teardown(f, set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_message_is_echoed, set_up_negotiated),
        test(fragments_go_both_ways, set_up_negotiated),
        test(data_may_lie_anywhere, set_up_negotiated),
        test(credits_are_granted_in_time, set_up_negotiated),
        test(the_last_credit_comes_back, set_up_negotiated),
        test(a_response_is_given, set_up_negotiated),
        test(sending_waits_for_credits, set_up_negotiated),
        test(a_message_without_a_header, set_up_negotiated),
        test(no_credits_wanted, set_up_negotiated),
        test(data_that_is_not_aligned, set_up_negotiated),
        test(data_inside_the_header, set_up_negotiated),
        test(data_behind_the_message, set_up_negotiated),
        test(data_beyond_the_message, set_up_negotiated),
        test(data_that_wraps, set_up_negotiated),
        test(a_rest_without_data, set_up_negotiated),
        test(a_message_that_is_too_long, set_up_negotiated),
        test(a_message_whose_length_wraps, set_up_negotiated),
        test(a_fragment_of_another_message, set_up_negotiated),
        test(a_fragment_that_is_too_long, set_up_negotiated),
        test(a_message_without_a_credit, set_up_negotiated),
        test(a_longer_message_than_was_offered, set_up_negotiated),
        test(a_silent_peer_is_asked, set_up_impatient),
        test(a_silent_peer_is_given_up, set_up_very_impatient),
        test(a_peer_that_grants_nothing_is_given_up, scene_set_up),
        test(a_peer_may_leave, set_up_negotiated),
        test(messages_of_any_length, set_up_library),
        test(many_messages_wait, set_up_library),
        test(a_listener_that_closes_ends_its_connections, set_up_library),
        test(one_too_many_is_rejected, set_up_library),
    };

    return run_in_modes(NULL, tests);
}
