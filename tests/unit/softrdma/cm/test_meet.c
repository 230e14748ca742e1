/* SPDX-License-Identifier: MIT */
/*
 * Which connections share memory: those of two ends on one host, whose user, addresses, settings and descriptors let
 * them; and that nothing is left of an offer that comes to nothing. Strangers at the meeting: hostile.meet.
 */
#include "tests/unit/softrdma/pair.h"

#include "softrdma/share/group.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

/* ---- descriptors ---- */

static int idle; /* when nothing is open but what the library keeps for ever */

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void close_all(struct pair *pair)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    pair_close(pair);
    while (descriptors() != idle) { /* connections linger */
        if (test_now_ms() > end_ms)
            fail_msg("%d descriptors, expected %d", descriptors(), idle);
        sched_yield();
    }
}

static int set_up(void **state)
{
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    pair_close(&pair);
    idle = descriptors();
    return 0;
}

/* ---- which path ---- */

static void expect_path(const struct pair *pair, const char *path)
{
    assert_string_equal(srd_query_path(pair->active.qp), path);
    assert_string_equal(srd_query_path(pair->passive.qp), path);
}

/* A Send in each direction. */
static void exchange(struct pair *pair)
{
    struct end *from = &pair->active, *to = &pair->passive;

    for (int i = 0; i < 2; i++) {
        struct ibv_wc wc;

        end_recv(to, 1, 0, 64);
        memset(from->memory + 64, 'a' + i, 64);
        end_post(from, IBV_WR_SEND, 2, 64, 64, NULL, 0, 0);
        test_poll(from->cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        test_poll(to->cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        assert_memory_equal(to->memory, from->memory + 64, 64);
        from = &pair->passive;
        to = &pair->active;
    }
}

static void step_connect(struct pair *pair)
{
    end_make_qp(&pair->active);
    end_make_qp(&pair->passive);
    end_resolve(&pair->active, &pair->address);
    pair_request(pair, 4);
    pair_accept(pair, 4);
    pair_establish(pair);
}

static void two_ends_on_one_host_share_memory(void **state)
{
    static const char *const hosts[] = { "127.0.0.1", "127.0.0.7", "::1" };

    (void)state;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct pair pair;

        pair_connect(&pair, hosts[i]);
        expect_path(&pair, "shm");
        exchange(&pair);
        close_all(&pair);
    }
}

static void a_listener_on_all_addresses_shares_memory(void **state)
{
    static const struct {
        const char *listener, *peer;
    } rows[] = { { "0.0.0.0", "127.0.0.1" }, { "0.0.0.0", "127.0.0.9" }, { "::", "::1" },
        { "::", "127.0.0.1" } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pair pair;

        pair_listen(&pair, rows[i].listener);
        test_address(rows[i].peer, ntohs(srd_get_src_port(pair.listener)), &pair.address);
        step_connect(&pair);
        expect_path(&pair, "shm");
        close_all(&pair);
    }
}

static void there_is_no_path_without_a_connection(void **state)
{
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    assert_null(srd_query_path(pair.active.qp));
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    assert_null(srd_query_path(pair.active.qp));
    assert_null(srd_query_path(pair.passive.qp));
    pair_establish(&pair);
    expect_path(&pair, "shm");
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_null(srd_query_path(pair.active.qp));
    assert_null(srd_query_path(pair.passive.qp));
    close_all(&pair);
}

/* ---- who does not want it ---- */

static void the_setting_of_either_end_keeps_tcp(void **state)
{
    (void)state;
    for (int active = 0; active < 2; active++) {
        struct pair pair;

        if (!active)
            setenv("NDSPI_SOFT_SHM", "0", 1);
        pair_prepare(&pair, "127.0.0.1");
        setenv("NDSPI_SOFT_SHM", "1", 1);
        if (active)
            setenv("NDSPI_SOFT_SHM", "0", 1);
        pair_request(&pair, 4);
        setenv("NDSPI_SOFT_SHM", "1", 1);
        pair_accept(&pair, 4);
        pair_establish(&pair);
        expect_path(&pair, "tcp");
        exchange(&pair);
        close_all(&pair);
    }
}

static void without_the_setting_memory_is_shared(void **state)
{
    struct pair pair;

    (void)state;
    unsetenv("NDSPI_SOFT_SHM");
    pair_connect(&pair, "127.0.0.1");
    setenv("NDSPI_SOFT_SHM", "1", 1);
    expect_path(&pair, "shm");
    close_all(&pair);
}

/* Shares may have the lower quarter of the descriptors: what is left serves connections over TCP. */
static void an_end_that_is_short_of_descriptors_keeps_tcp(void **state)
{
    struct rlimit files, less;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    for (int passive = 0; passive < 2; passive++) {
        struct pair pair;
        int fd, before;

        pair_prepare(&pair, "127.0.0.1");
        before = descriptors();
        fd = dup(0); /* the lowest that is free */
        close(fd);
        less = files;
        /* The active end has the next descriptor, the passive one those behind it. */
        less.rlim_cur = 4 * (rlim_t)(fd + (passive ? 1 : 0));
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
        pair_request(&pair, 4);
        pair_accept(&pair, 4);
        pair_establish(&pair);
        expect_path(&pair, "tcp");
        exchange(&pair);
        assert_int_equal(descriptors(), before + 1); /* the accepted socket */
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
        close_all(&pair);
    }
}

/* ---- what is short for a while ---- */

static _Thread_local bool no_unix_socket; /* there are no descriptors for one */
static _Thread_local int memory_errno;    /* why no memory is made */

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
    if (family == AF_UNIX && no_unix_socket) {
        errno = EMFILE;
        return -1;
    }
    return __real_socket(family, type, protocol);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    if (memory_errno) {
        errno = memory_errno;
        return -1;
    }
    return __real_memfd_create(name, flags);
}

/* Another connection to the same listener. */
static void connect_again(struct pair *pair)
{
    struct end *ends[2] = { &pair->active, &pair->passive };

    for (int i = 0; i < 2; i++) {
        assert_int_equal(srd_destroy_qp(ends[i]->qp), 0);
        assert_int_equal(srd_destroy_id(ends[i]->id), 0);
        ends[i]->id = NULL;
    }
    step_connect(pair);
}

/* Each connection asks the kernel anew; and what it refuses is not taken for another user's process. */
static void without_memory_it_is_tcp_until_there_is_some(void **state)
{
    static const int reasons[] = { EPERM, ENOSYS, EMFILE, ENOMEM };

    (void)state;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct pair pair;
        const char *said;

        log_catch();
        memory_errno = reasons[i];
        pair_connect(&pair, "127.0.0.1");
        memory_errno = 0;
        said = strstr(log_caught(), "no memory is offered to 127.0.0.1:");
        assert_non_null(said);
        assert_non_null(strstr(said, strerror(reasons[i])));
        expect_path(&pair, "tcp");
        exchange(&pair);
        connect_again(&pair);
        expect_path(&pair, "shm");
        close_all(&pair);
    }
}

/* Else the kernel would send SIGXFSZ, which ends the process. */
static void an_end_that_may_write_small_files_alone_keeps_tcp(void **state)
{
    struct rlimit size, less;
    struct pair pair;
    const char *said;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &size), 0);
    less = size;
    less.rlim_cur = 1 << 20;
    log_catch();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    pair_connect(&pair, "127.0.0.1");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &size), 0);
    said = strstr(log_caught(), "no memory is offered to 127.0.0.1:");
    assert_non_null(said);
    assert_non_null(strstr(said, "(ulimit -f)"));
    expect_path(&pair, "tcp");
    exchange(&pair);
    connect_again(&pair);
    expect_path(&pair, "shm");
    close_all(&pair);
}

/* A listener that had no descriptor for its second socket opens it when a connection comes, a second later. */
static void a_listener_that_lacked_a_descriptor_shares_later(void **state)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct pair pair;

    (void)state;
    no_unix_socket = true;
    pair_prepare(&pair, "127.0.0.1");
    no_unix_socket = false;
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair);
    expect_path(&pair, "tcp");
    while (strcmp(srd_query_path(pair.active.qp), "shm") != 0) {
        assert_true(test_now_ms() < end_ms);
        connect_again(&pair);
    }
    expect_path(&pair, "shm");
    exchange(&pair);
    close_all(&pair);
}

/* ---- offers that come to nothing ---- */

static void a_rejected_request_leaves_nothing(void **state)
{
    struct pair pair;
    int before;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    before = descriptors();
    pair_request(&pair, 4);
    assert_int_equal(srd_reject(pair.passive.id, "no", 2), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 28);
    assert_int_equal(srd_destroy_id(pair.passive.id), 0);
    pair.passive.id = NULL;
    while (descriptors() >= before) /* the socket of the active end goes too */
        sched_yield();
    close_all(&pair);
}

static void a_program_that_gives_up_leaves_nothing(void **state)
{
    (void)state;
    for (int step = 0; step < 4; step++) {
        struct pair pair;

        pair_prepare(&pair, "127.0.0.1");
        pair_request(&pair, 4);
        if (step >= 2)
            pair_accept(&pair, 4);
        if (step % 2) {
            assert_int_equal(srd_destroy_id(pair.passive.id), 0);
            pair.passive.id = NULL;
        } else {
            assert_int_equal(srd_destroy_id(pair.active.id), 0);
            pair.active.id = NULL;
        }
        close_all(&pair);
    }
}

static void a_refusal_after_the_reply_is_seen(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    assert_int_equal(srd_reject(pair.active.id, "late", 4), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 28);
    assert_int_equal(event->param.conn.private_data_len, 4);
    assert_memory_equal(event->param.conn.private_data, "late", 4);
    assert_int_equal(srd_ack_cm_event(event), 0);
    close_all(&pair);
}

/* ---- many ---- */

enum { MANY = 1000 };

static struct ibv_qp *small_qp(struct end *end)
{
    struct ibv_qp_init_attr init = { .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    struct ibv_qp *qp = srd_create_qp(end->pd, &init);

    assert_non_null(qp);
    assert_int_equal(srd_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
    return qp;
}

static void small_to_rts(struct ibv_qp *qp, struct rdma_cm_id *id)
{
    struct end end = { .qp = qp, .id = id };

    end_to_rts(&end);
}

/* Descriptors of one connection with both ends here: two sockets, and two by which they wake each other. */
enum { DESCRIPTORS_EACH = 4, QUARTER = 4, EIGHTH = 8, RING_OCTETS = 1 << 20 };

static void a_thousand_at_once_share_memory(void **state)
{
    static struct rdma_cm_id *active[MANY], *passive[MANY];
    static struct ibv_qp *qps[2][MANY];
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    uint64_t group = srd_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    int established = 0, count = MANY;
    struct rlimit files, more;
    struct pair pair;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    more = files;
    more.rlim_cur = more.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &more), 0);
    if (more.rlim_cur / QUARTER < (rlim_t)(MANY * DESCRIPTORS_EACH + idle + 64))
        count = (int)(more.rlim_cur / QUARTER / DESCRIPTORS_EACH) - idle;
    if (group / EIGHTH / RING_OCTETS < 2 * (uint64_t)count) /* both ends are here */
        count = (int)(group / EIGHTH / RING_OCTETS / 2);
    assert_true(count > 0);
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < count; i++) {
        end_resolve(&pair.active, &pair.address);
        active[i] = pair.active.id;
        qps[0][i] = small_qp(&pair.active);
        qps[1][i] = small_qp(&pair.passive);
    }
    pair.active.id = NULL;
    for (int i = 0; i < count; i++) {
        param.qp_num = qps[0][i]->qp_num;
        assert_int_equal(srd_connect(active[i], &param), 0);
    }
    for (int i = 0; i < count; i++) {
        struct rdma_cm_event *event =
            test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);

        passive[i] = event->id;
        assert_int_equal(srd_ack_cm_event(event), 0);
    }
    for (int i = 0; i < count; i++) {
        small_to_rts(qps[1][i], passive[i]);
        param.qp_num = qps[1][i]->qp_num;
        assert_int_equal(srd_accept(passive[i], &param), 0);
    }
    for (int i = 0; i < count; i++) {
        struct rdma_cm_event *event =
            test_event(pair.active.events, RDMA_CM_EVENT_CONNECT_RESPONSE);
        int at = 0;

        while (active[at] != event->id)
            at++;
        small_to_rts(qps[0][at], active[at]);
        assert_int_equal(srd_ack_cm_event(event), 0);
        assert_int_equal(srd_establish(active[at]), 0);
    }
    while (established < count) {
        assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
        established++;
    }
    for (int i = 0; i < count; i++) {
        assert_string_equal(srd_query_path(qps[0][i]), "shm");
        assert_string_equal(srd_query_path(qps[1][i]), "shm");
    }
    for (int i = 0; i < count; i++) {
        assert_int_equal(srd_destroy_qp(qps[0][i]), 0);
        assert_int_equal(srd_destroy_qp(qps[1][i]), 0);
        assert_int_equal(srd_destroy_id(active[i]), 0);
        assert_int_equal(srd_destroy_id(passive[i]), 0);
    }
    close_all(&pair);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* ---- processes ---- */

/*
 * The active end in a process of its own, as this user: connects to the address that comes by the socket, and says
 * there that it has looked at its path. Returns its exit status.
 */
static int connect_in_child(int parent, uid_t user, const char *path)
{
    struct sockaddr_storage where;
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct end end;

    if (read(parent, &where, sizeof(where)) != sizeof(where) || setresuid(user, user, user))
        return 4;
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &where);
    param.qp_num = end.qp->qp_num;
    if (srd_connect(end.id, &param) || test_event_done(end.events, RDMA_CM_EVENT_CONNECT_RESPONSE))
        return 1;
    end_to_rts(&end);
    if (srd_establish(end.id) || strcmp(srd_query_path(end.qp), path) != 0 ||
        write(parent, "", 1) != 1)
        return 2;
    if (test_event_done(end.events, RDMA_CM_EVENT_DISCONNECTED))
        return 3;
    end_close(&end);
    return 0;
}

/* Active ends, which wait for an address: made before this process has threads, none of which a child would have. */
static struct child {
    pid_t process;
    int to;
} of_this_user, of_another;

static struct child child_start(uid_t user, const char *path)
{
    int ends[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return (struct child){ -1, -1 };
    child = fork();
    if (!child) {
        close(ends[0]);
        _exit(connect_in_child(ends[1], user, path));
    }
    close(ends[1]);
    return (struct child){ child, ends[0] };
}

static void meet_process(struct child child, const char *path)
{
    struct rdma_cm_event *event;
    struct pair pair;
    int status;
    char octet;

    assert_true(child.process > 0);
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.passive);
    assert_int_equal(
        write(child.to, &pair.address, sizeof(pair.address)), (int)sizeof(pair.address));
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&pair.passive);
    assert_int_equal(
        srd_accept(pair.passive.id, &(struct rdma_conn_param){ .responder_resources = 1,
                                        .initiator_depth = 1,
                                        .qp_num = pair.passive.qp->qp_num }),
        0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    assert_string_equal(srd_query_path(pair.passive.qp), path);
    assert_int_equal(read(child.to, &octet, 1), 1);
    assert_int_equal(srd_disconnect(pair.passive.id), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(waitpid(child.process, &status, 0), child.process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close_all(&pair);
}

static void two_processes_of_a_user_share_memory(void **state)
{
    (void)state;
    meet_process(of_this_user, "shm");
}

static void processes_of_two_users_keep_tcp(void **state)
{
    (void)state;
    if (geteuid())
        skip();
    meet_process(of_another, "tcp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ends_on_one_host_share_memory),
        cmocka_unit_test(a_listener_on_all_addresses_shares_memory),
        cmocka_unit_test(there_is_no_path_without_a_connection),
        cmocka_unit_test(the_setting_of_either_end_keeps_tcp),
        cmocka_unit_test(without_the_setting_memory_is_shared),
        cmocka_unit_test(an_end_that_is_short_of_descriptors_keeps_tcp),
        cmocka_unit_test(without_memory_it_is_tcp_until_there_is_some),
        cmocka_unit_test(an_end_that_may_write_small_files_alone_keeps_tcp),
        cmocka_unit_test(a_listener_that_lacked_a_descriptor_shares_later),
        cmocka_unit_test(a_rejected_request_leaves_nothing),
        cmocka_unit_test(a_program_that_gives_up_leaves_nothing),
        cmocka_unit_test(a_refusal_after_the_reply_is_seen),
        cmocka_unit_test(a_thousand_at_once_share_memory),
        cmocka_unit_test(two_processes_of_a_user_share_memory),
        cmocka_unit_test(processes_of_two_users_keep_tcp),
    };

    setenv("NDSPI_SOFT_SHM", "1", 1);
    of_this_user = child_start(geteuid(), "shm");
    if (!geteuid())
        of_another = child_start(12345, "tcp");
    return cmocka_run_group_tests(tests, set_up, NULL);
}
