/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Standard error becomes one end of a pipe or socket; the test holds the other. */
struct capture {
    int saved, other;
};

static void capture_begin(struct capture *capture, const int ends[2])
{
    capture->saved = dup(STDERR_FILENO);
    assert_true(capture->saved >= 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    capture->other = ends[0];
}

static void capture_end(struct capture *capture)
{
    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    if (capture->other >= 0)
        close(capture->other);
}

static size_t captured_octets;

/* All that is there now; captured_octets: how much. */
static const char *captured(struct capture *capture)
{
    static char text[1 << 20];
    size_t octets = 0;
    struct pollfd other = { capture->other, POLLIN, 0 };

    while (octets < sizeof(text) - 1 && poll(&other, 1, 0) == 1 && other.revents & POLLIN) {
        ssize_t got = read(capture->other, text + octets, sizeof(text) - 1 - octets);
        if (got <= 0)
            break;
        octets += (size_t)got;
    }
    text[octets] = 0;
    captured_octets = octets;
    return text;
}

/* Fills what standard error leads to, up to the last octet it takes; its flags are as before. */
static void fill(void)
{
    static const char many[4096];
    int flags = fcntl(STDERR_FILENO, F_GETFL);

    fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
    for (size_t octets = sizeof(many); octets; octets /= 2)
        while (write(STDERR_FILENO, many, octets) > 0)
            ;
    assert_int_equal(errno, EAGAIN);
    fcntl(STDERR_FILENO, F_SETFL, flags);
}

/* Waiting for a reader would be for ever: the alarm ends that, and the test. */
static void write_to_what_is_full(struct capture *capture)
{
    const char *text;

    fill();
    alarm(20);
    log_write(LOG_WARN, LOG_CM, "one");
    log_write(LOG_WARN, LOG_CM, "two");
    log_write(LOG_WARN, LOG_CM, "three");
    alarm(0);
    captured(capture);
    log_write(LOG_WARN, LOG_CM, "four");
    text = captured(capture);
    assert_string_equal(text, "ndspi: warn: 3 lines are missing here: the reader was too slow\n"
                              "ndspi: warn: cm: four\n");
    log_write(LOG_WARN, LOG_CM, "five");
    assert_string_equal(captured(capture), "ndspi: warn: cm: five\n");
}

static void test_log_does_not_wait_for_a_full_pipe(void **state)
{
    struct capture capture;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    write_to_what_is_full(&capture);
    assert_int_equal(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
    capture_end(&capture);
}

static void test_log_does_not_wait_for_a_full_socket(void **state)
{
    struct capture capture;
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    capture_begin(&capture, ends);
    write_to_what_is_full(&capture);
    capture_end(&capture);
}

/*
 * A terminal hands on what was written to it a moment later, and has room again a moment after that: so many lines that
 * most find none, and then one after the other until one arrives.
 */
static void test_log_does_not_wait_for_a_stopped_terminal(void **state)
{
    static const char missing[] = " lines are missing here: the reader was too slow\r\n";
    static const char arrived[] = "ndspi: warn: cm: somebody reads\r\n";
    static char text[1 << 20];
    struct capture capture;
    int ends[2] = { posix_openpt(O_RDWR | O_NOCTTY), -1 };
    size_t octets = 0;

    (void)state;
    assert_true(ends[0] >= 0);
    assert_int_equal(grantpt(ends[0]), 0);
    assert_int_equal(unlockpt(ends[0]), 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    assert_true(ends[1] >= 0);
    capture_begin(&capture, ends);
    fill();
    alarm(20);
    for (int i = 0; i < 10000; i++)
        log_write_(LOG_WARN, LOG_CM, 0, "nobody reads");
    while (!memmem(text, octets, arrived, sizeof(arrived) - 1)) {
        const char *more;

        log_write_(LOG_WARN, LOG_CM, 0, "somebody reads");
        poll(&(struct pollfd){ capture.other, POLLIN, 0 }, 1, -1);
        more = captured(&capture);
        assert_true(octets + captured_octets < sizeof(text));
        memcpy(text + octets, more, captured_octets);
        octets += captured_octets;
    }
    alarm(0);
    capture_end(&capture);
    assert_non_null(memmem(text, octets, missing, sizeof(missing) - 1));
}

/* Kernels before 6.4 know no write to a pipe that does not wait, unless its descriptor says so. */
static void forbid_single_writes(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(77);
}

static void test_log_does_not_wait_on_older_kernels(void **state)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        forbid_single_writes();
        test_log_does_not_wait_for_a_full_pipe(state);
        test_log_does_not_wait_for_a_full_socket(state);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_log_survives_a_pipe_that_nobody_will_read(void **state)
{
    struct capture capture;
    sigset_t pending;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    close(capture.other);
    capture.other = -1;
    errno = ENOTTY;
    log_write(LOG_WARN, LOG_CM, "for nobody");
    assert_int_equal(errno, ENOTTY);
    capture_end(&capture);
    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    log_write(LOG_WARN, LOG_CM, "for somebody");
    assert_string_equal(captured(&capture),
        "ndspi: warn: 1 line is missing here: the reader was too slow\n"
        "ndspi: warn: cm: for somebody\n");
    capture_end(&capture);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

/* As a log file on which ulimit -f has come down. */
static void test_log_survives_a_file_that_may_not_grow(void **state)
{
    static const char first[] = "ndspi: warn: cm: fits\n";
    struct rlimit before, less;
    char text[256] = "";
    FILE *file = tmpfile();
    sigset_t pending;
    int saved;

    (void)state;
    assert_non_null(file);
    saved = dup(STDERR_FILENO);
    assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = (struct rlimit){ sizeof(first) - 1, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    log_write(LOG_WARN, LOG_CM, "fits");
    log_write(LOG_WARN, LOG_CM, "does not");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    log_write(LOG_WARN, LOG_CM, "fits again");
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, "ndspi: warn: cm: fits\n"
                              "ndspi: warn: 1 line is missing here: the reader was too slow\n"
                              "ndspi: warn: cm: fits again\n");
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGXFSZ));
}

static void test_limit_lets_ten_lines_pass_in_five_seconds_and_counts_the_others(void **state)
{
    struct log_limit limit = { 0 };
    unsigned left_out = 99;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_true(log_limit_passes(&limit, 0, &left_out));
        assert_int_equal(left_out, 0);
    }
    for (int i = 0; i < 36538; i++)
        assert_false(log_limit_passes(&limit, 4999, &left_out));
    assert_true(log_limit_passes(&limit, 5000, &left_out));
    assert_int_equal(left_out, 36538);
    for (int i = 0; i < 9; i++) {
        assert_true(log_limit_passes(&limit, 9999, &left_out));
        assert_int_equal(left_out, 0);
    }
    assert_false(log_limit_passes(&limit, 9999, &left_out));
    assert_true(log_limit_passes(&limit, 1000000, &left_out));
    assert_int_equal(left_out, 1);
}

enum { THREADS = 4, CALLS = 100000 };

static struct log_limit shared_limit;
static atomic_uint passed, told;

static void *call_often(void *unused)
{
    unsigned left_out;

    (void)unused;
    for (int i = 0; i < CALLS; i++)
        if (log_limit_passes(&shared_limit, (uint64_t)i / 1000 * 5000, &left_out)) {
            atomic_fetch_add(&passed, 1);
            atomic_fetch_add(&told, left_out);
        }
    return NULL;
}

/* Each suppressed line is counted once, by whichever thread. */
static void test_limit_counts_each_line_once_when_threads_meet(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(passed + told + atomic_load(&shared_limit.left_out), THREADS * CALLS);
}

static int evaluated;

static const char *evaluate(void)
{
    evaluated++;
    return "x";
}

static void test_limited_lines_tell_how_many_were_left_out(void **state)
{
    struct capture capture;
    const char *text;
    unsigned lines = 0;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    for (int i = 0; i < 1000; i++)
        log_limited(LOG_WARN, LOG_CM, "refused %s", evaluate());
    text = captured(&capture);
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        lines++;
    /* Twice as many where a period has ended meanwhile. */
    assert_true(lines == 10 || lines == 20);
    assert_int_equal(evaluated, lines);
    assert_int_equal(strncmp(text, "ndspi: warn: cm: refused x\n", 27), 0);
    log_write_(LOG_WARN, LOG_CM, 990, "refused %s", "y");
    assert_string_equal(
        captured(&capture), "ndspi: warn: cm: (990 like this left out) refused y\n");
    capture_end(&capture);
}

/* What is written when a place is reached so many times. */
static const char *some_lines(bool limited, unsigned times)
{
    struct capture capture;
    const char *text;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    for (unsigned i = 0; i < times; i++) {
        if (limited)
            log_limited(LOG_WARN, LOG_CM, "%u of %-5.2s: 100%% gone%s", i, "many", "; stop it");
        else
            log_write(LOG_ERROR, LOG_QP, "cannot make number %u", i);
    }
    text = captured(&capture);
    capture_end(&capture);
    return text;
}

/* What the sums of now are. */
static const char *sums(bool all)
{
    struct capture capture;
    const char *text;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    log_sums_write(all);
    text = captured(&capture);
    capture_end(&capture);
    return text;
}

static unsigned count_of(const char *text)
{
    unsigned lines = 0;

    for (; *text; text = strchr(text, '\n') + 1)
        lines++;
    return lines;
}

static void test_no_place_floods_the_log_and_each_has_a_sum_at_the_end(void **state)
{
    unsigned lines;
    char sum[128];

    (void)state;
    sums(true); /* of the tests before */
    for (int limited = 0; limited < 2; limited++) {
        lines = count_of(some_lines(limited, 1000));
        assert_in_range(lines, 10, 20);
        if (lines >
            10) { /* a period has ended meanwhile: the first line after that has a part of the count */
            sums(true);
            continue;
        }
        snprintf(sum, sizeof(sum), "ndspi: %s: %u more lines like this were left out: %s\n",
            limited ? "warn: cm" : "error: qp", 1000 - lines,
            limited ? "... of ...: 100% gone..." : "cannot make number ...");
        assert_string_equal(sums(true), sum);
        assert_string_equal(sums(true), "");
    }
}

/* What a child writes that floods the log, until the sum is there, or the child's end. */
static void flood_in_a_child(bool ends_itself)
{
    static const char sum[] = " more lines like this were left out: a flood\n";
    struct capture capture;
    char text[8192] = "";
    size_t octets = 0;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    capture_begin(&capture, ends);
    child = fork();
    if (!child) {
        for (int i = 0; i < 30; i++)
            log_write(LOG_WARN, LOG_CM, "a flood");
        if (ends_itself)
            exit(0);
        for (;;)
            pause();
    }
    dup2(capture.saved, STDERR_FILENO); /* the child has the only writing end */
    while (!strstr(text, sum)) {
        ssize_t got = read(capture.other, text + octets, sizeof(text) - 1 - octets);

        if (got <= 0)
            break;
        octets += (size_t)got;
        text[octets] = 0;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    capture_end(&capture);
    assert_non_null(strstr(text, sum));
}

static void test_a_thread_writes_the_sum_when_the_flood_is_over(void **state)
{
    (void)state;
    flood_in_a_child(false);
}

static void test_the_end_of_the_process_writes_the_sum(void **state)
{
    (void)state;
    flood_in_a_child(true);
}

/* ---- a process that was started without standard streams ---- */

enum { LOW_NUMBER = 3, WRITTEN = 4, NOT_WRITTEN = 5 };

/* The main of such a process. What it opens gets their numbers; a line for standard error must not land there. */
static int without_streams(const char *log_file)
{
    int connection[3];
    char text[64] = "";
    int file;

    for (int i = 0; i < 3; i++)
        if ((connection[i] = memfd_create("connection", 0)) != i)
            return LOW_NUMBER; /* the log has taken it */
    log_write(LOG_WARN, LOG_CM, "astray");
    for (int i = 0; i < 3; i++)
        if (lseek(connection[i], 0, SEEK_END) != 0)
            return WRITTEN;
    if (!*log_file)
        return 0;
    file = open(log_file, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof(text) - 1) <= 0 || !strstr(text, "astray"))
        return NOT_WRITTEN;
    return 0;
}

static int run_without_streams(const char *log_file)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        setenv("NDSPI_LOG_FILE", log_file, 1);
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        execl("/proc/self/exe", "test_log", log_file, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_log_keeps_off_what_gets_the_number_of_a_closed_stream(void **state)
{
    char path[] = "/tmp/ndspi.log.XXXXXX";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    assert_int_equal(run_without_streams(""), 0);
    assert_int_equal(run_without_streams(path), 0);
    unlink(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        /* First: the sanitizers want a process of one thread where another is to have two. */
        cmocka_unit_test(test_a_thread_writes_the_sum_when_the_flood_is_over),
        cmocka_unit_test(test_the_end_of_the_process_writes_the_sum),
        cmocka_unit_test(test_log_does_not_wait_for_a_full_pipe),
        cmocka_unit_test(test_log_does_not_wait_for_a_full_socket),
        cmocka_unit_test(test_log_does_not_wait_for_a_stopped_terminal),
        cmocka_unit_test(test_log_does_not_wait_on_older_kernels),
        cmocka_unit_test(test_log_survives_a_pipe_that_nobody_will_read),
        cmocka_unit_test(test_log_survives_a_file_that_may_not_grow),
        cmocka_unit_test(test_limit_lets_ten_lines_pass_in_five_seconds_and_counts_the_others),
        cmocka_unit_test(test_limit_counts_each_line_once_when_threads_meet),
        cmocka_unit_test(test_limited_lines_tell_how_many_were_left_out),
        cmocka_unit_test(test_no_place_floods_the_log_and_each_has_a_sum_at_the_end),
        cmocka_unit_test(test_log_keeps_off_what_gets_the_number_of_a_closed_stream),
    };

    if (argc == 2)
        return without_streams(argv[1]);
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
