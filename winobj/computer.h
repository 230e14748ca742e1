/* SPDX-License-Identifier: MIT */
/* computer.h - what both spellings of GetComputerName have in common. */
#ifndef WINOBJ_COMPUTER_H
#define WINOBJ_COMPUTER_H

#include <windows.h>

/* GetComputerName's answer, from GetComputerNameEx's: it has an error of its own for too small a buffer. */
BOOL win_computer_name_answer(BOOL done);

#endif
