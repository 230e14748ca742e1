/* SPDX-License-Identifier: MIT */
/* draw.c - the next request of a program, drawn at random, with what the model has to know of it. */
#include "draw.h"

#include <string.h>

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

int split_place(struct ibv_sge sge[SGES], uint64_t place, uint32_t octets, uint32_t lkey)
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
    draft->wr.num_sge = split_place(draft->sge, (uintptr_t)place, draft->request->octets, lkey);
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
            split_place(draft->sge, window->base + request->pattern, request->octets, window->key);
        return;
    }
    request->pattern = some_pattern(request->octets);
    has_data(draft, pattern + request->pattern, sim.hosts[end->host].pattern->lkey);
    if (request->octets <= INLINE_OCTETS && !below(4))
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
            split_place(draft->sge, window->base + request->into_at, request->octets, window->key);
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

    /* The key that a window was made with is good for the first Bind. */
    switch (below(key == wr->bind_mw.mw->rkey ? 5 : 6)) {
    case 0: info->length = 0; break;
    case 1: info->mr = host->other; break;
    case 2: info->mr = host->write_only; break; /* no window may be bound on it */
    case 3: info->addr += MEMORY_OCTETS; break;
    case 4: info->mw_access_flags |= IBV_ACCESS_ON_DEMAND; break;
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

bool draw_request(struct end *end, struct draft *draft)
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

void draft_will_be_posted(struct end *end, struct draft *draft)
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

void draft_was_refused(struct end *end, struct draft *draft)
{
    struct request *request = draft->request;

    say("host %d link %d: %d was refused", end->host, end->link, (int)(request - end->requests));
    request->refused = true;
    end->accepted--;
    if (request->kind == KIND_SEND)
        end->sends--;
    model_unposts(end, request);
}
