/* SPDX-License-Identifier: MIT */
/* layout_short.c - layout.h with a wchar_t of 16 bits. */
#include "tests/unit/compat/layout.h"

#include "tests/unit/compat/com.h"

C_ASSERT(sizeof(WCHAR) == 2);

int address_of_short_text(WCHAR *text, struct sockaddr_in *address, INT *length)
{
    return WSAStringToAddressW(text, AF_INET, NULL, (SOCKADDR *)address, length);
}
