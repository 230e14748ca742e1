/* SPDX-License-Identifier: MIT */
/*
 * report.h - how the checker (NDK_VERIFIER) reports a broken rule: one line on standard error, with the call, the
 * object, what happened, the rule, and what to do.
 */
#ifndef NDK_VERIFIER_REPORT_H
#define NDK_VERIFIER_REPORT_H

enum ndk_rule {
    NDK_RULE_CLOSED,    /* an object is used after its close */
    NDK_RULE_TYPE,      /* the object of a call is none, or of another type */
    NDK_RULE_LEVEL,     /* a call above DISPATCH_LEVEL */
    NDK_RULE_BLOCKS,    /* a call that blocks, above PASSIVE_LEVEL */
    NDK_RULE_PAGED,     /* paged pool at DISPATCH_LEVEL */
    NDK_RULE_OVERLAP,   /* two calls that must not overlap */
    NDK_RULE_RUNNING,   /* a close while another call runs */
    NDK_RULE_LAM_KEPT,  /* a mapping outlives its adapter */
    NDK_RULE_LAM_GONE,  /* a mapping is released that is none */
    NDK_RULE_LAM_UNMET, /* a logical address of no mapping */
    NDK_RULE_MDL,       /* an MDL is touched while a call is pending */
    NDK_RULE_TOKEN,     /* a token of a region that is not registered */
    NDK_RULE_OPEN,      /* an object outlives its adapter */
    NDK_RULE_EXIT,      /* an object outlives the process */
};

enum ndk_verifier_mode { NDK_VERIFIER_OFF, NDK_VERIFIER_ABORT, NDK_VERIFIER_LOG };

/* The mode that NDK_VERIFIER in the environment gives now. */
enum ndk_verifier_mode ndk_verifier_mode(void);

/*
 * ndk_report - writes the line.
 * call        in: the function's name
 * kind        in: what the object is, as "NDK_QP"
 * object      in: its address, may be NULL
 * format      in: what happened, of printf
 */
__attribute__((format(printf, 5, 6))) void ndk_report(enum ndk_rule rule, const char *call,
    const char *kind, const void *object, const char *format, ...);

/* Called after the reports of one call: ends the program by abort(), unless NDK_VERIFIER is "log". */
void ndk_report_end(void);

#endif
