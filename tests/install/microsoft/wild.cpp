// SPDX-License-Identifier: MIT
// Names of headers as they are written in the wild.
#include <WINDOWS.H>
#include <WinSOCK2.h>
#include <WS2TCPIP.h>
#include <StrSafe.h>
#include "NDSPI.h"

#include <vector>

int main()
{
    std::vector<ND2_SGE> list(2);
    char text[8];

    return StringCchCopyA(text, sizeof(text), "wild") == S_OK && list.size() == 2 ? 0 : 1;
}
