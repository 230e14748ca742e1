/* SPDX-License-Identifier: MIT */
/*
 * Ids, events and deadlines of an adapter's connection manager side, over a made-up connection manager that is as
 * strict as the kernel's: destroying an id waits until its events are acknowledged.
 */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/adapter/cm.h"
#include "ndspi/core/deferred.h"

#include "util/clock.h"
#include "util/deadline.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- the made-up connection manager ---- */

enum { EVENTS = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rdma_event_channel channel;
static struct rdma_cm_event queue[EVENTS];
static unsigned queued, taken, acked;
static struct rdma_cm_id *unacked_id;
static int ids_alive;
static pthread_t destroyer;
static bool in_destroy, held;

static struct rdma_event_channel *create_event_channel(void)
{
    channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    return &channel;
}

static void destroy_event_channel(struct rdma_event_channel *which)
{
    close(which->fd);
}

static int create_id(
    struct rdma_event_channel *of, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
    (void)of;
    (void)ps;
    *id = calloc(1, sizeof(**id));
    (*id)->context = context;
    ids_alive++;
    return 0;
}

static int destroy_id(struct rdma_cm_id *id)
{
    pthread_mutex_lock(&mutex);
    in_destroy = true;
    pthread_cond_broadcast(&changed);
    while (unacked_id == id)
        pthread_cond_wait(&changed, &mutex);
    in_destroy = false;
    destroyer = pthread_self();
    ids_alive--;
    pthread_mutex_unlock(&mutex);
    free(id);
    return 0;
}

static int get_cm_event(struct rdma_event_channel *of, struct rdma_cm_event **event)
{
    uint64_t one;

    if (read(of->fd, &one, sizeof(one)) != sizeof(one))
        return -1;
    pthread_mutex_lock(&mutex);
    *event = &queue[taken++];
    unacked_id = (*event)->listen_id ? (*event)->listen_id : (*event)->id;
    pthread_mutex_unlock(&mutex);
    return 0;
}

static int ack_cm_event(struct rdma_cm_event *event)
{
    pthread_mutex_lock(&mutex);
    memset(event, 0xee, sizeof(*event)); /* no code may read it after this */
    acked++;
    unacked_id = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return 0;
}

static const struct nd_verbs verbs = {
    .name = "made up",
    .create_event_channel = create_event_channel,
    .destroy_event_channel = destroy_event_channel,
    .create_id = create_id,
    .destroy_id = destroy_id,
    .get_cm_event = get_cm_event,
    .ack_cm_event = ack_cm_event,
};

static struct rdma_cm_event *raise_event(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = &queue[queued++];
    uint64_t one = 1;

    memset(event, 0, sizeof(*event));
    event->id = id;
    event->event = type;
    assert_int_equal(write(channel.fd, &one, sizeof(one)), sizeof(one));
    return event;
}

/* ---- an adapter with nothing but pins, an owner that records its events ---- */

static struct nd_object adapter;
static const struct nd_device device = { .verbs = &verbs, .name = "test", .port = 1 };
static struct nd_cm cm;

struct owner {
    int pins, heard;
    bool refuses;           /* not mine any more */
    struct nd_cm_id *drops; /* on an event: let go of this id */
    struct nd_cm_event last;
    struct owner *heir; /* on a refused event: makes this the id's owner */
};

static void owner_pin(void *owner)
{
    ((struct owner *)owner)->pins++;
}

static void owner_unpin(void *owner)
{
    ((struct owner *)owner)->pins--;
}

static bool owner_event(void *context, struct nd_cm_id *id, struct nd_cm_event *event);

static const struct nd_cm_owner_ops ops = { owner_pin, owner_unpin, owner_event };

static bool owner_event(void *context, struct nd_cm_id *id, struct nd_cm_event *event)
{
    struct owner *owner = context;

    assert_int_equal(acked, taken); /* acknowledged before the owner handles it */
    owner->heard++;
    owner->last = *event;
    if (owner->heir)
        nd_cm_id_set_owner(id, &ops, owner->heir);
    if (owner->drops) {
        nd_cm_id_set_owner(owner->drops, NULL, NULL);
        nd_cm_id_unpin(owner->drops);
        owner->drops = NULL;
    }
    return !owner->refuses;
}

static void no_end(struct nd_object *object)
{
    (void)object;
    abort();
}

static int set_up_slow(void **state, bool slow)
{
    (void)state;
    memset(&adapter, 0, sizeof(adapter));
    nd_object_init(&adapter, no_end);
    queued = taken = acked = 0;
    ids_alive = 0;
    return nd_cm_init(&cm, &device, &adapter, slow ? ND_QUIRK_BIT(SLOW_DESTROY) : 0) ||
           reactor_add(&cm.source, 0);
}

/* No background thread: deadlines expire where the test waits for them. */
static int lend(void **state)
{
    (void)state;
    return reactor_lend();
}

static int set_up(void **state)
{
    return set_up_slow(state, false);
}

static int set_up_kernel(void **state)
{
    return set_up_slow(state, true);
}

static int tear_down(void **state)
{
    (void)state;
    nd_deferred_drain();
    reactor_remove_sync(&cm.source);
    nd_cm_fini(&cm);
    return ids_alive != 0 || atomic_load(&adapter.pins) != 1;
}

/* As the reactor does. */
static void dispatch(void)
{
    cm.source.ops->ready(&cm.source, EPOLLIN, REACTOR_LOOKING);
}

static bool readable(void)
{
    struct pollfd poll_fd = { .fd = cm.source.fd, .events = POLLIN };

    return poll(&poll_fd, 1, 0) == 1;
}

static void test_cm_events_reach_the_owner_of_their_id(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    assert_false(readable());
    event = raise_event(id->id, RDMA_CM_EVENT_CONNECT_RESPONSE);
    event->param.conn.private_data = "hello";
    event->param.conn.private_data_len = 5;
    event->param.conn.responder_resources = 3;
    event->param.conn.initiator_depth = 4;
    raise_event(id->id, RDMA_CM_EVENT_REJECTED)->status = 28;
    assert_true(readable());
    dispatch();
    assert_false(readable());
    assert_int_equal(owner.heard, 2);
    assert_int_equal(owner.last.type, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(owner.last.status, 28);
    assert_int_equal(owner.last.private_data_octets, 0);
    assert_null(owner.last.request);
    assert_int_equal(owner.pins, 0);
    nd_cm_id_unpin(id);
}

static void test_cm_private_data_and_depths_are_copied(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    event = raise_event(id->id, RDMA_CM_EVENT_CONNECT_RESPONSE);
    event->param.conn.private_data = "hello";
    event->param.conn.private_data_len = 5;
    event->param.conn.responder_resources = 3;
    event->param.conn.initiator_depth = 4;
    dispatch();
    assert_int_equal(owner.last.private_data_octets, 5);
    assert_memory_equal(owner.last.private_data, "hello", 5);
    assert_int_equal(owner.last.responder_resources, 3);
    assert_int_equal(owner.last.initiator_depth, 4);
    nd_cm_id_unpin(id);
}

/* An event may end its own id, although destroying one waits for the acknowledgement of its events. */
static void test_cm_id_may_end_in_its_own_event(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    owner.drops = id;
    raise_event(id->id, RDMA_CM_EVENT_DISCONNECTED);
    dispatch();
    assert_int_equal(owner.heard, 1);
    assert_int_equal(ids_alive, 0);
}

static void *unpin(void *id)
{
    nd_cm_id_unpin(id);
    return NULL;
}

/* The end of an id has begun in one thread when another fetches an event of it: the event is dropped. */
static void test_cm_event_of_an_id_that_ends_is_dropped(void **state)
{
    struct owner owner = { 0 };
    struct rdma_cm_event *event;
    struct nd_cm_id *id;
    pthread_t thread;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    raise_event(id->id, RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(get_cm_event(&channel, &event), 0); /* fetched, not acknowledged */
    assert_int_equal(pthread_create(&thread, NULL, unpin, id), 0);
    pthread_mutex_lock(&mutex);
    while (!in_destroy)
        pthread_cond_wait(&changed, &mutex);
    /* Fetch it again, as dispatch would have done just now. */
    taken--;
    pthread_mutex_unlock(&mutex);
    assert_int_equal(eventfd_write(channel.fd, 1), 0);
    dispatch();
    pthread_join(thread, NULL);
    assert_int_equal(owner.heard, 0);
    assert_int_equal(ids_alive, 0);
}

static void test_cm_event_follows_an_id_that_changes_hands(void **state)
{
    struct owner first = { .refuses = true }, second = { 0 };
    struct nd_cm_id *id;

    (void)state;
    first.heir = &second;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &first, &id), 0);
    raise_event(id->id, RDMA_CM_EVENT_DISCONNECTED);
    dispatch();
    assert_int_equal(first.heard, 1);
    assert_int_equal(second.heard, 1);
    nd_cm_id_unpin(id);
}

static void test_cm_request_of_an_id_without_owner_is_turned_away(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;
    struct rdma_cm_id *request;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    nd_cm_id_set_owner(id, NULL, NULL);
    assert_int_equal(create_id(&channel, &request, id, RDMA_PS_TCP), 0);
    raise_event(request, RDMA_CM_EVENT_CONNECT_REQUEST)->listen_id = id->id;
    assert_int_equal(ids_alive, 2);
    dispatch();
    assert_int_equal(ids_alive, 1);
    nd_cm_id_unpin(id);
}

static void test_cm_request_comes_as_an_id_of_its_own(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;
    struct rdma_cm_id *request;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    assert_int_equal(create_id(&channel, &request, id, RDMA_PS_TCP), 0);
    raise_event(request, RDMA_CM_EVENT_CONNECT_REQUEST)->listen_id = id->id;
    dispatch();
    assert_non_null(owner.last.request);
    assert_ptr_equal(owner.last.request->id, request);
    assert_ptr_equal(request->context, owner.last.request);
    nd_cm_id_unpin(owner.last.request);
    assert_int_equal(ids_alive, 1);
    nd_cm_id_unpin(id);
}

/* Where destroying may block, a release does not wait for it. */
static void test_cm_slow_ids_are_destroyed_by_another_thread(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    pthread_mutex_lock(&mutex);
    unacked_id = id->id; /* destroy_id blocks from now on */
    pthread_mutex_unlock(&mutex);
    nd_cm_id_unpin(id);
    pthread_mutex_lock(&mutex);
    assert_int_equal(ids_alive, 1);
    unacked_id = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    nd_deferred_drain();
    assert_int_equal(ids_alive, 0);
    assert_false(pthread_equal(destroyer, pthread_self()));
}

static void test_cm_listening_ids_are_closed_in_place_even_when_slow(void **state)
{
    struct owner owner = { 0 };
    struct nd_cm_id *id;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    nd_cm_id_close(id);
    assert_int_equal(ids_alive, 0);
    assert_true(pthread_equal(destroyer, pthread_self()));
}

static void test_cm_removal_is_told_to_every_id_once(void **state)
{
    struct owner owners[3] = { 0 };
    struct nd_cm_id *ids[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(nd_cm_id_create(&cm, &ops, &owners[i], &ids[i]), 0);
    owners[1].drops = ids[1];
    nd_cm_removed(&cm);
    nd_cm_removed(&cm);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(owners[i].heard, 1);
        assert_int_equal(owners[i].last.type, RDMA_CM_EVENT_DEVICE_REMOVAL);
    }
    nd_cm_id_unpin(ids[0]);
    nd_cm_id_unpin(ids[2]);
}

/* ---- deadlines ---- */

struct timed {
    struct nd_cm_timer timer;
    int order;
};

static int expiries;

static void on_expired(struct nd_cm_timer *timer)
{
    ((struct timed *)timer)->order = ++expiries;
    reactor_signal(reactor_waiter_self()); /* which waits for it */
}

/* Until a number of timers have expired. */
static void expire_until(int wanted)
{
    while (expiries < wanted)
        reactor_wait(reactor_waiter_self(), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE);
}

static void test_cm_timers_expire_in_order_of_their_time(void **state)
{
    struct timed timers[3];
    uint64_t start_ms = clock_now_ms();

    (void)state;
    expiries = 0;
    for (int i = 0; i < 3; i++)
        nd_cm_timer_init(&timers[i].timer, on_expired);
    nd_cm_timer_start(&cm, &timers[0].timer, 60);
    nd_cm_timer_start(&cm, &timers[1].timer, 20);
    nd_cm_timer_start(&cm, &timers[2].timer, 40);
    expire_until(3);
    assert_int_equal(timers[1].order, 1);
    assert_int_equal(timers[2].order, 2);
    assert_int_equal(timers[0].order, 3);
    assert_true(clock_now_ms() - start_ms >= 60);
    assert_false(nd_cm_timer_stop(&cm, &timers[0].timer));
}

static void test_cm_timers_that_are_stopped_or_moved_do_not_expire_early(void **state)
{
    struct timed stopped, moved, last;
    uint64_t start_ms = clock_now_ms();

    (void)state;
    expiries = 0;
    nd_cm_timer_init(&stopped.timer, on_expired);
    nd_cm_timer_init(&moved.timer, on_expired);
    nd_cm_timer_init(&last.timer, on_expired);
    stopped.order = 0;
    nd_cm_timer_start(&cm, &stopped.timer, 10);
    nd_cm_timer_start(&cm, &moved.timer, 10);
    nd_cm_timer_start(&cm, &last.timer, 30);
    nd_cm_timer_start(&cm, &moved.timer, 60);
    assert_true(nd_cm_timer_stop(&cm, &stopped.timer));
    assert_false(nd_cm_timer_stop(&cm, &stopped.timer));
    expire_until(2);
    assert_int_equal(last.order, 1);
    assert_int_equal(moved.order, 2);
    assert_int_equal(stopped.order, 0);
    assert_true(clock_now_ms() - start_ms >= 60);
    assert_false(readable());
}

/* The turn is as long as if the process had lost its processor: what is due meanwhile is found late. */
static void on_expired_long(struct nd_cm_timer *timer)
{
    uint64_t end_ms = clock_now_ms() + 20 + DEADLINE_LATE_MS;

    while (clock_now_ms() <= end_ms)
        ;
    on_expired(timer);
}

/* Beside such a turn: how much later than at first it was due in the end. */
static uint64_t put_off_ns(unsigned again)
{
    struct timed longest, late;
    uint64_t due_ns;

    expiries = 0;
    nd_cm_timer_init(&longest.timer, on_expired_long);
    nd_cm_timer_init(&late.timer, on_expired);
    nd_cm_timer_start(&cm, &longest.timer, 10);
    nd_cm_timer_start(&cm, &late.timer, 20);
    late.timer.again = again;
    due_ns = late.timer.due_ns;
    expire_until(2);
    assert_int_equal(late.order, 2);
    return late.timer.due_ns - due_ns;
}

static void test_cm_timers_that_are_found_late_begin_anew(void **state)
{
    (void)state;
    assert_true(put_off_ns(DEADLINE_AGAIN) >= (20 + DEADLINE_LATE_MS) * 1000000u);
    assert_int_equal(put_off_ns(0), 0);
}

static void wait_until_let_go(struct nd_deferred *job)
{
    (void)job;
    pthread_mutex_lock(&mutex);
    while (held)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* Its last pin is gone, and the thread that is to destroy it has not come to it yet. */
static void test_cm_removal_leaves_out_an_id_that_is_to_end(void **state)
{
    struct owner owner = { 0 }, other = { 0 };
    struct nd_deferred hold = { .run = wait_until_let_go };
    struct nd_cm_id *id, *ending;

    (void)state;
    assert_int_equal(nd_cm_id_create(&cm, &ops, &owner, &id), 0);
    assert_int_equal(nd_cm_id_create(&cm, &ops, &other, &ending), 0);
    held = true;
    nd_defer(&hold);
    nd_cm_id_unpin(ending);
    nd_cm_removed(&cm);
    pthread_mutex_lock(&mutex);
    held = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    nd_deferred_drain();
    assert_int_equal(owner.heard, 1);
    assert_int_equal(other.heard, 0);
    assert_int_equal(ids_alive, 1);
    nd_cm_id_unpin(id);
}

#define TEST(name)   cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define KERNEL(name) cmocka_unit_test_setup_teardown(name, set_up_kernel, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cm_events_reach_the_owner_of_their_id),
        TEST(test_cm_private_data_and_depths_are_copied),
        TEST(test_cm_id_may_end_in_its_own_event),
        TEST(test_cm_event_of_an_id_that_ends_is_dropped),
        TEST(test_cm_event_follows_an_id_that_changes_hands),
        TEST(test_cm_request_of_an_id_without_owner_is_turned_away),
        TEST(test_cm_request_comes_as_an_id_of_its_own),
        KERNEL(test_cm_slow_ids_are_destroyed_by_another_thread),
        KERNEL(test_cm_listening_ids_are_closed_in_place_even_when_slow),
        TEST(test_cm_removal_is_told_to_every_id_once),
        KERNEL(test_cm_removal_leaves_out_an_id_that_is_to_end),
        TEST(test_cm_timers_expire_in_order_of_their_time),
        TEST(test_cm_timers_that_are_stopped_or_moved_do_not_expire_early),
        TEST(test_cm_timers_that_are_found_late_begin_anew),
    };

    return cmocka_run_group_tests(tests, lend, NULL);
}
