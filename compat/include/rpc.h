/* SPDX-License-Identifier: MIT */
/* Forwarder: UUIDs are with the GUIDs of the base header; there are no remote procedure calls. */
#include <wincompat/base.h>
