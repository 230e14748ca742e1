/* SPDX-License-Identifier: MIT */
#include "ndspi/check/debt.h"

#include "ndspi/check/late.h"

#include "util/log.h"
#include "util/thread.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the watch ---- */

static void report_locked(const struct nd_checked *checked)
{
    const struct nd_check_debt *debt = &checked->debt;

    nd_check_report_locked(debt->rule, debt->since, checked->kind->name, checked,
        "it ended %u s ago, and %s was not called since", ND_CHECK_PATIENCE_S,
        debt->rule == ND_CHECK_COMPLETE ? "CompleteConnect" : "GetResults");
}

/* Counts one second more. Returns false always, so that every object is visited. */
static bool wait_on(struct nd_checked *checked, const void *context)
{
    (void)context;
    if (checked->process == getpid() && checked->debt.since &&
        ++checked->debt.seconds == ND_CHECK_PATIENCE_S)
        report_locked(checked);
    return false;
}

static void watch(void *unused)
{
    const struct timespec second = { .tv_sec = 1 };

    (void)unused;
    for (;;) {
        nanosleep(&second, NULL);
        lock_acquire(&nd_check_lock);
        nd_check_first_locked(wait_on, NULL);
        lock_release(&nd_check_lock);
        nd_check_look_for_late();
    }
}

static bool watching; /* nd_check_lock */

static void start_watch(void)
{
    int error = thread_start_detached("nd-check", watch, NULL);

    if (error)
        log_write(LOG_WARN, LOG_DEVICE,
            "cannot start the checker's thread: %s; missing calls are not reported",
            strerror(-error));
}

void nd_check_watch_locked(void)
{
    if (!watching)
        start_watch();
    watching = true;
}

void nd_check_watch_forked_locked(void)
{
    watching = false;
}

/* ---- debts ---- */

static bool is_call(const char *call, const char *method)
{
    const char *colons = strstr(call, "::");

    return colons && strcmp(colons + 2, method) == 0;
}

void nd_check_owes_locked(struct nd_checked *object, const char *call, HRESULT status)
{
    bool connect = is_call(call, "Connect");

    lock_assert_held(&nd_check_lock);
    if (status != ND_SUCCESS || object->debt.since || object->dead ||
        !(connect || strstr(call, "CompletionQueue::Notify")))
        return;
    object->debt = (struct nd_check_debt){ .since = call,
        .rule = connect ? ND_CHECK_COMPLETE : ND_CHECK_FETCH };
    nd_check_watch_locked();
}

void nd_check_pays(const struct nd_check_call *call)
{
    lock_acquire(&nd_check_lock);
    call->object->debt.since = NULL;
    lock_release(&nd_check_lock);
}

void nd_check_connects(const struct nd_check_call *call, const void *qp)
{
    lock_acquire(&nd_check_lock);
    call->object->qp = qp;
    nd_check_watch_late_locked(qp);
    lock_release(&nd_check_lock);
}

void nd_check_connector_ends_locked(const struct nd_checked *connector)
{
    struct nd_checked *qp = connector->qp ? nd_check_find_locked(connector->qp) : NULL;

    if (qp)
        qp->ending = true;
}

void nd_check_disconnects(const struct nd_check_call *call)
{
    nd_check_pays(call);
    lock_acquire(&nd_check_lock);
    nd_check_connector_ends_locked(call->object);
    lock_release(&nd_check_lock);
}

static bool is_debtor(struct nd_checked *checked, const void *qp)
{
    return checked->qp == qp && checked->debt.since;
}

const struct nd_checked *nd_check_debtor_locked(const struct nd_checked *qp)
{
    return nd_check_first_locked(is_debtor, qp);
}
