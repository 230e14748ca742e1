/* SPDX-License-Identifier: MIT */
/*
 * reactor.c - in place of the reactor: which sources are ready is asked of the simulated kernel, and who drives decides
 * the schedule. Each host has a reactor of its own, as two processes have; what softrdma has one of in a process, the
 * list of what is soon, is shared out here (the interposed calls).
 */
#include "simulation.h"

#include "reactor/reactor.h"
#include "softrdma/events/source.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

enum {
    SOURCES = 4 * HOSTS * LINKS + 2 * HOSTS + 2
}; /* connections and bells, also of the schedule before; holds; timers */

REACTOR_API atomic_uint reactor_activity;

static struct reactor_source *sources[SOURCES];
static int adders[SOURCES];                    /* the host whose thread added it; -1: none */
static bool driven[HOSTS];                     /* a thread of the host is in a turn */
static struct reactor_source *expiring[HOSTS]; /* whose callback that turn runs */
static reactor_before_fn *before_wait;

/* Sources whose time has come, found by a thread of the other host. */
static struct srd_source *late[SOURCES];
static int n_late;

static int host_of(const struct reactor_source *source)
{
    if (source->fd >= 0)
        return end_of_fd(source->fd)->host;
    return source->slot == UINT32_MAX ? -1 : adders[source->slot];
}

void reactor_source_init(
    struct reactor_source *source, const struct reactor_source_ops *ops, int fd)
{
    memset(source, 0, sizeof(*source));
    source->ops = ops;
    source->fd = fd;
    atomic_init(&source->refs, 1);
    source->slot = UINT32_MAX;
    source->deadline_ns = REACTOR_NEVER;
}

void reactor_ref(struct reactor_source *source)
{
    CHECK(atomic_fetch_add(&source->refs, 1), "a source without references gets one");
}

void reactor_unref(struct reactor_source *source)
{
    unsigned before = atomic_fetch_sub(&source->refs, 1);

    CHECK(before, "a source loses a reference that it has not");
    if (before == 1 && source->ops->free)
        source->ops->free(source);
}

int reactor_add(struct reactor_source *source, uint32_t events)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        if (!sources[i]) {
            sources[i] = source;
            adders[i] = current ? current->host : -1;
            source->slot = i;
            source->events = events;
            reactor_ref(source);
            return 0;
        }
    return -ENOMEM;
}

int reactor_update(struct reactor_source *source, uint32_t events)
{
    thread_may_change();
    if (source->slot == UINT32_MAX)
        return 0;
    source->events = events;
    return 0;
}

void reactor_remove(struct reactor_source *source)
{
    if (source->slot == UINT32_MAX)
        return;
    sources[source->slot] = NULL;
    source->slot = UINT32_MAX;
    reactor_unref(source);
}

void reactor_remove_sync(struct reactor_source *source)
{
    reactor_remove(source);
    for (int host = 0; host < HOSTS; host++)
        while (expiring[host] == source) {
            CHECK(current, "a callback never ends");
            thread_yield();
        }
}

void reactor_deadline(struct reactor_source *source, uint64_t deadline_ns)
{
    thread_may_change();
    if (source->slot != UINT32_MAX)
        source->deadline_ns = deadline_ns;
}

void reactor_run(struct reactor_source *source)
{
    (void)source;
    fail("reactor_run: no source of the simulation has it");
}

bool reactor_in_turn(void)
{
    return current && current->in_turn;
}

bool reactor_is_lent(void)
{
    return false;
}

void reactor_before_exit(reactor_exit_fn *function)
{
    (void)function; /* no process ends here */
}

void reactor_before_wait(reactor_before_fn *function)
{
    before_wait = function;
}

void reactor_leave(void)
{
}

/* --- turns ------------------------------------------------------------------------------------ */

static uint32_t ready_events(const struct reactor_source *source)
{
    uint32_t events;

    if (source->fd < 0 || !source->events)
        return 0;
    if (is_bell(source->fd))
        events = bell_events(end_of_fd(source->fd));
    else if (!end_of_fd(source->fd)->socket.open)
        return 0;
    else
        events = socket_events(end_of_fd(source->fd));
    return events & (source->events | EPOLLERR | EPOLLHUP);
}

/* The sources of a host in an order drawn at random, each with a reference. */
static int sources_of(int host, struct reactor_source *found[SOURCES])
{
    int count = 0;

    for (int i = 0; i < SOURCES; i++)
        if (sources[i] && (host_of(sources[i]) == host || host_of(sources[i]) < 0)) {
            int at = (int)below((uint32_t)++count);

            found[count - 1] = found[at];
            found[at] = sources[i];
            reactor_ref(sources[i]);
        }
    return count;
}

static bool one_ready(struct reactor_source *source, enum reactor_how how)
{
    uint32_t events = source->slot == UINT32_MAX ? 0 : ready_events(source);

    /* Another thread has answered since, or nobody has rung. */
    if (!events && source->slot != UINT32_MAX && is_bell(source->fd) && source->events &&
        end_of_fd(source->fd)->bell.open && !sim.resting && chance(sim.set.spurious))
        events = EPOLLIN;
    if (!events)
        return false;
    say("host %d: ready%s, events %#x, %s", host_of(source),
        is_bell(source->fd) ? " by its bell" : "", events,
        how == REACTOR_BACKGROUND ? "background thread"
        : how == REACTOR_LOOKING  ? "a poll"
                                  : "a thread that waits");
    source->ops->ready(source, events, how);
    return true;
}

/* only out: with a reference, if one source alone had something; else NULL */
static bool poll_shared(struct srd_source **only)
{
    struct reactor_source *found[SOURCES];
    int count = sources_of(current->host, found), served = 0;
    bool was_in = current->in_turn;

    *only = NULL;
    current->in_turn = true;
    for (int i = 0; i < count; i++) {
        if (found[i]->ops->shared && one_ready(found[i], REACTOR_LOOKING) && served++ == 0) {
            *only = container_of(found[i], struct srd_source, reactor);
            srd_source_ref(*only);
        }
        reactor_unref(found[i]);
    }
    current->in_turn = was_in;
    if (served > 1) {
        srd_source_unref(*only);
        *only = NULL;
    }
    return served;
}

bool reactor_poll(void)
{
    struct srd_source *only;
    bool any = poll_shared(&only);

    if (only)
        srd_source_unref(only);
    return any;
}

/* softrdma notes in its thread what it found; here one thread runs them all. */
bool __wrap_srd_sources_poll(struct srd_source **only);
bool __wrap_srd_sources_poll(struct srd_source **only)
{
    return poll_shared(only);
}

static bool one_due(struct reactor_source *source, enum reactor_how how)
{
    if (source->slot == UINT32_MAX || source->deadline_ns > sim.now_ns)
        return false;
    say("host %d: a deadline has passed, of %s", current->host,
        source->fd < 0        ? "a list"
        : is_bell(source->fd) ? "a bell"
                              : "a connection");
    source->deadline_ns = REACTOR_NEVER;
    expiring[current->host] = source;
    source->ops->expired(source, how);
    expiring[current->host] = NULL;
    return true;
}

/* A kind of sources, as the product calls it and as it is. */
static struct kind {
    struct srd_source_ops interposed;
    const struct srd_source_ops *real;
} kinds[2]; /* connections, bells */

static const struct srd_source_ops *real_ops(const struct srd_source *source)
{
    const struct kind *kind = kinds;

    while (&kind->interposed != source->ops)
        kind++;
    return kind->real;
}

static bool run_late(int host, bool background)
{
    bool any = false;

    for (int i = 0; i < n_late; i++) {
        struct srd_source *source = late[i];

        if (host_of(&source->reactor) != host)
            continue;
        late[i--] = late[--n_late];
        if (source->fd >= 0) {
            if (background)
                srd_watch_set(&source->watch, SRD_WATCH_ATTENDED);
            real_ops(source)->expired(source);
            if (background)
                srd_watch_clear(&source->watch, SRD_WATCH_ATTENDED);
        }
        srd_source_unref(source);
        any = true;
    }
    return any;
}

bool reactor_turns(int host, bool background)
{
    enum reactor_how how = background ? REACTOR_BACKGROUND : REACTOR_WAITING;
    struct reactor_source *found[SOURCES];
    bool any;
    int count;

    if (driven[host])
        return false;
    driven[host] = current->in_turn = true;
    any = run_late(host, background);
    count = sources_of(host, found);
    for (int i = 0; i < count; i++) {
        /* What is ready and not looked at now is so in the next turn. */
        if (sim.resting || below(8))
            any |= one_ready(found[i], how);
        any |= one_due(found[i], how);
        reactor_unref(found[i]);
    }
    driven[host] = current->in_turn = false;
    return any;
}

bool reactor_has_work(int host)
{
    for (int i = 0; i < n_late; i++)
        if (host_of(&late[i]->reactor) == host)
            return true;
    for (int i = 0; i < SOURCES; i++)
        if (sources[i] && (host_of(sources[i]) == host || host_of(sources[i]) < 0) &&
            (sources[i]->deadline_ns <= sim.now_ns || ready_events(sources[i])))
            return true;
    return false;
}

uint64_t reactor_next_ns(void)
{
    uint64_t next = REACTOR_NEVER;

    for (int i = 0; i < SOURCES; i++)
        if (sources[i] && sources[i]->deadline_ns < next)
            next = sources[i]->deadline_ns;
    return next;
}

void reactor_check_empty(void)
{
    for (int i = 0; i < SOURCES; i++)
        CHECK(!sources[i] || sources[i]->fd < 0, "a source is left in the reactor");
    CHECK(!n_late, "a source is left that is soon");
}

/* --- threads that wait ------------------------------------------------------------------------ */

struct reactor_waiter *reactor_waiter_self(void)
{
    return (struct reactor_waiter *)current;
}

void reactor_signal(struct reactor_waiter *waiter)
{
    ((struct thread *)waiter)->signalled = true;
}

bool reactor_is_signalled(struct reactor_waiter *waiter)
{
    return ((struct thread *)waiter)->signalled;
}

bool reactor_is_wanted(struct reactor_waiter *waiter)
{
    return reactor_is_signalled(waiter);
}

bool host_sleeps(int host)
{
    for (int i = 0; i < THREADS; i++)
        if (sim.threads[i].host == host && sim.threads[i].state == THREAD_SLEEPS)
            return true;
    return false;
}

int reactor_wait(struct reactor_waiter *waiter, uint64_t deadline_ns, int cancel_state)
{
    struct thread *me = (struct thread *)waiter;

    (void)cancel_state;
    CHECK(me == current && deadline_ns == REACTOR_NEVER && !me->in_turn,
        "a wait that the simulation does not know");
    before_wait(waiter, deadline_ns);
    while (!me->signalled && !me->sent_home) {
        me->state = THREAD_SLEEPS;
        thread_yield();
        me->state = THREAD_READY;
        if (!me->signalled)
            reactor_turns(me->host, false);
    }
    if (!me->signalled)
        return -ETIMEDOUT;
    me->signalled = false;
    return 0;
}

/* --- two processes, not one ------------------------------------------------------------------- */

static bool of_this_host(const struct srd_source *source)
{
    return !current || host_of(&source->reactor) == current->host;
}

/* A thread that goes to sleep serves its own process. */
static bool on_idle(struct srd_source *source)
{
    return !of_this_host(source) || (real_ops(source)->idle && real_ops(source)->idle(source));
}

/* The list has one timer; a process that runs it leaves the other's entries alone. */
static void on_expired(struct srd_source *source)
{
    if (of_this_host(source)) {
        real_ops(source)->expired(source);
        return;
    }
    for (int i = 0; i < n_late; i++)
        if (late[i] == source)
            return;
    srd_source_ref(source);
    late[n_late++] = source;
}

void __real_srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd);
void __wrap_srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd);
void __wrap_srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd)
{
    struct kind *kind = kinds;

    while (kind->real && kind->real != ops)
        CHECK(++kind < kinds + sizeof(kinds) / sizeof(*kinds), "a source of another kind");
    if (!kind->real) {
        kind->real = ops;
        kind->interposed = *ops;
        kind->interposed.idle = on_idle;
        kind->interposed.expired = on_expired;
    }
    __real_srd_source_init(source, &kind->interposed, fd);
}

/* Which source a thread that is about to sleep looks at first (events/patience.h); each with a reference. */
static struct srd_source *awaited[HOSTS];

void __wrap_srd_patience_awaited(struct srd_source *source);
void __wrap_srd_patience_forget(struct srd_source *source);
void __wrap_srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns);

static void awaits(int host, struct srd_source *source)
{
    struct srd_source *old = awaited[host];

    awaited[host] = source;
    if (source)
        srd_source_ref(source);
    if (old)
        srd_source_unref(old);
}

void __wrap_srd_patience_awaited(struct srd_source *source)
{
    awaits(end_of_fd(source->reactor.fd)->host, source);
}

void __wrap_srd_patience_forget(struct srd_source *source)
{
    int host = end_of_fd(source->reactor.fd)->host;

    if (awaited[host] == source)
        awaits(host, NULL);
}

/* Its time is a number of looks. */
void __wrap_srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    struct srd_source *source = awaited[current->host];

    (void)deadline_ns;
    if (!source || reactor_is_signalled(waiter) || below(2) || srd_source_was_polled(source))
        return;
    srd_source_ref(source);
    for (unsigned looks = 1 + below(6); looks && !reactor_is_signalled(waiter); looks--)
        source->ops->poll(source, true);
    srd_source_leave(source);
    srd_source_unref(source);
}
