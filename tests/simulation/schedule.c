/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - one schedule. First everything happens in an order drawn at random; then the programs post what is
 * missing and poll until nothing moves; then the connections end, and nothing may be left.
 */
#include "simulation.h"

#include "reactor/reactor.h"

#include <string.h>

enum { STEPS = 4000, TRIES = 32, IDLE = 60, ROUNDS = 60000, MS = 1000000 };

static uint32_t one_of(const uint32_t *values, uint32_t count)
{
    return values[below(count)];
}
#define ONE_OF(...)                                                                                \
    one_of((const uint32_t[]){ __VA_ARGS__ },                                                      \
        sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* --- what it is like ---------------------------------------------------------------------------- */

static void draw_ends(struct settings *set)
{
    for (int host = 0; host < HOSTS; host++) {
        set->reads[host] = (uint16_t)ONE_OF(1, 1, 2, 4, 16);
        set->fpdu_octets[host] = ONE_OF(136, 256, 1460, 1460, 65536, 65536);
        set->srq[host] = !below(4);
        set->fast[host] = below(2);
        set->rnr_retries[host] = set->srq[host] && below(2) ? 7 : 0;
    }
    for (int host = 0; host < HOSTS; host++) {
        set->issues[host] = (uint16_t)ONE_OF(1, 2, 4, 16);
        if (set->issues[host] > set->reads[!host])
            set->issues[host] = set->reads[!host];
        if (!below(40))
            set->issues[host] = 0;
    }
}

static void draw_faults(struct settings *set)
{
    switch (below(6)) {
    case 0:
    case 1: break;
    case 2: set->bad = 12; break;
    case 3: set->bad = 60; break;
    case 4: set->cuts = 10; break;
    default: set->ends = 20; break;
    }
    if (!below(12)) {
        set->bad = 30;
        set->cuts = 4;
        set->ends = 10;
    }
    set->long_times = !below(8);
    set->partial = ONE_OF(0, 0, 100, 500);
    set->interrupts = ONE_OF(0, 0, 0, 30);
}

/* A window, or a fast region, goes while octets of it are under way. */
static void draw_long_accesses(struct settings *set)
{
    set->crc = false;
    set->rdma_octets = ONE_OF(1100, 5000, 10000, 10000);
    set->message_octets = ONE_OF(64, 5000, 9000);
    set->change = ONE_OF(60, 250);
    set->partial = ONE_OF(0, 300, 500);
    set->fast[0] = set->fast[1] = below(4);
}

/* More arrives without a Receive than is kept. */
static void draw_starving(struct settings *set)
{
    set->starves = true;
    set->message_octets = ONE_OF(9000, 66000);
    set->depth = 40;
    set->send_buffer = set->receive_buffer = BUFFER_OCTETS;
}

static void draw_shared(struct settings *set)
{
    bool any = false;

    for (unsigned link = 0; link < set->links; link++)
        any |= set->shared[link] = below(3);
    if (!any)
        return;
    sim.shared++;
    set->steps = ONE_OF(0, 10, 50, 200, 400);
    set->spurious = ONE_OF(0, 0, 100);
    set->bell_octets = ONE_OF(1, 2, 200);
    set->kills = below(5) ? 0 : 30;
    if (!set->second_thread && below(2))
        set->wants_events = true;
    if (below(3))
        return;
    set->message_octets = ONE_OF(1000, 3000, 9000); /* the ring is full */
    set->rdma_octets = ONE_OF(300, 3000, 10000);
}

static void draw_settings(struct settings *set)
{
    memset(set, 0, sizeof(*set));
    set->links = 1 + !below(5);
    set->soft = below(10) < 7;
    set->crc = !below(3);
    set->windows = !below(3);
    set->second_thread = !below(4);
    set->wants_events = !set->second_thread && below(2);
    set->moderates = set->wants_events && !below(3);
    set->rtr = (uint8_t)ONE_OF(SRD_MPA_RTR_WRITE, SRD_MPA_RTR_WRITE, SRD_MPA_RTR_WRITE,
        SRD_MPA_RTR_READ, SRD_MPA_RTR_NONE);
    set->speaks_first = set->rtr == SRD_MPA_RTR_NONE && below(2);
    draw_ends(set);
    set->message_octets = ONE_OF(0, 1, 7, 64, 64, 200, 256, 1000, 1024, 1025, 5000, 9000, 66000);
    set->rdma_octets = ONE_OF(1, 8, 64, 300, 1024, 1100, 5000, 10000, 70000);
    set->send_buffer = ONE_OF(200, 1000, 5000, 40000, 200000, BUFFER_OCTETS);
    set->receive_buffer = ONE_OF(200, 1000, 5000, 40000, 200000, BUFFER_OCTETS);
    set->depth = ONE_OF(1, 2, 8, 16, 40);
    set->receive_depth = ONE_OF(1, 4, 20, 60, 60);
    if (set->second_thread)
        set->receive_depth = RECEIVES;
    set->sig_all = !below(4);
    set->change = ONE_OF(0, 0, 10, 60, 250);
    set->weight_program = ONE_OF(2, 6, 12);
    set->weight_background = ONE_OF(0, 1, 4, 10);
    set->weight_network = ONE_OF(2, 6, 10);
    set->weight_time = ONE_OF(0, 1, 3);
    draw_faults(set);
    if (set->windows && !below(3))
        draw_long_accesses(set);
    if (!below(16))
        draw_starving(set);
    if (set->soft)
        draw_shared(set);
}

/* --- steps -------------------------------------------------------------------------------------- */

static void time_passes(uint64_t ns)
{
    sim.now_ns += ns;
    say("%llu.%03llu ms", (unsigned long long)((sim.now_ns - sim.begun_ns) / MS),
        (unsigned long long)(sim.now_ns - sim.begun_ns) % MS / 1000);
    note_time();
}

static void background(struct thread *thread)
{
    while (sim.part != PART_OVER) {
        if (!host_sleeps(thread->host))
            reactor_turns(thread->host, true);
        thread->inside = false;
        thread_yield();
    }
}

/* Whether it would do anything. */
static bool may_run(struct thread *thread)
{
    if (thread->state == THREAD_SLEEPS)
        return thread->signalled || thread->sent_home || reactor_has_work(thread->host);
    if (thread->state != THREAD_READY)
        return false;
    if (thread->inside)
        return !thread->put_off || !thread->put_off--;
    if (thread->background)
        return !host_sleeps(thread->host) && reactor_has_work(thread->host);
    return sim.part != PART_MAIN || sim.hosts[thread->host].calls_left;
}

static bool step_thread(uint32_t which)
{
    struct thread *thread = &sim.threads[below(HOSTS) * (THREADS / HOSTS) + which];

    if (sim.hosts[thread->host].stopped || !may_run(thread))
        return false;
    thread_run(thread);
    return true;
}

static struct end *some_end(void)
{
    return &sim.hosts[below(HOSTS)].ends[below(sim.set.links)];
}

static bool step_network(void)
{
    struct end *end = some_end();

    if (sim.set.shared[end->link] && below(2))
        return bell_moves(end, below(2));
    if (sim.cut[end->link])
        return network_tells(end);
    return network_moves(end, below(2) ? UINT32_MAX : 1 + below(below(2) ? 40 : 3000));
}

static void step_time(void)
{
    if (!sim.set.long_times || below(10)) {
        time_passes(below(2 * MS));
        return;
    }
    time_passes((uint64_t)MS * below(below(4) ? 300 : 2500));
    sim.slow = true;
}

enum step { STEP_NONE, STEP_TIME, STEP_DONE };

static enum step try_step(void)
{
    const struct settings *set = &sim.set;
    uint32_t weights = set->weight_program + set->weight_background + set->weight_network +
                       set->weight_time,
             at = below(weights);

    if (at < set->weight_program)
        return step_thread(set->second_thread ? below(2) : 0) ? STEP_DONE : STEP_NONE;
    if ((at -= set->weight_program) < set->weight_background)
        return step_thread(2) ? STEP_DONE : STEP_NONE;
    if (at - set->weight_background < set->weight_network)
        return step_network() ? STEP_DONE : STEP_NONE;
    step_time();
    return STEP_TIME;
}

/* Returns whether anything but time moved. */
static bool one_step(void)
{
    const struct settings *set = &sim.set;

    if (set->cuts && below(10000) < set->cuts)
        network_cuts((int)below(set->links));
    if (set->kills && below(10000) < set->kills)
        network_kills((int)below(HOSTS));
    if (!below(100)) {
        struct host *host = &sim.hosts[below(HOSTS)];

        host->stopped = !host->stopped;
    }
    for (int i = 0; i < TRIES; i++) {
        enum step step = try_step();

        if (step)
            return step == STEP_DONE;
    }
    sim.hosts[below(HOSTS)].stopped = false; /* else only time is left */
    time_passes(below(2 * MS));
    return false;
}

/* --- parts -------------------------------------------------------------------------------------- */

static bool a_thread_is_inside(void)
{
    for (int i = 0; i < THREADS; i++)
        if (sim.threads[i].inside &&
            (sim.threads[i].state == THREAD_READY || sim.threads[i].state == THREAD_BLOCKS))
            return true;
    return false;
}

static void run_all(bool programs)
{
    uint32_t first = below(THREADS);

    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *thread = &sim.threads[(i + first) % THREADS];

        if (programs && thread->state == THREAD_SLEEPS)
            thread->sent_home = true;
        if ((programs || thread->background || thread->inside) && may_run(thread))
            thread_run(thread);
    }
    for (int host = 0; host < HOSTS; host++)
        for (unsigned link = 0; link < sim.set.links; link++) {
            struct end *end = &sim.hosts[host].ends[link];

            bell_moves(end, true);
            if (sim.cut[link])
                network_tells(end);
            while (network_moves(end, UINT32_MAX))
                ;
        }
}

/* Until nothing moves for so many ms; jumps: then to the next deadlines, too. */
static void rest(bool programs, unsigned idle_ms, unsigned jumps)
{
    unsigned idle = 0;

    sim.resting = true;
    for (int i = 0; i < HOSTS; i++)
        sim.hosts[i].stopped = false;
    for (unsigned round = 0; idle < idle_ms + jumps; round++) {
        uint64_t before = sim.activity, next;

        CHECK(round < ROUNDS, "it never comes to rest");
        run_all(programs && idle <= idle_ms); /* what is polled has a deadline within SRD_SOON_MS */
        if (sim.activity != before || a_thread_is_inside()) {
            idle = sim.activity != before ? 0 : idle;
            continue;
        }
        next = reactor_next_ns();
        if (++idle > idle_ms && next == REACTOR_NEVER)
            break;
        time_passes(idle > idle_ms && next > sim.now_ns + MS ? next - sim.now_ns : MS);
    }
    sim.resting = false;
}

static bool main_is_over(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!sim.threads[i].background && sim.threads[i].inside &&
            sim.threads[i].state != THREAD_SLEEPS)
            return false;
    return !sim.hosts[0].calls_left && !sim.hosts[1].calls_left;
}

static void begin(void)
{
    bool large = sim.set.message_octets > 20000 || sim.set.rdma_octets > 20000;

    for (int i = 0; i < THREADS; i++) {
        struct thread *thread = &sim.threads[i];
        int which = i % (THREADS / HOSTS);

        thread->host = i / (THREADS / HOSTS);
        thread->background = which == 2;
        thread->body = which == 2 ? background : which ? program_second : program_main;
        thread->state = which == 1 && !sim.set.second_thread ? THREAD_DONE : THREAD_READY;
        thread->inside = thread->in_turn = thread->signalled = thread->sent_home = false;
        thread->put_off = 0;
    }
    for (int i = 0; i < HOSTS; i++)
        sim.hosts[i].calls_left = 4 + below(large ? 20 : 60);
    sim.part = PART_MAIN;
}

static void part_main(void)
{
    bool quiet = !below(3);

    for (unsigned step = 0, idle = 0; step < STEPS && idle < IDLE && !main_is_over(); step++) {
        sim.steps++;
        idle = one_step() ? 0 : idle + 1;
        if (idle && !below(8))
            sim.hosts[below(HOSTS)].stopped = false;
        if (!quiet || below(60))
            continue;
        say("quiet");
        rest(false, 6, 0);
        model_quiet();
        quiet = below(2);
    }
}

static void part_end(void)
{
    for (unsigned link = 0; link < sim.set.links; link++) {
        unsigned who = 1 + below(3);

        for (int host = 0; host < HOSTS; host++) {
            struct end *end = &sim.hosts[host].ends[link];

            if (who & 1u << host && !end->gone)
                end_connection(end, below(6) ? 0 : 1 + below(2));
        }
    }
    rest(true, 4, 40);
}

static void finish(void)
{
    sim.part = PART_OVER;
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < THREADS; i++)
            if (sim.threads[i].state == THREAD_READY) {
                thread_run(&sim.threads[i]);
                any = true;
            } else {
                CHECK(sim.threads[i].state == THREAD_DONE, "a thread of host %d stays blocked",
                    sim.threads[i].host);
            }
    }
}

void schedule_run(void)
{
    sim.now_ns = sim.begun_ns = 1000000000000u;
    sim.activity = 0;
    sim.slow = false;
    memset(sim.cut, 0, sizeof(sim.cut));
    draw_settings(&sim.set);
    say("%u links, %s%s%s, %u and %u octets, FPDUs %u and %u, buffers %u and %u, change %u",
        sim.set.links, sim.set.soft ? "soft" : "foreign",
        sim.set.shared[0] || sim.set.shared[1] ? ", shared memory" : "", sim.set.crc ? ", CRC" : "",
        sim.set.message_octets, sim.set.rdma_octets, sim.set.fpdu_octets[0], sim.set.fpdu_octets[1],
        sim.set.send_buffer, sim.set.receive_buffer, sim.set.change);
    schedule_open();
    begin();
    part_main();
    say("the programs drain");
    sim.part = PART_DRAIN;
    rest(true, 6, 40);
    model_quiet();
    model_drained();
    say("the connections end");
    part_end();
    model_over();
    finish();
    schedule_close();
}
