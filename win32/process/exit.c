/* SPDX-License-Identifier: MIT */
/* exit.c - the end of the process. */
#include <windows.h>

#include "win32/process/streams.h"

#include "reactor/reactor.h"

#include <unistd.h>

/*
 * ExitProcess - ends the process at once: no atexit handler, no C++ destructor and no other thread runs on. Streams are
 * written out as by exit, without waiting for a thread that holds one; acknowledgements that are owed to peers are
 * sent.
 * exit_code  Linux keeps the low 8 of its 32 bits
 */
void WINAPI ExitProcess(UINT exit_code)
{
    win_streams_write_out();
    reactor_exits();
    _exit((int)exit_code);
}
