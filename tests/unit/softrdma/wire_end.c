/* SPDX-License-Identifier: MIT */
#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/wire/wire.h"
#include "wire_end.h"

#include <string.h>

void open_end(struct pair *pair, struct end *end, bool initiator, bool rtr, bool crc)
{
    struct srd_stream_params params = { .initiator = initiator,
        .crc = crc,
        .ird = 4,
        .ord = 4,
        .fpdu_max_octets = 1460,
        .rtr_expected = rtr && !initiator,
        .rtr = rtr ? SRD_MPA_RTR_WRITE : SRD_MPA_RTR_NONE };

    memset(pair, 0, sizeof(*pair));
    pair->now_ms = 1000;
    end_open(end, 0);
    end_want(pair, end, srd_stream_start(srd_qp_from(end->qp), &params, NULL, 0, pair->now_ms));
    if (initiator)
        end_want(pair, end, srd_stream_release(srd_qp_from(end->qp)));
}

uint32_t with_crc(uint8_t *fpdu, size_t total)
{
    wire_put_crc(fpdu + total - 4, srd_crc32c(0, fpdu, total - 4));
    return (uint32_t)total;
}
