/* SPDX-License-Identifier: MIT */
/*
 * test_killed_peer.c - the process at the other end is killed, in every phase of a connection. The survivor gets the
 * documented status in bounded time, and all its requests complete.
 */
#include "tests/robustness/child.h"

#include "util/clock.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 32, OCTETS = 1 << 20, PART = 16384, SOON_MS = 8000 };

static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = OCTETS };

static _Noreturn void wait_for_death(void)
{
    for (;;)
        pause();
}

/* ------------------------------------------------------------------------------------------------ the child */

static void child_ready(struct nd2_end *end)
{
    child_open(end, &options);
    for (size_t i = 0; i < DEPTH; i++)
        child_check(nd2_end_receive(end, NULL, i * PART, PART), end);
}

static void child_active(struct nd2_end *end, int control, bool complete)
{
    USHORT port_be;

    child_ready(end);
    child_hear(control, &port_be, sizeof port_be);
    child_check(nd2_end_connect_begin(end, port_be), end);
    if (complete)
        child_check(nd2_end_connect_complete(end), end);
}

static void child_passive(struct nd2_end *end, int control)
{
    child_ready(end);
    child_serve(end, control);
}

/* Keeps half the queue full of Sends, and repeats the receives. */
static void child_chatter(struct nd2_end *end)
{
    unsigned outstanding = 0;

    for (;;) {
        ND2_RESULT results[DEPTH];
        unsigned count;

        for (; outstanding < DEPTH / 2; outstanding++)
            child_check(nd2_end_send(end, NULL, 0, PART, 0), end);
        count = nd2_end_results(end, results, 1, SOON_MS);
        for (unsigned i = 0; i < count; i++) {
            child_check(results[i].Status, end);
            if (results[i].RequestType == Nd2RequestTypeReceive)
                child_check(nd2_end_receive(end, NULL, 0, PART), end);
            else
                outstanding--;
        }
    }
}

static int play(const char *name, int control)
{
    static struct nd2_end end;

    if (strcmp(name, "connect") == 0) {
        /* Never answered by the parent: the request alone gets there. */
        USHORT port_be;

        child_ready(&end);
        child_hear(control, &port_be, sizeof port_be);
        nd2_end_connect_begin(&end, port_be);
    } else if (strcmp(name, "connected, not completed") == 0) {
        child_active(&end, control, false);
        child_tell_phase(control);
    } else if (strcmp(name, "active") == 0) {
        child_active(&end, control, true);
        child_tell_phase(control);
    } else if (strcmp(name, "active, chattering") == 0) {
        child_active(&end, control, true);
        child_tell_phase(control);
        child_chatter(&end);
    } else if (strcmp(name, "listening") == 0) {
        child_passive(&end, control);
        child_tell_phase(control);
    } else if (strcmp(name, "accepting") == 0) {
        child_passive(&end, control);
        nd2_end_accept(&end); /* the parent completes its side never */
    } else if (strcmp(name, "passive") == 0) {
        child_passive(&end, control);
        child_check(nd2_end_accept(&end), &end);
        child_tell_phase(control);
    } else if (strcmp(name, "passive, leaving") == 0) {
        uint8_t go;

        child_passive(&end, control);
        child_check(nd2_end_accept(&end), &end);
        for (size_t i = 0; i < DEPTH; i++)
            child_check(nd2_end_send(&end, NULL, i * PART, PART, 0), &end);
        child_tell_phase(control);
        child_hear(control, &go, sizeof go);
        return 0; /* with everything open */
    } else {
        return 2;
    }
    wait_for_death();
}

/* ------------------------------------------------------------------------------------------------ the survivor */

static void listen_end(struct nd2_end *end, struct child *child)
{
    USHORT port_be;

    assert_int_equal(nd2_end_open(end, &options), ND_SUCCESS);
    assert_int_equal(nd2_end_listen(end, &port_be), ND_SUCCESS);
    child_tell(child->control, &port_be, sizeof port_be);
    assert_int_equal(nd2_end_request(end), ND_SUCCESS);
}

static void connect_end(struct nd2_end *end, struct child *child, struct child_memory *memory)
{
    USHORT port_be = child_reach(child, end, &options, memory);

    assert_int_equal(nd2_end_connect(end, port_be), ND_SUCCESS);
    child_hear_phase(child);
}

static void post_receives(struct nd2_end *end, unsigned count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(nd2_end_receive(end, (void *)i, i * PART, PART), ND_SUCCESS);
}

/* Ends the survivor within the time its statuses may take. */
static void close_soon(struct nd2_end *end)
{
    uint64_t start_ms = clock_now_ms();

    nd2_end_close(end);
    assert_true(clock_now_ms() - start_ms < SOON_MS);
}

/* NotifyDisconnect on an overlapped of its own: ends with ND_SUCCESS now that the peer is gone. */
static void expect_notified(struct nd2_end *end, OVERLAPPED *overlapped, HRESULT hr)
{
    if (hr == ND_PENDING) {
        assert_int_equal(WaitForSingleObject(overlapped->hEvent, SOON_MS), WAIT_OBJECT_0);
        hr = end->connector->lpVtbl->GetOverlappedResult(end->connector, overlapped, FALSE);
    }
    assert_int_equal(hr, ND_SUCCESS);
    CloseHandle(overlapped->hEvent);
}

static HRESULT notify_disconnect(struct nd2_end *end, OVERLAPPED *overlapped)
{
    memset(overlapped, 0, sizeof *overlapped);
    overlapped->hEvent = CreateEventA(NULL, TRUE, FALSE, NULL);
    assert_non_null(overlapped->hEvent);
    return end->connector->lpVtbl->NotifyDisconnect(end->connector, overlapped);
}

/* count requests end in order, with ND_CANCELED but for those before the end of the peer. */
static void expect_flushed(struct nd2_end *end, unsigned count)
{
    ND2_RESULT results[2 * DEPTH];
    bool canceled[2] = { false }; /* by queue: initiator, receive */

    assert_int_equal(nd2_end_results(end, results, count, SOON_MS), count);
    for (unsigned i = 0; i < count; i++) {
        bool *over = &canceled[results[i].RequestType == Nd2RequestTypeReceive];

        if (results[i].Status != ND_SUCCESS)
            assert_int_equal(results[i].Status, ND_CANCELED);
        else
            assert_false(*over);
        *over |= results[i].Status != ND_SUCCESS;
    }
    assert_int_equal(nd2_end_results(end, results, 1, 0), 0);
}

static void test_before_accept(void **state)
{
    struct child child;
    struct nd2_end end;
    HRESULT hr;

    (void)state;
    child_start(&child, "connect");
    listen_end(&end, &child);
    child_kill(&child);
    /* Seen already: at once; else when it is: as if the peer had backed out. */
    hr = nd2_end_accept(&end);
    assert_true(hr == ND_CONNECTION_ABORTED || hr == ND_CONNECTION_REFUSED);
    close_soon(&end);
}

static void test_before_complete_connect(void **state)
{
    struct child child;
    struct nd2_end end;
    HRESULT hr;

    (void)state;
    child_start(&child, "connected, not completed");
    listen_end(&end, &child);
    post_receives(&end, 3);
    end.overlapped = (OVERLAPPED){ .hEvent = end.event };
    hr = end.connector->lpVtbl->Accept(
        end.connector, (IUnknown *)end.qp, 1, 1, NULL, 0, &end.overlapped);
    assert_int_equal(hr, ND_PENDING);
    child_hear_phase(&child);
    child_kill(&child);
    assert_int_equal(nd2_end_wait(&end, end.connector, hr, SOON_MS), ND_CONNECTION_REFUSED);
    expect_flushed(&end, 3);
    close_soon(&end);
}

static void test_listener_before_it_accepts(void **state)
{
    struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in local = peer;
    struct child_memory memory;
    struct child child;
    struct nd2_end end;
    HRESULT hr;

    (void)state;
    child_start(&child, "listening");
    peer.sin_port = child_reach(&child, &end, &options, &memory);
    assert_int_equal(
        end.connector->lpVtbl->Bind(end.connector, (struct sockaddr *)&local, sizeof local),
        ND_SUCCESS);
    end.overlapped = (OVERLAPPED){ .hEvent = end.event };
    hr = end.connector->lpVtbl->Connect(end.connector, (IUnknown *)end.qp, (struct sockaddr *)&peer,
        sizeof peer, 1, 1, NULL, 0, &end.overlapped);
    assert_int_equal(hr, ND_PENDING);
    child_hear_phase(&child);
    child_kill(&child);
    hr = nd2_end_wait(&end, end.connector, hr, SOON_MS);
    assert_true(hr == ND_CONNECTION_REFUSED || hr == ND_IO_TIMEOUT);
    close_soon(&end);
}

static void test_acceptor_before_complete_connect(void **state)
{
    struct child_memory memory;
    struct child child;
    struct nd2_end end;
    USHORT port_be;
    HRESULT hr;

    (void)state;
    child_start(&child, "accepting");
    port_be = child_reach(&child, &end, &options, &memory);
    post_receives(&end, 3);
    assert_int_equal(nd2_end_connect_begin(&end, port_be), ND_SUCCESS);
    child_kill(&child);
    /* Seen already or not: an abort, or a connection that ends at once. */
    hr = nd2_end_connect_complete(&end);
    if (hr == ND_SUCCESS)
        expect_flushed(&end, 3);
    else
        assert_int_equal(hr, ND_CONNECTION_ABORTED);
    close_soon(&end);
}

static void test_idle_active_peer(void **state)
{
    OVERLAPPED notify;
    struct child child;
    struct nd2_end end;
    HRESULT hr;

    (void)state;
    child_start(&child, "active");
    listen_end(&end, &child);
    post_receives(&end, DEPTH);
    assert_int_equal(nd2_end_accept(&end), ND_SUCCESS);
    child_hear_phase(&child);
    hr = notify_disconnect(&end, &notify);
    assert_int_equal(hr, ND_PENDING);
    child_kill(&child);
    expect_notified(&end, &notify, hr);
    assert_int_equal(nd2_end_disconnect(&end), ND_SUCCESS);
    expect_flushed(&end, DEPTH);
    assert_int_equal(nd2_end_send(&end, NULL, 0, 8, 0), ND_SUCCESS); /* accepted, and flushed */
    expect_flushed(&end, 1);
    close_soon(&end);
}

static void test_idle_passive_peer(void **state)
{
    struct child_memory memory;
    OVERLAPPED notify;
    struct child child;
    struct nd2_end end;
    HRESULT hr;

    (void)state;
    child_start(&child, "passive");
    connect_end(&end, &child, &memory);
    post_receives(&end, DEPTH);
    hr = notify_disconnect(&end, &notify);
    child_kill(&child);
    expect_notified(&end, &notify, hr);
    assert_int_equal(nd2_end_disconnect(&end), ND_SUCCESS);
    expect_flushed(&end, DEPTH);
    close_soon(&end);
}

static void test_in_the_middle_of_its_sends(void **state)
{
    struct child child;
    struct nd2_end end;
    unsigned received = 0;
    ND2_RESULT result;

    (void)state;
    child_start(&child, "active, chattering");
    listen_end(&end, &child);
    post_receives(&end, DEPTH);
    assert_int_equal(nd2_end_accept(&end), ND_SUCCESS);
    child_hear_phase(&child);
    for (; received < 500; received++) {
        assert_int_equal(nd2_end_results(&end, &result, 1, SOON_MS), 1);
        assert_int_equal(result.Status, ND_SUCCESS);
        assert_int_equal(result.BytesTransferred, PART);
        assert_int_equal(nd2_end_receive(&end, NULL, 0, PART), ND_SUCCESS);
    }
    child_kill(&child);
    expect_flushed(&end, DEPTH);
    close_soon(&end);
}

/* Requests of ours are under way to a peer that takes no notice of them, and dies. */
static void post_initiator(struct nd2_end *end, const struct child_memory *memory, unsigned kind)
{
    ND2_SGE sge = { end->memory, PART, end->lkey };
    IND2QueuePair *qp = end->qp;
    HRESULT hr = kind == 0 ? qp->lpVtbl->Send(qp, NULL, &sge, 1, 0)
                 : kind == 1
                     ? qp->lpVtbl->Write(qp, NULL, &sge, 1, memory->address, memory->token, 0)
                     : qp->lpVtbl->Read(qp, NULL, &sge, 1, memory->address, memory->token, 0);

    assert_int_equal(hr, ND_SUCCESS);
}

static void test_in_the_middle_of_our_requests(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct child_memory memory;
        struct child child;
        struct nd2_end end;

        child_start(&child, "passive");
        connect_end(&end, &child, &memory);
        /* Stopped first, so that requests are certainly under way when it dies. */
        child_stop(&child);
        for (unsigned i = 0; i < DEPTH; i++)
            post_initiator(&end, &memory, kind < 3 ? kind : i % 3);
        child_kill(&child);
        expect_flushed(&end, DEPTH);
        close_soon(&end);
    }
}

/* The peer's program ends, with connections open and requests under way at both ends. */
static void test_peer_exits(void **state)
{
    struct child_memory memory;
    struct child child;
    struct nd2_end end;
    uint8_t go = 1;

    (void)state;
    child_start(&child, "passive, leaving");
    connect_end(&end, &child, &memory);
    post_receives(&end, DEPTH);
    child_tell(child.control, &go, sizeof go);
    for (unsigned i = 0; i < DEPTH; i++)
        post_initiator(&end, &memory, i % 3);
    child_finish(&child);
    expect_flushed(&end, 2 * DEPTH);
    close_soon(&end);
}

/* A Disconnect that gets no answer ends by itself, with a success that says so. */
static void test_in_our_disconnect(void **state)
{
    struct child_memory memory;
    struct child child;
    struct nd2_end end;
    uint64_t start_ms;
    HRESULT hr;

    (void)state;
    child_start(&child, "passive");
    connect_end(&end, &child, &memory);
    post_receives(&end, 3);
    child_stop(&child);
    start_ms = clock_now_ms();
    end.overlapped = (OVERLAPPED){ .hEvent = end.event };
    hr = end.connector->lpVtbl->Disconnect(end.connector, &end.overlapped);
    assert_int_equal(nd2_end_wait(&end, end.connector, hr, SOON_MS), ND_TIMEOUT);
    assert_true(clock_now_ms() - start_ms < 5000);
    expect_flushed(&end, 3);
    child_kill(&child);
    close_soon(&end);
}

static void test_release_towards_a_stopped_peer(void **state)
{
    struct child_memory memory;
    struct child child;
    struct nd2_end end;

    (void)state;
    child_start(&child, "passive");
    connect_end(&end, &child, &memory);
    post_receives(&end, 3);
    child_stop(&child);
    close_soon(&end);
    child_kill(&child);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_accept),
        cmocka_unit_test(test_before_complete_connect),
        cmocka_unit_test(test_listener_before_it_accepts),
        cmocka_unit_test(test_acceptor_before_complete_connect),
        cmocka_unit_test(test_idle_active_peer),
        cmocka_unit_test(test_idle_passive_peer),
        cmocka_unit_test(test_in_the_middle_of_its_sends),
        cmocka_unit_test(test_in_the_middle_of_our_requests),
        cmocka_unit_test(test_peer_exits),
        cmocka_unit_test(test_in_our_disconnect),
        cmocka_unit_test(test_release_towards_a_stopped_peer),
    };

    child_main(argc, argv, play);
    return cmocka_run_group_tests_name("killed peer", tests, child_group_open, child_group_close);
}
