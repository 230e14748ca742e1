/* SPDX-License-Identifier: MIT */
/* Forwarder: the multimedia clock. */
#include <wincompat/multimedia.h>
