/* SPDX-License-Identifier: MIT */
/* wmain_cxx.cpp - the same in C++, where the name is mangled. */
#include "tests/unit/compat/wmain.c"
