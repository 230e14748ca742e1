/* SPDX-License-Identifier: MIT */
/*
 * test_shortage.c - a device that has nothing left when an adapter is opened: the call fails with a code that says so,
 * and the next one finds out anew what the device can do. The embedded device, with calls that fail when the test says
 * so.
 */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/device/provider.h"
#include "tests/support/settle.h"
#include "tests/support/spec_codes.h"

#include <ndsupport.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* Which call fails, with which errno, and above which size (0: always). */
static struct {
    int create_cq, create_srq, create_qp, create_channel, create_event_channel;
    uint32_t above;
    bool beside_another; /* of completion queues the first does not */
} fails;

static unsigned completion_queues; /* that exist */

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
    struct ibv_cq *cq;

    if (fails.create_cq && (uint32_t)cqe > fails.above &&
        (completion_queues || !fails.beside_another)) {
        errno = fails.create_cq;
        return NULL;
    }
    cq = nd_verbs_soft.create_cq(context, cqe, cq_context, channel, vector);
    completion_queues += cq != NULL;
    return cq;
}

static int destroy_cq(struct ibv_cq *cq)
{
    completion_queues--;
    return nd_verbs_soft.destroy_cq(cq);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    if (fails.create_srq && attr->attr.max_wr > fails.above) {
        errno = fails.create_srq;
        return NULL;
    }
    return nd_verbs_soft.create_srq(pd, attr);
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (fails.create_qp && attr->cap.max_recv_wr > fails.above) {
        errno = fails.create_qp;
        return NULL;
    }
    return nd_verbs_soft.create_qp(pd, attr);
}

static struct ibv_comp_channel *create_channel(struct ibv_context *context)
{
    if (fails.create_channel) {
        errno = fails.create_channel;
        return NULL;
    }
    return nd_verbs_soft.create_comp_channel(context);
}

static struct rdma_event_channel *create_event_channel(void)
{
    if (fails.create_event_channel) {
        errno = fails.create_event_channel;
        return NULL;
    }
    return nd_verbs_soft.create_event_channel();
}

/* A device that is not known yet: another for each test, or the limits found before would do. */
static int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    static uint32_t version;
    int rc = nd_verbs_soft.query_device(context, attr);

    attr->hw_ver = fails.above == UINT32_MAX ? ++version : version;
    return rc;
}

static struct nd_verbs failing;

static int set_up(void **state)
{
    struct ibv_device_attr attr;
    int count;
    struct ibv_device **list = nd_verbs_soft.get_device_list(&count);
    struct ibv_context *context = nd_verbs_soft.open_device(list[0]);

    (void)state;
    fails.above = UINT32_MAX; /* the next device */
    query_device(context, &attr);
    nd_verbs_soft.close_device(context);
    nd_verbs_soft.free_device_list(list);
    memset(&fails, 0, sizeof(fails));
    failing = nd_verbs_soft;
    failing.create_cq = create_cq;
    failing.destroy_cq = destroy_cq;
    failing.create_srq = create_srq;
    failing.create_qp = create_qp;
    failing.create_comp_channel = create_channel;
    failing.create_event_channel = create_event_channel;
    failing.query_device = query_device;
    nd_provider_use(NULL, &failing);
    return NdStartup();
}

static int tear_down(void **state)
{
    (void)state;
    nd_provider_use(NULL, NULL);
    return NdCleanup();
}

static HRESULT open_adapter(ND2_ADAPTER_INFO *info)
{
    struct sockaddr_in local = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    IND2Adapter *adapter;
    ULONG size = sizeof(*info);
    HRESULT hr = NdOpenAdapter(
        &IID_IND2Adapter, (struct sockaddr *)&local, sizeof(local), (VOID **)&adapter);

    memset(info, 0, sizeof(*info));
    info->InfoVersion = ND_VERSION_2;
    if (FAILED(hr))
        return hr;
    hr = adapter->lpVtbl->Query(adapter, info, &size);
    adapter->lpVtbl->Release(adapter);
    return hr;
}

static ND2_ADAPTER_INFO usual; /* of the device when nothing fails */

static void expect_usual(void)
{
    ND2_ADAPTER_INFO info;

    assert_int_equal(open_adapter(&info), 0);
    assert_int_equal(info.MaxSharedReceiveQueueDepth, usual.MaxSharedReceiveQueueDepth);
    assert_int_equal(info.MaxReceiveQueueDepth, usual.MaxReceiveQueueDepth);
    assert_int_equal(info.MaxInitiatorQueueDepth, usual.MaxInitiatorQueueDepth);
    assert_int_equal(info.MaxCompletionQueueDepth, usual.MaxCompletionQueueDepth);
}

static void expect_failure(int *call, int error, HRESULT expected)
{
    ND2_ADAPTER_INFO info;

    *call = error;
    assert_int_equal(open_adapter(&info), expected);
    assert_int_equal(open_adapter(&info), expected);
    *call = 0;
    expect_usual();
}

#define INSUFFICIENT_RESOURCES ((HRESULT)SPEC_ND_INSUFFICIENT_RESOURCES)

static void test_open_fails_where_nothing_can_be_made(void **state)
{
    int *const calls[] = { &fails.create_cq, &fails.create_srq, &fails.create_qp,
        &fails.create_channel };
    const int errors[] = { ENOMEM, EMFILE, EAGAIN, ENOSPC };

    for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++)
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
            tear_down(state);
            set_up(state);
            expect_failure(calls[call], errors[i], INSUFFICIENT_RESOURCES);
        }
}

static void test_open_fails_without_connection_manager_for_want_of_descriptors(void **state)
{
    (void)state;
    expect_usual();
    expect_failure(&fails.create_event_channel, EMFILE, INSUFFICIENT_RESOURCES);
    expect_failure(&fails.create_event_channel, ENFILE, INSUFFICIENT_RESOURCES);
}

/* A device that makes only small objects may be so limited, or be short: the library asks it again a second later. */
static void test_limits_found_in_a_shortage_do_not_last(void **state)
{
    ND2_ADAPTER_INFO info;

    (void)state;
    fails.create_srq = fails.create_qp = fails.create_cq = ENOMEM;
    fails.above = 1024;
    assert_int_equal(open_adapter(&info), 0);
    assert_int_equal(info.MaxSharedReceiveQueueDepth, 1024);
    assert_int_equal(info.MaxReceiveQueueDepth, 1023);
    memset(&fails, 0, sizeof(fails));
    assert_true(
        SETTLES(!open_adapter(&info) && info.MaxReceiveQueueDepth == usual.MaxReceiveQueueDepth));
    expect_usual();
}

/* A process without descriptors learns nothing of the device: no smaller object needs fewer of them. */
static void test_no_descriptor_for_deep_objects_is_no_limit(void **state)
{
    int *const calls[] = { &fails.create_cq, &fails.create_srq, &fails.create_qp };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        tear_down(state);
        set_up(state);
        fails.above = 1024;
        expect_failure(calls[i], EMFILE, INSUFFICIENT_RESOURCES);
    }
}

/* A program has one for its Sends and one for its Receives. */
static void test_two_of_the_deepest_completion_queues_exist_together(void **state)
{
    ND2_ADAPTER_INFO info;

    (void)state;
    fails.create_cq = EINVAL;
    fails.above = 4096;
    fails.beside_another = true;
    assert_int_equal(open_adapter(&info), 0);
    assert_int_equal(info.MaxCompletionQueueDepth, 4032);
    assert_int_equal(completion_queues, 0);
}

/* What a device cannot do is no shortage. */
static void test_a_device_without_shared_receive_queues_is_none_that_is_short(void **state)
{
    ND2_ADAPTER_INFO info;

    (void)state;
    fails.create_srq = EOPNOTSUPP;
    assert_int_equal(open_adapter(&info), 0);
    assert_int_equal(info.MaxSharedReceiveQueueDepth, 0);
    assert_int_equal(info.MaxReceiveQueueDepth, usual.MaxReceiveQueueDepth);
}

static int group_open(void **state)
{
    int rc = set_up(state);

    assert_int_equal(open_adapter(&usual), 0);
    assert_true(usual.MaxSharedReceiveQueueDepth > 1024);
    return rc | tear_down(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_open_fails_where_nothing_can_be_made),
        TEST(test_open_fails_without_connection_manager_for_want_of_descriptors),
        TEST(test_limits_found_in_a_shortage_do_not_last),
        TEST(test_no_descriptor_for_deep_objects_is_no_limit),
        TEST(test_two_of_the_deepest_completion_queues_exist_together),
        TEST(test_a_device_without_shared_receive_queues_is_none_that_is_short),
    };

    return cmocka_run_group_tests_name("shortage", tests, group_open, NULL);
}
