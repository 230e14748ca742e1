/* SPDX-License-Identifier: MIT */
/*
 * arguments.c - wrong arguments, and calls in a wrong order: the code, and what the checker (NDSPI_CHECK) says of it.
 * The codes are those of the methods' pages where these name them.
 */
#include "tests/robustness/mistakes/checked.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- what is created ---- */

static void wrong_iid(struct nd2_end *end, const struct mistake_offer *offer)
{
    void *made;

    (void)offer;
    SAY(end->adapter, CreateConnector, &IID_IND2Listener, end->file, &made);
}

static void no_depth(struct nd2_end *end, const struct mistake_offer *offer)
{
    void *made;

    (void)offer;
    SAY(end->adapter, CreateCompletionQueue, &IID_IND2CompletionQueue, end->file, 0, 0, 0, &made);
}

static void too_deep(struct nd2_end *end, const struct mistake_offer *offer)
{
    void *made;

    (void)offer;
    SAY(end->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)end->cq, (IUnknown *)end->cq,
        NULL, ~0u, 4, 1, 1, 0, &made);
}

static void too_much_inline(struct nd2_end *end, const struct mistake_offer *offer)
{
    void *made;

    (void)offer;
    SAY(end->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)end->cq, (IUnknown *)end->cq,
        NULL, 4, 4, 1, 1, 1 << 20, &made);
}

static void no_file(struct nd2_end *end, const struct mistake_offer *offer)
{
    void *made;

    (void)offer;
    SAY(end->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, NULL, &made);
}

static void closed_file(struct nd2_end *end, const struct mistake_offer *offer)
{
    HANDLE file;
    void *made;

    (void)offer;
    child_check(CALL(end->adapter, CreateOverlappedFile, &file), end);
    CloseHandle(file);
    SAY(end->adapter, CreateListener, &IID_IND2Listener, file, &made);
}

/* ---- connections ---- */

static IND2Connector *new_connector(struct nd2_end *end, bool bound)
{
    struct sockaddr_in local = nd_end_address(0, 0);
    IND2Connector *connector;

    child_check(
        CALL(end->adapter, CreateConnector, &IID_IND2Connector, end->file, (void **)&connector),
        end);
    if (bound)
        child_check(CALL(connector, Bind, (struct sockaddr *)&local, sizeof(local)), end);
    return connector;
}

static void connect_with(struct nd2_end *end, IND2Connector *connector, const void *address,
    ULONG length, ULONG data_octets)
{
    static const unsigned char data[1024];
    IND2QueuePair *qp;

    child_check(CALL(end->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)end->cq,
                    (IUnknown *)end->cq, NULL, 1, 1, 1, 1, 0, (void **)&qp),
        end);
    SAY(connector, Connect, (IUnknown *)qp, address, length, 0, 0, data, data_octets,
        nd_end_fresh(&end->overlapped, end->event));
}

static void connect_unbound(struct nd2_end *end, const struct mistake_offer *offer)
{
    struct sockaddr_in to = nd_end_address(0, htons(5000));

    (void)offer;
    connect_with(end, new_connector(end, false), &to, sizeof(to), 0);
}

static void connect_to_the_wildcard(struct nd2_end *end, const struct mistake_offer *offer)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(5000) };

    (void)offer;
    connect_with(end, new_connector(end, true), &to, sizeof(to), 0);
}

/* As it is on Windows. */
static void connect_by_windows_family(struct nd2_end *end, const struct mistake_offer *offer)
{
    struct sockaddr_in6 to = { .sin6_family = 23 };

    (void)offer;
    connect_with(end, new_connector(end, true), &to, sizeof(to), 0);
}

static void connect_with_much_data(struct nd2_end *end, const struct mistake_offer *offer)
{
    struct sockaddr_in to = nd_end_address(0, htons(5000));

    (void)offer;
    connect_with(end, new_connector(end, true), &to, sizeof(to), 57);
}

static void bind_a_part(struct nd2_end *end, const struct mistake_offer *offer)
{
    struct sockaddr_in local = nd_end_address(0, 0);

    (void)offer;
    SAY(new_connector(end, false), Bind, (struct sockaddr *)&local, 8);
}

static void listen_unbound(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2Listener *listener;

    (void)offer;
    child_check(
        CALL(end->adapter, CreateListener, &IID_IND2Listener, end->file, (void **)&listener), end);
    SAY(listener, Listen, 0);
}

static void read_unserved(struct nd2_end *end, const struct mistake_offer *offer)
{
    mistake_read(end, 4096, offer->address, offer->token, end->lkey);
}

/* ---- flags, structures ---- */

static void register_with_unknown_flags(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2MemoryRegion *region;

    (void)offer;
    child_check(
        CALL(end->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, end->file, (void **)&region),
        end);
    SAY(region, Register, end->memory, 4096, 0x101, nd_end_fresh(&end->overlapped, end->event));
}

static void register_twice(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    SAY(end->mr, Register, end->memory, 4096, 0, nd_end_fresh(&end->overlapped, end->event));
}

static void send_with_unknown_flags(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    SAY(end->qp, Send, "Send", NULL, 0, ND_OP_FLAG_ALLOW_READ);
}

static void notify_of_an_unknown_type(struct nd2_end *end, const struct mistake_offer *offer)
{
    (void)offer;
    SAY(end->cq, Notify, 7, nd_end_fresh(&end->overlapped, end->event));
}

/* Of a method that begins a request with its other arguments right, and of one that asks for its end. */
static void no_overlapped(struct nd2_end *end, const struct mistake_offer *offer)
{
    IND2MemoryRegion *region;

    (void)offer;
    child_check(
        CALL(end->adapter, CreateMemoryRegion, &IID_IND2MemoryRegion, end->file, (void **)&region),
        end);
    SAY(region, Register, end->memory, 4096, 0, NULL);
    SAY(end->cq, Notify, ND_CQ_NOTIFY_ANY, NULL);
    SAY(end->connector, GetOverlappedResult, NULL, FALSE);
}

static void query_a_small_structure(struct nd2_end *end, const struct mistake_offer *offer)
{
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = 16;

    (void)offer;
    SAY(end->adapter, Query, &info, &size);
}

static void query_another_version(struct nd2_end *end, const struct mistake_offer *offer)
{
    ND2_ADAPTER_INFO info = { .InfoVersion = 3 };
    ULONG size = sizeof(info);

    (void)offer;
    SAY(end->adapter, Query, &info, &size);
}

/* ---- the process ---- */

/* With no descriptor left, and with one. */
static void open_with_few_descriptors(struct nd2_end *end, const struct mistake_offer *offer)
{
    const struct sockaddr_in local = nd_end_address(0, 0);
    struct rlimit limit;
    int next = dup(STDOUT_FILENO);
    IND2Adapter *adapter;

    (void)end;
    (void)offer;
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t few = 0; few < 2; few++) {
        limit.rlim_cur = (rlim_t)next + few;
        setrlimit(RLIMIT_NOFILE, &limit);
        mistake_say(
            "NdOpenAdapter", NdOpenAdapter(&IID_IND2Adapter, (const struct sockaddr *)&local,
                                 sizeof(local), (void **)&adapter));
    }
}

const struct mistake mistakes_of_arguments[] = {
    CHECKED(wrong_iid, "CreateConnector with the IID of a listener",
        CHECK "IND2Adapter::CreateConnector, IND2Adapter 0x*: an IND2Connector was asked for by "
              "IID_IND2Listener." INTERFACE,
        "CreateConnector: E_NOINTERFACE"),
    CHECKED(no_depth, "a completion queue of depth 0",
        CHECK "IND2Adapter::CreateCompletionQueue, IND2Adapter 0x*: queueDepth is 0, and 1 to "
              "262080 are possible (MaxCompletionQueueDepth of the adapter)." LIMIT,
        "CreateCompletionQueue: ND_INVALID_PARAMETER_3"),
    CHECKED(too_deep, "a queue pair with too many Receives",
        CHECK "IND2Adapter::CreateQueuePair, IND2Adapter 0x*: receiveQueueDepth is 4294967295, and "
              "0 to 16383 are possible (MaxReceiveQueueDepth of the adapter)." LIMIT,
        "CreateQueuePair: ND_INVALID_PARAMETER_5"),
    CHECKED(too_much_inline, "inline data above the limit",
        CHECK "IND2Adapter::CreateQueuePair, IND2Adapter 0x*: inlineDataSize is 1048576, and 0 to "
              "1024 are possible (MaxInlineDataSize of the adapter)." LIMIT,
        "CreateQueuePair: ND_INVALID_PARAMETER_9"),
    CHECKED(no_file, "a region without a file",
        CHECK "IND2Adapter::CreateMemoryRegion, IND2Adapter 0x*: the file is NULL." FILE_RULE,
        "CreateMemoryRegion: ND_INVALID_HANDLE"),
    CHECKED(closed_file, "a listener with a closed file",
        CHECK "IND2Adapter::CreateListener, IND2Adapter 0x*: 0x* is no file of this adapter's, or "
              "is closed." FILE_RULE,
        "CreateListener: ND_INVALID_HANDLE"),
    CHECKED(connect_unbound, "Connect before Bind",
        CHECK "IND2Connector::Connect, IND2Connector 0x*: Bind was not called." BOUND,
        "Connect: 0xC0000239"),
    CHECKED(connect_to_the_wildcard, "Connect to 0.0.0.0",
        CHECK "IND2Connector::Connect, IND2Connector 0x*: the destination is 0.0.0.0, which is no "
              "host." ADDRESS,
        "Connect: 0xC00000CC"),
    CHECKED(connect_by_windows_family, "Connect to an address of Windows' AF_INET6",
        CHECK "IND2Connector::Connect, IND2Connector 0x*: its family is 23, and AF_INET is 2, "
              "AF_INET6 10 here." ADDRESS,
        "Connect: 0xC00000CC"),
    CHECKED(connect_with_much_data, "Connect with 57 bytes of private data",
        CHECK "IND2Connector::Connect, IND2Connector 0x*: the length of the private data is 57, "
              "and 0 to 56 are possible (MaxCallerData of the adapter)." LIMIT,
        "Connect: ND_INVALID_BUFFER_SIZE"),
    CHECKED(bind_a_part, "Bind to an address of 8 bytes",
        CHECK
        "IND2Connector::Bind, IND2Connector 0x*: it has 8 bytes, and one of its family 16." ADDRESS,
        "Bind: ND_INVALID_ADDRESS"),
    CHECKED(listen_unbound, "Listen before Bind",
        CHECK "IND2Listener::Listen, IND2Listener 0x*: Bind was not called." BOUND,
        "Listen: ND_INVALID_DEVICE_STATE"),
    CHECKED(register_with_unknown_flags, "Register with an unknown flag",
        CHECK "IND2MemoryRegion::Register, IND2MemoryRegion 0x*: flags 0x101, and a region has no "
              "0x100." FLAGS,
        "Register: ND_INVALID_PARAMETER"),
    CHECKED(register_twice, "Register of a registered region",
        CHECK "IND2MemoryRegion::Register, IND2MemoryRegion 0x*: it has 65536 bytes at 0x* since "
              "IND2MemoryRegion::Register at **." ONCE,
        "Register: ND_INVALID_DEVICE_STATE"),
    CHECKED(send_with_unknown_flags, "Send with a flag of Bind's",
        CHECK "IND2QueuePair::Send, IND2QueuePair 0x*: flags 0x8, and it takes no 0x8." FLAGS,
        "Send: ND_INVALID_PARAMETER_4"),
    CHECKED(notify_of_an_unknown_type, "Notify of type 7",
        CHECK "IND2CompletionQueue::Notify, IND2CompletionQueue 0x*: type 7, and there are "
              "ND_CQ_NOTIFY_ERRORS (0), ND_CQ_NOTIFY_ANY (1) and ND_CQ_NOTIFY_SOLICITED (2)." FLAGS,
        "Notify: ND_INVALID_PARAMETER"),
    CHECKED(no_overlapped, "requests without an OVERLAPPED",
        CHECK
        "IND2MemoryRegion::Register, IND2MemoryRegion 0x*: its OVERLAPPED is NULL." OVERLAPPED_RULE,
        "Register: ND_INVALID_PARAMETER",
        CHECK "IND2CompletionQueue::Notify, IND2CompletionQueue 0x*: its OVERLAPPED is "
              "NULL." OVERLAPPED_RULE,
        "Notify: ND_INVALID_PARAMETER",
        CHECK "IND2Connector::GetOverlappedResult, IND2Connector 0x*: its OVERLAPPED is "
              "NULL." OVERLAPPED_RULE,
        "GetOverlappedResult: ND_INVALID_PARAMETER"),
    CHECKED(query_a_small_structure, "Query into 16 bytes",
        CHECK "IND2Adapter::Query, IND2Adapter 0x*: there are 16 bytes, and ND2_ADAPTER_INFO has "
              "96." SIZE_RULE,
        "Query: ND_BUFFER_OVERFLOW"),
    CHECKED(query_another_version, "Query of version 3",
        CHECK "IND2Adapter::Query, IND2Adapter 0x*: InfoVersion is 0x3, and ND_VERSION_2 is "
              "0x20000." SIZE_RULE,
        "Query: ND_NOT_SUPPORTED"),
    { .name = "few_descriptors",
        .words = "NdOpenAdapter without descriptors",
        .passive = mistake_serve,
        .active = open_with_few_descriptors,
        .active_lines = { "ndspi: error: device: cannot scan the host's addresses now: Too many "
                          "open files; raise the "
                          "limit of open files (ulimit -n)",
            "NdOpenAdapter: ND_INSUFFICIENT_RESOURCES",
            "ndspi: error: device: softrdma0 port 1 cannot be opened: Too many open files; raise "
            "the limit of open "
            "files (ulimit -n)",
            "NdOpenAdapter: ND_INSUFFICIENT_RESOURCES" } },
    { .name = "read_unserved",
        .words = "a Read where the peer serves none",
        .no_reads = true,
        .setting = "NDSPI_CHECK=1",
        .passive = mistake_serve,
        .active = read_unserved,
        .active_lines = { CHECK
            "IND2QueuePair::Read, IND2QueuePair 0x*: its connection allows no Read: this end's "
            "outbound limit is 0, or the peer's inbound one." NO_READS,
            "Read: ND_INVALID_DEVICE_REQUEST" } },
    { .name = "site",
        .words = "the same, where the program goes on: with the call's site",
        .no_reads = true,
        .setting = "NDSPI_CHECK=log",
        .passive = mistake_serve,
        .active = read_unserved,
        .active_lines = { CHECK
            "IND2QueuePair::Read, IND2QueuePair 0x*: its connection allows no Read: this end's "
            "outbound limit is 0, or "
            "the peer's inbound one; called at **+0x* (mistake_read)**." NO_READS,
            "Read: ND_INVALID_DEVICE_REQUEST" } },
    { 0 },
};
