/* SPDX-License-Identifier: MIT */
/* Nothing: the header under test is included from the command line. */
typedef int nothing;
