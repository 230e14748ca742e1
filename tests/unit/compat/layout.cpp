/* SPDX-License-Identifier: MIT */
/* layout.cpp - layout.h as C++. */
#include "tests/unit/compat/layout.h"
