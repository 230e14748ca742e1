/* SPDX-License-Identifier: MIT */
/*
 * program.c - the programs at the two ends: what they post, fetch and end next, drawn at random. What they post is
 * written down for the model before it is posted.
 */
#include "draw.h"

#include "softrdma/queues/cq.h"

#include <errno.h>
#include <string.h>

enum { OF_RECEIVE = 1 << 16, OF_SHARED = 1 << 17 }; /* in a wr_id */
enum { AT_ONCE = 8 };

/* --- requests -------------------------------------------------------------------------------------- */

static void post_requests(struct end *end)
{
    unsigned most = sim.set.second_thread ? 1 : 1 + (below(3) ? 0 : below(3)), count = 0, plain;
    struct draft drafts[3];
    struct ibv_send_wr *bad = NULL;
    int error;

    while (count < most && draw_request(end, &drafts[count])) {
        draft_will_be_posted(end, &drafts[count]);
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
        draft_was_refused(end, &drafts[i]);
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
    wr.num_sge = split_place(sge, (uintptr_t)receive->place, receive->octets,
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

        if (end->begun || (!end->host && !sim.set.shared[link] && !peer_of(end)->attached) ||
            below(3) || sim.cut[link])
            continue;
        meet(end);
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

        meet(end);
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
