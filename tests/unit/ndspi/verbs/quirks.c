/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/verbs/quirks.h"

#include "ndspi/verbs/shim/shim.h"
#include "tests/unit/util/cmocka_test.h"

#include <string.h>

struct quirks_fixture f;

void begin(nd_quirk_set quirks, enum nd_windows windows)
{
    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.adapter->port.caps.quirks = quirks;
    f.adapter->port.caps.windows = windows;
    if (quirks & ND_SHIM_QUIRKS)
        fake_adapter_shim(f.adapter, quirks);
    f.cq = fake_make_cq(f.adapter, 64);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    f.mr = fake_make_mr(f.adapter);
    f.mw = fake_make_mw(f.adapter);
    assert_int_equal((uint32_t)nd_mr_register(f.mr, f.memory, sizeof(f.memory),
                         ND_MR_FLAG_ALLOW_LOCAL_WRITE, &f.overlapped),
        SPEC_ND_PENDING);
    nd_qp_set_sendable(f.qp);
}

void end(void)
{
    nd_qp_close(f.qp);
    nd_mw_close(f.mw);
    nd_mr_close(f.mr);
    nd_cq_close(f.cq);
    fake_adapter_close(f.adapter);
}

struct fake_queue *sends(void)
{
    return &fake_qp_of(f.qp)->send;
}

struct fake_queue *receives(void)
{
    return &fake_qp_of(f.qp)->receive;
}

uint32_t bind_it(uintptr_t context, uint32_t flags)
{
    return (uint32_t)nd_qp_bind(
        f.qp, (void *)context, f.mr, f.mw, f.memory + 16, 64, ND_OP_FLAG_ALLOW_WRITE | flags);
}

uint32_t invalidate_it(uintptr_t context, uint32_t flags)
{
    return (uint32_t)nd_qp_invalidate(f.qp, (void *)context, f.mw, flags);
}

uint32_t deregister_it(void)
{
    return (uint32_t)nd_mr_deregister(f.mr, &f.overlapped);
}

uint32_t receive_it(uintptr_t context)
{
    static ND2_SGE sge; /* a batch reads it later */

    sge = (ND2_SGE){ f.memory, 8, 0 };
    return (uint32_t)nd_queue_receive_v2(&f.qp->receive, (void *)context, &sge, 1);
}

uint32_t send_it(uintptr_t context, uint32_t flags)
{
    static ND2_SGE sge; /* a batch reads it later */

    sge = (ND2_SGE){ f.memory, 8, 0 };
    return (uint32_t)nd_queue_send_v2(&f.qp->initiator, (void *)context, &sge, 1, flags);
}

void expect(ND2_REQUEST_TYPE type, uintptr_t context, uint32_t status)
{
    ND2_RESULT result;

    assert_int_equal(nd_cq_results_v2(&f.cq->poll, &result, 1), 1);
    assert_int_equal((uintptr_t)result.RequestContext, context);
    assert_int_equal(result.RequestType, type);
    assert_int_equal((uint32_t)result.Status, status);
}

void expect_nothing(void)
{
    ND2_RESULT result;

    assert_int_equal(nd_cq_results_v2(&f.cq->poll, &result, 1), 0);
}

void device_ends(struct fake_queue *queue, unsigned count, enum ibv_wc_status status)
{
    fake_complete(f.cq, queue, f.qp->ibv, count, status);
}
