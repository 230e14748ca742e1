/* SPDX-License-Identifier: MIT */
/* ndstat as users run it, on real processes: living, stopped, killed, forked. */
#include "tests/ndstat/stage.h"

#include "tests/ndstat/exposition.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_ndstat_reads_another_process_exactly(void **state)
{
    struct program process;
    json_t *array;

    (void)state;
    stage_start(&process);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_int_equal(number_of(array, 0, "process"), process.pid);
    assert_string_equal(text_of(array, 0, "program"), "ndstat_subject");
    assert_string_equal(text_of(array, 0, "device"), "softrdma0");
    assert_int_equal(number_of(array, 0, "port"), 1);
    assert_int_equal(number_of(array, 0, "version"), 2);
    assert_true(is_fresh(array, 0));
    assert_int_equal(counter_of(array, 0, "registered_bytes"), 12288);
    assert_int_equal(counter_of(array, 0, "memory_regions"), 1);
    assert_int_equal(counter_of(array, 0, "queue_pairs"), 1);
    assert_int_equal(counter_of(array, 0, "receive_pending"), 3);
    assert_int_equal(counter_of(array, 0, "receive_depth"), 4);
    assert_int_equal(counter_of(array, 0, "result_depth"), 8);
    assert_int_equal(counter_of(array, 0, "inbound_bytes"), 0);
    json_decref(array);
    program_end(&process);
    assert_int_equal(process.status, 0);
    assert_int_equal(
        stage_entries(stage.folder, false), 0); /* a process that ends leaves nothing */
}

/* As daemons do, by setproctitle: glibc's own pointer to the name leads into the title then. */
static void test_a_title_over_the_arguments_is_not_the_name(void **state)
{
    const char *const argv[] = { stage.subject, "--title", NULL };
    struct program process;
    char line[64];
    json_t *array;

    (void)state;
    program_start(&process, argv);
    program_line(&process, line, sizeof(line));
    assert_string_equal(line, "ready");
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_string_equal(text_of(array, 0, "program"), "ndstat_subject");
    json_decref(array);
    program_end(&process);
    assert_int_equal(process.status, 0);
}

static void tell(struct program *process, const char *what)
{
    char line[64];

    program_tell(process, what);
    program_line(process, line, sizeof(line));
    assert_string_equal(line, what);
}

/* Its series must not go on as another's: Prometheus would add up two adapters as one. */
static void test_an_adapter_keeps_its_serial_when_another_closes(void **state)
{
    struct program process, program;
    char wrong[256];
    json_t *array;

    (void)state;
    stage_start(&process);
    tell(&process, "open");
    tell(&process, "open");
    tell(&process, "fill"); /* the newest, which is told apart by that */
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(number_of(array, i, "adapter"), i);
        assert_int_equal(counter_of(array, i, "registered_bytes"), i == 1 ? 0 : 12288);
    }
    json_decref(array);
    tell(&process, "close"); /* that with serial 1 */
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 2);
    assert_int_equal(number_of(array, 0, "adapter"), 0);
    assert_int_equal(number_of(array, 1, "adapter"), 2);
    assert_int_equal(counter_of(array, 1, "registered_bytes"), 12288);
    json_decref(array);
    tell(&process, "open"); /* gets none that was given before */
    stage_run(&program, "--prometheus", NULL, NULL, NULL);
    if (!exposition_is_valid(program.said, wrong))
        fail_msg("%s", wrong);
    assert_says(
        program.said, "device=\"softrdma0\",port=\"1\",adapter=\"2\",version=\"2\"} 12288\n");
    assert_says(program.said, "device=\"softrdma0\",port=\"1\",adapter=\"3\",version=\"2\"} 0\n");
    assert_null(strstr(program.said, "adapter=\"1\""));
    program_end(&process);
    assert_int_equal(process.status, 0);
}

static void test_ndstat_shows_tables_and_rates(void **state)
{
    struct program process, program;
    char title[64], number[16];

    (void)state;
    stage_start(&process);
    snprintf(number, sizeof(number), "%d", (int)process.pid);
    snprintf(title, sizeof(title), "ndstat_subject[%s]  softrdma0 port 1, version 2\n", number);
    stage_run(&program, number, NULL, NULL, NULL);
    assert_int_equal(program.status, 0);
    assert_says(program.said, title);
    assert_says(program.said, "  registered_bytes                                       12288\n");
    assert_null(strstr(program.said, "inbound_bytes"));
    stage_run(&program, "--all", NULL, NULL, NULL);
    assert_says(program.said, "  inbound_bytes                                              0\n");
    stage_run(&program, "-i", "1", "-c", "1");
    assert_int_equal(program.status, 0);
    assert_says(program.said, "in B/s");
    assert_true(strcspn(program.said, "\n") <= 80); /* columns of a terminal */
    snprintf(title, sizeof(title), "\nndstat_subject[%s]", number);
    assert_says(program.said, title);
    stage_run(&program, "1", NULL, NULL, NULL); /* another's number */
    assert_int_equal(program.status, 1);
    assert_string_equal(program.said, "");
    assert_string_equal(program.complained,
        geteuid() ? "ndstat: process 1 has no adapter open, or is another user's, whose processes "
                    "are shown to root alone\n"
                  : "ndstat: process 1 has no adapter open\n");
    stage_run(&program, number, "1", NULL, NULL); /* what is there is shown */
    assert_int_equal(program.status, 1);
    assert_says(program.said, "  registered_bytes                                       12288\n");
    assert_says(program.complained, "ndstat: process 1 has no adapter open");
    program_end(&process);
}

static void test_ndstat_writes_what_prometheus_reads(void **state)
{
    struct program process, other, program;
    char wrong[256], sample[128];

    (void)state;
    stage_start(&process);
    stage_start(&other);
    stage_run(&program, "--prometheus", NULL, NULL, NULL);
    assert_int_equal(program.status, 0);
    if (!exposition_is_valid(program.said, wrong))
        fail_msg("%s", wrong);
    assert_says(program.said, "# TYPE ndspi_inbound_bytes_total counter\n");
    assert_says(program.said, "# TYPE ndspi_active_connections gauge\n");
    snprintf(sample, sizeof(sample), "ndspi_registered_bytes{process=\"%d\",source=\"counters.",
        (int)process.pid);
    assert_says(program.said, sample);
    assert_says(
        program.said, "device=\"softrdma0\",port=\"1\",adapter=\"0\",version=\"2\"} 12288\n");
    program_end(&process);
    program_end(&other);
}

/* The test's own check has to find what is wrong. */
static void test_exposition_that_is_wrong_is_told(void **state)
{
    static const char *const bad[] = {
        "a 1\n",
        "# HELP a x\n# TYPE a gauge\na 1",
        "# HELP a x\n# TYPE a counter\na 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"c} 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"\\c\"} 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n",
        "# HELP a x\n# TYPE a gauge\na one\n",
        "# HELP a x\n# TYPE a gauge\n# HELP b x\n# TYPE b gauge\na 1\n",
    };
    char wrong[256];

    (void)state;
    assert_true(exposition_is_valid("# HELP a x\n# TYPE a gauge\na{b=\"\\\"\"} 1\n", wrong));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(exposition_is_valid(bad[i], wrong));
}

static void test_ndstat_removes_what_a_killed_process_left(void **state)
{
    struct program process;
    json_t *array;

    (void)state;
    stage_start(&process);
    program_kill(&process, SIGKILL);
    assert_int_equal(stage_entries(stage.folder, false), 2);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(stage_entries(stage.folder, false), 0);
}

static void test_a_process_removes_what_a_killed_one_left(void **state)
{
    struct program killed, process;

    (void)state;
    stage_start(&killed);
    program_kill(&killed, SIGKILL);
    stage_start(&process);
    assert_int_equal(stage_entries(stage.folder, false), 2);
    program_end(&process);
    assert_int_equal(stage_entries(stage.folder, false), 0);
}

static void test_ndstat_tells_a_process_that_does_not_answer(void **state)
{
    struct program process;
    json_t *array;
    int status;

    (void)state;
    stage_start(&process);
    json_decref(stage_adapters(0)); /* its last answer has what it has made */
    assert_int_equal(kill(process.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(process.pid, &status, WUNTRACED), process.pid);
    stage.patience = "50";
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_false(is_fresh(array, 0));
    assert_int_equal(counter_of(array, 0, "registered_bytes"), 12288);
    json_decref(array);
    assert_int_equal(kill(process.pid, SIGCONT), 0);
    stage.patience = "30000";
    array = stage_adapters(0);
    assert_true(is_fresh(array, 0));
    json_decref(array);
    program_end(&process);
}

static void test_a_forked_child_shows_its_own_adapters_alone(void **state)
{
    struct program process;
    char line[64];
    json_t *array;
    long child;
    int its;

    (void)state;
    stage_start(&process);
    program_tell(&process, "fork");
    program_line(&process, line, sizeof(line));
    assert_int_equal(sscanf(line, "child %ld", &child), 1);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 2);
    its = number_of(array, 0, "process") == child ? 0 : 1;
    assert_int_equal(number_of(array, (size_t)its, "process"), child);
    assert_int_equal(counter_of(array, (size_t)its, "registered_bytes"), 0);
    assert_int_equal(number_of(array, (size_t)!its, "process"), process.pid);
    assert_int_equal(counter_of(array, (size_t)!its, "registered_bytes"), 12288);
    json_decref(array);
    program_tell(&process, "gone");
    program_line(&process, line, sizeof(line));
    assert_string_equal(line, "gone");
    array = stage_adapters(0); /* the parent's is as it was */
    assert_int_equal(json_array_size(array), 1);
    assert_int_equal(number_of(array, 0, "process"), process.pid);
    assert_true(is_fresh(array, 0));
    json_decref(array);
    program_end(&process);
}

static void test_ndstat_does_not_see_who_does_not_want_it(void **state)
{
    struct program process;
    json_t *array;

    (void)state;
    setenv("NDSPI_COUNTERS", "0", 1);
    stage_start(&process);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(access(stage.folder, F_OK), -1);
    program_end(&process);
}

/* A process's work goes on where nothing can be shown. */
static void test_a_process_works_where_it_cannot_show_anything(void **state)
{
    struct program process;
    int file;

    (void)state;
    file = open(stage.folder, O_WRONLY | O_CREAT, 0600); /* in the place of the directory */
    assert_true(file >= 0);
    close(file);
    stage_start(&process);
    program_end(&process);
    assert_int_equal(process.status, 0);
    assert_int_equal(unlink(stage.folder), 0);
}

static void test_a_process_works_where_it_may_write_no_file(void **state)
{
    const char *const argv[] = { stage.subject, "--no-files", NULL };
    struct program process;
    char line[64];

    (void)state;
    program_start(&process, argv);
    program_line(&process, line, sizeof(line));
    assert_string_equal(line, "ready");
    assert_int_equal(stage_entries(stage.folder, false), 0);
    program_end(&process);
    assert_int_equal(process.status, 0);
}

static void test_ndstat_refuses_a_directory_that_others_may_enter(void **state)
{
    struct program program;

    (void)state;
    assert_int_equal(mkdir(stage.folder, 0700), 0);
    assert_int_equal(chmod(stage.folder, 0755), 0);
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "ND_ACCESS_VIOLATION");
}

static void test_ndstat_says_that_its_output_takes_nothing(void **state)
{
    static const char *const ways[] = { "exec \"$0\" --json > /dev/full",
        "exec \"$0\" -p > /dev/full", "exec \"$0\" -h > /dev/full", "exec \"$0\" -p <&- >&-" };
    struct program process, program;

    (void)state;
    stage_start(&process);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const char *const arguments[] = { "/bin/sh", "-c", ways[i], stage.ndstat, NULL };

        program_run(&program, arguments);
        assert_int_equal(program.status, 1);
        assert_says(program.complained, "ndstat: cannot write to standard output: ");
    }
    program_end(&process);
}

static void test_ndstat_refuses_wrong_arguments(void **state)
{
    struct program program;

    (void)state;
    stage_run(&program, "--json", "--all", NULL, NULL);
    assert_int_equal(program.status, 2);
    stage_run(&program, "-c", "1", NULL, NULL);
    assert_int_equal(program.status, 2);
    stage_run(&program, "-i", "0", NULL, NULL);
    assert_int_equal(program.status, 2);
    assert_says(program.complained, "--interval takes a number from 1 to 86400, not: 0");
    stage_run(&program, "4294967296", NULL, NULL, NULL);
    assert_int_equal(program.status, 2);
    assert_says(program.complained, "a process is a number from 1 to 4294967295, not: 4294967296");
    stage_run(&program, "-x", NULL, NULL, NULL);
    assert_int_equal(program.status, 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_ROW(test_ndstat_reads_another_process_exactly),
        STAGE_ROW(test_a_title_over_the_arguments_is_not_the_name),
        STAGE_ROW(test_an_adapter_keeps_its_serial_when_another_closes),
        STAGE_ROW(test_ndstat_shows_tables_and_rates),
        STAGE_ROW(test_ndstat_writes_what_prometheus_reads),
        cmocka_unit_test(test_exposition_that_is_wrong_is_told),
        STAGE_ROW(test_ndstat_removes_what_a_killed_process_left),
        STAGE_ROW(test_a_process_removes_what_a_killed_one_left),
        STAGE_ROW(test_ndstat_tells_a_process_that_does_not_answer),
        STAGE_ROW(test_a_forked_child_shows_its_own_adapters_alone),
        STAGE_ROW(test_ndstat_does_not_see_who_does_not_want_it),
        STAGE_ROW(test_a_process_works_where_it_cannot_show_anything),
        STAGE_ROW(test_a_process_works_where_it_may_write_no_file),
        STAGE_ROW(test_ndstat_refuses_a_directory_that_others_may_enter),
        STAGE_ROW(test_ndstat_says_that_its_output_takes_nothing),
        STAGE_ROW(test_ndstat_refuses_wrong_arguments),
    };

    if (!stage_arguments(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
