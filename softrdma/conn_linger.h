/* SPDX-License-Identifier: MIT */
/* conn_linger.h - between conn.c and conn_linger.c: the end of a connection that has no queue pair (any more). */
#ifndef SOFTRDMA_CONN_LINGER_H
#define SOFTRDMA_CONN_LINGER_H

#include "softrdma/conn.h"

/* Copies what the stream still has to send. Stream phase; RX and TX lock held. */
void srd_linger_collect(struct srd_conn *conn);
/* Linger phase has begun: sets the limit of time, goes as far as it can. */
void srd_linger_begin(struct srd_conn *conn);
/* Sends, shuts, discards; closes and tells when both directions have ended. */
void srd_linger_step(struct srd_conn *conn);

/* conn.c: closes and tells the owner, if it was not told before. No lock held. */
void srd_conn_finish(struct srd_conn *conn, int status);
/* conn.c: what the engine is to wait for. */
void srd_conn_interest(struct srd_conn *conn, bool in, bool out);

/* conn.c: FIN, once; the socket is not written any more. */
void srd_conn_shut(struct srd_conn *conn);

#endif
