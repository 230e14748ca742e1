/* SPDX-License-Identifier: MIT */
/*
 * port.h - completion ports, as files see them.
 *
 * A request reserves its packet when it starts, so that posting it at the completion cannot fail.
 */
#ifndef WINOBJ_PORT_H
#define WINOBJ_PORT_H

#include "winobj/handles/handle.h"

#include "util/list.h"

struct win_port;

struct win_packet {
    struct list_node link;
    ULONG_PTR key;
    OVERLAPPED *overlapped;
    DWORD bytes;
    LONG status; /* NTSTATUS */
};

struct win_packet *win_packet_new(void);
void win_packet_free(struct win_packet *packet);

void win_port_unpin(struct win_port *port);

/* Queues a packet, or hands it to the thread that began to wait last. Frees it if the port's handle is closed. */
void win_port_post(struct win_port *port, struct win_packet *packet);

#endif
