/* SPDX-License-Identifier: MIT */
/* computer.h - what GetComputerNameA and GetComputerNameW have in common. */
#ifndef WIN32_SYSTEM_COMPUTER_H
#define WIN32_SYSTEM_COMPUTER_H

#include <windows.h>

/* The result of GetComputerName from that of GetComputerNameEx: its error for too small a buffer is another one. */
BOOL win_computer_name_answer(BOOL done);

#endif
