/* SPDX-License-Identifier: MIT */
/* test_named.c - events, mutexes and semaphores that processes share by name. The program starts itself. */
#include "tests/support/start_self.h"

#ifndef _WIN32 /* kills at random; other users */
#include <signal.h>
#include <sys/stat.h>
#endif

static const char *program;
static char base[64]; /* of the names of this run */

static const char *name_of(const char *what)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", base, what);
    return name;
}

static const char *local_of(const char *what)
{
    static char name[140];

    snprintf(name, sizeof(name), "Local\\%s", name_of(what));
    return name;
}

enum { ROUNDS = 300, CONTENDERS = 4 };

struct shared {
    LONG entered, total;
};

/* Adds to a total that only the mutex guards. */
static int contend(void)
{
    HANDLE mutex = OpenMutexA(SYNCHRONIZE, FALSE, name_of("mutex"));
    HANDLE memory = OpenFileMappingA(FILE_MAP_WRITE, FALSE, name_of("memory"));
    struct shared *shared = memory ? MapViewOfFile(memory, FILE_MAP_WRITE, 0, 0, 0) : NULL;

    if (!mutex || !shared)
        return 80;
    for (int i = 0; i < ROUNDS; i++) {
        if (WaitForSingleObject(mutex, LONG_MS) != WAIT_OBJECT_0)
            return 81;
        if (shared->entered)
            return 82;
        shared->entered = 1;
        shared->total++;
        if (i % 16 == 0)
            Sleep(0);
        shared->entered = 0;
        if (!ReleaseMutex(mutex))
            return 83;
    }
    return 7;
}

/* Answers each signal of one event by one of another. */
static int echo(void)
{
    HANDLE ping = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("ping"));
    HANDLE pong = OpenEventW(EVENT_ALL_ACCESS, FALSE, own_wide(name_of("pong")));

    if (!ping || !pong)
        return 80;
    for (int i = 0; i < ROUNDS; i++)
        if (WaitForSingleObject(ping, LONG_MS) != WAIT_OBJECT_0 || !SetEvent(pong))
            return 81;
    return 7;
}

/* Does to one object what the first octet says, tells the result, and stays until the pipe is closed. */
static int serve(int from, int to)
{
    HANDLE event = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")), all[2];
    HANDLE mutex = OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name_of("mutex"));
    HANDLE semaphore = OpenSemaphoreA(SEMAPHORE_ALL_ACCESS, FALSE, name_of("semaphore"));
    DWORD result = 0;
    char said;

    if (!start_send(to, "r", 1))
        return 80;
    while (start_receive(from, &said, 1)) {
        switch (said) {
        case 'e': result = WaitForSingleObject(event, LONG_MS); break;
        case 'm': result = WaitForSingleObject(mutex, LONG_MS); break;
        case 'M': result = WaitForSingleObject(mutex, 0); break;
        case 's': result = WaitForSingleObject(semaphore, LONG_MS); break;
        case 'r': result = ReleaseMutex(mutex) ? 1 : GetLastError(); break;
        case 'a':
            all[0] = event;
            all[1] = semaphore;
            result = WaitForMultipleObjects(2, all, TRUE, LONG_MS);
            break;
        default: return 81;
        }
        if (!start_send(to, &result, sizeof(result)))
            return 82;
    }
    return 7;
}

#ifndef _WIN32 /* other users */
/* A user of no other run: the number of the first process is at the end of base. */
static uid_t robbed_user(void)
{
    return 100000 + (uid_t)strtoul(strrchr(base, '-') + 1, NULL, 10);
}

static int other_user(uid_t user)
{
    HANDLE event;
    int error;

    if (setgid(user) || setuid(user))
        return 80;
    error = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")) ? 81 : (int)GetLastError();
    if ((event = CreateEventA(NULL, TRUE, TRUE, name_of("event"))))
        error += GetLastError() ? 90 : 10;
    return error;
}
#endif

static int child(const char *how, int from, int to)
{
#ifndef _WIN32 /* other users */
    if (!strcmp(how, "user"))
        return other_user(65534);
    if (!strcmp(how, "robbed"))
        return other_user(robbed_user());
#endif
    if (!strcmp(how, "contend"))
        return contend();
    if (!strcmp(how, "echo"))
        return echo();
    return serve(from, to);
}

static struct started start_server(void)
{
    struct started self = start_self(program, "serve");
    char ready;

    assert_true(start_receive(self.from, &ready, 1));
    return self;
}

static void ask(const struct started *self, char what)
{
    assert_true(start_send(self->to, &what, 1));
}

static DWORD answer(const struct started *self)
{
    DWORD result = 0xdead;

    assert_true(start_receive(self->from, &result, sizeof(result)));
    return result;
}

static void kill_it(struct started *self)
{
    HANDLE process = OpenProcess(PROCESS_TERMINATE | SYNCHRONIZE, FALSE, self->id);

    assert_non_null(process);
    assert_true(TerminateProcess(process, 1));
    assert_wait(WaitForSingleObject(process, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(process));
    start_wait(self);
}

static void test_a_name_finds_the_object_as_long_as_it_has_a_handle(void **state)
{
    HANDLE event, other;

    (void)state;
    assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")), SPEC_ERROR_FILE_NOT_FOUND);
    SetLastError(99);
    assert_non_null(event = CreateEventA(NULL, TRUE, FALSE, name_of("event")));
    assert_win_error(0);
    assert_non_null(other = CreateEventA(NULL, FALSE, TRUE, name_of("event")));
    assert_win_error(SPEC_ERROR_ALREADY_EXISTS);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(other));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(other, 0), WAIT_OBJECT_0); /* manual, as it was made */
    assert_true(ResetEvent(event));
    assert_wait(WaitForSingleObject(other, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
    assert_non_null(event = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")));
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(other));
    assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")), SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_a_name_of_another_kind_is_an_invalid_handle(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, FALSE, name_of("kind"));

    (void)state;
    assert_non_null(mutex);
    assert_fails(CreateEventA(NULL, TRUE, FALSE, name_of("kind")), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateSemaphoreA(NULL, 0, 1, name_of("kind")), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("kind")), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(
        OpenSemaphoreA(SEMAPHORE_ALL_ACCESS, FALSE, name_of("kind")), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(SetEvent(mutex), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(mutex));
    assert_fails(OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name_of("kind")), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        OpenMutexA(MUTEX_ALL_ACCESS, FALSE, "no\\such\\directory"), SPEC_ERROR_PATH_NOT_FOUND);
#ifndef _WIN32 /* Wine does as Windows does for a name of another size */
    assert_fails(OpenMutexA(MUTEX_ALL_ACCESS, FALSE, NULL), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

/* The wide name is the narrow one in UTF-8. */
static void test_a_wide_name_is_the_same_name(void **state)
{
    const char *event = own_name("ndspi-named-1"), *mutex = own_name("Local\\ndspi-named-2"),
               *semaphore = own_name("Global\\ndspi-named-3");
    HANDLE made[3] = { CreateEvent(NULL, TRUE, TRUE, event), CreateMutex(NULL, FALSE, mutex),
        CreateSemaphore(NULL, 1, 1, semaphore) };
    HANDLE wide[3] = { OpenEventW(EVENT_ALL_ACCESS, FALSE, own_wide(event)),
        OpenMutexW(MUTEX_ALL_ACCESS, FALSE, own_wide(mutex) + strlen("Local\\")),
        OpenSemaphoreW(SEMAPHORE_ALL_ACCESS, FALSE, own_wide(semaphore)) };

    (void)state;
    assert_wait(WaitForMultipleObjects(3, wide, TRUE, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(made[2], 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(made[0], 0), WAIT_OBJECT_0);
    assert_true(ReleaseMutex(made[1]));
    for (int i = 0; i < 3; i++) {
        assert_true(CloseHandle(made[i]));
        assert_true(CloseHandle(wide[i]));
    }
    assert_fails(OpenEvent(EVENT_ALL_ACCESS, FALSE, event), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        OpenMutex(MUTEX_ALL_ACCESS, FALSE, mutex + strlen("Local\\")), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(OpenSemaphore(SEMAPHORE_ALL_ACCESS, FALSE, semaphore + strlen("Global\\")),
        SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_a_semaphore_counts_for_all_its_handles(void **state)
{
    HANDLE one = CreateSemaphoreA(NULL, 1, 3, name_of("semaphore"));
    HANDLE two = CreateSemaphoreA(NULL, 0, 1, name_of("semaphore"));
    LONG before = 99;

    (void)state;
    assert_non_null(two);
    assert_win_error(SPEC_ERROR_ALREADY_EXISTS);
    assert_true(ReleaseSemaphore(two, 2, &before));
    assert_int_equal(before, 1);
    assert_fails(ReleaseSemaphore(one, 1, NULL), SPEC_ERROR_TOO_MANY_POSTS);
    for (int i = 0; i < 3; i++)
        assert_wait(WaitForSingleObject(i % 2 ? one : two, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(one, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(one));
    assert_true(CloseHandle(two));
}

static void test_a_mutex_is_acquired_once_more_by_its_owner(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, TRUE, name_of("own")),
           again = OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name_of("own"));

    (void)state;
    assert_wait(WaitForSingleObject(again, 0), WAIT_OBJECT_0);
    assert_true(ReleaseMutex(mutex));
    assert_true(ReleaseMutex(again));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_true(CloseHandle(mutex));
    assert_true(CloseHandle(again));
}

static DWORD WINAPI take_and_end(LPVOID mutex)
{
    return WaitForSingleObject(mutex, LONG_MS);
}

static void test_a_thread_that_ends_abandons_its_mutex(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, FALSE, name_of("thread")),
           thread = CreateThread(NULL, 0, take_and_end, mutex, 0, NULL);

    (void)state;
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(mutex, LONG_MS), WAIT_ABANDONED);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(mutex));
}

static void test_processes_answer_each_other_by_events(void **state)
{
    HANDLE ping = CreateEventA(NULL, FALSE, FALSE, name_of("ping"));
    HANDLE pong = CreateEventW(NULL, FALSE, FALSE, own_wide(local_of("pong")));
    struct started self = start_self(program, "echo");

    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        assert_wait(SignalObjectAndWait(ping, pong, LONG_MS, FALSE), WAIT_OBJECT_0);
    assert_int_equal(start_wait(&self), 7);
    assert_true(CloseHandle(ping));
    assert_true(CloseHandle(pong));
}

static void test_contenders_enter_one_at_a_time(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, TRUE, name_of("mutex"));
    HANDLE memory = CreateFileMappingA(
        INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, sizeof(struct shared), name_of("memory"));
    struct shared *shared = MapViewOfFile(memory, FILE_MAP_WRITE, 0, 0, 0);
    struct started contenders[CONTENDERS];

    (void)state;
    for (int i = 0; i < CONTENDERS; i++)
        contenders[i] = start_self(program, "contend");
    assert_true(ReleaseMutex(mutex));
    for (int i = 0; i < CONTENDERS; i++)
        assert_int_equal(start_wait(&contenders[i]), 7);
    assert_int_equal(shared->total, CONTENDERS * ROUNDS);
    assert_true(UnmapViewOfFile(shared));
    assert_true(CloseHandle(memory));
    assert_true(CloseHandle(mutex));
}

struct objects {
    HANDLE event, mutex, semaphore;
};

static struct objects make_objects(bool manual)
{
    struct objects made = { CreateEventA(NULL, manual, FALSE, name_of("event")),
        CreateMutexA(NULL, FALSE, name_of("mutex")),
        CreateSemaphoreA(NULL, 0, 9, name_of("semaphore")) };

    assert_non_null(made.event);
    assert_non_null(made.mutex);
    assert_non_null(made.semaphore);
    return made;
}

static void close_objects(const struct objects *made)
{
    assert_true(CloseHandle(made->event));
    assert_true(CloseHandle(made->mutex));
    assert_true(CloseHandle(made->semaphore));
}

/* The server has had time to begin its wait, or has not: either way it gets what it waits for. */
static void test_two_signals_end_two_waits_in_other_processes(void **state)
{
    struct objects made = make_objects(false);
    struct started servers[2] = { start_server(), start_server() };

    (void)state;
    for (int round = 0; round < 50; round++) {
        ask(&servers[0], 's');
        ask(&servers[1], 's');
        assert_true(ReleaseSemaphore(made.semaphore, 2, NULL));
        assert_int_equal(answer(&servers[0]), 0);
        assert_int_equal(answer(&servers[1]), 0);
        assert_wait(WaitForSingleObject(made.semaphore, 0), WAIT_TIMEOUT);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(start_wait(&servers[i]), 7);
    close_objects(&made);
}

static void test_a_wait_for_all_takes_all_or_nothing(void **state)
{
    struct objects made = make_objects(false);
    struct started server = start_server();

    (void)state;
    for (int round = 0; round < 50; round++) {
        ask(&server, 'a');
        assert_true(SetEvent(made.event));
        assert_true(ReleaseSemaphore(made.semaphore, 1, NULL));
        assert_int_equal(answer(&server), 0);
        assert_wait(WaitForSingleObject(made.event, 0), WAIT_TIMEOUT);
        assert_wait(WaitForSingleObject(made.semaphore, 0), WAIT_TIMEOUT);
    }
    assert_int_equal(start_wait(&server), 7);
    close_objects(&made);
}

static void test_a_killed_owner_abandons_its_mutex(void **state)
{
    struct objects made = make_objects(false);
    struct started owner = start_server(), waiter = start_server();
    HANDLE both[2] = { made.event, made.mutex };

    (void)state;
    ask(&owner, 'm');
    assert_int_equal(answer(&owner), 0);
    assert_wait(WaitForSingleObject(made.mutex, 0), WAIT_TIMEOUT);
    ask(&waiter, 'M');
    assert_int_equal(answer(&waiter), SPEC_WAIT_TIMEOUT);
    ask(&waiter, 'r');
    assert_int_equal(answer(&waiter), SPEC_ERROR_NOT_OWNER);
    ask(&waiter, 'm'); /* which sleeps, or will */
    kill_it(&owner);
    assert_int_equal(answer(&waiter), SPEC_WAIT_ABANDONED_0);
    ask(&waiter, 'r');
    assert_int_equal(answer(&waiter), 1);
    assert_wait(WaitForMultipleObjects(2, both, FALSE, LONG_MS), WAIT_OBJECT_0 + 1);
    assert_true(ReleaseMutex(made.mutex));
    ask(&waiter, 'm');
    assert_int_equal(answer(&waiter), 0);
    kill_it(&waiter);
    assert_wait(WaitForMultipleObjects(2, both, FALSE, 0), WAIT_ABANDONED_0 + 1);
    assert_true(ReleaseMutex(made.mutex));
    close_objects(&made);
}

/* A killed waiter takes no signal with it. */
static void test_a_killed_waiter_takes_nothing(void **state)
{
    struct objects made = make_objects(false);
    struct started other = start_server();

    (void)state;
    for (int round = 0; round < 5; round++) {
        struct started server = start_server();

        ask(&server, 'e');
        for (int i = 0; i < 50;
             i++) { /* it has begun to wait, most likely; if not, all the same holds */
            ask(&other, 'M');
            assert_int_equal(answer(&other), 0);
            ask(&other, 'r');
            assert_int_equal(answer(&other), 1);
        }
        kill_it(&server);
        assert_true(SetEvent(made.event));
        assert_wait(WaitForSingleObject(made.event, 0), WAIT_OBJECT_0);
    }
    assert_int_equal(start_wait(&other), 7);
    close_objects(&made);
}

static void test_the_name_goes_with_the_last_process_that_was_killed(void **state)
{
    struct objects made = make_objects(true);
    struct started server = start_server();

    (void)state;
    assert_true(SetEvent(made.event));
    close_objects(&made);
    assert_non_null(made.event = OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")));
    assert_wait(WaitForSingleObject(made.event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(made.event));
    kill_it(&server);
    assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name_of("event")), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(OpenMutexA(MUTEX_ALL_ACCESS, FALSE, name_of("mutex")), SPEC_ERROR_FILE_NOT_FOUND);
}

#ifndef _WIN32 /* processes that are killed at any step: Windows' kernel does such a step whole */
static void test_processes_killed_at_any_step_hurt_no_other(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, FALSE, name_of("mutex"));
    HANDLE memory = CreateFileMappingA(
        INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, sizeof(struct shared), name_of("memory"));
    struct shared *shared = MapViewOfFile(memory, FILE_MAP_WRITE, 0, 0, 0);

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct started victims[2] = { start_self(program, "contend"),
            start_self(program, "contend") };
        LONG until = shared->total + 1 + round * 3 % 40;
        DWORD got = WAIT_OBJECT_0;

        while (shared->total < until && got != WAIT_TIMEOUT) {
            got = WaitForSingleObject(mutex, LONG_MS);
            assert_true(got == WAIT_OBJECT_0 || got == WAIT_ABANDONED);
            shared->entered = 0;
            shared->total++;
            assert_true(ReleaseMutex(mutex));
        }
        assert_int_equal(kill((pid_t)victims[round % 2].id, SIGKILL), 0);
        assert_int_equal(kill((pid_t)victims[!(round % 2)].id, SIGKILL), 0);
        start_wait(&victims[0]);
        start_wait(&victims[1]);
        got = WaitForSingleObject(mutex, LONG_MS);
        assert_true(got == WAIT_OBJECT_0 || got == WAIT_ABANDONED);
        shared->entered = 0;
        assert_true(ReleaseMutex(mutex));
        assert_wait(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
        assert_true(ReleaseMutex(mutex));
    }
    assert_true(UnmapViewOfFile(shared));
    assert_true(CloseHandle(memory));
    assert_true(CloseHandle(mutex));
}

/* Another user's name is another object; a directory that is not the user's is not used. */
static void test_another_user_does_not_reach_the_object(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, name_of("event"));
    struct started self;
    char folder[64];

    (void)state;
    assert_non_null(event);
    if (!geteuid()) {
        self = start_self(program, "user");
        assert_int_equal(start_wait(&self), 2 + 10);
        assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
        snprintf(folder, sizeof(folder), "/dev/shm/ndspi-%u", (unsigned)robbed_user());
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_int_equal(chmod(folder, 0777), 0);
        self = start_self(program, "robbed");
        assert_int_equal(start_wait(&self), 5);
        assert_int_equal(rmdir(folder), 0); /* which is empty */
    }
    assert_true(CloseHandle(event));
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_finds_the_object_as_long_as_it_has_a_handle),
        cmocka_unit_test(test_a_name_of_another_kind_is_an_invalid_handle),
        cmocka_unit_test(test_a_wide_name_is_the_same_name),
        cmocka_unit_test(test_a_semaphore_counts_for_all_its_handles),
        cmocka_unit_test(test_a_mutex_is_acquired_once_more_by_its_owner),
        cmocka_unit_test(test_a_thread_that_ends_abandons_its_mutex),
        cmocka_unit_test(test_processes_answer_each_other_by_events),
        cmocka_unit_test(test_contenders_enter_one_at_a_time),
        cmocka_unit_test(test_two_signals_end_two_waits_in_other_processes),
        cmocka_unit_test(test_a_wait_for_all_takes_all_or_nothing),
        cmocka_unit_test(test_a_killed_owner_abandons_its_mutex),
        cmocka_unit_test(test_a_killed_waiter_takes_nothing),
        cmocka_unit_test(test_the_name_goes_with_the_last_process_that_was_killed),
#ifndef _WIN32 /* kills at any step */
        cmocka_unit_test(test_processes_killed_at_any_step_hurt_no_other),
        cmocka_unit_test(test_another_user_does_not_reach_the_object),
#endif
    };

    if (argc == 5 && !strcmp(argv[1], "start")) {
        snprintf(base, sizeof(base), "%s", getenv("NDSPI_TEST_NAMED"));
        return child(argv[2], atoi(argv[3]), atoi(argv[4]));
    }
    program = argv[0];
    snprintf(base, sizeof(base), "ndspi-named-%u", (unsigned)GetCurrentProcessId());
    SetEnvironmentVariableA("NDSPI_TEST_NAMED", base);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
