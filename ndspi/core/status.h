/* SPDX-License-Identifier: MIT */
/*
 * status.h - NetworkDirect status codes from those of verbs and of the system, as tables.
 */
#ifndef NDSPI_CORE_STATUS_H
#define NDSPI_CORE_STATUS_H

#include "ndspi/core/base.h"
#include "ndspi/core/dialect.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Codes outside ndstatus.h that clients see and test. */
#define ND_STATUS_ACCESS_DENIED    ((HRESULT)0xC0000022u) /* a port for privileged processes */
#define ND_STATUS_DATA_ERROR       ((HRESULT)0xC000003Eu) /* message did not fit at the peer */
#define ND_STATUS_BAD_NETWORK_NAME ((HRESULT)0xC00000CCu) /* destination cannot be resolved */
#define ND_STATUS_IMPLEMENTATION_LIMIT                                                             \
    ((HRESULT)0xC000042Bu) /* more pages than a region can have */
#define ND_STATUS_CONNECTION_DISCONNECTED    ((HRESULT)0xC000020Cu)
#define ND_STATUS_ADDRESS_ALREADY_ASSOCIATED ((HRESULT)0xC0000238u)
#define ND_STATUS_ADDRESS_NOT_ASSOCIATED     ((HRESULT)0xC0000239u)

/*
 * nd_status_from_wc - the status of a finished request.
 * status   in: ibv_wc.status; values verbs does not name are ND_INTERNAL_ERROR
 * type     in: what kind of request it was (from its record: a failed ibv_wc does not say)
 */
HRESULT nd_status_from_wc(
    enum ibv_wc_status status, ND2_REQUEST_TYPE type, const struct nd_dialect *dialect);

/*
 * nd_status_from_errno - the status of a failed control call.
 * error  in: an errno, either sign; 0 = the call failed without saying why
 */
HRESULT nd_status_from_errno(int error);

/* "ND_CANCELED" and the like, for the log; "0x........" is left to the caller: NULL for a code without a name. */
const char *nd_status_name(HRESULT status);

#endif
