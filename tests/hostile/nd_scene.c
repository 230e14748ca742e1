/* SPDX-License-Identifier: MIT */
#include "tests/hostile/nd_scene.h"

#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

static const struct nd2_end_options options = { .depth = 8, .memory_octets = PROGRAM_REGION };

static struct program neighbour[2]; /* client, server */

static void expect(HRESULT hr, const char *what)
{
    if (hr != ND_SUCCESS)
        fail_msg("%s: 0x%08x", what, (unsigned)hr);
}

/* ------------------------------------------------------------------------------------------------ requests */

static struct nd_op *op_of(OVERLAPPED *overlapped)
{
    return (struct nd_op *)(void *)overlapped;
}

OVERLAPPED *program_start(struct program *program, struct nd_op *op)
{
    if (program->manner == ND_BY_EVENT && !op->event)
        op->event = CreateEventA(NULL, FALSE, FALSE, NULL);
    op->arrived = false;
    op->overlapped = (OVERLAPPED){ .hEvent = op->event };
    return &op->overlapped;
}

/* Takes packets off the port until op's has come, and ignores those of nd2_end's own requests. */
static void await_packet(struct program *program, struct nd_op *op, uint64_t deadline_ms)
{
    while (!op->arrived) {
        uint64_t now_ms = clock_now_ms();
        OVERLAPPED *overlapped = NULL;
        ULONG_PTR key;
        DWORD octets;

        if (now_ms >= deadline_ms)
            return;
        GetQueuedCompletionStatus(
            program->port, &octets, &key, &overlapped, (DWORD)(deadline_ms - now_ms));
        if (overlapped && overlapped != &program->end.overlapped)
            op_of(overlapped)->arrived = true;
    }
}

HRESULT program_end(struct program *program, void *object, struct nd_op *op, HRESULT hr)
{
    uint64_t deadline_ms = clock_now_ms() + PROGRAM_WAIT_MS;
    IND2Overlapped *owner = object;

    if (hr != ND_PENDING)
        return hr;
    switch (program->manner) {
    case ND_BY_EVENT: WaitForSingleObject(op->event, PROGRAM_WAIT_MS); break;
    case ND_BY_PORT: await_packet(program, op, deadline_ms); break;
    default: break;
    }
    do
        hr = CALL(owner, GetOverlappedResult, &op->overlapped, FALSE);
    while (hr == ND_PENDING && program->manner == ND_BY_POLLING && clock_now_ms() < deadline_ms);
    if (hr == ND_PENDING)
        fail_msg("an overlapped request hangs");
    return hr;
}

/* ------------------------------------------------------------------------------------------------ a program */

void program_receives(struct program *program)
{
    for (size_t i = 0; i < PROGRAM_RECEIVES; i++)
        expect(nd2_end_receive(&program->end, (void *)i, i * PROGRAM_RECEIVE, PROGRAM_RECEIVE),
            "Receive");
}

void program_open(struct program *program, enum nd_manner manner)
{
    HRESULT hr;

    memset(program, 0, sizeof *program);
    program->manner = manner;
    hr = nd2_end_open(&program->end, &options);
    if (hr != ND_SUCCESS)
        fail_msg("%s: 0x%08x", program->end.step, (unsigned)hr);
    if (manner == ND_BY_PORT) {
        program->port = CreateIoCompletionPort(program->end.file, NULL, 1, 0);
        assert_non_null(program->port);
    }
    memset(program->end.memory, VICTIM_FILL, PROGRAM_REGION);
    program_receives(program);
}

static void drop_event(struct nd_op *op)
{
    if (op->event)
        CloseHandle(op->event);
    op->event = NULL;
}

void program_close(struct program *program)
{
    struct nd_op *ops[] = { &program->get, &program->connect, &program->accept, &program->complete,
        &program->notify, &program->disconnect, &program->results };

    nd2_end_close(&program->end);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        drop_event(ops[i]);
    if (program->port)
        CloseHandle(program->port);
    program->port = NULL;
}

void program_renew(struct program *program)
{
    struct nd2_end *end = &program->end;

    CALL(end->connector, Release);
    CALL(end->qp, Release);
    expect(CALL(end->adapter, CreateConnector, &IID_IND2Connector, end->file,
               (void **)&end->connector),
        "CreateConnector");
    expect(CALL(end->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)end->cq,
               (IUnknown *)end->cq, end, options.depth, options.depth, 1, 1, 0, (void **)&end->qp),
        "CreateQueuePair");
    program_receives(program);
}

void program_listen(struct program *program)
{
    USHORT port_be;

    expect(nd2_end_listen(&program->end, &port_be), "Listen");
    program->port_be = port_be;
}

/* ------------------------------------------------------------------------------------------------ its calls */

static void expect_pending(HRESULT hr, const char *what)
{
    if (hr != ND_PENDING)
        fail_msg("%s: 0x%08x instead of ND_PENDING", what, (unsigned)hr);
}

void program_get_begin(struct program *program)
{
    struct nd2_end *end = &program->end;

    expect_pending(CALL(end->listener, GetConnectionRequest, (IUnknown *)end->connector,
                       program_start(program, &program->get)),
        "GetConnectionRequest");
}

HRESULT program_get_end(struct program *program)
{
    return program_end(program, program->end.listener, &program->get, ND_PENDING);
}

void program_connect_begin(struct program *program, uint16_t port_be)
{
    struct sockaddr_in local = nd_end_address(0, 0), peer = nd_end_address(0, port_be);
    struct nd2_end *end = &program->end;
    HRESULT hr = CALL(end->connector, Bind, (struct sockaddr *)&local, sizeof local);

    if (hr != (HRESULT)0xC0000238u) /* another attempt */
        expect(hr, "Bind");
    expect_pending(
        CALL(end->connector, Connect, (IUnknown *)end->qp, (struct sockaddr *)&peer, sizeof peer,
            PROGRAM_READS, PROGRAM_READS, NULL, 0, program_start(program, &program->connect)),
        "Connect");
}

HRESULT program_connect_end(struct program *program)
{
    return program_end(program, program->end.connector, &program->connect, ND_PENDING);
}

HRESULT program_complete(struct program *program)
{
    IND2Connector *connector = program->end.connector;
    HRESULT hr = CALL(connector, CompleteConnect, program_start(program, &program->complete));

    return program_end(program, connector, &program->complete, hr);
}

void program_accept_begin(struct program *program)
{
    struct nd2_end *end = &program->end;

    expect_pending(CALL(end->connector, Accept, (IUnknown *)end->qp, PROGRAM_READS, PROGRAM_READS,
                       NULL, 0, program_start(program, &program->accept)),
        "Accept");
}

HRESULT program_accept_end(struct program *program)
{
    return program_end(program, program->end.connector, &program->accept, ND_PENDING);
}

HRESULT program_notify_begin(struct program *program)
{
    return CALL(program->end.connector, NotifyDisconnect, program_start(program, &program->notify));
}

HRESULT program_notify_end(struct program *program)
{
    return program_end(program, program->end.connector, &program->notify, ND_PENDING);
}

HRESULT program_disconnect(struct program *program)
{
    IND2Connector *connector = program->end.connector;
    HRESULT hr = CALL(connector, Disconnect, program_start(program, &program->disconnect));

    return program_end(program, connector, &program->disconnect, hr);
}

void program_results(struct program *program, ND2_RESULT *results, unsigned count)
{
    uint64_t deadline_ms = clock_now_ms() + PROGRAM_WAIT_MS;
    IND2CompletionQueue *cq = program->end.cq;
    unsigned have = 0;

    while ((have += CALL(cq, GetResults, results + have, count - have)) < count) {
        if (clock_now_ms() >= deadline_ms)
            fail_msg("%u results instead of %u", have, count);
        if (program->manner == ND_BY_POLLING)
            continue;
        expect(program_end(program, cq, &program->results,
                   CALL(cq, Notify, ND_CQ_NOTIFY_ANY, program_start(program, &program->results))),
            "Notify");
    }
}

void program_no_results(struct program *program)
{
    ND2_RESULT result;

    assert_int_equal(CALL(program->end.cq, GetResults, &result, 1), 0);
}

/* ------------------------------------------------------------------------------------------------ two of them */

void program_meet(struct program *client, struct program *server)
{
    program_get_begin(server);
    program_connect_begin(client, server->port_be);
    expect(program_get_end(server), "GetConnectionRequest");
    program_accept_begin(server);
    expect(program_connect_end(client), "Connect");
    expect(program_complete(client), "CompleteConnect");
    expect(program_accept_end(server), "Accept");
}

static void carry(struct program *from, struct program *to, unsigned value)
{
    ND2_RESULT result;
    size_t i;

    memset(from->end.memory + 4096, (int)value, PROGRAM_RECEIVE);
    expect(nd2_end_send(&from->end, NULL, 4096, PROGRAM_RECEIVE, 0), "Send");
    program_results(to, &result, 1);
    assert_int_equal(result.RequestType, Nd2RequestTypeReceive);
    assert_int_equal(result.Status, ND_SUCCESS);
    i = (size_t)result.RequestContext;
    assert_memory_equal(
        to->end.memory + i * PROGRAM_RECEIVE, from->end.memory + 4096, PROGRAM_RECEIVE);
    expect(nd2_end_receive(&to->end, (void *)i, i * PROGRAM_RECEIVE, PROGRAM_RECEIVE), "Receive");
    program_results(from, &result, 1);
    assert_int_equal(result.RequestType, Nd2RequestTypeSend);
    assert_int_equal(result.Status, ND_SUCCESS);
}

void program_exchange(struct program *client, struct program *server)
{
    static unsigned value;

    carry(client, server, ++value & 0xff);
    carry(server, client, ++value & 0xff);
}

int programs_open(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    expect(NdStartup(), "NdStartup");
    program_open(&neighbour[0], ND_BY_EVENT);
    program_open(&neighbour[1], ND_BY_POLLING);
    program_listen(&neighbour[1]);
    program_meet(&neighbour[0], &neighbour[1]);
    return 0;
}

int programs_close(void **state)
{
    (void)state;
    program_close(&neighbour[0]);
    program_close(&neighbour[1]);
    expect(NdCleanup(), "NdCleanup");
    return 0;
}

void programs_unharmed(void)
{
    program_exchange(&neighbour[0], &neighbour[1]);
}
