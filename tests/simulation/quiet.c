/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - what must have come of all requests when nothing moves any more: while the programs rest, when they have
 * done all they can, and when the connections have ended.
 */
#include "simulation.h"

#include "softrdma/connection/transport.h"
#include "softrdma/stream/internal.h"

static struct srd_qp *qp_of(struct end *end)
{
    return srd_qp_from(end->qp);
}

static bool is_up(struct end *end)
{
    return end->attached && !end->gone && srd_phase(&qp_of(end)->stream) == SRD_STREAM_UP;
}

/* The peer can hold no more, so an acknowledgement waits behind the data (share_quiet, the socket's buffers). */
static bool is_full(struct end *end)
{
    if (end->conn->transport == &srd_transport_shared)
        return atomic_load(&end->conn->tx_blocked);
    return sim.set.send_buffer - buffered(&sim.ways[end->link][end->host].out) <
           sim.set.send_buffer / 3;
}

static void check_owed(struct end *end)
{
    struct end *peer = peer_of(end);

    if (!is_up(end) || sim.cut[end->link] || end->killed || peer->killed || is_full(end) ||
        !peer->socket.open)
        return;
    CHECK(!srd_stream_may_ack(qp_of(end)),
        "host %d link %d owes an acknowledgement for ever: %llu messages, %llu acknowledged",
        end->host, end->link, (unsigned long long)atomic_load(&qp_of(end)->stream.rx_complete),
        (unsigned long long)atomic_load(&qp_of(end)->stream.acked_sent));
}

/* A responder sends nothing before the initiator has. */
static bool is_held(struct end *end)
{
    return end->host && !sim.set.speaks_first && !peer_of(end)->monitor.fpdus;
}

/* Requests up to the first Send without a Receive have to be complete, whatever the programs do. */
static unsigned due(struct end *end)
{
    struct host *peer = &sim.hosts[!end->host];
    unsigned receives = peer->srq ? (sim.set.links == 1 ? peer->srq_posted : 0)
                                  : peer_of(end)->receives_posted,
             count = 0;

    if (is_held(end))
        return 0;
    for (unsigned i = 0; i < end->posted; i++) {
        const struct request *request = &end->requests[i];

        if (request->refused)
            continue;
        if (request->kind == KIND_SEND && request->message >= receives)
            break;
        count++;
    }
    return count;
}

/* A thread sleeps for an event: there is nothing it would have had to be woken for. */
static void check_sleep(struct end *end)
{
    struct host *host = &sim.hosts[end->host];
    struct srd_rq *rq = &qp_of(end)->own_rq;
    unsigned retired = atomic_load(&qp_of(end)->sq.tail), accepted = 0;

    if (!host_sleeps(end->host) || host->solicited_only)
        return;
    for (unsigned i = 0; i < end->posted && accepted < retired; i++) {
        if (end->requests[i].refused)
            continue;
        accepted++;
        CHECK(i < end->completed || !end->requests[i].signaled,
            "host %d sleeps, though request %u is complete", end->host, i);
    }
    CHECK(host->srq || rq->tail - qp_of(end)->stream.rx.receiving <= end->receives_done,
        "host %d sleeps, though a Receive is complete", end->host);
}

void model_quiet(void)
{
    for (int i = 0; i < HOSTS; i++)
        for (unsigned link = 0; link < sim.set.links; link++) {
            struct end *end = &sim.hosts[i].ends[link], *peer = peer_of(end);
            bool full;

            share_quiet(end);
            check_owed(end);
            if (causes_of(end) || !is_up(end) || !is_up(peer))
                continue;
            full = qp_of(end)->stream.rx.hold_full || qp_of(peer)->stream.rx.hold_full;
            CHECK(full || atomic_load(&qp_of(end)->sq.tail) >= due(end),
                "host %d link %d: %u requests are complete, %u could be", i, (int)link,
                atomic_load(&qp_of(end)->sq.tail), due(end));
            check_sleep(end);
        }
}

static void check_all_complete(struct end *end)
{
    unsigned count = 0;

    for (unsigned i = 0; i < end->posted; i++)
        count += !end->requests[i].refused && !end->requests[i].complete &&
                 (end->requests[i].signaled || end->failed);
    CHECK(!count, "host %d link %d: %u requests never complete", end->host, end->link, count);
    if (end->failed || end->receive_failed) {
        CHECK(sim.hosts[end->host].srq || end->receives_done == end->receives_posted,
            "host %d link %d: %u Receives of %u never complete", end->host, end->link,
            end->receives_posted - end->receives_done, end->receives_posted);
        return;
    }
    CHECK(end->gone || atomic_load(&qp_of(end)->sq.tail) == atomic_load(&qp_of(end)->sq.head),
        "host %d link %d: silent requests never complete", end->host, end->link);
}

/* One fault and nothing else: it has just the consequences that it must have. */
static void check_sole_fault(struct end *end)
{
    unsigned culprit = 0;
    const struct request *request;

    while (culprit < end->posted && !error_of(&end->requests[culprit]))
        culprit++;
    request = &end->requests[culprit];
    if (culprit == end->posted) /* a Receive's */
        return;
    CHECK(request->status == error_of(request), "host %d link %d: request %u fails with %d, not %d",
        end->host, end->link, culprit, request->status, error_of(request));
    while (culprit--)
        CHECK(end->requests[culprit].refused || end->requests[culprit].status == IBV_WC_SUCCESS,
            "host %d link %d: request %u, in front of the one at fault, fails with %d", end->host,
            end->link, culprit, end->requests[culprit].status);
}

static void drained_link(unsigned link)
{
    struct end *a = &sim.hosts[0].ends[link], *b = &sim.hosts[1].ends[link];
    bool up = is_up(a) && is_up(b);

    CHECK(up || causes_of(a), "link %d is down for no cause", (int)link);
    for (int i = 0; i < HOSTS; i++) {
        struct end *end = &sim.hosts[i].ends[link];

        if (up ? !is_held(end) : end->attached && !end->gone)
            check_all_complete(end);
        if (up || !end->attached)
            continue;
        CHECK(!is_up(end), "host %d link %d: the other end is down, and this does not know", i,
            (int)link);
        CHECK(!end->socket.open, "host %d link %d: the socket stays open", i, (int)link);
        CHECK(
            end->gone || end->downs == 1, "host %d link %d: its end is not reported", i, (int)link);
        if (only_cause(end) && end->failed && sim.set.soft && !sim.slow &&
            end->causes & (CAUSE_BAD_REQUEST | CAUSE_LOCAL))
            check_sole_fault(end);
    }
    if (up && !is_held(b))
        CHECK(a->delivered == b->sends && b->delivered == a->sends,
            "link %d: %u and %u messages are delivered, of %u and %u", (int)link, b->delivered,
            a->delivered, a->sends, b->sends);
}

static void check_limit(struct host *host)
{
    const struct srd_srq *srq = (const struct srd_srq *)host->srq;

    CHECK(!srq || host->limited == (srq->limit != 0), "host %d: a limit %s", host->ends[0].host,
        host->limited ? "was reached without an event" : "stays armed");
}

void model_drained(void)
{
    for (int i = 0; i < HOSTS; i++)
        check_limit(&sim.hosts[i]);
    for (unsigned link = 0; link < sim.set.links; link++)
        drained_link(link);
}

/* A Send that an acknowledgement completed was delivered. */
static void check_delivered(struct end *end)
{
    unsigned count = 0;

    if (!sim.set.soft || peer_of(end)->gone)
        return;
    for (unsigned i = 0; i < end->posted; i++)
        count += end->requests[i].kind == KIND_SEND && !end->requests[i].refused &&
                 end->requests[i].complete && end->requests[i].status == IBV_WC_SUCCESS;
    CHECK(count <= peer_of(end)->delivered,
        "host %d link %d: %u Sends are complete, %u were delivered", end->host, end->link, count,
        peer_of(end)->delivered);
}

static void check_guards(const struct host *host)
{
    for (unsigned i = 0; i < host->n_places; i++) {
        const uint8_t *at = host->places[i].at + host->places[i].octets;

        for (int n = 0; n < GUARD_OCTETS; n++)
            CHECK(at[n] == UNTOUCHED, "host %d: octets behind a place of %u octets",
                host->ends[0].host, host->places[i].octets);
    }
}

void model_over(void)
{
    for (int i = 0; i < HOSTS; i++) {
        check_guards(&sim.hosts[i]);
        for (unsigned link = 0; link < sim.set.links; link++) {
            struct end *end = &sim.hosts[i].ends[link];

            CHECK(!end->attached || (!is_up(end) && !end->socket.open),
                "host %d link %d does not end", i, (int)link);
            if (end->attached && !end->gone)
                check_all_complete(end);
            check_delivered(end);
        }
    }
}
