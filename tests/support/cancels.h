/* SPDX-License-Identifier: MIT */
/* cancels.h - whether a test may cancel a thread that sleeps in the reactor. */
#ifndef TESTS_SUPPORT_CANCELS_H
#define TESTS_SUPPORT_CANCELS_H

/*
 * The thread sanitizer does not see the locks of a thread that is canceled in a call that it stands in front of; the
 * address sanitizer takes the stack of a canceled thread for broken.
 */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CANCELS 0
#else
#define CANCELS 1
#endif

#endif
