/* SPDX-License-Identifier: MIT */
/* A consumer of NDKPI in C: opens the adapter of the loopback interface, makes two objects, and cleans up. */
#include <ndkinfo.h>
#include <ndkl.h>
#include <ndkpi.h>
#include <ndkwdm.h>
#include <wskndk.h>

#include <net/if.h>
#include <stdio.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "ndk.c:%d: not so: %s\n", __LINE__, #condition);                       \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static VOID notify(PVOID context, NTSTATUS status)
{
    (void)context;
    (void)status;
}

static VOID set_event(PVOID context)
{
    KeSetEvent((PRKEVENT)context, IO_NO_INCREMENT, FALSE);
}

/* Whether a close has ended well. */
static BOOLEAN ended(NTSTATUS status, PRKEVENT event)
{
    if (status != STATUS_PENDING)
        return status == STATUS_SUCCESS;
    return KeWaitForSingleObject(event, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS;
}

int main(void)
{
    NDK_VERSION version = { 2, 1 };
    NDK_ADAPTER_INFO info;
    ULONG size = sizeof(info);
    NDK_ADAPTER *adapter;
    NDK_PD *pd = NULL;
    NDK_CQ *cq = NULL;
    KEVENT event;

    KeInitializeEvent(&event, SynchronizationEvent, FALSE);
    CHECK(NdklOpenAdapter(version, if_nametoindex("lo"), &adapter) == STATUS_SUCCESS);
    CHECK(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &size) == STATUS_SUCCESS);
    CHECK(size == 0x68 && info.Version.Major == 2 && info.Version.Minor == 1);
    CHECK(info.FRMRPageCount >= 16);
    CHECK(adapter->Dispatch->NdkCreatePd(adapter, NULL, NULL, &pd) == STATUS_SUCCESS);
    CHECK(adapter->Dispatch->NdkCreateCq(adapter, 16, notify, NULL, NULL, NULL, NULL, &cq) ==
          STATUS_SUCCESS);
    CHECK(cq->Header.ObjectType == NdkObjectTypeCq);
    CHECK(ended(cq->Dispatch->NdkCloseCq(&cq->Header, set_event, &event), &event));
    CHECK(ended(pd->Dispatch->NdkClosePd(&pd->Header, set_event, &event), &event));
    NdklCloseAdapter(adapter);
    return 0;
}
