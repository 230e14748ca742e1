/* SPDX-License-Identifier: MIT */
/* arguments1.c - wrong arguments of version 1, as arguments.c. */
#include "tests/robustness/mistakes/checked.h"

static INDAdapter *new_adapter(struct nd2_end *end)
{
    struct sockaddr_in local = nd_end_address(0, 0);
    INDAdapter *adapter;

    child_check(NdOpenV1Adapter((struct sockaddr *)&local, sizeof(local), &adapter), end);
    return adapter;
}

static INDConnector *new_connector(INDAdapter *adapter, struct nd2_end *end)
{
    INDConnector *connector;

    child_check(CALL(adapter, CreateConnector, &connector), end);
    return connector;
}

static void too_many_results(struct nd2_end *end, const struct mistake_offer *offer)
{
    INDCompletionQueue *cq;

    (void)offer;
    SAY(new_adapter(end), CreateCompletionQueue, 1 << 30, &cq);
}

static HRESULT make_endpoint(
    INDAdapter *adapter, INDConnector *connector, SIZE_T sges, INDEndpoint **endpoint)
{
    INDCompletionQueue *cq;
    HRESULT hr = CALL(adapter, CreateCompletionQueue, 16, &cq);

    return FAILED(hr)
               ? hr
               : CALL(connector, CreateEndpoint, cq, cq, 4, 4, sges, 1, 0, 0, NULL, endpoint);
}

static void too_many_entries(struct nd2_end *end, const struct mistake_offer *offer)
{
    INDAdapter *adapter = new_adapter(end);
    INDEndpoint *endpoint;

    (void)offer;
    mistake_say(
        "CreateEndpoint", make_endpoint(adapter, new_connector(adapter, end), 1000, &endpoint));
}

static void connect_to(struct nd2_end *end, const struct sockaddr_in *to, SIZE_T octets)
{
    static const unsigned char data[1024];
    INDAdapter *adapter = new_adapter(end);
    INDConnector *connector = new_connector(adapter, end);
    INDEndpoint *endpoint;

    child_check(make_endpoint(adapter, connector, 1, &endpoint), end);
    SAY(connector, Connect, endpoint, (const struct sockaddr *)to, sizeof(*to), 0, 0, data, octets,
        nd_end_fresh(&end->overlapped, end->event));
}

static void connect1_with_much_data(struct nd2_end *end, const struct mistake_offer *offer)
{
    const struct sockaddr_in to = nd_end_address(0, htons(5000));

    (void)offer;
    connect_to(end, &to, 57);
}

static void connect1_to_the_wildcard(struct nd2_end *end, const struct mistake_offer *offer)
{
    const struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(5000) };

    (void)offer;
    connect_to(end, &to, 0);
}

static void no_overlapped1(struct nd2_end *end, const struct mistake_offer *offer)
{
    INDAdapter *adapter = new_adapter(end);
    INDCompletionQueue *cq;
    ND_MR_HANDLE region;

    (void)offer;
    SAY(adapter, RegisterMemory, end->memory, 4096, NULL, &region);
    child_check(CALL(adapter, CreateCompletionQueue, 16, &cq), end);
    SAY(cq, Notify, ND_CQ_NOTIFY_ANY, NULL);
    SAY(cq, GetOverlappedResult, NULL, &(SIZE_T){ 0 }, FALSE);
}

static void notify1_of_an_unknown_type(struct nd2_end *end, const struct mistake_offer *offer)
{
    INDCompletionQueue *cq;

    (void)offer;
    child_check(CALL(new_adapter(end), CreateCompletionQueue, 16, &cq), end);
    SAY(cq, Notify, 7, nd_end_fresh(&end->overlapped, end->event));
    SAY(cq, Resize, 1 << 30);
}

static void query1_a_small_structure(struct nd2_end *end, const struct mistake_offer *offer)
{
    ND_ADAPTER_INFO info;
    SIZE_T size = 16;

    (void)offer;
    SAY(new_adapter(end), Query, ND_VERSION_1, &info, &size);
}

static void query1_another_version(struct nd2_end *end, const struct mistake_offer *offer)
{
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    (void)offer;
    SAY(new_adapter(end), Query, 2, &info, &size);
}

const struct mistake mistakes_of_arguments1[] = {
    CHECKED(too_many_results, "version 1: a completion queue that is too deep",
        CHECK "INDAdapter::CreateCompletionQueue, INDAdapter 0x*: nEntries is 1073741824, and 1 to "
              "262080 are possible (MaxCqEntries of the adapter)." LIMIT,
        "CreateCompletionQueue: ND_INVALID_PARAMETER"),
    CHECKED(too_many_entries, "version 1: an endpoint with too many entries a Receive",
        CHECK "INDConnector::CreateEndpoint, INDConnector 0x*: nInboundSge is 1000, and 0 to 16 "
              "are possible (MaxInboundSge of the adapter)." LIMIT,
        "CreateEndpoint: ND_INVALID_PARAMETER_5"),
    CHECKED(connect1_with_much_data, "version 1: Connect with 57 bytes of private data",
        CHECK "INDConnector::Connect, INDConnector 0x*: the length of the private data is 57, and "
              "0 to 56 are possible (MaxCallerData of the adapter)." LIMIT,
        "Connect: ND_INVALID_BUFFER_SIZE"),
    CHECKED(connect1_to_the_wildcard, "version 1: Connect to 0.0.0.0",
        CHECK "INDConnector::Connect, INDConnector 0x*: the destination is 0.0.0.0, which is no "
              "host." ADDRESS,
        "Connect: 0xC00000CC"),
    CHECKED(no_overlapped1, "version 1: requests without an OVERLAPPED",
        CHECK "INDAdapter::RegisterMemory, INDAdapter 0x*: its OVERLAPPED is NULL." OVERLAPPED_RULE,
        "RegisterMemory: ND_INVALID_PARAMETER",
        CHECK "INDCompletionQueue::Notify, INDCompletionQueue 0x*: its OVERLAPPED is "
              "NULL." OVERLAPPED_RULE,
        "Notify: ND_INVALID_PARAMETER",
        CHECK "INDCompletionQueue::GetOverlappedResult, INDCompletionQueue 0x*: its OVERLAPPED is "
              "NULL." OVERLAPPED_RULE,
        "GetOverlappedResult: ND_INVALID_PARAMETER"),
    CHECKED(notify1_of_an_unknown_type, "version 1: Notify of type 7, Resize above the limit",
        CHECK "INDCompletionQueue::Notify, INDCompletionQueue 0x*: type 7, and there are "
              "ND_CQ_NOTIFY_ERRORS (0), ND_CQ_NOTIFY_ANY (1) and ND_CQ_NOTIFY_SOLICITED (2)." FLAGS,
        "Notify: ND_INVALID_PARAMETER",
        CHECK
        "INDCompletionQueue::Resize, INDCompletionQueue 0x*: nEntries is 1073741824, and 1 to "
        "262080 are possible (MaxCqEntries of the adapter)." LIMIT,
        "Resize: ND_INVALID_PARAMETER"),
    CHECKED(query1_a_small_structure, "version 1: Query into 16 bytes",
        CHECK "INDAdapter::Query, INDAdapter 0x*: there are 16 bytes, and ND_ADAPTER_INFO has "
              "128." SIZE_RULE,
        "Query: ND_BUFFER_OVERFLOW"),
    CHECKED(query1_another_version, "version 1: Query of version 2",
        CHECK "INDAdapter::Query, INDAdapter 0x*: VersionRequested is 0x2, and ND_VERSION_1 is "
              "0x1." SIZE_RULE,
        "Query: ND_NOT_SUPPORTED"),
    { 0 },
};
