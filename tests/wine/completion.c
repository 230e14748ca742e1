/* SPDX-License-Identifier: MIT */
/*
 * completion.c - a Windows program whose overlapped requests end in its own completion port: many at once, in another
 * order than they began, with different statuses; and hundreds of connections after which nothing is left. Built for
 * Windows and natively.
 */
#include "tests/support/long.h"
#include "tests/support/nd2_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    KINDS = 4,
    EACH = 16,
    REQUESTS = KINDS * EACH,
    KEY = 0x4711,
    SOON_MS = 20000,
    CYCLES = 150,
    LONG_CYCLES = 1000,
    WARMUP = 100
};

static void check(HRESULT hr, const char *call)
{
    if (hr == ND_SUCCESS)
        return;
    printf("%s: 0x%08x\n", call, (unsigned)hr);
    fflush(stdout);
    assert_int_equal(hr, ND_SUCCESS);
}

/* ---- 64 requests ---- */

static IND2Adapter *adapter;
static HANDLE file, port;

/* One request: what ends it, and how it has to. */
struct request {
    OVERLAPPED overlapped;
    int kind;
    HRESULT status;
    DWORD error; /* of the port wait */
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;
    IND2Connector *connector, *accepted;
    IND2Listener *listener;
    int packets;
};

static struct request requests[REQUESTS];

static void make_queues(struct request *request, ULONG cq_depth, ULONG receives)
{
    check(adapter->lpVtbl->CreateCompletionQueue(
              adapter, &IID_IND2CompletionQueue, file, cq_depth, 0, 0, (VOID **)&request->cq),
        "CreateCompletionQueue");
    check(adapter->lpVtbl->CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)request->cq,
              (IUnknown *)request->cq, NULL, receives > 8 ? receives : 8, 8, 1, 1, 0,
              (VOID **)&request->qp),
        "CreateQueuePair");
    for (ULONG i = 0; i < receives; i++)
        check(request->qp->lpVtbl->Receive(request->qp, NULL, NULL, 0), "Receive");
}

/* A flushed Receive is a result; one more than the queue has room for, which is more than its depth, is its end. */
enum { TOO_MANY = 200 };

static void begin_notify(struct request *request, ULONG type, ULONG cq_depth, ULONG receives)
{
    make_queues(request, cq_depth, receives);
    assert_int_equal(
        request->cq->lpVtbl->Notify(request->cq, type, &request->overlapped), ND_PENDING);
}

static struct sockaddr_in listen_on(struct request *request)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    ULONG size = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(adapter->lpVtbl->CreateListener(
              adapter, &IID_IND2Listener, file, (VOID **)&request->listener),
        "CreateListener");
    check(request->listener->lpVtbl->Bind(
              request->listener, (struct sockaddr *)&address, sizeof(address)),
        "Bind");
    check(request->listener->lpVtbl->Listen(request->listener, 0), "Listen");
    check(request->listener->lpVtbl->GetLocalAddress(
              request->listener, (struct sockaddr *)&address, &size),
        "GetLocalAddress");
    return address;
}

static IND2Connector *make_connector(void)
{
    IND2Connector *connector;

    check(adapter->lpVtbl->CreateConnector(adapter, &IID_IND2Connector, file, (VOID **)&connector),
        "CreateConnector");
    return connector;
}

static void begin_connection_request(struct request *request)
{
    listen_on(request);
    request->connector = make_connector();
    assert_int_equal(request->listener->lpVtbl->GetConnectionRequest(
                         request->listener, (IUnknown *)request->connector, &request->overlapped),
        ND_PENDING);
}

/* Connected up to the point where the peer has to answer. The tagged event keeps its own packets out of the port. */
static void begin_connect(struct request *request)
{
    struct sockaddr_in address = listen_on(request), local = address;
    OVERLAPPED accepted = { 0 };
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

    accepted.hEvent = (HANDLE)((ULONG_PTR)event | 1);
    local.sin_port = 0;
    make_queues(request, 16, 0);
    request->connector = make_connector();
    request->accepted = make_connector();
    check(request->connector->lpVtbl->Bind(
              request->connector, (struct sockaddr *)&local, sizeof(local)),
        "Bind");
    assert_int_equal(request->listener->lpVtbl->GetConnectionRequest(
                         request->listener, (IUnknown *)request->accepted, &accepted),
        ND_PENDING);
    assert_int_equal(
        request->connector->lpVtbl->Connect(request->connector, (IUnknown *)request->qp,
            (struct sockaddr *)&address, sizeof(address), 0, 0, NULL, 0, &request->overlapped),
        ND_PENDING);
    assert_int_equal(WaitForSingleObject(event, SOON_MS), WAIT_OBJECT_0);
    check(request->listener->lpVtbl->GetOverlappedResult(request->listener, &accepted, FALSE),
        "GetConnectionRequest");
    CloseHandle(event);
}

static void begin(struct request *request, int kind)
{
    static const HRESULT statuses[KINDS] = { ND_SUCCESS, (HRESULT)SPEC_ND_BUFFER_OVERFLOW,
        (HRESULT)SPEC_ND_CANCELED, (HRESULT)SPEC_ND_CONNECTION_REFUSED };
    static const DWORD errors[KINDS] = { 0, SPEC_ERROR_MORE_DATA, SPEC_ERROR_OPERATION_ABORTED,
        SPEC_ERROR_CONNECTION_REFUSED };

    *request = (struct request){ .kind = kind, .status = statuses[kind], .error = errors[kind] };
    switch (kind) {
    case 0: begin_notify(request, ND_CQ_NOTIFY_ANY, 8, 1); break;
    case 1: begin_notify(request, ND_CQ_NOTIFY_ERRORS, 1, TOO_MANY); break;
    case 2: begin_connection_request(request); break;
    case 3: begin_connect(request); break;
    }
}

static void end(struct request *request)
{
    switch (request->kind) {
    case 0:
    case 1: check(request->qp->lpVtbl->Flush(request->qp), "Flush"); break;
    case 2:
        check(request->listener->lpVtbl->CancelOverlappedRequests(request->listener), "Cancel");
        break;
    case 3: check(request->accepted->lpVtbl->Reject(request->accepted, NULL, 0), "Reject"); break;
    }
}

static HRESULT result_of(struct request *request)
{
    switch (request->kind) {
    case 2:
        return request->listener->lpVtbl->GetOverlappedResult(
            request->listener, &request->overlapped, FALSE);
    case 3:
        return request->connector->lpVtbl->GetOverlappedResult(
            request->connector, &request->overlapped, FALSE);
    default:
        return request->cq->lpVtbl->GetOverlappedResult(request->cq, &request->overlapped, FALSE);
    }
}

static void release(struct request *request)
{
    ND_END_RELEASE(request->accepted);
    ND_END_RELEASE(request->listener);
    ND_END_RELEASE(request->connector);
    ND_END_RELEASE(request->qp);
    ND_END_RELEASE(request->cq);
}

static void take_packet(void)
{
    OVERLAPPED *overlapped = NULL;
    struct request *request;
    ULONG_PTR key = 0;
    DWORD octets = 99;
    BOOL good = GetQueuedCompletionStatus(port, &octets, &key, &overlapped, SOON_MS);
    DWORD error = good ? 0 : GetLastError();

    assert_non_null(overlapped);
    request = (struct request *)overlapped;
    assert_true(request >= requests && request < requests + REQUESTS);
    assert_int_equal(key, KEY);
    assert_int_equal(octets, 0);
    assert_int_equal(error, request->error);
    assert_int_equal(++request->packets, 1);
    assert_int_equal(result_of(request), request->status);
    assert_int_equal((HRESULT)overlapped->Internal, request->status);
}

static void open_adapter(void)
{
    struct sockaddr_in address = nd_end_address(0, 0);

    check(NdOpenAdapter(
              &IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), (VOID **)&adapter),
        "NdOpenAdapter");
    check(adapter->lpVtbl->CreateOverlappedFile(adapter, &file), "CreateOverlappedFile");
    port = CreateIoCompletionPort(file, NULL, KEY, 0);
    assert_non_null(port);
}

static void close_adapter(void)
{
    assert_true(CloseHandle(file));
    assert_true(CloseHandle(port));
    assert_int_equal(adapter->lpVtbl->Release(adapter), 0);
}

static void test_64_requests_end_in_another_order_with_four_statuses(void **state)
{
    int order[REQUESTS];
    unsigned random = 12345;

    (void)state;
    open_adapter();
    for (int i = 0; i < REQUESTS; i++) {
        begin(&requests[i], i % KINDS);
        order[i] = i;
    }
    for (int i = REQUESTS - 1; i > 0; i--) {
        int j = (int)((random = random * 1103515245 + 12345) >> 16) % (i + 1), other = order[j];

        order[j] = order[i];
        order[i] = other;
    }
    for (int i = 0; i < REQUESTS; i++)
        assert_int_equal(requests[i].overlapped.Internal, SPEC_ND_PENDING);
    for (int i = 0; i < REQUESTS; i++)
        end(&requests[order[i]]);
    for (int i = 0; i < REQUESTS; i++)
        take_packet();
    for (int i = 0; i < REQUESTS; i++)
        release(&requests[i]);
    close_adapter();
}

static void test_cancelled_requests_are_in_the_port_in_order(void **state)
{
    enum { ROUNDS = 200, PENDING = 4 };
    IND2CompletionQueue *cq;
    OVERLAPPED overlapped[PENDING] = { 0 }, *ended;
    ULONG_PTR key;
    DWORD octets;

    (void)state;
    open_adapter();
    check(adapter->lpVtbl->CreateCompletionQueue(
              adapter, &IID_IND2CompletionQueue, file, 8, 0, 0, (VOID **)&cq),
        "CreateCompletionQueue");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PENDING; i++)
            assert_int_equal(cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &overlapped[i]), ND_PENDING);
        check(cq->lpVtbl->CancelOverlappedRequests(cq), "CancelOverlappedRequests");
        for (int i = 0; i < PENDING; i++) {
            assert_false(GetQueuedCompletionStatus(port, &octets, &key, &ended, 0));
            assert_int_equal(GetLastError(), SPEC_ERROR_OPERATION_ABORTED);
            assert_ptr_equal(ended, &overlapped[i]);
        }
        assert_false(GetQueuedCompletionStatus(port, &octets, &key, &ended, 0));
        assert_int_equal(GetLastError(), SPEC_WAIT_TIMEOUT);
    }
    assert_int_equal(cq->lpVtbl->Release(cq), 0);
    close_adapter();
}

/* ---- cycles ---- */

#ifdef _WIN32 /* natively that is robustness.cycles */

static struct nd2_end active, passive;

static DWORD WINAPI accept_one(VOID *result)
{
    HRESULT hr = nd2_end_request(&passive);

    *(HRESULT *)result = hr == ND_SUCCESS ? nd2_end_accept(&passive) : hr;
    return 0;
}

static DWORD WINAPI disconnect_one(VOID *result)
{
    *(HRESULT *)result = nd2_end_disconnect(&passive);
    return 0;
}

static HANDLE beside(LPTHREAD_START_ROUTINE part, HRESULT *result)
{
    HANDLE thread = CreateThread(NULL, 0, part, result, 0, NULL);

    assert_non_null(thread);
    return thread;
}

static void join(HANDLE thread)
{
    assert_int_equal(WaitForSingleObject(thread, SOON_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
}

static void cycle(void)
{
    const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };
    HRESULT other = ND_PENDING;
    ND2_RESULT result;
    USHORT port_be;
    HANDLE thread;

    check(nd2_end_open(&active, &options), "open");
    check(nd2_end_open(&passive, &options), "open");
    check(nd2_end_receive(&passive, NULL, 2048, 64), "Receive");
    check(nd2_end_listen(&passive, &port_be), "listen");
    thread = beside(accept_one, &other);
    check(nd2_end_connect(&active, port_be), "connect");
    join(thread);
    check(other, "accept");
    memset(active.memory, 0x5a, 64);
    check(nd2_end_send(&active, NULL, 0, 64, 0), "Send");
    assert_int_equal(nd2_end_results(&passive, &result, 1, SOON_MS), 1);
    assert_int_equal(result.Status, ND_SUCCESS);
    assert_memory_equal(active.memory, passive.memory + 2048, 64);
    thread = beside(disconnect_one, &other);
    check(nd2_end_disconnect(&active), "disconnect");
    join(thread);
    check(other == ND_TIMEOUT ? ND_SUCCESS : other, "disconnect");
    nd2_end_close(&active);
    nd2_end_close(&passive);
}

/* GetProcessHandleCount says 0 under Wine 8; the table of all handles names each handle's process. */
static DWORD open_handles(void)
{
    enum { SYSTEM_EXTENDED_HANDLES = 64 };
    struct entry {
        VOID *object;
        ULONG_PTR process, handle;
        ULONG access;
        USHORT index, type;
        ULONG attributes, reserved;
    };
    typedef LONG(WINAPI * query_fn)(int what, VOID *out, ULONG octets, ULONG *used);
    query_fn query = (query_fn)(VOID *)GetProcAddress(
        GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation");
    ULONG octets = 1 << 16, used = 0;
    ULONG_PTR *table = NULL; /* count, reserved, entries */
    struct entry *entries;
    DWORD count = 0;
    LONG status;

    assert_non_null(query);
    do {
        octets *= 2;
        assert_non_null(table = realloc(table, octets));
        status = query(SYSTEM_EXTENDED_HANDLES, table, octets, &used);
    } while (status == (LONG)SPEC_STATUS_INFO_LENGTH_MISMATCH);
    assert_int_equal(status, 0);
    entries = (struct entry *)(table + 2);
    for (ULONG_PTR i = 0; i < table[0]; i++)
        count += entries[i].process == GetCurrentProcessId();
    free(table);
    return count;
}

/*
 * Counts the descriptors of this process; natively its number is that of wine.sh's shell, which ran it by exec. Not
 * "self": wineserver looks the path up, so that would be wineserver.
 */
static DWORD open_descriptors(void)
{
    WIN32_FIND_DATAW entry;
    WCHAR path[64] = L"Z:\\proc\\";
    HANDLE find;
    DWORD count = 0;

    assert_true(GetEnvironmentVariableW(L"NDSPI_TEST_PID", path + 8, 16) > 0);
    find = FindFirstFileW(lstrcatW(path, L"\\fd\\*"), &entry);
    assert_true(find != INVALID_HANDLE_VALUE);
    do
        count++;
    while (FindNextFileW(find, &entry));
    FindClose(find);
    return count;
}

/* What would stay is seen. */
static void test_handles_and_descriptors_are_counted(void **state)
{
    enum { SOME = 16 };
    const struct nd2_end_options options = { .depth = 4, .memory_octets = 4096 };
    DWORD handles = open_handles(), descriptors = open_descriptors();
    HANDLE events[SOME];

    (void)state;
    for (int i = 0; i < SOME; i++)
        events[i] = CreateEventW(NULL, FALSE, FALSE, NULL);
    assert_true(
        open_handles() > handles + SOME / 2); /* the library may just close some of its own */
    for (int i = 0; i < SOME; i++)
        CloseHandle(events[i]);
    assert_true(open_handles() < handles + SOME / 2);
    check(nd2_end_open(&active, &options), "open");
    assert_true(open_descriptors() > descriptors);
    nd2_end_close(&active);
}

/* Connections are cut up to 2 s after their end, and threads end when they like: what stays, stays for longer. */
static void test_many_cycles_leave_nothing(void **state)
{
    DWORD handles, descriptors, now_handles, now_descriptors;
    ULONGLONG deadline;
    int cycles = test_is_long() ? LONG_CYCLES : CYCLES;

    (void)state;
    for (int i = 0; i < WARMUP; i++)
        cycle();
    handles = open_handles();
    descriptors = open_descriptors();
    for (int i = 0; i < cycles; i++)
        cycle();
    deadline = GetTickCount64() + 10000;
    do {
        now_handles = open_handles();
        now_descriptors = open_descriptors();
    } while ((now_handles > handles || now_descriptors > descriptors) &&
             GetTickCount64() < deadline && SwitchToThread() >= 0);
    printf("%u handles, %u descriptors; before: %u, %u\n", (unsigned)now_handles,
        (unsigned)now_descriptors, (unsigned)handles, (unsigned)descriptors);
    assert_true(now_handles <= handles);
    assert_true(now_descriptors <= descriptors);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_64_requests_end_in_another_order_with_four_statuses),
        cmocka_unit_test(test_cancelled_requests_are_in_the_port_in_order),
#ifdef _WIN32
        cmocka_unit_test(test_handles_and_descriptors_are_counted),
        cmocka_unit_test(test_many_cycles_leave_nothing),
#endif
    };

    if (NdStartup() != ND_SUCCESS)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
