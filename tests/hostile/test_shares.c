/* SPDX-License-Identifier: MIT */
/*
 * test_shares.c - a peer that takes all it can get of what connections share (RFC 5042, section 6.4): the kernel's
 * buffers, by not reading what it asked for; a shared receive queue, by sending first.
 */
#include "tests/hostile/scene.h"

#include "tests/support/settle.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct wire frame;

/* ---- a reader that does not read ---- */

enum { LARGE = 8 << 20, HEAP_MAX = 1 << 20 };

static struct sockaddr_in name_of(int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in name = { 0 };
    socklen_t size = sizeof name;

    ask(fd, (struct sockaddr *)&name, &size);
    return name;
}

/* The victim's end of a peer's connection. */
static int other_end(const struct peer *peer)
{
    struct sockaddr_in wanted = name_of(peer->fd, getsockname);
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    int found = -1;

    assert_non_null(directory);
    while (found < 0 && (entry = readdir(directory))) {
        int fd = atoi(entry->d_name);
        struct sockaddr_in name = name_of(fd, getpeername);

        if (fd > 2 && name.sin_family == AF_INET && name.sin_port == wanted.sin_port)
            found = fd;
    }
    closedir(directory);
    assert_true(found >= 0);
    return found;
}

static int unsent(int fd)
{
    int octets = 0;

    assert_int_equal(ioctl(fd, SIOCOUTQ, &octets), 0);
    return octets;
}

/* Octets that TCP may keep for sending on one connection: the last of three numbers. */
static int send_buffer_max(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/tcp_wmem", "r");
    int least, usual, most = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d %d %d", &least, &usual, &most), 3);
    fclose(file);
    return most;
}

/* The victim's send buffer has not changed for a while. */
static bool stands_still(int fd)
{
    static int last;
    static unsigned looks;
    int now = unsent(fd);

    looks = now && now == last ? looks + 1 : 0;
    last = now;
    return looks > 100;
}

static void test_a_reader_that_does_not_read_costs_what_a_send_buffer_holds(void **state)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
    void *memory = mmap(
        NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct ibv_mr *mr = srd_reg_mr(victim.pd, memory, LARGE, access);
    struct scene scene;
    size_t heap;
    int fd;

    (void)state;
    assert_non_null(mr);
    scene_open(&scene, VICTIM_RECEIVES);
    fd = other_end(&scene.peer);
    heap = mallinfo2().uordblks;
    for (uint32_t msn = 1; msn <= VICTIM_READS; msn++) {
        wire_read_request(&frame, msn, 0x100, 0, LARGE, mr->rkey, (uintptr_t)memory);
        peer_send_frame(&scene.peer, &frame);
    }
    assert_true(SETTLES(stands_still(fd)));
    assert_in_range(unsent(fd), 1, send_buffer_max());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(mallinfo2().uordblks, 0, heap + HEAP_MAX);
#else
    (void)heap;
#endif
    victim_unharmed(&victim);
    peer_abort(&scene.peer);
    victim_over(&scene.end);
    assert_int_equal(srd_dereg_mr(mr), 0);
    munmap(memory, LARGE);
    victim_unharmed(&victim);
}

/* ---- a sender that is first ---- */

enum { SHARED = 4 };

static void share(struct ibv_srq *srq, unsigned index)
{
    struct ibv_sge sge = { (uintptr_t)victim.receives, VICTIM_RECEIVE, victim.mr_receives->lkey };
    struct ibv_recv_wr wr = { .wr_id = index, .sg_list = &sge, .num_sge = 1 }, *bad;

    assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

static void send_to(struct scene *scene, uint32_t msn, const char *text)
{
    wire_untagged(&frame, WIRE_SEND, true, 0, 0, msn, 0, text, strlen(text));
    peer_send_frame(&scene->peer, &frame);
}

static void expect_message(unsigned index, const struct scene *scene)
{
    struct ibv_wc wc;

    victim_fetch(victim.cq, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(wc.wr_id, index);
    assert_int_equal(wc.qp_num, scene->end.id->qp->qp_num);
}

/* Streams have no share of their own: a later stream waits, keeps its connection and gets the next receive. */
static void test_a_stream_that_takes_all_shared_receives_makes_others_wait(void **state)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = SHARED + 1, .max_sge = 1 } };
    struct scene greedy, modest;
    struct ibv_wc wc;

    (void)state;
    victim.srq = srd_create_srq(victim.pd, &init);
    assert_non_null(victim.srq);
    for (unsigned i = 0; i < SHARED; i++)
        share(victim.srq, i);
    scene_open(&greedy, 0);
    scene_open(&modest, 0);
    for (uint32_t i = 0; i < SHARED; i++)
        send_to(&greedy, i + 1, "take");
    for (unsigned i = 0; i < SHARED; i++)
        expect_message(i, &greedy);
    send_to(&modest, 1, "wait");
    victim_unharmed(&victim);
    assert_int_equal(ibv_poll_cq(victim.cq, 1, &wc), 0);
    share(victim.srq, SHARED);
    expect_message(SHARED, &modest);
    assert_memory_equal(victim.receives, "wait", 4);
    peer_half_close(&greedy.peer);
    victim_over(&greedy.end);
    peer_finish(&greedy.peer);
    peer_half_close(&modest.peer);
    victim_over(&modest.end);
    peer_finish(&modest.peer);
    assert_int_equal(srd_destroy_srq(victim.srq), 0);
    victim.srq = NULL;
    victim_unharmed(&victim);
}

/* ---- connections that take all descriptors ---- */

enum { DESCRIPTORS = 256 };

static unsigned fill_descriptors(int held[DESCRIPTORS], struct rlimit *before)
{
    struct rlimit few = { DESCRIPTORS, 0 };
    unsigned count = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
    few.rlim_max = before->rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (count < DESCRIPTORS && (held[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    return count;
}

/* Connected peers are served; new ones wait in TCP's backlog until there is a descriptor. */
static void test_accepting_goes_on_when_there_are_descriptors_again(void **state)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = victim.port_be, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    struct peer peer = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    int held[DESCRIPTORS];
    struct victim_end end;
    struct rlimit before;
    unsigned count;

    (void)state;
    assert_true(peer.fd >= 0);
    count = fill_descriptors(held, &before);
    assert_int_equal(connect(peer.fd, (struct sockaddr *)&address, sizeof address), 0);
    wire_startup2(&frame, false, 4, VICTIM_READS);
    peer_send_frame(&peer, &frame);
    victim_unharmed(&victim);
    assert_int_equal(victim_event(&victim, 0, NULL, NULL), -1);
    while (count)
        close(held[--count]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    victim_take(&victim, &end);
    assert_int_equal(srd_reject(end.id, NULL, 0), 0);
    victim_drop(&end);
    peer_close(&peer);
    victim_unharmed(&victim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reader_that_does_not_read_costs_what_a_send_buffer_holds),
        cmocka_unit_test(test_a_stream_that_takes_all_shared_receives_makes_others_wait),
        cmocka_unit_test(test_accepting_goes_on_when_there_are_descriptors_again),
    };

    return cmocka_run_group_tests_name("hostile peer, shares", tests, scenes_open, scenes_close);
}
