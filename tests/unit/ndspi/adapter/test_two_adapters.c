/* SPDX-License-Identifier: MIT */
/* Two adapters in one process: what belongs to which, and a connection from one to the other. */
#include "tests/unit/ndspi/connection/connection.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static IND2Provider *provider(void)
{
    IND2Provider *object = NULL;

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&object), OK);
    return object;
}

static struct sockaddr_in ip(const char *text)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

static HRESULT adapter_of(const char *text, UINT64 *id)
{
    struct sockaddr_in address = ip(text);
    IND2Provider *object = provider();
    HRESULT hr = CALL(object, ResolveAddress, (struct sockaddr *)&address, sizeof(address), id);

    assert_int_equal(CALL(object, Release), 0);
    return hr;
}

static void test_two_adapters_have_the_addresses_they_were_given(void **state)
{
    UINT64 a, b, b2, none = 0;

    (void)state;
    assert_int_equal(adapter_of("127.0.0.1", &a), OK);
    assert_int_equal(adapter_of("127.0.0.2", &b), OK);
    assert_int_equal(adapter_of("127.0.0.3", &b2), OK);
    assert_int_equal(adapter_of("127.0.0.4", &none), BAD_ADDR);
    assert_true(a != b);
    assert_true(b == b2);
}

static void test_two_adapters_list_their_own_addresses_only(void **state)
{
    _Alignas(8) char buffer[4096];
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)buffer;
    IND2Provider *object = provider();
    IND2Adapter *adapter = NULL;
    ULONG size = sizeof(buffer);
    UINT64 id;

    (void)state;
    assert_int_equal(CALL(object, QueryAddressList, list, &size), OK);
    assert_int_equal(list->iAddressCount, 3);
    assert_int_equal(adapter_of("127.0.0.2", &id), OK);
    assert_int_equal(CALL(object, OpenAdapter, &IID_IND2Adapter, id, (void **)&adapter), OK);
    size = sizeof(buffer);
    assert_int_equal(CALL(adapter, QueryAddressList, list, &size), OK);
    assert_int_equal(list->iAddressCount, 2);
    for (int i = 0; i < 2; i++)
        assert_true(((struct sockaddr_in *)list->Address[i].lpSockaddr)->sin_addr.s_addr !=
                    htonl(INADDR_LOOPBACK));
    assert_int_equal(CALL(adapter, Release), 0);
    assert_int_equal(CALL(object, Release), 0);
}

/* The fixture's sides are of 127.0.0.1; this one is of 127.0.0.2. */
static void open_second(struct side *side)
{
    IND2Provider *object = provider();
    UINT64 id;

    memset(side, 0, sizeof(*side));
    assert_int_equal(adapter_of("127.0.0.2", &id), OK);
    assert_int_equal(CALL(object, OpenAdapter, &IID_IND2Adapter, id, (void **)&side->adapter), OK);
    assert_int_equal(CALL(object, Release), 1);
    assert_int_equal(CALL(side->adapter, CreateOverlappedFile, &side->file), OK);
    assert_int_equal(CALL(side->adapter, CreateCompletionQueue, &IID_IND2CompletionQueue,
                         side->file, 4 * QUEUE_DEPTH, 0, 0, (void **)&side->cq),
        OK);
    side_new_qp(side);
    side_new_connector(side);
}

static void test_two_adapters_bind_to_their_own_addresses_only(void **state)
{
    struct sockaddr_in first = ip("127.0.0.1"), second = ip("127.0.0.2");
    struct pair *pair = *state;
    struct side side;

    open_second(&side);
    assert_int_equal(
        CALL(side.connector, Bind, (struct sockaddr *)&first, sizeof(first)), BAD_ADDR);
    assert_int_equal(
        CALL(pair->active.connector, Bind, (struct sockaddr *)&second, sizeof(second)), BAD_ADDR);
    assert_int_equal(CALL(side.connector, Bind, (struct sockaddr *)&second, sizeof(second)), OK);
    side_close(&side);
}

static void test_two_adapters_connect_to_each_other(void **state)
{
    struct sockaddr_in second = ip("127.0.0.2"), peer;
    struct pair *pair = *state;
    ULONG length = sizeof(peer);
    struct side side;

    open_second(&side);
    assert_int_equal(CALL(side.connector, Bind, (struct sockaddr *)&second, sizeof(second)), OK);
    assert_int_equal(
        CALL(side.connector, Connect, (IUnknown *)side.qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 1, 1, NULL, 0, fresh(&side, 0)),
        PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(
        CALL(pair->passive.connector, GetPeerAddress, (struct sockaddr *)&peer, &length), OK);
    assert_int_equal(peer.sin_addr.s_addr, second.sin_addr.s_addr);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(ended(side.connector, PENDING, &side.requests[0].overlapped), OK);
    assert_int_equal(complete_connect(&side), OK);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[0].overlapped), OK);
    side_close(&side);
}

/* The wildcard of one adapter is not the other's: both may listen on one port. */
static void test_two_adapters_have_a_wildcard_each(void **state)
{
    struct sockaddr_in any = { .sin_family = AF_INET }, to = ip("127.0.0.3");
    struct pair *pair = *state;
    ULONG length = sizeof(any);
    IND2Listener *first = side_new_listener(&pair->passive), *second;
    struct side side;

    open_second(&side);
    second = side_new_listener(&side);
    assert_int_equal(CALL(first, Bind, (struct sockaddr *)&any, sizeof(any)), OK);
    assert_int_equal(CALL(first, GetLocalAddress, (struct sockaddr *)&any, &length), OK);
    assert_int_equal(CALL(first, Listen, 0), OK);
    to.sin_port = any.sin_port;
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_to(&pair->active, &to, NULL, 0), REFUSED);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&any, sizeof(any)), OK);
    assert_int_equal(CALL(second, Listen, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp, (struct sockaddr *)&to,
            sizeof(to), 0, 0, NULL, 0, fresh(&pair->active, 0)),
        PENDING);
    assert_int_equal(ended(second,
                         CALL(second, GetConnectionRequest, (IUnknown *)side.connector,
                             fresh_request(&pair->get)),
                         &pair->get.overlapped),
        OK);
    assert_int_equal(CALL(first, Release), 0);
    assert_int_equal(CALL(second, Release), 0);
    side_close(&side);
}

/* ---- version 1: an adapter is one of the addresses of its device ---- */

static INDAdapter *open_v1(const char *text)
{
    struct sockaddr_in address = ip(text);
    INDProvider *object = NULL;
    INDAdapter *adapter = NULL;

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V1, &IID_INDProvider, (void **)&object), OK);
    assert_int_equal(
        CALL(object, OpenAdapter, (struct sockaddr *)&address, sizeof(address), &adapter), OK);
    assert_int_equal(CALL(object, Release), 1);
    return adapter;
}

struct v1_end {
    INDAdapter *adapter;
    INDCompletionQueue *cq;
    INDConnector *connector;
    INDEndpoint *endpoint;
    struct request request;
};

static void v1_open(struct v1_end *end, const char *text)
{
    memset(end, 0, sizeof(*end));
    end->adapter = open_v1(text);
    assert_int_equal(CALL(end->adapter, CreateCompletionQueue, 8, &end->cq), OK);
    assert_int_equal(CALL(end->adapter, CreateConnector, &end->connector), OK);
    assert_int_equal(CALL(end->connector, CreateEndpoint, end->cq, end->cq, 4, 4, 1, 1, 1, 1, NULL,
                         &end->endpoint),
        OK);
}

static void v1_close(struct v1_end *end)
{
    assert_int_equal(CALL(end->endpoint, Release), 0);
    assert_int_equal(CALL(end->connector, Release), 0);
    assert_int_equal(CALL(end->cq, Release), 0);
    assert_int_equal(CALL(end->adapter, Release), 0);
    if (end->request.overlapped.hEvent)
        CloseHandle(end->request.overlapped.hEvent);
}

static HRESULT v1_connect(struct v1_end *end, const struct sockaddr_in *to)
{
    OVERLAPPED *overlapped = fresh_request(&end->request);
    SIZE_T octets;
    HRESULT hr = CALL(end->connector, Connect, end->endpoint, (const struct sockaddr *)to,
        sizeof(*to), 0, 0, NULL, 0, overlapped);

    assert_int_equal(hr, PENDING);
    return CALL(end->connector, GetOverlappedResult, overlapped, &octets, TRUE);
}

static void test_version_1_adapter_listens_and_leaves_on_its_own_address(void **state)
{
    struct sockaddr_in to = ip("127.0.0.3"), from = { 0 };
    SIZE_T length = sizeof(from), octets;
    struct v1_end active, passive;
    INDListen *listen = NULL, *other = NULL;
    INDAdapter *second;
    OVERLAPPED *overlapped;

    (void)state;
    v1_open(&active, "127.0.0.2");
    v1_open(&passive, "127.0.0.2");
    assert_int_equal(CALL(passive.adapter, Listen, 0, 0, 0, &to.sin_port, &listen), OK);
    /* No listener has the device's other address: its port is free. */
    assert_int_equal(v1_connect(&active, &to), REFUSED);
    second = open_v1("127.0.0.3");
    assert_int_equal(CALL(second, Listen, 0, 0, to.sin_port, NULL, &other), OK);
    assert_int_equal(CALL(other, Release), 0);
    assert_int_equal(CALL(second, Release), 0);

    to.sin_addr = ip("127.0.0.2").sin_addr;
    overlapped = fresh_request(&passive.request);
    assert_int_equal(CALL(listen, GetConnectionRequest, passive.connector, overlapped), PENDING);
    overlapped = fresh_request(&active.request);
    assert_int_equal(CALL(active.connector, Connect, active.endpoint, (struct sockaddr *)&to,
                         sizeof(to), 0, 0, NULL, 0, overlapped),
        PENDING);
    assert_int_equal(
        CALL(listen, GetOverlappedResult, &passive.request.overlapped, &octets, TRUE), OK);
    assert_int_equal(
        CALL(passive.connector, GetPeerAddress, (struct sockaddr *)&from, &length), OK);
    assert_int_equal(from.sin_addr.s_addr, ip("127.0.0.2").sin_addr.s_addr);
    assert_int_equal(CALL(listen, Release), 0);
    v1_close(&active);
    v1_close(&passive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_adapters_have_the_addresses_they_were_given),
        cmocka_unit_test(test_two_adapters_list_their_own_addresses_only),
        cmocka_unit_test_setup_teardown(
            test_two_adapters_bind_to_their_own_addresses_only, pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(
            test_two_adapters_connect_to_each_other, pair_set_up, pair_tear_down),
        cmocka_unit_test_setup_teardown(
            test_two_adapters_have_a_wildcard_each, pair_set_up, pair_tear_down),
        cmocka_unit_test(test_version_1_adapter_listens_and_leaves_on_its_own_address),
    };

    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_DEVICES", "a=127.0.0.1;b=127.0.0.2,127.0.0.3", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
