/* SPDX-License-Identifier: MIT */
/* Forwarder: versions of Windows by name, and the one compiled for. */
#include <wincompat/version.h>
