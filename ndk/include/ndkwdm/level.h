/* SPDX-License-Identifier: MIT */
/* level.h - levels, a part of ndkwdm.h. */
#ifndef NDKWDM_LEVEL_H
#define NDKWDM_LEVEL_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef UCHAR KIRQL, *PKIRQL;

#define PASSIVE_LEVEL  0
#define APC_LEVEL      1
#define DISPATCH_LEVEL 2

/* The level of the calling thread. */
KIRQL KeGetCurrentIrql(void);
/* level: not below the present one. before out: for KeLowerIrql, by the same thread. */
VOID KeRaiseIrql(KIRQL level, PKIRQL before);
/* Raises the level to DISPATCH_LEVEL. Returns the level before. */
KIRQL KeRaiseIrqlToDpcLevel(void);
/* Undoes the last KeRaiseIrql that was not undone yet. before: the level that it returned. */
VOID KeLowerIrql(KIRQL before);

/* Debug builds of the consumer: the function may block; the condition holds. */
#define PAGED_CODE() NT_ASSERT(KeGetCurrentIrql() <= APC_LEVEL)
#ifdef NDEBUG
#define NT_ASSERT(condition) ((void)0)
/* NT_VERIFY: as NT_ASSERT, but the condition is evaluated in all builds. Its value: whether it holds. */
#define NT_VERIFY(condition) ((condition) ? TRUE : FALSE)
#else
#define NT_VERIFY(condition)                                                                       \
    ((condition) ? TRUE : (NdkwdmAssertFailed(#condition, __FILE__, __LINE__), FALSE))
#define NT_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : NdkwdmAssertFailed(#condition, __FILE__, __LINE__))
#endif
/* Names the condition on standard error and ends the program. */
VOID NdkwdmAssertFailed(const char *condition, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
