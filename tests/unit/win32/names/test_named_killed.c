/* SPDX-License-Identifier: MIT */
/*
 * test_named_killed.c - a process is killed that holds the lock of the objects with names, having written down what it
 * would do next (names/names.h). The others finish what it had decided, and nothing else. Windows keeps the state of
 * such objects in the kernel: a call of SetEvent was made or was not.
 */
#include "tests/support/asleep.h"
#include "tests/support/start_self.h"

#include "win32/names/space.h"

#include <pthread.h>
#include <signal.h>

static const char *program;
static char names[2][64];

/* The shared memory, where this process has mapped it. */
static struct names_space *space_here(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct names_space *space = NULL;
    char line[512];

    while (!space && maps && fgets(line, sizeof(line), maps))
        if (strstr(line, "/objects."))
            space = (struct names_space *)(uintptr_t)strtoull(line, NULL, 16);
    if (maps)
        fclose(maps);
    return space;
}

/* The place of an object of this run; names have a letter in front there. -1: there is none */
static int object_of(struct names_space *space, const char *name)
{
    for (int i = 0; i < NAMES_OBJECTS; i++)
        if (space->objects[i].kind && !strcmp(space->objects[i].name + 1, name))
            return i;
    return -1;
}

/* Opens the first object, and is killed while it signals it: before or after it has decided. */
static int die(bool decided, int from, int to)
{
    HANDLE event;
    struct names_space *space;
    char octet;
    int object;

    if (!start_send(to, "r", 1) || !start_receive(from, &octet, 1))
        return 80;
    event = OpenEventA(EVENT_ALL_ACCESS, FALSE, names[0]);
    space = event ? space_here() : NULL;
    object = space ? object_of(space, names[0]) : -1;
    if (object < 0 || pthread_mutex_lock(&space->lock))
        return 81;
    space->journal.entries[0].object = (uint32_t)object;
    space->journal.entries[0].state = (struct names_state){ .count = 1 };
    space->journal.count = 1;
    space->journal.wait = -1;
    space->journal.armed = decided;
    raise(SIGKILL);
    return 82;
}

static struct started start_dying(const char *how)
{
    struct started other = start_self(program, how);
    char octet;

    assert_true(start_receive(other.from, &octet, 1));
    return other;
}

static void let_die(struct started *other)
{
    assert_true(start_send(other->to, "d", 1));
    assert_int_equal(start_wait(other), -1);
}

static void what_was_decided_is_done(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, names[0]);
    struct started other = start_dying("decided");

    (void)state;
    let_die(&other);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

static void what_was_not_decided_is_never_done(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, names[0]);
    HANDLE second = CreateEventA(NULL, FALSE, FALSE, names[1]);
    struct started other = start_dying("undecided");

    (void)state;
    let_die(&other);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(second));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(second, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(second));
    assert_true(CloseHandle(event));
}

static void *wait_for_it(void *event)
{
    return (void *)(uintptr_t)WaitForSingleObject(event, LONG_MS);
}

/* Looks as another process does, without the lock, whose owner may have been killed: a race for ThreadSanitizer. */
__attribute__((no_sanitize("thread"), noinline)) static bool is_waited_for(
    struct names_space *space, int object)
{
    for (int i = 0; i < NAMES_WAITS; i++)
        if (names_read(space->waits[i].process) && names_read(space->waits[i].count) &&
            names_read(space->waits[i].objects[0]) == object)
            return true;
    return false;
}

/* It opened the object when the wait had begun: the waiting process has to learn of it, to notice its end. */
static void a_wait_notices_the_end_of_a_process_that_came_later(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, names[0]);
    struct names_space *space = space_here();
    struct started other = start_dying("decided");
    int object = object_of(space, names[0]);
    pthread_t thread;
    void *result;

    (void)state;
    assert_true(object >= 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, event), 0);
    assert_true(SETTLES(is_waited_for(space, object)));
    let_die(&other);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_wait((DWORD)(uintptr_t)result, WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_decided_is_done),
        cmocka_unit_test(what_was_not_decided_is_never_done),
        cmocka_unit_test(a_wait_notices_the_end_of_a_process_that_came_later),
    };
    bool started = argc == 5 && !strcmp(argv[1], "start");

    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof(names[i]), "ndspi-killed-%d.%d",
            (int)(started ? getppid() : getpid()), i);
    if (started)
        return die(!strcmp(argv[2], "decided"), atoi(argv[3]), atoi(argv[4]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
