/* SPDX-License-Identifier: MIT */
/*
 * test_parts.c - a source made of several descriptors (provider.h, parts): a leader sleeps on each, and run is told
 * which are readable. The service thread's descriptor stays quiet here, so a part that a leader does not see is a test
 * that hangs.
 */
#include "tests/support/win32_test.h"

#include "winobj/provider.h"

#include "util/list.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct parted {
    struct win_source source;
    HANDLE event;      /* set by run ... */
    unsigned wanted;   /* ... when it is told of these, all at once */
    unsigned told;     /* by the last run */
    unsigned other;    /* runs that were told of something else */
    unsigned not_read; /* parts that run leaves readable */
};

static void run(struct win_source *source, bool leading, unsigned ready)
{
    struct parted *parted = container_of(source, struct parted, source);
    eventfd_t value;

    assert_true(leading);
    for (unsigned i = 0; i < source->part_count; i++)
        if (ready & 1u << i && !(parted->not_read & 1u << i))
            assert_int_equal(eventfd_read(source->parts[i], &value), 0);
    parted->told = ready;
    parted->other += ready != parted->wanted;
    if (ready == parted->wanted)
        SetEvent(parted->event);
}

static void open_source(struct parted *parted)
{
    *parted = (struct parted){
        .source = { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
            .lead_fd = -1,
            .part_count = 3,
            .run = run },
        .event = CreateEventW(NULL, FALSE, FALSE, NULL),
    };
    for (unsigned i = 0; i < 3; i++)
        assert_true((parted->source.parts[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) >= 0);
}

static void close_source(struct parted *parted)
{
    for (unsigned i = 0; i < 3; i++)
        close(parted->source.parts[i]);
    close(parted->source.fd);
    assert_true(CloseHandle(parted->event));
}

static void test_run_is_told_which_parts_are_readable(void **state)
{
    struct parted parted;

    (void)state;
    open_source(&parted);
    assert_int_equal(win_source_add(&parted.source), ERROR_SUCCESS);
    for (unsigned ready = 1; ready < 8; ready++) {
        parted.wanted = ready;
        for (unsigned i = 0; i < 3; i++)
            if (ready & 1u << i)
                assert_int_equal(eventfd_write(parted.source.parts[i], 1), 0);
        assert_wait(WaitForSingleObject(parted.event, LONG_MS), WAIT_OBJECT_0);
        assert_int_equal(parted.told, ready);
    }
    assert_int_equal(parted.other, 0);
    win_source_remove(&parted.source);
    close_source(&parted);
}

/* What run leaves is told of again. */
static void test_part_left_readable_is_told_of_again(void **state)
{
    struct parted parted;
    eventfd_t value;

    (void)state;
    open_source(&parted);
    parted.wanted = parted.not_read = 2;
    assert_int_equal(win_source_add(&parted.source), ERROR_SUCCESS);
    assert_int_equal(eventfd_write(parted.source.parts[1], 1), 0);
    for (int i = 0; i < 3; i++)
        assert_wait(WaitForSingleObject(parted.event, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(eventfd_read(parted.source.parts[1], &value), 0);
    assert_wait(WaitForSingleObject(parted.event, 1), WAIT_TIMEOUT);
    assert_int_equal(parted.other, 0);
    win_source_remove(&parted.source);
    close_source(&parted);
}

/* A polling call does not know what is ready. */
static void test_poll_is_told_nothing(void **state)
{
    struct parted parted;

    (void)state;
    open_source(&parted);
    parted.wanted = WIN_SOURCE_ANY;
    parted.not_read = 7;
    assert_int_equal(win_source_add(&parted.source), ERROR_SUCCESS);
    assert_wait(WaitForSingleObject(parted.event, 0), WAIT_OBJECT_0);
    win_source_remove(&parted.source);
    close_source(&parted);
}

/* None of a source that is refused stays watched: its descriptors can be those of the next. */
static void test_part_that_cannot_be_watched_has_the_source_refused(void **state)
{
    struct parted parted;
    int bad = open("/dev/null", O_RDONLY | O_CLOEXEC), good;

    (void)state;
    open_source(&parted);
    good = parted.source.parts[2];
    parted.source.parts[2] = bad;
    assert_int_equal(win_source_add(&parted.source), ERROR_NO_SYSTEM_RESOURCES);
    parted.source.parts[2] = good;
    assert_int_equal(win_source_add(&parted.source), ERROR_SUCCESS);
    win_source_remove(&parted.source);
    assert_int_equal(win_source_add(&parted.source), ERROR_SUCCESS);
    win_source_remove(&parted.source);
    close(bad);
    close_source(&parted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_is_told_which_parts_are_readable),
        cmocka_unit_test(test_part_left_readable_is_told_of_again),
        cmocka_unit_test(test_poll_is_told_nothing),
        cmocka_unit_test(test_part_that_cannot_be_watched_has_the_source_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
