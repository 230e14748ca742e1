/* SPDX-License-Identifier: MIT */
#include <ndspi.h>
