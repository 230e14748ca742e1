/* SPDX-License-Identifier: MIT */
/*
 * path.c - where the time of a message of 8 octets goes, on the embedded device, both ends polling.
 *
 * usage: ndspi-bench-path [ROUNDS]
 *
 * One thread plays both ends in turn, so nothing waits for another processor, and each call can be timed by itself:
 * Send, the GetResults that finds the message, Receive, a GetResults that finds nothing. The library's two system calls
 * go through this program's syscall(), which notes when they begin and end. The same is done with plain TCP sockets, by
 * turns, in the same process: that is the floor. Figures are medians; the time of reading the clock is taken off.
 *
 * A message takes on its way, if each end has a processor: all of Send up to the end of sendto, on average half of a
 * look that finds nothing, and the GetResults that finds it; the rest of Send, and Receive, are done meanwhile.
 */
#include "tests/bench/process.h"
#include "tests/support/nd2_end.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OCTETS = 8, DEPTH = 8, BLOCK = 500, WARMUP = 50, ROUNDS = 20000, ROUNDS_MAX = 1000000 };

/* --- ticks ------------------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
#define HAVE_CYCLES 1
static inline uint64_t ticks(void)
{
    unsigned out_of_order;

    return __builtin_ia32_rdtscp(&out_of_order);
}
#else
#define HAVE_CYCLES 0
static inline uint64_t ticks(void)
{
    return now_ns();
}
#endif

static double ns_of_tick(void)
{
    uint64_t ns = now_ns(), start = ticks();

    while (now_ns() - ns < 50000000)
        ;
    return (double)(now_ns() - ns) / (double)(ticks() - start);
}

/* --- the library's system calls ---------------------------------------------------------------------------------- */

static struct {
    long (*real)(long number, ...);
    uint64_t begin, end; /* of the last sendto or recvfrom */
    unsigned calls;
} kernel;

/* In the C library's place, for the libraries, too. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long a[6], result;
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number != SYS_sendto && number != SYS_recvfrom)
        return kernel.real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    kernel.calls++;
    kernel.begin = ticks();
    result = kernel.real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    kernel.end = ticks();
    return result;
}

__attribute__((constructor)) static void find_syscall(void)
{
    *(void **)&kernel.real = dlsym(RTLD_NEXT, "syscall");
}

/* --- stages ------------------------------------------------------------------------------------------------------ */

enum stage {
    SEND_BEFORE,
    SEND_CALL,
    SEND_AFTER,
    HIT_BEFORE,
    HIT_CALL,
    HIT_AFTER,
    RECEIVE,
    MISS_BEFORE,
    MISS_CALL,
    MISS_AFTER,
    STAGES
};

static const char *const names[STAGES] = {
    [SEND_BEFORE] = "Send: post, build",
    [SEND_CALL] = "  sendto",
    [SEND_AFTER] = "  what was sent",
    [HIT_BEFORE] = "GetResults: up to recvfrom",
    [HIT_CALL] = "  recvfrom",
    [HIT_AFTER] = "  parse, complete, results",
    [RECEIVE] = "Receive",
    [MISS_BEFORE] = "GetResults in vain: up to recvfrom",
    [MISS_CALL] = "  recvfrom, EAGAIN",
    [MISS_AFTER] = "  after it",
};

struct samples {
    uint32_t *of[STAGES];
    unsigned count[STAGES], room;
};

static void keep(struct samples *samples, enum stage stage, uint64_t begin, uint64_t end)
{
    if (samples->count[stage] < samples->room)
        samples->of[stage][samples->count[stage]++] = (uint32_t)(end - begin);
}

/* One call of the library from begin to end, with one system call in it, or none. */
static void keep_call(
    struct samples *samples, enum stage before, uint64_t begin, uint64_t end, unsigned calls)
{
    if (calls != 1)
        return; /* it was interrupted, or the background thread was in between */
    keep(samples, before, begin, kernel.begin);
    keep(samples, before + 1, kernel.begin, kernel.end);
    keep(samples, before + 2, kernel.end, end);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static double median(struct samples *samples, enum stage stage)
{
    unsigned count = samples->count[stage];

    if (!count)
        return 0;
    qsort(samples->of[stage], count, sizeof(uint32_t), by_size);
    return samples->of[stage][count / 2];
}

static struct samples samples_make(unsigned rounds)
{
    struct samples samples = { .room = 2 * rounds };

    for (int i = 0; i < STAGES; i++)
        if (!(samples.of[i] = calloc(samples.room, sizeof(uint32_t))))
            bench_die("no memory for %u samples", samples.room);
    return samples;
}

/* --- NetworkDirect ----------------------------------------------------------------------------------------------- */

static void check(HRESULT hr, const char *what)
{
    if (FAILED(hr))
        bench_die("%s: %#lx", what, (unsigned long)hr);
}

static void check_step(const struct nd2_end *end, HRESULT hr)
{
    check(hr, end->step ? end->step : "NetworkDirect");
}

struct connect {
    struct nd2_end *end;
    USHORT port_be;
};

static void *connect_end(void *argument)
{
    struct connect *connect = argument;

    check_step(connect->end, nd2_end_connect(connect->end, connect->port_be));
    return NULL;
}

static void nd_pair(struct nd2_end ends[2])
{
    struct nd2_end_options options = { .depth = DEPTH,
        .memory_octets = OCTETS,
        .local_be = htonl(INADDR_LOOPBACK),
        .peer_be = htonl(INADDR_LOOPBACK) };
    struct connect connect = { .end = &ends[0] };
    pthread_t thread;

    check(NdStartup(), "NdStartup");
    for (int i = 0; i < 2; i++) {
        check_step(&ends[i], nd2_end_open(&ends[i], &options));
        for (int j = 0; j < DEPTH; j++)
            check(nd2_end_receive(&ends[i], NULL, 0, OCTETS), "Receive");
    }
    check_step(&ends[1], nd2_end_listen(&ends[1], &connect.port_be));
    if (pthread_create(&thread, NULL, connect_end, &connect))
        bench_die("no thread to connect from");
    check_step(&ends[1], nd2_end_request(&ends[1]));
    check_step(&ends[1], nd2_end_accept(&ends[1]));
    pthread_join(thread, NULL);
}

/* Returns whether a message has come. */
static bool nd_look(struct nd2_end *end, struct samples *samples, enum stage stage, bool expected)
{
    ND2_RESULT results[DEPTH];
    unsigned calls = kernel.calls;
    uint64_t begin = ticks();
    ULONG count = end->cq->lpVtbl->GetResults(end->cq, results, DEPTH);
    uint64_t stop = ticks();
    bool received = false;

    for (ULONG i = 0; i < count; i++) {
        check(results[i].Status, "result");
        received = received || results[i].RequestType == Nd2RequestTypeReceive;
    }
    if (samples && received == expected)
        keep_call(samples, stage, begin, stop, kernel.calls - calls);
    return received;
}

static void nd_message(struct nd2_end *from, struct nd2_end *to, struct samples *samples)
{
    unsigned calls = kernel.calls;
    uint64_t begin = ticks(), stop;

    check(nd2_end_send(from, NULL, 0, OCTETS, 0), "Send");
    stop = ticks();
    if (samples)
        keep_call(samples, SEND_BEFORE, begin, stop, kernel.calls - calls);
    while (!nd_look(to, samples, HIT_BEFORE, true))
        ;
    begin = ticks();
    check(nd2_end_receive(to, NULL, 0, OCTETS), "Receive");
    stop = ticks();
    if (samples)
        keep(samples, RECEIVE, begin, stop);
    nd_look(to, samples, MISS_BEFORE, false);
}

static void nd_rounds(struct nd2_end ends[2], unsigned rounds, struct samples *samples)
{
    for (unsigned i = 0; i < WARMUP + rounds; i++) {
        nd_message(&ends[0], &ends[1], i < WARMUP ? NULL : samples);
        nd_message(&ends[1], &ends[0], i < WARMUP ? NULL : samples);
    }
}

static void nd_close(struct nd2_end ends[2])
{
    nd2_end_close(&ends[0]);
    nd2_end_close(&ends[1]);
    NdCleanup();
}

/* --- plain TCP --------------------------------------------------------------------------------------------------- */

static void tcp_pair(int fds[2])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &size) ||
        connect(fds[0], (struct sockaddr *)&address, sizeof address) ||
        (fds[1] = accept(listener, NULL, NULL)) < 0)
        bench_die("TCP: %s", strerror(errno));
    close(listener);
    for (int i = 0; i < 2; i++)
        if (setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one))
            bench_die("TCP_NODELAY: %s", strerror(errno));
}

static void tcp_message(int from, int to, struct samples *samples)
{
    char data[OCTETS] = { 0 };

    if (syscall(SYS_sendto, from, data, (long)sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) !=
        sizeof data)
        bench_die("send: %s", strerror(errno));
    if (samples)
        keep(samples, SEND_CALL, kernel.begin, kernel.end);
    while (syscall(SYS_recvfrom, to, data, (long)sizeof data, MSG_DONTWAIT, NULL, NULL) < 0)
        ;
    if (samples)
        keep(samples, HIT_CALL, kernel.begin, kernel.end);
    syscall(SYS_recvfrom, to, data, (long)sizeof data, MSG_DONTWAIT, NULL, NULL);
    if (samples)
        keep(samples, MISS_CALL, kernel.begin, kernel.end);
}

static void tcp_rounds(const int fds[2], unsigned rounds, struct samples *samples)
{
    for (unsigned i = 0; i < WARMUP + rounds; i++) {
        tcp_message(fds[0], fds[1], i < WARMUP ? NULL : samples);
        tcp_message(fds[1], fds[0], i < WARMUP ? NULL : samples);
    }
}

/* --- the table --------------------------------------------------------------------------------------------------- */

/* What reading the clock twice takes. */
static double own_ticks(void)
{
    enum { TRIES = 1001 };
    static uint32_t of[TRIES];

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = ticks();

        of[i] = (uint32_t)(ticks() - begin);
    }
    qsort(of, TRIES, sizeof of[0], by_size);
    return of[TRIES / 2];
}

static double on_the_way(const double of[STAGES])
{
    return of[SEND_BEFORE] + of[SEND_CALL] + of[HIT_BEFORE] + of[HIT_CALL] + of[HIT_AFTER] +
           (of[MISS_BEFORE] + of[MISS_CALL] + of[MISS_AFTER]) / 2;
}

/* expected: a set of stages that have samples. */
static void read_medians(struct samples *samples, unsigned expected, double own, double of[STAGES])
{
    for (int i = 0; i < STAGES; i++) {
        if (expected & 1u << i && !samples->count[i])
            bench_die(
                "%s: no call was seen; a sanitizer's build makes them past syscall()", names[i]);
        of[i] = median(samples, (enum stage)i) - own;
        if (of[i] < 0)
            of[i] = 0;
    }
}

static void print_row(const char *name, double nd, double tcp, double ns)
{
    printf("%-36s %8.0f", name, nd * ns);
    if (HAVE_CYCLES)
        printf(" %8.0f", nd);
    if (tcp > 0)
        printf(" %8.0f", tcp * ns);
    putchar('\n');
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
    double ns, own, nd[STAGES], tcp[STAGES];
    struct samples nd_samples, tcp_samples;
    static struct nd2_end ends[2];
    int fds[2];

    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: ndspi-bench-path [ROUNDS], at most %d\n", ROUNDS_MAX);
        return 2;
    }
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_SHM", "0", 1); /* the stages are those of the network path */
    ns = ns_of_tick();
    own = own_ticks();
    nd_samples = samples_make(rounds);
    tcp_samples = samples_make(rounds);
    nd_pair(ends);
    tcp_pair(fds);
    for (unsigned done = 0; done < rounds; done += BLOCK) {
        tcp_rounds(fds, BLOCK, &tcp_samples);
        nd_rounds(ends, BLOCK, &nd_samples);
    }
    nd_close(ends);
    read_medians(&tcp_samples, 1u << SEND_CALL | 1u << HIT_CALL | 1u << MISS_CALL, own, tcp);
    read_medians(&nd_samples, (1u << STAGES) - 1, own, nd);
    printf("%-36s %8s%s %8s\n", "stage", "ns", HAVE_CYCLES ? "   cycles" : "", "TCP, ns");
    for (int i = 0; i < STAGES; i++)
        print_row(names[i], nd[i], tcp[i], ns);
    print_row("on the way", on_the_way(nd), on_the_way(tcp), ns);
    printf("%-36s %8.3f\n", "through that of plain TCP", on_the_way(nd) / on_the_way(tcp));
    return 0;
}
