/* SPDX-License-Identifier: MIT */
/* Listeners over the embedded device: connection requests, GetConnectionRequests that wait for them, addresses. */
#include "tests/unit/ndspi/connection/connection.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- listener ---- */

static void test_listener_hands_out_requests_in_order(void **state)
{
    struct pair *pair = *state;
    struct side other;
    char data[256];
    ULONG octets = sizeof(data);

    side_open(&other);
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(bind_to(&other, 0), OK);
    assert_int_equal(CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp,
                         (struct sockaddr *)&pair->listening, sizeof(pair->listening), 0, 0,
                         "first", 6, fresh(&pair->active, 0)),
        PENDING);
    /* Two connectors wait: the first request goes to the first. */
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(CALL(pair->passive.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "first");
    assert_int_equal(
        CALL(other.connector, Connect, (IUnknown *)other.qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, "second", 7, fresh(&other, 0)),
        PENDING);
    side_new_connector(&pair->passive);
    assert_int_equal(
        connect_ended(pair), REFUSED); /* the connector with its request was released */
    assert_int_equal(get_request(pair), OK);
    octets = sizeof(data);
    assert_int_equal(CALL(pair->passive.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "second");
    side_close(&other);
}

static void test_listener_cancel_makes_connectors_idle_again(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    assert_int_equal(
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    assert_int_equal(CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh(&pair->passive, 1)),
        ACTIVE);
    assert_int_equal(bind_to(&pair->passive, 0), ASSOCIATED);
    assert_int_equal(CALL(pair->listener, CancelOverlappedRequests), OK);
    assert_int_equal(overlapped->Internal, 0xC0000120u);
    reach_connected(pair);
}

static void test_listener_request_ends_with_its_connector(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    assert_int_equal(
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    RELEASE(pair->passive.connector);
    assert_int_equal(overlapped->Internal, 0xC0000120u);
    side_new_connector(&pair->passive);
    reach_connected(pair);
}

static void test_listener_release_refuses_what_it_kept_and_cancels_who_waits(void **state)
{
    struct pair *pair = *state;
    IND2Listener *second = side_new_listener(&pair->passive);
    OVERLAPPED *overlapped = fresh_request(&pair->get);
    struct sockaddr_in address = loopback(0);

    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Listen, 0), OK);
    assert_int_equal(
        CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    assert_int_equal(CALL(second, Release), 0);
    assert_int_equal(overlapped->Internal, 0xC0000120u);

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
    /* Another connection's request behind it proves that the first one has arrived and is kept. */
    assert_int_equal(CALL(pair->listener, Release), 0);
    pair->listener = NULL;
    assert_int_equal(connect_ended(pair), REFUSED);
}

static void test_listener_backlog_refuses_the_rest(void **state)
{
    struct pair *pair = *state;
    IND2Listener *small = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);
    struct side other[3];
    unsigned refused = 0;
    HANDLE events[3];

    assert_int_equal(CALL(small, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(small, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(CALL(small, Listen, 1), OK);
    for (int i = 0; i < 3; i++) {
        side_open(&other[i]);
        assert_int_equal(bind_to(&other[i], 0), OK);
        events[i] = fresh(&other[i], 0)->hEvent;
        assert_int_equal(
            CALL(other[i].connector, Connect, (IUnknown *)other[i].qp, (struct sockaddr *)&address,
                sizeof(address), 0, 0, NULL, 0, &other[i].requests[0].overlapped),
            PENDING);
    }
    /* The listener keeps one request and refuses two, in the order that they arrive in. */
    while (refused < 2) {
        DWORD which = WaitForMultipleObjects(3, events, FALSE, DEADLINE_MS);

        assert_in_range(which, WAIT_OBJECT_0, WAIT_OBJECT_0 + 2);
        assert_int_equal(other[which].requests[0].overlapped.Internal, 0xC0000236u);
        ResetEvent(events[which]);
        refused++;
    }
    assert_int_equal(CALL(small, Release), 0);
    for (int i = 0; i < 3; i++)
        side_close(&other[i]);
}

static void test_listener_bind_and_listen_rules(void **state)
{
    struct pair *pair = *state;
    IND2Listener *second = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);

    assert_int_equal(
        CALL(second, GetLocalAddress, (struct sockaddr *)&address, &length), BAD_STATE);
    assert_int_equal(CALL(second, Listen, 0), BAD_STATE);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh_request(&pair->get)),
        BAD_STATE);
    assert_int_equal(
        CALL(second, Bind, (struct sockaddr *)&pair->listening, sizeof(pair->listening)), SHARING);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), ASSOCIATED);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh_request(&pair->get)),
        BAD_STATE);
    assert_int_equal(CALL(second, GetLocalAddress, NULL, &length), OVERFLOWS);
    assert_int_equal(length, 16);
    assert_int_equal(CALL(second, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_true(address.sin_port != 0);
    assert_int_equal(CALL(second, Listen, 0), OK);
    assert_int_equal(CALL(second, Listen, 0), BAD_STATE);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->active.connector,
                         fresh_request(&pair->get)),
        BAD_PARAM1); /* of another adapter */
    assert_int_equal(CALL(second, Release), 0);
}

static void test_listener_bound_elsewhere_keeps_its_port(void **state)
{
    struct pair *pair = *state;
    IND2Listener *first = side_new_listener(&pair->passive),
                 *second = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);

    assert_int_equal(CALL(first, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(first, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), SHARING);
    assert_int_equal(CALL(first, Release), 0);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Release), 0);
}

static void test_listener_on_the_wildcard_hears_every_address(void **state)
{
    struct pair *pair = *state;
    IND2Listener *old = pair->listener;
    struct sockaddr_in any = { .sin_family = AF_INET };
    ULONG length = sizeof(any);

    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(CALL(pair->listener, Bind, (struct sockaddr *)&any, sizeof(any)), OK);
    assert_int_equal(CALL(pair->listener, GetLocalAddress, (struct sockaddr *)&any, &length), OK);
    assert_int_equal(any.sin_addr.s_addr, 0);
    assert_true(any.sin_port != 0);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    pair->listening.sin_port = any.sin_port;
    reach_connected(pair);
    assert_int_equal(CALL(old, Release), 0);
}

/* A client may bind each of its connectors to its own listener's port. */
static void test_connectors_may_name_the_port_of_a_listener(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in local;
    ULONG length = sizeof(local);
    struct side other;

    side_open(&other);
    assert_int_equal(bind_to(&pair->active, pair->listening.sin_port), OK);
    assert_int_equal(bind_to(&other, pair->listening.sin_port), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length), OK);
    assert_int_equal(local.sin_port, pair->listening.sin_port);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connect_ended(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accept_ended(pair), OK);
    side_close(&other);
}

static void test_addresses_are_told_from_the_right_state_on(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in address, active;
    ULONG length = sizeof(address);

    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&active, &length), OK);
    assert_true(active.sin_port != 0);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &pair->listening, 8);
    assert_int_equal(
        CALL(pair->passive.connector, GetPeerAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &active, 8);
    assert_int_equal(
        CALL(pair->passive.connector, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &pair->listening, 8);
    length = 15;
    assert_int_equal(
        CALL(pair->passive.connector, GetLocalAddress, (struct sockaddr *)&address, &length),
        OVERFLOWS);
    assert_int_equal(length, 16);
}

static void test_connection_over_ipv6(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in6 local = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT }, to,
                        peer;
    IND2Listener *old = pair->listener;
    ULONG length = sizeof(to);
    HRESULT hr = CALL(pair->active.connector, Bind, (struct sockaddr *)&local, sizeof(local));

    if (hr == BAD_ADDR) {
        print_message("this host has no ::1\n");
        skip();
    }
    assert_int_equal(hr, OK);
    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(CALL(pair->listener, Bind, (struct sockaddr *)&local, sizeof(local)), OK);
    assert_int_equal(CALL(pair->listener, GetLocalAddress, (struct sockaddr *)&to, &length), OK);
    assert_int_equal(length, 28);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp, (struct sockaddr *)&to,
            sizeof(to), 1, 1, NULL, 0, fresh(&pair->active, 0)),
        PENDING);
    assert_int_equal(get_request(pair), OK);
    length = sizeof(peer);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length), OK);
    assert_int_equal(
        CALL(pair->passive.connector, GetPeerAddress, (struct sockaddr *)&peer, &length), OK);
    assert_int_equal(peer.sin6_port, local.sin6_port);
    assert_memory_equal(&peer.sin6_addr, &local.sin6_addr, 16);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connect_ended(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accept_ended(pair), OK);
    assert_int_equal(CALL(old, Release), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_set_up, pair_tear_down)

/* A capability is the thread's: this one binds without that for ports of privileged processes. */
static bool without_privilege(struct __user_cap_data_struct saved[2])
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2];
    unsigned first = 0;
    FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");

    if (!file || fscanf(file, "%u", &first) != 1)
        first = 1024;
    if (file)
        fclose(file);
    if (first < 2 || syscall(SYS_capget, &header, saved))
        return false;
    memcpy(data, saved, sizeof(data));
    data[0].effective &= ~(1u << CAP_NET_BIND_SERVICE);
    return !syscall(SYS_capset, &header, data);
}

static void test_a_port_for_privileged_processes_is_denied(void **state)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct saved[2];
    struct pair *pair = *state;
    IND2Listener *second = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(htons(1));
    HRESULT of_listener, of_connector;

    if (!without_privilege(saved)) {
        RELEASE(second);
        skip();
    }
    of_listener = CALL(second, Bind, (struct sockaddr *)&address, sizeof(address));
    of_connector = bind_to(&pair->active, htons(1));
    syscall(SYS_capset, &header, saved);
    assert_int_equal(of_listener, (HRESULT)SPEC_STATUS_ACCESS_DENIED);
    assert_int_equal(of_connector, (HRESULT)SPEC_STATUS_ACCESS_DENIED);
    RELEASE(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_listener_hands_out_requests_in_order),
        TEST(test_listener_cancel_makes_connectors_idle_again),
        TEST(test_listener_request_ends_with_its_connector),
        TEST(test_listener_release_refuses_what_it_kept_and_cancels_who_waits),
        TEST(test_listener_backlog_refuses_the_rest),
        TEST(test_listener_bind_and_listen_rules),
        TEST(test_listener_bound_elsewhere_keeps_its_port),
        TEST(test_listener_on_the_wildcard_hears_every_address),
        TEST(test_connectors_may_name_the_port_of_a_listener),
        TEST(test_addresses_are_told_from_the_right_state_on),
        TEST(test_connection_over_ipv6),
        TEST(test_a_port_for_privileged_processes_is_denied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
