/* SPDX-License-Identifier: MIT */
/* hello.c - hello.cpp in C: `hello listen ADDRESS` (one of this host's), then `hello send ADDRESS` (the same). */
#define INITGUID
#include <ndspi.h>
#include <ndsupport.h>
#include <stdio.h>
#include <ws2tcpip.h>

/* Every object that has requests begins as an IND2Overlapped. */
static void check(HRESULT hr, const char *call, void *object, OVERLAPPED *request)
{
    IND2Overlapped *overlapped = object;

    if (hr == ND_PENDING)
        hr = overlapped->lpVtbl->GetOverlappedResult(overlapped, request, TRUE);
    if (hr != ND_SUCCESS && fprintf(stderr, "%s: 0x%08x\n", call, (unsigned)hr))
        ExitProcess(1);
}

#define CHECK(call)               check(call, #call, NULL, NULL)
#define CALL(object, method, ...) CHECK(object->lpVtbl->method(object, __VA_ARGS__))
#define WAIT(object, method, ...)                                                                  \
    check(object->lpVtbl->method(object, __VA_ARGS__), #method, object, &request)
#define MAKE(Class, object, ...)                                                                   \
    IND2##Class *object;                                                                           \
    CALL(adapter, Create##Class, &IID_IND2##Class, __VA_ARGS__, (void **)&object)

int main(int count, char **word)
{
    SOCKADDR_IN peer = { .sin_family = AF_INET }, local;
    SIZE_T size = sizeof(local);
    char text[64] = "";
    OVERLAPPED request = { 0 };
    ND2_RESULT result;
    IND2Adapter *adapter;
    HANDLE file;

    if (count != 3 || !inet_pton(AF_INET, word[2], &peer.sin_addr))
        return fprintf(stderr, "usage: hello listen|send ADDRESS\n"), 2;
    peer.sin_port = htons(18515);
    CHECK(NdStartup());
    CHECK(NdResolveAddress((SOCKADDR *)&peer, sizeof(peer), (SOCKADDR *)&local, &size));
    CHECK(NdOpenAdapter(&IID_IND2Adapter, (SOCKADDR *)&local, size, (void **)&adapter));
    CALL(adapter, CreateOverlappedFile, &file);
    MAKE(CompletionQueue, cq, file, 1, 0, 0);
    MAKE(MemoryRegion, region, file);
    MAKE(Connector, connector, file);
    MAKE(Listener, listener, file);
    MAKE(QueuePair, qp, (IUnknown *)cq, (IUnknown *)cq, NULL, 1, 1, 1, 1, 0);
    WAIT(region, Register, text, sizeof(text), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &request);
    ND2_SGE sge = { text, sizeof(text), region->lpVtbl->GetLocalToken(region) };
    if (word[1][0] == 's') {
        snprintf(text, sizeof(text), "hello over NetworkDirect");
        CALL(connector, Bind, (SOCKADDR *)&local, sizeof(local));
        WAIT(connector, Connect, (IUnknown *)qp, (SOCKADDR *)&peer, sizeof(peer), 0, 0, NULL, 0,
            &request);
        WAIT(connector, CompleteConnect, &request);
        CALL(qp, Send, NULL, &sge, 1, 0);
    } else {
        CALL(listener, Bind, (SOCKADDR *)&peer, sizeof(peer));
        CALL(listener, Listen, 0);
        WAIT(listener, GetConnectionRequest, (IUnknown *)connector, &request);
        CALL(qp, Receive, NULL, &sge, 1);
        WAIT(connector, Accept, (IUnknown *)qp, 0, 0, NULL, 0, &request);
    }
    while (!cq->lpVtbl->GetResults(cq, &result, 1))
        WAIT(cq, Notify, ND_CQ_NOTIFY_ANY, &request);
    CHECK(result.Status);
    printf("%s: %s\n", word[1], text);
    return 0;
}
