/* SPDX-License-Identifier: MIT */
/* state.c - when a connection's end is reported, and when its socket is closed. */
#include "softrdma/connection/state.h"

#include <stddef.h>

/* The first row whose facts a word all has, and none of those that it must not have, decides. */
static const struct {
    unsigned all, none;
    enum srd_conn_deed deed;
} rows[] = {
    /* Both directions have ended. */
    { SRD_CONN_DOWN | SRD_CONN_RX_ENDED | SRD_CONN_SHUT, 0, SRD_CONN_FINISH },
    { SRD_CONN_DOWN | SRD_CONN_RX_ENDED | SRD_CONN_TX_FAILED, 0, SRD_CONN_FINISH },
    /* The peer has ended it, or has answered this end's FIN; this end still sends what is left, then FIN. */
    { SRD_CONN_DOWN | SRD_CONN_RX_ENDED, SRD_CONN_REPORTED, SRD_CONN_REPORT },
    { SRD_CONN_DOWN, SRD_CONN_LOCAL_END | SRD_CONN_REPORTED, SRD_CONN_REPORT },
    /* Linger phase: the rest is sent or cannot be, FIN has followed, and the peer's has come. */
    { SRD_CONN_LINGER | SRD_CONN_RX_ENDED | SRD_CONN_SHUT, 0, SRD_CONN_FINISH },
};

enum srd_conn_deed srd_life_owes(unsigned life)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if ((life & rows[i].all) == rows[i].all && !(life & rows[i].none))
            return rows[i].deed;
    return SRD_CONN_GO_ON;
}
