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
