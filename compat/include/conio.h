/* SPDX-License-Identifier: MIT */
/* conio.h - single keys from the terminal that the process belongs to, and text to it. */
#ifndef WINCOMPAT_CONIO_H
#define WINCOMPAT_CONIO_H

#include <wincompat/crt.h>

WINCOMPAT_BEGIN

int __cdecl _getch(void) __asm__("wincrt__getch");
int __cdecl _getche(void) __asm__("wincrt__getche");
int __cdecl _ungetch(int key) __asm__("wincrt__ungetch");
int __cdecl _kbhit(void) __asm__("wincrt__kbhit");
int __cdecl _putch(int character) __asm__("wincrt__putch");
int __cdecl _cputs(const char *text) __asm__("wincrt__cputs");
int __cdecl _cprintf(const char *format, ...) WINCRT("_cprintf");

/* The names without an underscore. */
int __cdecl getch(void) __asm__("wincrt__getch");
int __cdecl getche(void) __asm__("wincrt__getche");
int __cdecl ungetch(int key) __asm__("wincrt__ungetch");
int __cdecl kbhit(void) __asm__("wincrt__kbhit");
int __cdecl putch(int character) __asm__("wincrt__putch");

WINCOMPAT_END

#endif
