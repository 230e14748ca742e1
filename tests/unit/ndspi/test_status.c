/* SPDX-License-Identifier: MIT */
/* test_status.c - the status tables, against values typed from the interface pages. */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/status.h"

#include <errno.h>
#include <string.h>

static const ND2_REQUEST_TYPE RECEIVE = (ND2_REQUEST_TYPE)0, SEND = (ND2_REQUEST_TYPE)1,
                              INVALIDATE = (ND2_REQUEST_TYPE)3, READ = (ND2_REQUEST_TYPE)4;

struct wc_row {
    enum ibv_wc_status status;
    uint32_t receive, invalidate, v2, v1;
};

static const struct wc_row wc_rows[] = {
    { IBV_WC_SUCCESS, 0, 0, 0, 0 },
    { IBV_WC_LOC_LEN_ERR, 0x80000005, 0xC000003C, 0xC000003C, 0xC000003C },
    { IBV_WC_LOC_QP_OP_ERR, 0xC00000E5, 0xC0000010, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_LOC_EEC_OP_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_LOC_PROT_ERR, 0xC0000005, 0xC0000010, 0xC0000005, 0xC0000005 },
    { IBV_WC_WR_FLUSH_ERR, 0xC0000120, 0xC0000120, 0xC0000120, 0xC0000120 },
    { IBV_WC_MW_BIND_ERR, 0xC0000005, 0xC0000010, 0xC0000005, 0xC0000005 },
    { IBV_WC_BAD_RESP_ERR, 0xC000003E, 0xC000003E, 0xC000003E, 0xC000013D },
    { IBV_WC_LOC_ACCESS_ERR, 0xC0000005, 0xC0000010, 0xC0000005, 0xC0000005 },
    { IBV_WC_REM_INV_REQ_ERR, 0xC000003E, 0xC000003E, 0xC000003E, 0xC000013D },
    { IBV_WC_REM_ACCESS_ERR, 0xC0000005, 0xC0000005, 0xC0000005, 0xC000013D },
    { IBV_WC_REM_OP_ERR, 0xC000003E, 0xC000003E, 0xC000003E, 0xC000013D },
    { IBV_WC_RETRY_EXC_ERR, 0xC00000B5, 0xC00000B5, 0xC00000B5, 0xC00000B5 },
    { IBV_WC_RNR_RETRY_EXC_ERR, 0xC00000B5, 0xC00000B5, 0xC00000B5, 0xC00000B5 },
    { IBV_WC_LOC_RDD_VIOL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_REM_INV_RD_REQ_ERR, 0xC000003E, 0xC000003E, 0xC000003E, 0xC000013D },
    { IBV_WC_REM_ABORT_ERR, 0xC000013D, 0xC000013D, 0xC000013D, 0xC000013D },
    { IBV_WC_INV_EECN_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_INV_EEC_STATE_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_FATAL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    { IBV_WC_RESP_TIMEOUT_ERR, 0xC00000B5, 0xC00000B5, 0xC00000B5, 0xC00000B5 },
    { IBV_WC_GENERAL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
};

static void test_wc_every_status_and_kind_has_its_code(void **state)
{
    static const int others[] = { 1, 2, 4, 5 }; /* Send, Bind, Read, Write */

    (void)state;
    for (size_t i = 0; i < sizeof(wc_rows) / sizeof(wc_rows[0]); i++) {
        const struct wc_row *row = &wc_rows[i];

        assert_int_equal(row->status, i); /* none left out */
        assert_int_equal(
            (uint32_t)nd_status_from_wc(row->status, RECEIVE, &nd_dialect_v2), row->receive);
        assert_int_equal(
            (uint32_t)nd_status_from_wc(row->status, RECEIVE, &nd_dialect_v1), row->receive);
        assert_int_equal(
            (uint32_t)nd_status_from_wc(row->status, INVALIDATE, &nd_dialect_v2), row->invalidate);
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
            assert_int_equal((uint32_t)nd_status_from_wc(
                                 row->status, (ND2_REQUEST_TYPE)others[k], &nd_dialect_v2),
                row->v2);
            assert_int_equal((uint32_t)nd_status_from_wc(
                                 row->status, (ND2_REQUEST_TYPE)others[k], &nd_dialect_v1),
                row->v1);
        }
    }
}

/* What the kernel flavour has: for a Receive, for a Read, and for all others, Invalidate included. */
static void test_wc_of_the_kernel_flavour(void **state)
{
    static const struct {
        enum ibv_wc_status status;
        uint32_t receive, read, other;
    } rows[] = {
        { IBV_WC_SUCCESS, 0, 0, 0 },
        { IBV_WC_LOC_LEN_ERR, 0x80000005, 0xC0000206, 0xC0000206 },
        { IBV_WC_LOC_QP_OP_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_LOC_EEC_OP_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_LOC_PROT_ERR, 0xC0000005, 0xC0000005, 0xC0000005 },
        { IBV_WC_WR_FLUSH_ERR, 0xC0000120, 0xC0000120, 0xC0000120 },
        { IBV_WC_MW_BIND_ERR, 0xC0000005, 0xC0000005, 0xC0000005 },
        { IBV_WC_BAD_RESP_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_LOC_ACCESS_ERR, 0xC0000005, 0xC0000005, 0xC0000005 },
        { IBV_WC_REM_INV_REQ_ERR, 0xC0000010, 0xC0000010, 0xC0000010 },
        { IBV_WC_REM_ACCESS_ERR, 0xC0000005, 0xC000013D, 0xC0000005 },
        { IBV_WC_REM_OP_ERR, 0xC000013D, 0xC000013D, 0xC000013D },
        { IBV_WC_RETRY_EXC_ERR, 0xC00000B5, 0xC00000B5, 0xC00000B5 },
        { IBV_WC_RNR_RETRY_EXC_ERR, 0xC000013D, 0xC000013D, 0xC000013D },
        { IBV_WC_LOC_RDD_VIOL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_REM_INV_RD_REQ_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_REM_ABORT_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_INV_EECN_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_INV_EEC_STATE_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_FATAL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
        { IBV_WC_RESP_TIMEOUT_ERR, 0xC00000B5, 0xC00000B5, 0xC00000B5 },
        { IBV_WC_GENERAL_ERR, 0xC00000E5, 0xC00000E5, 0xC00000E5 },
    };
    static const int others[] = { 1, 2, 3, 5 }; /* Send, Bind, Invalidate, Write */
    const struct nd_dialect *kernel = &nd_dialect_kernel;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(rows[i].status, i);
        assert_int_equal(
            (uint32_t)nd_status_from_wc(rows[i].status, RECEIVE, kernel), rows[i].receive);
        assert_int_equal((uint32_t)nd_status_from_wc(rows[i].status, READ, kernel), rows[i].read);
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
            assert_int_equal(
                (uint32_t)nd_status_from_wc(rows[i].status, (ND2_REQUEST_TYPE)others[k], kernel),
                rows[i].other);
    }
    assert_int_equal((uint32_t)nd_status_from_wc(22, SEND, kernel), 0xC00000E5);
}

static void test_wc_a_status_nobody_knows_is_an_internal_error(void **state)
{
    (void)state;
    assert_int_equal((uint32_t)nd_status_from_wc(22, SEND, &nd_dialect_v2), 0xC00000E5);
    assert_int_equal(
        (uint32_t)nd_status_from_wc((enum ibv_wc_status)0x7fffffff, SEND, &nd_dialect_v2),
        0xC00000E5);
    assert_int_equal(
        (uint32_t)nd_status_from_wc((enum ibv_wc_status) - 1, RECEIVE, &nd_dialect_v2), 0xC00000E5);
}

static void test_errno_either_sign(void **state)
{
    static const struct {
        int error;
        uint32_t status;
    } rows[] = {
        { ENOMEM, 0xC000009A },
        { EMFILE, 0xC000009A },
        { EAGAIN, 0xC000009A },
        { EINVAL, 0xC000000D },
        { EFAULT, 0xC0000005 },
        { EACCES, 0xC0000005 },
        { EPERM, 0xC0000005 },
        { EBUSY, 0x80000011 },
        { ENODEV, 0xC00002B6 },
        { EIO, 0xC00002B6 },
        { ENOSYS, 0xC00000BB },
        { EOPNOTSUPP, 0xC00000BB },
        { ETIMEDOUT, 0xC00000B5 },
        { ECANCELED, 0xC0000120 },
        { ENOTCONN, 0xC000023A },
        { EXDEV, 0xC0000001 },
        { 0, 0xC0000001 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal((uint32_t)nd_status_from_errno(rows[i].error), rows[i].status);
        assert_int_equal((uint32_t)nd_status_from_errno(-rows[i].error), rows[i].status);
    }
}

static void test_name_every_code_of_the_interface(void **state)
{
    static const uint32_t codes[] = { 0, 0x102, 0x103, 0x80000005, 0x80000011, 0x8000001A,
        0xC0000001, 0xC0000005, 0xC0000008, 0xC000000D, 0xC0000010, 0xC0000017, 0xC0000030,
        0xC000003C, 0xC0000043, 0xC000009A, 0xC00000A3, 0xC00000B5, 0xC00000BB, 0xC00000E5,
        0xC00000EF, 0xC00000F0, 0xC00000F1, 0xC00000F2, 0xC00000F3, 0xC00000F4, 0xC00000F5,
        0xC00000F6, 0xC00000F7, 0xC00000F8, 0xC0000120, 0xC000013D, 0xC0000141, 0xC0000184,
        0xC0000206, 0xC0000209, 0xC000020A, 0xC0000236, 0xC000023A, 0xC000023B, 0xC000023C,
        0xC000023D, 0xC0000241, 0xC00002B6, 0xC000003E, 0xC00000CC, 0xC000020C, 0xC0000238,
        0xC0000239, 0xC0000022 };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        const char *name = nd_status_name((HRESULT)codes[i]);

        assert_non_null(name);
        assert_int_equal(strncmp(name, "ND_", 3), 0);
    }
    assert_string_equal(nd_status_name((HRESULT)0xC0000120), "ND_CANCELED");
    assert_null(nd_status_name((HRESULT)0xC0000002));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wc_every_status_and_kind_has_its_code),
        cmocka_unit_test(test_wc_of_the_kernel_flavour),
        cmocka_unit_test(test_wc_a_status_nobody_knows_is_an_internal_error),
        cmocka_unit_test(test_errno_either_sign),
        cmocka_unit_test(test_name_every_code_of_the_interface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
