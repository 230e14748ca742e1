/* SPDX-License-Identifier: MIT */
/*
 * test_work.c - deferred work for which no thread could be started: it runs once one can, though nobody gives more.
 * The reactor's background thread, which a process with an adapter has, tries again.
 */
#include "tests/support/no_threads.h"
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/util/log_catch.h"

#include "reactor/reactor.h"

#include <ndkwdm.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct reactor_source source; /* so that the reactor has its thread */

static int set_up(void **state)
{
    static const struct reactor_source_ops none;

    (void)state;
    reactor_source_init(&source, &none, -1);
    return reactor_add(&source, 0);
}

static bool comes(PRKEVENT event)
{
    LARGE_INTEGER limit = { .QuadPart = -INT64_C(60) * 10000000 };

    return KeWaitForSingleObject(event, Executive, KernelMode, FALSE, &limit) == 0;
}

static KEVENT item_ran, dpc_ran, first_runs;

static VOID tell(PVOID event)
{
    KeSetEvent(event, 0, FALSE);
}

static VOID tell_dpc(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc, (void)argument1, (void)argument2;
    KeSetEvent(context, 0, FALSE);
}

static WORK_QUEUE_ITEM item;
static KDPC dpc;

static void give_both(void)
{
    ExQueueWorkItem(&item, DelayedWorkQueue);
    KeInsertQueueDpc(&dpc, NULL, NULL);
}

/* First: no thread has been started yet. */
static void the_first_thread_is_tried_again(void **state)
{
    bool refused;

    (void)state;
    KeInitializeEvent(&item_ran, NotificationEvent, FALSE);
    KeInitializeEvent(&dpc_ran, NotificationEvent, FALSE);
    ExInitializeWorkItem(&item, tell, &item_ran);
    KeInitializeDpc(&dpc, tell_dpc, &dpc_ran);
    log_catch();
    refused = without_threads(give_both);
    if (strstr(log_caught(), "cannot start the thread for deferred work: ") == NULL && refused)
        fail_msg("a thread was started");
    if (!refused)
        skip();
    assert_true(comes(&item_ran));
    assert_true(comes(&dpc_ran));
}

static VOID wait_for_the_other(PVOID unused)
{
    (void)unused;
    KeSetEvent(&first_runs, 0, FALSE);
    KeWaitForSingleObject(&item_ran, Executive, KernelMode, FALSE, NULL);
    KeSetEvent(&dpc_ran, 0, FALSE);
}

static void give_item(void)
{
    ExQueueWorkItem(&item, DelayedWorkQueue);
}

/* All threads are busy with work that waits for what is given. */
static void a_further_thread_is_tried_again(void **state)
{
    static WORK_QUEUE_ITEM first;

    (void)state;
    KeInitializeEvent(&item_ran, NotificationEvent, FALSE);
    KeInitializeEvent(&dpc_ran, NotificationEvent, FALSE);
    KeInitializeEvent(&first_runs, NotificationEvent, FALSE);
    ExInitializeWorkItem(&first, wait_for_the_other, NULL);
    ExInitializeWorkItem(&item, tell, &item_ran);
    ExQueueWorkItem(&first, DelayedWorkQueue);
    assert_true(comes(&first_runs));
    if (!without_threads(give_item))
        skip();
    assert_true(comes(&dpc_ran));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_thread_is_tried_again),
        cmocka_unit_test(a_further_thread_is_tried_again),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
