/* SPDX-License-Identifier: MIT */
/*
 * In which order arriving octets are stored: of an RDMA Write or a Read's data the last octet comes after all others,
 * so a program that spins on it finds the rest. Seen by a page that cannot be written: it begins with the last octet,
 * and the store that faults there finds everything else at its place.
 */
#include "tests/unit/softrdma/stream_pair.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SOURCE = 1 << 20, SINK = 2 << 20 };

static struct {
    uint8_t *last;           /* the octet of the message that begins a page */
    const uint8_t *expected; /* the whole message */
    size_t octets;
    int faults;
    bool whole; /* at the fault all but the last octet was there */
} watched;

/* Signal handler: nothing but memcmp and mprotect. */
static void stored_at_last(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    if ((uint8_t *)info->si_addr < watched.last ||
        (uint8_t *)info->si_addr >= watched.last + PAGE) {
        signal(signal_number, SIG_DFL); /* another fault, which ends the test */
        return;
    }
    watched.faults++;
    watched.whole =
        !memcmp(watched.last - (watched.octets - 1), watched.expected, watched.octets - 1);
    mprotect(watched.last, PAGE, PROT_READ | PROT_WRITE);
}

static void watch(struct end *to, struct end *from, uint32_t octets)
{
    watched.last = to->mem + SINK + 64 * PAGE;
    watched.expected = from->mem + SOURCE;
    watched.octets = octets;
    watched.faults = 0;
    watched.whole = false;
    fill(from->mem + SOURCE, octets, octets);
    for (uint32_t i = 0; i < octets; i++) /* each octet another than the one that comes */
        to->mem[SINK + 64 * PAGE + 1 + i - octets] = (uint8_t)~watched.expected[i];
    assert_int_equal(mprotect(watched.last, PAGE, PROT_READ), 0);
}

static void expect_last_at_last(void)
{
    assert_int_equal(watched.faults, 1);
    assert_true(watched.whole);
    assert_memory_equal(watched.last - (watched.octets - 1), watched.expected, watched.octets);
}

/* Whole in staging, over the border of what is placed directly, in several segments. */
static const uint32_t sizes[] = { 1, 2, 100, 4095, 4097, 5000, 20000, 65000, 200000 };

static void written_and_read(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        watch(b, a, sizes[i]);
        post_write(
            a, 1, SOURCE, sizes[i], (uintptr_t)watched.last - (sizes[i] - 1), b->mr->rkey, 0);
        pair_pump(pair);
        expect_wc(a->scq, 1, IBV_WC_SUCCESS);
        expect_last_at_last();
        watch(b, a, sizes[i]);
        post_read(b, 2, (size_t)(watched.last - b->mem) - (sizes[i] - 1), sizes[i], at(a, SOURCE),
            a->mr->rkey, 0);
        pair_pump(pair);
        expect_wc(b->scq, 2, IBV_WC_SUCCESS);
        expect_last_at_last();
    }
}

static void the_last_octet_is_stored_at_last(void **state)
{
    const struct sigaction action = { .sa_sigaction = stored_at_last, .sa_flags = SA_SIGINFO };
    struct sigaction before;

    (void)state;
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    pair_with_soft_peers(written_and_read);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_octet_is_stored_at_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
