/* SPDX-License-Identifier: MIT */
#include "ndk/dispatch/level.h"

_Thread_local KIRQL ndk_level_;
