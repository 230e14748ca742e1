/* SPDX-License-Identifier: MIT */
/* A user's program in C: opens the adapter of 127.0.0.1, waits for a cancelled Notify, and cleans up. */
#include <stdio.h>

#include <ndsupport.h>

#include <ndspi_linux.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "app.c:%d: not so: %s\n", __LINE__, #condition);                       \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static VOID count_device(VOID *context, const ND_LINUX_DEVICE *device)
{
    *(int *)context += device->Used ? 1 : 0;
}

int main(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof(info);
    OVERLAPPED overlapped = { 0 };
    IND2Adapter *adapter;
    IND2CompletionQueue *cq;
    HANDLE file;
    int used = 0;

    CHECK(NdLinuxDescribeDevices(0, count_device, &used) == ND_SUCCESS && used >= 1);
    CHECK(NdStartup() == S_OK);
    CHECK(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
              (VOID **)&adapter) == ND_SUCCESS);
    CHECK(adapter->lpVtbl->Query(adapter, &info, &size) == ND_SUCCESS &&
          info.MaxCompletionQueueDepth > 0);
    CHECK(adapter->lpVtbl->CreateOverlappedFile(adapter, &file) == ND_SUCCESS);
    CHECK(adapter->lpVtbl->CreateCompletionQueue(
              adapter, &IID_IND2CompletionQueue, file, 16, 0, 0, (VOID **)&cq) == ND_SUCCESS);
    CHECK((overlapped.hEvent = CreateEvent(NULL, TRUE, FALSE, NULL)) != NULL);
    CHECK(cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &overlapped) == ND_PENDING);
    CHECK(cq->lpVtbl->CancelOverlappedRequests(cq) == ND_SUCCESS);
    CHECK(WaitForSingleObject(overlapped.hEvent, 0) == WAIT_OBJECT_0);
    CHECK(cq->lpVtbl->GetOverlappedResult(cq, &overlapped, TRUE) == ND_CANCELED);
    CHECK(cq->lpVtbl->Release(cq) == 0);
    CHECK(CloseHandle(file) && CloseHandle(overlapped.hEvent));
    CHECK(adapter->lpVtbl->Release(adapter) == 0);
    CHECK(NdCleanup() == S_OK);
    return 0;
}
