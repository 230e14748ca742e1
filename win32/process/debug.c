/* SPDX-License-Identifier: MIT */
/* debug.c - OutputDebugString, IsDebuggerPresent, DebugBreak. */
#include <windows.h>

#include <errno.h>
#include <stdio.h>

/* OutputDebugStringA, OutputDebugStringW - writes text for a debugger to standard error. */
void WINAPI OutputDebugStringA(LPCSTR text)
{
    int error = errno;

    if (text)
        fputs(text, stderr);
    errno = error;
}

/* IsDebuggerPresent - whether a process traces this one. */
BOOL WINAPI IsDebuggerPresent(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    long tracer = 0;

    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "TracerPid: %ld", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer != 0;
}

/* DebugBreak - stops a debugger that traces the process, which may continue; without one SIGTRAP ends the process. */
void WINAPI DebugBreak(void)
{
    __debugbreak();
}
