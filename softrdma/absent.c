/* SPDX-License-Identifier: MIT */
/* absent.c - see absent.h. */
#include "softrdma/absent.h"

#include "util/log.h"

#include <stdatomic.h>

void srd_absent(enum srd_absent what)
{
    static const char *const lines[SRD_ABSENTS] = {
        [SRD_ABSENT_DATAGRAMS] = "datagrams (UD) are not provided: iWARP has reliable connections "
                                 "(RC, RDMA_PS_TCP) only",
        [SRD_ABSENT_QP_TYPE] =
            "the program asks for queue pairs of a type that is not provided: iWARP "
            "has reliable connections (RC) only",
        [SRD_ABSENT_XRC] = "XRC is not provided: use a shared receive queue of RC queue pairs",
        [SRD_ABSENT_ATOMICS] =
            "atomic operations are refused: this peer is not softrdma, and iWARP "
            "has none",
        [SRD_ABSENT_IMMEDIATE] =
            "immediate data is refused: this peer is not softrdma, and iWARP has none",
        [SRD_ABSENT_EXCHANGE] = "the program connects a queue pair by number and address: make it "
                                "by srd_create_exchange_qp, or use the connection manager "
                                "(rdma_connect, rdma_accept)",
    };
    static atomic_bool logged[SRD_ABSENTS];

    if (atomic_exchange(&logged[what], true))
        return;
    /* Libraries for several transports (libfabric, UCX) look for datagrams, and go on without. */
    if (what == SRD_ABSENT_DATAGRAMS)
        log_write(LOG_INFO, LOG_SOFT, "%s", lines[what]);
    else
        log_write(LOG_WARN, LOG_SOFT, "%s", lines[what]);
}
