/* SPDX-License-Identifier: MIT */
/*
 * fair.c - the group "fair": what a peer that drains memory by long Reads costs the small Reads of another one. The
 * target is passive: its background thread serves both, alone on its processor. The small Reads are slept for, and the
 * drain, in a process of its own on the same processor, gets what they leave of it.
 */
#include "softrdma/softrdma.h"
#include "tests/bench/bench.h"
#include "tests/bench/process.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALONE, BESIDE, FIGURES };
enum { WARMUP = 200, COUNT = 2000, DRAINS = 4, DEPTH = 8 };
enum { DRAIN_OCTETS = 16 << 20, SMALL_OCTETS = 8 };

struct scene {
    unsigned what;
    int control[2]; /* the target's end, the readers' */
};

/* The target sends this to the others. */
struct target {
    uint16_t port_be;
    uint32_t rkey;
    uint64_t address;
};

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct rdma_cm_id *id;
};

static void end_open(struct end *end)
{
    struct ibv_device **list = srd_get_device_list(NULL);
    void *memory = mmap(NULL, DRAIN_OCTETS, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (!list || !list[0] || memory == MAP_FAILED || !(end->context = srd_open_device(list[0])))
        bench_die("no device, or no memory: %s", strerror(errno));
    end->pd = srd_alloc_pd(end->context);
    end->channel = srd_create_comp_channel(end->context);
    end->cq = srd_create_cq(end->context, 4 * DEPTH, NULL, end->channel, 0);
    end->mr = srd_reg_mr(end->pd, memory, DRAIN_OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    if (!end->cq || !end->mr)
        bench_die("cannot make queues: %s", strerror(errno));
}

static void end_make_qp(struct end *end)
{
    struct ibv_qp_init_attr init = { .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = DEPTH, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 } };

    if (srd_create_id_qp(end->id, end->pd, &init))
        bench_die("create_qp: %s", strerror(errno));
}

static struct rdma_conn_param reads(void)
{
    return (struct rdma_conn_param){ .responder_resources = DRAINS, .initiator_depth = DRAINS };
}

/* --- the target -------------------------------------------------------------------------------------------------- */

static uint64_t target_process(const void *argument)
{
    const struct scene *scene = argument;
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct rdma_event_channel *events = srd_create_event_channel();
    struct rdma_conn_param param = reads();
    struct rdma_cm_id *listener;
    struct rdma_cm_event *event;
    struct target target;
    struct end end = { 0 };
    unsigned due = scene->what == BESIDE ? 2 : 1;
    char over;

    end_open(&end);
    if (!events || srd_create_id(events, &listener, NULL, RDMA_PS_TCP) ||
        srd_bind_addr(listener, (struct sockaddr *)&address) || srd_listen(listener, 4))
        bench_die("listen: %s", strerror(errno));
    target = (struct target){ srd_get_src_port(listener), end.mr->rkey, (uintptr_t)end.mr->addr };
    if (write(scene->control[0], &target, sizeof target) != sizeof target)
        bench_die("the readers are gone");
    while (due) {
        if (srd_get_cm_event(events, &event))
            bench_die("get_cm_event: %s", strerror(errno));
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            end.id = event->id;
            end_make_qp(&end);
            if (srd_accept(end.id, &param))
                bench_die("accept: %s", strerror(errno));
        }
        due -= event->event == RDMA_CM_EVENT_ESTABLISHED;
        srd_ack_cm_event(event);
    }
    /* From here on it never enters the device. */
    if (read(scene->control[0], &over, 1) < 0)
        bench_die("the readers are gone: %s", strerror(errno));
    return 0;
}

/* --- the readers ------------------------------------------------------------------------------------------------- */

static void connect_to(struct end *end, const struct target *target)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = target->port_be,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct rdma_conn_param param = reads();

    end_open(end);
    if (srd_create_id(NULL, &end->id, NULL, RDMA_PS_TCP) ||
        srd_resolve_addr(end->id, NULL, (struct sockaddr *)&address, 2000) ||
        srd_resolve_route(end->id, 2000))
        bench_die("resolve: %s", strerror(errno));
    end_make_qp(end);
    if (srd_connect(end->id, &param))
        bench_die("connect: %s", strerror(errno));
}

static void post_read(struct end *end, const struct target *target, uint32_t octets)
{
    struct ibv_sge sge = { (uintptr_t)end->mr->addr, octets, end->mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_send_wr *bad;

    wr.wr.rdma.remote_addr = target->address;
    wr.wr.rdma.rkey = target->rkey;
    if (ibv_post_send(end->id->qp, &wr, &bad))
        bench_die("post_send failed");
}

/* Sleeps until one has ended. */
static void await_read(struct end *end)
{
    struct ibv_wc wc;
    struct ibv_cq *cq;
    void *context;
    int count;

    while (!(count = ibv_poll_cq(end->cq, 1, &wc))) {
        if (ibv_req_notify_cq(end->cq, 0))
            bench_die("req_notify_cq failed");
        if ((count = ibv_poll_cq(end->cq, 1, &wc)))
            break;
        if (srd_get_cq_event(end->channel, &cq, &context))
            bench_die("get_cq_event: %s", strerror(errno));
        srd_ack_cq_events(cq, 1);
    }
    if (count < 0 || wc.status != IBV_WC_SUCCESS)
        bench_die("a Read ended with status %d", count < 0 ? count : (int)wc.status);
}

/* Reads until it is killed. Writes one octet to `tell` when the first Read has ended. */
static _Noreturn void drain(const struct target *target, int tell)
{
    struct end end = { 0 };
    char running = 1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, 19);
    connect_to(&end, target);
    for (int i = 0; i < DRAINS; i++)
        post_read(&end, target, DRAIN_OCTETS);
    for (;;) {
        await_read(&end);
        post_read(&end, target, DRAIN_OCTETS);
        if (running && write(tell, &running, 1) == 1)
            running = 0;
    }
}

static pid_t start_drain(const struct target *target)
{
    int told[2];
    char running;
    pid_t child;

    if (pipe(told) || (child = fork()) < 0)
        bench_die("fork: %s", strerror(errno));
    if (!child)
        drain(target, told[1]);
    close(told[1]);
    if (read(told[0], &running, 1) != 1)
        bench_die("the drain has ended");
    close(told[0]);
    return child;
}

static int earlier(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The median of a small Read's times. */
static uint64_t reader_process(const void *argument)
{
    const struct scene *scene = argument;
    static uint64_t ns[COUNT];
    struct target target;
    struct end end = { 0 };
    pid_t child = 0;

    if (read(scene->control[1], &target, sizeof target) != sizeof target)
        bench_die("the target is gone");
    if (scene->what == BESIDE)
        child = start_drain(&target); /* before there is a device here */
    connect_to(&end, &target);
    for (int i = -WARMUP; i < COUNT; i++) {
        uint64_t start_ns = clock_now_ns();

        post_read(&end, &target, SMALL_OCTETS);
        await_read(&end);
        if (i >= 0)
            ns[i] = clock_now_ns() - start_ns;
    }
    if (child) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (write(scene->control[1], "", 1) != 1)
        bench_die("the target is gone");
    qsort(ns, COUNT, sizeof *ns, earlier);
    return ns[COUNT / 2];
}

/* --- the group --------------------------------------------------------------------------------------------------- */

static bool fair_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    struct scene scene = { .what = figure->what };
    struct bench_process processes[2] = { { reader_process, &scene, "fair: reader" },
        { target_process, &scene, "fair: target" } };
    uint64_t ns;

    (void)group, (void)absent;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, scene.control) != 0)
        bench_die("socketpair: %s", strerror(errno));
    ns = bench_run(processes, 2);
    close(scene.control[0]);
    close(scene.control[1]);
    *value = (double)ns / 1e3;
    return ns != 0;
}

struct bench_group *bench_fair(void)
{
    static const char *const tests[] = { "read_8B_alone", "read_8B_beside", NULL };
    static struct bench_figure figures[FIGURES] = {
        [ALONE] = { .key = "fair.read_8B_alone.us", .test = "read_8B_alone", .what = ALONE },
        [BESIDE] = { .key = "fair.read_8B_beside.us", .test = "read_8B_beside", .what = BESIDE },
    };
    static const struct bench_ratio ratios[] = {
        { .key = "fair.read_8B_beside.vs_alone",
            .figure = &figures[BESIDE],
            .to = &figures[ALONE],
            .aim = 2.0 },
    };
    static struct bench_group group = {
        .name = "fair",
        .about = "a small Read of a passive target, alone and beside a peer that drains it: us, "
                 "median",
        .tests = tests,
        .figures = figures,
        .figure_count = FIGURES,
        .ratios = ratios,
        .ratio_count = 1,
        .measure = fair_measure,
    };

    return &group;
}
