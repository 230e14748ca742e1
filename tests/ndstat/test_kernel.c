/* SPDX-License-Identifier: MIT */
/* The kernel's counters of a port: files as the kernel has them, and others. */
#include "tests/unit/util/cmocka_test.h"

#include "tools/stat/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct told {
    char text[512];
};

static void tell(void *context, const char *name, uint64_t value)
{
    struct told *told = context;
    size_t at = strlen(told->text);

    snprintf(told->text + at, sizeof(told->text) - at, "%s=%llu ", name, (unsigned long long)value);
}

static void make(const char *root, const char *path, const char *text)
{
    char full[256];
    FILE *file;

    snprintf(full, sizeof(full), "%s%s", root, path);
    if (!text) {
        assert_int_equal(mkdir(full, 0700), 0);
        return;
    }
    assert_non_null(file = fopen(full, "w"));
    fputs(text, file);
    fclose(file);
}

static void test_kernel_counters_are_the_files_with_a_number(void **state)
{
    char root[] = "/tmp/ndstat.sysfs.XXXXXX", command[64];
    struct told told = { "" };

    (void)state;
    assert_non_null(mkdtemp(root));
    make(root, "/rxe0", NULL);
    make(root, "/rxe0/ports", NULL);
    make(root, "/rxe0/ports/1", NULL);
    make(root, "/rxe0/ports/1/counters", NULL);
    make(root, "/rxe0/ports/1/hw_counters", NULL);
    make(root, "/rxe0/ports/1/counters/port_rcv_data", "18446744073709551615\n");
    make(root, "/rxe0/ports/1/hw_counters/sent_pkts", "42\n");
    make(root, "/rxe0/ports/1/hw_counters/lifespan", "10\n");
    make(root, "/rxe0/ports/1/hw_counters/words", "N/A (no PMA)\n");
    make(root, "/rxe0/ports/1/hw_counters/mixed", "7 of 9\n");
    make(root, "/rxe0/ports/1/hw_counters/beyond", "18446744073709551616\n");
    make(root, "/rxe0/ports/1/hw_counters/empty", "");
    make(root, "/rxe0/ports/1/hw_counters/a{b}", "3\n");
    stat_kernel(root, "rxe0", 1, tell, &told);
    assert_string_equal(told.text, "port_rcv_data=18446744073709551615 sent_pkts=42 ");
    told.text[0] = 0;
    stat_kernel(root, "rxe0", 2, tell, &told);
    stat_kernel(root, "../rxe0", 1, tell, &told);
    stat_kernel(root, "..", 1, tell, &told);
    assert_string_equal(told.text, "");
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_counters_are_the_files_with_a_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
