// SPDX-License-Identifier: MIT
// cmocka_cpp.h - cmocka for a C++ source.
#ifndef TESTS_SAMPLES_NDMPI_CMOCKA_CPP_H
#define TESTS_SAMPLES_NDMPI_CMOCKA_CPP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

#endif
