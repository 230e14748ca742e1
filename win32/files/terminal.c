/* SPDX-License-Identifier: MIT */
/* terminal.c - consoles as files: CONIN$, CONOUT$ and standard handles of a terminal. */
#include "win32/files/plain.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The terminal itself edits lines, so these have no effect. */
#define INPUT_IGNORED (ENABLE_INSERT_MODE | ENABLE_QUICK_EDIT_MODE | ENABLE_EXTENDED_FLAGS)
#define INPUT_KNOWN                                                                                \
    (ENABLE_PROCESSED_INPUT | ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT |                              \
        ENABLE_VIRTUAL_TERMINAL_INPUT | INPUT_IGNORED)
#define OUTPUT_KNOWN                                                                               \
    (ENABLE_PROCESSED_OUTPUT | ENABLE_WRAP_AT_EOL_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING |    \
        DISABLE_NEWLINE_AUTO_RETURN)

/* The console of a handle, whose file is referenced; NULL with ERROR_INVALID_HANDLE. end: which, or either */
static struct win_file *console_pin(
    HANDLE handle, enum plain_console end, struct plain_file **plain)
{
    struct win_file *file = plain_pin(handle, plain);

    if (!file)
        return NULL;
    if ((*plain)->console && (!end || (*plain)->console == end))
        return file;
    win_file_unref(file);
    SetLastError(ERROR_INVALID_HANDLE);
    return NULL;
}

static BOOL answer(struct win_file *file, DWORD error)
{
    win_file_unref(file);
    if (error)
        SetLastError(error);
    return !error;
}

static DWORD input_mode(const struct termios *terminal)
{
    return (terminal->c_lflag & ISIG ? ENABLE_PROCESSED_INPUT : 0) |
           (terminal->c_lflag & ICANON ? ENABLE_LINE_INPUT : 0) |
           (terminal->c_lflag & ECHO ? ENABLE_ECHO_INPUT : 0) | ENABLE_VIRTUAL_TERMINAL_INPUT;
}

static DWORD output_mode(const struct termios *terminal)
{
    return (terminal->c_oflag & OPOST ? ENABLE_PROCESSED_OUTPUT : 0) |
           (terminal->c_oflag & ONLCR ? 0 : DISABLE_NEWLINE_AUTO_RETURN) |
           ENABLE_WRAP_AT_EOL_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING;
}

static void set(tcflag_t *flags, tcflag_t flag, bool on)
{
    *flags = on ? *flags | flag : *flags & ~flag;
}

/* False: no terminal has that. */
static bool set_input(struct termios *terminal, DWORD mode)
{
    if ((mode & ~(DWORD)INPUT_KNOWN) || ((mode & ENABLE_ECHO_INPUT) && !(mode & ENABLE_LINE_INPUT)))
        return false;
    set(&terminal->c_lflag, ISIG, mode & ENABLE_PROCESSED_INPUT);
    set(&terminal->c_lflag, ICANON, mode & ENABLE_LINE_INPUT);
    set(&terminal->c_lflag, ECHO, mode & ENABLE_ECHO_INPUT);
    if (!(mode & ENABLE_LINE_INPUT)) {
        terminal->c_cc[VMIN] = 1;
        terminal->c_cc[VTIME] = 0;
    }
    return true;
}

static bool set_output(struct termios *terminal, DWORD mode)
{
    if (mode & ~(DWORD)OUTPUT_KNOWN)
        return false;
    set(&terminal->c_oflag, OPOST, mode & ENABLE_PROCESSED_OUTPUT);
    set(&terminal->c_oflag, ONLCR, !(mode & DISABLE_NEWLINE_AUTO_RETURN));
    return true;
}

/*
 * GetConsoleMode - how the terminal of a console's handle works.
 * mode     out. Of input: ENABLE_PROCESSED_INPUT (keys make signals), ENABLE_LINE_INPUT, ENABLE_ECHO_INPUT, always
 *          ENABLE_VIRTUAL_TERMINAL_INPUT. Of output: ENABLE_PROCESSED_OUTPUT, DISABLE_NEWLINE_AUTO_RETURN, always
 *          ENABLE_WRAP_AT_EOL_OUTPUT and ENABLE_VIRTUAL_TERMINAL_PROCESSING
 * Returns  FALSE with ERROR_INVALID_HANDLE: no handle of a console, as a standard handle that is redirected. Any
 *          thread.
 * Source: GetConsoleMode function (consoleapi.h).
 */
BOOL WINAPI GetConsoleMode(HANDLE console, LPDWORD mode)
{
    struct plain_file *plain;
    struct win_file *file = console_pin(console, PLAIN_NO_CONSOLE, &plain);
    struct termios terminal;

    if (!file)
        return FALSE;
    if (tcgetattr(plain->fd, &terminal))
        return answer(file, ERROR_INVALID_HANDLE);
    *mode = plain->console == PLAIN_CONSOLE_INPUT ? input_mode(&terminal) : output_mode(&terminal);
    return answer(file, ERROR_SUCCESS);
}

/*
 * SetConsoleMode - changes it, for all processes of the terminal, once what they have written is out.
 * mode     of input: as above; the modes of line editing have no effect. Of output: as above; wrapping and escape
 *          sequences stay on
 * Returns  FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (events of the mouse or the window; echo without
 *          lines; another bit). Any thread.
 * Source: SetConsoleMode function (consoleapi.h).
 */
BOOL WINAPI SetConsoleMode(HANDLE console, DWORD mode)
{
    struct plain_file *plain;
    struct win_file *file = console_pin(console, PLAIN_NO_CONSOLE, &plain);
    struct termios terminal;

    if (!file)
        return FALSE;
    if (tcgetattr(plain->fd, &terminal))
        return answer(file, ERROR_INVALID_HANDLE);
    if (!(plain->console == PLAIN_CONSOLE_INPUT ? set_input(&terminal, mode)
                                                : set_output(&terminal, mode)))
        return answer(file, ERROR_INVALID_PARAMETER);
    while (tcsetattr(plain->fd, TCSADRAIN, &terminal))
        if (errno != EINTR)
            return answer(file, files_error(errno));
    return answer(file, ERROR_SUCCESS);
}

/*
 * GetConsoleScreenBufferInfo - the size of the terminal's window, which is the buffer, too. The place of the cursor is
 * not known: 0, 0; the colours are always 7.
 * Returns  FALSE with ERROR_INVALID_HANDLE (no output of a console), ERROR_NOT_SUPPORTED (the terminal has no size).
 *          Any thread.
 * Source: GetConsoleScreenBufferInfo function (consoleapi2.h).
 */
BOOL WINAPI GetConsoleScreenBufferInfo(HANDLE console, PCONSOLE_SCREEN_BUFFER_INFO information)
{
    struct plain_file *plain;
    struct win_file *file = console_pin(console, PLAIN_CONSOLE_OUTPUT, &plain);
    struct winsize size = { 0 };
    COORD whole;

    if (!file)
        return FALSE;
    if (ioctl(plain->fd, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
        return answer(file, ERROR_NOT_SUPPORTED);
    whole = (COORD){ (SHORT)size.ws_col, (SHORT)size.ws_row };
    *information = (CONSOLE_SCREEN_BUFFER_INFO){
        .dwSize = whole,
        .wAttributes = 7,
        .srWindow = { 0, 0, (SHORT)(whole.X - 1), (SHORT)(whole.Y - 1) },
        .dwMaximumWindowSize = whole,
    };
    return answer(file, ERROR_SUCCESS);
}

/*
 * ReadConsoleA, ReadConsoleW - reads from a console; waits as ReadFile does.
 * characters  room in text. ReadConsoleW never splits a character: it may wait for the rest of one
 * got         out: characters; a line ends with \n alone, and 0 are the end of the input
 * control     NULL
 * Returns     FALSE with ERROR_INVALID_HANDLE (no input of a console), ERROR_NOT_SUPPORTED (control), and the errors of
 *             ReadFile. Any thread.
 * Source: ReadConsole function (consoleapi.h).
 */
BOOL WINAPI ReadConsoleA(HANDLE console, LPVOID text, DWORD characters, LPDWORD got,
    PCONSOLE_READCONSOLE_CONTROL control)
{
    struct plain_file *plain;
    struct win_file *file = console_pin(console, PLAIN_CONSOLE_INPUT, &plain);

    if (!file)
        return FALSE;
    if (control)
        return answer(file, ERROR_NOT_SUPPORTED);
    win_file_unref(file);
    return ReadFile(console, text, characters, got, NULL);
}

/*
 * WriteConsoleA, WriteConsoleW - writes to a console.
 * put       out: characters; may be NULL
 * reserved  ignored
 * Returns   FALSE with ERROR_INVALID_HANDLE (no output of a console), and the errors of WriteFile. Any thread.
 * Source: WriteConsole function (consoleapi.h).
 */
BOOL WINAPI WriteConsoleA(
    HANDLE console, const VOID *text, DWORD characters, LPDWORD put, LPVOID reserved)
{
    struct plain_file *plain;
    struct win_file *file = console_pin(console, PLAIN_CONSOLE_OUTPUT, &plain);
    DWORD done;

    (void)reserved;
    if (!file)
        return FALSE;
    win_file_unref(file);
    return WriteFile(console, text, characters, put ? put : &done, NULL);
}
