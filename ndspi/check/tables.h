/* SPDX-License-Identifier: MIT */
/* tables.h - the interfaces whose objects get wrappers. */
#ifndef NDSPI_CHECK_TABLES_H
#define NDSPI_CHECK_TABLES_H

#include "ndspi/check/object.h"

extern const struct nd_check_kind nd_check_provider2, nd_check_adapter2, nd_check_cq2,
    nd_check_srq2, nd_check_qp2, nd_check_mr2, nd_check_mw2, nd_check_connector2,
    nd_check_listener2;
extern const struct nd_check_kind nd_check_provider1, nd_check_adapter1, nd_check_cq1,
    nd_check_endpoint1, nd_check_mw1, nd_check_connector1, nd_check_listen1;

#endif
