/* SPDX-License-Identifier: MIT */
/*
 * program.c - the programs at the two ends: their memory, queue pairs and windows, and what they do next, drawn at
 * random. What they post is written down for the model before it is posted.
 */
#include "simulation.h"

#include "softrdma/device/device.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/cq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { OF_RECEIVE = 1 << 16, OF_SHARED = 1 << 17 }; /* in a wr_id */
enum { CQ_ENTRIES = 1024, SGES = 4, INLINE = 200, AT_ONCE = 8 };

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

/* Octets of the host's own, with a guard behind them; NULL: there are none left. */
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

static uint32_t some_octets(uint32_t most)
{
    switch (below(6)) {
    case 0: return most;
    case 1: return below(most < 8 ? most + 1 : 8);
    case 2: return most ? most - below(most < 5 ? most : 5) : 0;
    default: return below(most + 1);
    }
}

static uint32_t some_pattern(uint32_t octets)
{
    return below(PATTERN_OCTETS - octets);
}

/* --- the schedule's objects ----------------------------------------------------------------------- */

static struct end *end_of(void *owner)
{
    return owner;
}

static void on_ready(void *owner, struct srd_conn *conn, uint32_t events)
{
    (void)owner, (void)conn, (void)events; /* not attached yet: the octets wait */
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
            .max_inline_data = INLINE } };

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

    end->begun = true;
    say("host %d link %d: attaches", end->host, end->link);
    lock_acquire(&end->owner_lock);
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

/* --- requests -------------------------------------------------------------------------------------- */

/* What one request is posted with. */
struct draft {
    struct ibv_send_wr wr;
    struct srd_fast_reg fast; /* in place of wr, if it has a region */
    uint64_t pages[PAGES];
    struct ibv_sge sge[SGES];
    struct request *request;
};

/* The place as a list of one entry or several. */
static int split(struct ibv_sge sge[SGES], uint64_t place, uint32_t octets, uint32_t lkey)
{
    int entries = octets ? 1 + (int)(below(4) ? 0 : below(SGES)) : (int)below(2);
    uint32_t at = 0;

    for (int i = 0; i < entries; i++) {
        uint32_t here = i == entries - 1 ? octets - at : below(octets - at + 1);

        sge[i] = (struct ibv_sge){ place + at, here, lkey };
        at += here;
    }
    return entries;
}

static void has_data(struct draft *draft, const void *place, uint32_t lkey)
{
    draft->wr.sg_list = draft->sge;
    draft->wr.num_sge = split(draft->sge, (uintptr_t)place, draft->request->octets, lkey);
}

static bool may_use(const struct window *window)
{
    return window->bound && !window->revoking;
}

/* The octets come from the end's own fast region, or from the pattern. */
static void has_source(struct end *end, struct draft *draft)
{
    struct request *request = draft->request;
    struct window *window = &end->window;

    if (window->fast && may_use(window) && request->octets <= window->octets / 2 && below(2)) {
        request->here = window;
        request->pattern = below(window->octets / 2 - request->octets + 1);
        draft->wr.sg_list = draft->sge;
        draft->wr.num_sge =
            split(draft->sge, window->base + request->pattern, request->octets, window->key);
        return;
    }
    request->pattern = some_pattern(request->octets);
    has_data(draft, pattern + request->pattern, sim.hosts[end->host].pattern->lkey);
    if (request->octets <= INLINE && !below(4))
        draft->wr.send_flags |= IBV_SEND_INLINE;
}

/* Takes octets of its second half. */
static bool has_room(struct request *request, struct window *window)
{
    if (!may_use(window) || window->used + request->octets > window->octets || !below(2))
        return false;
    request->into = window;
    request->into_at = window->used;
    window->used += request->octets;
    return true;
}

static void has_bad_source(struct end *end, struct draft *draft)
{
    struct request *request = draft->request;

    if (!request->octets)
        request->octets = 1;
    request->local_error = IBV_WC_LOC_PROT_ERR;
    request->pattern = some_pattern(request->octets);
    has_data(draft, pattern + request->pattern, sim.hosts[end->host].pattern->lkey ^ 0x100);
}

static void draw_send(struct end *end, struct draft *draft, unsigned bad)
{
    struct window *window = &peer_of(end)->window;
    struct request *request = draft->request;

    request->kind = KIND_SEND;
    request->octets = some_octets(sim.set.message_octets);
    request->solicited = !below(4);
    draft->wr.opcode = IBV_WR_SEND;
    if (bad == 1) {
        request->octets = sim.set.message_octets + 1 + below(300);
        request->remote_error = IBV_WC_REM_INV_REQ_ERR;
        request->vendor_err = 0x1205;
    } else if (bad == 2) {
        draft->wr.opcode = IBV_WR_SEND_WITH_INV;
        draft->wr.invalidate_rkey = peer_of(end)->host == 0 ? sim.hosts[0].all->rkey : 0x12345678;
        request->remote_error = IBV_WC_REM_INV_REQ_ERR;
        request->vendor_err = 0x0209;
    } else if (may_use(window) && !below(3)) {
        draft->wr.opcode = IBV_WR_SEND_WITH_INV;
        draft->wr.invalidate_rkey = window->key;
        request->window = window;
        request->generation = window->generation;
    }
    request->has_invalidate = draft->wr.opcode == IBV_WR_SEND_WITH_INV;
    request->invalidates = draft->wr.invalidate_rkey;
    if (bad == 3)
        has_bad_source(end, draft);
    else
        has_source(end, draft);
    if (request->solicited)
        draft->wr.send_flags |= IBV_SEND_SOLICITED;
}

/* What a bad access names: the first segment is refused, so nothing is written. */
static void draw_refused(struct end *end, struct draft *draft, bool read)
{
    struct host *peer = &sim.hosts[!end->host];
    struct request *request = draft->request;

    request->remote_error = IBV_WC_REM_ACCESS_ERR;
    if (!request->octets)
        request->octets = 1;
    draft->wr.wr.rdma.remote_addr = (uintptr_t)peer->memory;
    draft->wr.wr.rdma.rkey = peer->all->rkey;
    switch (below(5)) {
    case 0:
        draft->wr.wr.rdma.rkey ^= 1;
        request->vendor_err = read ? 0x0100 : 0x1100;
        break;
    case 1:
        draft->wr.wr.rdma.remote_addr += MEMORY_OCTETS - (request->octets > 1);
        request->vendor_err = read ? 0x0101 : 0x1101;
        break;
    case 2:
        draft->wr.wr.rdma.rkey = peer->other->rkey;
        request->vendor_err = read ? 0x0103 : 0x1102;
        break;
    case 3:
        draft->wr.wr.rdma.remote_addr = UINT64_MAX;
        request->vendor_err = read ? 0x0104 : 0x1103;
        break;
    default:
        draft->wr.wr.rdma.rkey = read ? peer->write_only->rkey : peer->pattern->rkey;
        if (!read)
            draft->wr.wr.rdma.remote_addr = (uintptr_t)pattern;
        request->vendor_err = 0x0102;
        break;
    }
}

static void through(struct request *request, struct window *window)
{
    request->window = window;
    request->generation = window->generation;
}

static bool draw_write(struct end *end, struct draft *draft, unsigned bad)
{
    struct host *peer = &sim.hosts[!end->host];
    struct window *window = &peer_of(end)->window;
    struct request *request = draft->request;

    request->kind = KIND_WRITE;
    request->octets = some_octets(sim.set.rdma_octets);
    draft->wr.opcode = IBV_WR_RDMA_WRITE;
    if (bad && bad < 3) {
        draw_refused(end, draft, false);
    } else if (has_room(request, window)) {
        draft->wr.wr.rdma.remote_addr = window->base + request->into_at;
        draft->wr.wr.rdma.rkey = window->key;
        through(request, window);
    } else {
        request->place = place_for(peer, request->octets);
        draft->wr.wr.rdma.remote_addr = (uintptr_t)request->place;
        draft->wr.wr.rdma.rkey = peer->all->rkey;
        if (!request->place)
            return false;
    }
    if (bad != 3) {
        has_source(end, draft);
        return true;
    }
    request->place = NULL;
    request->into = NULL;
    has_bad_source(end, draft);
    return true;
}

/* A Write of this end's that is not refused: what it wrote can be read. */
static const struct request *earlier_write(struct end *end)
{
    const struct request *request;

    if (!end->posted)
        return NULL;
    request = &end->requests[below(end->posted)];
    if (request->kind != KIND_WRITE || request->refused || request->remote_error ||
        request->local_error || request->window || !request->octets)
        return NULL;
    return request;
}

static bool has_sink(struct end *end, struct draft *draft, unsigned bad)
{
    struct host *host = &sim.hosts[end->host];
    struct window *window = &end->window;
    struct request *request = draft->request;

    if (bad != 3 && window->fast && has_room(request, window)) {
        request->here = window;
        draft->wr.sg_list = draft->sge;
        draft->wr.num_sge =
            split(draft->sge, window->base + request->into_at, request->octets, window->key);
        return true;
    }
    request->place = place_for(host, request->octets);
    /* The pattern is not to be written. */
    has_data(draft, request->place, bad == 3 ? host->pattern->lkey : host->all->lkey);
    return request->place;
}

static bool draw_read(struct end *end, struct draft *draft, unsigned bad)
{
    struct host *peer = &sim.hosts[!end->host];
    struct window *window = &peer_of(end)->window;
    const struct request *write = below(2) ? earlier_write(end) : NULL;
    struct request *request = draft->request;

    request->kind = KIND_READ;
    request->octets = some_octets(sim.set.rdma_octets);
    draft->wr.opcode = IBV_WR_RDMA_READ;
    if (bad && bad < 3) {
        draw_refused(end, draft, true);
    } else if (may_use(window) && below(2)) {
        request->pattern = below(window->octets / 2 - request->octets);
        draft->wr.wr.rdma.remote_addr = window->base + request->pattern;
        draft->wr.wr.rdma.rkey = window->key;
        through(request, window);
    } else if (write) {
        request->octets = write->octets;
        request->pattern = write->pattern;
        draft->wr.wr.rdma.remote_addr = (uintptr_t)write->place;
        draft->wr.wr.rdma.rkey = peer->all->rkey;
    } else {
        request->pattern = some_pattern(request->octets);
        draft->wr.wr.rdma.remote_addr = (uintptr_t)pattern + request->pattern;
        draft->wr.wr.rdma.rkey = peer->pattern->rkey;
    }
    if (bad == 3) {
        if (!request->octets)
            request->octets = 1;
        request->local_error = IBV_WC_LOC_PROT_ERR;
    }
    if (!sim.set.issues[end->host])
        request->local_error = IBV_WC_LOC_QP_OP_ERR;
    return has_sink(end, draft, bad);
}

/* What is asked of a fast region that makes no sense. */
static void spoil(struct srd_fast_reg *fast, uint64_t *pages)
{
    switch (below(5)) {
    case 0: fast->n_pages = 0; break;
    case 1: fast->length = 0; break;
    case 2: fast->offset = SRD_FAST_PAGE_OCTETS; break;
    case 3: fast->access = IBV_ACCESS_REMOTE_WRITE; break;
    default: pages[fast->n_pages - 1]++; break;
    }
}

static void draw_fast(struct window *window, struct draft *draft, bool bad)
{
    memcpy(draft->pages, window->pages, sizeof(draft->pages));
    draft->fast = (struct srd_fast_reg){ .mr = window->fast,
        .pages = draft->pages,
        .n_pages = window->n_pages,
        .offset = window->offset,
        .length = window->octets,
        .base = window->base,
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
    if (bad)
        spoil(&draft->fast, draft->pages);
}

/* key: the window's last */
static void spoil_bind(struct host *host, struct ibv_send_wr *wr, uint32_t key)
{
    struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

    switch (below(6)) {
    case 0: info->length = 0; break;
    case 1: info->mr = host->other; break;
    case 2: info->mr = host->write_only; break; /* no window may be bound on it */
    case 3: info->addr += MEMORY_OCTETS; break;
    case 4: info->mw_access_flags |= IBV_ACCESS_LOCAL_WRITE; break;
    default: wr->bind_mw.rkey = key; break;
    }
}

static void draw_bind(struct end *end, struct draft *draft, bool bad)
{
    struct host *host = &sim.hosts[end->host];
    struct window *window = &end->window;

    if (window->fast) {
        draw_fast(window, draft, bad);
        return;
    }
    draft->wr.opcode = IBV_WR_BIND_MW;
    draft->wr.bind_mw.mw = window->mw;
    draft->wr.bind_mw.rkey = ibv_inc_rkey(window->key);
    draft->wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = host->all,
        .addr = window->base,
        .length = window->octets,
        .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
    if (bad)
        spoil_bind(host, &draft->wr, window->key);
}

/*
 * Binds or invalidates the end's own window. A fast region may be registered again behind its Invalidate, as long as no
 * Send of the peer's takes it away: that would take the new one.
 */
static bool draw_window(struct end *end, struct draft *draft, bool bad)
{
    struct window *window = &end->window;
    struct request *request = draft->request;
    bool again = window->fast && window->invalidating && !window->pending && below(4);

    request->window = window;
    if ((window->bound || window->pending) && !again) {
        request->kind = KIND_INVALIDATE;
        draft->wr.opcode = IBV_WR_LOCAL_INV;
        draft->wr.invalidate_rkey = window->key;
        request->generation = window->generation;
        return true;
    }
    if (window->fast && is_being_revoked(end))
        return false;
    request->kind = KIND_BIND;
    request->generation = window->generation + 1;
    if (bad)
        request->local_error = IBV_WC_MW_BIND_ERR;
    draw_bind(end, draft, bad);
    return true;
}

/* Draws the next request. Returns whether there is one. */
static bool draw(struct end *end, struct draft *draft)
{
    unsigned bad = chance(sim.set.bad) ? 1 + below(3) : 0;
    struct request *request = &end->requests[end->posted];
    bool drawn = true;

    if (end->posted == REQUESTS)
        return false;
    memset(draft, 0, sizeof(*draft));
    memset(request, 0, sizeof(*request));
    draft->request = request;
    switch (below(sim.set.windows ? 10 : 8)) {
    case 0:
    case 1:
    case 2:
    case 3: draw_send(end, draft, bad); break;
    case 4:
    case 5: drawn = draw_write(end, draft, bad); break;
    case 6:
    case 7: drawn = draw_read(end, draft, bad); break;
    default: drawn = draw_window(end, draft, bad); break;
    }
    if (!drawn)
        return false;
    request->signaled = sim.set.sig_all || below(3);
    if (request->signaled && !(sim.set.sig_all && below(2)))
        draft->wr.send_flags |= IBV_SEND_SIGNALED;
    request->fenced = !below(6);
    if (request->fenced)
        draft->wr.send_flags |= IBV_SEND_FENCE;
    draft->wr.wr_id = end->posted | (unsigned)end->link << 20;
    draft->fast.wr_id = draft->wr.wr_id;
    draft->fast.send_flags = draft->wr.send_flags;
    return true;
}

static void will_be_posted(struct end *end, struct draft *draft)
{
    struct request *request = draft->request;

    static const char *const kinds[] = { "Send", "Write", "Read", "Bind", "Invalidate" };

    say("host %d link %d: posts %s %u, %u octets%s%s%s", end->host, end->link, kinds[request->kind],
        end->posted, request->octets, request->signaled ? "" : ", silent",
        request->local_error ? ", fails here" : "", request->remote_error ? ", is refused" : "");
    if (request->kind == KIND_SEND) {
        request->message = end->sends;
        end->message[end->sends++] = end->posted;
    }
    model_posts(end, request);
    end->posted++;
    end->accepted++;
    sim.requests++;
}

static void was_refused(struct end *end, struct draft *draft)
{
    struct request *request = draft->request;

    say("host %d link %d: %d was refused", end->host, end->link, (int)(request - end->requests));
    request->refused = true;
    end->accepted--;
    if (request->kind == KIND_SEND)
        end->sends--;
    model_unposts(end, request);
}

static void post_requests(struct end *end)
{
    unsigned most = sim.set.second_thread ? 1 : 1 + (below(3) ? 0 : below(3)), count = 0, plain;
    struct draft drafts[3];
    struct ibv_send_wr *bad = NULL;
    int error;

    while (count < most && draw(end, &drafts[count])) {
        will_be_posted(end, &drafts[count]);
        if (drafts[count++].fast.mr)
            break;
        if (count > 1)
            drafts[count - 2].wr.next = &drafts[count - 1].wr;
    }
    if (!count)
        return;
    plain = count - (drafts[count - 1].fast.mr ? 1 : 0);
    error = plain ? ibv_post_send(end->qp, &drafts[0].wr, &bad) : 0;
    if (!error && plain < count && (error = srd_post_fast_reg(end->qp, &drafts[plain].fast)))
        bad = &drafts[plain].wr;
    if (!error)
        return;
    CHECK(error == ENOMEM, "a post fails: %s", strerror(error));
    CHECK(end->accepted - end->retired >= sim.set.depth, "ENOMEM, but there is room");
    for (unsigned i = count; i--;) {
        was_refused(end, &drafts[i]);
        if (&drafts[i].wr == bad)
            break;
    }
}

/* Returns whether it is posted. */
static bool post_receive(struct host *host, struct end *end)
{
    bool shared = host->srq;
    unsigned *posted = shared ? &host->srq_posted : &end->receives_posted;
    struct receive *receive = shared ? &host->srq_receives[*posted] : &end->receives[*posted];
    struct ibv_sge sge[SGES];
    struct ibv_recv_wr wr = { .sg_list = sge }, *bad_wr;
    int error;

    if (*posted == RECEIVES)
        return false;
    memset(receive, 0, sizeof(*receive));
    receive->octets = sim.set.message_octets;
    receive->place = place_for(host, receive->octets);
    if (!receive->place)
        return false;
    receive->bad = receive->octets && chance(sim.set.bad / 4);
    wr.num_sge = split(sge, (uintptr_t)receive->place, receive->octets,
        host->all->lkey ^ (receive->bad ? 0x100u : 0));
    wr.wr_id = *posted | (shared ? OF_SHARED : OF_RECEIVE) | (unsigned)end->link << 20;
    say("host %d link %d: posts Receive %u%s", host->ends[0].host, end->link, *posted,
        receive->bad ? ", bad" : "");
    if (receive->bad)
        for (unsigned link = 0; link < sim.set.links; link++)
            if (shared || (int)link == end->link)
                note_cause(&host->ends[link], CAUSE_LOCAL);
    (*posted)++;
    end->ready_ns = sim.now_ns;
    sim.receives++;
    error =
        shared ? ibv_post_srq_recv(host->srq, &wr, &bad_wr) : ibv_post_recv(end->qp, &wr, &bad_wr);
    if (!error)
        return true;
    CHECK(error == ENOMEM && !shared && !sim.set.second_thread &&
              *posted - 1 - end->receives_done >= sim.set.receive_depth,
        "a Receive is refused: %s", strerror(error));
    (*posted)--;
    if (host->places[host->n_places - 1].at == receive->place) {
        host->used = (uint32_t)(receive->place - host->memory);
        host->n_places--;
    }
    return false;
}

/* --- completions -------------------------------------------------------------------------------------- */

/* Returns whether there was one. */
static bool poll_queue(struct host *host, unsigned which)
{
    struct ibv_wc wc[4];
    int count = ibv_poll_cq(host->cq[which], 1 + (int)below(4), wc);

    CHECK(count >= 0, "a poll fails: %d", count);
    for (int i = 0; i < count; i++) {
        sim.activity++;
        model_sees(host, &wc[i], wc[i].wr_id & (OF_RECEIVE | OF_SHARED));
    }
    return count > 0;
}

static bool poll_all(struct host *host)
{
    bool any = false;

    for (unsigned i = 0; i < host->n_cqs; i++)
        any |= poll_queue(host, i);
    return any;
}

/* Arms the queues, looks once more, and sleeps until there is an event. */
static void wait_for_event(struct host *host)
{
    struct ibv_cq *cq;
    void *context;

    host->solicited_only = !below(3);
    for (unsigned i = 0; i < host->n_cqs; i++)
        CHECK(!ibv_req_notify_cq(host->cq[i], host->solicited_only), "a queue is not armed");
    if (poll_all(host))
        return;
    say("host %d: waits for an event", host->ends[0].host);
    host->armed = true;
    if (!srd_get_cq_event(host->channel, &cq, &context))
        srd_ack_cq_events(cq, 1);
    host->armed = false;
    say("host %d: its wait is over", host->ends[0].host);
}

/* Less than the quiet in which a thread that sleeps must have been woken. */
static void moderate(struct host *host)
{
    struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
        .moderate = { .cq_count = (uint16_t)(below(4) ? 2 + below(6) : below(2) * 1000),
            .cq_period = (uint16_t)below(4000) } };

    say("host %d: holds events back, %u completions, %u us", host->ends[0].host,
        attr.moderate.cq_count, attr.moderate.cq_period);
    CHECK(!ibv_modify_cq(host->cq[below(host->n_cqs)], &attr), "a queue is not moderated");
}

static void sees_event_of_queue_pair(struct host *host, const struct ibv_async_event *event)
{
    for (unsigned link = 0; link < sim.set.links; link++)
        if (host->ends[link].qp == event->element.qp)
            model_sees_event(&host->ends[link], event->event_type);
}

static void fetch_events(struct host *host)
{
    struct srd_context *context = srd_context_from(host->context);
    struct ibv_async_event event;

    while (!list_empty(&context->async.queue)) {
        CHECK(!srd_get_async_event(host->context, &event), "no asynchronous event");
        say("host %d: asynchronous event %d", host->ends[0].host, event.event_type);
        if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
            model_sees_limit(host);
        else
            sees_event_of_queue_pair(host, &event);
        srd_ack_async_event(&event);
    }
}

/* --- what comes next ------------------------------------------------------------------------------- */

void end_connection(struct end *end, unsigned how)
{
    struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
    static const char *const ways[] = { "disconnects", "goes to the error state", "destroys" };

    say("host %d link %d: %s", end->host, end->link, ways[how]);
    note_cause(end, CAUSE_ENDED);
    end->ended = true;
    switch (how) {
    case 0: srd_conn_disconnect(end->conn); break;
    case 1: CHECK(!srd_modify_qp(end->qp, &error, IBV_QP_STATE), "no error state"); break;
    default:
        end->gone = true;
        CHECK(!srd_destroy_qp(end->qp), "a queue pair stays");
        break;
    }
}

static void set_limit(struct host *host)
{
    struct ibv_srq_attr attr = { .srq_limit = 1 + below(20) };

    if (host->limited)
        return;
    say("host %d: limit %u", host->ends[0].host, attr.srq_limit);
    host->limited = true; /* its event may come within the call */
    CHECK(!srd_modify_srq(host->srq, &attr, IBV_SRQ_LIMIT), "a limit is refused");
}

static void do_one(struct host *host, struct end *end)
{
    if (chance(sim.set.ends) && end->begun && !end->ended) {
        end_connection(end, sim.set.second_thread ? below(2) : below(3));
        return;
    }
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: post_requests(end); break;
    case 5:
    case 6:
    case 7:
        if (!sim.set.starves || !below(10))
            post_receive(host, end);
        break;
    case 8:
        if (sim.set.moderates && !below(3))
            moderate(host);
        if (sim.set.wants_events && !sim.set.second_thread)
            wait_for_event(host);
        break;
    case 9:
        if (host->srq && below(2))
            set_limit(host);
        else
            srd_progress_leave(host->cq[below(host->n_cqs)]);
        break;
    default: poll_queue(host, below(host->n_cqs)); break;
    }
}

static struct end *some_end(struct host *host)
{
    struct end *end = &host->ends[below(sim.set.links)];

    return end->gone ? NULL : end;
}

static void maybe_attach(struct host *host)
{
    for (unsigned link = 0; link < sim.set.links; link++) {
        struct end *end = &host->ends[link];

        if (end->begun || (!end->host && !peer_of(end)->attached) || below(3) || sim.cut[link])
            continue;
        attach(end);
    }
}

static void one_call(struct host *host)
{
    struct end *end = some_end(host);

    maybe_attach(host);
    if (end)
        do_one(host, end);
}

/* Each connection that ends may have taken one besides. */
static unsigned sends_to(struct host *host)
{
    unsigned count = sim.set.links;

    for (unsigned link = 0; link < sim.set.links; link++)
        count += peer_of(&host->ends[link])->sends;
    return count;
}

static bool lacks_receives(struct host *host, struct end *end)
{
    if (host->srq)
        return host->srq_posted < sends_to(host);
    return end->receives_posted < peer_of(end)->sends;
}

/* The program wants all that was posted to come to an end. */
static void one_call_of_many(struct host *host)
{
    for (unsigned link = 0; link < sim.set.links; link++) {
        struct end *end = &host->ends[link];

        if (!end->begun && (end->host || peer_of(end)->attached))
            attach(end);
        if (end->gone || end->failed || end->receive_failed)
            continue;
        for (int i = 0; i < AT_ONCE && lacks_receives(host, end) && post_receive(host, end); i++)
            ;
    }
    poll_all(host);
    fetch_events(host);
}

static void border(struct thread *thread)
{
    thread->inside = false;
    thread_yield();
}

void program_main(struct thread *thread)
{
    struct host *host = &sim.hosts[thread->host];

    while (sim.part == PART_MAIN && host->calls_left) {
        host->calls_left--;
        one_call(host);
        border(thread);
    }
    while (sim.part != PART_OVER) {
        if (sim.part == PART_DRAIN)
            one_call_of_many(host);
        border(thread);
    }
}

void program_second(struct thread *thread)
{
    struct host *host = &sim.hosts[thread->host];

    while (sim.part == PART_MAIN && host->calls_left) {
        struct end *end = some_end(host);

        host->calls_left--;
        if (end)
            do_one(host, end);
        border(thread);
    }
}
