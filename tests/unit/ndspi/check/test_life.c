/* SPDX-License-Identifier: MIT */
/*
 * test_life.c - the checker of programs (NDSPI_CHECK): the life of objects and of OVERLAPPEDs. Each row misuses
 * something, and expects to be told so.
 */
#include "tests/support/asleep.h"
#include "tests/support/misuse.h"
#include "tests/support/nd1_end.h"
#include "tests/support/nd2_end.h"

#include <ndprovider.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#define CALL(object, method, ...) (object)->lpVtbl->method((object), ##__VA_ARGS__)

static const char released[] = "Rule: an object is used while the program holds a reference to it. "
                               "Forget its address with the last Release.";
static const char release[] = "Rule: each reference is released once. "
                              "Look for a second Release, or for an AddRef that is missing.";
static const char running[] =
    "Rule: the last Release of an object comes after all its other calls. "
    "Give each thread a reference of its own (AddRef), or join the thread first.";
static const char alive[] = "Rule: objects are released before the process ends. "
                            "Release it, or look for an AddRef without a Release.";
static const char twice[] =
    "Rule: an OVERLAPPED serves one request at a time. "
    "Wait for the end of its request, or give each request an OVERLAPPED of its own.";
static const char changed[] =
    "Rule: an OVERLAPPED is left alone until its request has ended. "
    "Fill or free it when GetOverlappedResult no longer returns ND_PENDING.";
static const char gone[] =
    "Rule: the memory of an OVERLAPPED lives until its request has ended. "
    "Keep it in the object that it serves, or call CancelOverlappedRequests first.";
/* ---- what the rows stand on ---- */

static struct nd2_end end;
static struct nd1_end end1;

static void open_end(void)
{
    static const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd2_end_open(&end, &options), 0);
}

static void close_end(void)
{
    nd2_end_close(&end);
    NdCleanup();
}

static void open_end1(void)
{
    static const struct nd1_end_options options = { .depth = 4, .memory_octets = 4096 };

    assert_int_equal(NdStartup(), 0);
    assert_int_equal(nd1_end_open(&end1, &options), 0);
}

static void close_end1(void)
{
    nd1_end_close(&end1);
    NdCleanup();
}

static OVERLAPPED *notify(OVERLAPPED *overlapped)
{
    assert_int_equal(CALL(end.cq, Notify, ND_CQ_NOTIFY_ANY, overlapped), ND_PENDING);
    return overlapped;
}

/* ---- objects ---- */

static void method_after_the_last_release(void)
{
    IND2MemoryWindow *window;

    open_end();
    assert_int_equal(
        CALL(end.adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, (void **)&window), 0);
    assert_int_equal(CALL(window, Release), 0);
    misuse_expect(released,
        "IND2MemoryWindow::GetRemoteToken, IND2MemoryWindow %p: its last reference was released "
        "before.",
        (void *)window);
    assert_int_equal(CALL(window, GetRemoteToken), 0);
    assert_int_equal(CALL(window, GetRemoteToken), 0); /* told once */
    close_end();
}

static void method_after_the_last_release_in_version_1(void)
{
    INDMemoryWindow *window;
    IUnknown *found;

    open_end1();
    assert_int_equal(CALL(end1.adapter, CreateMemoryWindow, NULL, &window), 0);
    assert_int_equal(CALL(window, Release), 0);
    misuse_expect(released,
        "INDMemoryWindow::QueryInterface, INDMemoryWindow %p: its last reference was released "
        "before.",
        (void *)window);
    assert_int_equal(CALL(window, QueryInterface, &IID_IUnknown, (void **)&found),
        (HRESULT)SPEC_ND_INVALID_DEVICE_STATE);
    close_end1();
}

static void release_too_many(void)
{
    open_end();
    assert_int_equal(CALL(end.qp, AddRef), 2);
    assert_int_equal(CALL(end.qp, Release), 1);
    assert_int_equal(CALL(end.qp, Release), 0);
    misuse_expect(release,
        "IND2QueuePair::Release, IND2QueuePair %p: its last reference was released before.",
        (void *)end.qp);
    assert_int_equal(CALL(end.qp, Release), 0);
    end.qp = NULL;
    close_end();
}

static void release_too_many_in_version_1(void)
{
    open_end1();
    assert_int_equal(CALL(end1.endpoint, Release), 0);
    misuse_expect(release,
        "INDEndpoint::Release, INDEndpoint %p: its last reference was released before.",
        (void *)end1.endpoint);
    assert_int_equal(CALL(end1.endpoint, Release), 0);
    end1.endpoint = NULL;
    close_end1();
}

static void released_object_as_an_argument(void)
{
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;

    open_end();
    assert_int_equal(CALL(end.adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, end.file, 4,
                         0, 0, (void **)&cq),
        0);
    assert_int_equal(CALL(cq, Release), 0);
    misuse_expect(released,
        "IND2Adapter::CreateQueuePair, IND2CompletionQueue %p: its last reference was released "
        "before.",
        (void *)cq);
    assert_int_equal(CALL(end.adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)cq,
                         (IUnknown *)end.cq, NULL, 4, 4, 1, 1, 0, (void **)&qp),
        (HRESULT)SPEC_ND_INVALID_PARAMETER_2);
    close_end();
}

static void *wait_for_result(void *number)
{
    atomic_store((atomic_int *)number, thread_number());
    CALL(end.cq, GetOverlappedResult, &end.overlapped, TRUE);
    return NULL;
}

static void last_release_beside_a_call(void)
{
    atomic_int number = 0;
    pthread_t thread;

    open_end();
    notify(nd_end_fresh(&end.overlapped, end.event));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_result, &number), 0);
    while (!atomic_load(&number) || !thread_is_asleep(atomic_load(&number)))
        sched_yield();
    assert_int_equal(CALL(end.qp, Release), 0);
    end.qp = NULL;
    misuse_expect(running,
        "IND2CompletionQueue::Release, IND2CompletionQueue %p: it is the last Release, and "
        "IND2CompletionQueue::GetOverlappedResult of another thread runs on it.",
        (void *)end.cq);
    assert_int_equal(CALL(end.cq, Release), 0);
    end.cq = NULL;
    assert_int_equal(pthread_join(thread, NULL), 0);
    close_end();
}

/* On a page of its own: places are compared by the page. */
__attribute__((noinline, aligned(4096))) static void create_here(void **out)
{
    assert_int_equal(
        CALL(end.adapter, CreateConnector, &IID_IND2Connector, end.file, out), ND_SUCCESS);
}

__attribute__((aligned(4096))) static void objects_left_at_the_end(void)
{
    IND2Connector *connector;
    IND2MemoryWindow *window;
    Dl_info here;
    size_t offset;

    open_end();
    create_here((void **)&connector);
    assert_int_equal(
        CALL(end.adapter, CreateMemoryWindow, &IID_IND2MemoryWindow, (void **)&window), 0);
    assert_int_equal(CALL(window, AddRef), 2);
    assert_int_equal(CALL(window, AddRef), 3);
    close_end();
    assert_true(dladdr((void *)create_here, &here));
    offset = (size_t)((char *)create_here - (char *)here.dli_fbase);
    misuse_expect(alive,
        "exit, IND2Connector %p: it has 1 reference; IND2Adapter::CreateConnector made it at "
        "misuse+0x%zx.",
        (void *)connector, offset);
    offset = (size_t)((char *)objects_left_at_the_end - (char *)here.dli_fbase);
    misuse_expect(alive,
        "exit, IND2MemoryWindow %p: it has 3 references; IND2Adapter::CreateMemoryWindow made it "
        "at misuse+0x%zx.",
        (void *)window, offset);
}

/* Its provider was released: the reference left is the adapter's. */
__attribute__((aligned(4096))) static void adapter_left_at_the_end(void)
{
    IND2Adapter *adapter;
    struct sockaddr_in address = nd_end_address(0, 0);
    IND2Provider *provider;
    UINT64 id;
    Dl_info here;

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider), 0);
    assert_int_equal(
        CALL(provider, ResolveAddress, (struct sockaddr *)&address, sizeof(address), &id), 0);
    assert_int_equal(CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&adapter), 0);
    assert_int_equal(CALL(provider, Release), 1);
    assert_true(dladdr((void *)adapter_left_at_the_end, &here));
    misuse_expect(alive,
        "exit, IND2Adapter %p: it has 1 reference; IND2Provider::OpenAdapter made it at "
        "misuse+0x%zx.",
        (void *)adapter, (size_t)((char *)adapter_left_at_the_end - (char *)here.dli_fbase));
}

/* ---- OVERLAPPEDs ---- */

static void overlapped_of_two_requests(void)
{
    open_end();
    notify(nd_end_fresh(&end.overlapped, end.event));
    misuse_expect(twice,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: its OVERLAPPED %p serves "
        "IND2CompletionQueue::Notify of IND2CompletionQueue %p, which has not ended.",
        (void *)end.cq, (void *)&end.overlapped, (void *)end.cq);
    notify(&end.overlapped);
    close_end();
}

static void overlapped_of_two_requests_in_version_1(void)
{
    open_end1();
    nd_end_fresh(&end1.overlapped, end1.event);
    assert_int_equal(CALL(end1.cq, Notify, ND_CQ_NOTIFY_ANY, &end1.overlapped), ND_PENDING);
    misuse_expect(twice,
        "INDCompletionQueue::Notify, INDCompletionQueue %p: its OVERLAPPED %p serves "
        "INDCompletionQueue::Notify of INDCompletionQueue %p, which has not ended.",
        (void *)end1.cq, (void *)&end1.overlapped, (void *)end1.cq);
    assert_int_equal(CALL(end1.cq, Notify, ND_CQ_NOTIFY_ANY, &end1.overlapped), ND_PENDING);
    close_end1();
}

static void overlapped_filled_while_pending(void)
{
    OVERLAPPED own = { 0 };

    open_end();
    notify(&own)->Internal = 0;
    misuse_expect(changed,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: Internal of its OVERLAPPED %p was "
        "changed before it had ended.",
        (void *)end.cq, (void *)&own);
    assert_int_equal(CALL(end.cq, CancelOverlappedRequests), 0);
    close_end();
}

static void overlapped_filled_before_its_result_is_asked_for(void)
{
    OVERLAPPED own = { 0 };

    open_end();
    notify(&own)->Internal = 7;
    misuse_expect(changed,
        "IND2CompletionQueue::GetOverlappedResult, IND2CompletionQueue %p: Internal of its "
        "OVERLAPPED %p was changed before IND2CompletionQueue::Notify had ended.",
        (void *)end.cq, (void *)&own);
    assert_int_equal(CALL(end.cq, GetOverlappedResult, &own, FALSE), 7);
    assert_int_equal(CALL(end.cq, CancelOverlappedRequests), 0); /* told once */
    close_end();
}

static void event_changed_while_pending(void)
{
    OVERLAPPED own = { 0 };

    open_end();
    notify(&own)->hEvent = end.event;
    misuse_expect(changed,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: hEvent of its OVERLAPPED %p was "
        "changed before it had ended.",
        (void *)end.cq, (void *)&own);
    assert_int_equal(CALL(end.cq, CancelOverlappedRequests), 0);
    close_end();
}

/* The library stores nothing there, so the program goes on. */
static void overlapped_given_back_while_pending(void)
{
    OVERLAPPED *own = (OVERLAPPED *)nd_end_memory(4096);

    assert_non_null(own);
    open_end();
    notify(own);
    nd_end_memory_free(own);
    misuse_expect(gone,
        "IND2CompletionQueue::Notify, IND2CompletionQueue %p: the memory of its OVERLAPPED %p was "
        "given back before it had ended.",
        (void *)end.cq, (void *)own);
    assert_int_equal(CALL(end.cq, CancelOverlappedRequests), 0);
    close_end();
}

__attribute__((noinline)) static uintptr_t notify_here(void)
{
    OVERLAPPED own = { 0 };

    return (uintptr_t)notify(&own);
}

static void overlapped_of_a_function_that_has_returned(void)
{
    uintptr_t own;

    open_end();
    own = notify_here();
    misuse_expect(gone,
        "IND2CompletionQueue::GetResults, IND2CompletionQueue %p: the memory of its OVERLAPPED %p "
        "was on the stack of a function that returned before IND2CompletionQueue::Notify had "
        "ended.",
        (void *)end.cq, (void *)own);
    CALL(end.cq, GetResults, NULL, 0);
    _exit(0); /* what the library stores there would be a frame's of this program */
}

static const struct misuse_row rows[] = {
    MISUSE_ROW(method_after_the_last_release),
    MISUSE_ROW(method_after_the_last_release_in_version_1),
    MISUSE_ROW(release_too_many),
    MISUSE_ROW(release_too_many_in_version_1),
    MISUSE_ROW(released_object_as_an_argument),
    MISUSE_ROW(last_release_beside_a_call),
    MISUSE_ROW(objects_left_at_the_end),
    MISUSE_ROW(adapter_left_at_the_end),
    MISUSE_ROW(overlapped_of_two_requests),
    MISUSE_ROW(overlapped_of_two_requests_in_version_1),
    MISUSE_ROW(overlapped_filled_while_pending),
    MISUSE_ROW(overlapped_filled_before_its_result_is_asked_for),
    MISUSE_ROW(event_changed_while_pending),
    MISUSE_ROW(overlapped_given_back_while_pending),
    MISUSE_ROW(overlapped_of_a_function_that_has_returned),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDSPI_CHECK", rows, sizeof(rows) / sizeof(rows[0]));
}
