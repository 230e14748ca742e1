/* SPDX-License-Identifier: MIT */
/*
 * The memory that two ends share: octets in order, full and empty rings, who is rung and when, memory that is given
 * back; offers that do not fit; and a peer that writes rubbish into any word of the memory.
 */
#include "softrdma/share/internal.h"

#include "softrdma/memory/dma.h"
#include "softrdma/share/group.h"
#include "util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

enum { RING = 1048576, MEMORY = 4096 + 2 * RING };

/* gcc's thread sanitizer does not see that a handler was left by a jump, and takes what follows for a part of it. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

/* cmocka installs handlers of its own for each test: those that stand from the first call on go back. */
static void guard(void)
{
    static const int signals[2] = { SIGSEGV, SIGBUS };
    static struct sigaction ours[2];
    static bool known;

    srd_dma_guard();
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], known ? &ours[i] : NULL, known ? NULL : &ours[i]);
    known = true;
}

static struct srd_share *active, *passive;
static int send_error, recv_error; /* with which these fail now */

ssize_t __real_send(int fd, const void *octets, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags);

ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags)
{
    if (!send_error)
        return __real_send(fd, octets, count, flags);
    errno = send_error;
    return -1;
}

ssize_t __real_recv(int fd, void *octets, size_t count, int flags);
ssize_t __wrap_recv(int fd, void *octets, size_t count, int flags);

ssize_t __wrap_recv(int fd, void *octets, size_t count, int flags)
{
    if (!recv_error)
        return __real_recv(fd, octets, count, flags);
    errno = recv_error;
    return -1;
}

static bool no_removal;

int __real_madvise(void *memory, size_t octets, int advice);
int __wrap_madvise(void *memory, size_t octets, int advice);

int __wrap_madvise(void *memory, size_t octets, int advice)
{
    if (!no_removal || advice != MADV_REMOVE)
        return __real_madvise(memory, octets, advice);
    errno = EPERM;
    return -1;
}

/* What the test's own group may have is another matter. */
static _Atomic uint64_t group_octets = UINT64_MAX;

uint64_t __wrap_srd_group_memory(const char *membership, const char *mount);

uint64_t __wrap_srd_group_memory(const char *membership, const char *mount)
{
    assert_string_equal(membership, "/proc/self/cgroup");
    assert_string_equal(mount, "/sys/fs/cgroup");
    return group_octets;
}

static void make(void)
{
    struct srd_share_offer offer, other;
    int wake[2];

    assert_int_equal(srd_share_make(&offer), 0);
    assert_int_equal(offer.wake_fd, -1);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wake), 0);
    other = (struct srd_share_offer){ dup(offer.memory_fd), wake[1] };
    offer.wake_fd = wake[0];
    assert_int_equal(srd_share_take(&offer, true, &active), 0);
    assert_int_equal(srd_share_take(&other, false, &passive), 0);
}

static int setup(void **state)
{
    (void)state;
    make();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    srd_share_free(active);
    srd_share_free(passive);
    return 0;
}

static ssize_t write_octets(struct srd_share *share, const void *octets, size_t count)
{
    struct iovec iov = { (void *)octets, count };

    return srd_share_write(share, &iov, 1);
}

static ssize_t read_octets(struct srd_share *share, void *octets, size_t count)
{
    struct iovec iov = { octets, count };

    return srd_share_read(share, &iov, 1);
}

/* Whether the end has been rung. */
static bool is_rung(struct srd_share *share)
{
    struct pollfd fd = { .fd = srd_share_wake_fd(share), .events = POLLIN };

    return poll(&fd, 1, 0) == 1;
}

static uint8_t octet_at(size_t at)
{
    return (uint8_t)(at * 31 + at / 251);
}

/* ---- octets ---- */

static void octets_arrive_in_order_both_ways(void **state)
{
    static uint8_t out[RING], in[RING];
    struct srd_share *ends[2] = { active, passive };

    (void)state;
    for (int way = 0; way < 2; way++) {
        size_t sent = 0, got = 0;

        /* Pieces that do not divide the ring, more than twice around it. */
        while (got < 2 * RING + RING / 2) {
            size_t count = 1 + (sent * 7) % 70001;
            struct iovec from[2], to[2];
            ssize_t done;

            for (size_t i = 0; i < count; i++)
                out[i] = octet_at(sent + i);
            from[0] = (struct iovec){ out, count / 3 };
            from[1] = (struct iovec){ out + count / 3, count - count / 3 };
            done = srd_share_write(ends[way], from, 2);
            assert_true(done >= 0);
            sent += (size_t)done;
            to[0] = (struct iovec){ in, 1000 };
            to[1] = (struct iovec){ in + 1000, 40000 };
            done = srd_share_read(ends[!way], to, 2);
            assert_true(done > 0 && done <= 41000);
            for (size_t i = 0; i < (size_t)done; i++)
                assert_int_equal(in[i], octet_at(got + i));
            got += (size_t)done;
        }
    }
}

static void a_full_ring_takes_nothing_until_a_quarter_is_read(void **state)
{
    static uint8_t octets[RING + 1];

    (void)state;
    assert_int_equal(write_octets(active, octets, RING + 1), RING);
    assert_int_equal(write_octets(active, octets, 1), 0);
    assert_true(srd_share_want_room(active));
    assert_int_equal(read_octets(passive, octets, RING / 4 - 1), RING / 4 - 1);
    assert_int_equal(write_octets(active, octets, 1), 0);
    assert_int_equal(read_octets(passive, octets, 1), 1);
    assert_int_equal(write_octets(active, octets, RING), RING / 4);
}

/* Half of it, so that two ends that sleep do not wake each other for every piece; or all that there is. */
static void a_writer_without_room_is_rung_when_half_is_read(void **state)
{
    static uint8_t octets[RING];

    (void)state;
    assert_int_equal(write_octets(active, octets, RING), RING);
    assert_true(srd_share_want_room(active));
    assert_int_equal(read_octets(passive, octets, RING / 2 - 1), RING / 2 - 1);
    assert_false(is_rung(active));
    assert_int_equal(read_octets(passive, octets, RING / 4), RING / 4);
    assert_true(is_rung(active));
    assert_true(srd_share_answer(active));
    assert_int_equal(write_octets(active, octets, RING), 3 * RING / 4 - 1);
    assert_true(srd_share_want_room(active));
    while (read_octets(passive, octets, RING / 8) > 0)
        ;
    assert_false(srd_share_has_room(active) && srd_share_want_room(active));
    srd_share_doze(passive);
    assert_true(is_rung(active));
}

static void room_that_is_there_already_is_not_waited_for(void **state)
{
    static uint8_t octets[RING];

    (void)state;
    assert_int_equal(write_octets(active, octets, RING), RING);
    assert_int_equal(read_octets(passive, octets, RING), RING);
    assert_false(srd_share_want_room(active));
}

static void memory_that_is_gone_fails_and_moves_nothing(void **state)
{
    uint8_t octets[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8] = { 0 };
    uint8_t *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec iov[2] = { { octets, 8 }, { gone, 8 } };

    (void)state;
    guard();
    assert_int_equal(munmap(gone, 4096), 0);
    assert_int_equal(srd_share_write(active, iov, 2), -EFAULT);
    assert_int_equal(read_octets(passive, got, 8), 0);
    assert_int_equal(write_octets(active, octets, 8), 8);
    assert_int_equal(srd_share_read(passive, iov + 1, 1), -EFAULT);
    assert_int_equal(read_octets(passive, got, 8), 8);
    assert_memory_equal(got, octets, 8);
}

/* Where the kernel has no page for the ring. */
static void a_ring_without_memory_ends_it(void **state)
{
    uint8_t octets[8] = { 0 };

    (void)state;
    guard();
    assert_int_equal(write_octets(active, octets, 8), 8);
    assert_int_equal(munmap(passive->memory + 4096, RING), 0);
    assert_int_equal(read_octets(passive, octets, 8), -ENOMEM);
    assert_int_equal(write_octets(passive, octets, 8), -ENOMEM); /* for ever */
    assert_false(srd_share_doze(passive));
    assert_int_equal(munmap(active->memory + 4096, RING), 0);
    assert_int_equal(write_octets(active, octets, 8), -ENOMEM);
    assert_int_equal(read_octets(active, octets, 8), -ENOMEM);
}

static void a_thread_that_polls_looks_for_room_without_a_bell(void **state)
{
    static uint8_t octets[RING];

    (void)state;
    assert_int_equal(write_octets(active, octets, RING), RING);
    assert_false(srd_share_has_room(active));
    assert_int_equal(read_octets(passive, octets, RING / 4), RING / 4);
    assert_false(is_rung(active));
    assert_true(srd_share_has_room(active));
    atomic_store(&active->out->tail, RING + 1);
    assert_true(srd_share_has_room(active)); /* the write finds what it is */
    assert_int_equal(write_octets(active, octets, RING), -EPROTO);
}

/* ---- who is rung ---- */

static void a_dozing_reader_is_rung_once(void **state)
{
    uint8_t octets[4] = { 0 };

    (void)state;
    assert_true(srd_share_doze(passive));
    assert_int_equal(write_octets(active, octets, 4), 4);
    assert_int_equal(write_octets(active, octets, 4), 4);
    assert_int_equal(recv(srd_share_wake_fd(passive), octets, 4, MSG_DONTWAIT | MSG_PEEK), 1);
    assert_true(srd_share_answer(passive));
    assert_false(is_rung(passive));
    assert_false(srd_share_doze(passive)); /* there is something */
}

static void a_reader_that_polls_is_not_rung(void **state)
{
    uint8_t octets[4] = { 0 };

    (void)state;
    srd_share_awake(passive);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(write_octets(active, octets, 4), 4);
        assert_int_equal(read_octets(passive, octets, 4), 4);
    }
    assert_false(is_rung(passive));
    assert_false(is_rung(active));
}

/* What is told is there at once; who dozes is rung for it once it is to be seen, and only then. */
static void a_word_is_told_and_rung_for(void **state)
{
    uint8_t octets[4] = { 0 };

    (void)state;
    assert_int_equal(atomic_load(srd_share_told(passive)), 0);
    srd_share_awake(passive);
    atomic_store(srd_share_tells(active), 7);
    assert_int_equal(atomic_load(srd_share_told(passive)), 7);
    assert_int_equal(atomic_load(srd_share_told(active)), 0); /* each direction has its own */
    srd_share_wake(active);
    assert_false(is_rung(passive)); /* it polls */
    assert_true(srd_share_is_quiet(passive));
    assert_true(srd_share_doze(passive));
    assert_false(srd_share_is_quiet(passive)); /* a read would have to end the doze */
    atomic_store(srd_share_tells(active), 8);
    assert_false(is_rung(passive));
    srd_share_wake(active);
    assert_true(is_rung(passive));
    assert_true(srd_share_answer(passive));
    srd_share_wake(active); /* once for each doze */
    assert_false(is_rung(passive));
    assert_int_equal(write_octets(active, octets, 4), 4);
    srd_share_awake(passive);
    assert_false(srd_share_is_quiet(passive));
}

static void the_end_is_said_and_rung(void **state)
{
    (void)state;
    srd_share_awake(passive);
    assert_false(srd_share_ended(passive));
    srd_share_end(active);
    assert_true(srd_share_ended(passive));
    assert_true(is_rung(passive));
    assert_false(srd_share_ended(active));
}

static void a_peer_that_has_gone_answers_no_more(void **state)
{
    (void)state;
    assert_true(srd_share_answer(active));
    srd_share_free(passive);
    assert_false(srd_share_answer(active));
    assert_int_equal(write_octets(active, "x", 1), 1);
    srd_share_free(active);
    make();
}

/* ---- memory ---- */

static int memory_of(off_t octets, int seals)
{
    int fd = memfd_create("offer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_int_equal(ftruncate(fd, octets), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static size_t resident(struct srd_share *share)
{
    unsigned char in[MEMORY / 4096];
    size_t pages = 0;

    assert_int_equal(mincore(share->memory, MEMORY, in), 0);
    for (size_t i = 0; i < MEMORY / 4096; i++)
        pages += in[i] & 1;
    return pages * 4096;
}

static size_t kept(int memory_fd)
{
    struct stat stat;

    assert_int_equal(fstat(memory_fd, &stat), 0);
    return (size_t)stat.st_blocks * 512;
}

/* A store there that finds none would end the process. The maker may not have seen to it. */
/* Else both could sleep for ever. */
static void ends_for_both(int error, int expected)
{
    struct pollfd wakes[2] = { { srd_share_wake_fd(active), POLLIN, 0 },
        { srd_share_wake_fd(passive), POLLIN, 0 } };

    assert_true(srd_share_doze(passive));
    send_error = error;
    assert_int_equal(write_octets(active, "a", 1), 1);
    send_error = 0;
    assert_int_equal(write_octets(active, "b", 1), expected);
    assert_int_equal(poll(wakes, 2, 0), 2);
    assert_false(srd_share_answer(active));
    assert_false(srd_share_answer(passive));
}

static void a_bell_without_memory_ends_it_for_both(void **state)
{
    (void)state;
    ends_for_both(ENOBUFS, -ENOMEM);
}

static void a_bell_that_cannot_be_rung_ends_it_for_both(void **state)
{
    (void)state;
    ends_for_both(EACCES, -EACCES);
}

/* What was rung before is not answered yet, or the peer has gone, as TCP will say. */
static void a_bell_that_need_not_be_rung_ends_nothing(void **state)
{
    static const int errors[] = { EAGAIN, EPIPE, ECONNRESET, ENOTCONN };

    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        srd_share_doze(passive);
        send_error = errors[i];
        assert_int_equal(write_octets(active, "a", 1), 1);
        send_error = 0;
        assert_int_equal(write_octets(active, "b", 1), 1);
    }
}

/* Nothing would wake this end any more. */
static void a_bell_that_cannot_be_heard_ends_it(void **state)
{
    uint8_t octet;

    (void)state;
    recv_error = EIO;
    assert_false(srd_share_answer(passive));
    recv_error = 0;
    assert_int_equal(read_octets(passive, &octet, 1), -EIO);
    assert_int_equal(write_octets(passive, "a", 1), -EIO);
    assert_false(srd_share_doze(passive));
}

static void a_bell_is_heard_again_after_a_shortage(void **state)
{
    static const int errors[] = { EAGAIN, EINTR, ENOMEM, ENOBUFS };
    uint8_t octet;

    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        recv_error = errors[i];
        assert_true(srd_share_answer(passive));
        recv_error = 0;
        assert_true(srd_share_answer(passive));
        assert_int_equal(read_octets(passive, &octet, 1), 0);
    }
}

/* Closed with octets in it that nobody has read. */
static void a_bell_that_the_peer_reset_leaves_what_is_there(void **state)
{
    uint8_t octet;

    (void)state;
    assert_int_equal(write_octets(active, "a", 1), 1);
    recv_error = ECONNRESET;
    assert_false(srd_share_answer(passive));
    recv_error = 0;
    assert_int_equal(read_octets(passive, &octet, 1), 1);
}

static void the_words_have_their_memory_from_the_beginning(void **state)
{
    int memory_fd = memory_of(MEMORY, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    struct srd_share_offer offer = { dup(memory_fd), dup(0) };
    struct srd_share *share;

    (void)state;
    assert_int_equal(kept(memory_fd), 0);
    assert_int_equal(srd_share_take(&offer, false, &share), 0);
    assert_int_equal(kept(memory_fd), 4096);
    srd_share_free(share);
    close(memory_fd);
}

static void an_idle_end_gives_its_ring_back(void **state)
{
    static uint8_t octets[RING];

    (void)state;
    assert_int_equal(write_octets(active, octets, RING), RING);
    assert_false(srd_share_give_back(active)); /* the peer has still to read */
    assert_int_equal(read_octets(passive, octets, RING), RING);
    assert_true(srd_share_give_back(active));
    assert_true(resident(active) <= 8192);
    memset(octets, 7, sizeof(octets));
    assert_int_equal(write_octets(active, octets, 100), 100);
    assert_int_equal(read_octets(passive, octets + 100, 100), 100);
    assert_memory_equal(octets, octets + 100, 100);
}

/* The memory stays, and the log says so once. */
static void a_kernel_that_takes_no_memory_back_is_told_of(void **state)
{
    static uint8_t octets[RING];
    const char *said;

    (void)state;
    log_catch();
    no_removal = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_octets(active, octets, RING), RING);
        assert_int_equal(read_octets(passive, octets, RING), RING);
        assert_true(srd_share_give_back(active));
    }
    no_removal = false;
    said = strstr(log_caught(), "the kernel takes no memory back");
    assert_non_null(said);
    assert_null(strstr(said + 1, "the kernel takes no memory back"));
    assert_true(resident(active) >= RING);
}

/* What was written is all around the ring; what is not read yet, over its end, stays. */
static void a_busy_end_gives_back_what_holds_nothing(void **state)
{
    static uint8_t octets[RING], got[20000];

    (void)state;
    memset(octets, 9, sizeof(octets));
    assert_int_equal(write_octets(active, octets, RING - 10000), RING - 10000);
    assert_int_equal(read_octets(passive, octets, RING - 10000), RING - 10000);
    srd_share_doze(passive);
    for (size_t i = 0; i < sizeof(got); i++)
        octets[i] = octet_at(i);
    assert_int_equal(write_octets(active, octets, sizeof(got)), sizeof(got));
    assert_true(resident(active) > RING / 2);
    srd_share_trim(active);
    assert_true(resident(active) <= 4096 + sizeof(got) + 2 * 4096);
    assert_int_equal(read_octets(passive, got, sizeof(got)), sizeof(got));
    assert_memory_equal(got, octets, sizeof(got));
}

static void a_full_ring_is_not_trimmed(void **state)
{
    static uint8_t octets[RING], got[RING];

    (void)state;
    for (size_t i = 0; i < RING; i++)
        octets[i] = octet_at(i);
    assert_int_equal(write_octets(active, octets, RING), RING);
    srd_share_trim(active);
    assert_int_equal(read_octets(passive, got, RING), RING);
    assert_memory_equal(got, octets, RING);
    atomic_store(&passive->in->tail, UINT64_MAX / 2); /* it cannot be there */
    assert_int_equal(write_octets(active, octets, 100), -EPROTO);
    srd_share_trim(active);
}

/* ---- offers ---- */

/* What may be anything a thread closes in its own time. */
static void expect_closed(int fd)
{
    uint64_t end_ms = clock_now_ms() + 10000;

    while (fcntl(fd, F_GETFD) != -1) {
        assert_true(clock_now_ms() < end_ms);
        sched_yield();
    }
}

static void expect_refusal(int memory_fd)
{
    struct srd_share_offer offer = { memory_fd, dup(0) };
    struct srd_share *share;
    int wake_fd = offer.wake_fd;

    assert_true(memory_fd >= 0 && wake_fd >= 0);
    assert_int_equal(srd_share_take(&offer, false, &share), -EPROTO);
    expect_closed(memory_fd);
    expect_closed(wake_fd);
}

static void memory_of_another_size_or_seals_is_refused(void **state)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    (void)state;
    expect_refusal(memory_of(MEMORY - 1, seals));
    expect_refusal(memory_of(MEMORY + 1, seals));
    expect_refusal(memory_of(0, seals));
    expect_refusal(memory_of(MEMORY, F_SEAL_GROW | F_SEAL_SEAL));
    expect_refusal(memory_of(MEMORY, F_SEAL_SHRINK | F_SEAL_GROW));
    expect_refusal(memory_of(MEMORY, seals | F_SEAL_WRITE));
    expect_refusal(dup(0));
}

/* Whether the kernel has been told that of the mapping: two letters of proc(5), with a space before. */
static bool has_flag(const void *memory, const char *flag)
{
    unsigned long from = 0, to = 0, seen;
    FILE *maps = fopen("/proc/self/smaps", "re");
    bool has = false;
    char line[512];

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx ", &seen, &to) == 2)
            from = seen;
        if (from == (uintptr_t)memory && strstr(line, "VmFlags:"))
            has = strstr(line, flag);
    }
    fclose(maps);
    return has;
}

static void the_memory_is_of_small_pages(void **state)
{
    unsigned char there[MEMORY / 4096];

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
        skip(); /* the kernel knows no others */
    assert_true(has_flag(active->memory, " nh"));
    assert_true(has_flag(passive->memory, " nh"));
    assert_int_equal(mincore(active->memory, MEMORY, there), 0);
    assert_int_equal(there[0], 1);
    for (size_t i = 1; i < sizeof(there); i++)
        assert_int_equal(there[i], 0);
}

/* With vm.memfd_noexec 2 the kernel makes no other; before 6.3 it knows none of this kind. */
static void the_memory_cannot_be_executed(void **state)
{
    enum { NOEXEC_SEAL = 8, SEAL_EXEC = 0x20 };
    int known = memfd_create("", MFD_CLOEXEC | NOEXEC_SEAL);
    struct srd_share_offer offer;

    (void)state;
    if (known < 0)
        skip();
    close(known);
    assert_int_equal(srd_share_make(&offer), 0);
    assert_true(fcntl(offer.memory_fd, F_GET_SEALS) & SEAL_EXEC);
    close(offer.memory_fd);
}

/* A dump would make every page: 2 MiB for each connection, of memory and of the file. */
static void the_memory_is_not_dumped(void **state)
{
    (void)state;
    assert_true(has_flag(active->memory, " dd"));
    assert_true(has_flag(passive->memory, " dd"));
}

/* The kernel lets a process have 65530 mappings, unless told otherwise: most are left for the program. */
static void a_process_has_so_many_and_then_again(void **state)
{
    enum { MOST = 16384 };
    static struct srd_share *more[MOST];
    int count = 0, error;

    (void)state;
    for (;;) {
        struct srd_share_offer offer;

        assert_int_equal(srd_share_make(&offer), 0);
        error = srd_share_take(&offer, true, &more[count]);
        if (error)
            break;
        count++;
        assert_true(count <= MOST);
    }
    assert_int_equal(error, -EUSERS);
    assert_int_equal(count, MOST - 2); /* the setup's */
    for (int round = 0; round < 2; round++) {
        struct srd_share_offer offer;

        srd_share_free(more[0]);
        assert_int_equal(srd_share_make(&offer), 0);
        assert_int_equal(srd_share_take(&offer, true, &more[0]), 0);
    }
    while (count > 0)
        srd_share_free(more[--count]);
}

static int take_one(struct srd_share **share)
{
    struct srd_share_offer offer;

    assert_int_equal(srd_share_make(&offer), 0);
    return srd_share_take(&offer, true, share);
}

/* Takes another one, until that has the result expected: the limit is looked at now and then. */
static void await_take(int expected)
{
    struct srd_share *another;
    int error = 0;

    for (int tries = 0; tries < 3000; tries++) {
        error = take_one(&another);
        if (!error)
            srd_share_free(another);
        if (error == expected)
            return;
        poll(NULL, 0, 1);
    }
    assert_int_equal(error, expected);
}

/* Each may fill the ring that this process writes, and the kernel kills where a group has no more. */
static void a_control_group_with_a_limit_lets_fewer_share(void **state)
{
    enum { FIT = 4 };
    struct srd_share *more[FIT];
    int count = 2; /* the setup's */

    (void)state;
    group_octets = 8ull * FIT * RING + RING;
    while (count < FIT)
        assert_int_equal(take_one(&more[count++]), 0);
    await_take(-EUSERS);
    srd_share_free(more[--count]);
    assert_int_equal(take_one(&more[count++]), 0);
    group_octets = UINT64_MAX;
    await_take(0);
    while (count > 2)
        srd_share_free(more[--count]);
}

/* ---- a hostile peer ---- */

static void positions_that_cannot_be_end_it(void **state)
{
    static const uint64_t heads[] = { RING + 1, UINT64_MAX, 1ull << 63, 99 };
    uint8_t octets[200] = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        assert_int_equal(write_octets(active, octets, 100), 100);
        assert_int_equal(read_octets(passive, octets, 200), 100);
        atomic_store(&active->out->head, heads[i] == 99 ? 99 : 100 + heads[i]);
        assert_int_equal(read_octets(passive, octets, 200), -EPROTO);
        assert_int_equal(write_octets(passive, octets, 1), -EPROTO);
        atomic_store(&active->out->head, 100);
        assert_int_equal(read_octets(passive, octets, 200), -EPROTO); /* for ever */
        assert_false(srd_share_doze(passive));
        srd_share_free(active);
        srd_share_free(passive);
        make();
    }
}

static void a_reader_ahead_of_its_writer_ends_it(void **state)
{
    static const uint64_t tails[] = { 101, UINT64_MAX, 1ull << 63 };
    static uint8_t octets[RING];

    (void)state;
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        assert_int_equal(write_octets(active, octets, 100), 100);
        atomic_store(&passive->in->tail, tails[i]);
        assert_int_equal(write_octets(active, octets, RING), -EPROTO);
        assert_int_equal(read_octets(active, octets, 1), -EPROTO);
        srd_share_free(active);
        srd_share_free(passive);
        make();
    }
}

/* Every word takes every kind of value, in both rings: calls end, and give no more octets than they were asked for. */
static void rubbish_in_any_word_hurts_nobody(void **state)
{
    static const uint32_t values[] = { 0, 1, 2, RING - 1, RING, RING + 1, 0x7fffffff, 0x80000000,
        0xffffffff };
    static uint8_t octets[5000];

    (void)state;
    for (size_t word = 0; word < 4096 / sizeof(uint32_t); word++)
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            uint8_t small[64];
            ssize_t got;

            write_octets(active, octets, 100);
            ((volatile uint32_t *)(void *)active->memory)[word] = values[i];
            got = read_octets(passive, small, sizeof(small));
            assert_true(got == -EPROTO || (got >= 0 && got <= 64));
            got = write_octets(passive, octets, 5000);
            assert_true(got == -EPROTO || (got >= 0 && got <= 5000));
            srd_share_doze(passive);
            srd_share_want_room(passive);
            srd_share_ended(passive);
            srd_share_answer(passive);
            if (got == -EPROTO || i == 0) {
                srd_share_free(active);
                srd_share_free(passive);
                make();
            }
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(octets_arrive_in_order_both_ways),
        TEST(a_full_ring_takes_nothing_until_a_quarter_is_read),
        TEST(a_writer_without_room_is_rung_when_half_is_read),
        TEST(room_that_is_there_already_is_not_waited_for),
        TEST(memory_that_is_gone_fails_and_moves_nothing),
        TEST(a_ring_without_memory_ends_it),
        TEST(a_thread_that_polls_looks_for_room_without_a_bell),
        TEST(a_dozing_reader_is_rung_once),
        TEST(a_reader_that_polls_is_not_rung),
        TEST(a_word_is_told_and_rung_for),
        TEST(the_end_is_said_and_rung),
        TEST(a_peer_that_has_gone_answers_no_more),
        TEST(a_bell_without_memory_ends_it_for_both),
        TEST(a_bell_that_cannot_be_rung_ends_it_for_both),
        TEST(a_bell_that_need_not_be_rung_ends_nothing),
        TEST(a_bell_that_cannot_be_heard_ends_it),
        TEST(a_bell_is_heard_again_after_a_shortage),
        TEST(a_bell_that_the_peer_reset_leaves_what_is_there),
        TEST(the_words_have_their_memory_from_the_beginning),
        TEST(an_idle_end_gives_its_ring_back),
        TEST(a_kernel_that_takes_no_memory_back_is_told_of),
        TEST(a_busy_end_gives_back_what_holds_nothing),
        TEST(a_full_ring_is_not_trimmed),
        TEST(memory_of_another_size_or_seals_is_refused),
        TEST(the_memory_is_of_small_pages),
        TEST(the_memory_cannot_be_executed),
        TEST(the_memory_is_not_dumped),
        TEST(a_process_has_so_many_and_then_again),
        TEST(a_control_group_with_a_limit_lets_fewer_share),
        TEST(positions_that_cannot_be_end_it),
        TEST(a_reader_ahead_of_its_writer_ends_it),
        TEST(rubbish_in_any_word_hurts_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
