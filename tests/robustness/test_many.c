/* SPDX-License-Identifier: MIT */
/*
 * test_many.c - two processes with many connections, each process with one completion queue and one completion port
 * for all of them: what an idle connection keeps, how many threads there are, and that each end is told when the other
 * process is killed.
 *
 * test_robustness_many N: so many connections. Else 500.
 */
#include "tests/robustness/child.h"

#include "tests/support/nd2_many.h"
#include "util/clock.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers keep memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KIB_EACH = 1 << 20 };
#else
enum { KIB_EACH = 16 };
#endif
enum { LARGE_OCTETS = 65536, IDLE_MS = 20000, PAUSE_MS = 50 };

static unsigned count = 500;

static void check(const struct nd2_many *many, HRESULT hr)
{
    if (hr == ND_SUCCESS)
        return;
    fprintf(stderr, "%s: 0x%08x\n", many->step ? many->step : "NetworkDirect", (unsigned)hr);
    abort();
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long size, resident = 0;

    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        abort();
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned threads(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned number = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %u", &number) == 1)
            break;
    if (file)
        fclose(file);
    return number;
}

/*
 * Whether each connection comes to keep no more than it may. What is given back is given back some time after the last
 * message, so this waits for it.
 */
static bool is_small(long base_kib)
{
    uint64_t end_ms = clock_now_ms() + IDLE_MS;
    double each;

    while (
        (each = (double)(resident_kib() - base_kib) / count) > KIB_EACH && clock_now_ms() < end_ms)
        Sleep(PAUSE_MS);
    printf("%.1f KiB a connection\n", each);
    return each <= KIB_EACH;
}

/* --- the child: the passive side ---------------------------------------------------------------------------------- */

static _Noreturn void wait_for_death(void)
{
    for (;;)
        pause();
}

static int play(const char *name, int control)
{
    static struct nd2_many many;
    long base_kib;
    bool small;

    count = (unsigned)atoi(name);
    check(&many, NdStartup());
    check(&many, nd2_many_open(&many, count, true));
    base_kib = resident_kib();
    child_tell(control, &many.port_be, sizeof many.port_be);
    check(&many, nd2_many_accept(&many));
    check(&many, nd2_many_echo(&many, true, count, LARGE_OCTETS));
    small = is_small(base_kib);
    child_tell(control, &small, sizeof small);
    check(&many, nd2_many_follow(&many));
    check(&many, nd2_many_accept(&many));
    wait_for_death();
}

/* --- the parent: the active side ---------------------------------------------------------------------------------- */

static void start(struct child *child, struct nd2_many *many)
{
    char number[16];

    snprintf(number, sizeof number, "%u", count);
    child_start(child, number);
    check(many, nd2_many_open(many, count, false));
    child_hear(child->control, &many->port_be, sizeof many->port_be);
}

static void many_connections(void **state)
{
    static struct nd2_many many;
    struct child child;
    unsigned before;
    long base_kib;
    bool small;

    (void)state;
    start(&child, &many);
    base_kib = resident_kib();
    before = threads();
    check(&many, nd2_many_connect(&many));
    check(&many, nd2_many_ping(&many, true, count, 1, LARGE_OCTETS));
    assert_true(is_small(base_kib));
    child_hear(child.control, &small, sizeof small);
    assert_true(small);
    assert_int_equal(threads(), before);
    check(&many, nd2_many_disconnect(&many));
    check(&many, nd2_many_connect(&many));
    assert_int_equal(many.up, count);
    assert_int_equal(many.told, 0);
    child_kill(&child);
    check(&many, nd2_many_lose(&many));
    assert_int_equal(many.told, count);
    assert_int_equal(threads(), before);
    nd2_many_close(&many);
}

static rlim_t files_open(void)
{
    DIR *files = opendir("/proc/self/fd");
    rlim_t number = 0;

    assert_non_null(files);
    while (readdir(files))
        number++;
    closedir(files);
    return number;
}

/* A call says so, those that are there stay, and there are more when there may be. */
static void short_of_files(void **state)
{
    static struct nd2_many many;
    struct rlimit before, few;
    struct child child;
    bool small;

    (void)state;
    start(&child, &many);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = files_open() + count / 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(
        (unsigned)nd2_many_connect(&many), 0xC000009Au); /* ND_INSUFFICIENT_RESOURCES */
    assert_true(many.begun < count);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    check(&many, nd2_many_connect_rest(&many));
    assert_int_equal(many.up, count);
    check(&many, nd2_many_ping(&many, true, count, 1, LARGE_OCTETS));
    child_hear(child.control, &small, sizeof small);
    assert_int_equal(many.told, 0);
    child_kill(&child);
    check(&many, nd2_many_lose(&many));
    nd2_many_close(&many);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_connections),
        cmocka_unit_test(short_of_files),
    };

    child_main(argc, argv, play);
    if (argc > 1)
        count = (unsigned)atoi(argv[1]);
    return cmocka_run_group_tests(tests, child_group_open, child_group_close);
}
