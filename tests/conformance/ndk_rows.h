/* SPDX-License-Identifier: MIT */
/*
 * ndk_rows.h - the rows of NDKPI (tests/unit/ndk), for docs/compatibility.md; each suite is held to its part when it
 * runs.
 */
#ifndef TESTS_CONFORMANCE_NDK_ROWS_H
#define TESTS_CONFORMANCE_NDK_ROWS_H

/* clang-format off */
/* ROW(suite, row) */
#define NDK_ROWS(ROW) \
    ROW(adapter, adapter_close_in_a_callback_ends_the_program) \
    ROW(adapter, versions_are_negotiated) \
    ROW(adapter, open_refuses_what_it_cannot) \
    ROW(adapter, headers_name_types) \
    ROW(adapter, info_before_2_0_has_0x60_bytes) \
    ROW(adapter, info_tells_limits) \
    ROW(adapter, there_are_no_extensions) \
    ROW(adapter, objects_are_made_and_closed_in_the_call) \
    ROW(adapter, forced_they_are_by_the_callback) \
    ROW(adapter, close_inside_the_completion) \
    ROW(adapter, adapter_close_waits_for_callbacks) \
    ROW(adapter, adapters_come_and_go) \
    ROW(adapter, adapters_open_by_winsock_kernel) \
    ROW(bad_input, objects_of_an_adapter) \
    ROW(bad_input, extensions) \
    ROW(bad_input, depths_of_completion_queues) \
    ROW(bad_input, addresses_of_an_endpoint) \
    ROW(bad_input, objects_of_a_domain) \
    ROW(bad_input, queue_pairs) \
    ROW(bad_input, shared_receive_queues) \
    ROW(bad_input, regions) \
    ROW(bad_input, regions_for_fast_registration) \
    ROW(bad_input, fast_registrations) \
    ROW(bad_input, mappings) \
    ROW(bad_input, requests) \
    ROW(bad_input, windows) \
    ROW(bad_input, windows_over_nothing) \
    ROW(bad_input, connectors) \
    ROW(bad_input, listeners) \
    ROW(siblings, accept_takes_a_queue_pair_of_another_open) \
    ROW(siblings, connect_takes_what_other_opens_have) \
    ROW(siblings, queue_pairs_take_completion_queues_of_another_open) \
    ROW(siblings, mappings_are_of_the_device) \
    ROW(siblings, opens_end_by_themselves) \
    ROW(memory, region_has_tokens_while_registered) \
    ROW(memory, only_contiguous_memory_is_registered) \
    ROW(memory, region_is_for_one_kind_of_registration) \
    ROW(memory, tokens_are_of_their_domain) \
    ROW(memory, antecedents_end_after_successors) \
    ROW(queue, completion_queues_have_limits) \
    ROW(queue, completion_queue_without_a_callback_is_polled) \
    ROW(queue, moderation_has_an_end) \
    ROW(queue, depth_changes) \
    ROW(queue, queue_pairs_have_limits) \
    ROW(queue, initiator_needs_a_connection) \
    ROW(queue, bad_lists_are_refused) \
    ROW(queue, flush_ends_receives) \
    ROW(queue, close_ends_receives) \
    ROW(queue, completion_queue_ends_after_its_queue_pair) \
    ROW(queue, close_waits_for_the_callback) \
    ROW(queue, overrun_is_told) \
    ROW(queue, shared_receive_queue_tells_its_threshold) \
    ROW(queue, queue_pair_takes_a_shared_receive_queue) \
    ROW(connection, both_sides_agree) \
    ROW(connection, disconnect_tells_the_peer_once) \
    ROW(connection, both_sides_disconnect_at_once) \
    ROW(connection, refused_calls_leave_the_event) \
    ROW(connection, refused_accepts_leave_the_event) \
    ROW(connection, requests_stay_when_the_peer_leaves) \
    ROW(connection, flush_ends_what_the_peer_left) \
    ROW(connection, close_ends_what_the_peer_left) \
    ROW(connection, close_of_a_connector_disconnects) \
    ROW(connection, events_have_a_reason_since_2_1) \
    ROW(connection, reject_refuses_with_data) \
    ROW(connection, refused_connects_are_tried_again) \
    ROW(connection, close_of_a_request_refuses) \
    ROW(connection, nobody_listens) \
    ROW(connection, active_side_backs_out) \
    ROW(connection, accept_after_the_peer_gave_up_ends) \
    ROW(connection, paused_listener_refuses) \
    ROW(connection, bad_calls_of_connectors) \
    ROW(connection, bad_calls_of_listeners) \
    ROW(connection, listener_ends_after_its_connectors) \
    ROW(connection, queue_pair_ends_after_its_connector) \
    ROW(connection, close_inside_the_completion) \
    ROW(connection, close_ends_what_is_pending) \
    ROW(connection, listener_close_refuses_what_was_not_told) \
    ROW(connection, connectors_share_an_endpoint) \
    ROW(connection, refused_connects_leave_their_endpoint) \
    ROW(connection, any_port_is_a_dynamic_one) \
    ROW(connection, endpoint_has_two_destinations) \
    ROW(data, messages_arrive) \
    ROW(data, tokens_are_forgotten) \
    ROW(data, inline_data_is_copied) \
    ROW(data, peers_memory_is_read_and_written) \
    ROW(data, silent_requests_tell_failures_alone) \
    ROW(data, failure_in_a_silent_run_is_told_in_its_place) \
    ROW(data, flush_ends_deferred_requests) \
    ROW(data, too_long_messages_fail_at_the_receiver) \
    ROW(data, flush_cancels_and_closes_without_disconnect) \
    ROW(data, window_is_bound_and_invalidated) \
    ROW(data, send_invalidates_at_the_peer) \
    ROW(data, deferred_requests_go_with_the_next) \
    ROW(data, refused_request_sends_the_deferred_ones) \
    ROW(data, what_an_arm_fires_on) \
    ROW(data, stronger_arm_wins) \
    ROW(data, arm_fires_for_what_is_there) \
    ROW(data, moderated_notification_comes) \
    ROW(data, moderation_holds_no_failure) \
    ROW(data, messages_arrive_by_a_shared_receive_queue) \
    ROW(data, consumer_lives_in_its_callback) \
    ROW(death, killed_peer_is_told_once) \
    ROW(fast_register, regions_are_initialised_once) \
    ROW(fast_register, pages_are_reached_at_any_base) \
    ROW(fast_register, pages_may_be_scattered) \
    ROW(fast_register, bad_registrations_are_refused) \
    ROW(fast_register, token_is_the_same_for_life) \
    ROW(fast_register, deferred_ones_keep_their_place) \
    ROW(fast_register, own_requests_use_the_base) \
    ROW(fast_register, peer_invalidates) \
    ROW(fast_register, invalidated_token_ends_the_peers_access) \
    ROW(fast_register, rights_are_those_that_were_given) \
    ROW(fast_register, close_ends_access) \
    ROW(lam, mapping_has_the_pages) \
    ROW(lam, bad_mappings_are_refused) \
    ROW(lam, second_release_does_nothing) \
    ROW(lam, privileged_token_names_mapped_memory) \
    ROW(lam, released_memory_may_be_mapped_anew) \
    ROW(lam, memory_without_a_right_to_write_is_sent) \
    ROW(lam, many_mappings_come_and_go)
/* clang-format on */

#endif
