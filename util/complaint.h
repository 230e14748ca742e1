/* SPDX-License-Identifier: MIT */
/* complaint.h - the line on standard error by which a checker reports a program's misuse. */
#ifndef UTIL_COMPLAINT_H
#define UTIL_COMPLAINT_H

/*
 * complaint_write - writes "CHECKER: CALL, KIND OBJECT: HAPPENED. Rule: RULE. ADVICE.", in one piece, so that the lines
 * of several threads do not mix. Any thread, under any lock. Where standard error takes no more, the rest is lost.
 * checker   in: the variable that switches it on
 * call      in: the function or method
 * kind      in: what the object is, as "NDK_QP"
 * object    in: its address, or NULL
 * happened  in: what the program did
 */
void complaint_write(const char *checker, const char *call, const char *kind, const void *object,
    const char *happened, const char *rule, const char *advice);

#endif
