/* SPDX-License-Identifier: MIT */
/*
 * devices.h - the devices the suite runs on, and the rows that do not pass there.
 *
 * EXCEPTION(device, "suite.row", RESULT, "reason"); the row's version before its name ("v1.mw.rights_of_the_window")
 * makes it that version's alone.
 *   FAILS           the row runs and has to fail; when it passes, that is a failure: this table is out of date
 *   IN_PART         the row leaves out what the device cannot do (row_holds_in_full), and the rest has to pass
 *   NOT_APPLICABLE  the row does not run
 * docs/compatibility.md is printed from this table, and runs with --device are held to it.
 */
#ifndef TESTS_CONFORMANCE_DEVICES_H
#define TESTS_CONFORMANCE_DEVICES_H

/* clang-format off */
/* DEVICE(name, "what it is", whether the table is complete for it) */
#define DEVICES(DEVICE) \
    DEVICE(softrdma, "the embedded device", true) \
    DEVICE(wine, "the embedded device, for a Windows program under Wine 8", true) \
    DEVICE(qemu, "the embedded device on aarch64, under QEMU 7.2's user emulation: as softrdma but a few rows", true) \
    DEVICE(rxe, "the kernel's RoCE version 2 in software, Linux 6.1", true) \
    DEVICE(siw, "the kernel's iWARP in software, Linux 6.1", true)

#define EXCEPTIONS(EXCEPTION) \
    EXCEPTION(qemu, "mr.unmapped_memory", FAILS, \
        "the emulator's madvise finds memory everywhere (MADV_POPULATE_READ)") \
    EXCEPTION(qemu, "v1.v1_adapter.failed_registration_stores_nothing", FAILS, \
        "as above") \
    EXCEPTION(rxe, "connector.connect_without_a_route", NOT_APPLICABLE, \
        "only a loopback address has no way out of the host") \
    EXCEPTION(rxe, "notify.solicited_waits_for_a_solicited_message", IN_PART, \
        "asked for solicited completions alone the device tells no error of the send queue, so it is asked for all, " \
        "and a wake-up may come too early") \
    EXCEPTION(rxe, "notify.any_upgrades_solicited", IN_PART, \
        "as above") \
    EXCEPTION(rxe, "notify.solicited_after_any", IN_PART, \
        "as above") \
    EXCEPTION(rxe, "sendrecv.receive_beyond_its_region", FAILS, \
        "the device has one status for a Receive that is too small and for one it must not write to") \
    EXCEPTION(rxe, "v2.sendrecv.receive_without_the_right_to_write", FAILS, \
        "as above") \
    EXCEPTION(rxe, "mw.bind_behind_a_send_whose_receive_comes_late", NOT_APPLICABLE, \
        "when the device sends a request again it also does the Binds behind it again, and stands still") \
    EXCEPTION(rxe, "v1_window.peer_invalidates_nothing", IN_PART, \
        "the device acknowledges a Send before it looks at the key that it invalidates") \
    EXCEPTION(rxe, "v1_window.peers_invalidate_comes_too_late", IN_PART, \
        "as above") \
    EXCEPTION(rxe, "v1_window.both_invalidate_at_once", NOT_APPLICABLE, \
        "the kernel crashes (rxe_invalidate_mw) when a window is invalidated that its peer has just invalidated") \
    EXCEPTION(rxe, "v1_window.own_invalidate_is_overtaken", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(rxe, "ndk.connection.both_sides_agree", IN_PART, \
        "private data comes filled with zeros up to what the transport carries") \
    EXCEPTION(rxe, "ndk.connection.reject_refuses_with_data", IN_PART, \
        "as above") \
    EXCEPTION(rxe, "ndk.queue.moderation_has_an_end", IN_PART, \
        "the device moderates no completions: the call is refused") \
    EXCEPTION(rxe, "ndk.data.moderated_notification_comes", IN_PART, \
        "as above") \
    EXCEPTION(rxe, "ndk.data.moderation_holds_no_failure", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(rxe, "ndk.data.send_invalidates_at_the_peer", IN_PART, \
        "the device acknowledges a Send before it looks at the key that it invalidates") \
    EXCEPTION(rxe, "ndk.data.what_an_arm_fires_on", IN_PART, \
        "asked for solicited completions alone the device tells no error of the send queue, so it is asked for all, " \
        "and a notification may come too early") \
    EXCEPTION(rxe, "ndk.fast_register.pages_may_be_scattered", IN_PART, \
        "a region is a window, whose pages follow each other: others are refused") \
    EXCEPTION(siw, "connector.connect_without_a_route", NOT_APPLICABLE, \
        "only a loopback address has no way out of the host") \
    EXCEPTION(siw, "v1.sendrecv.mixed_entries", NOT_APPLICABLE, \
        "a Read takes one entry, and version 1 has one limit of entries for all initiator requests") \
    EXCEPTION(siw, "v1_endpoint.inline_and_registered_entries_mixed", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "cq.failed_resize_changes_nothing", IN_PART, \
        "the device cannot resize: a queue grows within the 4096 entries that it is made with, not up to the " \
        "adapter's limit") \
    EXCEPTION(siw, "srq.modify_depth", IN_PART, \
        "as above") \
    EXCEPTION(siw, "notify.solicited_waits_for_a_solicited_message", IN_PART, \
        "the device knows no solicited completions, so it is asked for all, and a wake-up may come too early") \
    EXCEPTION(siw, "notify.any_upgrades_solicited", IN_PART, \
        "as above") \
    EXCEPTION(siw, "notify.solicited_after_any", IN_PART, \
        "as above") \
    EXCEPTION(siw, "sendrecv.receive_is_too_small", IN_PART, \
        "a Send or Write that siw is just sending when the peer ends the connection fails with ND_INTERNAL_ERROR") \
    EXCEPTION(siw, "mr.release_deregisters", IN_PART, \
        "a Send or Write ends when TCP has taken it, if not as above, and a refused Read is flushed: the peer's " \
        "refusal shows as a lost connection") \
    EXCEPTION(siw, "mw.outside_the_window", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.after_invalidate", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.overlapping_windows_with_different_rights", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.deregister_after_the_window_has_gone", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.window_grants_what_its_region_does_not", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.bound_region_is_released_and_access_goes_on", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.no_token", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.beyond_the_region", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.scattering_read_beyond_the_region", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.token_of_another_adapter", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.deregistered_region", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.same_memory_with_different_rights", IN_PART, \
        "as above") \
    EXCEPTION(siw, "sendrecv.silent_request_that_fails_is_reported", IN_PART, \
        "as above") \
    EXCEPTION(siw, "sendrecv.no_receive_is_posted", IN_PART, \
        "as above") \
    EXCEPTION(siw, "sendrecv.failure_flushes_the_rest", IN_PART, \
        "as above") \
    EXCEPTION(siw, "v1_window.lengthened_descriptor", IN_PART, \
        "as above") \
    EXCEPTION(siw, "v1_window.peer_invalidates_nothing", IN_PART, \
        "as above") \
    EXCEPTION(siw, "v1_window.peers_invalidate_comes_too_late", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mw.rights_of_the_window", IN_PART, \
        "as above, and the device never looks at the right to read") \
    EXCEPTION(siw, "mw.window_without_rights", IN_PART, \
        "as above") \
    EXCEPTION(siw, "rdma.region_grants_only_what_its_flags_say", IN_PART, \
        "as above") \
    EXCEPTION(siw, "v1_endpoint.failed_results_tell_no_length", FAILS, \
        "a Send or Write ends when TCP has taken it") \
    EXCEPTION(siw, "v2.sendrecv.bad_local_memory_of_a_send", FAILS, \
        "the device has one status for whatever goes wrong with a Send or Write") \
    EXCEPTION(siw, "sendrecv.send_beyond_its_region", FAILS, \
        "as above") \
    EXCEPTION(siw, "rdma.bad_local_memory", FAILS, \
        "as above") \
    EXCEPTION(siw, "sendrecv.receive_beyond_its_region", FAILS, \
        "the device has one status for whatever goes wrong with a Receive, but for its length") \
    EXCEPTION(siw, "v2.sendrecv.receive_without_the_right_to_write", FAILS, \
        "as above") \
    EXCEPTION(siw, "disconnect.outstanding_sends_are_flushed", FAILS, \
        "a Send ends when TCP has taken it: it has succeeded before the connection ends") \
    EXCEPTION(siw, "disconnect.requests_under_way_stay_when_the_program_is_told", FAILS, \
        "as above") \
    EXCEPTION(siw, "qp.flush_of_a_connected_queue_pair", FAILS, \
        "as above") \
    EXCEPTION(siw, "disconnect.release_of_a_connector_with_sends_under_way", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "disconnect.release_of_a_queue_pair_with_sends_under_way", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "v1_endpoint.flush_ends_the_batch", FAILS, \
        "as above") \
    EXCEPTION(siw, "qp.flush_reports_silent_requests", NOT_APPLICABLE, \
        "as above, and a silent one tells nothing") \
    EXCEPTION(siw, "mw.bind_behind_a_send_whose_receive_comes_late", NOT_APPLICABLE, \
        "a message without a Receive breaks the connection: nothing waits on the wire") \
    EXCEPTION(siw, "sendrecv.receive_comes_late", NOT_APPLICABLE, \
        "a message without a Receive breaks the connection: nothing waits on the wire") \
    EXCEPTION(siw, "srq.empty_queue_does_not_break_the_sender", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "srq.many_messages_wait_and_are_served_in_order", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "mw.window_serves_its_own_queue_pair_only", FAILS, \
        "there are no windows: one is a registration, which serves every queue pair of its adapter") \
    EXCEPTION(siw, "v1_window.peer_invalidates", NOT_APPLICABLE, \
        "the device does not tell that the peer has invalidated a window") \
    EXCEPTION(siw, "v1_window.access_after_the_peer_has_invalidated", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "v1_window.peer_invalidates_silently", FAILS, \
        "as above: its owner has to invalidate it, too") \
    EXCEPTION(siw, "v1_window.own_invalidate_comes_too_late", FAILS, \
        "as above") \
    EXCEPTION(siw, "mixed.version_1_takes_back_a_window_of_version_2", FAILS, \
        "as above") \
    EXCEPTION(siw, "v1_window.both_invalidate_at_once", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "v1_window.own_invalidate_is_overtaken", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "states.notify_disconnect_in_every_state", IN_PART, \
        "the reply is the establishment: Accept ends with its sending, and who backs out then disconnects") \
    EXCEPTION(siw, "states.disconnect_in_every_state", IN_PART, \
        "as above") \
    EXCEPTION(siw, "states.cancel_in_every_state", IN_PART, \
        "as above") \
    EXCEPTION(siw, "refusal.active_side_rejects", IN_PART, \
        "as above") \
    EXCEPTION(siw, "refusal.active_side_is_released_unconfirmed", IN_PART, \
        "as above") \
    EXCEPTION(siw, "refusal.cancel_accept", IN_PART, \
        "as above") \
    EXCEPTION(siw, "lifetime.last_release_with_an_accept", NOT_APPLICABLE, \
        "as above: no Accept waits for a confirmation") \
    EXCEPTION(siw, "closing.with_an_accept", NOT_APPLICABLE, \
        "as above: no Accept waits for a confirmation") \
    EXCEPTION(siw, "qp.flush_ends_an_accept", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "refusal.accept_of_a_dead_request", IN_PART, \
        "nobody is told that the sender of a request that waits for its answer has gone") \
    EXCEPTION(siw, "refusal.reject_of_a_dead_request", IN_PART, \
        "as above") \
    EXCEPTION(siw, "refusal.cancel_connect", IN_PART, \
        "as above") \
    EXCEPTION(siw, "negotiation.read_limits_are_negotiated", IN_PART, \
        "the device serves as many Reads as the active side asked for, and says so") \
    EXCEPTION(siw, "negotiation.read_limits_of_zero", IN_PART, \
        "as above") \
    EXCEPTION(siw, "v1_connector.read_limits_come_from_the_endpoint", IN_PART, \
        "as above") \
    EXCEPTION(siw, "mixed.failures_in_both_words", IN_PART, \
        "as above, and in the words of both versions: the peer's refusal shows as a lost connection") \
    EXCEPTION(siw, "ndk.connection.listener_close_refuses_what_was_not_told", NOT_APPLICABLE, \
        "a request that waits when its listener closes may get no answer: the connecting side waits for its time") \
    EXCEPTION(siw, "ndk.connection.active_side_backs_out", IN_PART, \
        "the passive side's Accept ends with the reply, and what comes after it is a disconnect") \
    EXCEPTION(siw, "ndk.connection.accept_after_the_peer_gave_up_ends", IN_PART, \
        "as above") \
    EXCEPTION(siw, "ndk.queue.moderation_has_an_end", IN_PART, \
        "the device moderates no completions: the call is refused") \
    EXCEPTION(siw, "ndk.data.moderated_notification_comes", IN_PART, \
        "as above") \
    EXCEPTION(siw, "ndk.data.moderation_holds_no_failure", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.data.what_an_arm_fires_on", IN_PART, \
        "the device knows no solicited completions, so it is asked for all, and a notification may come too early") \
    EXCEPTION(siw, "ndk.data.consumer_lives_in_its_callback", NOT_APPLICABLE, \
        "a message without a Receive breaks the connection: nothing waits on the wire") \
    EXCEPTION(siw, "ndk.data.silent_requests_tell_failures_alone", IN_PART, \
        "a Write ends when TCP has taken it: the peer's refusal shows as a lost connection") \
    EXCEPTION(siw, "ndk.data.failure_in_a_silent_run_is_told_in_its_place", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.data.window_is_bound_and_invalidated", IN_PART, \
        "as above") \
    EXCEPTION(siw, "ndk.data.flush_ends_deferred_requests", IN_PART, \
        "the device sends them in the call that hands them over, before it is flushed") \
    EXCEPTION(siw, "ndk.data.send_invalidates_at_the_peer", NOT_APPLICABLE, \
        "there are no windows that a peer could invalidate: NDKPI 1.1") \
    EXCEPTION(siw, "ndk.fast_register.pages_are_reached_at_any_base", NOT_APPLICABLE, \
        "there are no windows, so there is no fast registration: NDKPI 1.1") \
    EXCEPTION(siw, "ndk.fast_register.pages_may_be_scattered", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.bad_registrations_are_refused", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.token_is_the_same_for_life", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.own_requests_use_the_base", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.peer_invalidates", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.rights_are_those_that_were_given", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.close_ends_access", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.deferred_ones_keep_their_place", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.regions_are_initialised_once", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.fast_register.invalidated_token_ends_the_peers_access", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.bad_input.regions_for_fast_registration", NOT_APPLICABLE, \
        "as above") \
    EXCEPTION(siw, "ndk.bad_input.fast_registrations", NOT_APPLICABLE, \
        "as above")
/* clang-format on */

#endif
