/* SPDX-License-Identifier: MIT */
/* ndstat on files that others may leave in the directory, and no process of ours has written. */
#include "tests/ndstat/stage.h"

#include "tests/ndstat/exposition.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_ndstat_tells_damaged_files(void **state)
{
    static const char *const bad[] = {
        "",
        "ndspi-counters 0\nprocess 77\nprogram p\nanswer 1\nend\n", /* no form */
        "ndspi-counters\nprocess 77\nprogram p\nanswer 1\nend\n",
        "ndspi-counters 2x\nprocess 77\nprogram p\nanswer 1\nend\n",
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
        HEAD "adapter dev0 1 0 5 0\nend\n",               /* the same */
        HEAD "adapter dev0 1 2 5\nend\n",                 /* no serial */
        HEAD "adapter dev0 1 2 5 4294967296\nend\n",      /* none either */
        HEAD "adapter\nend\n",
        "ndspi-counters 2\nprocess 4294967296\nprogram p\nanswer 1\nend\n",
        "ndspi-counters 2\nprocess 77\nprogram\nanswer 1\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fifo = stage_fake(bad[i], strlen(bad[i]));
        struct program program;

        stage_run(&program, NULL, NULL, NULL, NULL);
        if (program.status != 1 || !strstr(program.complained, "counters.7 is damaged"))
            fail_msg("text %zu: status %d, \"%s\"", i, program.status, program.complained);
        assert_string_equal(program.said, "");
        close(fifo);
    }
}

/* What another version of the library shows is no damage: it is told by its form, and is not waited for. */
static void test_ndstat_tells_files_of_another_form(void **state)
{
    static const char *const of_another[] = {
        "ndspi-counters 1\nprocess 77\nprogram p\nanswer 1\nadapter dev0 1 2 5\nsends 1\nend\n",
        "ndspi-counters 3\nwhatever that may say",
        "ndspi-counters 4294967295\n",
    };
    static const char *const forms[] = { "of form 1,", "of form 3,", "of form 4294967295," };
    struct program program;
    char octet;

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        int fifo = stage_fake(of_another[i], strlen(of_another[i]));

        stage_run(&program, NULL, NULL, NULL, NULL);
        assert_int_equal(program.status, 1);
        assert_says(program.complained, "ndstat: counters.7 is ");
        assert_says(program.complained, forms[i]);
        assert_null(strstr(program.complained, "damaged"));
        assert_string_equal(program.said, "");
        assert_int_equal(read(fifo, &octet, 1), -1); /* nobody has asked it */
        assert_int_equal(errno, EAGAIN);
        close(fifo);
    }
}

static void expect_mode(const char *path, mode_t mode)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, mode);
}

/* A mask that takes the owner's own rights does not take them from what the owner has to open again. */
static void test_what_a_program_shows_is_its_users_whatever_the_mask(void **state)
{
    const struct dirent *entry;
    struct program subject, program;
    mode_t before = umask(0277);
    unsigned files = 0;
    DIR *entries;

    (void)state;
    stage_start(&subject);
    umask(before);
    stage_run(&program, NULL, NULL, NULL, NULL); /* it has answered, too */
    assert_int_equal(program.status, 0);
    expect_mode(stage.folder, 0700);
    assert_non_null(entries = opendir(stage.folder));
    while ((entry = readdir(entries))) {
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", stage.folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        expect_mode(path, 0600);
        files++;
    }
    closedir(entries);
    assert_int_equal(files, 2); /* to ask, and the answer */
    program_end(&subject);
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
        fifo = stage_fake(text, octets);
        stage_run(&program, NULL, NULL, NULL, NULL);
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
    fifo = stage_fake(text, at);
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    close(fifo);
    fifo = stage_fake(zero, sizeof(zero) - 1);
    stage_run(&program, NULL, NULL, NULL, NULL);
    assert_int_equal(program.status, 1);
    close(fifo);
    free(text);
}

/* Names are printed by three forms, and one is a path of the kernel's files. */
static void test_ndstat_prints_hostile_names_as_they_may_be(void **state)
{
    static const char text[] =
        "ndspi-counters 2\nprocess 77\nprogram a\"\\\x1b[31m\nanswer 1\n"
        "adapter ../../../etc 1 2 5 4294967295\nsends 3\nlater_counter 9\nend\n";
    int fifo = stage_fake(text, sizeof(text) - 1);
    struct program program;
    char wrong[256];
    json_t *array;

    (void)state;
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    assert_string_equal(text_of(array, 0, "program"), "a\"\\_[31m");
    assert_int_equal(counter_of(array, 0, "sends"), 3);
    assert_int_equal(json_object_size(json_object_get(json_array_get(array, 0), "kernel")), 0);
    assert_false(is_fresh(array, 0));
    json_decref(array);
    stage_run(&program, "--prometheus", NULL, NULL, NULL);
    if (!exposition_is_valid(program.said, wrong))
        fail_msg("%s", wrong);
    assert_says(program.said, "program=\"a\\\"\\\\_[31m\"");
    stage_run(&program, NULL, NULL, NULL, NULL);
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
    fifo = stage_fake(text, sizeof(text) - 1);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 1);
    json_decref(array);
    snprintf(path, sizeof(path), "%s/counters.7.txt", stage.folder);
    snprintf(there, sizeof(there), "%s/elsewhere", stage.folder);
    assert_int_equal(rename(path, there), 0);
    assert_int_equal(symlink(there, path), 0);
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: ndstat must not wait for it */
    array = stage_adapters(0);
    assert_int_equal(json_array_size(array), 0);
    json_decref(array);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(there, path), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        array = stage_adapters(0);
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
        int fifo = stage_fake("", 0); /* damaged, so it would be told */

        snprintf(from, sizeof(from), "%s/counters.7.ask", stage.folder);
        snprintf(to, sizeof(to), "%s/%s.ask", stage.folder, names[i]);
        assert_int_equal(rename(from, to), 0);
        stage_run(&program, NULL, NULL, NULL, NULL);
        assert_int_equal(program.status, 0);
        assert_null(strstr(program.complained, "damaged"));
        close(fifo);
    }
}

static void put_file(const char *name, bool fifo)
{
    char path[192];
    int file;

    snprintf(path, sizeof(path), "%s/%s", stage.folder, name);
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
    assert_int_equal(mkdir(stage.folder, 0700), 0);
    put_file("counters.1.4194305.0.new", false);
    put_file("new.4194305.0x1", true);
    snprintf(living, sizeof(living), "new.%ld.0x1", (long)getpid());
    put_file(living, true);
    json_decref(stage_adapters(0));
    assert_int_equal(stage_entries(stage.folder, false), 1);
    snprintf(path, sizeof(path), "%s/%s", stage.folder, living);
    assert_int_equal(unlink(path), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STAGE_ROW(test_ndstat_tells_damaged_files),
        STAGE_ROW(test_ndstat_tells_files_of_another_form),
        STAGE_ROW(test_what_a_program_shows_is_its_users_whatever_the_mask),
        STAGE_ROW(test_ndstat_keeps_within_bounds),
        STAGE_ROW(test_ndstat_prints_hostile_names_as_they_may_be),
        STAGE_ROW(test_ndstat_reads_regular_files_of_this_user_alone),
        STAGE_ROW(test_ndstat_leaves_out_names_of_no_process),
        STAGE_ROW(test_ndstat_removes_unfinished_files_of_killed_processes),
    };

    if (!stage_arguments(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
