/* SPDX-License-Identifier: MIT */
/* seh_blocks.h - what test_seh.c runs of seh_blocks.cpp. */
#ifndef TESTS_UNIT_NDK_SEH_BLOCKS_H
#define TESTS_UNIT_NDK_SEH_BLOCKS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { BLOCKS_STEPS = 1352 };

int seh_steps_cpp(void);
void seh_return_cpp(void);

#ifdef __cplusplus
}
#endif

#endif
