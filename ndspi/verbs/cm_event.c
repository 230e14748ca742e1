/* SPDX-License-Identifier: MIT */
#include "ndspi/verbs/cm_event.h"

/* The maximum of a reject, so our peers send no more in a reply; devices pad replies beyond it with zeros. */
enum { REPLY_DATA_OCTETS = 148 };

static bool is_reply(const struct rdma_cm_event *event)
{
    return event->event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
           event->event == RDMA_CM_EVENT_ESTABLISHED || event->event == RDMA_CM_EVENT_REJECTED;
}

void nd_cm_event_mend(nd_quirk_set quirks, struct rdma_cm_event *event)
{
    struct rdma_conn_param *param = &event->param.conn;

    if (quirks & ND_QUIRK_BIT(PADDED_DATA) && is_reply(event) &&
        param->private_data_len > REPLY_DATA_OCTETS)
        param->private_data_len = REPLY_DATA_OCTETS;
    if (quirks & ND_QUIRK_BIT(REPLY_SWAPPED) && event->event == RDMA_CM_EVENT_ESTABLISHED) {
        uint8_t inbound = param->initiator_depth;

        param->initiator_depth = param->responder_resources;
        param->responder_resources = inbound;
    }
}

const char *nd_cm_event_name(enum rdma_cm_event_type event)
{
#define NAME(name) [RDMA_CM_EVENT_##name] = #name
    static const char *const names[] = { NAME(ADDR_RESOLVED), NAME(ADDR_ERROR),
        NAME(ROUTE_RESOLVED), NAME(ROUTE_ERROR), NAME(CONNECT_REQUEST), NAME(CONNECT_RESPONSE),
        NAME(CONNECT_ERROR), NAME(UNREACHABLE), NAME(REJECTED), NAME(ESTABLISHED),
        NAME(DISCONNECTED), NAME(DEVICE_REMOVAL), NAME(MULTICAST_JOIN), NAME(MULTICAST_ERROR),
        NAME(ADDR_CHANGE), NAME(TIMEWAIT_EXIT) };
#undef NAME

    return (size_t)event < sizeof(names) / sizeof(names[0]) ? names[event] : "of a newer librdmacm";
}
