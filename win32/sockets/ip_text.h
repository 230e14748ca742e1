/* SPDX-License-Identifier: MIT */
/* ip_text.h - what the texts of IPv4 and IPv6 addresses have in common. */
#ifndef WIN32_SOCKETS_IP_TEXT_H
#define WIN32_SOCKETS_IP_TEXT_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

enum { WIN_IP_TEXT = 80 }; /* longer than any address with scope and port */

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
