/* SPDX-License-Identifier: MIT */
/* test_refused_lock.c - the system has no lock for the place of a process among those with names: it says just that. */
#include "tests/support/refuse.h"
#include "tests/support/win32_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void a_lock_that_is_not_to_be_had_is_named(void **state)
{
    const struct refused_call no_locks = { SYS_fcntl, 1, F_SETLK, ENOLCK };
    const int before = dup(2);
    char said[1000] = "";
    FILE *log = tmpfile();
    HANDLE event;
    DWORD error;

    (void)state;
    assert_non_null(log);
    assert_true(refuse_calls(&no_locks, 1));
    assert_int_equal(dup2(fileno(log), 2), 2); /* where the log goes */
    event = CreateEventA(NULL, TRUE, FALSE, "ndspi-refused-lock");
    error = GetLastError();
    assert_int_equal(dup2(before, 2), 2);
    assert_null(event);
    assert_int_equal(error, SPEC_ERROR_NO_SYSTEM_RESOURCES);
    assert_true(pread(fileno(log), said, sizeof(said) - 1, 0) > 0);
    assert_non_null(strstr(said, "No locks available"));
    assert_null(strstr(said, "which is the most"));
    fclose(log);
    close(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_that_is_not_to_be_had_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
