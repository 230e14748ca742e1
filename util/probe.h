/* SPDX-License-Identifier: MIT */
/*
 * probe.h - USDT probes: where a tracer (bpftrace, perf, SystemTap, gdb) can look in. docs/tracing.md lists them.
 *
 * A probe is one nop, and an ELF note that says in which register or memory each argument is. So arguments are values
 * that the code has there anyway; nothing is computed for them. Without <sys/sdt.h> (Debian: systemtap-sdt-dev)
 * probes compile to nothing.
 */
#ifndef UTIL_PROBE_H
#define UTIL_PROBE_H

#ifdef NDSPI_PROBES

#include <sys/sdt.h>

#define PROBE2(name, a, b)       DTRACE_PROBE2(ndspi, name, a, b)
#define PROBE3(name, a, b, c)    DTRACE_PROBE3(ndspi, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(ndspi, name, a, b, c, d)

#else

#define PROBE2(name, a, b)       ((void)sizeof(a), (void)sizeof(b))
#define PROBE3(name, a, b, c)    ((void)sizeof(a), (void)sizeof(b), (void)sizeof(c))
#define PROBE4(name, a, b, c, d) (PROBE2(name, a, b), PROBE2(name, c, d))

#endif

#endif
