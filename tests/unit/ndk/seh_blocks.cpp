// SPDX-License-Identifier: MIT
// seh_blocks.cpp - the blocks of seh_blocks.inc as C++.
#include "tests/unit/ndk/seh_blocks.h"

#include "tests/unit/ndk/seh_blocks.inc"

int seh_steps_cpp(void)
{
    return blocks_steps();
}

void seh_return_cpp(void)
{
    blocks_return();
}
