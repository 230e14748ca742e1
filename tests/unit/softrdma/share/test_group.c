/* SPDX-License-Identifier: MIT */
/* A control group's memory, from files as the kernel shows them: versions 1 and 2, nested, in containers. */
#include "softrdma/share/group.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static char place[] = "/tmp/test_group.XXXXXX";

/* A file below the test's directory, with the directories above it. */
static void make(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", place, name);
    for (char *at = path + strlen(place) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        assert_true(!mkdir(path, 0700) || errno == EEXIST);
    }
    assert_non_null(file = fopen(path, "we"));
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static uint64_t limit(const char *membership)
{
    char groups[PATH_MAX], mount[PATH_MAX];

    make("membership", membership);
    snprintf(groups, sizeof(groups), "%s/membership", place);
    snprintf(mount, sizeof(mount), "%s/mount", place);
    return srd_group_memory(groups, mount);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[PATH_MAX];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return system(command);
}

static void the_least_limit_from_a_group_to_the_root_counts(void **state)
{
    (void)state;
    make("mount/a.slice/memory.max", "8388608\n");
    make("mount/a.slice/memory.high", "max\n");
    make("mount/a.slice/b/memory.max", "67108864\n");
    make("mount/a.slice/b/c/memory.max", "max\n");
    make("mount/a.slice/b/c/memory.high", "max\n");
    assert_int_equal(limit("0::/a.slice/b/c\n"), 8 * MIB);
    make("mount/a.slice/b/memory.high", "4194304\n"); /* beyond it, everything slows down */
    assert_int_equal(limit("0::/a.slice/b/c\n"), 4 * MIB);
    assert_int_equal(limit("0::/a.slice\n"), 8 * MIB);
    assert_true(limit("0::/other\n") == UINT64_MAX);
}

static void version_1_has_it_by_the_memory_controller(void **state)
{
    static const char groups[] =
        "13:cpuset,cpu:/elsewhere\n12:memory:/docker/0123\n1:name=systemd:/x\n0::/none\n";

    (void)state;
    make("mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(limit(groups), 9223372036854771712u);
    make("mount/memory/docker/0123/memory.limit_in_bytes", "16777216\n");
    assert_int_equal(limit(groups), 16 * MIB);
    make("mount/memory/elsewhere/memory.limit_in_bytes", "1048576\n");
    assert_int_equal(limit(groups), 16 * MIB);
    assert_int_equal(limit("4:cpu,memory:/docker/0123\n"), 16 * MIB);
    assert_true(limit("4:memory2:/docker/0123\n") == UINT64_MAX);
}

/* There the directory of the container's group is where the root's is, and its path may name nothing. */
static void a_container_has_its_limit_at_the_root(void **state)
{
    (void)state;
    make("mount/memory.max", "33554432\n");
    assert_int_equal(limit("0::/\n"), 32 * MIB);
    assert_int_equal(limit("0::/system.slice/docker-0123.scope\n"), 32 * MIB);
    assert_int_equal(limit("0::/../kubepods\n"), 32 * MIB);
}

static void what_cannot_be_read_is_no_limit(void **state)
{
    (void)state;
    make("mount/rubbish/memory.max", "");
    make("mount/memory.max", "max\n");
    assert_true(limit("0::/rubbish\n") == UINT64_MAX);
    assert_true(limit("") == UINT64_MAX);
    assert_true(limit("::::\nno groups\n:\n7:memory\n") == UINT64_MAX);
    assert_true(srd_group_memory("/nonexistent", "/nonexistent") == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_limit_from_a_group_to_the_root_counts),
        cmocka_unit_test(version_1_has_it_by_the_memory_controller),
        cmocka_unit_test(a_container_has_its_limit_at_the_root),
        cmocka_unit_test(what_cannot_be_read_is_no_limit),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
