/* SPDX-License-Identifier: MIT */
/*
 * crtdbg.h - the debug heap and the reports of Microsoft's debug runtime, as a release build has them: none of them
 * does anything. With _DEBUG _ASSERT and its kind stop the program, too.
 */
#ifndef WINCOMPAT_CRTDBG_H
#define WINCOMPAT_CRTDBG_H

#include <wincompat/string.h>

#include <assert.h>

#define _CRT_WARN   0
#define _CRT_ERROR  1
#define _CRT_ASSERT 2
#define _CRT_ERRCNT 3

#define _CRTDBG_MODE_FILE   0x1
#define _CRTDBG_MODE_DEBUG  0x2
#define _CRTDBG_MODE_WNDW   0x4
#define _CRTDBG_REPORT_MODE (-1)

typedef void *_HFILE;
#define _CRTDBG_INVALID_HFILE ((_HFILE)-1)
#define _CRTDBG_HFILE_ERROR   ((_HFILE)-2)
#define _CRTDBG_FILE_STDOUT   ((_HFILE)-4)
#define _CRTDBG_FILE_STDERR   ((_HFILE)-5)
#define _CRTDBG_REPORT_FILE   ((_HFILE)-6)

#define _CRTDBG_ALLOC_MEM_DF      0x01
#define _CRTDBG_DELAY_FREE_MEM_DF 0x02
#define _CRTDBG_CHECK_ALWAYS_DF   0x04
#define _CRTDBG_CHECK_CRT_DF      0x10
#define _CRTDBG_LEAK_CHECK_DF     0x20
#define _CRTDBG_REPORT_FLAG       (-1)

#define _FREE_BLOCK   0
#define _NORMAL_BLOCK 1
#define _CRT_BLOCK    2
#define _IGNORE_BLOCK 3
#define _CLIENT_BLOCK 4
#define _MAX_BLOCKS   5

typedef struct _CrtMemState {
    struct _CrtMemBlockHeader *pBlockHeader;
    size_t lCounts[_MAX_BLOCKS];
    size_t lSizes[_MAX_BLOCKS];
    size_t lHighWaterCount;
    size_t lTotalCount;
} _CrtMemState;

/* Beside the C library's assert, which NDEBUG takes away. */
#ifdef _DEBUG
#define _ASSERT_EXPR(condition, message)                                                           \
    ((condition) ? (void)0 : wincompat_assert(__FILE__, __LINE__, #condition))
#define _ASSERT(condition)  _ASSERT_EXPR(condition, NULL)
#define _ASSERTE(condition) _ASSERT_EXPR(condition, NULL)
static inline __attribute__((unused, noreturn)) void wincompat_assert(
    const char *file, int line, const char *condition)
{
    (fprintf)(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    abort();
}
#else
#define _ASSERT_EXPR(condition, message) ((void)0)
#define _ASSERT(condition)               ((void)0)
#define _ASSERTE(condition)              ((void)0)
#endif

#define _RPT0(type, message)        ((void)0)
#define _RPT1(type, message, a)     ((void)0)
#define _RPT2(type, message, a, b)  ((void)0)
#define _RPTF0(type, message)       ((void)0)
#define _RPTF1(type, message, a)    ((void)0)
#define _RPTF2(type, message, a, b) ((void)0)

#define _malloc_dbg(size, type, file, line)          malloc(size)
#define _calloc_dbg(count, size, type, file, line)   calloc(count, size)
#define _realloc_dbg(memory, size, type, file, line) realloc(memory, size)
#define _free_dbg(memory, type)                      free(memory)
#define _strdup_dbg(text, type, file, line)          _strdup(text)

#define _CrtSetReportMode(type, mode)           ((int)0)
#define _CrtSetReportFile(type, file)           ((_HFILE)0)
#define _CrtDbgBreak()                          ((void)0)
#define _CrtSetBreakAlloc(number)               ((long)0)
#define _CrtCheckMemory()                       ((int)1)
#define _CrtSetDbgFlag(flags)                   ((int)0)
#define _CrtIsValidPointer(memory, size, write) ((int)1)
#define _CrtIsValidHeapPointer(memory)          ((int)1)
#define _CrtMemCheckpoint(state)                ((void)0)
#define _CrtMemDifference(difference, a, b)     ((int)0)
#define _CrtMemDumpAllObjectsSince(state)       ((void)0)
#define _CrtMemDumpStatistics(state)            ((void)0)
#define _CrtDumpMemoryLeaks()                   ((int)0)

#endif
