/* SPDX-License-Identifier: MIT */
/* ip_text.h - what the texts of IPv4 and IPv6 addresses have in common. */
#ifndef CRT_IP_TEXT_H
#define CRT_IP_TEXT_H

#include <wincompat/ip_text.h>

#include <stdbool.h>
#include <stdint.h>

enum { WIN_IP_TEXT = 80 }; /* longer than any address with scope and port */

enum { WIN_IP_TEXT_MOST = 128 }; /* of a wide text: longer than any address */

/* Replaces characters outside ASCII, and cuts text that is too long: the result is no address either. */
static inline void win_ip_narrow(char narrow[WIN_IP_TEXT_MOST + 1], const WCHAR *text)
{
    size_t i = 0;

    for (; text[i] && i < WIN_IP_TEXT_MOST; i++)
        narrow[i] = text[i] > 0 && text[i] < 0x80 ? (char)text[i] : '?';
    narrow[i] = 0;
}

/* The value of a hexadecimal digit, or 16. */
int win_ip_digit(char c);

/*
 * A number in front of text, which it moves behind it; false: there is none, or it has more than 32 bits. decimal: that
 * alone, else octal behind 0 and hexadecimal behind 0x, too.
 */
bool win_ip_number(const char **text, bool decimal, uint64_t *number);

/* Hands out a text as the functions with Ex do: STATUS_SUCCESS, or STATUS_INVALID_PARAMETER where it has no room. */
LONG win_ip_text_out(const char *whole, size_t whole_length, PSTR text, PULONG length);

#endif
