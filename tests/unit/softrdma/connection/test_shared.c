/* SPDX-License-Identifier: MIT */
/*
 * Connections whose octets go through shared memory: ends that poll make no system call, ends that sleep are woken,
 * more than the memory holds goes through both ways at once, what was sent before the end arrives, and a peer that is
 * stopped or killed hurts its own connection alone.
 */
#include "tests/unit/softrdma/pair.h"
#include "tests/unit/softrdma/receive_side.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/channel.h"
#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"
#include "softrdma/connection/internal.h"
#include "softrdma/share/internal.h"
#include "softrdma/stream/internal.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

static struct pair pair;

static int setup(void **state)
{
    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_string_equal(srd_query_path(pair.active.qp), "shm");
    assert_string_equal(srd_query_path(pair.passive.qp), "shm");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pair_close(&pair);
    return 0;
}

/* ---- system calls ---- */

enum { ROUNDS = 20000, WARM = 1000, LARGE_ROUNDS = 100, LARGE = END_MEMORY / 4 };

/* Sanitizers make calls of their own. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define NO_COUNT
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define NO_COUNT
#endif
#endif

static _Thread_local volatile unsigned calls;

/* The call seems to have had nothing to do. */
static void on_call(int sig, siginfo_t *info, void *context)
{
    ucontext_t *at = context;

    (void)sig, (void)info;
    calls++;
#if defined(__x86_64__)
    at->uc_mcontext.gregs[REG_RAX] = -EAGAIN;
#elif defined(__aarch64__)
    at->uc_mcontext.regs[0] = (unsigned long long)-EAGAIN;
#else
#error "where is the result of a system call?"
#endif
}

/* Calls of this thread fail and are counted, but those of locks, clocks and signals, and of the thread's end. */
static bool count_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
    struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };

    sigaction(SIGSYS, &action, NULL);
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* A Send of 8 octets and its completions at both ends, by polling alone. */
static bool one_way(struct end *from, struct end *to)
{
    struct ibv_sge sge = { (uintptr_t)from->memory, 8, from->mr->lkey };
    struct ibv_send_wr send = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_sge into = { (uintptr_t)to->memory + 4096, 8, to->mr->lkey };
    struct ibv_recv_wr receive = { .sg_list = &into, .num_sge = 1 }, *bad_receive;
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct ibv_send_wr *bad;
    int sent = 0, got = 0;
    struct ibv_wc wc;

    if (ibv_post_recv(to->qp, &receive, &bad_receive) || ibv_post_send(from->qp, &send, &bad))
        return false;
    while ((!sent || !got) && test_now_ms() < end_ms) {
        got += ibv_poll_cq(to->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
        sent += ibv_poll_cq(from->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
    }
    return sent == 1 && got == 1;
}

static bool ping_pong(void)
{
    return one_way(&pair.active, &pair.passive) && one_way(&pair.passive, &pair.active);
}

/* More than the ring holds, one way; the writer looks for room as the reader makes it. */
static bool large_write(void)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct ibv_wc wc;
    int done = 0;

    for (int i = 0; i < 2; i++)
        end_post(
            &pair.active, IBV_WR_RDMA_WRITE, 1, 0, END_MEMORY, &pair.passive, 0, IBV_SEND_SIGNALED);
    while (done < 2 && test_now_ms() < end_ms) {
        int got = ibv_poll_cq(pair.active.cq, 1, &wc);

        if (got < 0 || (got && wc.status != IBV_WC_SUCCESS))
            return false;
        done += got;
        if (ibv_poll_cq(pair.passive.cq, 1, &wc))
            return false;
    }
    return done == 2;
}

struct counted {
    bool (*round)(void);
    unsigned rounds, warm;
    unsigned calls, allowed; /* out */
};

static long milliseconds_of(struct timeval time)
{
    return time.tv_sec * 1000 + time.tv_usec / 1000;
}

/*
 * A thread that polls looks at each end's TCP once a millisecond. One that loses the processor for long counts as one
 * that has left: then both ends are armed, rung, and polled anew.
 */
static unsigned allowed(const struct rusage *before, const struct rusage *after)
{
    long ran_ms = milliseconds_of(after->ru_utime) + milliseconds_of(after->ru_stime) -
                  milliseconds_of(before->ru_utime) - milliseconds_of(before->ru_stime);
    long switched = after->ru_nivcsw - before->ru_nivcsw;

    return (unsigned)(2 * ran_ms + 12 * switched) + 8;
}

static void *count_rounds(void *argument)
{
    struct counted *counted = argument;
    struct rusage before, after;

    for (unsigned i = 0; i < counted->warm; i++)
        if (!counted->round())
            return "no completion";
    if (!count_calls())
        return "no filter";
    calls = 0;
    syscall(SYS_getpid);
    if (calls != 1)
        return "not counted";
    calls = 0;
    getrusage(RUSAGE_THREAD, &before);
    for (unsigned i = 0; i < counted->rounds; i++)
        if (!counted->round())
            return "no completion";
    getrusage(RUSAGE_THREAD, &after);
    counted->calls = calls;
    counted->allowed = allowed(&before, &after);
    return NULL;
}

static void expect_few_calls(struct counted *counted)
{
    pthread_t thread;
    void *failed;

#ifdef NO_COUNT
    skip();
#endif
    assert_int_equal(pthread_create(&thread, NULL, count_rounds, counted), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    if (failed)
        fail_msg("%s", (const char *)failed);
    assert_in_range(counted->calls, 0, counted->allowed);
}

static void ends_that_poll_make_no_system_call(void **state)
{
    struct counted counted = { .round = ping_pong, .rounds = ROUNDS, .warm = WARM };

    (void)state;
    expect_few_calls(&counted);
}

static void a_writer_that_polls_finds_room_without_system_calls(void **state)
{
    struct counted counted = { .round = large_write, .rounds = LARGE_ROUNDS, .warm = 8 };

    (void)state;
    expect_few_calls(&counted);
}

/* ---- ends that sleep ---- */

static void await_event(struct end *end)
{
    struct pollfd fd = { .fd = end->channel->fd, .events = POLLIN };
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    assert_int_equal(srd_get_cq_event(end->channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
}

static void ends_that_sleep_are_woken(void **state)
{
    struct ibv_wc wc;

    (void)state;
    for (int i = 0; i < 200; i++) {
        struct end *from = i % 2 ? &pair.passive : &pair.active;
        struct end *to = i % 2 ? &pair.active : &pair.passive;

        end_recv(to, 1, 0, 64);
        assert_int_equal(ibv_req_notify_cq(to->cq, 0), 0);
        end_post(from, IBV_WR_SEND, 2, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
        await_event(to);
        test_poll(to->cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        test_poll(from->cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
    }
}

/* The reactor has asked for the polls before: the peer has to ring all the same, at once. */
static void a_thread_that_arms_a_queue_polls_no_longer(void **state)
{
    struct srd_conn *conn = srd_qp_conn(srd_qp_from(pair.passive.qp));
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct ibv_wc wc;

    (void)state;
    while (!srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENTIVE) && test_now_ms() < end_ms)
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
    srd_watch_clear(&conn->source.watch, SRD_WATCH_POLLED);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    assert_false(srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENTIVE));
    srd_conn_unref(conn);
}

/* ---- more than the memory holds ---- */

enum { WRITES = 64 };

static void large_writes_cross_both_ways(void **state)
{
    struct ibv_wc wc;
    int left[2] = { WRITES, WRITES };
    uint64_t end_ms;

    (void)state;
    for (size_t i = 0; i < LARGE; i++) {
        pair.active.memory[i] = (uint8_t)(i * 7);
        pair.passive.memory[i] = (uint8_t)(i * 11);
    }
    for (int i = 0; i < WRITES; i++) {
        end_post(
            &pair.active, IBV_WR_RDMA_WRITE, 1, 0, LARGE, &pair.passive, LARGE, IBV_SEND_SIGNALED);
        end_post(
            &pair.passive, IBV_WR_RDMA_WRITE, 1, 0, LARGE, &pair.active, LARGE, IBV_SEND_SIGNALED);
    }
    end_ms = test_now_ms() + DEADLINE_MS;
    while ((left[0] || left[1]) && test_now_ms() < end_ms)
        for (int i = 0; i < 2; i++)
            if (ibv_poll_cq((i ? &pair.passive : &pair.active)->cq, 1, &wc) == 1) {
                assert_int_equal(wc.status, IBV_WC_SUCCESS);
                left[i]--;
            }
    assert_int_equal(left[0] + left[1], 0);
    assert_memory_equal(pair.passive.memory + LARGE, pair.active.memory, LARGE);
    assert_memory_equal(pair.active.memory + LARGE, pair.passive.memory, LARGE);
}

/* Nothing polls: the background thread alone moves both ends. */
static void large_messages_go_without_a_thread_of_the_program(void **state)
{
    struct ibv_wc wc;

    (void)state;
    for (int i = 0; i < 8; i++) {
        end_recv(&pair.passive, 1, LARGE, LARGE);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        end_post(&pair.active, IBV_WR_SEND, 2, 0, LARGE, NULL, 0, IBV_SEND_SIGNALED);
        await_event(&pair.passive);
        test_poll(pair.passive.cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        test_poll(pair.active.cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
    }
}

/* ---- the end ---- */

static void what_was_sent_before_the_end_arrives(void **state)
{
    struct ibv_wc wc[5];

    (void)state;
    for (int i = 0; i < 5; i++)
        end_recv(&pair.passive, (uint64_t)i, LARGE, LARGE);
    for (int i = 0; i < 4; i++)
        end_post(&pair.active, IBV_WR_SEND, 1, 0, LARGE, NULL, 0, 0);
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    test_poll(pair.passive.cq, 5, wc);
    for (int i = 0; i < 4; i++)
        assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[4].status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
}

/* More than the ring holds, to where the peer's region ends already. */
static void *write_out_of_bounds(void *unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++)
        end_post(&pair.active, IBV_WR_RDMA_WRITE, 1, 0, LARGE, &pair.passive, END_MEMORY - 1,
            IBV_SEND_SIGNALED);
    return NULL;
}

/* Before the time to wait for its peer is over. */
static void await_close(struct srd_conn *conn)
{
    uint64_t end_ms = test_now_ms() + SRD_CONN_CLOSE_MS;

    while (srd_life_phase(&conn->life) != SRD_CONN_CLOSED && test_now_ms() < end_ms)
        sched_yield();
    assert_true(test_now_ms() < end_ms);
    srd_conn_unref(conn);
}

/* The end that finds the fault reads on until its peer, which waits for room, has heard of it. */
static void a_fault_in_a_full_ring_ends_it_at_once(void **state)
{
    struct srd_conn *active = srd_qp_conn(srd_qp_from(pair.active.qp));
    struct srd_conn *passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    struct ibv_wc wc[8];
    pthread_t thread;

    (void)state;
    end_stop_receiving(&pair.passive); /* the ring is full before the first octet is read */
    assert_int_equal(pthread_create(&thread, NULL, write_out_of_bounds, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end_let_receive(&pair.passive);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    await_close(active);
    await_close(passive);
    test_poll(pair.active.cq, 8, wc);
    assert_int_equal(wc[0].status, IBV_WC_REM_ACCESS_ERR);
    for (int i = 1; i < 8; i++)
        assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
}

/* Posts a Receive whose memory the device refuses once a message has come for it. */
static void recv_without_memory(struct end *end, uint64_t wr_id)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)end->memory, .length = 64, .lkey = end->mr->lkey ^ 0x100
    };
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

    assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
}

/* So many Sends, until the passive end has its results for them: by a thread, as the caller has a lock of the other. */
struct sends {
    int count;
    struct ibv_wc wc[2];
};

static void *send_until_received(void *argument)
{
    struct sends *sends = argument;

    for (int i = 0; i < sends->count; i++)
        end_post(&pair.active, IBV_WR_SEND, (uint64_t)i + 1, 0, 64, NULL, 0, IBV_SEND_SIGNALED);
    test_poll(pair.passive.cq, sends->count, sends->wc);
    srd_run_soon(); /* the acknowledgement that is owed */
    return NULL;
}

static void send_beside(struct sends *sends)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, send_until_received, sends), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/*
 * A Terminate without a header is about the oldest request that is not complete: that is the second, whether or not
 * this end has looked before at what the peer says of the first.
 */
static void what_was_acknowledged_before_a_terminate_succeeds(void **state)
{
    struct sends sends = { .count = 2 };
    struct ibv_wc wc[2];

    (void)state;
    end_recv(&pair.passive, 1, 0, 64);
    recv_without_memory(&pair.passive, 2);
    end_stop_receiving(&pair.active); /* it reads all of it at once */
    send_beside(&sends);
    end_let_receive(&pair.active);
    assert_int_equal(sends.wc[1].status, IBV_WC_LOC_PROT_ERR);
    test_poll(pair.active.cq, 2, wc);
    assert_int_equal(wc[0].wr_id, 1);
    assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[1].status, IBV_WC_REM_OP_ERR);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
}

/* A thread that finds the ring empty, and then that a Send was acknowledged meanwhile, reads on. */
static void nobody_rests_beside_an_acknowledgement(void **state)
{
    struct srd_conn *active = srd_qp_conn(srd_qp_from(pair.active.qp));
    struct sends sends = { .count = 1 };
    struct ibv_wc wc;

    (void)state;
    end_recv(&pair.passive, 1, 0, 64);
    end_stop_receiving(&pair.active);
    send_beside(&sends);
    srd_watch_clear(&active->source.watch, SRD_WATCH_ATTENTIVE | SRD_WATCH_RECENT);
    assert_false(srd_shared_may_rest(active));
    end_let_receive(&pair.active);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 1);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    srd_conn_unref(active);
}

/* A stream that has ended hears of no more, so what the peer acknowledges then is nothing to wait for. */
static void an_ended_stream_rests_beside_an_acknowledgement(void **state)
{
    struct srd_conn *active = srd_qp_conn(srd_qp_from(pair.active.qp));
    const struct srd_end end = { .fault = SRD_FAULT_NONE };
    struct sends sends = { .count = 1 };
    unsigned actions;
    bool rests;

    (void)state;
    end_recv(&pair.passive, 1, 0, 64);
    end_stop_receiving(&pair.active);
    send_beside(&sends);
    actions = srd_stream_fail(active->qp, &end, clock_now_ms());
    srd_watch_clear(&active->source.watch, SRD_WATCH_ATTENTIVE | SRD_WATCH_RECENT);
    rests = srd_shared_may_rest(active);
    end_let_receive(&pair.active);
    assert_true(rests);
    srd_conn_apply(active, actions);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    srd_conn_unref(active);
}

/* It says which connection that was: the peer says nothing. */
static void a_peer_that_breaks_the_memory_loses_its_own_connection(void **state)
{
    struct srd_conn *active = srd_qp_conn(srd_qp_from(pair.active.qp));
    char expected[32];
    struct ibv_wc wc;

    (void)state;
    snprintf(expected, sizeof(expected), "queue pair 0x%x: ", pair.passive.qp->qp_num);
    end_recv(&pair.passive, 7, 0, 64);
    log_catch();
    atomic_store(&active->share->out->head, UINT64_MAX / 2);
    test_poll(pair.passive.cq, 1, &wc);
    assert_non_null(strstr(log_caught(), expected));
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    srd_conn_unref(active);
}

/* What the peer says it has completes Sends of this end: never more than was sent, never less than before. */
static void acknowledges_wrongly(uint64_t told)
{
    struct srd_conn *passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    struct ibv_wc wc;

    end_recv(&pair.active, 7, 0, 64);
    atomic_store(&passive->share->out->told, told);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 7);
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    srd_conn_unref(passive);
}

static void a_peer_that_acknowledges_what_was_not_sent_loses_its_connection(void **state)
{
    (void)state;
    acknowledges_wrongly(1);
}

static void a_peer_that_takes_an_acknowledgement_back_loses_its_connection(void **state)
{
    struct ibv_wc wc;

    (void)state;
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
    test_poll(pair.passive.cq, 1, &wc);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 2);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    acknowledges_wrongly(0);
}

/* The bell that cannot be read. */
static _Atomic int deaf_fd = -1;

ssize_t __real_recv(int fd, void *octets, size_t count, int flags);
ssize_t __wrap_recv(int fd, void *octets, size_t count, int flags);

ssize_t __wrap_recv(int fd, void *octets, size_t count, int flags)
{
    if (fd != atomic_load(&deaf_fd))
        return __real_recv(fd, octets, count, flags);
    errno = EIO;
    return -1;
}

/* Nothing would wake it any more: what both have posted fails. */
static void an_end_that_cannot_be_woken_ends_the_connection(void **state)
{
    struct srd_conn *passive = srd_qp_conn(srd_qp_from(pair.passive.qp));
    char expected[64];
    struct ibv_wc wc;

    (void)state;
    snprintf(expected, sizeof(expected), "queue pair 0x%x: the bell ", pair.passive.qp->qp_num);
    end_recv(&pair.active, 7, 0, 64);
    end_recv(&pair.passive, 7, 0, 64);
    log_catch();
    atomic_store(&deaf_fd, srd_share_wake_fd(passive->share));
    for (int i = 0; i < 4; i++)
        end_post(&pair.active, IBV_WR_RDMA_WRITE, 8, 0, LARGE, &pair.passive, 0, 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_non_null(strstr(log_caught(), expected));
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    atomic_store(&deaf_fd, -1);
    srd_conn_unref(passive);
}

/* ---- a peer that is stopped, or killed ---- */

/* The active end, in a process of its own; it posts one Send, and stops. Returns its exit status. */
static int stopping_child(int from_fd)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct sockaddr_storage where;
    struct end end;

    if (read(from_fd, &where, sizeof(where)) != sizeof(where))
        return 1;
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &where);
    param.qp_num = end.qp->qp_num;
    if (srd_connect(end.id, &param) || test_event_done(end.events, RDMA_CM_EVENT_CONNECT_RESPONSE))
        return 2;
    end_to_rts(&end);
    if (srd_establish(end.id))
        return 3;
    end_post(&end, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    raise(SIGSTOP);
    return 0;
}

/* Made before this process has threads: a sanitizer allows no others. */
enum { CHILDREN = 2 };
static struct child {
    pid_t pid;
    int fd; /* it waits there for the listener's address */
} children[CHILDREN];

static void make_children(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        int fds[2];

        if (pipe(fds) || (children[i].pid = fork()) < 0)
            _exit(1);
        if (!children[i].pid) {
            close(fds[1]);
            _exit(stopping_child(fds[0]));
        }
        close(fds[0]);
        children[i].fd = fds[1];
    }
}

/* Connected to a child that has stopped; its Send has arrived. */
static pid_t connect_stopped(struct pair *with, struct child *child)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct ibv_wc wc;
    int status;

    memset(with, 0, sizeof(*with));
    pair_listen(with, "127.0.0.1");
    end_make_qp(&with->passive);
    assert_int_equal(
        write(child->fd, &with->address, sizeof(with->address)), (int)sizeof(with->address));
    close(child->fd);
    event = test_event(with->passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    with->passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&with->passive);
    end_recv(&with->passive, 1, 0, 64);
    param.qp_num = with->passive.qp->qp_num;
    assert_int_equal(srd_accept(with->passive.id, &param), 0);
    assert_int_equal(test_event_done(with->passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    assert_string_equal(srd_query_path(with->passive.qp), "shm");
    test_poll(with->passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(waitpid(child->pid, &status, WUNTRACED), child->pid);
    assert_true(WIFSTOPPED(status));
    return child->pid;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) != child)
        ;
}

static void a_close_against_a_full_ring_ends_in_time(void **state)
{
    struct pair with;
    pid_t child = connect_stopped(&with, &children[0]);
    uint64_t before_ms;

    (void)state;
    for (int i = 0; i < 8; i++)
        end_post(&with.passive, IBV_WR_SEND, 1, 0, LARGE, NULL, 0, 0);
    before_ms = test_now_ms();
    assert_int_equal(srd_disconnect(with.passive.id), 0);
    assert_int_equal(test_event_done(with.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_in_range(test_now_ms() - before_ms, 0, DEADLINE_MS / 2);
    end_child(child);
    pair_close(&with);
}

static void a_killed_peer_ends_the_connection(void **state)
{
    struct pair with;
    pid_t child = connect_stopped(&with, &children[1]);
    struct ibv_wc wc;

    (void)state;
    end_recv(&with.passive, 7, 0, 64);
    end_child(child);
    assert_int_equal(test_event_done(with.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    test_poll(with.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    pair_close(&with);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_close_against_a_full_ring_ends_in_time),
        cmocka_unit_test(a_killed_peer_ends_the_connection),
        TEST(ends_that_sleep_are_woken),
        TEST(a_thread_that_arms_a_queue_polls_no_longer),
        TEST(large_writes_cross_both_ways),
        TEST(large_messages_go_without_a_thread_of_the_program),
        TEST(what_was_sent_before_the_end_arrives),
        TEST(a_fault_in_a_full_ring_ends_it_at_once),
        TEST(what_was_acknowledged_before_a_terminate_succeeds),
        TEST(nobody_rests_beside_an_acknowledgement),
        TEST(an_ended_stream_rests_beside_an_acknowledgement),
        TEST(a_peer_that_breaks_the_memory_loses_its_own_connection),
        TEST(a_peer_that_acknowledges_what_was_not_sent_loses_its_connection),
        TEST(a_peer_that_takes_an_acknowledgement_back_loses_its_connection),
        TEST(an_end_that_cannot_be_woken_ends_the_connection),
        TEST(ends_that_poll_make_no_system_call),
        TEST(a_writer_that_polls_finds_room_without_system_calls),
    };

    make_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
