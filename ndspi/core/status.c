/* SPDX-License-Identifier: MIT */
#include "ndspi/core/status.h"

#include <errno.h>
#include <stdlib.h>

const struct nd_dialect nd_dialect_v2 = {
    .index = ND_V2,
    .name = "v2",
    .own_disconnect = ND_STATUS_CONNECTION_DISCONNECTED,
    .connect_timeout = ND_IO_TIMEOUT,
    .accept_refused = ND_CONNECTION_REFUSED,
    .reject_of_dead = ND_CONNECTION_ABORTED,
    .notify_of_ended = ND_STATUS_CONNECTION_DISCONNECTED,
    .port_taken = ND_SHARING_VIOLATION,
    .no_port_free = ND_TOO_MANY_ADDRESSES,
    .port_busy = ND_TOO_MANY_ADDRESSES,
    .unresolved = ND_STATUS_BAD_NETWORK_NAME,
    .no_answer = ND_TIMEOUT,
};

const struct nd_dialect nd_dialect_v1 = {
    .index = ND_V1,
    .name = "v1",
    .own_disconnect = ND_CANCELED,
    .connect_timeout = ND_TIMEOUT,
    .accept_refused = ND_CONNECTION_ABORTED,
    .reject_of_dead = ND_CONNECTION_INVALID,
    .notify_of_ended = ND_CONNECTION_INVALID,
    .port_taken = ND_ADDRESS_ALREADY_EXISTS,
    .no_port_free = ND_INSUFFICIENT_RESOURCES,
    .port_busy = ND_ADDRESS_ALREADY_EXISTS,
    .unresolved = ND_STATUS_BAD_NETWORK_NAME,
    .no_answer = ND_TIMEOUT,
    .handles = true,
    .one_sge_limit = true,
};

const struct nd_dialect nd_dialect_kernel = {
    .index = ND_KERNEL,
    .name = "ndk",
    .own_disconnect = ND_CANCELED,
    .connect_timeout = ND_IO_TIMEOUT,
    .accept_refused = ND_CONNECTION_ABORTED,
    .reject_of_dead = ND_CONNECTION_ABORTED,
    .notify_of_ended = ND_CONNECTION_INVALID,
    .port_taken = ND_SHARING_VIOLATION,
    .no_port_free = ND_TOO_MANY_ADDRESSES,
    .port_busy = ND_ADDRESS_ALREADY_EXISTS,
    .unresolved = ND_HOST_UNREACHABLE,
    .no_answer = ND_IO_TIMEOUT,
    .arms = true,
    .closing_drains = true,
    .refuses_flushed = true,
    .defers = true,
    .tells_failure = true,
    .exact_port = true,
    .dynamic_ports = true,
    .keeps_data = true,
    .peer_leaves_qp = true,
};

/*
 * verbs status, then what it means for a Receive, for an Invalidate, and for any other request in v2 and in v1.
 *
 * - A message longer than its Receive: documents say ND_BUFFER_OVERFLOW at the receiver. Its sender gets a data error.
 * - A violation at the peer: documents say ND_REMOTE_ERROR; programs written for v2 expect ND_ACCESS_VIOLATION.
 * - ND_TIMEOUT is a success code, hence ND_IO_TIMEOUT in results of both versions.
 * - An Invalidate of a window that is not bound is a malformed request, whatever the device calls it: it touches no
 *   memory.
 */
/* clang-format off */
#define WC_STATUS_ROWS(row)                                                                                            \
    row(SUCCESS,            ND_SUCCESS,           ND_SUCCESS,                ND_SUCCESS,           ND_SUCCESS)         \
    row(LOC_LEN_ERR,        ND_BUFFER_OVERFLOW,   ND_DATA_OVERRUN,           ND_DATA_OVERRUN,      ND_DATA_OVERRUN)    \
    row(LOC_QP_OP_ERR,      ND_INTERNAL_ERROR,    ND_INVALID_DEVICE_REQUEST, ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(LOC_EEC_OP_ERR,     ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(LOC_PROT_ERR,       ND_ACCESS_VIOLATION,  ND_INVALID_DEVICE_REQUEST, ND_ACCESS_VIOLATION,  ND_ACCESS_VIOLATION)\
    row(WR_FLUSH_ERR,       ND_CANCELED,          ND_CANCELED,               ND_CANCELED,          ND_CANCELED)        \
    row(MW_BIND_ERR,        ND_ACCESS_VIOLATION,  ND_INVALID_DEVICE_REQUEST, ND_ACCESS_VIOLATION,  ND_ACCESS_VIOLATION)\
    row(BAD_RESP_ERR,       ND_STATUS_DATA_ERROR, ND_STATUS_DATA_ERROR,      ND_STATUS_DATA_ERROR, ND_REMOTE_ERROR)    \
    row(LOC_ACCESS_ERR,     ND_ACCESS_VIOLATION,  ND_INVALID_DEVICE_REQUEST, ND_ACCESS_VIOLATION,  ND_ACCESS_VIOLATION)\
    row(REM_INV_REQ_ERR,    ND_STATUS_DATA_ERROR, ND_STATUS_DATA_ERROR,      ND_STATUS_DATA_ERROR, ND_REMOTE_ERROR)    \
    row(REM_ACCESS_ERR,     ND_ACCESS_VIOLATION,  ND_ACCESS_VIOLATION,       ND_ACCESS_VIOLATION,  ND_REMOTE_ERROR)    \
    row(REM_OP_ERR,         ND_STATUS_DATA_ERROR, ND_STATUS_DATA_ERROR,      ND_STATUS_DATA_ERROR, ND_REMOTE_ERROR)    \
    row(RETRY_EXC_ERR,      ND_IO_TIMEOUT,        ND_IO_TIMEOUT,             ND_IO_TIMEOUT,        ND_IO_TIMEOUT)      \
    row(RNR_RETRY_EXC_ERR,  ND_IO_TIMEOUT,        ND_IO_TIMEOUT,             ND_IO_TIMEOUT,        ND_IO_TIMEOUT)      \
    row(LOC_RDD_VIOL_ERR,   ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(REM_INV_RD_REQ_ERR, ND_STATUS_DATA_ERROR, ND_STATUS_DATA_ERROR,      ND_STATUS_DATA_ERROR, ND_REMOTE_ERROR)    \
    row(REM_ABORT_ERR,      ND_REMOTE_ERROR,      ND_REMOTE_ERROR,           ND_REMOTE_ERROR,      ND_REMOTE_ERROR)    \
    row(INV_EECN_ERR,       ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(INV_EEC_STATE_ERR,  ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(FATAL_ERR,          ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)  \
    row(RESP_TIMEOUT_ERR,   ND_IO_TIMEOUT,        ND_IO_TIMEOUT,             ND_IO_TIMEOUT,        ND_IO_TIMEOUT)      \
    row(GENERAL_ERR,        ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR,         ND_INTERNAL_ERROR,    ND_INTERNAL_ERROR)
/* clang-format on */

struct wc_row {
    HRESULT receive, invalidate, other[ND_KERNEL];
};

/* Returns the kernel flavour's status: NDKPI may name another one than version 2. */
static HRESULT kernel_status(
    enum ibv_wc_status status, ND2_REQUEST_TYPE type, const struct wc_row *row)
{
    switch (status) {
    case IBV_WC_LOC_LEN_ERR:
        return type == Nd2RequestTypeReceive ? ND_BUFFER_OVERFLOW : ND_INVALID_BUFFER_SIZE;
    case IBV_WC_REM_INV_REQ_ERR: return ND_INVALID_DEVICE_REQUEST;
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR: return ND_REMOTE_ERROR;
    case IBV_WC_REM_ACCESS_ERR:
        return type == Nd2RequestTypeRead ? ND_REMOTE_ERROR : ND_ACCESS_VIOLATION;
    case IBV_WC_BAD_RESP_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_REM_ABORT_ERR: return ND_INTERNAL_ERROR;
    default: return row->other[ND_V2];
    }
}

HRESULT nd_status_from_wc(
    enum ibv_wc_status status, ND2_REQUEST_TYPE type, const struct nd_dialect *dialect)
{
    static const struct wc_row rows[] = {
#define ROW(name, on_receive, on_invalidate, v2, v1)                                               \
    [IBV_WC_##name] = { on_receive, on_invalidate, { [ND_V2] = v2, [ND_V1] = v1 } },
        WC_STATUS_ROWS(ROW)
#undef ROW
    };
    const struct wc_row *row = &rows[IBV_WC_GENERAL_ERR];

    if ((size_t)status < sizeof(rows) / sizeof(rows[0]))
        row = &rows[status];
    if (dialect->index == ND_KERNEL)
        return kernel_status(status, type, row);
    if (type == Nd2RequestTypeReceive)
        return row->receive;
    switch (type) {
    case Nd2RequestTypeInvalidate: return row->invalidate;
    default: return row->other[dialect->index];
    }
}

HRESULT nd_status_from_errno(int error)
{
    static const struct {
        int error;
        HRESULT status;
    } rows[] = {
        { ENOMEM, ND_INSUFFICIENT_RESOURCES },
        { EAGAIN, ND_INSUFFICIENT_RESOURCES },
        { ENOSPC, ND_INSUFFICIENT_RESOURCES },
        { EMFILE, ND_INSUFFICIENT_RESOURCES },
        { ENFILE, ND_INSUFFICIENT_RESOURCES },
        { ENOBUFS, ND_INSUFFICIENT_RESOURCES },
        { EINVAL, ND_INVALID_PARAMETER },
        { EFAULT, ND_ACCESS_VIOLATION },
        { EACCES, ND_ACCESS_VIOLATION },
        { EPERM, ND_ACCESS_VIOLATION },
        { EBUSY, ND_DEVICE_BUSY },
        { ENODEV, ND_DEVICE_REMOVED },
        { ENXIO, ND_DEVICE_REMOVED },
        { EIO, ND_DEVICE_REMOVED },
        { ENOSYS, ND_NOT_SUPPORTED },
        { EOPNOTSUPP, ND_NOT_SUPPORTED },
        { EPROTONOSUPPORT, ND_NOT_SUPPORTED },
        { ETIMEDOUT, ND_IO_TIMEOUT },
        { ECANCELED, ND_CANCELED },
        { ENOTCONN, ND_CONNECTION_INVALID },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].error == abs(error))
            return rows[i].status;
    return ND_UNSUCCESSFUL;
}

/* clang-format off */
#define ND_NAMES(row)                                                                            \
    row(ND_SUCCESS) row(ND_TIMEOUT) row(ND_PENDING) row(ND_BUFFER_OVERFLOW) row(ND_DEVICE_BUSY)  \
    row(ND_NO_MORE_ENTRIES) row(ND_UNSUCCESSFUL) row(ND_ACCESS_VIOLATION) row(ND_INVALID_HANDLE) \
    row(ND_INVALID_PARAMETER) row(ND_INVALID_DEVICE_REQUEST) row(ND_NO_MEMORY)                   \
    row(ND_INVALID_PARAMETER_MIX) row(ND_DATA_OVERRUN) row(ND_SHARING_VIOLATION)                 \
    row(ND_INSUFFICIENT_RESOURCES) row(ND_DEVICE_NOT_READY) row(ND_IO_TIMEOUT)                   \
    row(ND_NOT_SUPPORTED) row(ND_INTERNAL_ERROR) row(ND_INVALID_PARAMETER_1)                     \
    row(ND_INVALID_PARAMETER_2) row(ND_INVALID_PARAMETER_3) row(ND_INVALID_PARAMETER_4)          \
    row(ND_INVALID_PARAMETER_5) row(ND_INVALID_PARAMETER_6) row(ND_INVALID_PARAMETER_7)          \
    row(ND_INVALID_PARAMETER_8) row(ND_INVALID_PARAMETER_9) row(ND_INVALID_PARAMETER_10)         \
    row(ND_CANCELED) row(ND_REMOTE_ERROR) row(ND_INVALID_ADDRESS) row(ND_INVALID_DEVICE_STATE)   \
    row(ND_INVALID_BUFFER_SIZE) row(ND_TOO_MANY_ADDRESSES) row(ND_ADDRESS_ALREADY_EXISTS)        \
    row(ND_CONNECTION_REFUSED) row(ND_CONNECTION_INVALID) row(ND_CONNECTION_ACTIVE)              \
    row(ND_NETWORK_UNREACHABLE) row(ND_HOST_UNREACHABLE) row(ND_CONNECTION_ABORTED)              \
    row(ND_DEVICE_REMOVED) row(E_NOINTERFACE) row(E_POINTER)

/* Names of ntstatus.h: ours have ND_ before them. */
#define NT_NAMES(row)                                                                            \
    row(STATUS_ACCESS_DENIED) row(STATUS_DATA_ERROR) row(STATUS_BAD_NETWORK_NAME)                \
    row(STATUS_IMPLEMENTATION_LIMIT) row(STATUS_CONNECTION_DISCONNECTED)                         \
    row(STATUS_ADDRESS_ALREADY_ASSOCIATED) row(STATUS_ADDRESS_NOT_ASSOCIATED)
/* clang-format on */

const char *nd_status_name(HRESULT status)
{
    static const struct {
        HRESULT status;
        const char *name;
    } rows[] = {
#define ROW(code) { code, #code },
        ND_NAMES(ROW)
#undef ROW
#define ROW(code) { ND_##code, #code },
            NT_NAMES(ROW)
#undef ROW
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].status == status)
            return rows[i].name;
    return NULL;
}
