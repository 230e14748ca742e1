/* SPDX-License-Identifier: MIT */
/* absent.h - RDMA features that this device or the peer lacks: the first use of each writes one line to the log. */
#ifndef SOFTRDMA_ABSENT_H
#define SOFTRDMA_ABSENT_H

enum srd_absent {
    SRD_ABSENT_DATAGRAMS, /* UD queue pairs, the port spaces that have them */
    SRD_ABSENT_QP_TYPE,   /* other queue pairs that are not RC */
    SRD_ABSENT_XRC,
    SRD_ABSENT_ATOMICS, /* the peer is not softrdma */
    SRD_ABSENT_IMMEDIATE,
    SRD_ABSENT_EXCHANGE, /* a queue pair that the program moves to RTR itself */
    SRD_ABSENTS
};

/*
 * Writes the line for what, once per process: at level warn, for datagrams at info. The caller fails the program's
 * call; any lock may be held.
 */
void srd_absent(enum srd_absent what);

#endif
