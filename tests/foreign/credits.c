/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether perftest or the library is at fault when ib_send_bw -e hangs on iWARP. Goes into LD_PRELOAD in
 * front of the verbs library.
 *
 * perftest's sender posts no more than the receiver's buffers hold, and hears of free ones by a credit that the
 * receiver writes into its memory: nothing completes at the sender, so nothing wakes it. It looks at the credit, finds
 * none, breaks off posting and then sleeps in ibv_get_cq_event although no completion is to come (run_iter_bw and
 * run_iter_bi in src/perftest_resources.c; in 25.01.0+0.80 lines 3612 to 3615 and 3684).
 *
 * CREDITS_ROUNDS=N: its -n, at most 512; as many Receives are posted for a queue pair, so it is the last Send that may
 * wait. CREDITS_DELAY_MS=N: so long a credit is held back before it is written.
 *
 * After 5 s (CREDITS_PATIENCE_MS) in one ibv_get_cq_event the process ends: with 75 when the credit for the last Send
 * is there, no signalled request has yet to complete, and the completion queues are empty; with 76 when a completion
 * lies in a queue and no event came.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_PAIRS = 16,
    MAX_QUEUES = 8,
    PATIENCE_MS = 5000,
    LOOK_MS = 100,
    PERFTESTS = 75,
    OURS = 76
};

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* What one queue pair has posted; of the threads of ib_send_bw one alone posts and polls. */
struct pair {
    uint32_t number;
    uint64_t index; /* among perftest's queue pairs, which is the wr_id of their Sends */
    unsigned sends, signalled, completed;
};

static struct pair pairs[MAX_PAIRS];
static struct ibv_cq *queues[MAX_QUEUES];
static unsigned pair_count, queue_count;
static const uint32_t *credits; /* the peer writes these, by index */
static atomic_uint sleeps;      /* odd: asleep in ibv_get_cq_event */

static int (*real_poll)(struct ibv_cq *cq, int count, struct ibv_wc *wc);
static int (*real_post)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

static unsigned environment(const char *name)
{
    const char *value = getenv(name);

    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

static void pass_ms(unsigned ms)
{
    struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

static struct pair *pair_of(uint32_t number)
{
    unsigned i = 0;

    while (i < pair_count && pairs[i].number != number)
        i++;
    if (i == MAX_PAIRS)
        abort();
    if (i == pair_count)
        pairs[pair_count++].number = number;
    return &pairs[i];
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct pair *pair = pair_of(qp->qp_num);

    for (const struct ibv_send_wr *each = wr; each; each = each->next) {
        pair->signalled += (each->send_flags & IBV_SEND_SIGNALED) != 0;
        if (each->opcode == IBV_WR_RDMA_WRITE) {
            pass_ms(environment("CREDITS_DELAY_MS"));
        } else {
            pair->sends++;
            pair->index = each->wr_id;
        }
    }
    return real_post(qp, wr, bad);
}

static int poll_queue(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    int polled = real_poll(cq, count, wc);

    for (int i = 0; i < polled; i++)
        if (!(wc[i].opcode & IBV_WC_RECV))
            pair_of(wc[i].qp_num)->completed++;
    return polled;
}

/* The program slept in this very call for all its patience. */
static void judge(unsigned sleep)
{
    unsigned rounds = environment("CREDITS_ROUNDS");

    for (unsigned i = 0; i < queue_count; i++) {
        struct ibv_wc wc;

        if (real_poll(queues[i], 1, &wc) == 0)
            continue;
        pass_ms(1000); /* it may have come just now */
        fprintf(stderr, "credits: a completion lay in queue %u\n", i);
        _exit(atomic_load(&sleeps) == sleep ? OURS : PERFTESTS);
    }
    for (const struct pair *pair = pairs; pair < pairs + pair_count; pair++) {
        if (pair->sends != rounds - 1 || pair->signalled != pair->completed ||
            !credits[pair->index])
            continue;
        fprintf(stderr,
            "credits: asleep with %u of %u Sends posted, all %u signalled requests completed, "
            "empty queues, "
            "and a credit of %u for the next\n",
            pair->sends, rounds, pair->signalled, (unsigned)credits[pair->index]);
        _exit(PERFTESTS);
    }
}

static void *watch(void *unused)
{
    unsigned seen = 0, asleep_ms = 0, patience_ms = environment("CREDITS_PATIENCE_MS");

    if (!patience_ms)
        patience_ms = PATIENCE_MS;
    (void)unused;
    for (;;) {
        unsigned sleep = atomic_load(&sleeps);

        asleep_ms = sleep == seen && sleep % 2 ? asleep_ms + LOOK_MS : 0;
        seen = sleep;
        if (asleep_ms >= patience_ms) {
            asleep_ms = 0;
            judge(sleep);
        }
        pass_ms(LOOK_MS);
    }
    return NULL;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
    struct ibv_cq *cq = REAL(ibv_create_cq)(context, entries, cq_context, channel, vector);
    pthread_t thread;

    if (!cq || queue_count == MAX_QUEUES)
        abort();
    queues[queue_count++] = cq;
    if (!real_poll) {
        real_poll = context->ops.poll_cq;
        real_post = context->ops.post_send;
        context->ops.poll_cq = poll_queue;
        context->ops.post_send = post;
        if (pthread_create(&thread, NULL, watch, NULL) != 0)
            abort();
    }
    return cq;
}

/* The smallest region is the one of the credits: those to write, then those that come. */
struct ibv_mr *ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *address, size_t octets, uint64_t iova, unsigned access)
{
    if (octets <= 2 * sizeof(*credits) * MAX_PAIRS)
        credits = (const uint32_t *)address + octets / sizeof(*credits) / 2;
    return REAL(ibv_reg_mr_iova2)(pd, address, octets, iova, access);
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t octets, int access)
{
    if (octets <= 2 * sizeof(*credits) * MAX_PAIRS)
        credits = (const uint32_t *)address + octets / sizeof(*credits) / 2;
    return REAL(ibv_reg_mr)(pd, address, octets, access);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    int status;

    atomic_fetch_add(&sleeps, 1);
    status = REAL(ibv_get_cq_event)(channel, cq, cq_context);
    atomic_fetch_add(&sleeps, 1);
    return status;
}
