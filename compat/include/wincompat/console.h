/* SPDX-License-Identifier: MIT */
/* console.h - consoles, which are terminals. Each implementation documents codes, threads and ownership. */
#ifndef WINCOMPAT_CONSOLE_H
#define WINCOMPAT_CONSOLE_H

#include <wincompat/file.h>

WINCOMPAT_BEGIN

/* of input */
#define ENABLE_PROCESSED_INPUT             0x0001
#define ENABLE_LINE_INPUT                  0x0002
#define ENABLE_ECHO_INPUT                  0x0004
#define ENABLE_WINDOW_INPUT                0x0008
#define ENABLE_MOUSE_INPUT                 0x0010
#define ENABLE_INSERT_MODE                 0x0020
#define ENABLE_QUICK_EDIT_MODE             0x0040
#define ENABLE_EXTENDED_FLAGS              0x0080
#define ENABLE_VIRTUAL_TERMINAL_INPUT      0x0200
/* of output */
#define ENABLE_PROCESSED_OUTPUT            0x0001
#define ENABLE_WRAP_AT_EOL_OUTPUT          0x0002
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#define DISABLE_NEWLINE_AUTO_RETURN        0x0008

typedef struct _COORD {
    SHORT X;
    SHORT Y;
} COORD, *PCOORD;
typedef struct _SMALL_RECT {
    SHORT Left;
    SHORT Top;
    SHORT Right;
    SHORT Bottom;
} SMALL_RECT, *PSMALL_RECT;
typedef struct _CONSOLE_SCREEN_BUFFER_INFO {
    COORD dwSize;
    COORD dwCursorPosition;
    WORD wAttributes;
    SMALL_RECT srWindow;
    COORD dwMaximumWindowSize;
} CONSOLE_SCREEN_BUFFER_INFO, *PCONSOLE_SCREEN_BUFFER_INFO;
typedef struct _CONSOLE_READCONSOLE_CONTROL {
    ULONG nLength;
    ULONG nInitialChars;
    ULONG dwCtrlWakeupMask;
    ULONG dwControlKeyState;
} CONSOLE_READCONSOLE_CONTROL, *PCONSOLE_READCONSOLE_CONTROL;

WINOBJ_API BOOL WINAPI GetConsoleMode(HANDLE console, LPDWORD mode);
WINOBJ_API BOOL WINAPI SetConsoleMode(HANDLE console, DWORD mode);
WINOBJ_API BOOL WINAPI GetConsoleScreenBufferInfo(
    HANDLE console, PCONSOLE_SCREEN_BUFFER_INFO information);
WINOBJ_API BOOL WINAPI ReadConsoleA(HANDLE console, LPVOID text, DWORD characters, LPDWORD got,
    PCONSOLE_READCONSOLE_CONTROL control);
WINOBJ_API BOOL WINAPI ReadConsoleW(HANDLE console, LPVOID text, DWORD characters, LPDWORD got,
    PCONSOLE_READCONSOLE_CONTROL control) WINCOMPAT_WIDE("ReadConsoleW");
#define ReadConsole WINCOMPAT_AW(ReadConsole)
WINOBJ_API BOOL WINAPI WriteConsoleA(
    HANDLE console, const VOID *text, DWORD characters, LPDWORD put, LPVOID reserved);
WINOBJ_API BOOL WINAPI WriteConsoleW(HANDLE console, const VOID *text, DWORD characters,
    LPDWORD put, LPVOID reserved) WINCOMPAT_WIDE("WriteConsoleW");
#define WriteConsole WINCOMPAT_AW(WriteConsole)

WINCOMPAT_END

#endif
