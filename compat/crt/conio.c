/* SPDX-License-Identifier: MIT */
/* conio.c - reads single keys from the terminal and writes text to it, whatever the standard streams are. */
#include <conio.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <termios.h>
#include <unistd.h>

/* A key that _ungetch gave back; EOF: none. */
static atomic_int given_back = EOF;

/* Opens the terminal, for each call anew: the process may get another one. Returns -1: it has none. */
static int terminal(void)
{
    return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* Sets the terminal so that keys come at once and are not shown, and Enter is '\r'; Ctrl+C stays a signal. */
static bool take_keys(int fd, struct termios *before)
{
    struct termios keys;

    if (fd < 0 || tcgetattr(fd, before))
        return false;
    keys = *before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_iflag &= ~(tcflag_t)(ICRNL | INLCR);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    return !tcsetattr(fd, TCSANOW, &keys);
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t done = write(fd, text, length);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return EOF;
        text += done;
        length -= (size_t)done;
    }
    return 0;
}

static int read_key(bool echo)
{
    int key = atomic_exchange(&given_back, EOF), fd;
    unsigned char octet;
    struct termios before;

    if (key != EOF)
        return key;
    fd = terminal();
    if (take_keys(fd, &before)) {
        ssize_t got;

        while ((got = read(fd, &octet, 1)) < 0 && errno == EINTR)
            ;
        if (got == 1)
            key = octet == '\n' ? '\r' : octet; /* an Enter typed before the call has become '\n' */
        tcsetattr(fd, TCSANOW, &before);
        if (key != EOF && echo)
            write_all(fd, (const char *)&octet, 1);
    }
    if (fd >= 0)
        close(fd);
    return key;
}

/*
 * _getch, _getche - waits for a key; _getche also shows it. Enter is '\r'; Ctrl+C is a signal, no key; a key without a
 * character comes as the octets that the terminal sends, one a call. EOF: no terminal. Threads: any, but the program
 * has to order the calls.
 */
int _getch(void)
{
    return read_key(false);
}

int _getche(void)
{
    return read_key(true);
}

/* _ungetch - gives a key back, for the next _getch. Returns the key; EOF: key is EOF, or another one is given back. */
int _ungetch(int key)
{
    int none = EOF;

    return key != EOF && atomic_compare_exchange_strong(&given_back, &none, key) ? key : EOF;
}

/* _kbhit - whether _getch would find a key at once. Keys are shown while no call waits for them. */
int _kbhit(void)
{
    struct pollfd readable = { .fd = terminal(), .events = POLLIN };
    struct termios before;
    int found = 0;

    if (take_keys(readable.fd, &before)) {
        found = poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN);
        tcsetattr(readable.fd, TCSANOW, &before);
    }
    if (readable.fd >= 0)
        close(readable.fd);
    return found || given_back != EOF;
}

static int put(const char *text, size_t length)
{
    int fd = terminal(), result = fd < 0 ? EOF : write_all(fd, text, length);

    if (fd >= 0)
        close(fd);
    return result;
}

/* _putch - writes a character; returns it, or EOF: no terminal. */
int _putch(int character)
{
    const char octet = (char)character;

    return put(&octet, 1) ? EOF : character;
}

/* _cputs - writes text. Returns 0; EOF: no terminal; -1 with errno EINVAL: no text. */
int _cputs(const char *text)
{
    if (text)
        return put(text, strlen(text));
    errno = EINVAL;
    return -1;
}
