/* SPDX-License-Identifier: MIT */
/*
 * devices.h - the devices the suite runs on, and the rows that do not pass there.
 *
 * EXCEPTION(device, "suite.row", RESULT, "reason"); the row's version before its name ("v1.mw.rights_of_the_window") makes it
 * that version's alone.
 *   FAILS           the row runs and has to fail; when it passes, that is a failure: this table is out of date
 *   NOT_APPLICABLE  the row does not run
 * docs/compatibility.md is printed from this table, and runs with --device are held to it.
 */
#ifndef CONFORMANCE_DEVICES_H
#define CONFORMANCE_DEVICES_H

/* clang-format off */
/* DEVICE(name, "what it is") */
#define DEVICES(DEVICE) \
    DEVICE(softrdma, "the embedded device") \
    DEVICE(rxe, "the kernel's RoCE version 2 in software, Linux 6.1") \
    DEVICE(siw, "the kernel's iWARP in software, Linux 6.1")

#define EXCEPTIONS(EXCEPTION) \
    EXCEPTION(rxe, "connector.connect_without_a_route", NOT_APPLICABLE, "only a loopback address has no way out of the host") \
    EXCEPTION(siw, "connector.connect_without_a_route", NOT_APPLICABLE, "only a loopback address has no way out of the host")
/* clang-format on */

#endif
