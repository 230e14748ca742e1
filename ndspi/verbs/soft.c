/* SPDX-License-Identifier: MIT */
/* The verbs table of the embedded device. */
#include "ndspi/verbs/verbs.h"

#include "softrdma/softrdma.h"

_Static_assert((int)ND_WC_SOLICITED == (int)SRD_WC_SOLICITED, "the mark of a solicited Receive");

static int post_fast_reg(struct ibv_qp *qp, const struct nd_fast_reg *reg)
{
    const struct srd_fast_reg its = { .wr_id = reg->wr_id,
        .mr = reg->mr,
        .pages = reg->pages,
        .n_pages = reg->n_pages,
        .offset = reg->offset,
        .length = reg->length,
        .base = reg->base,
        .access = reg->access,
        .send_flags = reg->send_flags };

    return srd_post_fast_reg(qp, &its);
}

static void query_counters(struct ibv_qp *qp, struct nd_wire_counts *counts, struct nd_rnr *rnr)
{
    struct srd_counters its;

    srd_query_counters(qp, &its, sizeof(its));
    *counts = (struct nd_wire_counts){ .rx_octets = its.rx_octets,
        .tx_octets = its.tx_octets,
        .rx_frames = its.rx_fpdus,
        .tx_frames = its.tx_fpdus,
        .rx_acks = its.rx_acks,
        .tx_acks = its.tx_acks,
        .rnr_waits = its.rnr_waits,
        .rx_terminates = its.rx_terminates,
        .tx_terminates = its.tx_terminates,
        .rx_terminate = its.rx_terminate,
        .tx_terminate = its.tx_terminate,
        .retransmits = its.tcp_retransmits };
    if (rnr)
        *rnr = (struct nd_rnr){ .waits = its.rnr_waits,
            .now = its.rnr_now,
            .ended = its.rnr_ended,
            .messages = its.rx_messages };
}

const struct nd_verbs nd_verbs_soft = {
    .name = "softrdma",
    .get_device_list = srd_get_device_list,
    .free_device_list = srd_free_device_list,
    .get_device_name = srd_get_device_name,
    .get_device_guid = srd_get_device_guid,
    .open_device = srd_open_device,
    .close_device = srd_close_device,
    .query_device = srd_query_device,
    .query_port = srd_query_port,
    .query_gid = srd_query_gid,
    .query_pkey = srd_query_pkey,
    .get_async_event = srd_get_async_event,
    .ack_async_event = srd_ack_async_event,
    .alloc_pd = srd_alloc_pd,
    .dealloc_pd = srd_dealloc_pd,
    .reg_mr = srd_reg_mr,
    .dereg_mr = srd_dereg_mr,
    .create_comp_channel = srd_create_comp_channel,
    .destroy_comp_channel = srd_destroy_comp_channel,
    .create_cq = srd_create_cq,
    .resize_cq = srd_resize_cq,
    .destroy_cq = srd_destroy_cq,
    .get_cq_event = srd_get_cq_event,
    .ack_cq_events = srd_ack_cq_events,
    .create_srq = srd_create_srq,
    .modify_srq = srd_modify_srq,
    .query_srq = srd_query_srq,
    .destroy_srq = srd_destroy_srq,
    .create_qp = srd_create_qp,
    .modify_qp = srd_modify_qp,
    .query_qp = srd_query_qp,
    .destroy_qp = srd_destroy_qp,
    .create_event_channel = srd_create_event_channel,
    .destroy_event_channel = srd_destroy_event_channel,
    .create_id = srd_create_id,
    .destroy_id = srd_destroy_id,
    .bind_addr = srd_bind_addr,
    .resolve_addr = srd_resolve_addr,
    .resolve_route = srd_resolve_route,
    .connect = srd_connect,
    .listen = srd_listen,
    .accept = srd_accept,
    .reject = srd_reject,
    .establish = srd_establish,
    .notify = srd_notify,
    .disconnect = srd_disconnect,
    .get_cm_event = srd_get_cm_event,
    .ack_cm_event = srd_ack_cm_event,
    .init_qp_attr = srd_init_qp_attr,
    .migrate_id = srd_migrate_id,
    .set_option = srd_set_option,
    .get_src_port = srd_get_src_port,
    .get_dst_port = srd_get_dst_port,
    .progress_leave = srd_progress_leave,
    .progress_attach = srd_progress_attach,
    .mark_solicited = srd_mark_solicited,
    .query_path = srd_query_path,
    .keep_posted = srd_keep_posted,
    .query_counters = query_counters,
    .query_half_open_dropped = srd_query_half_open_dropped,
    .alloc_fast_mr = srd_alloc_fast_mr,
    .post_fast_reg = post_fast_reg,
};
