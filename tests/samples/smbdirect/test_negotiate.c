/* SPDX-License-Identifier: MIT */
/* test_negotiate.c - the first message each way: what is agreed, and what ends the connection, and no other. */
#include "tests/samples/smbdirect/raw.h"

#include <stdlib.h>

static const SMBD_NEGOTIATE_REQUEST good = { 0x0100, 0x0100, 0, 100, 1024, 4096, 200000 };

/* A listener goes on after each of its peers. */
static void is_served(struct scene *scene)
{
    struct sockaddr_in from = own_address(0);
    SMBD_MESSAGE *message;

    assert_int_equal(SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&scene->address,
                         sizeof(from), &scene->parameters, &scene->connection, NULL),
        0);
    assert_int_equal(SmbdSend(scene->connection, "hello", 5, NULL, 0, NULL), 0);
    assert_int_equal(SmbdReceive(scene->connection, TRUE, &message), 0);
    assert_int_equal(message->Length, 5);
    assert_memory_equal(message->Data, "hello", 5);
    SmbdFreeMessage(message);
}

static void a_request_is_answered(void **state)
{
    struct scene *scene = *state;
    SMBD_NEGOTIATE_RESPONSE response;

    library_listen(scene);
    raw_connect(scene);
    raw_send(scene, &good, 20);
    assert_int_equal(raw_receive(scene, &response, sizeof(response)), 32);
    assert_int_equal(response.MinVersion, 0x0100);
    assert_int_equal(response.MaxVersion, 0x0100);
    assert_int_equal(response.NegotiatedVersion, 0x0100);
    assert_int_equal(response.Reserved, 0);
    assert_int_equal(response.CreditsRequested, 255);
    assert_int_equal(response.CreditsGranted, 100);
    assert_int_equal(response.Status, 0);
    assert_int_equal(response.MaxReadWriteSize, 1048576);
    assert_int_equal(response.PreferredSendSize, 1364);
    assert_int_equal(response.MaxReceiveSize, 1024);
    assert_int_equal(response.MaxFragmentedSize, 1048576);
}

/* No more is sent in one message than the peer can receive, and no more is granted than was wanted. */
static void a_peer_may_be_small(void **state)
{
    const SMBD_NEGOTIATE_REQUEST small = { 0x0001, 0xffff, 0, 1, 1, 128, 131072 };
    struct scene *scene = *state;
    SMBD_NEGOTIATE_RESPONSE response;

    library_listen(scene);
    raw_connect(scene);
    raw_send(scene, &small, 20);
    assert_int_equal(raw_receive(scene, &response, sizeof(response)), 32);
    assert_int_equal(response.NegotiatedVersion, 0x0100);
    assert_int_equal(response.CreditsGranted, 8);
    assert_int_equal(response.PreferredSendSize, 128);
    assert_int_equal(response.MaxReceiveSize, 128);
}

/* ---- iWARP's private data: [MS-SMBD] 6.1; a server answers who sends it, as ksmbd does ---- */

static const UCHAR sixteen_each[8] = { 0, 0, 0, 16, 0, 0, 0, 16 };

static void says_in_answer(struct scene *scene, const void *data, ULONG length, ULONG outbound)
{
    const UCHAR wanted[8] = { 0, 0, 0, 16, 0, 0, 0, (UCHAR)outbound };
    UCHAR said[64];

    library_listen(scene);
    raw_connect_with(scene, data, length);
    assert_int_equal(raw_private_data(scene, said), outbound ? 8 : 0);
    assert_memory_equal(said, wanted, outbound ? 8 : 0);
    raw_send(scene, &good, 20);
    assert_int_equal(raw_receive(scene, said, sizeof(said)), 32);
}

static void a_peer_that_says_no_depths_gets_none(void **state)
{
    says_in_answer(*state, NULL, 0, 0);
}

static void too_short_depths_are_none(void **state)
{
    says_in_answer(*state, sixteen_each, 7, 0);
}

/* No more Reads than the peer serves. */
static void a_peers_depths_count(void **state)
{
    says_in_answer(*state, (UCHAR[8]){ 0, 0, 0, 3, 0, 0, 0, 9 }, 8, 3);
}

/* Larger ones do not: also those of old clients of Linux, which send them little-endian. */
static void large_depths_do_not(void **state)
{
    says_in_answer(*state, (UCHAR[8]){ 32, 0, 0, 0, 1, 0, 0, 0 }, 8, 16);
}

static void zeros_do_not(void **state)
{
    says_in_answer(*state, (UCHAR[8]){ 0 }, 8, 16);
}

/* What follows is the upper layer's. */
static void more_data_may_follow(void **state)
{
    says_in_answer(*state, (UCHAR[20]){ 0, 0, 0, 2, 0, 0, 0, 2, 9 }, 20, 2);
}

static void the_active_side_says_its_depths(void **state)
{
    struct scene *scene = *state;
    UCHAR said[64];

    library_connect(scene);
    assert_int_equal(raw_private_data(scene, said), 8);
    assert_memory_equal(said, sixteen_each, 8);
}

static void another_version_is_refused(void **state)
{
    const SMBD_NEGOTIATE_REQUEST later = { 0x0101, 0x0200, 0, 100, 1024, 1024, 131072 };
    struct scene *scene = *state;
    SMBD_NEGOTIATE_RESPONSE response;

    library_listen(scene);
    raw_connect(scene);
    raw_send(scene, &later, 20);
    assert_int_equal(raw_receive(scene, &response, sizeof(response)), 32);
    assert_int_equal(response.MinVersion, 0x0100);
    assert_int_equal(response.MaxVersion, 0x0100);
    assert_int_equal(response.Status, SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(response.CreditsGranted, 0);
    raw_ended(scene);
    served_as(
        scene, SPEC_STATUS_NOT_SUPPORTED, "the peer does not speak this version of SMB Direct");
    assert_int_equal(atomic_load(&scene->served.served_count), 0);
    is_served(scene);
}

static void refuses(struct scene *scene, const void *request, ULONG length, const char *reason)
{
    library_listen(scene);
    raw_connect(scene);
    raw_send(scene, request, length);
    raw_ended(scene);
    served_as(scene, SPEC_STATUS_INVALID_DEVICE_REQUEST, reason);
    assert_int_equal(atomic_load(&scene->served.refused_count), 1);
    assert_int_equal(atomic_load(&scene->served.served_count), 0);
    is_served(scene);
}

static void rubbish_is_refused(void **state)
{
    refuses(*state, "rubbish", 7, "the peer's message is too short for a negotiation");
}

static void a_request_cut_short_is_refused(void **state)
{
    refuses(*state, &good, 19, "the peer's message is too short for a negotiation");
}

static void no_credits_are_refused(void **state)
{
    SMBD_NEGOTIATE_REQUEST request = good;

    request.CreditsRequested = 0;
    refuses(*state, &request, 20, "the peer negotiates no credits");
}

static void too_small_a_peer_is_refused(void **state)
{
    SMBD_NEGOTIATE_REQUEST request = good;

    request.MaxReceiveSize = 127;
    refuses(*state, &request, 20, "the peer can receive less than the protocol asks for");
}

static void too_short_messages_are_refused(void **state)
{
    SMBD_NEGOTIATE_REQUEST request = good;

    request.MaxFragmentedSize = 131071;
    refuses(*state, &request, 20, "the peer can receive less than the protocol asks for");
}

static void a_silent_peer_is_given_up(void **state)
{
    struct scene *scene = *state;

    scene->parameters.RequestMs = 50;
    library_listen(scene);
    raw_connect(scene);
    raw_ended(scene);
    served_as(scene, SPEC_STATUS_IO_TIMEOUT, "the peer does not negotiate");
}

static void a_peer_may_leave_instead(void **state)
{
    struct scene *scene = *state;

    library_listen(scene);
    raw_connect(scene);
    assert_int_equal(start_disconnect(scene->peer), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(scene->peer), 0);
    served_as(scene, SPEC_STATUS_CONNECTION_DISCONNECTED, "the peer ended the connection");
    is_served(scene);
}

/* ---- the active side ---- */

static const SMBD_NEGOTIATE_RESPONSE agreed = { 0x0100, 0x0100, 0x0100, 0, 50, 20, 0, 65536, 1000,
    1200, 131072 };

/* The library connects to the raw peer, which answers with that response; length 0: with none. */
static struct connecting connects(struct scene *scene, const void *response, ULONG length)
{
    struct connecting connecting;
    SMBD_NEGOTIATE_REQUEST request;

    library_start_connect(scene, &connecting);
    raw_accept(scene);
    assert_int_equal(raw_receive(scene, &request, sizeof(request)), 20);
    assert_int_equal(request.MinVersion, 0x0100);
    assert_int_equal(request.MaxVersion, 0x0100);
    assert_int_equal(request.Reserved, 0);
    assert_int_equal(request.CreditsRequested, 255);
    assert_int_equal(request.PreferredSendSize, 1364);
    assert_int_equal(request.MaxReceiveSize, 8192);
    assert_int_equal(request.MaxFragmentedSize, 1048576);
    if (length)
        raw_send(scene, response, length);
    assert_int_equal(pthread_join(connecting.thread, NULL), 0);
    return connecting;
}

static void a_response_is_agreed_to(void **state)
{
    struct scene *scene = *state;
    struct connecting connecting = connects(scene, &agreed, 32);
    const SMBD_PARAMETERS *parameters;

    assert_int_equal(connecting.status, 0);
    parameters = SmbdAgreed(scene->connection);
    assert_int_equal(parameters->MaxSendSize, 1200);
    assert_int_equal(parameters->MaxReadWriteSize, 65536);
    assert_int_equal(SmbdLongestSend(scene->connection), 131072);
}

/* The first message grants what the peer asked for. */
static void the_first_message_grants(void **state)
{
    struct scene *scene = *state;
    struct connecting connecting = connects(scene, &agreed, 32);
    struct raw_transfer transfer;

    assert_int_equal(connecting.status, 0);
    assert_int_equal(SmbdSend(scene->connection, "hello", 5, NULL, 0, NULL), 0);
    assert_int_equal(raw_receive(scene, &transfer, sizeof(transfer)), 29);
    assert_int_equal(transfer.header.CreditsRequested, 255);
    assert_int_equal(transfer.header.CreditsGranted, 50);
    assert_int_equal(transfer.header.Flags, 0);
    assert_int_equal(transfer.header.RemainingDataLength, 0);
    assert_int_equal(transfer.header.DataOffset, 24);
    assert_int_equal(transfer.header.DataLength, 5);
    assert_int_equal(transfer.padding, 0);
    assert_memory_equal(transfer.data, "hello", 5);
}

static void gives_up(struct scene *scene, const SMBD_NEGOTIATE_RESPONSE *response, ULONG length,
    ULONG status, const char *reason)
{
    struct connecting connecting = connects(scene, response, length);

    assert_int_equal((ULONG)connecting.status, status);
    assert_string_equal(connecting.reason, reason);
    assert_null(scene->connection);
    raw_ended(scene);
}

static void a_response_cut_short(void **state)
{
    gives_up(*state, &agreed, 31, SPEC_STATUS_INVALID_DEVICE_REQUEST,
        "the peer's message is too short for a negotiation");
}

static void a_response_of_another_version(void **state)
{
    SMBD_NEGOTIATE_RESPONSE response = agreed;

    response.NegotiatedVersion = 0x0101;
    gives_up(*state, &response, 32, SPEC_STATUS_NOT_SUPPORTED,
        "the peer chose a version that was not offered");
}

static void a_response_that_refuses_the_version(void **state)
{
    const SMBD_NEGOTIATE_RESPONSE response = {
        .MinVersion = 0x0200, .MaxVersion = 0x0200, .Status = SPEC_STATUS_NOT_SUPPORTED
    };

    gives_up(*state, &response, 32, SPEC_STATUS_NOT_SUPPORTED,
        "the peer does not speak this version of SMB Direct");
}

static void a_response_that_refuses(void **state)
{
    const SMBD_NEGOTIATE_RESPONSE response = { 0x0100, 0x0100, 0x0100, 0, 1, 1,
        SPEC_STATUS_INSUFFICIENT_RESOURCES, 0, 0, 0, 0 };

    gives_up(*state, &response, 32, SPEC_STATUS_INSUFFICIENT_RESOURCES,
        "the peer refuses the negotiation");
}

static void a_response_without_credits(void **state)
{
    SMBD_NEGOTIATE_RESPONSE response = agreed;

    response.CreditsGranted = 0;
    gives_up(*state, &response, 32, SPEC_STATUS_INVALID_DEVICE_REQUEST,
        "the peer negotiates no credits");
}

static void a_response_that_wants_more(void **state)
{
    SMBD_NEGOTIATE_RESPONSE response = agreed;

    response.PreferredSendSize = 8193;
    gives_up(*state, &response, 32, SPEC_STATUS_INVALID_DEVICE_REQUEST,
        "the peer wants to send more than was offered");
}

static void a_response_of_too_little(void **state)
{
    SMBD_NEGOTIATE_RESPONSE response = agreed;

    response.MaxFragmentedSize = 131071;
    gives_up(*state, &response, 32, SPEC_STATUS_INVALID_DEVICE_REQUEST,
        "the peer can receive less than the protocol asks for");
}

static void no_response(void **state)
{
    struct scene *scene = *state;

    scene->parameters.NegotiateMs = 50;
    gives_up(scene, NULL, 0, SPEC_STATUS_IO_TIMEOUT, "the peer does not negotiate");
}

static void nobody_listens(void **state)
{
    struct scene *scene = *state;
    struct sockaddr_in from = own_address(0), nowhere = own_address(9);
    const char *reason;

    assert_int_equal(SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&nowhere,
                         sizeof(from), &scene->parameters, &scene->connection, &reason),
        (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    assert_string_equal(reason, "no connection");
}

#define test(f) cmocka_unit_test_setup_teardown(f, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_request_is_answered),
        test(a_peer_may_be_small),
        test(a_peer_that_says_no_depths_gets_none),
        test(too_short_depths_are_none),
        test(a_peers_depths_count),
        test(large_depths_do_not),
        test(zeros_do_not),
        test(more_data_may_follow),
        test(the_active_side_says_its_depths),
        test(another_version_is_refused),
        test(rubbish_is_refused),
        test(a_request_cut_short_is_refused),
        test(no_credits_are_refused),
        test(too_small_a_peer_is_refused),
        test(too_short_messages_are_refused),
        test(a_silent_peer_is_given_up),
        test(a_peer_may_leave_instead),
        test(a_response_is_agreed_to),
        test(the_first_message_grants),
        test(a_response_cut_short),
        test(a_response_of_another_version),
        test(a_response_that_refuses_the_version),
        test(a_response_that_refuses),
        test(a_response_without_credits),
        test(a_response_that_wants_more),
        test(a_response_of_too_little),
        test(no_response),
        test(nobody_listens),
    };

    return run_in_modes(NULL, tests);
}
