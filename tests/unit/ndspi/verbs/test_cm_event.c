/* SPDX-License-Identifier: MIT */
/* Events of connection managers that say otherwise than verbs: what the core gets of them. */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/verbs/cm_event.h"

static struct rdma_cm_event event_of(enum rdma_cm_event_type type, uint8_t octets)
{
    return (struct rdma_cm_event){
        .event = type,
        .param.conn = { .private_data_len = octets,
            .responder_resources = 3,
            .initiator_depth = 7 },
    };
}

static void check(
    const struct rdma_cm_event *event, unsigned octets, unsigned inbound, unsigned outbound)
{
    assert_int_equal(event->param.conn.private_data_len, octets);
    assert_int_equal(event->param.conn.responder_resources, inbound);
    assert_int_equal(event->param.conn.initiator_depth, outbound);
}

/*
 * A reply of InfiniBand's connection manager has 196 octets, a reject 148, a request 56: however many its program sent.
 */
static void test_a_padded_reply_ends_where_a_reject_does(void **state)
{
    static const enum rdma_cm_event_type replies[] = { RDMA_CM_EVENT_CONNECT_RESPONSE,
        RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED };
    struct rdma_cm_event event;

    (void)state;
    for (int i = 0; i < 3; i++) {
        event = event_of(replies[i], 196);
        nd_cm_event_mend(ND_QUIRK_BIT(PADDED_DATA), &event);
        check(&event, 148, 3, 7);
        event = event_of(replies[i], 147);
        nd_cm_event_mend(ND_QUIRK_BIT(PADDED_DATA), &event);
        check(&event, 147, 3, 7);
        event = event_of(replies[i], 196);
        nd_cm_event_mend(0, &event);
        check(&event, 196, 3, 7);
    }
    event = event_of(RDMA_CM_EVENT_CONNECT_REQUEST, 196);
    nd_cm_event_mend(ND_QUIRK_BIT(PADDED_DATA), &event);
    check(&event, 196, 3, 7);
}

static void test_swapped_depths_of_a_reply_are_turned(void **state)
{
    struct rdma_cm_event event = event_of(RDMA_CM_EVENT_ESTABLISHED, 1);

    (void)state;
    nd_cm_event_mend(ND_QUIRK_BIT(REPLY_SWAPPED), &event);
    check(&event, 1, 7, 3);
    event = event_of(RDMA_CM_EVENT_CONNECT_REQUEST, 1);
    nd_cm_event_mend(ND_QUIRK_BIT(REPLY_SWAPPED), &event);
    check(&event, 1, 3, 7);
    event = event_of(RDMA_CM_EVENT_ESTABLISHED, 1);
    nd_cm_event_mend(0, &event);
    check(&event, 1, 3, 7);
}

/* The names of rdma_get_cm_event(3), whose numbers are those of librdmacm's enum from 0 on. */
static void test_events_have_the_names_of_librdmacm(void **state)
{
    static const char *const names[] = { "ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED",
        "ROUTE_ERROR", "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE",
        "REJECTED", "ESTABLISHED", "DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN",
        "MULTICAST_ERROR", "ADDR_CHANGE", "TIMEWAIT_EXIT" };

    (void)state;
    for (int i = 0; i < 16; i++)
        assert_string_equal(nd_cm_event_name((enum rdma_cm_event_type)i), names[i]);
    assert_string_equal(nd_cm_event_name((enum rdma_cm_event_type)16), "of a newer librdmacm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_padded_reply_ends_where_a_reject_does),
        cmocka_unit_test(test_swapped_depths_of_a_reply_are_turned),
        cmocka_unit_test(test_events_have_the_names_of_librdmacm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
