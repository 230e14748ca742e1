/* SPDX-License-Identifier: MIT */
/*
 * cxx.h - the steps of test_cxx.c that are written in C++, or in C with a wchar_t of 16 bits. Each returns 0, or what
 * failed.
 */
#ifndef TESTS_UNIT_COMPAT_CXX_H
#define TESTS_UNIT_COMPAT_CXX_H

#ifdef __cplusplus
extern "C" {
#endif
int cxx_formats(void);
int cxx_interlocked(void);
int cxx_interfaces(void);
int cxx_bits(void);
int cxx_library(void);
int cxx_winsock(void);
int short_formats(void);
int short_functions(void);
int short_strings(void);
#ifdef __cplusplus
}
#endif

#endif
