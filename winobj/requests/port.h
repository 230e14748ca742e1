/* SPDX-License-Identifier: MIT */
/*
 * port.h - completion ports, as files see them.
 *
 * A request reserves its packet when it starts, so that posting it at the completion cannot fail.
 */
#ifndef WINOBJ_PORT_H
#define WINOBJ_PORT_H

#include "winobj/exported.h"
#include "winobj/handles/handle.h"

#include "util/list.h"

#include <stdlib.h>

struct win_port;

struct win_packet {
    struct list_node link;
    ULONG_PTR key;
    OVERLAPPED *overlapped;
    DWORD bytes;
    LONG status; /* NTSTATUS */
    bool kept;   /* part of an object: win_packet_free leaves it, and it may be posted again */
};

static inline struct win_packet *win_packet_new(void)
{
    struct win_packet *packet = malloc(sizeof(*packet));

    if (packet) {
        list_node_init(&packet->link);
        packet->kept = false;
    }
    return packet;
}

static inline void win_packet_free(struct win_packet *packet)
{
    if (!packet->kept)
        free(packet);
}

/* Makes a port; its handle, or NULL with the last error. */
HANDLE win_port_create(void);

/* The port of a handle, for win_port_unpin; NULL: it is none. */
struct win_port *win_port_pin(HANDLE handle);

void win_port_unpin(struct win_port *port);

/*
 * The port of that name (win_object_name) if the descriptor is a writing end of its inlet, referenced; NULL: it is
 * none. Both may be anything.
 */
struct win_object *win_port_of_writer(HANDLE name, int writer);

/* Queues a packet, or hands it to the thread that began to wait last. Frees it if the port's handle is closed. */
void win_port_post(struct win_port *port, struct win_packet *packet);
/* Drops the packets that nobody has taken. */
void win_port_clear(struct win_port *port);

#endif
