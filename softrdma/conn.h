/* SPDX-License-Identifier: MIT */
/*
 * conn.h - one connection's socket: who reads it, who writes it, when.
 *
 * A conn exists from TCP connect or accept on; the connection manager runs MPA startup on it and then hands it to a
 * queue pair (srd_conn_attach). It pins the queue pair until it is closed. Readiness comes from loop.h.
 */
#ifndef SOFTRDMA_CONN_H
#define SOFTRDMA_CONN_H

#include "softrdma/stream.h"

struct srd_conn;

/*
 * srd_conn_transmit - send what the stream has. Never blocks, never recurses: when another thread is sending, that one
 * is told to look again; when the socket is full, readiness to write is waited for by whoever makes progress.
 */
void srd_conn_transmit(struct srd_conn *conn);

/* One inline look: receive what is there, place, complete, transmit what that made due. Returns whether anything moved. */
bool srd_conn_poll(struct srd_conn *conn);

/* Acts on the wants of a stream call made outside conn.c. No lock held. */
void srd_conn_want(struct srd_conn *conn, unsigned wants);

#endif
