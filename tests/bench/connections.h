/* SPDX-License-Identifier: MIT */
/* connections.h - what an idle connection costs, and what it costs the others. */
#ifndef TESTS_BENCH_CONNECTIONS_H
#define TESTS_BENCH_CONNECTIONS_H

#include "tests/bench/report.h"

#define BENCH_CONNECTIONS "connections" /* on the command line, alone or with _N */

bool bench_is_connections(const char *name);

/*
 * bench_connections - measure 1, 10, 100, 1000 and 10000 connections of NetworkDirect version 2 on the embedded device
 * between two processes, and report it. connections.dat and connections.svg go to the report's directory. Returns
 * false when a measurement failed (it has said why). A number that the limit of open files does not allow is left out,
 * and the table says so.
 * only  NULL: all; "connections_100": that number
 */
bool bench_connections(struct bench_report *report, const char *only);

#endif
