/* SPDX-License-Identifier: MIT */
/*
 * test_source.c - sources, and what one turn does with them. The background thread is lent and never serves: here only
 * looks run anything.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void test_source_is_run_while_it_is_ready(void **state)
{
    struct probe probe;
    eventfd_t value;

    (void)state;
    probe_add(&probe);
    reactor_look();
    assert_int_equal(probe.ready, 0);
    probe.leaves = true;
    probe_fire(&probe);
    reactor_look();
    reactor_look();
    assert_int_equal(probe.ready, 2);
    assert_int_equal(probe.how, REACTOR_LOOKING);
    assert_int_equal(eventfd_read(probe.source.fd, &value), 0);
    reactor_look();
    assert_int_equal(probe.ready, 2);
    assert_false(reactor_in_turn());
    probe_remove(&probe);
}

static void test_source_has_the_events_that_were_asked_for(void **state)
{
    struct probe probe;

    (void)state;
    probe_init(&probe);
    assert_int_equal(reactor_add(&probe.source, 0), 0);
    probe_fire(&probe);
    reactor_look();
    assert_int_equal(probe.ready, 0);
    assert_int_equal(reactor_update(&probe.source, EPOLLIN), 0);
    reactor_look();
    assert_int_equal(probe.ready, 1);
    probe_fire(&probe);
    assert_int_equal(reactor_update(&probe.source, 0), 0);
    reactor_look();
    assert_int_equal(probe.ready, 1);
    probe_remove(&probe);
}

static void test_source_that_cannot_be_waited_for_is_refused(void **state)
{
    struct reactor_source source;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    reactor_source_init(&source, &probe_ops, file);
    assert_int_equal(reactor_add(&source, EPOLLIN), -EPERM);
    close(file);
    reactor_source_init(&source, &probe_ops, file);
    assert_int_equal(reactor_add(&source, EPOLLIN), -EBADF);
    assert_int_equal(source.refs, 1);
    reactor_remove(&source); /* none */
    reactor_deadline(&source, 1);
    reactor_run(&source);
    assert_int_equal(reactor_update(&source, EPOLLIN), 0);
    reactor_look();
    assert_int_equal(source.refs, 1);
}

static void remove_context(struct probe *probe)
{
    reactor_remove(&((struct probe *)probe->context)->source);
}

/* Both are ready in one turn; the first that is run removes the other. */
static void test_source_removed_in_the_same_turn_is_not_run(void **state)
{
    struct probe probes[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        probe_add(&probes[i]);
        probes[i].then = remove_context;
        probes[i].context = &probes[!i];
        probe_fire(&probes[i]);
    }
    reactor_look();
    assert_int_equal(probes[0].ready + probes[1].ready, 1);
    reactor_look();
    probe_remove(&probes[0]);
    probe_remove(&probes[1]);
}

struct replacement {
    struct probe *old, *new;
};

static void replace(struct probe *probe)
{
    struct replacement *replacement = probe->context;
    uint32_t slot = replacement->old->source.slot;

    reactor_remove(&replacement->old->source);
    probe_add(replacement->new);
    assert_int_equal(replacement->new->source.slot, slot);
    probe->then = NULL;
}

/* An event of a source that is gone is not one of the next in its place. */
static void test_source_does_not_inherit_an_event(void **state)
{
    struct probe first, second, late;
    struct replacement replacement = { &second, &late };

    (void)state;
    probe_add(&first);
    probe_add(&second);
    first.then = replace;
    first.context = &replacement;
    probe_fire(&second);
    probe_fire(&first); /* runs before the second: it became ready last */
    reactor_look();
    assert_int_equal(first.ready, 1);
    assert_int_equal(second.ready, 0);
    assert_int_equal(late.ready, 0);
    probe_remove(&first);
    probe_remove(&second);
    probe_remove(&late);
}

/* Stays ready: its callback leaves its descriptor readable. */
struct steady {
    struct reactor_source source; /* first */
    char name;
};

static char turns[8];

static void note_turn(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    (void)events, (void)how;
    turns[strlen(turns)] = ((struct steady *)source)->name;
}

static void test_what_has_just_become_ready_runs_first(void **state)
{
    static const struct reactor_source_ops ops = { .ready = note_turn };
    struct steady old = { .name = 'o' }, late = { .name = 'l' };

    (void)state;
    reactor_source_init(&old.source, &ops, eventfd(1, EFD_CLOEXEC));
    reactor_source_init(&late.source, &ops, eventfd(0, EFD_CLOEXEC));
    assert_int_equal(reactor_add(&old.source, EPOLLIN), 0);
    assert_int_equal(reactor_add(&late.source, EPOLLIN), 0);
    reactor_look();
    assert_int_equal(eventfd_write(late.source.fd, 1), 0);
    reactor_look();
    assert_string_equal(turns, "olo");
    reactor_remove_sync(&old.source);
    reactor_remove_sync(&late.source);
    close(old.source.fd);
    close(late.source.fd);
}

static void remove_itself(struct probe *probe)
{
    reactor_remove_sync(&probe->source);
    reactor_unref(&probe->source);
    assert_int_equal(probe->freed, 0); /* it runs */
}

static void test_source_may_end_in_its_own_callback(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    probe.then = remove_itself;
    probe_fire(&probe);
    reactor_look();
    assert_int_equal(probe.freed, 1);
    close(probe.source.fd);
    sem_destroy(&probe.ended);
}

static void test_deadline_expires_once(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    reactor_deadline(&probe.source, clock_now_ns());
    reactor_look();
    reactor_look();
    assert_int_equal(probe.expired, 1);
    reactor_deadline(&probe.source, clock_now_ns() + 3600 * 1000000000ull);
    reactor_look();
    reactor_deadline(&probe.source, clock_now_ns());
    reactor_deadline(&probe.source, REACTOR_NEVER);
    reactor_look();
    assert_int_equal(probe.expired, 1);
    reactor_deadline(&probe.source, clock_now_ns());
    reactor_remove(&probe.source);
    reactor_look();
    assert_int_equal(probe.expired, 1);
    probe_remove(&probe);
}

static int order[100], order_count;

static void note_order(struct probe *probe)
{
    order[order_count++] = (int)(uintptr_t)probe->context;
}

static void test_deadlines_expire_in_their_order(void **state)
{
    struct probe probes[100];
    uint64_t now_ns = clock_now_ns();

    (void)state;
    for (int i = 0; i < 100; i++) {
        probe_add(&probes[i]);
        probes[i].then = note_order;
        probes[i].context = (void *)(uintptr_t)(i * 37 % 100);
        reactor_deadline(&probes[i].source, now_ns + 5000000000u);
    }
    for (int i = 0; i < 100; i++)
        reactor_deadline(&probes[i].source, now_ns - 200 + (uint64_t)(i * 37 % 100));
    for (int i = 0; i < 100; i += 10)
        reactor_deadline(&probes[i].source, REACTOR_NEVER);
    reactor_look();
    assert_int_equal(order_count, 90);
    for (int i = 1; i < order_count; i++)
        assert_true(order[i - 1] < order[i]);
    for (int i = 0; i < 100; i++)
        probe_remove(&probes[i]);
}

static void ask_for_context(struct probe *probe)
{
    reactor_run(&((struct probe *)probe->context)->source);
}

static void test_run_is_called_once_for_all_who_asked(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    reactor_run(&probe.source);
    reactor_run(&probe.source);
    assert_int_equal(probe.run, 0);
    reactor_look();
    reactor_look();
    assert_int_equal(probe.run, 1);
    reactor_run(&probe.source);
    reactor_remove(&probe.source);
    reactor_look();
    assert_int_equal(probe.run, 1);
    probe_remove(&probe);
}

static void test_run_asked_for_in_a_turn_ends_it(void **state)
{
    struct probe asking, asked;

    (void)state;
    probe_add(&asked);
    probe_add(&asking);
    asking.then = ask_for_context;
    asking.context = &asked;
    probe_fire(&asking);
    reactor_look();
    assert_int_equal(asked.run, 1);
    asked.then = ask_for_context; /* asks for itself: the next turn's */
    asked.context = &asked;
    reactor_run(&asked.source);
    reactor_look();
    assert_int_equal(asked.run, 2);
    reactor_look();
    assert_int_equal(asked.run, 3);
    probe_remove(&asking);
    probe_remove(&asked);
}

static void remove_asked(struct probe *probe)
{
    reactor_remove_sync(&((struct probe *)probe->context)->source);
}

static void test_run_of_a_source_that_another_run_removes(void **state)
{
    struct probe first, second;

    (void)state;
    probe_add(&first);
    probe_add(&second);
    first.then = remove_asked;
    first.context = &second;
    reactor_run(&first.source);
    reactor_run(&second.source);
    reactor_look();
    assert_int_equal(first.run, 1);
    assert_int_equal(second.run, 0);
    probe_remove(&first);
    probe_remove(&second);
}

static void test_source_without_a_descriptor(void **state)
{
    struct probe probe;

    (void)state;
    probe_init(&probe);
    close(probe.source.fd);
    probe.source.fd = -1;
    assert_int_equal(reactor_add(&probe.source, 0), 0);
    reactor_run(&probe.source);
    reactor_deadline(&probe.source, 1);
    reactor_look();
    assert_int_equal(probe.run, 1);
    assert_int_equal(probe.expired, 1);
    reactor_remove(&probe.source);
    reactor_unref(&probe.source);
    assert_int_equal(probe.freed, 1);
    sem_destroy(&probe.ended);
}

static void test_thread_is_lent_once(void **state)
{
    (void)state;
    assert_int_equal(reactor_lend(), -EBUSY);
}

static int lend(void **state)
{
    (void)state;
    return reactor_lend();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_is_run_while_it_is_ready),
        cmocka_unit_test(test_source_has_the_events_that_were_asked_for),
        cmocka_unit_test(test_source_that_cannot_be_waited_for_is_refused),
        cmocka_unit_test(test_source_removed_in_the_same_turn_is_not_run),
        cmocka_unit_test(test_source_does_not_inherit_an_event),
        cmocka_unit_test(test_what_has_just_become_ready_runs_first),
        cmocka_unit_test(test_source_may_end_in_its_own_callback),
        cmocka_unit_test(test_deadline_expires_once),
        cmocka_unit_test(test_deadlines_expire_in_their_order),
        cmocka_unit_test(test_run_is_called_once_for_all_who_asked),
        cmocka_unit_test(test_run_asked_for_in_a_turn_ends_it),
        cmocka_unit_test(test_run_of_a_source_that_another_run_removes),
        cmocka_unit_test(test_source_without_a_descriptor),
        cmocka_unit_test(test_thread_is_lent_once),
    };
    return cmocka_run_group_tests(tests, lend, NULL);
}
