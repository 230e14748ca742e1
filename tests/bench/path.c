/* SPDX-License-Identifier: MIT */
/*
 * path.c - where the time of a message of 8 octets goes, on the embedded device, both ends polling.
 *
 * usage: ndspi-bench-path [shm] [ROUNDS]
 *
 * One thread plays both ends in turn, so nothing waits for another processor, and each call can be timed by itself:
 * Send, the GetResults that finds the message, Receive, a GetResults that finds nothing. The library's two system calls
 * go through this program's syscall(), which notes when they begin and end. The same is done with plain TCP sockets, by
 * turns, in the same process: that is the floor. Figures are medians; the time of reading the clock is taken off. With
 * "shm" the two ends share memory, and a call has no stages. Behind that come the instructions of each call, and how
 * many of them are locked, counted in another process, whose thread is stepped through (steps.h).
 *
 * A message takes on its way, if each end has a processor: all of Send up to the end of sendto, on average half of a
 * look that finds nothing, and the GetResults that finds it; the rest of Send, and Receive, are done meanwhile.
 */
#include "tests/bench/path_nd.h"
#include "tests/bench/process.h"
#include "tests/bench/steps.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OCTETS = 8, BLOCK = 500, WARMUP = 50, ROUNDS = 20000, ROUNDS_MAX = 1000000 };

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

static struct {
    struct samples *samples;
    bool shared; /* a call makes no system call, and has no stages */
    unsigned calls;
    uint64_t begin;
} timed;

static void time_begin(void)
{
    timed.calls = kernel.calls;
    timed.begin = ticks();
}

static void time_end(enum path_call call)
{
    static const enum stage first[PATH_CALLS] = { SEND_BEFORE, HIT_BEFORE, RECEIVE, MISS_BEFORE };
    uint64_t stop = ticks();
    unsigned calls = kernel.calls - timed.calls;

    if (call == PATH_OTHER)
        return;
    if (call == PATH_RECEIVE || (timed.shared && !calls))
        keep(timed.samples, first[call], timed.begin, stop);
    else if (!timed.shared)
        keep_call(timed.samples, first[call], timed.begin, stop, calls);
}

static void nd_rounds(struct nd2_end ends[2], unsigned rounds)
{
    static const struct path_probe probe = { time_begin, time_end };

    for (unsigned i = 0; i < WARMUP + rounds; i++) {
        path_message(&ends[0], &ends[1], i < WARMUP ? NULL : &probe);
        path_message(&ends[1], &ends[0], i < WARMUP ? NULL : &probe);
    }
}

/* --- instructions ------------------------------------------------------------------------------------------------ */

/* The part of steps.h that counts what counting itself takes. */
enum { EMPTY = PATH_CALLS, STEPPED_ROUNDS = 60 };

static void step_end(enum path_call call)
{
    steps_end((int)call);
}

/* In a process of its own, which makes its own pair. */
static void step_rounds(void *argument)
{
    static const struct path_probe probe = { steps_begin, step_end };
    static struct nd2_end ends[2];

    (void)argument;
    path_pair(ends);
    for (unsigned i = 0; i < WARMUP + STEPPED_ROUNDS; i++) {
        const struct path_probe *now = i < WARMUP ? NULL : &probe;

        path_message(&ends[0], &ends[1], now);
        path_message(&ends[1], &ends[0], now);
        if (now) {
            probe.begin();
            probe.end((enum path_call)EMPTY);
            steps_rest();
        }
    }
    path_close(ends);
}

static void print_steps(void)
{
    static const char *const names_of[PATH_CALLS] = { "Send", "GetResults that finds it", "Receive",
        "GetResults in vain" };
    struct steps of[STEPS_PARTS];

    if (!steps_run(step_rounds, NULL, of))
        return;
    printf("\n%-36s %8s %8s\n", "call", "instr.", "locked");
    for (int i = 0; i < PATH_CALLS; i++)
        printf("%-36s %8u %8u\n", names_of[i], of[i].instructions - of[EMPTY].instructions,
            of[i].locked);
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

static void print_stages(
    struct samples *nd_samples, struct samples *tcp_samples, bool shared, double own)
{
    static const unsigned calls =
        1u << SEND_BEFORE | 1u << HIT_BEFORE | 1u << RECEIVE | 1u << MISS_BEFORE;
    static const char *const whole[STAGES] = { [SEND_BEFORE] = "Send",
        [HIT_BEFORE] = "GetResults that finds it",
        [RECEIVE] = "Receive",
        [MISS_BEFORE] = "GetResults in vain" };
    double ns = ns_of_tick(), nd[STAGES], tcp[STAGES];

    read_medians(tcp_samples, 1u << SEND_CALL | 1u << HIT_CALL | 1u << MISS_CALL, own, tcp);
    read_medians(nd_samples, shared ? calls : (1u << STAGES) - 1, own, nd);
    printf("%-36s %8s%s %8s\n", "stage", "ns", HAVE_CYCLES ? "   cycles" : "", "TCP, ns");
    for (int i = 0; i < STAGES; i++)
        if (!shared || whole[i])
            print_row(shared ? whole[i] : names[i], nd[i], shared ? 0 : tcp[i], ns);
    print_row("on the way", on_the_way(nd), on_the_way(tcp), ns);
    printf("%-36s %8.3f\n", "through that of plain TCP", on_the_way(nd) / on_the_way(tcp));
}

static void measure(unsigned rounds, bool shared)
{
    struct samples nd_samples = samples_make(rounds), tcp_samples = samples_make(rounds);
    static struct nd2_end ends[2];
    int fds[2];

    timed.samples = &nd_samples;
    timed.shared = shared;
    path_pair(ends);
    tcp_pair(fds);
    for (unsigned done = 0; done < rounds; done += BLOCK) {
        tcp_rounds(fds, BLOCK, &tcp_samples);
        nd_rounds(ends, BLOCK);
    }
    path_close(ends);
    print_stages(&nd_samples, &tcp_samples, shared, own_ticks());
}

int main(int argc, char **argv)
{
    bool shared = argc > 1 && !strcmp(argv[1], "shm");
    const char *count = argc > 1 + shared ? argv[1 + shared] : NULL;
    char *end = "";
    unsigned long rounds = count ? strtoul(count, &end, 10) : ROUNDS;

    if (argc > 2 + shared || *end || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: ndspi-bench-path [shm] [ROUNDS], at most %d\n", ROUNDS_MAX);
        return 2;
    }
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_SHM", shared ? "1" : "0", 1);
    print_steps(); /* first: it forks, and this process has no thread yet */
    measure((unsigned)rounds, shared);
    return 0;
}
