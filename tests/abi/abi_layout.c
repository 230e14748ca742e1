/* SPDX-License-Identifier: MIT */
/* Layout, values, identifiers and vtables as C sees them. */
#include "abi_layout.h"
