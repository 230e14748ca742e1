/* SPDX-License-Identifier: MIT */
/*
 * polling.c - a ping-pong of 8-byte messages by two threads, a server and a client, natively or under Wine, that only
 * poll; or that ask for a notification where there is no result, and wait for that by an event, or a port.
 *
 * usage: polling -s 127.0.0.1:0 [-p]       says where it listens
 *        polling -c 127.0.0.1:PORT [-p]    prints "poll_8B NANOSECONDS", a round trip, the least of many short runs
 * POLLING_WAIT=event, or port, in the environment: both ends wait so; prints "event_8B ...", "port_8B ...".
 * With -p the server, a native program then, counts what reads and writes the client's process makes meanwhile. A call
 * to wineserver is one of each; there must be none. In the last rounds the client makes one in each, and all must show.
 */
#include "tests/support/nd2_end.h"

#include <stdio.h>
#include <stdlib.h>

enum { OCTETS = 8, DEPTH = 8, RUNS = 40, CALLS = 500, PATIENCE_MS = 60000 };

/* What a message begins with: from now on */
enum part { WARM_UP = 'w', MEASURED = 'm', WITH_CALLS = 'c', LAST = 'l' };

static struct nd2_end end;
static BOOL counts;

/* How it waits. */
static enum { BY_POLL, BY_EVENT, BY_PORT } how;
static HANDLE port;

static void check(HRESULT hr, const char *call)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "polling: %s: 0x%08x\n", call, (unsigned)hr);
    exit(1);
}

/* Sleeps until there may be a result. */
static void wait_for_result(void)
{
    static OVERLAPPED overlapped;
    OVERLAPPED *ended;
    ULONG_PTR key;
    DWORD octets;
    HRESULT hr;

    if (how == BY_PORT && !port) /* from now on: the connection's packets go nowhere */
        port = CreateIoCompletionPort(end.file, NULL, 0, 0);
    overlapped.hEvent = how == BY_EVENT ? end.event : NULL;
    hr = end.cq->lpVtbl->Notify(end.cq, ND_CQ_NOTIFY_ANY, &overlapped);
    check(hr, "Notify");
    if (how == BY_EVENT && WaitForSingleObject(end.event, PATIENCE_MS) != WAIT_OBJECT_0)
        check(ND_TIMEOUT, "WaitForSingleObject");
    if (how == BY_PORT && !GetQueuedCompletionStatus(port, &octets, &key, &ended, PATIENCE_MS))
        check(ND_TIMEOUT, "GetQueuedCompletionStatus");
}

/* Polls, or waits, until a message is there. */
static void receive(void)
{
    ND2_RESULT result;
    DWORD start = GetTickCount();

    for (unsigned looks = 1;; looks++) {
        if (end.cq->lpVtbl->GetResults(end.cq, &result, 1)) {
            check(result.Status, "a request");
            if (result.RequestType == Nd2RequestTypeReceive)
                return;
        } else if (how != BY_POLL) {
            wait_for_result();
        }
        if (looks % (1 << 20) == 0 && GetTickCount() - start > PATIENCE_MS)
            check(ND_TIMEOUT, "no message came");
    }
}

static void post_receive(void)
{
    check(nd2_end_receive(&end, NULL, 64, OCTETS), "Receive");
}

static void post_send(enum part part)
{
    end.memory[0] = (unsigned char)part;
    check(nd2_end_send(&end, NULL, 0, OCTETS, ND_OP_FLAG_SILENT_SUCCESS), "Send");
}

/* ---- what the client's process reads and writes ---- */

#ifdef _WIN32
static void find_client(USHORT port)
{
    (void)port;
    check(ND_NOT_SUPPORTED, "-p of a server that is a Windows program");
}

static long calls_of_client(void)
{
    return 0;
}
#else
#include <dirent.h>

static char client_io[64];

static BOOL is_client(const char *pid, const char *address)
{
    char path[300], line[4096];
    size_t octets;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    if (!(file = fopen(path, "r")))
        return FALSE;
    octets = fread(line, 1, sizeof line, file);
    fclose(file);
    return memmem(line, octets, "polling", 7) && memmem(line, octets, "-c", 3) &&
           memmem(line, octets, address, strlen(address) + 1);
}

/*
 * Finds the process that has this port in its arguments. A script that starts it execs it or has it as a child: the
 * last one found.
 */
static void find_client(USHORT port)
{
    DIR *all = opendir("/proc");
    struct dirent *process;
    char address[32];
    int last = 0;

    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    while (all && (process = readdir(all)))
        if (atoi(process->d_name) > last && is_client(process->d_name, address))
            last = atoi(process->d_name);
    if (all)
        closedir(all);
    check(last ? ND_SUCCESS : ND_UNSUCCESSFUL, "no process was told to connect here");
    snprintf(client_io, sizeof client_io, "/proc/%d/io", last);
}

/* Sockets are not among them: the device's own system calls are others. */
static long calls_of_client(void)
{
    FILE *file = fopen(client_io, "r");
    char name[32];
    long value, calls = 0;

    if (!file) {
        perror(client_io);
        exit(1);
    }
    while (fscanf(file, "%31s %ld", name, &value) == 2)
        if (strcmp(name, "syscr:") == 0 || strcmp(name, "syscw:") == 0)
            calls += value;
    fclose(file);
    return calls;
}
#endif

/* The device's threads may have some work now and then, when the program was off the processor. */
static void judge(enum part part, long calls, long rounds)
{
    fprintf(stderr, "polling: %ld rounds%s, the client's reads and writes: %ld\n", rounds,
        part == WITH_CALLS ? " with a call to wineserver each" : "", calls);
    if (part == WITH_CALLS ? calls < 2 * rounds : calls > rounds / 100)
        check(ND_UNSUCCESSFUL, "so the client calls wineserver otherwise than it should");
}

/* ---- the two sides ---- */

static void serve(void)
{
    enum part part = WARM_UP, next = WARM_UP;
    long before = 0, rounds = 0;
    USHORT port_be;

    check(nd2_end_listen(&end, &port_be), "listen");
    fprintf(stderr, "polling: listening on 127.0.0.1:%u\n", ntohs(port_be));
    check(nd2_end_request(&end), "request");
    post_receive();
    check(nd2_end_accept(&end), "accept");
    if (counts)
        find_client(ntohs(port_be));
    while (part != LAST) {
        receive();
        next = end.memory[64];
        post_receive();
        if (next != part && counts) {
            if (part != WARM_UP)
                judge(part, calls_of_client() - before, rounds);
            before = calls_of_client();
            rounds = 0;
        }
        part = next;
        rounds++;
        post_send(part);
    }
}

static double now_ns(void)
{
    LARGE_INTEGER now, frequency;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart * 1e9 / (double)frequency.QuadPart;
}

static double run(enum part part, unsigned rounds)
{
    double start = now_ns();

    for (unsigned i = 0; i < rounds; i++) {
        post_receive();
        post_send(part);
        receive();
        if (part == WITH_CALLS)
            ResetEvent(end.event);
    }
    return (now_ns() - start) / rounds;
}

static void ping(USHORT port)
{
    double least;

    check(nd2_end_connect(&end, htons(port)), "connect");
    run(WARM_UP, CALLS);
    least = run(MEASURED, CALLS);
    for (unsigned i = 1; i < RUNS; i++) {
        double took = run(MEASURED, CALLS);

        least = took < least ? took : least;
    }
    run(counts ? WITH_CALLS : MEASURED, CALLS);
    run(LAST, 1);
    printf("%s_8B %.1f\n", how == BY_POLL ? "poll" : how == BY_EVENT ? "event" : "port", least);
}

/* Each side on a processor of its own, if there are two: sharing one, each would poll until its time slice ends. */
static void choose_processor(BOOL second)
{
    DWORD_PTR allowed = 0, system, one;

    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &system) ||
        !(allowed & (allowed - 1)))
        return;
    one = allowed & (0 - allowed);
    if (second)
        one = (allowed - one) & (0 - (allowed - one));
    SetThreadAffinityMask(GetCurrentThread(), one);
}

int main(int argc, char **argv)
{
    const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = 4096 };
    const char *colon = argc > 2 ? strrchr(argv[2], ':') : NULL, *wait = getenv("POLLING_WAIT");

    counts = argc > 3 && strcmp(argv[3], "-p") == 0;
    if (wait)
        how = strcmp(wait, "event") == 0 ? BY_EVENT : BY_PORT;
    if (!colon || (strcmp(argv[1], "-s") != 0 && strcmp(argv[1], "-c") != 0)) {
        fprintf(stderr, "usage: polling -s|-c 127.0.0.1:PORT [-p]\n");
        return 2;
    }
    if (how == BY_POLL)
        choose_processor(argv[1][1] == 's');
    check(NdStartup(), "NdStartup");
    check(nd2_end_open(&end, &options), "open");
    if (argv[1][1] == 's')
        serve();
    else
        ping((USHORT)atoi(colon + 1));
    check(nd2_end_disconnect(&end), "disconnect");
    nd2_end_close(&end);
    return 0;
}
