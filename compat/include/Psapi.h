/* SPDX-License-Identifier: MIT */
/* Forwarder: the header in another case. */
#include <psapi.h>
