/* SPDX-License-Identifier: MIT */
/* A connection that ends while a thread that has its queue pair from elsewhere is about to use it. */
#include "tests/unit/softrdma/pair.h"
#include "tests/unit/softrdma/receive_side.h"

#include "softrdma/connection/conn.h"
#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* What the next call of srd_conn_apply from another file does first; the linker leads it here (--wrap). */
static void (*meanwhile)(struct srd_conn *conn);

static struct srd_source_ops spying_ops;
static void (*real_free)(struct srd_source *source);
static _Atomic(struct srd_source *) watched;
static atomic_bool freed;
static bool freed_meanwhile;

struct srd_conn *__real_srd_conn_create(
    int fd, const struct srd_conn_owner_ops *owner_ops, void *owner, struct lock *owner_lock);
struct srd_conn *__wrap_srd_conn_create(
    int fd, const struct srd_conn_owner_ops *owner_ops, void *owner, struct lock *owner_lock);

void __real_srd_conn_apply(struct srd_conn *conn, unsigned actions);
void __wrap_srd_conn_apply(struct srd_conn *conn, unsigned actions);

void __wrap_srd_conn_apply(struct srd_conn *conn, unsigned actions)
{
    void (*first)(struct srd_conn *) = meanwhile;

    meanwhile = NULL;
    if (first)
        first(conn);
    if (!first || !freed_meanwhile)
        __real_srd_conn_apply(conn, actions);
}

/* Whose next srd_stream_tx begins with begin_to_close. */
static _Atomic(struct srd_qp *) sends_next;
static void begin_to_close(void);

int __real_srd_stream_tx(struct srd_qp *qp, struct iovec *iov, uint64_t now_ms, unsigned *actions);
int __wrap_srd_stream_tx(struct srd_qp *qp, struct iovec *iov, uint64_t now_ms, unsigned *actions);

int __wrap_srd_stream_tx(struct srd_qp *qp, struct iovec *iov, uint64_t now_ms, unsigned *actions)
{
    struct srd_qp *expected = qp;

    if (atomic_compare_exchange_strong(&sends_next, &expected, NULL))
        begin_to_close();
    return __real_srd_stream_tx(qp, iov, now_ms, actions);
}

static void spying_free(struct srd_source *source)
{
    if (source == atomic_load(&watched))
        atomic_store(&freed, true);
    real_free(source);
}

/* The listener's thread makes one, this thread the other, perhaps at the same time. */
struct srd_conn *__wrap_srd_conn_create(
    int fd, const struct srd_conn_owner_ops *owner_ops, void *owner, struct lock *owner_lock)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct srd_conn *conn = __real_srd_conn_create(fd, owner_ops, owner, owner_lock);

    assert_non_null(conn);
    pthread_mutex_lock(&mutex);
    if (!real_free) {
        spying_ops = *conn->source.ops;
        real_free = spying_ops.free;
        spying_ops.free = spying_free;
    }
    pthread_mutex_unlock(&mutex);
    conn->source.ops = &spying_ops;
    return conn;
}

static struct pair pair;
static struct ibv_srq *srq;

static void close_id(struct end *end)
{
    assert_int_equal(srd_destroy_qp(end->qp), 0);
    assert_int_equal(srd_destroy_id(end->id), 0);
    end->qp = NULL;
    end->id = NULL;
}

/* Closes both ids and waits until all holders but the last release the connection. */
static void end_it(struct srd_conn *conn)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    atomic_store(&watched, &conn->source);
    close_id(&pair.passive);
    close_id(&pair.active);
    while (!atomic_load(&freed) && atomic_load(&conn->source.reactor.refs) > 1) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
    freed_meanwhile = atomic_load(&freed);
}

static void make_shared_qp(struct end *end)
{
    struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
    struct ibv_qp_init_attr init = { .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_send_sge = 1 } };
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

    srq = init.srq = srd_create_srq(end->pd, &srq_attr);
    assert_non_null(srq);
    end->qp = srd_create_qp(end->pd, &init);
    assert_non_null(end->qp);
    assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
}

static bool message_waits(void)
{
    struct srd_rq *rq = &((struct srd_srq *)srq)->rq;
    bool waits;

    lock_acquire(&rq->lock);
    waits = !list_empty(&rq->waiting);
    lock_release(&rq->lock);
    return waits;
}

static void shared_receive_for_a_connection_that_ends(void **state)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct ibv_sge sge;
    struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.active);
    make_shared_qp(&pair.passive);
    end_resolve(&pair.active, &pair.address);
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair);
    sge = (struct ibv_sge){ (uintptr_t)pair.passive.memory, 64, pair.passive.mr->lkey };

    end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    while (!message_waits()) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
    meanwhile = end_it;
    assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
    assert_null(meanwhile); /* it was called */
    assert_false(freed_meanwhile);
    assert_true(atomic_load(&freed)); /* by this thread, which held it last */

    assert_int_equal(srd_destroy_srq(srq), 0);
    pair_close(&pair);
}

static struct srd_conn *closing;
static pthread_t closer;

static void *close_it(void *unused)
{
    (void)unused;
    srd_conn_close(closing);
    return NULL;
}

/* Another thread begins to close the connection; it then waits for the locks of this one. */
static void begin_to_close(void)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    assert_int_equal(pthread_create(&closer, NULL, close_it, NULL), 0);
    while (srd_life_phase(&closing->life) != SRD_CONN_CLOSED) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
}

/* A queue pair is destroyed, and what it has still to send is being collected: the connection stays closed. */
static void closed_while_its_queue_pair_goes(void **state)
{
    (void)state;
    pair_connect(&pair, "127.0.0.1");
    closing = srd_qp_conn(srd_qp_from(pair.active.qp));
    assert_non_null(closing);
    atomic_store(&sends_next, srd_qp_from(pair.active.qp));
    srd_conn_detach(srd_qp_from(pair.active.qp));
    assert_null(atomic_load(&sends_next)); /* it was called */
    assert_int_equal(srd_life_phase(&closing->life), SRD_CONN_CLOSED);
    assert_int_equal(pthread_join(closer, NULL), 0);
    srd_conn_unref(closing);
    pair_close(&pair);
}

static void *disconnect(void *unused)
{
    (void)unused;
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    return NULL;
}

static void await_closed(struct srd_conn *conn)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    while (srd_life_phase(&conn->life) != SRD_CONN_CLOSED) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
    srd_conn_unref(conn);
}

/* The stream's end begins anew: until then nothing is due, so no thread looks at it over and over. */
static void end_of_a_stream_that_is_found_late_is_waited_for_at_rest(void **state)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS, due_ms, anew_ms;
    struct srd_stream *stream;
    struct srd_conn *conn;
    pthread_t thread;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    conn = srd_qp_conn(srd_qp_from(pair.active.qp));
    stream = &conn->qp->stream;
    end_stop_receiving(&pair.passive);
    assert_int_equal(pthread_create(&thread, NULL, disconnect, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    due_ms = test_now_ms() - 150;
    atomic_store(&stream->end_deadline_ms, due_ms);
    atomic_store(&conn->close_ms, due_ms);
    srd_source_deadline(&conn->source, due_ms);
    while ((anew_ms = atomic_load(&stream->end_deadline_ms)) == due_ms ||
           atomic_load(&conn->source.deadline_ms) != anew_ms) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
    assert_true(anew_ms >= due_ms + 150 + SRD_DRAIN_MS);
    end_let_receive(&pair.passive);
    await_closed(conn);
    pair_close(&pair);
}

static void *destroy_queue_pair(void *unused)
{
    (void)unused;
    assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
    return NULL;
}

/* Its queue pair is gone, and it waits for the FIN of a peer that does not read. */
static void time_to_close_that_is_found_late_begins_anew(void **state)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS, due_ms;
    struct srd_conn *conn;
    pthread_t thread;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    conn = srd_qp_conn(srd_qp_from(pair.active.qp));
    end_stop_receiving(&pair.passive);
    assert_int_equal(pthread_create(&thread, NULL, destroy_queue_pair, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pair.active.qp = NULL;
    due_ms = test_now_ms() - 150;
    atomic_store(&conn->close_ms, due_ms); /* as if no thread had run since */
    srd_source_deadline(&conn->source, due_ms);
    while (
        atomic_load(&conn->close_ms) == due_ms && srd_life_phase(&conn->life) == SRD_CONN_LINGER) {
        assert_true(test_now_ms() < end_ms);
        sched_yield();
    }
    assert_int_equal(srd_life_phase(&conn->life), SRD_CONN_LINGER);
    assert_true(atomic_load(&conn->close_ms) >= due_ms + 150 + SRD_CONN_CLOSE_MS);
    end_let_receive(&pair.passive);
    await_closed(conn);
    pair_close(&pair);
}

/* The socket by which nothing may be sent any more: as where a security module forbids it. */
static _Atomic int forbidden_fd = -1;
static _Atomic int forbidden_error;

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (fd != atomic_load(&forbidden_fd))
        return __real_sendmsg(fd, message, flags);
    errno = atomic_load(&forbidden_error);
    if (errno == ENOMEM) /* for once */
        atomic_store(&forbidden_fd, -1);
    return -1;
}

/* Returns whether data goes by TCP. */
static bool connect_for_sends(int error)
{
    struct srd_conn *conn;

    pair_connect(&pair, "127.0.0.1");
    if (strcmp(srd_query_path(pair.active.qp), "tcp")) {
        pair_close(&pair);
        return false;
    }
    conn = srd_qp_conn(srd_qp_from(pair.active.qp));
    atomic_store(&forbidden_error, error);
    atomic_store(&forbidden_fd, conn->source.fd);
    srd_conn_unref(conn);
    end_post(&pair.active, IBV_WR_RDMA_WRITE, 8, 0, END_MEMORY / 2, &pair.passive, 0, 0);
    return true;
}

/* The receiving side would not find it, so the Write would neither complete nor fail. */
static void a_send_that_fails_by_itself_ends_the_connection(void **state)
{
    struct ibv_wc wc;

    (void)state;
    if (!connect_for_sends(EACCES))
        skip();
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
    atomic_store(&forbidden_fd, -1);
    pair_close(&pair);
}

static void a_send_without_memory_is_tried_again(void **state)
{
    struct ibv_wc wc;

    (void)state;
    if (!connect_for_sends(ENOMEM))
        skip();
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(atomic_load(&forbidden_fd), -1);
    pair_close(&pair);
}

/* SIGPIPE would end this process, which may have inherited that it is ignored. */
static void octets_for_a_peer_that_has_closed_raise_no_signal(void **state)
{
    static struct srd_conn conn;
    struct iovec rest = { .iov_base = (char[1]){ 0 }, .iov_len = 1 };
    bool rings;
    int fds[2];

    (void)state;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    close(fds[1]);
    conn.source.fd = fds[0];
    assert_int_equal(srd_transport_tcp.put(&conn, &rest, &rings), -EPIPE);
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_receive_for_a_connection_that_ends),
        cmocka_unit_test(closed_while_its_queue_pair_goes),
        cmocka_unit_test(end_of_a_stream_that_is_found_late_is_waited_for_at_rest),
        cmocka_unit_test(time_to_close_that_is_found_late_begins_anew),
        cmocka_unit_test(a_send_that_fails_by_itself_ends_the_connection),
        cmocka_unit_test(a_send_without_memory_is_tried_again),
        cmocka_unit_test(octets_for_a_peer_that_has_closed_raise_no_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
