/* SPDX-License-Identifier: MIT */
/*
 * test_verifier.c - the checker of consumers: each row is a program of its own that breaks one rule, and says before
 * that what it expects to be told. It runs with NDK_VERIFIER=1, which ends it, and with "log", with which it goes on.
 */
#include "tests/support/misuse.h"
#include "tests/unit/ndk/pair.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char closed[] = "Rule: an object is not used once its close function was called. "
                             "Forget its address there.";
static const char type[] = "Rule: the functions of a table take the objects whose table it is. "
                           "Call each function through Dispatch of its own object.";
static const char too_high[] =
    "Rule: a function is called at DISPATCH_LEVEL at most. Lower the level first.";
static const char blocks[] =
    "Rule: what blocks is called at PASSIVE_LEVEL, so neither in a callback nor under a spin lock. "
    "Leave it to a work item (IoQueueWorkItem) or to a thread.";
static const char paged[] = "Rule: paged pool is allocated below DISPATCH_LEVEL. "
                            "Use POOL_FLAG_NON_PAGED or NonPagedPoolNx.";
static const char overlap[] =
    "Rule: calls that post to one queue do not overlap, nor do those that arm one completion queue "
    "or take its results. Hold a lock over them.";
static const char running[] =
    "Rule: an object is not closed while a function of it runs, save in the completion callback of "
    "that very call. Close it when the function has returned.";
static const char lam_kept[] =
    "Rule: a mapping is released before its adapter is closed. "
    "Call NdkReleaseLAM when the last request that uses the mapping has completed.";
static const char lam_gone[] = "Rule: a mapping is released once, on the adapter that made it. "
                               "Look for a second release, or for a change of AdapterContext.";
static const char lam_unmet[] =
    "Rule: a logical address is used from NdkBuildLAM to NdkReleaseLAM. "
    "Release the mapping when the last request that uses it has completed.";
static const char mdl_touched[] = "Rule: the MDLs of a call are left alone until it has ended. "
                                  "Change or free them in the completion callback.";
static const char token_lost[] =
    "Rule: a token is used while its region is registered. "
    "Register the memory first, and let the requests end before that is undone.";
static const char still_open[] =
    "Rule: the objects of an adapter are closed before it, or being closed. "
    "Call the close function first.";
static const char at_exit[] = "Rule: objects and adapters are closed before the process ends. "
                              "Call the close function, or NdklCloseAdapter.";

/* ---- levels ---- */

static void wait_under_a_lock(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    KSPIN_LOCK lock;
    KEVENT event;
    KIRQL before;

    KeInitializeSpinLock(&lock);
    KeInitializeEvent(&event, NotificationEvent, TRUE);
    KeAcquireSpinLock(&lock, &before);
    misuse_expect(
        blocks, "KeWaitForSingleObject, KEVENT %p: it was called at IRQL 2.", (void *)&event);
    KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
    KeReleaseSpinLock(&lock, before);
    NdklCloseAdapter(adapter);
}

static VOID wait_in_callback(PVOID context)
{
    struct told *told = context;
    KEVENT event;

    KeInitializeEvent(&event, NotificationEvent, TRUE);
    misuse_expect(
        blocks, "KeWaitForSingleObject, KEVENT %p: it was called at IRQL 2.", (void *)&event);
    KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, NULL);
    tell_close(told);
}

static void wait_in_a_callback(void)
{
    NDK_ADAPTER *adapter;
    struct told told;
    NDK_PD *pd;

    mode_set(FORCE_PENDING);
    adapter = adapter_open(1, 2);
    pd = pd_create(adapter);
    told_init(&told);
    assert_int_equal(
        pd->Dispatch->NdkClosePd(&pd->Header, wait_in_callback, &told), SPEC_STATUS_PENDING);
    told_wait(&told);
    NdklCloseAdapter(adapter);
}

static void wait_for_rundown_at_dispatch_level(void)
{
    EX_RUNDOWN_REF ref;
    KIRQL before;

    ExInitializeRundownProtection(&ref);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(blocks,
        "ExWaitForRundownProtectionRelease, EX_RUNDOWN_REF %p: it was called at IRQL 2.",
        (void *)&ref);
    ExWaitForRundownProtectionRelease(&ref);
    KeLowerIrql(before);
}

static void wait_for_procedures_at_dispatch_level(void)
{
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(blocks, "KeFlushQueuedDpcs, queue of DPCs: it was called at IRQL 2.");
    KeFlushQueuedDpcs();
    KeLowerIrql(before);
}

static void open_at_dispatch_level(void)
{
    NDK_VERSION version = { 1, 2 };
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(blocks, "NdklOpenAdapter, NDK_ADAPTER: it was called at IRQL 2.");
    assert_int_equal(NdklOpenAdapter(version, 1, NULL), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    KeLowerIrql(before);
}

static void query_at_dispatch_level(void)
{
    NDK_ADAPTER *adapter = adapter_open(2, 1);
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(
        blocks, "NdkQueryAdapterInfo, NDK_ADAPTER %p: it was called at IRQL 2.", (void *)adapter);
    assert_int_equal(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &size), 0);
    KeLowerIrql(before);
    NdklCloseAdapter(adapter);
}

/* It does nothing then: in a callback it would wait for itself. */
static void close_adapter_at_dispatch_level(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(
        blocks, "NdklCloseAdapter, NDK_ADAPTER %p: it was called at IRQL 2.", (void *)adapter);
    NdklCloseAdapter(adapter);
    KeLowerIrql(before);
    NdklCloseAdapter(adapter);
}

static void paged_pool_at_dispatch_level(void)
{
    KIRQL before;

    ExFreePool(ExAllocatePool2(POOL_FLAG_PAGED, 8, 'a'));
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    ExFreePool(ExAllocatePool2(POOL_FLAG_NON_PAGED, 8, 'a'));
    ExFreePool(ExAllocatePoolWithTag(NonPagedPoolNx, 8, 'a'));
    misuse_expect(paged, "ExAllocatePool2, paged pool: it was called at IRQL 2.");
    ExFreePool(ExAllocatePool2(POOL_FLAG_PAGED, 8, 'a'));
    KeLowerIrql(before);
}

static void paged_pool_with_tag_at_dispatch_level(void)
{
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    misuse_expect(paged, "ExAllocatePoolWithTag, paged pool: it was called at IRQL 2.");
    ExFreePool(ExAllocatePoolWithTag(PagedPool, 8, 'a'));
    KeLowerIrql(before);
}

static void call_above_dispatch_level(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    struct told told;
    NDK_CQ *cq = cq_create(adapter, 4, &told);
    KIRQL before;

    KeRaiseIrql(15, &before);
    misuse_expect(too_high, "NdkArmCq, NDK_CQ %p: it was called at IRQL 15.", (void *)cq);
    cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ERRORS);
    KeLowerIrql(before);
    close_cq(cq);
    NdklCloseAdapter(adapter);
}

/* ---- calls beside each other: the first one is held where it reads or writes memory of the row's ---- */

static struct {
    unsigned char *page; /* without rights until the second call has ended */
    NDK_CQ *cq;
    NDK_QP *qp;
    NDK_SRQ *srq;
    atomic_bool touched;
    atomic_bool done;
} beside;

static void hold(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if ((unsigned char *)info->si_addr - beside.page >= 4096u)
        signal(SIGSEGV, SIG_DFL);
    atomic_store(&beside.touched, true);
    /* Once the second call is told of, it may wait for what the first one holds. */
    while (!atomic_load(&beside.done) && !misuse_told())
        continue;
    mprotect(beside.page, 4096, PROT_READ | PROT_WRITE);
}

/* second in: makes the call, and expects what is told of it */
static pthread_t start_second(void *(*second)(void *))
{
    struct sigaction action = { .sa_sigaction = hold, .sa_flags = SA_SIGINFO };
    pthread_t thread;

    beside.page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(beside.page, MAP_FAILED);
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, second, NULL), 0);
    return thread;
}

static void wait_for_first(void)
{
    while (!atomic_load(&beside.touched))
        sched_yield();
}

/* A queue pair that is not connected, in a program that ends soon. */
static NDK_ADAPTER *open_queues(NDK_PD **pd)
{
    static struct told told;
    NDK_ADAPTER *adapter = adapter_open(1, 2);

    *pd = pd_create(adapter);
    beside.cq = cq_create(adapter, 32, &told);
    beside.qp = qp_create(*pd, beside.cq, beside.cq, NULL);
    return adapter;
}

static void close_queues(NDK_ADAPTER *adapter, NDK_PD *pd)
{
    close_qp(beside.qp);
    close_cq(beside.cq);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void *send_second(void *unused)
{
    wait_for_first();
    misuse_expect(
        overlap, "NdkRead, NDK_QP %p: NdkSend of another thread runs on it.", (void *)beside.qp);
    beside.qp->Dispatch->NdkRead(beside.qp, NULL, NULL, 0, 0, 0, 0);
    atomic_store(&beside.done, true);
    return unused;
}

static void two_posts_to_an_initiator_queue(void)
{
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_queues(&pd);
    pthread_t thread = start_second(send_second);

    beside.qp->Dispatch->NdkSend(beside.qp, NULL, (const NDK_SGE *)beside.page, 1, 0);
    pthread_join(thread, NULL);
    close_queues(adapter, pd);
}

/* The other queue of the pair is another one. */
static void *receive_second(void *unused)
{
    wait_for_first();
    beside.qp->Dispatch->NdkSend(beside.qp, NULL, NULL, 0, 0);
    beside.qp->Dispatch->NdkFlush(beside.qp);
    misuse_expect(overlap, "NdkReceive, NDK_QP %p: NdkReceive of another thread runs on it.",
        (void *)beside.qp);
    beside.qp->Dispatch->NdkReceive(beside.qp, NULL, NULL, 0);
    atomic_store(&beside.done, true);
    return unused;
}

static void two_posts_to_a_receive_queue(void)
{
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_queues(&pd);
    pthread_t thread = start_second(receive_second);

    beside.qp->Dispatch->NdkReceive(beside.qp, NULL, (const NDK_SGE *)beside.page, 1);
    pthread_join(thread, NULL);
    close_queues(adapter, pd);
}

static void *srq_receive_second(void *unused)
{
    wait_for_first();
    misuse_expect(overlap, "NdkSrqReceive, NDK_SRQ %p: NdkSrqReceive of another thread runs on it.",
        (void *)beside.srq);
    beside.srq->Dispatch->NdkSrqReceive(beside.srq, NULL, NULL, 0);
    atomic_store(&beside.done, true);
    return unused;
}

static void two_posts_to_a_shared_receive_queue(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);
    pthread_t thread;

    assert_int_equal(
        pd->Dispatch->NdkCreateSrq(pd, 4, 1, 0, NULL, NULL, NULL, NULL, NULL, &beside.srq), 0);
    thread = start_second(srq_receive_second);
    beside.srq->Dispatch->NdkSrqReceive(beside.srq, NULL, (const NDK_SGE *)beside.page, 1);
    pthread_join(thread, NULL);
    close_srq(beside.srq);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void *arm_second(void *unused)
{
    wait_for_first();
    misuse_expect(overlap, "NdkArmCq, NDK_CQ %p: NdkGetCqResultsEx of another thread runs on it.",
        (void *)beside.cq);
    beside.cq->Dispatch->NdkArmCq(beside.cq, NDK_CQ_NOTIFY_ERRORS);
    atomic_store(&beside.done, true);
    return unused;
}

static void arm_beside_results(void)
{
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_queues(&pd);
    pthread_t thread = start_second(arm_second);

    assert_int_equal(beside.qp->Dispatch->NdkReceive(beside.qp, NULL, NULL, 0), 0);
    beside.qp->Dispatch->NdkFlush(beside.qp);
    beside.cq->Dispatch->NdkGetCqResultsEx(beside.cq, (NDK_RESULT_EX *)beside.page, 1);
    pthread_join(thread, NULL);
    close_queues(adapter, pd);
}

static void *close_second(void *unused)
{
    wait_for_first();
    misuse_expect(
        running, "NdkCloseQp, NDK_QP %p: NdkSend of another thread runs on it.", (void *)beside.qp);
    close_qp(beside.qp);
    return unused;
}

static void close_beside_a_call(void)
{
    NDK_PD *pd;
    pthread_t thread;

    open_queues(&pd);
    thread = start_second(close_second);
    beside.qp->Dispatch->NdkSend(beside.qp, NULL, (const NDK_SGE *)beside.page, 1, 0);
    pthread_join(thread, NULL);
}

/* ---- closed objects, and none ---- */

static void call_of_a_closed_queue(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    struct told told;
    NDK_CQ *cq = cq_create(adapter, 4, &told);
    NDK_RESULT result;

    close_cq(cq);
    misuse_expect(
        closed, "NdkGetCqResults, NDK_CQ %p: it was closed by NdkCloseCq before.", (void *)cq);
    assert_int_equal(cq->Dispatch->NdkGetCqResults(cq, &result, 1), 0);
    NdklCloseAdapter(adapter);
}

static void call_while_the_close_is_pending(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd), *other = NULL;
    struct told told;

    told_init(&told);
    assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, tell_close, &told), SPEC_STATUS_PENDING);
    misuse_expect(
        closed, "NdkCreateMr, NDK_PD %p: it was closed by NdkClosePd before.", (void *)pd);
    assert_int_equal(pd->Dispatch->NdkCreateMr(pd, FALSE, NULL, NULL, &other),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_null(other);
    close_mr(mr);
    told_wait(&told);
    NdklCloseAdapter(adapter);
}

static void second_close(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);

    close_pd(pd);
    misuse_expect(closed, "NdkClosePd, NDK_PD %p: it was closed by NdkClosePd before.", (void *)pd);
    assert_int_equal(pd->Dispatch->NdkClosePd(&pd->Header, NULL, NULL), 0);
    NdklCloseAdapter(adapter);
}

static void closed_object_as_an_argument(void)
{
    struct pair pair;
    NDK_MW *mw;

    pair_open(&pair);
    mw = mw_create(pair.active.pd);
    close_mw(mw);
    misuse_expect(closed, "NdkBind, NDK_MW %p: it was closed by NdkCloseMw before.", (void *)mw);
    assert_int_equal(pair.active.qp->Dispatch->NdkBind(pair.active.qp, NULL, pair.active.mr, mw,
                         pair.active.memory, 16, NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    pair_close(&pair);
}

static void call_of_a_closed_adapter(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = NULL;

    NdklCloseAdapter(adapter);
    misuse_expect(closed, "NdkCreatePd, NDK_ADAPTER %p: it was closed by NdklCloseAdapter before.",
        (void *)adapter);
    assert_int_equal(adapter->Dispatch->NdkCreatePd(adapter, NULL, NULL, &pd),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
}

static void second_close_of_an_adapter(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);

    NdklCloseAdapter(adapter);
    misuse_expect(closed,
        "NdklCloseAdapter, NDK_ADAPTER %p: it was closed by NdklCloseAdapter before.",
        (void *)adapter);
    NdklCloseAdapter(adapter);
}

static void object_of_another_type(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);
    NDK_MW *mw = mw_create(pd);

    misuse_expect(type, "NdkCreateMw, NDK_PD %p: there is none at this address.", (void *)mw);
    assert_int_equal(pd->Dispatch->NdkCreateMw((NDK_PD *)mw, NULL, NULL, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    close_mw(mw);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void no_object(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);
    NDK_MR *mr = mr_create(pd);

    misuse_expect(
        type, "NdkGetLocalTokenFromMr, NDK_MR %p: there is none at this address.", (void *)&mr);
    assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr((NDK_MR *)&mr), 0);
    close_mr(mr);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

/* ---- what is still there ---- */

static void object_left_at_the_adapters_close(void)
{
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter), *closing = pd_create(adapter);
    NDK_MR *mr = mr_create(closing);

    /* One that is being closed may be left. */
    assert_int_equal(
        closing->Dispatch->NdkClosePd(&closing->Header, NULL, NULL), SPEC_STATUS_PENDING);
    misuse_expect(still_open, "NdklCloseAdapter, NDK_PD %p: it is still open.", (void *)pd);
    misuse_expect(still_open, "NdklCloseAdapter, NDK_MR %p: it is still open.", (void *)mr);
    NdklCloseAdapter(adapter);
}

static void objects_left_at_the_end(void)
{
    static char memory[8192];
    static unsigned char room[64];
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    NDK_PD *pd = pd_create(adapter);
    ULONG size = sizeof(room), offset;
    MDL mdl;

    MmInitializeMdl(&mdl, memory, sizeof(memory));
    assert_int_equal(adapter->Dispatch->NdkBuildLAM(adapter, &mdl, sizeof(memory), NULL, NULL,
                         (NDK_LOGICAL_ADDRESS_MAPPING *)room, &size, &offset),
        0);
    misuse_expect(at_exit, "exit, NDK_ADAPTER %p: it is still open.", (void *)adapter);
    misuse_expect(at_exit, "exit, NDK_PD %p: it is still open.", (void *)pd);
    misuse_expect(lam_kept,
        "exit, NDK_LOGICAL_ADDRESS_MAPPING %p: NdkReleaseLAM was not called for it.", (void *)room);
}

/* ---- mappings ---- */

union mapping {
    NDK_LOGICAL_ADDRESS_MAPPING lam;
    unsigned char bytes[0x10 + 8 * 16];
};

static void map(NDK_ADAPTER *adapter, void *memory, ULONG length, union mapping *mapping)
{
    ULONG size = sizeof(*mapping), offset;
    MDL mdl;

    MmInitializeMdl(&mdl, memory, length);
    assert_int_equal(adapter->Dispatch->NdkBuildLAM(
                         adapter, &mdl, length, NULL, NULL, &mapping->lam, &size, &offset),
        0);
}

static void mapping_left_at_the_adapters_close(void)
{
    static char memory[4096];
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    union mapping kept, released;

    map(adapter, memory, 4096, &kept);
    map(adapter, memory, 4096, &released);
    adapter->Dispatch->NdkReleaseLAM(adapter, &released.lam);
    misuse_expect(lam_kept,
        "NdklCloseAdapter, NDK_LOGICAL_ADDRESS_MAPPING %p: NdkReleaseLAM was not called for it.",
        (void *)&kept);
    NdklCloseAdapter(adapter);
}

static void second_release(void)
{
    static char memory[4096];
    NDK_ADAPTER *adapter = adapter_open(1, 2);
    union mapping mapping;

    map(adapter, memory, 4096, &mapping);
    adapter->Dispatch->NdkReleaseLAM(adapter, &mapping.lam);
    misuse_expect(lam_gone,
        "NdkReleaseLAM, NDK_LOGICAL_ADDRESS_MAPPING %p: NDK_ADAPTER %p has no such mapping.",
        (void *)&mapping, (void *)adapter);
    adapter->Dispatch->NdkReleaseLAM(adapter, &mapping.lam);
    NdklCloseAdapter(adapter);
}

static void logical_address_after_the_release(void)
{
    struct pair pair;
    union mapping mapping;
    UINT32 token;
    NDK_SGE list[2];

    pair_open(&pair);
    map(pair.active.adapter, pair.active.memory, 4096, &mapping);
    pair.active.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(pair.active.pd, &token);
    list[0] = sge(pair.active.memory, 16, pair.active.token);
    list[1] = sge(pair.active.memory, 100, token);
    pair.active.adapter->Dispatch->NdkReleaseLAM(pair.active.adapter, &mapping.lam);
    misuse_expect(lam_unmet,
        "NdkReceive, NDK_QP %p: entry 1, 100 bytes at 0x%llx, lies in no mapping.",
        (void *)pair.active.qp, (unsigned long long)(ULONG_PTR)pair.active.memory);
    assert_int_equal(pair.active.qp->Dispatch->NdkReceive(pair.active.qp, NULL, list, 2),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    pair_close(&pair);
}

static NDK_MR *fast_region(NDK_PD *pd)
{
    NDK_MR *mr = NULL;

    assert_int_equal(pd->Dispatch->NdkCreateMr(pd, TRUE, NULL, NULL, &mr), 0);
    assert_int_equal(mr->Dispatch->NdkInitializeFastRegisterMr(mr, 16, FALSE, NULL, NULL), 0);
    return mr;
}

static void pages_after_the_release(void)
{
    union mapping mapping, gone;
    NDK_LOGICAL_ADDRESS pages[2];
    struct pair pair;
    NDK_MR *mr;

    pair_open(&pair);
    pair_connect(&pair);
    mr = fast_region(pair.active.pd);
    map(pair.active.adapter, pair.active.memory, 4096, &mapping);
    map(pair.active.adapter, pair.active.memory + 4096, 4096, &gone);
    pages[0] = mapping.lam.AdapterPageArray[0];
    pages[1] = gone.lam.AdapterPageArray[0];
    pair.active.adapter->Dispatch->NdkReleaseLAM(pair.active.adapter, &gone.lam);
    misuse_expect(lam_unmet, "NdkFastRegister, NDK_QP %p: page 1, 0x%llx, lies in no mapping.",
        (void *)pair.active.qp, (unsigned long long)pages[1].QuadPart);
    assert_int_equal(pair.active.qp->Dispatch->NdkFastRegister(pair.active.qp, NULL, mr, 2, pages,
                         0, 8192, pair.active.memory, NDK_OP_FLAG_ALLOW_LOCAL_WRITE),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    pair.active.adapter->Dispatch->NdkReleaseLAM(pair.active.adapter, &mapping.lam);
    close_mr(mr);
    pair_close(&pair);
}

/* ---- MDLs of pending calls ---- */

static struct {
    atomic_bool entered, go;
} control;

static VOID hold_control(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    (void)status;
    atomic_store(&control.entered, true);
    while (!atomic_load(&control.go))
        sched_yield();
    *(NDK_OBJECT_HEADER **)context = object;
}

/* An adapter whose control thread is held, and a region there. */
static NDK_ADAPTER *open_held(NDK_PD **pd, NDK_MR **mr, NDK_MR **last)
{
    NDK_ADAPTER *adapter;

    mode_set(FORCE_PENDING);
    adapter = adapter_open(1, 2);
    *pd = pd_create(adapter);
    *mr = mr_create(*pd);
    assert_int_equal((*pd)->Dispatch->NdkCreateMr(*pd, FALSE, hold_control, last, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        (*pd)->Dispatch->NdkCreateMr(*pd, FALSE, hold_control, last, last), SPEC_STATUS_PENDING);
    while (!atomic_load(&control.entered))
        sched_yield();
    return adapter;
}

static void close_held(NDK_ADAPTER *adapter, NDK_PD *pd, NDK_MR *mr, NDK_MR *last)
{
    close_mr(mr);
    close_mr(last);
    close_pd(pd);
    NdklCloseAdapter(adapter);
}

static void mdl_changed_while_a_call_is_pending(void)
{
    static char memory[4096];
    MDL chain[2];
    NDK_MR *mr, *last;
    struct told told;
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_held(&pd, &mr, &last);

    told_init(&told);
    MmInitializeMdl(&chain[0], memory, 100);
    MmInitializeMdl(&chain[1], memory + 100, 100);
    chain[0].Next = &chain[1];
    assert_int_equal(
        mr->Dispatch->NdkRegisterMr(mr, chain, 150, 0, tell_request, &told), SPEC_STATUS_PENDING);
    chain[1].Next = &chain[0]; /* the call does not have what follows */
    chain[1].ByteCount = 60;
    misuse_expect(mdl_touched,
        "NdkRegisterMr, MDL %p: its ByteCount was changed before the call had ended.",
        (void *)&chain[1]);
    atomic_store(&control.go, true);
    told_wait(&told);
    assert_int_equal(told.status, 0);
    close_held(adapter, pd, mr, last);
}

static void mdl_chain_cut_while_a_call_is_pending(void)
{
    static char memory[4096];
    MDL chain[2];
    NDK_MR *mr, *last;
    struct told told;
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_held(&pd, &mr, &last);

    told_init(&told);
    MmInitializeMdl(&chain[0], memory, 100);
    MmInitializeMdl(&chain[1], memory + 100, 100);
    chain[0].Next = &chain[1];
    assert_int_equal(
        mr->Dispatch->NdkRegisterMr(mr, chain, 150, 0, tell_request, &told), SPEC_STATUS_PENDING);
    chain[0].Next = NULL;
    misuse_expect(mdl_touched,
        "NdkRegisterMr, MDL %p: its Next was changed before the call had ended.",
        (void *)&chain[0]);
    atomic_store(&control.go, true);
    told_wait(&told);
    close_held(adapter, pd, mr, last);
}

static void mdl_freed_while_a_call_is_pending(void)
{
    static char memory[4096];
    MDL *mdl = IoAllocateMdl(memory, 100, FALSE, FALSE, NULL);
    NDK_MR *mr, *last;
    struct told told;
    NDK_PD *pd;
    NDK_ADAPTER *adapter = open_held(&pd, &mr, &last);

    told_init(&told);
    assert_int_equal(
        mr->Dispatch->NdkRegisterMr(mr, mdl, 100, 0, tell_request, &told), SPEC_STATUS_PENDING);
    misuse_expect(
        mdl_touched, "IoFreeMdl, MDL %p: NdkRegisterMr with it has not ended yet.", (void *)mdl);
    IoFreeMdl(mdl);
    atomic_store(&control.go, true);
    told_wait(&told);
    assert_int_equal(told.status, 0);
    close_held(adapter, pd, mr, last);
}

/* ---- tokens ---- */

static void token_after_deregistration(void)
{
    struct pair pair;
    struct side *side = &pair.active;
    struct told told;
    NDK_SGE entry;

    pair_open(&pair);
    entry = sge(side->memory, 16, side->token);
    told_init(&told);
    assert_int_equal(
        ended(&told, side->mr->Dispatch->NdkDeregisterMr(side->mr, tell_request, &told)), 0);
    misuse_expect(token_lost,
        "NdkReceive, NDK_QP %p: entry 0 has token 0x%08x, which NdkDeregisterMr took from NDK_MR "
        "%p.",
        (void *)side->qp, side->token, (void *)side->mr);
    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    pair_close(&pair);
}

static void token_after_the_regions_close(void)
{
    struct pair pair;
    struct side *side = &pair.active;
    NDK_SGE entry;
    NDK_MR *mr;

    pair_open(&pair);
    mr = mr_register(side->pd, side->memory, 4096, NDK_MR_FLAG_ALLOW_LOCAL_WRITE);
    entry = sge(side->memory, 16, mr->Dispatch->NdkGetLocalTokenFromMr(mr));
    close_mr(mr);
    misuse_expect(token_lost,
        "NdkReceive, NDK_QP %p: entry 0 has token 0x%08x, which NdkCloseMr took from NDK_MR %p.",
        (void *)side->qp, entry.MemoryRegionToken, (void *)mr);
    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    pair_close(&pair);
}

static void token_after_invalidation(void)
{
    struct pair pair;
    struct side *side = &pair.active;
    union mapping mapping;
    NDK_SGE entry;
    NDK_MR *mr;

    pair_open(&pair);
    pair_connect(&pair);
    mr = fast_region(side->pd);
    map(side->adapter, side->memory, 4096, &mapping);
    entry = sge(side->memory, 16, mr->Dispatch->NdkGetLocalTokenFromMr(mr));
    assert_int_equal(
        side->qp->Dispatch->NdkFastRegister(side->qp, NULL, mr, 1, mapping.lam.AdapterPageArray, 0,
            4096, side->memory, NDK_OP_FLAG_ALLOW_LOCAL_WRITE),
        0);
    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1), 0);
    assert_int_equal(side->qp->Dispatch->NdkInvalidate(side->qp, NULL, &mr->Header, 0), 0);
    misuse_expect(token_lost,
        "NdkReceive, NDK_QP %p: entry 0 has token 0x%08x of NDK_MR %p, which is not registered "
        "now.",
        (void *)side->qp, entry.MemoryRegionToken, (void *)mr);
    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &entry, 1),
        (NTSTATUS)SPEC_STATUS_ACCESS_VIOLATION);
    side->adapter->Dispatch->NdkReleaseLAM(side->adapter, &mapping.lam);
    close_mr(mr);
    pair_close(&pair);
}

static void bind_of_a_region_that_is_not_registered(void)
{
    struct pair pair;
    struct side *side = &pair.active;
    struct told told;
    NDK_MW *mw;

    pair_open(&pair);
    pair_connect(&pair);
    mw = mw_create(side->pd);
    told_init(&told);
    assert_int_equal(
        ended(&told, side->mr->Dispatch->NdkDeregisterMr(side->mr, tell_request, &told)), 0);
    misuse_expect(token_lost, "NdkBind, NDK_QP %p: NDK_MR %p is not registered.", (void *)side->qp,
        (void *)side->mr);
    assert_int_equal(side->qp->Dispatch->NdkBind(side->qp, NULL, side->mr, mw, side->memory, 16,
                         NDK_OP_FLAG_ALLOW_REMOTE_READ),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    close_mw(mw);
    pair_close(&pair);
}

/* ---- the rows ---- */

static const struct misuse_row rows[] = {
    MISUSE_ROW(wait_under_a_lock),
    MISUSE_ROW(wait_in_a_callback),
    MISUSE_ROW(wait_for_rundown_at_dispatch_level),
    MISUSE_ROW(wait_for_procedures_at_dispatch_level),
    MISUSE_ROW(open_at_dispatch_level),
    MISUSE_ROW(query_at_dispatch_level),
    MISUSE_ROW(close_adapter_at_dispatch_level),
    MISUSE_ROW(paged_pool_at_dispatch_level),
    MISUSE_ROW(paged_pool_with_tag_at_dispatch_level),
    MISUSE_ROW(call_above_dispatch_level),
    MISUSE_ROW(two_posts_to_an_initiator_queue),
    MISUSE_ROW(two_posts_to_a_receive_queue),
    MISUSE_ROW(two_posts_to_a_shared_receive_queue),
    MISUSE_ROW(arm_beside_results),
    MISUSE_ENDS(close_beside_a_call),
    MISUSE_ROW(call_of_a_closed_queue),
    MISUSE_ROW(call_while_the_close_is_pending),
    MISUSE_ROW(second_close),
    MISUSE_ROW(closed_object_as_an_argument),
    MISUSE_ROW(call_of_a_closed_adapter),
    MISUSE_ROW(second_close_of_an_adapter),
    MISUSE_ROW(object_of_another_type),
    MISUSE_ROW(no_object),
    MISUSE_ENDS(object_left_at_the_adapters_close),
    MISUSE_ROW(objects_left_at_the_end),
    MISUSE_ROW(mapping_left_at_the_adapters_close),
    MISUSE_ROW(second_release),
    MISUSE_ROW(logical_address_after_the_release),
    MISUSE_ROW(pages_after_the_release),
    MISUSE_ROW(mdl_changed_while_a_call_is_pending),
    MISUSE_ROW(mdl_chain_cut_while_a_call_is_pending),
    MISUSE_ROW(mdl_freed_while_a_call_is_pending),
    MISUSE_ROW(token_after_deregistration),
    MISUSE_ROW(token_after_the_regions_close),
    MISUSE_ROW(token_after_invalidation),
    MISUSE_ROW(bind_of_a_region_that_is_not_registered),
};

int main(int argc, char **argv)
{
    return misuse_main(argc, argv, "NDK_VERIFIER", rows, sizeof(rows) / sizeof(rows[0]));
}
