/* SPDX-License-Identifier: MIT */
#include "tests/ndstat/stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stage stage;

bool stage_arguments(int argc, char **argv)
{
    if (argc != 3)
        return false;
    stage.ndstat = argv[1];
    stage.subject = argv[2];
    return true;
}

int stage_set_up(void **state)
{
    (void)state;
    stage.patience = "30000";
    snprintf(stage.home, sizeof(stage.home), "/tmp/ndstat.test.XXXXXX");
    if (!mkdtemp(stage.home) || setenv("XDG_RUNTIME_DIR", stage.home, 1) ||
        unsetenv("NDSPI_COUNTERS"))
        return -1;
    snprintf(stage.folder, sizeof(stage.folder), "%s/ndspi", stage.home);
    return 0;
}

unsigned stage_entries(const char *path, bool remove_them)
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

int stage_tear_down(void **state)
{
    (void)state;
    stage_entries(stage.folder, true);
    rmdir(stage.folder);
    return rmdir(stage.home);
}

void stage_start(struct program *program)
{
    const char *const argv[] = { stage.subject, NULL };
    char line[64];

    program_start(program, argv);
    program_line(program, line, sizeof(line));
    assert_string_equal(line, "ready");
}

void stage_run(struct program *program, const char *a, const char *b, const char *c, const char *d)
{
    const char *const argv[] = { stage.ndstat, "-w", stage.patience, a, b, c, d, NULL };

    program_run(program, argv);
}

json_t *stage_adapters(int status)
{
    struct program program;
    json_t *root, *array;

    stage_run(&program, "--json", NULL, NULL, NULL);
    assert_int_equal(program.status, status);
    root = json_loads(program.said, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    array = json_incref(json_object_get(root, "adapters"));
    json_decref(root);
    assert_true(json_is_array(array));
    return array;
}

const char *text_of(json_t *array, size_t index, const char *name)
{
    const char *text = json_string_value(json_object_get(json_array_get(array, index), name));

    assert_non_null(text);
    return text;
}

json_int_t number_of(json_t *array, size_t index, const char *name)
{
    json_t *number = json_object_get(json_array_get(array, index), name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

json_int_t counter_of(json_t *array, size_t index, const char *name)
{
    json_t *number =
        json_object_get(json_object_get(json_array_get(array, index), "counters"), name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

bool is_fresh(json_t *array, size_t index)
{
    return json_is_true(json_object_get(json_array_get(array, index), "fresh"));
}

int stage_fake(const char *octets, size_t count)
{
    char path[192];
    int file, fifo;

    stage.patience = "1"; /* it does not answer */
    mkdir(stage.folder, 0700);
    snprintf(path, sizeof(path), "%s/counters.7.ask", stage.folder);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifo >= 0);
    snprintf(path, sizeof(path), "%s/counters.7.txt", stage.folder);
    unlink(path);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, octets, count), count);
    close(file);
    return fifo;
}
