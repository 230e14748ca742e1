/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/core_fake_v1.h"

#include "tests/unit/util/cmocka_test.h"

#include <string.h>

static struct fake_v1 f;

static int set_up(void **state, const struct nd_qp_params *wanted)
{
    struct nd_qp_params params = *wanted;

    params.receive_cq = params.initiator_cq = f.cq = fake_make_cq(f.adapter, 64);
    f.qp = fake_make_qp_of(f.adapter, &params);
    f.device = fake_qp_of(f.qp);
    assert_int_equal(nd_region_register(f.adapter, f.memory, sizeof(f.memory), &f.mr), ND_SUCCESS);
    nd_qp_set_sendable(f.qp);
    memset(f.results, 0x55, sizeof(f.results));
    *state = &f;
    return 0;
}

static void open_adapter(void)
{
    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open_v1();
}

int fake_v1_set_up(void **state, uint32_t depth)
{
    open_adapter();
    return set_up(state, &(struct nd_qp_params){ .receive_depth = depth,
                             .initiator_depth = depth,
                             .receive_sge = 2,
                             .initiator_sge = 2,
                             .inline_data = 64 });
}

int fake_v1_tear_down(void **state)
{
    struct fake_v1 *f = *state;

    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    return 0;
}

size_t fake_v1_fetch(struct fake_v1 *f, ND_RESULT **results, size_t room)
{
    return nd_cq_results_v1(&f->cq->poll, results, room);
}

void fake_v1_sends_end(struct fake_v1 *f, unsigned count, enum ibv_wc_status status)
{
    fake_complete(f->cq, &f->device->send, &f->device->ibv, count, status);
}
