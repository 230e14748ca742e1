/* SPDX-License-Identifier: MIT */
/* Forwarder: GUIDs. */
#include <wincompat/guid.h>
