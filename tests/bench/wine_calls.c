/* SPDX-License-Identifier: MIT */
/*
 * wine_calls.c - what calls cost a program, built for Windows and natively (bench group "wine"): prints "name
 * nanoseconds", a line each. Every figure is the least of many short runs, which keeps the machine's other load out of
 * it.
 *
 *   post_send             a Send on a queue pair whose connection was lost: it is queued and flushed, no wire
 *   getresults            GetResults of an empty queue without connections
 *   post                  PostQueuedCompletionStatus, and the packet taken
 *   event_thread          an event set by another thread that this one woke by an event: there and back
 *   port_thread           the same by packets of two ports
 *   port_completion       a request that ends inside its call (Register, Deregister), and the packet taken
 *   port_completion_full  a Notify that a message ends on a thread of the library's, from the Send to the packet taken
 */
#include "tests/support/nd2_end.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 60, CALLS = 200, SLOW_CALLS = 20, DEPTH = 256, SOON_MS = 20000 };

static struct nd2_end active, passive;
static HANDLE port;

static void check(HRESULT hr, const char *call)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "wine_calls: %s: 0x%08x\n", call, (unsigned)hr);
    exit(1);
}

static double now_ns(void)
{
    LARGE_INTEGER now, frequency;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart * 1e9 / (double)frequency.QuadPart;
}

static DWORD WINAPI accept_one(VOID *unused)
{
    (void)unused;
    check(nd2_end_request(&passive), "request");
    check(nd2_end_accept(&passive), "accept");
    return 0;
}

static void connect_both(void)
{
    const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = 4096 };
    USHORT port_be;
    HANDLE thread;

    check(nd2_end_open(&active, &options), "open");
    check(nd2_end_open(&passive, &options), "open");
    check(nd2_end_listen(&passive, &port_be), "listen");
    thread = CreateThread(NULL, 0, accept_one, NULL, 0, NULL);
    check(nd2_end_connect(&active, port_be), "connect");
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static void take_packet(void)
{
    OVERLAPPED *ended;
    ULONG_PTR key;
    DWORD octets;

    if (!GetQueuedCompletionStatus(port, &octets, &key, &ended, SOON_MS))
        check((HRESULT)SPEC_E_UNEXPECTED, "GetQueuedCompletionStatus");
}

static void drain(struct nd2_end *end)
{
    ND2_RESULT results[64];

    while (end->cq->lpVtbl->GetResults(end->cq, results, 64))
        ;
}

static double run_post_send(void)
{
    ND2_SGE sge = { active.memory, 8, active.lkey };
    double start = now_ns(), took;

    for (int i = 0; i < CALLS; i++)
        check(active.qp->lpVtbl->Send(active.qp, NULL, &sge, 1, 0), "Send");
    took = (now_ns() - start) / CALLS;
    drain(&active);
    return took;
}

static double run_getresults(void)
{
    ND2_RESULT result;
    double start = now_ns();

    for (int i = 0; i < CALLS; i++)
        if (active.cq->lpVtbl->GetResults(active.cq, &result, 1))
            check((HRESULT)SPEC_E_UNEXPECTED, "GetResults of an empty queue");
    return (now_ns() - start) / CALLS;
}

static double run_post(void)
{
    static OVERLAPPED overlapped;
    double start = now_ns();

    for (int i = 0; i < SLOW_CALLS; i++) {
        PostQueuedCompletionStatus(port, 0, 0, &overlapped);
        take_packet();
    }
    return (now_ns() - start) / SLOW_CALLS;
}

/* ---- what it costs two threads to wake each other: the least that two ends can do ---- */

static HANDLE there, back;

static DWORD WINAPI answer_events(VOID *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        WaitForSingleObject(there, INFINITE);
        SetEvent(back);
    }
    return 0;
}

static DWORD WINAPI answer_packets(VOID *count)
{
    OVERLAPPED *ended;
    ULONG_PTR key;
    DWORD octets;

    for (int i = 0; i < *(int *)count; i++) {
        GetQueuedCompletionStatus(there, &octets, &key, &ended, INFINITE);
        PostQueuedCompletionStatus(back, 0, 0, NULL);
    }
    return 0;
}

static double run_beside(LPTHREAD_START_ROUTINE answer, BOOL packets)
{
    int count = CALLS;
    HANDLE thread = CreateThread(NULL, 0, answer, &count, 0, NULL);
    OVERLAPPED *ended;
    ULONG_PTR key;
    double start = now_ns(), took;
    DWORD octets;

    for (int i = 0; i < count; i++) {
        if (packets) {
            PostQueuedCompletionStatus(there, 0, 0, NULL);
            GetQueuedCompletionStatus(back, &octets, &key, &ended, INFINITE);
        } else {
            SetEvent(there);
            WaitForSingleObject(back, INFINITE);
        }
    }
    took = (now_ns() - start) / count;
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    CloseHandle(there);
    CloseHandle(back);
    return took;
}

static double run_event_thread(void)
{
    there = CreateEventA(NULL, FALSE, FALSE, NULL);
    back = CreateEventA(NULL, FALSE, FALSE, NULL);
    return run_beside(answer_events, FALSE);
}

static double run_port_thread(void)
{
    there = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    back = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    return run_beside(answer_packets, TRUE);
}

/* ---- completions ---- */

static double run_port_completion(void)
{
    static OVERLAPPED overlapped;
    static IND2MemoryRegion *region;
    double start;

    if (!region)
        check(active.adapter->lpVtbl->CreateMemoryRegion(
                  active.adapter, &IID_IND2MemoryRegion, active.file, (VOID **)&region),
            "CreateMemoryRegion");
    start = now_ns();
    for (int i = 0; i < SLOW_CALLS / 2; i++) {
        check(region->lpVtbl->Register(region, active.memory, 64, 0, &overlapped), "Register");
        take_packet();
        check(region->lpVtbl->Deregister(region, &overlapped), "Deregister");
        take_packet();
    }
    return (now_ns() - start) / SLOW_CALLS;
}

static double run_port_completion_full(void)
{
    static OVERLAPPED overlapped;
    double start, took = 0;

    for (int i = 0; i < SLOW_CALLS; i++) {
        check(nd2_end_receive(&active, NULL, 2048, 64), "Receive");
        check(active.cq->lpVtbl->Notify(active.cq, ND_CQ_NOTIFY_ANY, &overlapped), "Notify");
        start = now_ns();
        check(nd2_end_send(&passive, NULL, 0, 8, 0), "Send");
        take_packet();
        took += now_ns() - start;
        drain(&active);
        drain(&passive);
    }
    return took / SLOW_CALLS;
}

struct measured {
    const char *name;
    double (*run)(void);
    double least;
};

/*
 * By turns, so that each run of one has its neighbours' processors: a call to wineserver takes 7 us where both ends are
 * on one processor and 30 where they are on two, and it may stay like that for a second.
 */
static void measure(struct measured *measured, int count)
{
    for (int i = 0; i < RUNS * count; i++) {
        struct measured *now = &measured[i % count];
        double took = now->run();

        if (i < count || took < now->least)
            now->least = took;
    }
    for (int i = 0; i < count; i++)
        printf("%s %.1f\n", measured[i].name, measured[i].least);
}

int main(void)
{
    struct measured waits[] = { { "post", run_post, 0 },
        { "port_completion", run_port_completion, 0 },
        { "port_completion_full", run_port_completion_full, 0 },
        { "event_thread", run_event_thread, 0 }, { "port_thread", run_port_thread, 0 } };
    struct measured post_send = { "post_send", run_post_send, 0 };
    struct measured getresults = { "getresults", run_getresults, 0 };

    check(NdStartup(), "NdStartup");
    connect_both();
    port = CreateIoCompletionPort(active.file, NULL, 0, 0);
    measure(waits, sizeof waits / sizeof waits[0]);
    check(nd2_end_disconnect(&active), "disconnect");
    measure(&post_send, 1);
    nd2_end_close(&passive);
    measure(&getresults, 1);
    return 0;
}
