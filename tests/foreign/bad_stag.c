/* SPDX-License-Identifier: MIT */
/*
 * bad_stag.c - for rdma-core alone: an RDMA Write to memory that is not registered. The owner's side answers with a
 * Terminate: at both ends the receive is flushed and the connection is over, and nothing was written.
 *
 *     foreign_bad_stag -s|-c ADDRESS PORT        prints "terminated"; status 1 says on standard error what else
 *     happened
 */
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTETS = 4096, DEADLINE_MS = 60000, NOBODYS_STAG = 0x7F5A5A00, FILL = 0xA5 };

static uint8_t memory[OCTETS];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static struct rdma_cm_id *connect_end(int server, const char *address, const char *port)
{
    struct rdma_addrinfo hints = { .ai_flags = server ? RAI_PASSIVE : 0,
        .ai_port_space = RDMA_PS_TCP };
    struct ibv_qp_init_attr attr = {
        .cap = { 4, 4, 1, 1, 0 }, .sq_sig_all = 1, .qp_type = IBV_QPT_RC
    };
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_addrinfo *info;
    struct rdma_cm_id *id, *listener;
    struct ibv_mr *mr;

    if (rdma_getaddrinfo((char *)address, (char *)port, &hints, &info))
        die("getaddrinfo");
    if (rdma_create_ep(server ? &listener : &id, info, NULL, &attr))
        die("create_ep");
    rdma_freeaddrinfo(info);
    if (server && (rdma_listen(listener, 1) || rdma_get_request(listener, &id)))
        die("listen");
    mr = rdma_reg_msgs(id, memory, OCTETS);
    if (!mr || rdma_post_recv(id, NULL, memory, OCTETS, mr))
        die("post_recv");
    if (server ? rdma_accept(id, &param) : rdma_connect(id, &param))
        die("connect");
    return id;
}

/* The end of what is on a queue: the first completion that is no success. */
static void expect_flush(struct ibv_cq *cq, struct ibv_comp_channel *channel)
{
    struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
    struct ibv_wc wc;
    void *context;

    for (;;) {
        while (ibv_poll_cq(cq, 1, &wc) == 1) {
            if (wc.status == IBV_WC_SUCCESS)
                continue;
            if (wc.status == IBV_WC_WR_FLUSH_ERR)
                return;
            fprintf(stderr, "a receive ended with: %s\n", ibv_wc_status_str(wc.status));
            exit(1);
        }
        if (ibv_req_notify_cq(cq, 0))
            die("req_notify_cq");
        if (ibv_poll_cq(cq, 1, &wc) == 1) {
            if (wc.status == IBV_WC_WR_FLUSH_ERR)
                return;
            continue;
        }
        if (poll(&readable, 1, DEADLINE_MS) != 1 || ibv_get_cq_event(channel, &cq, &context))
            die("no completion");
        ibv_ack_cq_events(cq, 1);
    }
}

int main(int argc, char **argv)
{
    struct pollfd readable = { .events = POLLIN };
    struct rdma_cm_event *event;
    struct ibv_send_wr write = { .opcode = IBV_WR_RDMA_WRITE,
        .num_sge = 1,
        .send_flags = IBV_SEND_SIGNALED },
                       *bad;
    struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64 };
    struct rdma_cm_id *id;
    int server;

    if (argc != 4 || (strcmp(argv[1], "-s") != 0 && strcmp(argv[1], "-c") != 0)) {
        fprintf(stderr, "usage: foreign_bad_stag -s|-c ADDRESS PORT\n");
        return 2;
    }
    server = argv[1][1] == 's';
    memset(memory, FILL, OCTETS);
    id = connect_end(server, argv[2], argv[3]);
    if (!server) {
        struct ibv_mr *mr = rdma_reg_msgs(id, memory, OCTETS);

        if (!mr)
            die("reg_msgs");
        sge.lkey = mr->lkey;
        write.sg_list = &sge;
        write.wr.rdma.rkey = NOBODYS_STAG;
        write.wr.rdma.remote_addr = (uintptr_t)memory;
        if (ibv_post_send(id->qp, &write, &bad))
            die("post_send");
    }
    expect_flush(id->recv_cq, id->recv_cq_channel);
    readable.fd = id->channel->fd;
    if (poll(&readable, 1, DEADLINE_MS) != 1 || rdma_get_cm_event(id->channel, &event))
        die("no event");
    if (event->event != RDMA_CM_EVENT_DISCONNECTED) {
        fprintf(stderr, "%s\n", rdma_event_str(event->event));
        return 1;
    }
    rdma_ack_cm_event(event);
    for (int i = 0; i < OCTETS; i++) {
        if (memory[i] != FILL) {
            fprintf(stderr, "octet %d was written\n", i);
            return 1;
        }
    }
    puts("terminated");
    return 0;
}
