/* SPDX-License-Identifier: MIT */
/* test_status.c - the status tables, against values typed from the interface pages. */
#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

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
    { IBV_WC_LOC_LEN_ERR, SPEC_ND_BUFFER_OVERFLOW, SPEC_ND_DATA_OVERRUN, SPEC_ND_DATA_OVERRUN,
        SPEC_ND_DATA_OVERRUN },
    { IBV_WC_LOC_QP_OP_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INVALID_DEVICE_REQUEST,
        SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_LOC_EEC_OP_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_LOC_PROT_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_INVALID_DEVICE_REQUEST,
        SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_WR_FLUSH_ERR, SPEC_ND_CANCELED, SPEC_ND_CANCELED, SPEC_ND_CANCELED, SPEC_ND_CANCELED },
    { IBV_WC_MW_BIND_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_INVALID_DEVICE_REQUEST,
        SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_BAD_RESP_ERR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR,
        SPEC_ND_REMOTE_ERROR },
    { IBV_WC_LOC_ACCESS_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_INVALID_DEVICE_REQUEST,
        SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION },
    { IBV_WC_REM_INV_REQ_ERR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR,
        SPEC_STATUS_DATA_ERROR, SPEC_ND_REMOTE_ERROR },
    { IBV_WC_REM_ACCESS_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION,
        SPEC_ND_ACCESS_VIOLATION, SPEC_ND_REMOTE_ERROR },
    { IBV_WC_REM_OP_ERR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR,
        SPEC_ND_REMOTE_ERROR },
    { IBV_WC_RETRY_EXC_ERR, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT,
        SPEC_ND_IO_TIMEOUT },
    { IBV_WC_RNR_RETRY_EXC_ERR, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT,
        SPEC_ND_IO_TIMEOUT },
    { IBV_WC_LOC_RDD_VIOL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_REM_INV_RD_REQ_ERR, SPEC_STATUS_DATA_ERROR, SPEC_STATUS_DATA_ERROR,
        SPEC_STATUS_DATA_ERROR, SPEC_ND_REMOTE_ERROR },
    { IBV_WC_REM_ABORT_ERR, SPEC_ND_REMOTE_ERROR, SPEC_ND_REMOTE_ERROR, SPEC_ND_REMOTE_ERROR,
        SPEC_ND_REMOTE_ERROR },
    { IBV_WC_INV_EECN_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_INV_EEC_STATE_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_FATAL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR },
    { IBV_WC_RESP_TIMEOUT_ERR, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT,
        SPEC_ND_IO_TIMEOUT },
    { IBV_WC_GENERAL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
        SPEC_ND_INTERNAL_ERROR },
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
        { IBV_WC_LOC_LEN_ERR, SPEC_ND_BUFFER_OVERFLOW, SPEC_ND_INVALID_BUFFER_SIZE,
            SPEC_ND_INVALID_BUFFER_SIZE },
        { IBV_WC_LOC_QP_OP_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_LOC_EEC_OP_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_LOC_PROT_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION,
            SPEC_ND_ACCESS_VIOLATION },
        { IBV_WC_WR_FLUSH_ERR, SPEC_ND_CANCELED, SPEC_ND_CANCELED, SPEC_ND_CANCELED },
        { IBV_WC_MW_BIND_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION,
            SPEC_ND_ACCESS_VIOLATION },
        { IBV_WC_BAD_RESP_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_LOC_ACCESS_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_ACCESS_VIOLATION,
            SPEC_ND_ACCESS_VIOLATION },
        { IBV_WC_REM_INV_REQ_ERR, SPEC_ND_INVALID_DEVICE_REQUEST, SPEC_ND_INVALID_DEVICE_REQUEST,
            SPEC_ND_INVALID_DEVICE_REQUEST },
        { IBV_WC_REM_ACCESS_ERR, SPEC_ND_ACCESS_VIOLATION, SPEC_ND_REMOTE_ERROR,
            SPEC_ND_ACCESS_VIOLATION },
        { IBV_WC_REM_OP_ERR, SPEC_ND_REMOTE_ERROR, SPEC_ND_REMOTE_ERROR, SPEC_ND_REMOTE_ERROR },
        { IBV_WC_RETRY_EXC_ERR, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT },
        { IBV_WC_RNR_RETRY_EXC_ERR, SPEC_ND_REMOTE_ERROR, SPEC_ND_REMOTE_ERROR,
            SPEC_ND_REMOTE_ERROR },
        { IBV_WC_LOC_RDD_VIOL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_REM_INV_RD_REQ_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_REM_ABORT_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_INV_EECN_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_INV_EEC_STATE_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_FATAL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
        { IBV_WC_RESP_TIMEOUT_ERR, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT, SPEC_ND_IO_TIMEOUT },
        { IBV_WC_GENERAL_ERR, SPEC_ND_INTERNAL_ERROR, SPEC_ND_INTERNAL_ERROR,
            SPEC_ND_INTERNAL_ERROR },
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
    assert_int_equal((uint32_t)nd_status_from_wc(22, SEND, kernel), SPEC_ND_INTERNAL_ERROR);
}

static void test_wc_a_status_nobody_knows_is_an_internal_error(void **state)
{
    (void)state;
    assert_int_equal((uint32_t)nd_status_from_wc(22, SEND, &nd_dialect_v2), SPEC_ND_INTERNAL_ERROR);
    assert_int_equal(
        (uint32_t)nd_status_from_wc((enum ibv_wc_status)0x7fffffff, SEND, &nd_dialect_v2),
        SPEC_ND_INTERNAL_ERROR);
    assert_int_equal((uint32_t)nd_status_from_wc((enum ibv_wc_status) - 1, RECEIVE, &nd_dialect_v2),
        SPEC_ND_INTERNAL_ERROR);
}

static void test_errno_either_sign(void **state)
{
    static const struct {
        int error;
        uint32_t status;
    } rows[] = {
        { ENOMEM, SPEC_ND_INSUFFICIENT_RESOURCES },
        { EMFILE, SPEC_ND_INSUFFICIENT_RESOURCES },
        { EAGAIN, SPEC_ND_INSUFFICIENT_RESOURCES },
        { EINVAL, SPEC_ND_INVALID_PARAMETER },
        { EFAULT, SPEC_ND_ACCESS_VIOLATION },
        { EACCES, SPEC_ND_ACCESS_VIOLATION },
        { EPERM, SPEC_ND_ACCESS_VIOLATION },
        { EBUSY, SPEC_ND_DEVICE_BUSY },
        { ENODEV, SPEC_ND_DEVICE_REMOVED },
        { EIO, SPEC_ND_DEVICE_REMOVED },
        { ENOSYS, SPEC_ND_NOT_SUPPORTED },
        { EOPNOTSUPP, SPEC_ND_NOT_SUPPORTED },
        { ETIMEDOUT, SPEC_ND_IO_TIMEOUT },
        { ECANCELED, SPEC_ND_CANCELED },
        { ENOTCONN, SPEC_ND_CONNECTION_INVALID },
        { EXDEV, SPEC_ND_UNSUCCESSFUL },
        { 0, SPEC_ND_UNSUCCESSFUL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal((uint32_t)nd_status_from_errno(rows[i].error), rows[i].status);
        assert_int_equal((uint32_t)nd_status_from_errno(-rows[i].error), rows[i].status);
    }
}

/* Each has the name of the public header that has it: ndstatus.h, ntstatus.h, winerror.h. */
static void test_name_every_code_of_the_interface(void **state)
{
#define ROW(name, value) { (HRESULT)(value), #name },
    static const struct {
        HRESULT code;
        const char *name;
    } codes[] = { SPEC_ND_CODES(ROW) };
#undef ROW

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        /* two have another name in version 1 */
        if (strcmp(codes[i].name, "ND_INVALIDATION_ERROR") &&
            strcmp(codes[i].name, "ND_LOCAL_LENGTH"))
            assert_string_equal(nd_status_name(codes[i].code), codes[i].name);
    assert_string_equal(nd_status_name((HRESULT)SPEC_STATUS_DATA_ERROR), "STATUS_DATA_ERROR");
    assert_string_equal(
        nd_status_name((HRESULT)SPEC_STATUS_BAD_NETWORK_NAME), "STATUS_BAD_NETWORK_NAME");
    assert_string_equal(nd_status_name((HRESULT)SPEC_STATUS_CONNECTION_DISCONNECTED),
        "STATUS_CONNECTION_DISCONNECTED");
    assert_string_equal(nd_status_name((HRESULT)SPEC_STATUS_ADDRESS_ALREADY_ASSOCIATED),
        "STATUS_ADDRESS_ALREADY_ASSOCIATED");
    assert_string_equal(nd_status_name((HRESULT)SPEC_STATUS_ADDRESS_NOT_ASSOCIATED),
        "STATUS_ADDRESS_NOT_ASSOCIATED");
    assert_string_equal(nd_status_name((HRESULT)SPEC_STATUS_ACCESS_DENIED), "STATUS_ACCESS_DENIED");
    assert_string_equal(nd_status_name((HRESULT)SPEC_E_NOINTERFACE), "E_NOINTERFACE");
    assert_string_equal(nd_status_name((HRESULT)SPEC_E_POINTER), "E_POINTER");
    assert_null(nd_status_name((HRESULT)SPEC_STATUS_NOT_IMPLEMENTED));
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
