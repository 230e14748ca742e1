/* SPDX-License-Identifier: MIT */
/* host.c - a host, its memory, and what each schedule makes on it: queue pairs, windows, connections. */
#include "draw.h"

#include "softrdma/device/device.h"
#include "softrdma/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { CQ_ENTRIES = 1024 };

const uint8_t *pattern;

/* --- memory ------------------------------------------------------------------------------------ */

void host_make(int number)
{
    struct host *host = &sim.hosts[number];
    struct ibv_device **list = srd_get_device_list(NULL);
    int local = IBV_ACCESS_LOCAL_WRITE, flags;

    host->context = srd_open_device(list[0]);
    srd_free_device_list(list);
    host->pd = srd_alloc_pd(host->context);
    host->memory = aligned_alloc(4096, MEMORY_OCTETS);
    memset(host->memory, UNTOUCHED, MEMORY_OCTETS);
    host->all = srd_reg_mr(host->pd, host->memory, MEMORY_OCTETS,
        local | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);
    host->write_only =
        srd_reg_mr(host->pd, host->memory, MEMORY_OCTETS, local | IBV_ACCESS_REMOTE_WRITE);
    host->pattern =
        srd_reg_mr(host->pd, (void *)(uintptr_t)pattern, PATTERN_OCTETS, IBV_ACCESS_REMOTE_READ);
    host->other_pd = srd_alloc_pd(host->context);
    host->other = srd_reg_mr(host->other_pd, host->memory, MEMORY_OCTETS,
        local | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    host->channel = srd_create_comp_channel(host->context);
    CHECK(host->all && host->write_only && host->pattern && host->other && host->channel,
        "a host cannot be made");
    flags = fcntl(host->channel->fd, F_GETFL);
    CHECK(!(flags & O_NONBLOCK), "a channel does not block");
}

uint8_t *place_for(struct host *host, uint32_t octets)
{
    uint32_t rounded = ((octets + 7) & ~7u) + GUARD_OCTETS;
    struct place *place = &host->places[host->n_places];

    if (host->n_places == PLACES || host->used + rounded > MEMORY_OCTETS)
        return NULL;
    place->at = host->memory + host->used;
    place->octets = octets;
    host->n_places++;
    host->used += rounded;
    return place->at;
}

uint8_t *window_at(const struct window *window, uint32_t at, uint32_t *octets)
{
    uint32_t within = (window->offset + at) % SRD_FAST_PAGE_OCTETS;
    uint64_t page;

    if (!window->fast)
        return window->memory + at;
    if (*octets > SRD_FAST_PAGE_OCTETS - within)
        *octets = SRD_FAST_PAGE_OCTETS - within;
    page = window->pages[(window->offset + at) / SRD_FAST_PAGE_OCTETS];
    return (uint8_t *)(uintptr_t)page + within;
}

/* --- the schedule's objects ----------------------------------------------------------------------- */

static struct end *end_of(void *owner)
{
    return owner;
}

static void on_ready(void *owner, struct srd_conn *conn, uint32_t events)
{
    (void)conn, (void)events;
    meet_ready(end_of(owner));
}

static void on_expired(void *owner, struct srd_conn *conn)
{
    (void)owner, (void)conn;
}

static void on_established(void *owner, struct srd_conn *conn)
{
    struct end *end = end_of(owner);

    (void)conn;
    say("host %d link %d: established", end->host, end->link);
    CHECK(end->host, "the initiator is reported to be established");
    end->established++;
}

static void on_down(void *owner, struct srd_conn *conn, int status)
{
    struct end *end = end_of(owner);

    (void)conn;
    say("host %d link %d: down, %d", end->host, end->link, status);
    CHECK(!end->downs, "host %d link %d is down twice", end->host, end->link);
    end->downs++;
    sim.activity++;
}

static void on_unref(void *owner)
{
    struct end *end = end_of(owner);

    CHECK(!end->frees, "a connection is freed twice");
    CHECK(!end->socket.open, "a connection is freed whose socket is open");
    end->frees++;
}

static const struct srd_conn_owner_ops owner_ops = {
    .ready = on_ready,
    .expired = on_expired,
    .established = on_established,
    .down = on_down,
    .unref = on_unref,
};

static void make_queue_pair(struct host *host, struct end *end)
{
    static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
        .send_cq = host->cq[0],
        .recv_cq = host->cq[host->n_cqs - 1],
        .srq = host->srq,
        .sq_sig_all = sim.set.sig_all,
        .cap = { .max_send_wr = sim.set.depth,
            .max_recv_wr = sim.set.receive_depth,
            .max_send_sge = SGES,
            .max_recv_sge = SGES,
            .max_inline_data = INLINE_OCTETS } };

    end->qp = srd_create_qp(host->pd, &attr);
    CHECK(end->qp, "no queue pair");
    end->qp_num = end->qp->qp_num;
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        struct ibv_qp_attr to = { .qp_state = states[i] };

        CHECK(!srd_modify_qp(end->qp, &to, IBV_QP_STATE), "a queue pair does not go to RTS");
    }
}

/* Pages of one place in another order, with neighbours among them, under an address that is none. */
static void make_fast(struct host *host, struct window *window)
{
    uint32_t n, page = SRD_FAST_PAGE_OCTETS;
    uint64_t first;

    window->offset = below(3) ? below(page) : 0;
    n = window->n_pages = (window->offset + window->octets + page - 1) / page;
    first = ((uintptr_t)place_for(host, (n + 1) * page) + page - 1) & ~(uint64_t)(page - 1);
    for (uint32_t i = 0; i < n; i++)
        window->pages[i] = first + (uint64_t)i * page;
    for (uint32_t swaps = below(3) ? below(n) : 0; swaps; swaps--) {
        uint32_t one = below(n), other = below(n);
        uint64_t kept = window->pages[one];

        window->pages[one] = window->pages[other];
        window->pages[other] = kept;
    }
    window->base = ((uint64_t)1 << 60) + below(1 << 20);
    window->fast = srd_alloc_fast_mr(host->pd, n);
    CHECK(window->fast, "no fast region");
    window->key = window->fast->rkey;
}

static void make_window(struct host *host, struct window *window)
{
    window->octets = 4 * sim.set.rdma_octets + 64;
    window->used = window->octets / 2;
    if (sim.set.fast[host - sim.hosts]) {
        make_fast(host, window);
    } else {
        window->mw = ibv_alloc_mw(host->pd, IBV_MW_TYPE_2);
        window->key = window->mw->rkey;
        window->memory = place_for(host, window->octets);
        window->base = (uintptr_t)window->memory;
    }
    for (uint32_t at = 0, here; at < window->octets / 2; at += here) {
        uint8_t *to;

        here = window->octets / 2 - at;
        to = window_at(window, at, &here);
        memcpy(to, pattern + at, here);
    }
}

static void make_end(struct host *host, int number, int link)
{
    struct end *end = &host->ends[link];

    memset(end, 0, sizeof(*end));
    end->host = number;
    end->link = link;
    end->socket.open = true;
    end->monitor.send_msn = end->monitor.read_msn = 1;
    end->ready_ns = sim.now_ns;
    lock_init(&end->owner_lock, LOCK_SRD_CM, "owner");
    make_queue_pair(host, end);
    end->conn = srd_conn_create(fd_of(end), &owner_ops, end, &end->owner_lock);
    CHECK(end->conn, "no connection");
    lock_acquire(&end->owner_lock);
    CHECK(!srd_conn_watch(end->conn, true, false), "a connection is not watched");
    lock_release(&end->owner_lock);
    if (sim.set.windows)
        make_window(host, &end->window);
}

void schedule_open(void)
{
    struct ibv_srq_init_attr srq = { .attr = { .max_wr = RECEIVES, .max_sge = SGES } };

    kernel_reset();
    for (int i = 0; i < HOSTS; i++) {
        struct host *host = &sim.hosts[i];

        host->used = host->n_places = 0;
        host->n_cqs = 1 + below(2);
        for (unsigned n = 0; n < host->n_cqs; n++) {
            host->cq[n] = srd_create_cq(host->context, CQ_ENTRIES, NULL, host->channel, 0);
            CHECK(host->cq[n], "no completion queue");
            srd_mark_solicited(host->cq[n]);
        }
        host->srq = sim.set.srq[i] ? srd_create_srq(host->pd, &srq) : NULL;
        host->srq_posted = 0;
        host->stopped = host->armed = host->limited = false;
        for (unsigned link = 0; link < sim.set.links; link++)
            make_end(host, i, (int)link);
    }
    for (unsigned link = 0; link < sim.set.links; link++)
        if (sim.set.shared[link])
            share_make((int)link);
}

void schedule_close(void)
{
    for (int i = 0; i < HOSTS; i++) {
        struct host *host = &sim.hosts[i];

        for (unsigned link = 0; link < sim.set.links; link++) {
            struct end *end = &host->ends[link];

            if (!end->gone)
                srd_destroy_qp(end->qp);
            srd_conn_close(end->conn);
            srd_conn_unref(end->conn);
            share_drop(end);
            CHECK(end->frees == 1, "host %d link %d: the connection has references left", i,
                (int)link);
            if (end->window.mw)
                CHECK(!ibv_dealloc_mw(end->window.mw), "a window stays");
            if (end->window.fast)
                CHECK(!srd_dereg_mr(end->window.fast), "a fast region stays");
        }
        if (host->srq)
            CHECK(!srd_destroy_srq(host->srq), "a shared receive queue stays");
        for (unsigned n = 0; n < host->n_cqs; n++)
            CHECK(!srd_destroy_cq(host->cq[n]), "a completion queue stays");
        memset(host->memory, UNTOUCHED, host->used);
    }
    reactor_check_empty();
}

void attach(struct end *end)
{
    struct srd_stream_params params = { .initiator = !end->host,
        .crc = sim.set.crc,
        .soft_peer = sim.set.soft,
        .shared = sim.set.shared[end->link],
        .rtr = sim.set.rtr,
        .rtr_expected = end->host && sim.set.rtr,
        .speaks_first = end->host && sim.set.speaks_first,
        .rnr_retries = sim.set.rnr_retries[end->host],
        .ird = sim.set.reads[end->host],
        .ord = sim.set.issues[end->host],
        .fpdu_max_octets = sim.set.fpdu_octets[end->host] };
    struct srd_device *device = srd_device_of(sim.hosts[end->host].context);
    unsigned actions = 0;
    int error;

    say("host %d link %d: attaches", end->host, end->link);
    lock_acquire(&end->owner_lock);
    if (srd_life_phase(&end->conn->life) != SRD_CONN_STARTUP) { /* its peer has gone meanwhile */
        lock_release(&end->owner_lock);
        return;
    }
    if (below(2)) /* what came behind the startup frame */
        srd_conn_fill(end->conn);
    error = srd_conn_attach(end->conn, device, end->qp_num, &params, &actions);
    lock_release(&end->owner_lock);
    CHECK(!error || end->ended, "attach: %s", strerror(error));
    end->attached = !error;
    if (error)
        srd_conn_close(end->conn);
    else
        srd_conn_started(end->conn, actions);
}
