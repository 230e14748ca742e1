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
/* DEVICE(name, "what it is", whether the table is complete for it) */
#define DEVICES(DEVICE) \
    DEVICE(softrdma, "the embedded device", true) \
    DEVICE(wine, "the embedded device, for a Windows program under Wine 8", true) \
    DEVICE(rxe, "the kernel's RoCE version 2 in software, Linux 6.1", true) \
    DEVICE(siw, "the kernel's iWARP in software, Linux 6.1", false)

#define EXCEPTIONS(EXCEPTION) \
    EXCEPTION(rxe, "connector.connect_without_a_route", NOT_APPLICABLE, \
        "only a loopback address has no way out of the host") \
    EXCEPTION(rxe, "notify.solicited_waits_for_a_solicited_message", FAILS, \
        "asked for solicited completions alone the device tells no error of the send queue, so it is asked for all, and a wake-up may come too early") \
    EXCEPTION(rxe, "notify.any_upgrades_solicited", FAILS, \
        "as above") \
    EXCEPTION(rxe, "sendrecv.receive_beyond_its_region", FAILS, \
        "the device has one status for a Receive that is too small and for one it must not write to") \
    EXCEPTION(rxe, "v2.sendrecv.receive_without_the_right_to_write", FAILS, \
        "as above") \
    EXCEPTION(rxe, "v1_window.peer_invalidates_nothing", FAILS, \
        "the device acknowledges a Send before it looks at the key that it invalidates") \
    EXCEPTION(rxe, "v1_window.peers_invalidate_comes_too_late", FAILS, \
        "as above") \
    EXCEPTION(rxe, "v1_window.both_invalidate_at_once", NOT_APPLICABLE, \
        "the kernel crashes (rxe_invalidate_mw) when a window is invalidated that its peer has just invalidated") \
    EXCEPTION(siw, "connector.connect_without_a_route", NOT_APPLICABLE, \
        "only a loopback address has no way out of the host") \
    EXCEPTION(siw, "cq.resize_up_with_entries_queued", NOT_APPLICABLE, \
        "the device cannot resize completion queues") \
    EXCEPTION(siw, "cq.resize_down_with_entries_queued", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "cq.failed_resize_changes_nothing", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "cq.resize_while_messages_arrive", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "disconnect.outstanding_sends_are_flushed", FAILS, \
        "a Send ends when it was handed to TCP: it has succeeded before the connection ends")
/* clang-format on */

#endif
