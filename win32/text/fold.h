/* SPDX-License-Identifier: MIT */
/* fold.h - letters without their case. */
#ifndef WIN32_TEXT_FOLD_H
#define WIN32_TEXT_FOLD_H

#include <stdint.h>

/* The small letter of a character, in any locale; other characters unchanged. Any thread. */
uint32_t win_fold(uint32_t c);

#endif
