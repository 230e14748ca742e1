/* SPDX-License-Identifier: MIT */
/* ndstat as users run it, on real processes: living, stopped, killed, forked; and on files that others may leave. */
#include "tests/support/program.h"

#include "tests/ndstat/exposition.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *ndstat, *subject;
static const char
    *patience; /* of ndstat, ms: far more than a process of this test needs to answer, or none */
static char home[64], folder[128]; /* XDG_RUNTIME_DIR, and ndspi in it */

static int set_up(void **state)
{
    (void)state;
    patience = "30000";
    snprintf(home, sizeof(home), "/tmp/ndstat.test.XXXXXX");
    if (!mkdtemp(home) || setenv("XDG_RUNTIME_DIR", home, 1) || unsetenv("NDSPI_COUNTERS"))
        return -1;
    snprintf(folder, sizeof(folder), "%s/ndspi", home);
    return 0;
}

static unsigned entries_of(const char *path, bool remove_them)
{
    DIR *entries = opendir(path);
    const struct dirent *entry;
    unsigned count = 0;

    while (entries && (entry = readdir(entries))) {
        char name[512];

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        count++;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (remove_them && unlink(name))
            rmdir(name);
    }
    if (entries)
        closedir(entries);
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    entries_of(folder, true);
    rmdir(folder);
    return rmdir(home);
}

static void start(struct program *program)
{
    const char *const argv[] = { subject, NULL };
    char line[64];

    program_start(program, argv);
    program_line(program, line, sizeof(line));
    assert_string_equal(line, "ready");
}

static void run(struct program *program, const char *a, const char *b, const char *c, const char *d)
{
    const char *const argv[] = { ndstat, "-w", patience, a, b, c, d, NULL };

    program_run(program, argv);
}

/* What --json says, with that status. */
static json_t *adapters(int status)
{
    struct program program;
    json_t *root, *array;

    run(&program, "--json", NULL, NULL, NULL);
    assert_int_equal(program.status, status);
    root = json_loads(program.said, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    array = json_incref(json_object_get(root, "adapters"));
    json_decref(root);
    assert_true(json_is_array(array));
    return array;
}

static const char *text_of(json_t *array, size_t index, const char *name)
{
    const char *text = json_string_value(json_object_get(json_array_get(array, index), name));

    assert_non_null(text);
    return text;
}

static json_int_t number_of(json_t *array, size_t index, const char *name)
{
    json_t *number = json_object_get(json_array_get(array, index), name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

static json_int_t counter_of(json_t *array, size_t index, const char *name)
{
    json_t *number =
        json_object_get(json_object_get(json_array_get(array, index), "counters"), name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

static bool is_fresh(json_t *array, size_t index)
{
    return json_is_true(json_object_get(json_array_get(array, index), "fresh"));
}

static void test_ndstat_reads_another_process_exactly(void **state)
{
    struct program process;
    json_t *array;

    (void)state;
    start(&process);
    array = adapters(0);
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
    assert_int_equal(entries_of(folder, false), 0); /* a process that ends leaves nothing */
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
    start(&process);
    tell(&process, "open");
    tell(&process, "open");
    tell(&process, "fill"); /* the newest, which is told apart by that */
    array = adapters(0);
    assert_int_equal(json_array_size(array), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(number_of(array, i, "adapter"), i);
        assert_int_equal(counter_of(array, i, "registered_bytes"), i == 1 ? 0 : 12288);
    }
    json_decref(array);
    tell(&process, "close"); /* that with serial 1 */
    array = adapters(0);
    assert_int_equal(json_array_size(array), 2);
    assert_int_equal(number_of(array, 0, "adapter"), 0);
    assert_int_equal(number_of(array, 1, "adapter"), 2);
    assert_int_equal(counter_of(array, 1, "registered_bytes"), 12288);
    json_decref(array);
    tell(&process, "open"); /* gets none that was given before */
    run(&program, "--prometheus", NULL, NULL, NULL);
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
    start(&process);
    snprintf(number, sizeof(number), "%d", (int)process.pid);
    snprintf(title, sizeof(title), "ndstat_subject[%s]  softrdma0 port 1, version 2\n", number);
    run(&program, number, NULL, NULL, NULL);
    assert_int_equal(program.status, 0);
    assert_says(program.said, title);
    assert_says(program.said, "  registered_bytes                                       12288\n");
    assert_null(strstr(program.said, "inbound_bytes"));
    run(&program, "--all", NULL, NULL, NULL);
    assert_says(program.said, "  inbound_bytes                                              0\n");
    run(&program, "-i", "1", "-c", "1");
    assert_int_equal(program.status, 0);
    assert_says(program.said, "in B/s");
    snprintf(title, sizeof(title), "\nndstat_subject[%s]", number);
    assert_says(program.said, title);
    run(&program, "1", NULL, NULL, NULL); /* another's number */
    assert_int_equal(program.status, 0);
    assert_string_equal(program.said, "");
    program_end(&process);
}

static void test_ndstat_writes_what_prometheus_reads(void **state)
{
    struct program process, other, program;
    char wrong[256], sample[128];

    (void)state;
    start(&process);
    start(&other);
    run(&program, "--prometheus", NULL, NULL, NULL);
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
    start(&process);
    program_kill(&process, SIGKILL);
    assert_int_equal(entries_of(folder, false), 2);
    array = adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(entries_of(folder, false), 0);
}

static void test_a_process_removes_what_a_killed_one_left(void **state)
{
    struct program killed, process;

    (void)state;
    start(&killed);
    program_kill(&killed, SIGKILL);
    start(&process);
    assert_int_equal(entries_of(folder, false), 2);
    program_end(&process);
    assert_int_equal(entries_of(folder, false), 0);
}

static void test_ndstat_tells_a_process_that_does_not_answer(void **state)
{
    struct program process;
    json_t *array;
    int status;

    (void)state;
    start(&process);
    json_decref(adapters(0)); /* its last answer has what it has made */
    assert_int_equal(kill(process.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(process.pid, &status, WUNTRACED), process.pid);
    patience = "50";
    array = adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_false(is_fresh(array, 0));
    assert_int_equal(counter_of(array, 0, "registered_bytes"), 12288);
    json_decref(array);
    assert_int_equal(kill(process.pid, SIGCONT), 0);
    patience = "30000";
    array = adapters(0);
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
    start(&process);
    program_tell(&process, "fork");
    program_line(&process, line, sizeof(line));
    assert_int_equal(sscanf(line, "child %ld", &child), 1);
    array = adapters(0);
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
    array = adapters(0); /* the parent's is as it was */
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
    start(&process);
    array = adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(access(folder, F_OK), -1);
    program_end(&process);
}

/* A process's work goes on where nothing can be shown. */
static void test_a_process_works_where_it_cannot_show_anything(void **state)
{
    struct program process;
    int file;

    (void)state;
    file = open(folder, O_WRONLY | O_CREAT, 0600); /* in the place of the directory */
    assert_true(file >= 0);
    close(file);
    start(&process);
    program_end(&process);
    assert_int_equal(process.status, 0);
    assert_int_equal(unlink(folder), 0);
}

static void test_a_process_works_where_it_may_write_no_file(void **state)
{
    const char *const argv[] = { subject, "--no-files", NULL };
    struct program process;
    char line[64];

    (void)state;
    program_start(&process, argv);
    program_line(&process, line, sizeof(line));
    assert_string_equal(line, "ready");
    assert_int_equal(entries_of(folder, false), 0);
    program_end(&process);
    assert_int_equal(process.status, 0);
}

static void test_ndstat_refuses_a_directory_that_others_may_enter(void **state)
{
    struct program program;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "ND_ACCESS_VIOLATION");
}

/* ---- files that no process of ours has written ---- */

#define HEAD    "ndspi-counters 1\nprocess 77\nprogram p\nanswer 1\n"
#define ADAPTER "adapter dev0 1 2 5 0\n"

/* A process "counters.7", whose FIFO this test reads; the descriptor. */
static int fake(const char *octets, size_t count)
{
    char path[192];
    int file, fifo;

    patience = "1"; /* it does not answer */
    mkdir(folder, 0700);
    snprintf(path, sizeof(path), "%s/counters.7.ask", folder);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifo >= 0);
    snprintf(path, sizeof(path), "%s/counters.7.txt", folder);
    unlink(path);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, octets, count), count);
    close(file);
    return fifo;
}

static void test_ndstat_tells_damaged_files(void **state)
{
    static const char *const bad[] = {
        "",
        "ndspi-counters 2\nprocess 77\nprogram p\nanswer 1\nend\n",
        HEAD,                                             /* no end */
        HEAD "end",                                       /* cut off */
        HEAD "end\nmore\n",                               /* behind the end */
        HEAD "sends 1\nend\n",                            /* of no adapter */
        HEAD ADAPTER "sends 1",                           /* cut off */
        HEAD ADAPTER "sends -1\nend\n",                   /* no number of ours */
        HEAD ADAPTER "sends 1x\nend\n",                   /* the same */
        HEAD ADAPTER "sends 18446744073709551616\nend\n", /* 2^64 */
        HEAD ADAPTER "sends\nend\n",                      /* none */
        HEAD ADAPTER "sends 1 2\nend\n",                  /* two */
        HEAD ADAPTER "terminate 65536 1 1\nend\n",        /* no code */
        HEAD ADAPTER "terminate 1 1\nend\n",              /* a number less */
        HEAD "adapter dev0 256 2 5 0\nend\n",             /* no port */
        HEAD "adapter dev0 1 4 5 0\nend\n",               /* no version */
        HEAD "adapter dev0 1 2 5\nend\n",                 /* no serial */
        HEAD "adapter dev0 1 2 5 4294967296\nend\n",      /* none either */
        HEAD "adapter\nend\n",
        "ndspi-counters 1\nprocess 4294967296\nprogram p\nanswer 1\nend\n",
        "ndspi-counters 1\nprocess 77\nprogram\nanswer 1\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fifo = fake(bad[i], strlen(bad[i]));
        struct program program;

        run(&program, NULL, NULL, NULL, NULL);
        if (program.status != 1 || !strstr(program.complained, "counters.7 is damaged"))
            fail_msg("text %zu: status %d, \"%s\"", i, program.status, program.complained);
        assert_string_equal(program.said, "");
        close(fifo);
    }
}

static void test_ndstat_keeps_within_bounds(void **state)
{
    static const char zero[] = HEAD ADAPTER "sends 1\n\0end\n";
    size_t count = 1 << 18, at;
    struct program program;
    char *text = malloc(count + 1);
    int fifo;

    (void)state;
    assert_non_null(text);
    /* As long as may be, in one line, and one octet more. */
    memset(text, 'a', count + 1);
    for (size_t octets = count; octets <= count + 1; octets++) {
        fifo = fake(text, octets);
        run(&program, NULL, NULL, NULL, NULL);
        assert_int_equal(
            program.status, octets == count ? 1 : 0); /* a longer one is no such file */
        assert_string_equal(program.said, "");
        close(fifo);
    }
    /* More kinds of Terminates than there is room for. */
    at = (size_t)sprintf(text, HEAD ADAPTER);
    for (int i = 0; i < 41; i++)
        at += (size_t)sprintf(text + at, "terminate %d 1 1\n", i);
    at += (size_t)sprintf(text + at, "end\n");
    fifo = fake(text, at);
    run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    close(fifo);
    fifo = fake(zero, sizeof(zero) - 1);
    run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    close(fifo);
    free(text);
}

/* Names are printed by three forms, and one is a path of the kernel's files. */
static void test_ndstat_prints_hostile_names_as_they_may_be(void **state)
{
    static const char text[] =
        "ndspi-counters 1\nprocess 77\nprogram a\"\\\x1b[31m\nanswer 1\n"
        "adapter ../../../etc 1 2 5 4294967295\nsends 3\nlater_counter 9\nend\n";
    int fifo = fake(text, sizeof(text) - 1);
    struct program program;
    char wrong[256];
    json_t *array;

    (void)state;
    array = adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_string_equal(text_of(array, 0, "program"), "a\"\\_[31m");
    assert_int_equal(counter_of(array, 0, "sends"), 3);
    assert_int_equal(json_object_size(json_object_get(json_array_get(array, 0), "kernel")), 0);
    assert_false(is_fresh(array, 0));
    json_decref(array);
    run(&program, "--prometheus", NULL, NULL, NULL);
    if (!exposition_is_valid(program.said, wrong))
        fail_msg("%s", wrong);
    assert_says(program.said, "program=\"a\\\"\\\\_[31m\"");
    run(&program, NULL, NULL, NULL, NULL);
    assert_null(strchr(program.said, '\x1b'));
    close(fifo);
}

static void test_ndstat_reads_regular_files_of_this_user_alone(void **state)
{
    static const char text[] = HEAD ADAPTER "end\n";
    char path[192], there[192];
    json_t *array;
    int fifo;

    (void)state;
    fifo = fake(text, sizeof(text) - 1);
    array = adapters(0);
    assert_int_equal(json_array_size(array), 1);
    json_decref(array);
    snprintf(path, sizeof(path), "%s/counters.7.txt", folder);
    snprintf(there, sizeof(there), "%s/elsewhere", folder);
    assert_int_equal(rename(path, there), 0);
    assert_int_equal(symlink(there, path), 0);
    array = adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: ndstat must not wait for it */
    array = adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(there, path), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        array = adapters(0);
        assert_int_equal(json_array_size(array), 0);
        json_decref(array);
    }
    close(fifo);
}

static void test_ndstat_leaves_out_names_of_no_process(void **state)
{
    static const char *const names[] = { "counters.\x1b[31m", "counters.7a", "counters." };
    char from[192], to[192];
    struct program program;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int fifo = fake("", 0); /* damaged, so it would be told */

        snprintf(from, sizeof(from), "%s/counters.7.ask", folder);
        snprintf(to, sizeof(to), "%s/%s.ask", folder, names[i]);
        assert_int_equal(rename(from, to), 0);
        run(&program, NULL, NULL, NULL, NULL);
        assert_int_equal(program.status, 0);
        assert_null(strstr(program.complained, "damaged"));
        close(fifo);
    }
}

static void put_file(const char *name, bool fifo)
{
    char path[192];
    int file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (fifo) {
        assert_int_equal(mkfifo(path, 0600), 0);
        return;
    }
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    close(file);
}

/* What processes leave that are killed while they begin or answer. 4194305 is more than any process's number. */
static void test_ndstat_removes_unfinished_files_of_killed_processes(void **state)
{
    char path[192], living[64];

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    put_file("counters.1.4194305.0.new", false);
    put_file("new.4194305.0x1", true);
    snprintf(living, sizeof(living), "new.%ld.0x1", (long)getpid());
    put_file(living, true);
    json_decref(adapters(0));
    assert_int_equal(entries_of(folder, false), 1);
    snprintf(path, sizeof(path), "%s/%s", folder, living);
    assert_int_equal(unlink(path), 0);
}

static void test_ndstat_refuses_wrong_arguments(void **state)
{
    struct program program;

    (void)state;
    run(&program, "--json", "--all", NULL, NULL);
    assert_int_equal(program.status, 2);
    run(&program, "-c", "1", NULL, NULL);
    assert_int_equal(program.status, 2);
    run(&program, "-i", "0", NULL, NULL);
    assert_int_equal(program.status, 2);
    run(&program, "4294967296", NULL, NULL, NULL);
    assert_int_equal(program.status, 2);
    run(&program, "-x", NULL, NULL, NULL);
    assert_int_equal(program.status, 2);
}

/* ---- --listen ---- */

#ifdef NDSTAT_HTTP

static int connected(unsigned port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void ask(unsigned port, const char *request, char *answer, size_t room)
{
    const struct timeval patient = { .tv_sec = 5 };
    int fd = connected(port);
    size_t at = 0;
    ssize_t octets;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient)), 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    while ((octets = recv(fd, answer + at, room - 1 - at, 0)) > 0)
        at += (size_t)octets;
    answer[at] = 0;
    close(fd);
}

#define CLOSE " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static void test_ndstat_is_scraped(void **state)
{
    static char answer[1 << 20];
    const char *const argv[] = { ndstat, "-w", patience, "--listen", "127.0.0.1:0", NULL };
    struct program process, server;
    char line[128], wrong[256];
    const char *body;
    unsigned port;

    (void)state;
    start(&process);
    program_start(&server, argv);
    program_line(&server, line, sizeof(line));
    assert_int_equal(sscanf(line, "http://127.0.0.1:%u/metrics", &port), 1);
    for (int i = 0; i < 2; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
        assert_says(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
        assert_non_null(body = strstr(answer, "\r\n\r\n"));
        if (!exposition_is_valid(body + 4, wrong))
            fail_msg("%s", wrong);
        assert_says(body, "version=\"2\"} 12288\n");
    }
    ask(port, "GET /" CLOSE, answer, sizeof(answer));
    assert_int_equal(strncmp(answer, "HTTP/1.1 404 ", 13), 0);
    ask(port, "DELETE /metrics" CLOSE, answer, sizeof(answer));
    assert_int_equal(strncmp(answer, "HTTP/1.1 405 ", 13), 0);
    ask(port, "\x01\x02\r\n\r\n", answer, sizeof(answer));
    ask(port, "GET /metrics" CLOSE, answer, sizeof(answer)); /* that harmed nothing */
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
    program_end(&process);
}

static unsigned listen_on_any(struct program *server)
{
    const char *const argv[] = { ndstat, "-w", patience, "--listen", "127.0.0.1:0", NULL };
    char line[128];
    unsigned port;

    program_start(server, argv);
    program_line(server, line, sizeof(line));
    assert_int_equal(sscanf(line, "http://127.0.0.1:%u/metrics", &port), 1);
    return port;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void test_ndstat_asks_processes_once_a_second(void **state)
{
    enum { SCRAPES = 30 };
    static const char first[] = HEAD ADAPTER "sends 41\nend\n";
    static const char then[] = HEAD ADAPTER "sends 42\nend\n";
    static char answer[1 << 20];
    int fifo = fake(first, sizeof(first) - 1);
    struct program server;
    unsigned port = listen_on_any(&server);
    uint64_t begin_ms = now_ms(), took_ms;
    char asked[2 * SCRAPES];
    ssize_t octets;

    (void)state;
    for (int i = 0; i < SCRAPES; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_says(answer, "version=\"2\"} 41\n");
    }
    took_ms = now_ms() - begin_ms;
    octets = read(fifo, asked, sizeof(asked));
    assert_true(octets >= 1);
    assert_true((uint64_t)octets <= 1 + took_ms / 1000);
    close(fifo);
    fifo = fake(then, sizeof(then) - 1);
    do
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
    while (!strstr(answer, "version=\"2\"} 42\n")); /* the figures are not kept for ever */
    close(fifo);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
}

static void test_clients_that_do_nothing_keep_out_nobody(void **state)
{
    enum { IDLE = 100, KEPT = 15 };
    static char answer[1 << 20];
    struct program process, server;
    int idle[IDLE];
    unsigned port;
    char octet;

    (void)state;
    start(&process);
    port = listen_on_any(&server);
    for (int i = 0; i < IDLE; i++) {
        idle[i] = connected(port);
        if (i % 2)
            assert_int_equal(send(idle[i], "GET /metr", 9, MSG_NOSIGNAL), 9);
    }
    for (int i = 0; i < 3; i++) {
        ask(port, "GET /metrics" CLOSE, answer, sizeof(answer));
        assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    }
    for (int i = 0; i < IDLE - KEPT; i++) /* cut off, long before their time was up */
        assert_true(recv(idle[i], &octet, 1, 0) <= 0);
    assert_int_equal(recv(idle[IDLE - 1], &octet, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
    program_end(&process);
}

/* What it sends does not move its deadline. */
static void test_a_client_that_dribbles_is_cut_off(void **state)
{
    struct program server;
    unsigned port = listen_on_any(&server);
    uint64_t begin_ms = now_ms(), took_ms;
    struct pollfd wait = { .fd = connected(port), .events = POLLIN };

    (void)state;
    assert_int_equal(send(wait.fd, "GET /metrics HTTP/1.1\r\nA: ", 26, MSG_NOSIGNAL), 26);
    while (poll(&wait, 1, 200) == 0 && now_ms() - begin_ms < 60000)
        (void)send(wait.fd, "a", 1, MSG_NOSIGNAL);
    took_ms = now_ms() - begin_ms;
    assert_true(wait.revents);
    assert_true(took_ms >= 9900 && took_ms < 60000);
    close(wait.fd);
    program_kill(&server, SIGTERM);
    assert_int_equal(server.status, 0);
}

static void test_ndstat_says_where_it_cannot_listen(void **state)
{
    static const char *const bad[] = { "127.0.0.1", ":80", "::1:80", "host:80", "127.0.0.1:x" };
    struct program program;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        run(&program, "-l", bad[i], NULL, NULL);
        assert_int_equal(program.status, 1);
        assert_says(program.complained, "ADDRESS:PORT is wanted");
    }
    run(&program, "-l", "192.0.2.1:80", NULL, NULL); /* no address of this host */
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "cannot listen there");
}

#else

static void test_ndstat_says_that_it_cannot_listen(void **state)
{
    struct program program;

    (void)state;
    run(&program, "-l", "127.0.0.1:0", NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "built without libmicrohttpd");
}

#endif

int main(int argc, char **argv)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(test_ndstat_reads_another_process_exactly),
        ROW(test_an_adapter_keeps_its_serial_when_another_closes),
        ROW(test_ndstat_shows_tables_and_rates),
        ROW(test_ndstat_writes_what_prometheus_reads),
        cmocka_unit_test(test_exposition_that_is_wrong_is_told),
        ROW(test_ndstat_removes_what_a_killed_process_left),
        ROW(test_a_process_removes_what_a_killed_one_left),
        ROW(test_ndstat_tells_a_process_that_does_not_answer),
        ROW(test_a_forked_child_shows_its_own_adapters_alone),
        ROW(test_ndstat_does_not_see_who_does_not_want_it),
        ROW(test_a_process_works_where_it_cannot_show_anything),
        ROW(test_a_process_works_where_it_may_write_no_file),
        ROW(test_ndstat_refuses_a_directory_that_others_may_enter),
        ROW(test_ndstat_tells_damaged_files),
        ROW(test_ndstat_keeps_within_bounds),
        ROW(test_ndstat_prints_hostile_names_as_they_may_be),
        ROW(test_ndstat_reads_regular_files_of_this_user_alone),
        ROW(test_ndstat_leaves_out_names_of_no_process),
        ROW(test_ndstat_removes_unfinished_files_of_killed_processes),
        ROW(test_ndstat_refuses_wrong_arguments),
#ifdef NDSTAT_HTTP
        ROW(test_ndstat_is_scraped),
        ROW(test_ndstat_asks_processes_once_a_second),
        ROW(test_clients_that_do_nothing_keep_out_nobody),
        ROW(test_a_client_that_dribbles_is_cut_off),
        ROW(test_ndstat_says_where_it_cannot_listen),
#else
        ROW(test_ndstat_says_that_it_cannot_listen),
#endif
    };

    if (argc != 3)
        return 2;
    ndstat = argv[1];
    subject = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
