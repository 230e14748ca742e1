/* SPDX-License-Identifier: MIT */
/*
 * test_state.c - when a connection's end is reported and when its socket is closed, in whatever order the facts about
 * it come. rdma_disconnect(3) of librdmacm says that each end gets a DISCONNECTED. When it comes is our reading: at the
 * end that asked for it once its peer has answered, at the other one before that has sent what is left.
 */
#include "softrdma/connection/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { FACTS_MAX = 6 };

/* A connection, its owner and the thread that adds facts. */
static struct {
    srd_conn_life life;
    unsigned reports, closes;
    unsigned at_report, at_close; /* the word then */
} it;

static void report(void)
{
    unsigned before = srd_life_add(&it.life, SRD_CONN_REPORTED);

    if (before & SRD_CONN_REPORTED)
        return;
    it.reports++;
    it.at_report = before;
}

static void add(unsigned fact)
{
    srd_life_add(&it.life, fact);
    switch (srd_life_owes(atomic_load(&it.life))) {
    case SRD_CONN_GO_ON: break;
    case SRD_CONN_REPORT: report(); break;
    case SRD_CONN_FINISH:
        if (srd_life_add(&it.life, SRD_CONN_CLOSED) & SRD_CONN_CLOSED)
            break;
        it.closes++;
        it.at_close = atomic_load(&it.life);
        report();
        break;
    }
}

/* Adds the facts to a word that has those of start, in each order. */
static void in_each_order(const unsigned *facts, int count, unsigned start, void (*check)(void))
{
    int order[FACTS_MAX] = { 0 }, used[FACTS_MAX];

    for (;;) {
        bool is_order = true;
        int at;

        memset(used, 0, sizeof(used));
        for (int i = 0; i < count; i++)
            is_order = is_order && !used[order[i]]++;
        if (is_order) {
            memset(&it, 0, sizeof(it));
            srd_life_add(&it.life, start);
            for (int i = 0; i < count; i++)
                add(facts[order[i]]);
            check();
        }
        for (at = 0; at < count && ++order[at] == count; at++)
            order[at] = 0;
        if (at == count)
            return;
    }
}

static void check_once(void)
{
    assert_int_equal(it.reports, 1);
    assert_int_equal(it.closes, 1);
    assert_int_equal(srd_life_phase(&it.life), SRD_CONN_CLOSED);
    assert_true(it.at_close & SRD_CONN_RX_ENDED);
    assert_true(it.at_close & (SRD_CONN_SHUT | SRD_CONN_TX_FAILED));
}

static void check_peers_end(void)
{
    check_once();
    assert_true(it.at_report & SRD_CONN_DOWN);
}

static void check_own_end(void)
{
    check_peers_end();
    assert_true(it.at_report & SRD_CONN_RX_ENDED);
}

static void check_lingered(void)
{
    check_once();
    assert_true(it.at_report & SRD_CONN_CLOSED);
}

static void an_end_of_the_peers_is_reported_once(void **state)
{
    const unsigned fin[] = { SRD_CONN_DOWN, SRD_CONN_RX_ENDED, SRD_CONN_SHUT };
    const unsigned reset[] = { SRD_CONN_DOWN, SRD_CONN_RX_ENDED, SRD_CONN_TX_FAILED };
    const unsigned both[] = { SRD_CONN_DOWN, SRD_CONN_RX_ENDED, SRD_CONN_TX_FAILED, SRD_CONN_SHUT };

    (void)state;
    in_each_order(fin, 3, SRD_CONN_STREAM | SRD_CONN_UP, check_peers_end);
    in_each_order(reset, 3, SRD_CONN_STREAM | SRD_CONN_UP, check_peers_end);
    in_each_order(both, 4, SRD_CONN_STREAM, check_peers_end);
}

static void a_stream_that_is_down_is_reported_before_its_socket_is_closed(void **state)
{
    (void)state;
    memset(&it, 0, sizeof(it));
    srd_life_add(&it.life, SRD_CONN_STREAM);
    add(SRD_CONN_DOWN);
    assert_int_equal(it.reports, 1);
    assert_int_equal(it.closes, 0);
    add(SRD_CONN_RX_ENDED);
    assert_int_equal(it.closes, 0); /* FIN has not followed what is left */
    assert_int_equal(srd_life_phase(&it.life), SRD_CONN_STREAM);
}

static void an_own_end_is_reported_when_the_peer_has_answered(void **state)
{
    const unsigned facts[] = { SRD_CONN_DOWN, SRD_CONN_RX_ENDED, SRD_CONN_SHUT };
    const unsigned failed[] = { SRD_CONN_DOWN, SRD_CONN_RX_ENDED, SRD_CONN_TX_FAILED };

    (void)state;
    in_each_order(facts, 3, SRD_CONN_STREAM | SRD_CONN_UP | SRD_CONN_LOCAL_END, check_own_end);
    in_each_order(failed, 3, SRD_CONN_STREAM | SRD_CONN_UP | SRD_CONN_LOCAL_END, check_own_end);
}

static void without_its_queue_pair_it_is_reported_as_it_closes(void **state)
{
    const unsigned facts[] = { SRD_CONN_LINGER, SRD_CONN_RX_ENDED, SRD_CONN_SHUT };

    (void)state;
    in_each_order(facts, 3, SRD_CONN_STREAM | SRD_CONN_UP, check_lingered);
    in_each_order(facts, 3, 0, check_lingered);
}

static void one_that_runs_owes_nothing(void **state)
{
    const unsigned facts[] = { 0, SRD_CONN_STREAM, SRD_CONN_STREAM | SRD_CONN_UP,
        SRD_CONN_STREAM | SRD_CONN_UP | SRD_CONN_RX_ENDED | SRD_CONN_SHUT, SRD_CONN_LINGER,
        SRD_CONN_LINGER | SRD_CONN_RX_ENDED, SRD_CONN_LINGER | SRD_CONN_SHUT,
        SRD_CONN_STREAM | SRD_CONN_DOWN | SRD_CONN_LOCAL_END };

    (void)state;
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        assert_int_equal(srd_life_owes(facts[i]), SRD_CONN_GO_ON);
}

static void the_phase_is_the_last_one_that_was_added(void **state)
{
    srd_conn_life life = 0;

    (void)state;
    assert_int_equal(srd_life_phase(&life), SRD_CONN_STARTUP);
    srd_life_add(&life, SRD_CONN_STREAM);
    assert_int_equal(srd_life_phase(&life), SRD_CONN_STREAM);
    assert_true(srd_life_is_stream(&life));
    srd_life_add(&life, SRD_CONN_CLOSED);
    srd_life_add(&life, SRD_CONN_LINGER); /* a queue pair that goes does not open what is closed */
    assert_int_equal(srd_life_phase(&life), SRD_CONN_CLOSED);
    assert_false(srd_life_is_stream(&life));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_of_the_peers_is_reported_once),
        cmocka_unit_test(a_stream_that_is_down_is_reported_before_its_socket_is_closed),
        cmocka_unit_test(an_own_end_is_reported_when_the_peer_has_answered),
        cmocka_unit_test(without_its_queue_pair_it_is_reported_as_it_closes),
        cmocka_unit_test(one_that_runs_owes_nothing),
        cmocka_unit_test(the_phase_is_the_last_one_that_was_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
