/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - a server that forks while its threads talk, scan and open adapters: each child opens an adapter of its
 * own, connects and talks, and the parent's connection goes on.
 */
#include "tests/robustness/child.h"
#include "tests/support/long.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHILDREN = 100,
    CHILDREN_LONG = 300,
    PATIENCE_S = 60,
    DEPTH = 4,
    MESSAGE = 64,
    THERE = 2048
};

static const struct nd2_end_options options = { .depth = DEPTH, .memory_octets = 4096 };

struct pair {
    struct nd2_end active, passive;
};

/* Ends the process, of the test or a child, with a message. */
static void need(bool well, const char *what, HRESULT hr)
{
    if (well)
        return;
    fprintf(stderr, "process %d: %s: 0x%08x\n", getpid(), what ? what : "a call", (unsigned)hr);
    _exit(1);
}

static void check(const struct nd2_end *end, HRESULT hr)
{
    need(hr == ND_SUCCESS, end->step, hr);
}

static void *take(void *passive)
{
    check(passive, nd2_end_request(passive));
    check(passive, nd2_end_accept(passive));
    return NULL;
}

static void pair_connect(struct pair *pair)
{
    struct nd2_end *ends[2] = { &pair->active, &pair->passive };
    pthread_t taker;
    USHORT port_be;

    for (int i = 0; i < 2; i++) {
        check(ends[i], nd2_end_open(ends[i], &options));
        check(ends[i], nd2_end_receive(ends[i], NULL, THERE, MESSAGE));
    }
    check(&pair->passive, nd2_end_listen(&pair->passive, &port_be));
    need(!pthread_create(&taker, NULL, take, &pair->passive), "pthread_create", 0);
    check(&pair->active, nd2_end_connect(&pair->active, port_be));
    pthread_join(taker, NULL);
}

static void message(struct nd2_end *from, struct nd2_end *to, unsigned char value)
{
    ND2_RESULT result;

    memset(from->memory, value, MESSAGE);
    check(from, nd2_end_send(from, NULL, 0, MESSAGE, 0));
    need(nd2_end_results(to, &result, 1, ND_END_WAIT_MS) == 1, "Receive", ND_PENDING);
    need(result.Status == ND_SUCCESS, "Receive", result.Status);
    need(!memcmp(from->memory, to->memory + THERE, MESSAGE), "message", 0);
    check(to, nd2_end_receive(to, NULL, THERE, MESSAGE));
    need(nd2_end_results(from, &result, 1, ND_END_WAIT_MS) == 1, "Send", ND_PENDING);
    need(result.Status == ND_SUCCESS, "Send", result.Status);
}

/* Both directions, the active side first. */
static void pair_talk(struct pair *pair, unsigned char value)
{
    message(&pair->active, &pair->passive, value);
    message(&pair->passive, &pair->active, (unsigned char)~value);
}

static void pair_close(struct pair *pair)
{
    nd2_end_close(&pair->active);
    nd2_end_close(&pair->passive);
}

static struct {
    struct pair pair;
    atomic_bool stop;
    atomic_uint talks, opens;
} parent;

static void *talk(void *unused)
{
    while (!atomic_load(&parent.stop))
        pair_talk(&parent.pair, (unsigned char)atomic_fetch_add(&parent.talks, 1));
    return unused;
}

static void *open_and_close(void *unused)
{
    while (!atomic_load(&parent.stop)) {
        struct nd2_end end;
        union {
            SOCKET_ADDRESS_LIST list;
            unsigned char octets[4096];
        } found;
        SIZE_T octets = sizeof found;
        HRESULT hr = NdQueryAddressList(0, &found.list, &octets);

        need(hr == ND_SUCCESS, "NdQueryAddressList", hr);
        check(&end, nd2_end_open(&end, &options));
        nd2_end_close(&end);
        atomic_fetch_add(&parent.opens, 1);
    }
    return unused;
}

static void child_runs(void)
{
    struct pair pair;

    alarm(PATIENCE_S); /* ends a child that hangs */
    pair_connect(&pair);
    for (unsigned char i = 0; i < 10; i++)
        pair_talk(&pair, i);
    pair_close(&pair);
    _exit(0);
}

static void test_children_have_adapters_of_their_own_whatever_the_parent_did(void **state)
{
    const int children = test_is_long() ? CHILDREN_LONG : CHILDREN;
    unsigned talks, opens;
    pthread_t threads[2];

    (void)state;
    pair_connect(&parent.pair);
    assert_int_equal(pthread_create(&threads[0], NULL, talk, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, open_and_close, NULL), 0);
    for (int i = 0; i < children; i++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (!child)
            child_runs();
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    /* The parent has not stopped at any. */
    talks = atomic_load(&parent.talks);
    opens = atomic_load(&parent.opens);
    while (atomic_load(&parent.talks) == talks || atomic_load(&parent.opens) == opens)
        sched_yield();
    atomic_store(&parent.stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pair_close(&parent.pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children_have_adapters_of_their_own_whatever_the_parent_did),
    };

    return cmocka_run_group_tests_name("fork", tests, child_group_open, child_group_close);
}
