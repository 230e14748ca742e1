/* SPDX-License-Identifier: MIT */
/*
 * test_shared_room.c - what happens when the memory or the places that processes share are all taken. /dev/shm is a
 * small one of the test's own.
 */
#include "tests/support/run_self.h"
#include "tests/support/win32_test.h"

#include "win32/names/space.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROOM = 16 << 20,   /* of /dev/shm */
    SECTION = 9 << 20, /* one fits, two do not */
    PLACES = 4096,     /* docs/win32.md */
};

static const char *program;
static char log_file[32]; /* of a run's own */

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
        snprintf(path, sizeof(path), "/dev/shm/ndspi-%u/section.l.left-%d", (unsigned)geteuid(), i);
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
    setenv("NDSPI_LOG_FILE", log_file, 1);
    assert_int_equal(run_self(program, "without", log_file), 0);
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    assert_int_equal(unlink(log_file), 0);
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

/* In a user's own namespace there is no other user. */
static void need_another_user(void)
{
    assert_int_equal(mkdir("/dev/shm/other", 0700), 0);
    if (chown("/dev/shm/other", 65534, 65534)) {
        assert_int_equal(rmdir("/dev/shm/other"), 0);
        skip();
    }
    assert_int_equal(rmdir("/dev/shm/other"), 0);
}

/* Another user has made something first that everybody may use. */
static void make_foreign(const char *path, mode_t kind)
{
    assert_int_equal(mknod(path, kind | 0600, 0), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
}

/* The other process: it ends by SIGALRM where a call waits. */
static int use_sections(void)
{
    HANDLE one, two;

    alarm(10);
    if (!(one = section("used", 4096)) || GetLastError())
        return 2;
    if (!(two = OpenFileMappingA(FILE_MAP_WRITE, FALSE, "used")))
        return 3;
    return CloseHandle(one) && CloseHandle(two) ? 0 : 4;
}

/* /dev/shm is everyone's: whatever another user makes there, and whatever he calls it. */
static void test_another_users_names_stop_nobody(void **state)
{
    int leased;

    (void)state;
    need_another_user();
    make_foreign("/dev/shm/ndspi.0", S_IFREG);
    make_foreign("/dev/shm/ndspi.0.l.used", S_IFREG);
    make_foreign("/dev/shm/ndspi.0.l.fifo", S_IFIFO);
    leased = open("/dev/shm/ndspi.0.l.leased", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(leased >= 0);
    assert_int_equal(fcntl(leased, F_SETSIG, SIGURG), 0); /* which is ignored */
    if (fcntl(leased, F_SETLEASE, F_WRLCK))
        fprintf(stderr, "no lease here: %s\n", strerror(errno));
    assert_int_equal(fchown(leased, 65534, 65534), 0);
    assert_int_equal(run_self(program, "use", "sections"), 0);
    close(leased);
    assert_int_equal(unlink("/dev/shm/ndspi.0.l.leased"), 0);
    assert_int_equal(unlink("/dev/shm/ndspi.0.l.fifo"), 0);
    assert_int_equal(unlink("/dev/shm/ndspi.0.l.used"), 0);
    assert_int_equal(unlink("/dev/shm/ndspi.0"), 0);
}

/* What the user himself, or a library of another version, has put in the place of a section. */
static void test_what_is_no_section_is_denied(void **state)
{
    static const struct {
        const char *what;
        mode_t kind;
    } wrong[] = { { "fifo", S_IFIFO }, { "socket", S_IFSOCK }, { "folder", S_IFDIR },
        { "link", S_IFLNK } };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char path[96];

        snprintf(path, sizeof(path), "/dev/shm/ndspi-%u/section.l.%s", (unsigned)geteuid(),
            wrong[i].what);
        if (wrong[i].kind == S_IFDIR)
            assert_int_equal(mkdir(path, 0700), 0);
        else if (wrong[i].kind == S_IFLNK)
            assert_int_equal(symlink("/etc/passwd", path), 0);
        else
            assert_int_equal(mknod(path, wrong[i].kind | 0600, 0), 0);
        alarm(10);
        assert_fails(section(wrong[i].what, 4096), SPEC_ERROR_ACCESS_DENIED);
        assert_fails(
            OpenFileMappingA(FILE_MAP_READ, FALSE, wrong[i].what), SPEC_ERROR_FILE_NOT_FOUND);
        assert_int_equal(run_self(program, "use", "sections"), 0); /* which looks at all of them */
        alarm(0);
        assert_int_equal(remove(path), 0);
    }
}

/* The other process, as its first: what is made with this mask can be opened again. */
static int use_masked(void)
{
    HANDLE event, again, pipe;

    umask(0777);
    if (use_sections())
        return 2;
    if (!(event = CreateEventA(NULL, TRUE, FALSE, "masked")))
        return 3;
    pipe = CreateNamedPipeA("\\\\.\\pipe\\ndspi-masked", PIPE_ACCESS_DUPLEX, 0, 1, 0, 0, 0, NULL);
    if (pipe == INVALID_HANDLE_VALUE)
        return 4;
    again = CreateFileA("\\\\.\\pipe\\ndspi-masked", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (again == INVALID_HANDLE_VALUE)
        return 5;
    return CloseHandle(again) && CloseHandle(pipe) && CloseHandle(event) ? 0 : 6;
}

/* root passes any mode, so the processes are another user's. */
static int as_another(int (*use)(void))
{
    return setresgid(12345, 12345, 12345) || setresuid(12345, 12345, 12345) ? 9 : use();
}

static int use_masked_as_another(void)
{
    return as_another(use_masked);
}

static void test_a_mask_of_modes_locks_nobody_out(void **state)
{
    struct stat status;

    (void)state;
    need_another_user();
    assert_int_equal(run_self(program, "use", "masked"), 0);
    assert_int_equal(stat("/dev/shm/ndspi-12345", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(run_self(program, "use", "another"), 0);

    /* of a process that was killed before it had set the modes */
    assert_int_equal(chmod("/dev/shm/ndspi-12345/sections", 0), 0);
    assert_int_equal(chmod("/dev/shm/ndspi-12345", 0500), 0);
    assert_int_equal(run_self(program, "use", "another"), 0);
}

static int use_as_another(void)
{
    return as_another(use_sections);
}

static int use_denied(void)
{
    if (setresuid(12346, 12346, 12346))
        return 9;
    alarm(10);
    if (section("used", 4096) || GetLastError() != SPEC_ERROR_ACCESS_DENIED)
        return 2;
    if (CreateEventA(NULL, TRUE, FALSE, "used") || GetLastError() != SPEC_ERROR_ACCESS_DENIED)
        return 3;
    return 0;
}

static void expect_logged(const char *text)
{
    char line[1024] = "";
    FILE *file = fopen(log_file, "r");

    assert_non_null(file);
    line[fread(line, 1, sizeof(line) - 1, file)] = 0;
    fclose(file);
    if (!strstr(line, text))
        fail_msg("not logged: %s, but: %s", text, line);
    assert_int_equal(unlink(log_file), 0);
}

/* The folder's name is everyone's, too: who took it is said, and where the system has another place that is used. */
static void test_another_users_folder(void **state)
{
    int fd;

    (void)state;
    need_another_user();
    assert_int_equal(mkdir("/dev/shm/ndspi-12346", 0777), 0);
    assert_int_equal(chown("/dev/shm/ndspi-12346", 65534, 65534), 0);
    setenv("NDSPI_LOG", "error", 1);
    setenv("NDSPI_LOG_FILE", log_file, 1);
    fd = open(log_file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_int_equal(fchmod(fd, 0666), 0);
    close(fd);
    assert_int_equal(run_self(program, "use", "denied"), 0);
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    expect_logged("/dev/shm/ndspi-12346 belongs to user 65534");
    assert_int_equal(rmdir("/dev/shm/ndspi-12346"), 0);

    assert_int_equal(mount("tmpfs", "/run", "tmpfs", 0, "mode=755"), 0);
    assert_int_equal(mkdir("/run/user", 0755), 0);
    assert_int_equal(mkdir("/run/user/12347", 0700), 0);
    assert_int_equal(chown("/run/user/12347", 12347, 12347), 0);
    assert_int_equal(mkdir("/dev/shm/ndspi-12347", 0777), 0);
    assert_int_equal(run_self(program, "use", "run"), 0);
    assert_int_equal(access("/run/user/12347/ndspi/sections", F_OK), 0);
    assert_int_equal(rmdir("/dev/shm/ndspi-12347"), 0);
    assert_int_equal(umount("/run"), 0);
}

static int use_run(void)
{
    return setresuid(12347, 12347, 12347) ? 9 : use_sections();
}

static int is_objects(const struct dirent *entry)
{
    return !strncmp(entry->d_name, "objects.", 8);
}

/* Rubbish that is likely to be believed: ends of ranges, and what is behind them. */
static uint32_t rubbish(unsigned *seed)
{
    static const uint32_t favourites[] = { 0, 1, 2, 3, 63, 64, 65, 512, 1023, 1024, 1025, 4095,
        4096, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF };
    const int which = rand_r(seed) % 24;

    return which < (int)(sizeof(favourites) / sizeof(favourites[0])) ? favourites[which]
                                                                     : (uint32_t)rand_r(seed);
}

/* The page of the user's objects. Its version, size and mutex stay as they are. */
static struct names_space *space;
static atomic_bool over;

/* In place of another process: that a thread of this one races with the library is no news of ThreadSanitizer's. */
#define LIKE_ANOTHER_PROCESS __attribute__((no_sanitize("thread"), noinline))

LIKE_ANOTHER_PROCESS static void spoil_words(unsigned *seed, void *from, size_t octets)
{
    uint32_t *words = from;

    __atomic_store_n(
        &words[(size_t)rand_r(seed) % (octets / sizeof(*words))], rubbish(seed), __ATOMIC_SEQ_CST);
}

/* Mostly the first of each kind, which this process has. */
LIKE_ANOTHER_PROCESS static void spoil(unsigned *seed)
{
    const size_t begin = offsetof(struct names_space, turn);

    switch (rand_r(seed) % 6) {
    case 0: space->top = rubbish(seed); break;
    case 1: spoil_words(seed, &space->journal, 64); break;
    case 2: spoil_words(seed, space->processes, 64); break;
    case 3: spoil_words(seed, space->waits, 4 * sizeof(space->waits[0])); break;
    case 4: spoil_words(seed, space->objects, 8 * sizeof(space->objects[0])); break;
    default: spoil_words(seed, (char *)space + begin, sizeof(*space) - begin);
    }
}

static DWORD WINAPI spoil_all_the_time(void *unused)
{
    unsigned seed = 30;

    (void)unused;
    while (!atomic_load(&over))
        spoil(&seed);
    return 0;
}

/* Whatever the calls return, they return, and write nowhere else. */
static void use_names(unsigned *seed)
{
    HANDLE all[4] = { CreateEventA(NULL, FALSE, FALSE, "spoilt-event"),
        CreateSemaphoreA(NULL, 1, 5, "spoilt-semaphore"), CreateMutexA(NULL, TRUE, "spoilt-mutex"),
        CreateEventA(NULL, TRUE, TRUE, "spoilt-manual") };

    for (int i = 0; i < 40; i++)
        spoil(seed);
    if (all[0])
        SetEvent(all[0]);
    if (all[1])
        ReleaseSemaphore(all[1], 2, NULL);
    if (all[2])
        ReleaseMutex(all[2]);
    if (all[0] && all[1] && all[2] && all[3]) {
        DWORD got = WaitForMultipleObjects(4, all, rand_r(seed) % 2, (DWORD)(rand_r(seed) % 3));

        if (got != WAIT_TIMEOUT && got != WAIT_FAILED && got > WAIT_OBJECT_0 + 3 &&
            (got < WAIT_ABANDONED_0 || got > WAIT_ABANDONED_0 + 3)) {
            fprintf(stderr, "a wait for 4 objects returned 0x%x\n", (unsigned)got);
            abort();
        }
    }
    for (int i = 0; i < 4; i++)
        if (all[i])
            CloseHandle(all[i]);
}

static int use_rubbish(void)
{
    struct dirent **files;
    struct stat status;
    HANDLE first, thread;
    unsigned seed = 1;
    char path[320];
    int count, fd;

    if (setresuid(12348, 12348, 12348) || chdir("/dev/shm"))
        return 9;
    alarm(60);
    if (!(first = CreateEventA(NULL, TRUE, FALSE, "spoilt")))
        return 2;
    count = scandir("ndspi-12348", &files, is_objects, NULL);
    if (count != 1)
        return 3;
    snprintf(path, sizeof(path), "ndspi-12348/%s", files[0]->d_name);
    free(files[0]);
    free(files);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        return 4;
    if ((size_t)status.st_size != sizeof(*space))
        return 5;
    space = mmap(NULL, sizeof(*space), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (space == MAP_FAILED)
        return 6;
    for (int i = 0; i < 3000; i++)
        use_names(&seed);
    thread = CreateThread(NULL, 0, spoil_all_the_time, NULL, 0, NULL);
    for (int i = 0; i < 1000; i++)
        use_names(&seed);
    atomic_store(&over, true);
    WaitForSingleObject(thread, INFINITE);
    return 0;
}

/* What other processes of the user write is checked; here one has lost its mind. */
static void test_rubbish_in_the_page_of_objects(void **state)
{
    (void)state;
    need_another_user();
    assert_int_equal(run_self(program, "use", "rubbish"), 0);
}

static const struct {
    const char *name;
    int (*use)(void);
} uses[] = { { "sections", use_sections }, { "masked", use_masked_as_another },
    { "another", use_as_another }, { "denied", use_denied }, { "run", use_run },
    { "rubbish", use_rubbish } };

static int use(const char *name)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (!strcmp(name, uses[i].name))
            return uses[i].use();
    return 1;
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
        cmocka_unit_test(test_another_users_names_stop_nobody),
        cmocka_unit_test(test_what_is_no_section_is_denied),
        cmocka_unit_test(test_a_mask_of_modes_locks_nobody_out),
        cmocka_unit_test(test_another_users_folder),
        cmocka_unit_test(test_rubbish_in_the_page_of_objects),
        cmocka_unit_test(test_no_memory_for_names_is_said),
        cmocka_unit_test(test_a_signal_while_memory_is_made),
    };

    if (count == 3 && !strcmp(arguments[1], "without"))
        return name_without_memory(arguments[2]);
    if (count == 3 && !strcmp(arguments[1], "make"))
        return make_interrupted();
    if (count == 3 && !strcmp(arguments[1], "use"))
        return use(arguments[2]);
    if (count == 3 && !strcmp(arguments[1], "leave"))
        return leave_sections();
    if (count == 3 && !strcmp(arguments[1], "section"))
        return !CloseHandle(section(arguments[2], 4096));
    if (count == 3)
        return leave_all_taken();
    program = arguments[0];
    snprintf(log_file, sizeof(log_file), "ndspi_room.%d.log", (int)getpid());
    if (!own_shared_memory()) {
        fprintf(stderr, "skipped: no /dev/shm of its own (%s)\n", strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
