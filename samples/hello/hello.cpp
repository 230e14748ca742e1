// SPDX-License-Identifier: MIT
// One message: `hello listen ADDRESS` (one of this host's), then `hello send ADDRESS` (the same, on any host).
#define INITGUID
#include <ndspi.h>
#include <ndsupport.h>
#include <stdio.h>
#include <ws2tcpip.h>
static void check(HRESULT hr, const char *call, IND2Overlapped *object, OVERLAPPED *request)
{
    if (hr == ND_PENDING)
        hr = object->GetOverlappedResult(request, TRUE);
    if (hr != ND_SUCCESS && fprintf(stderr, "%s: 0x%08x\n", call, (unsigned)hr))
        ExitProcess(1);
}
#define CHECK(call)        check(call, #call, NULL, NULL)
#define WAIT(object, call) check(object->call, #call, object, &request)
#define MAKE(Class, object, ...)                                                                   \
    IND2##Class *object;                                                                           \
    CHECK(adapter->Create##Class(IID_IND2##Class, __VA_ARGS__, (void **)&object))

int main(int count, char **word)
{
    SOCKADDR_IN peer = {}, local = {};
    SIZE_T size = sizeof(local);
    char text[64] = "";
    OVERLAPPED request = {};
    ND2_RESULT result;
    IND2Adapter *adapter;
    HANDLE file;
    if (count != 3 || !inet_pton(peer.sin_family = AF_INET, word[2], &peer.sin_addr))
        return fprintf(stderr, "usage: hello listen|send ADDRESS\n"), 2;
    peer.sin_port = htons(18515);
    CHECK(NdStartup());
    CHECK(NdResolveAddress((SOCKADDR *)&peer, sizeof(peer), (SOCKADDR *)&local, &size));
    CHECK(NdOpenAdapter(IID_IND2Adapter, (SOCKADDR *)&local, size, (void **)&adapter));
    CHECK(adapter->CreateOverlappedFile(&file));
    MAKE(CompletionQueue, cq, file, 1, 0, 0);
    MAKE(MemoryRegion, region, file);
    MAKE(Connector, connector, file);
    MAKE(Listener, listener, file);
    MAKE(QueuePair, qp, cq, cq, NULL, 1, 1, 1, 1, 0);
    WAIT(region, Register(text, sizeof(text), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &request));
    ND2_SGE sge = { text, sizeof(text), region->GetLocalToken() };
    if (word[1][0] == 's') {
        snprintf(text, sizeof(text), "hello over NetworkDirect");
        CHECK(connector->Bind((SOCKADDR *)&local, sizeof(local)));
        WAIT(connector, Connect(qp, (SOCKADDR *)&peer, sizeof(peer), 0, 0, NULL, 0, &request));
        WAIT(connector, CompleteConnect(&request));
        CHECK(qp->Send(NULL, &sge, 1, 0));
    } else {
        CHECK(listener->Bind((SOCKADDR *)&peer, sizeof(peer)));
        CHECK(listener->Listen(0));
        WAIT(listener, GetConnectionRequest(connector, &request));
        CHECK(qp->Receive(NULL, &sge, 1));
        WAIT(connector, Accept(qp, 0, 0, NULL, 0, &request));
    }
    while (!cq->GetResults(&result, 1))
        WAIT(cq, Notify(ND_CQ_NOTIFY_ANY, &request));
    CHECK(result.Status);
    printf("%s: %s\n", word[1], text);
}
