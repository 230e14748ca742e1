/* SPDX-License-Identifier: MIT */
/*
 * test_shortage.c - a process that has no descriptors left: calls fail with a code that says so, the library does not
 * remember the shortage, and everything works once there are descriptors. Each case is a process of its own, since what
 * a library remembers it remembers for the process.
 */
#include "tests/support/nd2_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 64, FREE_MAX = 24 };

static const struct nd2_end_options options = { .depth = 8, .memory_octets = 4096 };

/* ---- descriptors that are held ---- */

static struct rlimit before;
static int held[LIMIT];
static unsigned held_count;

/* Leaves so many descriptors free. */
static void take_descriptors(unsigned left)
{
    struct rlimit limit = { LIMIT, 0 };
    int fd;

    getrlimit(RLIMIT_NOFILE, &before);
    limit.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        held[held_count++] = fd;
    while (left-- && held_count)
        close(held[--held_count]);
}

static void give_descriptors(void)
{
    while (held_count)
        close(held[--held_count]);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* ---- what a process does; the status is that of its exit ---- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static bool is_shortage(HRESULT hr)
{
    return hr == (HRESULT)SPEC_ND_INSUFFICIENT_RESOURCES || hr == (HRESULT)SPEC_ND_NO_MEMORY;
}

/* Succeeded, or failed for the right reason. */
#define CHECK_CODE(call)                                                                           \
    do {                                                                                           \
        HRESULT code_ = (call);                                                                    \
        if (code_ != ND_SUCCESS && !is_shortage(code_)) {                                          \
            fprintf(stderr, "%s:%d: %s: 0x%08x\n", __FILE__, __LINE__, #call, (unsigned)code_);    \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static HRESULT open_adapter(IND2Adapter **adapter)
{
    struct sockaddr_in local = nd_end_address(0, 0);

    return NdOpenAdapter(
        &IID_IND2Adapter, (struct sockaddr *)&local, sizeof local, (void **)adapter);
}

/* The first questions that the process asks, with few descriptors, and then with enough. */
static bool ask_first(unsigned left)
{
    struct sockaddr_in local = nd_end_address(0, 0);
    IND2Adapter *adapter;
    SIZE_T size = 0;
    HRESULT hr;

    CHECK(NdStartup() == ND_SUCCESS);
    take_descriptors(left);
    hr = NdQueryAddressList(0, NULL, &size);
    CHECK(hr == (HRESULT)SPEC_ND_BUFFER_OVERFLOW || is_shortage(hr));
    CHECK_CODE(NdCheckAddress((struct sockaddr *)&local, sizeof local));
    CHECK_CODE(open_adapter(&adapter));
    if (adapter)
        adapter->lpVtbl->Release(adapter);
    give_descriptors();
    size = 0;
    CHECK(NdQueryAddressList(0, NULL, &size) == (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    CHECK(open_adapter(&adapter) == ND_SUCCESS);
    adapter->lpVtbl->Release(adapter);
    return NdCleanup() == ND_SUCCESS;
}

/* Two ends, one of which listens; what was made is in them. */
static bool make_ends(struct nd2_end *passive, struct nd2_end *active)
{
    USHORT port_be;

    CHECK_CODE(nd2_end_open(passive, &options));
    if (!passive->mr)
        return true;
    CHECK_CODE(nd2_end_open(active, &options));
    if (!active->mr)
        return true;
    CHECK_CODE(nd2_end_listen(passive, &port_be));
    return true;
}

static bool make_everything(unsigned left)
{
    struct nd2_end passive = { 0 }, active = { 0 };
    USHORT port_be;

    CHECK(NdStartup() == ND_SUCCESS);
    take_descriptors(left);
    CHECK(make_ends(&passive, &active));
    nd2_end_close(&active);
    nd2_end_close(&passive);
    give_descriptors();
    CHECK(nd2_end_open(&passive, &options) == ND_SUCCESS);
    CHECK(nd2_end_open(&active, &options) == ND_SUCCESS);
    CHECK(nd2_end_listen(&passive, &port_be) == ND_SUCCESS);
    return true;
}

/* Two ends that lack only a connection: a listener, and a Connect to the listener of another end. */
static bool connect_late(unsigned left)
{
    struct nd2_end other = { 0 }, passive = { 0 }, active = { 0 };
    USHORT port_be, another_be;
    HRESULT hr;

    CHECK(NdStartup() == ND_SUCCESS);
    CHECK(nd2_end_open(&other, &options) == ND_SUCCESS);
    CHECK(nd2_end_listen(&other, &port_be) == ND_SUCCESS);
    CHECK(nd2_end_open(&passive, &options) == ND_SUCCESS);
    CHECK(nd2_end_open(&active, &options) == ND_SUCCESS);
    take_descriptors(left);
    CHECK_CODE(nd2_end_listen(&passive, &another_be));
    struct sockaddr_in local = nd_end_address(0, 0), peer = nd_end_address(0, port_be);
    hr = active.connector->lpVtbl->Bind(active.connector, (struct sockaddr *)&local, sizeof local);
    CHECK_CODE(hr);
    if (hr == ND_SUCCESS) {
        hr = active.connector->lpVtbl->Connect(active.connector, (IUnknown *)active.qp,
            (struct sockaddr *)&peer, sizeof peer, 1, 1, NULL, 0,
            nd_end_fresh(&active.overlapped, active.event));
        if (hr != ND_PENDING)
            CHECK_CODE(hr);
    }
    give_descriptors();
    return true;
}

static void in_processes(bool (*play)(unsigned left))
{
    for (unsigned left = 0; left <= FREE_MAX; left++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (!child)
            _exit(play(left) ? 0 : 1);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_the_first_questions_fail_as_a_shortage_and_are_asked_anew(void **state)
{
    (void)state;
    in_processes(ask_first);
}

static void test_whatever_is_made_fails_as_a_shortage(void **state)
{
    (void)state;
    in_processes(make_everything);
}

static void test_listeners_and_connections_fail_as_a_shortage(void **state)
{
    (void)state;
    in_processes(connect_late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_questions_fail_as_a_shortage_and_are_asked_anew),
        cmocka_unit_test(test_whatever_is_made_fails_as_a_shortage),
        cmocka_unit_test(test_listeners_and_connections_fail_as_a_shortage),
    };

    return cmocka_run_group_tests_name("shortage", tests, NULL, NULL);
}
