/* SPDX-License-Identifier: MIT */
/*
 * test_conio.c - keys and text of a terminal. The program starts itself in a session of its own, on a pseudo-terminal
 * or on none; it tells over the terminal how far it is.
 * Source: _getch, _getche, _kbhit, _ungetch, _putch, _cputs, _cprintf (Microsoft's pages of the C runtime).
 */
#include "tests/support/win32_test.h"

#include <conio.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The number of the line that does not hold is the exit code. */
#define check(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 256);                                                                 \
    } while (0)

static void on_a_terminal(void)
{
    struct pollfd input = { .fd = 0, .events = POLLIN };
    struct termios mode;

    check(_kbhit() == 0);
    check(_cputs("1>") == 0);
    check(_getch() == 'x');
    check(_getch() == '\r'); /* Enter */
    check(tcgetattr(0, &mode) == 0 && (mode.c_lflag & ICANON) && (mode.c_lflag & ECHO));
    check(_putch('2') == '2' && putch('>') == '>');
    check(_getche() == 'y' && getche() == 'z');
    check(_ungetch('u') == 'u' && _ungetch('v') == EOF && ungetch(EOF) == EOF);
    check(_kbhit() == 1 && getch() == 'u');
    check(_cprintf("%s%I64d>", "<", (long long)3) == 3);
    check(_cprintf(NULL) == -1 && _cputs(NULL) == -1);
    while (!kbhit()) /* no line end comes */
        poll(&input, 1, 1);
    check(_getch() == 'k');
    _exit(0);
}

static void on_no_terminal(void)
{
    check(_kbhit() == 0);
    check(_getch() == EOF && _getche() == EOF);
    check(_putch('a') == EOF && _cputs("a") == EOF && _cprintf("a") == -1);
    _exit(0);
}

/* A child in a session of its own. terminal: its name, or NULL */
static pid_t start(const char *terminal)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child)
        return child;
    setsid();
    if (!terminal)
        on_no_terminal();
    close(0);
    check(open(terminal, O_RDWR) == 0 && ioctl(0, TIOCSCTTY, 0) == 0);
    on_a_terminal();
    return 0;
}

static void assert_ends_well(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Reads what the terminal shows until it ends like that. */
static void await(int master, const char *text)
{
    char shown[256];
    size_t have = 0;

    do {
        ssize_t got = read(master, shown + have, sizeof(shown) - 1 - have);

        assert_true(got > 0);
        have += (size_t)got;
        shown[have] = 0;
    } while (have < strlen(text) || strcmp(shown + have - strlen(text), text));
}

static void keys_come_one_by_one(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    pid_t child;

    (void)state;
    assert_true(master >= 0);
    assert_int_equal(grantpt(master) | unlockpt(master), 0);
    child = start(ptsname(master));
    await(master, "1>");
    assert_int_equal(write(master, "x\r", 2), 2);
    await(master, "2>");
    assert_int_equal(write(master, "yz", 2), 2);
    await(master, "<3>");
    assert_int_equal(write(master, "k", 1), 1);
    assert_ends_well(child);
    close(master);
}

static void without_a_terminal_there_is_no_key(void **state)
{
    (void)state;
    assert_ends_well(start(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_one_by_one),
        cmocka_unit_test(without_a_terminal_there_is_no_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
