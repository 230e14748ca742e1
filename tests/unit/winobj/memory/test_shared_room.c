/* SPDX-License-Identifier: MIT */
/*
 * test_shared_room.c - what happens when the memory or the places that processes share are all taken. /dev/shm is a
 * small one of the test's own.
 */
#include "tests/support/run_self.h"
#include "tests/support/win32_test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROOM = 16 << 20,   /* of /dev/shm */
    SECTION = 9 << 20, /* one fits, two do not */
    PLACES = 4096,     /* docs/porting.md */
};

static const char *program;

static HANDLE section(const char *name, uint64_t bytes)
{
    return CreateFileMappingA(
        INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, (DWORD)(bytes >> 32), (DWORD)bytes, name);
}

/* Nothing is written to the first one before the second is asked for. */
static void test_section_has_its_room_from_the_start(void **state)
{
    HANDLE first = section("first", SECTION), second;
    char *view;

    (void)state;
    assert_non_null(first);
    assert_fails(section("second", SECTION), SPEC_ERROR_COMMITMENT_LIMIT);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, "second"), SPEC_ERROR_FILE_NOT_FOUND);
    assert_non_null(view = MapViewOfFile(first, FILE_MAP_ALL_ACCESS, 0, 0, 0));
    for (int i = 0; i < SECTION; i += 4096) {
        assert_int_equal(view[i], 0);
        view[i] = 1;
    }
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(first));
    assert_non_null(second = section("second", SECTION));
    assert_true(CloseHandle(second));
}

/* The other process: takes the room for names that nobody will ask for again, and ends without closing anything. */
static int leave_sections(void)
{
    char name[32];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "left-%d", i);
        if (!section(name, 4 << 20))
            return 1;
    }
    _exit(0);
}

static int sections_left(void)
{
    char path[64];
    int left = 0;

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "/dev/shm/ndspi.%u.l.left-%d", (unsigned)geteuid(), i);
        left += !access(path, F_OK);
    }
    return left;
}

/* One process finds no room, and has looked before; another makes its first section. */
static void test_room_of_dead_processes(void **state)
{
    HANDLE first = section("first", 4096), second;

    (void)state;
    assert_non_null(first);
    assert_int_equal(run_self(program, "leave", "sections"), 0);
    assert_int_equal(sections_left(), 3);
    assert_non_null(second = section("second", SECTION));
    assert_int_equal(sections_left(), 0);
    assert_true(CloseHandle(second));

    assert_int_equal(run_self(program, "leave", "sections"), 0);
    assert_int_equal(sections_left(), 3);
    assert_int_equal(run_self(program, "section", "small"), 0);
    assert_int_equal(sections_left(), 0);
    assert_non_null(second = OpenFileMappingA(FILE_MAP_READ, FALSE, "first"));
    assert_true(CloseHandle(second));
    assert_true(CloseHandle(first));
}

static void test_more_than_the_system_has(void **state)
{
    (void)state;
    assert_fails(section("large", UINT64_C(1) << 60), SPEC_ERROR_COMMITMENT_LIMIT);
    assert_fails(section(NULL, UINT64_C(1) << 60), SPEC_ERROR_COMMITMENT_LIMIT);
    assert_fails(section(NULL, UINT64_MAX), SPEC_ERROR_COMMITMENT_LIMIT);
}

static HANDLE inheritable(void)
{
    SECURITY_ATTRIBUTES attributes = { sizeof(attributes), NULL, TRUE };

    return CreateEventA(&attributes, TRUE, FALSE, NULL);
}

/* The last place: an inheritable event fails, and one that is not inheritable does not. */
static void test_no_place_for_an_inheritable_event(void **state)
{
    static HANDLE events[PLACES];
    HANDLE other;

    (void)state;
    for (int i = 0; i < PLACES; i++)
        assert_non_null(events[i] = inheritable());
    assert_fails(inheritable(), SPEC_ERROR_NO_SYSTEM_RESOURCES);
    assert_fails(CreateEventA(NULL, TRUE, FALSE, "one more"), SPEC_ERROR_NO_SYSTEM_RESOURCES);
    assert_non_null(other = CreateEventA(NULL, TRUE, FALSE, NULL));
    assert_true(CloseHandle(events[7]));
    assert_non_null(events[7] = inheritable());
    for (int i = 0; i < PLACES; i++)
        assert_true(CloseHandle(events[i]));
    assert_true(CloseHandle(other));
}

/* The other process: takes all places but one, and ends without closing anything. */
static int leave_all_taken(void)
{
    for (int i = 0; i < PLACES - 1; i++)
        if (!inheritable())
            return 1;
    _exit(0);
}

static void test_what_an_ended_process_had_is_free(void **state)
{
    HANDLE own = inheritable(), events[2]; /* whose process keeps the first slot */

    (void)state;
    assert_non_null(own);
    assert_int_equal(run_self(program, "take", "all"), 0);
    for (int i = 0; i < 2; i++)
        assert_non_null(events[i] = inheritable());
    for (int i = 0; i < 2; i++)
        assert_true(CloseHandle(events[i]));
    assert_true(CloseHandle(own));
}

/* The other process: its /dev/shm takes nothing. */
static int name_without_memory(const char *log)
{
    char text[1024] = "";
    FILE *file;

    if (mount("none", "/dev/shm", "tmpfs", MS_RDONLY, NULL))
        return 2;
    if (CreateEventA(NULL, TRUE, FALSE, "none") || GetLastError() != SPEC_ERROR_NO_SYSTEM_RESOURCES)
        return 3;
    if (umount("/dev/shm") || !(file = fopen(log, "r")))
        return 4;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    if (!strstr(text, "is not to be had: Read-only file system"))
        return 5;
    return CreateEventA(NULL, TRUE, FALSE, "none") ? 0 : 6; /* it was for a while */
}

static void test_no_memory_for_names_is_said(void **state)
{
    (void)state;
    setenv("NDSPI_LOG", "error", 1);
    setenv("NDSPI_LOG_FILE", "ndspi_room.log", 1);
    assert_int_equal(run_self(program, "without", "ndspi_room.log"), 0);
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    assert_int_equal(unlink("ndspi_room.log"), 0);
}

/* The first call is interrupted by a signal, as one that takes long may be. */
static atomic_bool interrupted;

#pragma GCC visibility push(default) /* the library's calls are to come here */
int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (atomic_exchange(&interrupted, false))
        return EINTR;
    return fallocate(fd, 0, offset, length) ? errno : 0;
}
#pragma GCC visibility pop

/* The other process: nothing has been made here yet. */
static int make_interrupted(void)
{
    atomic_store(&interrupted, true);
    if (!CreateEventA(NULL, TRUE, FALSE, "interrupted") || atomic_load(&interrupted))
        return 2;
    atomic_store(&interrupted, true);
    return CreateNamedPipeA("\\\\.\\pipe\\ndspi-room", PIPE_ACCESS_DUPLEX, 0, 1, 0, 0, 0, NULL) ==
               INVALID_HANDLE_VALUE ||
           atomic_load(&interrupted);
}

static void test_a_signal_while_memory_is_made(void **state)
{
    (void)state;
    assert_int_equal(run_self(program, "make", "interrupted"), 0);
}

/* Another user has made a file first that everybody may write, and holds its lock. */
static int foreign(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(fchmod(fd, 0666), 0);
    assert_int_equal(fchown(fd, 65534, 65534), 0);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    return fd;
}

/* Its memory is not this user's, whoever has the name. */
static void test_a_file_of_another_user(void **state)
{
    HANDLE own = section("own", 4096);
    char path[64];
    int fd;

    (void)state;
    assert_non_null(own);
    if (chown("/dev/shm/ndspi.0", 0, 65534)) /* in a user's own namespace there is no other user */
        skip();
    snprintf(path, sizeof(path), "/dev/shm/ndspi.%u.l.foreign", (unsigned)geteuid());
    fd = foreign(path);
    assert_fails(section("foreign", 4096), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, "foreign"), SPEC_ERROR_FILE_NOT_FOUND);
    close(fd);
    assert_int_equal(unlink(path), 0);
    assert_true(CloseHandle(own));

    snprintf(path, sizeof(path), "/dev/shm/ndspi.%u", (unsigned)geteuid());
    assert_int_equal(unlink(path), 0);
    fd = foreign(path); /* nor does this one wait for its lock */
    assert_fails(section("own", 4096), SPEC_ERROR_ACCESS_DENIED);
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static bool own_shared_memory(void)
{
    char options[64];

    snprintf(options, sizeof(options), "mode=1777,size=%d", ROOM);
    return (!unshare(CLONE_NEWNS) || !unshare(CLONE_NEWUSER | CLONE_NEWNS)) &&
           !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount("tmpfs", "/dev/shm", "tmpfs", 0, options);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_section_has_its_room_from_the_start),
        cmocka_unit_test(test_room_of_dead_processes),
        cmocka_unit_test(test_more_than_the_system_has),
        cmocka_unit_test(test_no_place_for_an_inheritable_event),
        cmocka_unit_test(test_what_an_ended_process_had_is_free),
        cmocka_unit_test(test_a_file_of_another_user),
        cmocka_unit_test(test_no_memory_for_names_is_said),
        cmocka_unit_test(test_a_signal_while_memory_is_made),
    };

    if (count == 3 && !strcmp(arguments[1], "without"))
        return name_without_memory(arguments[2]);
    if (count == 3 && !strcmp(arguments[1], "make"))
        return make_interrupted();
    if (count == 3 && !strcmp(arguments[1], "leave"))
        return leave_sections();
    if (count == 3 && !strcmp(arguments[1], "section"))
        return !CloseHandle(section(arguments[2], 4096));
    if (count == 3)
        return leave_all_taken();
    program = arguments[0];
    if (!own_shared_memory()) {
        fprintf(stderr, "skipped: no /dev/shm of its own (%s)\n", strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
