/* SPDX-License-Identifier: MIT */
/* exposition.h - whether a text is Prometheus' format 0.0.4, as promtool would have it. */
#ifndef TESTS_NDSTAT_EXPOSITION_H
#define TESTS_NDSTAT_EXPOSITION_H

#include <stdbool.h>

/*
 * Each metric has HELP and TYPE once and before its samples, which stand together; names and labels are made of the
 * right characters, values of labels are escaped, a counter's name ends in _total, no series is there twice, and the
 * last line ends. wrong out: what is not right, and in which line.
 */
bool exposition_is_valid(const char *text, char wrong[256]);

#endif
