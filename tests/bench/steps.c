/* SPDX-License-Identifier: MIT */
/* steps.c - see steps.h. */
#include "tests/bench/steps.h"

#include "util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__

enum { STEPS_THREADS = 16, STEPS_STUCK_MS = 100 };

/* Between the two processes. */
static struct shared {
    volatile int inside; /* the stepped one is between begin and end */
    volatile int part;   /* what it was */
    volatile int rests;  /* the others may go on */
} * shared;

struct samples {
    unsigned count[STEPS_PARTS];
    uint32_t instructions[STEPS_PARTS][STEPS_SAMPLES], locked[STEPS_PARTS][STEPS_SAMPLES];
};

void steps_begin(void)
{
    shared->rests = 0;
    shared->inside = 1;
    __asm__ volatile("int3" ::: "memory");
}

void steps_rest(void)
{
    shared->rests = 1;
    __asm__ volatile("int3" ::: "memory");
}

void steps_end(int part)
{
    shared->part = part;
    shared->inside = 0;
    __asm__ volatile("" ::: "memory");
}

static bool is_prefix(uint8_t octet)
{
    return octet == 0x66 || octet == 0x67 || octet == 0xf2 || octet == 0xf3 || octet == 0x2e ||
           octet == 0x36 || octet == 0x3e || octet == 0x26 || octet == 0x64 || octet == 0x65;
}

static bool is_locked(const uint8_t *code, size_t octets)
{
    size_t at = 0;

    while (at < octets && is_prefix(code[at]))
        at++;
    if (at < octets && code[at] == 0xf0)
        return true;
    if (at < octets && (code[at] & 0xf0) == 0x40) /* REX */
        at++;
    if (at + 1 < octets && (code[at] == 0x86 || code[at] == 0x87)) /* xchg: with memory? */
        return code[at + 1] >> 6 != 3;
    return at + 2 < octets && code[at] == 0x0f && code[at + 1] == 0xae && code[at + 2] == 0xf0;
}

/* The next instruction of the stepped thread. */
static uint64_t look(pid_t pid, bool *locked)
{
    struct user_regs_struct regs;
    uint8_t code[16];
    struct iovec to = { code, sizeof code }, from = { NULL, sizeof code };
    ssize_t got;

    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
        return 0;
    from.iov_base = (void *)(uintptr_t)regs.rip;
    got = process_vm_readv(pid, &to, 1, &from, 1, 0);
    *locked = got > 0 && is_locked(code, (size_t)got);
    return regs.rip;
}

/* The process that is stepped: its first thread, and those that stand still while it is inside. */
static struct {
    pid_t first, others[STEPS_THREADS];
    unsigned count;
    bool stopped; /* the others are */
} threads;

static void add_thread(pid_t pid)
{
    for (unsigned i = 0; i < threads.count; i++)
        if (threads.others[i] == pid)
            return;
    if (threads.count < STEPS_THREADS)
        threads.others[threads.count++] = pid;
}

static void remove_thread(pid_t pid)
{
    for (unsigned i = 0; i < threads.count; i++)
        if (threads.others[i] == pid)
            threads.others[i--] = threads.others[--threads.count];
}

/* Goes on after a stop; a signal of its own is delivered. */
static void go_on(pid_t pid, int status)
{
    int own = status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);

    ptrace(PTRACE_CONT, pid, NULL, own);
}

static int wait_for(pid_t pid, int *status)
{
    int got;

    do
        got = waitpid(pid, status, __WALL);
    while (got < 0 && errno == EINTR);
    return got;
}

static void stop_others(void)
{
    if (threads.stopped)
        return;
    threads.stopped = true;
    for (unsigned i = 0; i < threads.count; i++) {
        int status;

        if (ptrace(PTRACE_INTERRUPT, threads.others[i], NULL, NULL) ||
            wait_for(threads.others[i], &status) < 0 || !WIFSTOPPED(status))
            remove_thread(threads.others[i--]);
        else if (!(status >> 16)) /* a signal came first; the interrupt follows */
            i -= (go_on(threads.others[i], status), 1);
    }
}

static void start_others(void)
{
    if (!threads.stopped)
        return;
    threads.stopped = false;
    for (unsigned i = 0; i < threads.count; i++)
        ptrace(PTRACE_CONT, threads.others[i], NULL, NULL);
}

/* The next stop of a thread. The first one may wait for what one of the others holds, or does: then these go on. */
static pid_t next_stop(int *status)
{
    uint64_t give_up_ms = clock_now_ms() + STEPS_STUCK_MS;
    pid_t got = 0;

    while (threads.stopped && !(got = waitpid(threads.first, status, WNOHANG | __WALL)))
        if (clock_now_ms() >= give_up_ms)
            start_others();
    return got ? got : wait_for(-1, status);
}

/* A stop of another thread, or its end. */
static void other_stopped(pid_t pid, int status)
{
    add_thread(pid);
    if (WIFSTOPPED(status))
        go_on(pid, status);
    else
        remove_thread(pid);
}

/* The first thread is at its mark. Returns false when it has ended. */
static bool step_part(struct samples *samples, int *status)
{
    uint32_t instructions = 0, count_locked = 0;
    uint64_t last = 0;
    pid_t pid;
    int part;

    stop_others();
    while (shared->inside) {
        bool locked = false;
        uint64_t at = look(threads.first, &locked);

        /* A repeated string operation stops at each turn. */
        instructions += at != last;
        count_locked += locked && at != last;
        last = at;
        if (ptrace(PTRACE_SINGLESTEP, threads.first, NULL, NULL))
            return false;
        while ((pid = next_stop(status)) > 0 && pid != threads.first)
            other_stopped(pid, *status);
        if (pid < 0 || !WIFSTOPPED(*status))
            return false;
    }
    part = shared->part;
    if (threads.stopped && part >= 0 && samples->count[part] < STEPS_SAMPLES) {
        samples->instructions[part][samples->count[part]] = instructions;
        samples->locked[part][samples->count[part]++] = count_locked;
    }
    return true;
}

/* Until the process has ended; returns its status. */
static int follow(struct samples *samples)
{
    int status = 0;
    pid_t pid;

    while ((pid = next_stop(&status)) > 0) {
        bool marked = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && !(status >> 16);

        if (pid != threads.first) {
            other_stopped(pid, status);
            continue;
        }
        if (marked && shared->inside && !step_part(samples, &status))
            return status;
        if (marked && !shared->inside && threads.stopped && shared->rests)
            start_others();
        if (!WIFSTOPPED(status))
            return status;
        if (marked)
            ptrace(PTRACE_CONT, pid, NULL, NULL);
        else
            go_on(pid, status);
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint32_t median(uint32_t *of, unsigned count)
{
    qsort(of, count, sizeof *of, by_size);
    return count ? of[count / 2] : 0;
}

bool steps_run(void (*body)(void *argument), void *argument, struct steps of[STEPS_PARTS])
{
    static struct samples samples;
    pid_t parent = getpid(), pid;
    int ready[2], status;
    char octet;

    memset(&samples, 0, sizeof samples);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(ready) || (pid = fork()) < 0) {
        fprintf(stderr, "no process to step: %s\n", strerror(errno));
        return false;
    }
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[1]);
        if (getppid() != parent || read(ready[0], &octet, 1) != 1)
            _exit(1);
        body(argument);
        _exit(0);
    }
    close(ready[0]);
    threads.first = pid;
    threads.count = 0;
    threads.stopped = false;
    if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) ||
        write(ready[1], "", 1) != 1)
        fprintf(stderr, "process %d cannot be stepped: %s\n", pid, strerror(errno));
    close(ready[1]);
    status = follow(&samples);
    munmap(shared, sizeof *shared);
    for (int i = 0; i < STEPS_PARTS; i++)
        of[i] = (struct steps){ samples.count[i], median(samples.instructions[i], samples.count[i]),
            median(samples.locked[i], samples.count[i]) };
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return true;
    fprintf(stderr, "the process that was stepped ended with status %#x\n", (unsigned)status);
    return false;
}

#else

void steps_begin(void)
{
}

void steps_rest(void)
{
}

void steps_end(int part)
{
    (void)part;
}

bool steps_run(void (*body)(void *argument), void *argument, struct steps of[STEPS_PARTS])
{
    (void)body, (void)argument, (void)of;
    return false;
}

#endif
