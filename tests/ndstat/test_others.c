/* SPDX-License-Identifier: MIT */
/*
 * test_others.c - root's ndstat and other users' folders: it shows what their processes count, and whatever they put
 * there makes it read nothing else, wait for nothing, and change nothing. /dev/shm and /run are this test's own, in a
 * mount namespace, which takes root; without it the rows are skipped. What a link, a FIFO, a mount may be used for is
 * what symlink(7), fifo(7) and openat2(2) say.
 */
#include "tests/ndstat/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USER = 4242, ANOTHER = 4243, PATH = 256, MOST = 256 };

#define SHARED    "/dev/shm/ndspi-4242"
#define RUNTIME   "/run/user/4242"
#define TEXT      HEAD ADAPTER "sends 3\nend\n"
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define NEEDS_ROOT()                                                                               \
    if (!is_alone)                                                                                 \
    skip()

static bool is_alone;       /* the mounts are this test's */
static int fifos[MOST + 8]; /* of processes that seem to live */
static unsigned fifo_count;

static int mount_own(const char *where)
{
    return mount("ndstat", where, "tmpfs", 0, "mode=1777");
}

static bool have_own_mounts(void)
{
    return geteuid() == 0 && !unshare(CLONE_NEWNS) &&
           !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) && !mount_own("/dev/shm") &&
           !mount_own("/run") && !mkdir("/run/user", 0755);
}

static void put(const char *path, const char *octets, size_t count, uid_t owner)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, octets, count), count);
    assert_int_equal(fchown(file, owner, owner), 0);
    close(file);
}

static void put_fifo(const char *path, uid_t owner)
{
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lchown(path, owner, owner), 0);
    fifos[fifo_count] = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifos[fifo_count++] >= 0);
}

/* The user's folder, with one process. */
static void put_folder(const char *folder, uid_t owner)
{
    char path[PATH];

    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chown(folder, owner, owner), 0);
    snprintf(path, sizeof(path), "%s/counters.7.ask", folder);
    put_fifo(path, owner);
    snprintf(path, sizeof(path), "%s/counters.7.txt", folder);
    put(path, TEXT, strlen(TEXT), owner);
}

static int set_up(void **state)
{
    fifo_count = 0;
    if (stage_set_up(state))
        return -1;
    stage.patience = "1"; /* what the test puts there does not answer */
    return 0;
}

static int tear_down(void **state)
{
    for (unsigned i = 0; i < fifo_count; i++)
        close(fifos[i]);
    if (is_alone) {
        while (!umount2(SHARED "/counters.7.txt", MNT_DETACH) || !umount2(SHARED, MNT_DETACH))
            continue;
        stage_entries(SHARED, true);
        stage_entries("/dev/shm", true);
        umount2(RUNTIME, MNT_DETACH);
        stage_entries("/run/user", true);
    }
    return stage_tear_down(state);
}

static void expect_rows(int status, size_t count)
{
    json_t *array = stage_adapters(status);

    assert_int_equal(json_array_size(array), count);
    if (count) {
        assert_int_equal(number_of(array, 0, "user"), USER);
        assert_int_equal(counter_of(array, 0, "sends"), 3);
    }
    json_decref(array);
}

static void test_root_sees_processes_of_other_users(void **state)
{
    const char *const argv[] = { stage.subject, "--user", "4242", NULL };
    struct program subject, program;
    char line[64];
    json_t *array;

    (void)state;
    NEEDS_ROOT();
    stage.patience = "30000";
    program_start(&subject, argv);
    program_line(&subject, line, sizeof(line));
    assert_string_equal(line, "ready");
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_int_equal(number_of(array, 0, "user"), USER);
    assert_true(is_fresh(array, 0)); /* it has answered */
    snprintf(line, sizeof(line), "%lld", (long long)number_of(array, 0, "process"));
    json_decref(array);
    stage_run(&program, line, NULL, NULL, NULL);
    assert_int_equal(program.status, 0);
    assert_says(program.said, "user 4242's ");
    stage_run(&program, "--prometheus", NULL, NULL, NULL);
    assert_says(program.said, ",user=\"4242\",");
    program_end(&subject);
    assert_int_equal(subject.status, 0);
}

static void test_root_finds_both_folders(void **state)
{
    (void)state;
    NEEDS_ROOT();
    put_folder(SHARED, USER);
    expect_rows(0, 1);
    assert_int_equal(mkdir(RUNTIME, 0700), 0);
    assert_int_equal(mount_own(RUNTIME), 0);
    assert_int_equal(chown(RUNTIME, USER, USER), 0);
    put_folder(RUNTIME "/ndspi", USER);
    expect_rows(0, 2);
}

static void test_a_folder_that_others_may_change_is_not_read(void **state)
{
    (void)state;
    NEEDS_ROOT();
    put_folder(SHARED, USER);
    assert_int_equal(chmod(SHARED, 0755), 0);
    expect_rows(0, 0);
    assert_int_equal(chmod(SHARED, 0700), 0);
    assert_int_equal(chown(SHARED, ANOTHER, ANOTHER), 0);
    expect_rows(0, 0);
    assert_int_equal(chown(SHARED, USER, USER), 0);
    expect_rows(0, 1);
}

static void test_links_lead_nowhere(void **state)
{
    struct program program;
    char octet;

    (void)state;
    NEEDS_ROOT();
    put_folder("/run/secret", USER);
    assert_int_equal(symlink("/run/secret", SHARED), 0); /* the folder */
    expect_rows(0, 0);
    assert_int_equal(unlink(SHARED), 0);
    stage_entries("/run/secret", true);
    assert_int_equal(rmdir("/run/secret"), 0);

    put_folder(SHARED, USER);
    put("/run/secret", TEXT, strlen(TEXT), USER);
    assert_int_equal(unlink(SHARED "/counters.7.txt"), 0);
    assert_int_equal(symlink("/run/secret", SHARED "/counters.7.txt"), 0); /* the text */
    expect_rows(0, 0);
    assert_int_equal(unlink("/run/secret"), 0);

    put_fifo("/run/secret", USER);
    assert_int_equal(unlink(SHARED "/counters.7.ask"), 0);
    assert_int_equal(symlink("/run/secret", SHARED "/counters.7.ask"), 0); /* the FIFO */
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(read(fifos[fifo_count - 1], &octet, 1), -1); /* nobody has asked there */
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(unlink("/run/secret"), 0);
}

static void test_files_of_others_are_not_read(void **state)
{
    struct program program;
    char octet;

    (void)state;
    NEEDS_ROOT();
    put_folder(SHARED, USER);
    assert_int_equal(chown(SHARED "/counters.7.txt", 0, 0), 0); /* a hard link to a file of root */
    expect_rows(0, 0);
    assert_int_equal(chown(SHARED "/counters.7.ask", 0, 0), 0);
    while (read(fifos[0], &octet, 1) == 1)
        continue;
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(read(fifos[0], &octet, 1), -1);
    assert_int_equal(unlink(SHARED "/counters.7.txt"), 0);
    put_fifo(SHARED "/counters.7.txt", USER); /* ndstat does not wait for a writer */
    expect_rows(0, 0);
}

/* What is mounted there may be a file system whose answers do not come. */
static void test_other_file_systems_are_not_entered(void **state)
{
    (void)state;
    NEEDS_ROOT();
    put_folder(SHARED, USER);
    put("/run/secret", TEXT, strlen(TEXT), USER);
    assert_int_equal(mount("/run/secret", SHARED "/counters.7.txt", NULL, MS_BIND, NULL), 0);
    expect_rows(0, 0);
    assert_int_equal(umount(SHARED "/counters.7.txt"), 0);
    assert_int_equal(unlink("/run/secret"), 0);
    expect_rows(0, 1);
    stage_entries(SHARED, true);
    assert_int_equal(mount_own(SHARED), 0);
    assert_int_equal(chmod(SHARED, 0700), 0);
    put_fifo(SHARED "/counters.7.ask", USER);
    put(SHARED "/counters.7.txt", TEXT, strlen(TEXT), USER);
    assert_int_equal(chown(SHARED, USER, USER), 0);
    expect_rows(0, 0);
    /* /run/user/USER is a file system, but has to be a tmpfs: this is the one of the test's programs. */
    assert_int_equal(mkdir(RUNTIME, 0700), 0);
    assert_int_equal(mount("/proc", RUNTIME, NULL, MS_BIND, NULL), 0);
    expect_rows(0, 0);
}

static void test_sizes_and_numbers_have_bounds(void **state)
{
    size_t octets = (1 << 16) + 1, rows = 0;
    struct program program;
    char *text = calloc(1, octets), path[PATH];

    (void)state;
    assert_non_null(text);
    if (is_alone) {
        put_folder(SHARED, USER);
        memset(text, 'a', octets);
        assert_int_equal(unlink(SHARED "/counters.7.txt"), 0);
        put(SHARED "/counters.7.txt", text, octets, USER);
        expect_rows(0, 0);
        for (int i = 0; i < MOST + 4; i++) {
            snprintf(path, sizeof(path), SHARED "/counters.8.%d.ask", i);
            put_fifo(path, USER);
            snprintf(path, sizeof(path), SHARED "/counters.8.%d.txt", i);
            put(path, TEXT, strlen(TEXT), USER);
        }
        stage_run(&program, NULL, NULL, NULL, NULL);
        for (const char *at = program.said; (at = strstr(at, "user 4242's p[77]")); at++)
            rows++;
        assert_true(rows >= MOST - 1 && rows <= MOST); /* one of those seen has a text too long */
    }
    free(text);
    NEEDS_ROOT();
}

static void test_nothing_of_others_is_changed(void **state)
{
    struct program program;
    unsigned entries;

    (void)state;
    NEEDS_ROOT();
    put_folder(SHARED, USER);
    close(fifos[--fifo_count]); /* the process is gone, and has left its files */
    entries = stage_entries(SHARED, false);
    expect_rows(0, 1);
    assert_int_equal(stage_entries(SHARED, false), entries);
    assert_int_equal(unlink(SHARED "/counters.7.txt"), 0);
    put(SHARED "/counters.7.txt", "no", 2, USER);
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "ndstat: user 4242's counters.7 is damaged");
    assert_int_equal(stage_entries(SHARED, false), entries);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ROW(test_root_sees_processes_of_other_users),
        ROW(test_root_finds_both_folders),
        ROW(test_a_folder_that_others_may_change_is_not_read),
        ROW(test_links_lead_nowhere),
        ROW(test_files_of_others_are_not_read),
        ROW(test_other_file_systems_are_not_entered),
        ROW(test_sizes_and_numbers_have_bounds),
        ROW(test_nothing_of_others_is_changed),
    };

    if (!stage_arguments(argc, argv))
        return 2;
    is_alone = have_own_mounts();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
