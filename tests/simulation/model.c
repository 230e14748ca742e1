/* SPDX-License-Identifier: MIT */
/*
 * model.c - what may come of each request, as it is posted and as it completes. A request fails only for a cause that
 * the schedule has noted; where it has noted a single one, the very request that is at fault fails with its own status,
 * all in front of it succeed, and all behind it are flushed.
 */
#include "simulation.h"

#include <string.h>

void note_cause(struct end *end, enum cause cause)
{
    end->causes |= cause;
    end->n_causes++;
}

unsigned causes_of(struct end *end)
{
    return end->causes | peer_of(end)->causes;
}

bool only_cause(struct end *end)
{
    return end->n_causes == 1 && !peer_of(end)->n_causes;
}

/* How long Receives have been missing: 250 ms, counted in whole ms of the clock, may end the connection. */
void note_time(void)
{
    for (int i = 0; i < HOSTS; i++)
        for (unsigned link = 0; link < sim.set.links; link++) {
            struct end *end = &sim.hosts[i].ends[link], *peer = peer_of(end);
            bool shared = sim.set.srq[peer->host];
            uint64_t since = shared ? sim.begun_ns : peer->ready_ns;

            if ((shared ? end->sends > 0 : end->sends > peer->receives_posted) &&
                sim.now_ns - since >= 249000000u && !(end->causes & CAUSE_NOT_READY))
                note_cause(end, CAUSE_NOT_READY);
        }
}

/* --- posts ---------------------------------------------------------------------------------------- */

/*
 * Requests of end's that go through the window and have not succeeded (what is flushed may still be on its way), or
 * that a foreign peer may not have yet: the window may be gone before their turn.
 */
static void may_come_too_late(struct end *end, struct window *window, const struct request *but)
{
    for (unsigned i = 0; i < end->posted; i++) {
        struct request *request = &end->requests[i];

        if (request->window != window || request->generation != window->generation ||
            request == but || request->maybe ||
            (sim.set.soft && request->complete && request->status == IBV_WC_SUCCESS))
            continue;
        request->maybe = true;
        note_cause(end, CAUSE_MAYBE);
    }
}

/* Requests of the owner's whose own octets are there. Its Sends and Writes are built before its Invalidate's turn. */
static void may_go_meanwhile(struct end *end, struct window *window, bool by_peer, bool fenced)
{
    for (unsigned i = end->completed; i < end->posted; i++) {
        struct request *request = &end->requests[i];

        if (request->here != window || request->maybe_here ||
            (!by_peer && (request->kind != KIND_READ || fenced)))
            continue;
        request->maybe_here = true;
        note_cause(end, CAUSE_MAYBE);
        note_cause(end, CAUSE_LOCAL);
    }
}

bool is_being_revoked(struct end *end)
{
    struct end *peer = peer_of(end);

    for (unsigned i = 0; i < peer->posted; i++) {
        const struct request *request = &peer->requests[i];

        if (request->kind == KIND_SEND && request->window && !request->refused &&
            request->message >= end->delivered)
            return true;
    }
    return false;
}

void model_posts(struct end *end, struct request *request)
{
    struct window *window = request->window;

    if (request->remote_error)
        note_cause(end, CAUSE_BAD_REQUEST);
    if (request->local_error)
        note_cause(end, CAUSE_LOCAL);
    switch (request->kind) {
    case KIND_BIND:
        request->invalidates = window->key;
        if (!request->local_error && !window->fast)
            window->key = ibv_inc_rkey(window->key);
        window->pending = true;
        break;
    case KIND_INVALIDATE:
        if (window->revoking || !(window->bound || window->pending)) {
            request->maybe = true; /* the other one comes first, or this */
            note_cause(end, CAUSE_MAYBE);
            note_cause(end, CAUSE_LOCAL);
        }
        window->revoking = true;
        window->invalidating++;
        may_come_too_late(peer_of(end), window, NULL);
        may_go_meanwhile(end, window, false, request->fenced);
        break;
    case KIND_SEND:
        if (!window)
            break;
        window->revoking = true;
        may_come_too_late(end, window, request);
        may_go_meanwhile(peer_of(end), window, true, false);
        break;
    default: break;
    }
}

void model_unposts(struct end *end, struct request *request)
{
    struct window *window = request->window;

    if (request->remote_error || request->local_error)
        end->n_causes--; /* its bit stays: that only allows more */
    if (request->kind == KIND_BIND) {
        window->key = request->invalidates;
        window->pending = false;
    } else if (window && (request->kind == KIND_INVALIDATE || request->kind == KIND_SEND)) {
        if (request->kind == KIND_INVALIDATE)
            window->invalidating--;
        /* Another thread, or the other end, may have posted one like it meanwhile. */
        window->revoking = window->invalidating ||
                           is_being_revoked(request->kind == KIND_SEND ? peer_of(end) : end);
    }
}

/* --- completions ---------------------------------------------------------------------------------- */

/* Whether its octets are where they go; a request without a place has them nowhere. */
static bool is_placed(const struct request *request)
{
    const uint8_t *from = pattern + request->pattern;

    if (!request->into)
        return !request->place || !memcmp(request->place, from, request->octets);
    for (uint32_t at = 0, here; at < request->octets; at += here) {
        const uint8_t *octets;

        here = request->octets - at;
        octets = window_at(request->into, request->into_at + at, &here);
        if (memcmp(octets, from + at, here))
            return false;
    }
    return true;
}

static void succeeded(struct end *end, struct request *request, unsigned count)
{
    bool refusable = sim.set.soft || request->kind == KIND_READ || request->local_error;

    CHECK(!end->failed, "host %d link %d: request %u succeeds behind one that failed", end->host,
        end->link, count);
    CHECK(!request->local_error && !(request->remote_error && refusable),
        "host %d link %d: request %u succeeds, and must not", end->host, end->link, count);
    request->complete = true;
    request->status = IBV_WC_SUCCESS;
    end->retired++;
    switch (request->kind) {
    case KIND_WRITE:
        CHECK(!sim.set.soft || is_placed(request),
            "host %d link %d: Write %u is complete and not placed", end->host, end->link, count);
        break;
    case KIND_READ:
        CHECK(is_placed(request), "host %d link %d: Read %u brings other octets", end->host,
            end->link, count);
        break;
    case KIND_BIND:
        request->window->pending = false;
        request->window->bound = true;
        request->window->generation = request->generation;
        break;
    case KIND_INVALIDATE:
        request->window->bound = false;
        if (!--request->window->invalidating)
            request->window->revoking = false;
        break;
    default: break;
    }
}

enum ibv_wc_status error_of(const struct request *request)
{
    if (request->refused)
        return IBV_WC_SUCCESS;
    return request->local_error ? request->local_error : request->remote_error;
}

static bool may_fail_so(struct end *end, const struct request *request, enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_WR_FLUSH_ERR: return true;
    case IBV_WC_REM_OP_ERR: return peer_of(end)->causes & CAUSE_LOCAL;
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return request->kind == KIND_SEND && end->causes & CAUSE_NOT_READY;
    default: break;
    }
    if (request->maybe_here && status == IBV_WC_LOC_PROT_ERR)
        return true;
    if (request->maybe && status != error_of(request))
        return status == (request->kind == KIND_SEND            ? IBV_WC_REM_INV_REQ_ERR
                             : request->kind == KIND_INVALIDATE ? IBV_WC_LOC_PROT_ERR
                                                                : IBV_WC_REM_ACCESS_ERR);
    return status == error_of(request);
}

/*
 * What failed here keeps its status behind what was flushed. A foreign peer need not answer the Reads in front of a
 * request that it refuses: these are flushed. Nor can softrdma answer one whose source has gone meanwhile.
 */
static void failed(
    struct end *end, struct request *request, const struct ibv_wc *wc, unsigned count)
{
    CHECK(causes_of(end), "host %d link %d: request %u fails with %d for no cause", end->host,
        end->link, count, wc->status);
    if (!end->failed)
        CHECK(may_fail_so(end, request, wc->status), "host %d link %d: request %u fails with %d",
            end->host, end->link, count, wc->status);
    else
        CHECK(wc->status == IBV_WC_WR_FLUSH_ERR ||
                  (may_fail_so(end, request, wc->status) &&
                      (!sim.set.soft || request->local_error || request->maybe_here ||
                          end->read_gone || request->kind == KIND_INVALIDATE)),
            "host %d link %d: request %u fails with %d behind one that failed", end->host,
            end->link, count, wc->status);
    end->failed = true;
    if (request->kind == KIND_READ && request->maybe && wc->status == IBV_WC_WR_FLUSH_ERR)
        end->read_gone = true;
    request->complete = true;
    request->status = wc->status;
    end->retired++;
    if (only_cause(end) && request->remote_error && sim.set.soft &&
        wc->status == request->remote_error)
        CHECK(wc->vendor_err == request->vendor_err, "request %u: Terminate %#x, not %#x", count,
            wc->vendor_err, request->vendor_err);
}

static void sees_request(struct end *end, const struct ibv_wc *wc)
{
    static const enum ibv_wc_opcode opcodes[] = { IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ,
        IBV_WC_BIND_MW, IBV_WC_LOCAL_INV };
    enum ibv_wc_opcode opcode;
    unsigned count = wc->wr_id & 0xffff;
    struct request *request = &end->requests[count];

    say("host %d link %d: request %u: status %d", end->host, end->link, count, wc->status);
    CHECK(count < end->posted && !request->refused, "a completion of what was not posted");
    CHECK(count >= end->completed && !request->complete,
        "host %d link %d: request %u completes again, or behind a later one", end->host, end->link,
        count);
    opcode = request->kind == KIND_BIND && request->window->fast
                 ? (enum ibv_wc_opcode)SRD_WC_FAST_REG
                 : opcodes[request->kind];
    CHECK(wc->opcode == opcode, "request %u: opcode %d", count, wc->opcode);
    for (unsigned i = end->completed; i < count; i++) {
        if (end->requests[i].refused)
            continue;
        CHECK(!end->requests[i].signaled && !end->failed,
            "host %d link %d: request %u completes, %u has not", end->host, end->link, count, i);
        succeeded(end, &end->requests[i], i);
    }
    end->completed = count + 1;
    if (wc->status != IBV_WC_SUCCESS) {
        failed(end, request, wc, count);
        return;
    }
    CHECK(request->signaled, "host %d link %d: silent request %u is told", end->host, end->link,
        count);
    CHECK(request->kind >= KIND_BIND || wc->byte_len == request->octets, "request %u: %u octets",
        count, wc->byte_len);
    succeeded(end, request, count);
}

static struct request *message_to(struct end *end, unsigned count)
{
    struct end *peer = peer_of(end);

    CHECK(count < peer->sends, "host %d link %d receives what was not sent", end->host, end->link);
    return &peer->requests[peer->message[count]];
}

static void received(struct end *end, struct receive *receive, const struct ibv_wc *wc)
{
    const struct request *message = message_to(end, end->delivered);
    bool with_inv = wc->wc_flags & IBV_WC_WITH_INV, solicited = wc->wc_flags & SRD_WC_SOLICITED;

    CHECK(!end->receive_failed, "host %d link %d receives behind a failed Receive", end->host,
        end->link);
    CHECK(!message->local_error && (!message->remote_error || message->maybe),
        "host %d link %d receives what must not arrive", end->host, end->link);
    CHECK(!receive->bad || !message->octets, "host %d link %d: a Receive without a key succeeds",
        end->host, end->link);
    CHECK(wc->byte_len == message->octets, "host %d link %d: message %u has %u octets, not %u",
        end->host, end->link, end->delivered, wc->byte_len, message->octets);
    CHECK(!memcmp(receive->place, pattern + message->pattern, message->octets),
        "host %d link %d: message %u has other octets", end->host, end->link, end->delivered);
    for (uint32_t i = message->octets; i < receive->octets && i < message->octets + 16; i++)
        CHECK(receive->place[i] == UNTOUCHED, "host %d link %d: octets behind message %u",
            end->host, end->link, end->delivered);
    CHECK(with_inv == message->has_invalidate &&
              (!with_inv || wc->invalidated_rkey == message->invalidates),
        "host %d link %d: message %u invalidates otherwise", end->host, end->link, end->delivered);
    CHECK(solicited == message->solicited, "host %d link %d: message %u, solicited or not",
        end->host, end->link, end->delivered);
    if (with_inv)
        end->window.bound = end->window.revoking = false;
    end->delivered++;
}

static void receive_failed(struct end *end, const struct receive *receive, const struct ibv_wc *wc)
{
    const struct request *message;

    CHECK(causes_of(end), "host %d link %d: a Receive fails with %d for no cause", end->host,
        end->link, wc->status);
    if (wc->status != IBV_WC_WR_FLUSH_ERR) {
        CHECK(!end->receive_failed, "host %d link %d: two Receives fail by themselves", end->host,
            end->link);
        message = message_to(end, end->delivered);
        CHECK((wc->status == IBV_WC_LOC_PROT_ERR && receive->bad) ||
                  (wc->status == IBV_WC_LOC_LEN_ERR && message->vendor_err == 0x1205) ||
                  (wc->status == IBV_WC_REM_INV_REQ_ERR &&
                      (message->vendor_err == 0x0209 || message->maybe)),
            "host %d link %d: a Receive fails with %d", end->host, end->link, wc->status);
    }
    end->receive_failed = true;
}

static void sees_receive(struct host *host, struct end *end, const struct ibv_wc *wc)
{
    unsigned count = wc->wr_id & 0xffff;
    bool shared = host->srq;
    struct receive *receive = shared ? &host->srq_receives[count] : &end->receives[count];

    say("host %d link %d: Receive %u: status %d", end->host, end->link, count, wc->status);
    CHECK(count < (shared ? host->srq_posted : end->receives_posted) && !receive->complete,
        "host %d link %d: Receive %u completes again", end->host, end->link, count);
    CHECK(shared && sim.set.links > 1 ? count >= end->receives_done : count == end->receives_done,
        "host %d link %d: Receive %u completes, %u is due", end->host, end->link, count,
        end->receives_done);
    CHECK(wc->opcode == IBV_WC_RECV, "a Receive with opcode %d", wc->opcode);
    end->receives_done = count + 1;
    receive->complete = true;
    receive->status = wc->status;
    if (wc->status == IBV_WC_SUCCESS)
        received(end, receive, wc);
    else
        receive_failed(end, receive, wc);
}

void model_sees(struct host *host, const struct ibv_wc *wc, bool of_receives)
{
    for (unsigned link = 0; link < sim.set.links; link++) {
        struct end *end = &host->ends[link];

        if (end->qp_num != wc->qp_num)
            continue;
        if (of_receives)
            sees_receive(host, end, wc);
        else
            sees_request(end, wc);
        return;
    }
    fail("a completion of no queue pair");
}

void model_sees_event(struct end *end, enum ibv_event_type type)
{
    CHECK(causes_of(end), "host %d link %d: event %d for no cause", end->host, end->link, type);
    if (!end->events++)
        end->event = type;
}

void model_sees_limit(struct host *host)
{
    CHECK(host->limited, "host %d: the event of a limit that is not armed", host->ends[0].host);
    host->limited = false;
}
