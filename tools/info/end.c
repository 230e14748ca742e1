/* SPDX-License-Identifier: MIT */
#include "end.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { QUEUE_DEPTH = 2, POLLS_BEFORE_YIELD = 1000 };

static const char magic[8] = "ndinfo\0\1";

HRESULT end_wait(struct end *end, void *object, HRESULT hr)
{
    HANDLE events[] = { end->overlapped.hEvent, end->stop };
    IND2Overlapped *requests = object;
    DWORD ended;

    if (hr != ND_PENDING)
        return hr;
    ended = WaitForMultipleObjects(
        end->stop ? 2 : 1, events, FALSE, end->patience_ms ? end->patience_ms : INFINITE);
    if (ended != WAIT_OBJECT_0) {
        CALL(requests, CancelOverlappedRequests);
        hr = CALL(requests, GetOverlappedResult, &end->overlapped, TRUE);
        return hr == ND_CANCELED && ended == WAIT_TIMEOUT ? ND_IO_TIMEOUT : hr;
    }
    return CALL(requests, GetOverlappedResult, &end->overlapped, TRUE);
}

bool end_finish(struct end *end, void *object, HRESULT hr, const char *step)
{
    hr = end_wait(end, object, hr);
    return SUCCEEDED(hr) || failure_set(&end->failure, step, hr);
}

static bool step(struct end *end, HRESULT hr, const char *name)
{
    return SUCCEEDED(hr) || failure_set(&end->failure, name, hr);
}

bool end_open(struct end *end, const struct sockaddr *local, SIZE_T size)
{
    HRESULT hr;

    end->overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!end->overlapped.hEvent)
        return failure_say(&end->failure, "CreateEvent", "no descriptor left", "raise ulimit -n");
    hr = NdOpenAdapter(&IID_IND2Adapter, local, size, (VOID **)&end->adapter);
    if (hr == ND_INVALID_ADDRESS)
        return failure_local(&end->failure, "NdOpenAdapter", local);
    return step(end, hr, "NdOpenAdapter") &&
           step(
               end, CALL(end->adapter, CreateOverlappedFile, &end->file), "CreateOverlappedFile") &&
           step(end,
               CALL(end->adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, end->file,
                   2 * QUEUE_DEPTH, 0, 0, (VOID **)&end->cq),
               "CreateCompletionQueue") &&
           step(end,
               CALL(end->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, end->file,
                   (VOID **)&end->region),
               "CreateMemoryRegion") &&
           end_finish(end, end->region,
               CALL(end->region, Register, end->memory, sizeof(end->memory),
                   ND_MR_FLAG_ALLOW_LOCAL_WRITE, &end->overlapped),
               "Register") &&
           end_renew(end);
}

static void release_connection(struct end *end)
{
    if (end->connector)
        CALL(end->connector, Release);
    if (end->qp)
        CALL(end->qp, Release);
    end->connector = NULL;
    end->qp = NULL;
}

bool end_renew(struct end *end)
{
    ND2_RESULT left;

    release_connection(end);
    while (CALL(end->cq, GetResults, &left, 1))
        ; /* drops the results of the old queue pair */
    return step(end,
               CALL(end->adapter, CreateConnector, &IID_IND2Connector, end->file,
                   (VOID **)&end->connector),
               "CreateConnector") &&
           step(end,
               CALL(end->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)end->cq,
                   (IUnknown *)end->cq, NULL, QUEUE_DEPTH, QUEUE_DEPTH, 1, 1, 0, (VOID **)&end->qp),
               "CreateQueuePair");
}

void end_close(struct end *end)
{
    release_connection(end);
    end->patience_ms = 0;
    if (end->region) {
        end_wait(end, end->region, CALL(end->region, Deregister, &end->overlapped));
        CALL(end->region, Release);
    }
    if (end->cq)
        CALL(end->cq, Release);
    if (end->file)
        CloseHandle(end->file);
    if (end->adapter)
        CALL(end->adapter, Release);
    if (end->overlapped.hEvent)
        CloseHandle(end->overlapped.hEvent);
}

struct greeting greeting_make(ULONG rounds)
{
    struct greeting greeting = { .rounds_be = htonl(rounds) };

    memcpy(greeting.magic, magic, sizeof(magic));
    return greeting;
}

bool greeting_take(struct end *end, struct greeting *greeting)
{
    ULONG size = sizeof(*greeting);
    HRESULT hr = CALL(end->connector, GetPrivateData, greeting, &size);

    /* Some transports pad private data. */
    return (SUCCEEDED(hr) || hr == ND_BUFFER_OVERFLOW) && size >= sizeof(*greeting) &&
           !memcmp(greeting->magic, magic, sizeof(magic));
}

bool end_post_receive(struct end *end)
{
    ND2_SGE sge = { end->memory[1], END_MESSAGE_OCTETS, CALL(end->region, GetLocalToken) };

    return step(end, CALL(end->qp, Receive, NULL, &sge, 1), "Receive");
}

static bool post_send(struct end *end, ULONG number)
{
    ND2_SGE sge = { end->memory[0], END_MESSAGE_OCTETS, CALL(end->region, GetLocalToken) };
    UINT32 number_be = htonl(number);

    memcpy(end->memory[0], &number_be, sizeof(number_be));
    return step(end, CALL(end->qp, Send, NULL, &sge, 1, 0), "Send");
}

/* Whether patience_ms have passed since the first call, which sets *since_ms from 0. */
static bool waited_enough(const struct end *end, ULONGLONG *since_ms)
{
    ULONGLONG now_ms = GetTickCount64();

    if (!*since_ms)
        *since_ms = now_ms;
    return end->patience_ms && now_ms - *since_ms >= end->patience_ms;
}

/* Polls until this number of Sends and Receives has completed. */
static bool await(struct end *end, int sends, int receives)
{
    ULONGLONG since_ms = 0;

    for (unsigned polls = 1; sends > 0 || receives > 0; polls++) {
        ND2_RESULT result;

        if (CALL(end->cq, GetResults, &result, 1)) {
            bool receive = result.RequestType == Nd2RequestTypeReceive;
            if (!step(end, result.Status, receive ? "Receive" : "Send"))
                return false;
            *(receive ? &receives : &sends) -= 1;
        } else if (polls % POLLS_BEFORE_YIELD == 0) {
            if (waited_enough(end, &since_ms))
                return failure_set(&end->failure, receives > 0 ? "Receive" : "Send", ND_IO_TIMEOUT);
            sched_yield();
        }
    }
    return true;
}

static bool is_number(struct end *end, ULONG number)
{
    UINT32 number_be = htonl(number);

    return !memcmp(end->memory[1], &number_be, sizeof(number_be)) ||
           failure_say(&end->failure, "Receive", "the message is not the expected one",
               "check that both ends are the same version of ndinfo");
}

bool end_exchange(struct end *end, bool is_server, ULONG number, bool more)
{
    /*
     * Each end posts the Receive for the next message before it sends the message that the peer answers with it. The
     * server's Send may complete after that next message has arrived, since its acknowledgement may come later.
     */
    if (is_server)
        return await(end, number > 0, 1) && is_number(end, number) &&
               (!more || end_post_receive(end)) && post_send(end, number);
    return post_send(end, number) && await(end, 1, 1) && is_number(end, number) &&
           (!more || end_post_receive(end));
}

bool end_last_sent(struct end *end)
{
    return await(end, 1, 0) || end->failure.status == ND_CANCELED;
}
