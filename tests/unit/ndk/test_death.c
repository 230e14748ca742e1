/* SPDX-License-Identifier: MIT */
/* test_death.c - the peer's process is killed: one disconnect event, and nothing is left that does not end. */
#include "tests/unit/ndk/pair.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The peer connects to the port that it reads, says so, and lives until it is killed. */
static void peer(int in, int out)
{
    struct pair pair;
    struct sockaddr_in address = peer_address(0);

    pair_open(&pair);
    if (read(in, &address.sin_port, sizeof(address.sin_port)) != sizeof(address.sin_port))
        _exit(1);
    if (start_connect(&pair.active, &address, NULL, 0) != STATUS_PENDING ||
        outcome(&pair.active) != 0 || start_complete(&pair.active) != STATUS_PENDING ||
        outcome(&pair.active) != 0)
        _exit(2);
    if (write(out, "c", 1) != 1)
        _exit(3);
    for (;;)
        pause();
}

static struct {
    pid_t process;
    int in, out; /* of ours: to the peer, from it */
} child;

/* Before this process has an adapter: then it could not fork. */
static void start_peer(void)
{
    int to[2], from[2];

    if (pipe(to) || pipe(from))
        abort();
    child.process = fork();
    if (child.process == 0) {
        mode_set(BY_DEFAULT);
        peer(to[0], from[1]);
    }
    child.in = to[1];
    child.out = from[0];
    close(to[0]);
    close(from[1]);
}

static void killed_peer_is_told_once(void **state)
{
    struct pair pair;
    struct side *side = &pair.passive;
    NDK_SGE entry;
    NDK_RESULT result;
    char said;

    (void)state;
    pair_open(&pair);
    assert_int_equal(write(child.in, &pair.address.sin_port, 2), 2);
    take_incoming(&pair);
    entry = sge(side->memory, 16, side->token);
    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1), 0);
    assert_int_equal(start_accept(side, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(side), 0);
    assert_int_equal(read(child.out, &said, 1), 1);
    assert_int_equal(kill(child.process, SIGKILL), 0);
    assert_int_equal(waitpid(child.process, NULL, 0), child.process);
    told_wait(&side->disconnect);
    assert_int_equal(start_disconnect(side), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(side), 0);
    while (!side->receive_cq->Dispatch->NdkGetCqResults(side->receive_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
    assert_int_equal(atomic_load(&side->disconnect.count), 1);
    pair_close(&pair);
    assert_int_equal(atomic_load(&side->disconnect.count), 1);
    close(child.in);
    close(child.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_peer_is_told_once),
    };

    start_peer();
    return run_rows("death", tests);
}
