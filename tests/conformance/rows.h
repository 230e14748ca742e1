/* SPDX-License-Identifier: MIT */
/*
 * rows.h - every row of the suite, in one place: ROWS_<file>(ROW) with
 * ROW(dialects, function, "behaviours it covers"). dialects: BOTH (the row runs once over each version), V2, V1.
 *
 * A function test_<file>.c does not define, or one that is not listed here, does not compile. The behaviours are those
 * of behaviours.h; README.md holds the table of both, and a test compares it.
 */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

/* clang-format off */
#define SUITES(SUITE) \
    SUITE(provider) \
    SUITE(helper) \
    SUITE(adapter) \
    SUITE(device) \
    SUITE(iunknown) \
    SUITE(params) \
    SUITE(overlapped) \
    SUITE(cq) \
    SUITE(notify) \
    SUITE(srq) \
    SUITE(mr) \
    SUITE(mw) \
    SUITE(qp) \
    SUITE(sendrecv) \
    SUITE(inline) \
    SUITE(rdma) \
    SUITE(connector) \
    SUITE(states) \
    SUITE(refusal) \
    SUITE(negotiation) \
    SUITE(listener) \
    SUITE(disconnect) \
    SUITE(lifetime) \
    SUITE(closing) \
    SUITE(v1_adapter) \
    SUITE(v1_endpoint) \
    SUITE(v1_window) \
    SUITE(v1_connector) \
    SUITE(v1_client) \
    SUITE(mixed)

#define ROWS_provider(ROW) \
    ROW(V2, provider_asked_for_directly, "dll") \
    ROW(V2, provider_from_the_class_factory, "dll") \
    ROW(V2, class_factory_rules, "dll com") \
    ROW(V2, unknown_class_and_interface, "dll") \
    ROW(V2, can_unload_now, "dll lifetime") \
    ROW(V2, lock_server, "dll") \
    ROW(V2, query_address_list, "provider A1") \
    ROW(V2, resolve_address, "provider") \
    ROW(V2, addresses_of_one_adapter, "provider") \
    ROW(V2, open_adapter_by_id, "provider") \
    ROW(V2, adapters_are_independent, "provider A9") \
    ROW(V2, adapter_refers_to_its_provider, "provider lifetime") \
    ROW(V2, providers_come_and_go, "dll")

#define ROWS_helper(ROW) \
    ROW(V2, nothing_works_before_startup, "helper") \
    ROW(V2, startup_is_counted, "helper") \
    ROW(V2, startup_starts_winsock, "helper") \
    ROW(V2, every_address_of_the_list_is_good, "A1") \
    ROW(V2, list_into_too_small_a_buffer, "A1 helper") \
    ROW(V2, list_without_some, "helper") \
    ROW(V2, check_address, "A1 helper") \
    ROW(V2, resolve_address, "A2") \
    ROW(V2, resolve_into_too_small_a_buffer, "A2 helper") \
    ROW(V2, resolve_malformed_addresses, "helper") \
    ROW(V2, open_adapter_by_address, "helper A2") \
    ROW(V2, cleanup_with_an_open_adapter, "helper lifetime") \
    ROW(V2, threads_start_and_stop, "helper com")

#define ROWS_adapter(ROW) \
    ROW(V2, query_with_the_exact_size, "A3") \
    ROW(V2, query_for_the_size, "A3 adapter") \
    ROW(V2, query_into_too_small_a_buffer, "adapter") \
    ROW(V2, query_into_a_larger_buffer, "adapter") \
    ROW(V2, query_versions, "A3") \
    ROW(V2, adapter_flags, "A8") \
    ROW(V2, query_address_list, "A1 adapter") \
    ROW(V2, overlapped_files, "adapter") \
    ROW(V2, objects_outlive_the_file_handle, "lifetime")

#define ROWS_device(ROW) \
    ROW(BOTH, two_queues_of_the_greatest_depth, "A4") \
    ROW(BOTH, one_depth_for_both_queues, "A4") \
    ROW(BOTH, limits_hold_together, "A5 A6") \
    ROW(BOTH, greatest_queue_pair_works, "A5 S9") \
    ROW(BOTH, many_objects, "A9") \
    ROW(BOTH, several_adapters_in_one_process, "A9") \
    ROW(BOTH, one_port_for_everything, "A9 N1") \
    ROW(BOTH, connections_share_one_queue, "A9 S8") \
    ROW(BOTH, every_address_connects, "A1 address") \
    ROW(BOTH, ipv6_loopback, "address")

#define ROWS_iunknown(ROW) \
    ROW(BOTH, query_its_own_interface, "com") \
    ROW(BOTH, identity, "com") \
    ROW(BOTH, overlapped_interface, "com") \
    ROW(BOTH, other_interfaces, "com") \
    ROW(BOTH, null_out_pointer, "com") \
    ROW(BOTH, counts, "com") \
    ROW(BOTH, holders_are_not_counted, "com lifetime") \
    ROW(V2, makers_check_the_iid, "adapter status") \
    ROW(V2, made_as_iunknown, "provider adapter") \
    ROW(V2, peer_is_null, "com status") \
    ROW(V2, peer_is_foreign, "com status") \
    ROW(V2, peer_is_of_the_wrong_kind, "com status") \
    ROW(BOTH, counts_are_safe_in_threads, "com")

#define ROWS_params(ROW) \
    ROW(V2, queue_pair_depths, "A6 status") \
    ROW(V2, queue_pair_sge, "A5 status") \
    ROW(V2, queue_pair_inline, "A4 status") \
    ROW(V2, queue_pair_with_srq, "status") \
    ROW(V2, completion_queue_depth, "A4 status") \
    ROW(V2, affinity_is_a_hint, "adapter") \
    ROW(V2, shared_receive_queue, "srq status") \
    ROW(V2, file_is_not_of_this_adapter, "adapter status") \
    ROW(V2, peers_of_another_adapter, "provider status") \
    ROW(V2, malformed_addresses, "status") \
    ROW(V2, private_data_without_a_pointer, "status")

#define ROWS_overlapped(ROW) \
    ROW(BOTH, never_success_at_once, "M8 packet") \
    ROW(BOTH, connection_calls_never_succeed_at_once, "C15 packet") \
    ROW(BOTH, one_packet_for_each_non_failure, "M8 packet") \
    ROW(BOTH, pending_structure, "overlapped") \
    ROW(BOTH, finished_structure, "overlapped") \
    ROW(BOTH, immediate_error_leaves_everything_alone, "packet") \
    ROW(BOTH, tagged_event_suppresses_the_packet, "M7 overlapped") \
    ROW(BOTH, no_event_and_no_port, "overlapped") \
    ROW(BOTH, result_waits, "N4 overlapped") \
    ROW(BOTH, auto_reset_event, "N4 overlapped") \
    ROW(BOTH, port_attached_late, "packet") \
    ROW(V2, two_files_one_port, "A9 packet") \
    ROW(BOTH, second_port_for_a_file, "port") \
    ROW(BOTH, user_packets_pass, "N5") \
    ROW(BOTH, several_packets_at_once, "port") \
    ROW(BOTH, dequeued_error_of_a_refusal, "overlapped C2") \
    ROW(BOTH, dequeued_error_of_a_local_disconnect, "overlapped D2") \
    ROW(BOTH, dequeued_error_of_an_overrun, "overlapped cq") \
    ROW(V2, any_region_tells_the_result, "overlapped") \
    ROW(BOTH, cancel_touches_its_own_object_only, "cancel") \
    ROW(BOTH, cancel_after_the_end, "cancel") \
    ROW(BOTH, null_overlapped, "status")

#define ROWS_cq(ROW) \
    ROW(BOTH, results_come_in_arrays, "S8") \
    ROW(BOTH, result_of_each_kind, "S7 result") \
    ROW(BOTH, depth_smaller_than_its_queue_pairs, "A7") \
    ROW(BOTH, exactly_full, "cq") \
    ROW(BOTH, as_deep_as_its_receives, "cq") \
    ROW(BOTH, room_beyond_the_depth, "cq") \
    ROW(BOTH, overrun_fails_the_queue, "cq status") \
    ROW(BOTH, overrun_whatever_the_array, "cq status") \
    ROW(BOTH, overrun_by_sends, "cq") \
    ROW(BOTH, overrun_by_messages, "cq") \
    ROW(BOTH, resize_up_with_entries_queued, "cq") \
    ROW(BOTH, resize_down_with_entries_queued, "cq") \
    ROW(BOTH, failed_resize_changes_nothing, "cq status") \
    ROW(BOTH, resize_while_messages_arrive, "cq S8") \
    ROW(V2, notify_affinity, "affinity") \
    ROW(BOTH, several_threads_take_results, "S8")

#define ROWS_notify(ROW) \
    ROW(BOTH, cancels_come_in_the_order_of_the_calls, "N1") \
    ROW(BOTH, one_cancel_ends_all_in_issue_order, "N2") \
    ROW(BOTH, issue_and_cancel_a_thousand_times, "N1") \
    ROW(BOTH, cancel_with_nothing_pending, "N1") \
    ROW(BOTH, release_cancels, "N1") \
    ROW(BOTH, any_completes_on_success, "N3 N4") \
    ROW(BOTH, any_completes_on_errors, "notify") \
    ROW(BOTH, entry_that_is_there_completes_it_at_once, "N4 notify") \
    ROW(BOTH, fetched_entries_do_not_count, "notify") \
    ROW(BOTH, used_up_entries_do_not_count, "notify") \
    ROW(BOTH, one_event_completes_all, "cq") \
    ROW(BOTH, silent_success_does_not_trigger, "silent") \
    ROW(BOTH, solicited_waits_for_a_solicited_message, "solicited") \
    ROW(BOTH, solicited_ignores_own_requests, "solicited") \
    ROW(BOTH, solicited_completes_on_errors, "solicited") \
    ROW(BOTH, any_upgrades_solicited, "solicited") \
    ROW(BOTH, solicited_after_any, "solicited") \
    ROW(BOTH, solicited_message_is_fetched_first, "solicited") \
    ROW(BOTH, errors_ignores_requests, "notify") \
    ROW(BOTH, unknown_type, "status") \
    ROW(BOTH, port_and_result_without_waiting, "N3") \
    ROW(BOTH, blocking_mode_with_an_auto_reset_event, "N4") \
    ROW(BOTH, no_wakeup_is_lost_under_load, "N4 cq") \
    ROW(BOTH, random_interleavings, "cq notify")

#define ROWS_srq(ROW) \
    ROW(V2, two_queue_pairs_take_from_one, "srq S7") \
    ROW(V2, empty_queue_does_not_break_the_sender, "srq") \
    ROW(V2, many_messages_wait_and_are_served_in_order, "srq S8") \
    ROW(V2, notify_below_the_threshold, "srq") \
    ROW(V2, notify_when_it_is_below_already, "srq") \
    ROW(V2, notify_without_a_threshold, "srq") \
    ROW(V2, modify_threshold, "srq") \
    ROW(V2, modify_beyond_the_depth, "srq status") \
    ROW(V2, modify_depth, "srq") \
    ROW(V2, receive_limits, "status") \
    ROW(V2, scatter, "S3 srq") \
    ROW(V2, receive_on_the_queue_pair, "status") \
    ROW(V2, one_connection_ends, "srq D1") \
    ROW(V2, released_before_its_queue_pairs, "srq") \
    ROW(V2, release_cancels_notify, "srq") \
    ROW(V2, notify_affinity, "affinity")

#define ROWS_mr(ROW) \
    ROW(BOTH, null_buffer, "M1") \
    ROW(BOTH, zero_length, "M2") \
    ROW(BOTH, larger_than_the_adapter_takes, "status A3") \
    ROW(BOTH, unmapped_memory, "status") \
    ROW(V2, registered_already, "status") \
    ROW(V2, deregister_without_a_registration, "status") \
    ROW(BOTH, every_size_again_and_again, "M3") \
    ROW(BOTH, unaligned_small_buffers, "M3") \
    ROW(V2, flags, "flags") \
    ROW(V2, tokens_change_with_each_registration, "W4") \
    ROW(BOTH, many_regions_of_the_same_memory, "M6") \
    ROW(BOTH, synchronous_registration_on_a_port, "M7") \
    ROW(BOTH, every_registration_queues_a_packet, "M8") \
    ROW(V2, release_deregisters, "W4") \
    ROW(BOTH, register_without_an_overlapped, "status")

#define ROWS_mw(ROW) \
    ROW(BOTH, bind_completes_and_token_is_known_at_once, "W1") \
    ROW(BOTH, active_side_owns_the_window, "W1 W2") \
    ROW(BOTH, large_window_at_any_offset, "W2") \
    ROW(BOTH, outside_the_window, "W3") \
    ROW(BOTH, after_invalidate, "W4") \
    ROW(BOTH, rights_of_the_window, "W5") \
    ROW(BOTH, window_without_rights, "M5") \
    ROW(V2, window_grants_what_its_region_does_not, "M6") \
    ROW(V2, write_right_needs_local_write, "status") \
    ROW(BOTH, buffer_outside_the_region, "status") \
    ROW(BOTH, unregistered_region, "status") \
    ROW(BOTH, window_is_bound_already, "status") \
    ROW(BOTH, invalidate_of_an_unbound_window, "status") \
    ROW(BOTH, bind_and_invalidate_keep_the_order, "W6 S8") \
    ROW(BOTH, bind_behind_a_send_whose_receive_comes_late, "W6 S8") \
    ROW(BOTH, silent_bind_and_invalidate, "silent") \
    ROW(BOTH, token_changes_with_each_bind, "W4 token") \
    ROW(BOTH, rebind_to_another_queue_pair_and_region, "window") \
    ROW(BOTH, window_serves_its_own_queue_pair_only, "window") \
    ROW(BOTH, overlapping_windows_with_different_rights, "window M6") \
    ROW(BOTH, deregister_with_a_bound_window, "M4") \
    ROW(BOTH, deregister_after_the_window_has_gone, "M4") \
    ROW(V2, region_is_released_before_its_window, "M4") \
    ROW(V2, bound_region_is_released_and_access_goes_on, "M4") \
    ROW(BOTH, window_of_another_adapter, "status")

#define ROWS_qp(ROW) \
    ROW(BOTH, posts_before_connecting, "status S1") \
    ROW(BOTH, posts_while_connecting, "status") \
    ROW(BOTH, receive_queue_depth_is_exact, "S9") \
    ROW(BOTH, initiator_queue_depth_is_exact, "S9") \
    ROW(BOTH, depth_one, "S9") \
    ROW(BOTH, too_many_sge, "status") \
    ROW(BOTH, too_long, "status") \
    ROW(BOTH, one_octet_beyond_the_transfer_limit, "status A3") \
    ROW(V2, unknown_flags, "status") \
    ROW(BOTH, sge_array_may_be_reused, "S3") \
    ROW(BOTH, flush_without_a_connection, "S6 S7") \
    ROW(BOTH, flush_of_an_empty_queue_pair, "S6") \
    ROW(BOTH, flush_ends_an_accept, "S6 status") \
    ROW(BOTH, flush_of_a_connected_queue_pair, "S7 D5") \
    ROW(BOTH, flush_reports_silent_requests, "silent") \
    ROW(BOTH, completions_outlive_the_queue_pair, "S7") \
    ROW(BOTH, two_queue_pairs_on_one_cq, "S8 S7")

#define ROWS_sendrecv(ROW) \
    ROW(BOTH, sizes, "S8") \
    ROW(BOTH, large_message, "S3") \
    ROW(BOTH, receives_posted_before_connecting, "S1") \
    ROW(BOTH, zero_length_messages, "S2") \
    ROW(BOTH, gather_and_scatter, "S3") \
    ROW(BOTH, mixed_entries, "S3") \
    ROW(BOTH, most_entries_the_adapter_takes, "A5 S3") \
    ROW(BOTH, streams_both_ways_keep_their_order, "S7 S8 S9") \
    ROW(BOTH, silent_requests_without_end, "silent") \
    ROW(BOTH, silent_and_visible_requests_mixed, "silent S8") \
    ROW(BOTH, silent_request_that_fails_is_reported, "silent S7") \
    ROW(BOTH, receive_is_too_small, "S4 S7") \
    ROW(BOTH, no_receive_is_posted, "S5") \
    ROW(BOTH, receive_comes_late, "S5") \
    ROW(V2, bad_local_memory_of_a_send, "status") \
    ROW(BOTH, send_beyond_its_region, "status") \
    ROW(V2, receive_without_the_right_to_write, "status") \
    ROW(BOTH, receive_beyond_its_region, "status") \
    ROW(BOTH, failure_flushes_the_rest, "S7 S8") \
    ROW(BOTH, several_threads_post_to_one_queue, "S9")

#define ROWS_inline(ROW) \
    ROW(BOTH, inline_data_needs_no_registration, "inline") \
    ROW(V2, inline_data_in_many_entries, "inline") \
    ROW(BOTH, inline_length_limit, "inline") \
    ROW(V2, inline_without_room_for_it, "inline") \
    ROW(BOTH, inline_write, "W7 inline") \
    ROW(BOTH, inline_buffer_reuse, "inline")

#define ROWS_rdma(ROW) \
    ROW(BOTH, write_sizes, "W7 W8") \
    ROW(BOTH, read_sizes, "W7") \
    ROW(BOTH, zero_length_read_and_write, "W7") \
    ROW(BOTH, write_gathers, "S3 W7") \
    ROW(BOTH, read_scatters, "S3 W7") \
    ROW(BOTH, queue_full_of_scattering_reads, "S3 S9") \
    ROW(BOTH, scattering_read_beyond_the_region, "S3 W3") \
    ROW(V2, large_region_at_any_offset, "W2") \
    ROW(BOTH, send_delivers_behind_the_write, "W8") \
    ROW(BOTH, batches_complete_in_order, "W7 S8") \
    ROW(BOTH, reads_beyond_the_limit_wait, "C11 W7") \
    ROW(BOTH, read_with_a_limit_of_zero, "C11 status") \
    ROW(BOTH, peer_offered_no_reads, "C11 status") \
    ROW(BOTH, fence_waits_for_reads, "fence") \
    ROW(BOTH, fence_on_every_kind, "fence") \
    ROW(BOTH, no_token, "status W3") \
    ROW(BOTH, beyond_the_region, "W3") \
    ROW(V2, region_grants_only_what_its_flags_say, "W5 M6") \
    ROW(V2, token_of_another_adapter, "W3 provider") \
    ROW(V2, deregistered_region, "M3 W4") \
    ROW(BOTH, bad_local_memory, "status") \
    ROW(V2, read_into_memory_without_the_right, "status") \
    ROW(V2, same_memory_with_different_rights, "M6")

#define ROWS_states(ROW) \
    ROW(V2, bind_in_every_state, "C1 C4") \
    ROW(BOTH, connect_in_every_state, "C4") \
    ROW(BOTH, complete_connect_in_every_state, "C1") \
    ROW(BOTH, accept_in_every_state, "C1") \
    ROW(BOTH, reject_in_every_state, "C5") \
    ROW(BOTH, get_read_limits_in_every_state, "C11") \
    ROW(BOTH, get_private_data_in_every_state, "C9") \
    ROW(BOTH, get_local_address_in_every_state, "C1") \
    ROW(BOTH, get_peer_address_in_every_state, "C1") \
    ROW(BOTH, notify_disconnect_in_every_state, "D2") \
    ROW(BOTH, disconnect_in_every_state, "D4") \
    ROW(BOTH, cancel_in_every_state, "N1") \
    ROW(BOTH, release_in_every_state_returns_zero, "C6") \
    ROW(BOTH, second_disconnect_while_one_runs, "D4")

#define ROWS_connector(ROW) \
    ROW(V2, bind_port_zero_chooses_a_port, "C1") \
    ROW(V2, bind_to_a_foreign_address, "status") \
    ROW(BOTH, bind_to_the_port_of_a_listener, "C13") \
    ROW(BOTH, connect_from_an_explicit_port, "C13") \
    ROW(BOTH, both_ends_tell_the_same_addresses, "C1") \
    ROW(BOTH, short_address_buffer, "status") \
    ROW(BOTH, nobody_listens, "C2") \
    ROW(BOTH, refused_connector_connects_again, "C2 C5 S1") \
    ROW(BOTH, connect_to_the_wildcard_address, "C3") \
    ROW(BOTH, connect_without_a_route, "status") \
    ROW(BOTH, second_connect_of_a_connector, "C4") \
    ROW(BOTH, queue_pair_is_connected_already, "C4") \
    ROW(BOTH, accept_with_a_connected_queue_pair, "C4") \
    ROW(BOTH, one_adapter_for_both_ends, "A9 C1") \
    ROW(BOTH, data_before_the_accept_is_reaped, "C17") \
    ROW(BOTH, notify_disconnect_behind_complete_connect, "D2") \
    ROW(BOTH, head_to_head, "C12") \
    ROW(BOTH, many_connections, "C16") \
    ROW(BOTH, many_connections_at_once, "C16 A9")

#define ROWS_refusal(ROW) \
    ROW(BOTH, passive_side_rejects, "C5 C9") \
    ROW(BOTH, active_side_rejects, "C5 D1") \
    ROW(BOTH, active_side_is_released_unconfirmed, "C6 D1") \
    ROW(BOTH, passive_side_is_released_unanswered, "C6") \
    ROW(BOTH, reject_with_too_much_data, "C5") \
    ROW(BOTH, accept_of_a_dead_request, "C6") \
    ROW(BOTH, reject_of_a_dead_request, "C6") \
    ROW(BOTH, cancel_connect, "N1") \
    ROW(BOTH, cancel_accept, "N1")

#define ROWS_negotiation(ROW) \
    ROW(BOTH, connect_with_too_much_data, "C7") \
    ROW(BOTH, accept_with_too_much_data, "C8") \
    ROW(BOTH, private_data_arrives, "C9") \
    ROW(BOTH, read_limits_are_negotiated, "C11 readlimit") \
    ROW(BOTH, read_limits_of_zero, "C11 readlimit") \
    ROW(V2, read_limits_above_everything, "C11 readlimit")

#define ROWS_listener(ROW) \
    ROW(V2, bind_port_zero_chooses_a_port, "C10") \
    ROW(V2, second_bind, "C10") \
    ROW(V2, second_listen, "C10") \
    ROW(V2, listen_before_bind, "C10") \
    ROW(V2, local_address_before_bind, "status") \
    ROW(V2, short_address_buffer, "status") \
    ROW(V2, request_before_listen, "C14") \
    ROW(V2, bind_to_a_foreign_address, "status") \
    ROW(V2, port_is_taken, "status") \
    ROW(BOTH, port_is_free_after_the_release, "C2") \
    ROW(BOTH, connector_is_not_idle, "C14") \
    ROW(BOTH, requests_come_in_order, "C14") \
    ROW(BOTH, cancelled_connectors_are_idle_again, "C14 N1") \
    ROW(BOTH, release_cancels, "C14") \
    ROW(BOTH, release_of_a_queued_connector, "C14") \
    ROW(BOTH, release_refuses_what_nobody_took, "C2") \
    ROW(BOTH, requests_outlive_their_listener, "C14") \
    ROW(BOTH, backlog_limits_unanswered_requests, "C14 status") \
    ROW(BOTH, backlog_zero_is_unlimited, "C14") \
    ROW(V2, wildcard_listens_on_every_address, "address") \
    ROW(V2, ipv6_wildcard_listens_on_every_address, "address")

#define ROWS_disconnect(ROW) \
    ROW(BOTH, peer_disconnects, "D1 D2") \
    ROW(BOTH, flush_ends_what_the_peer_left, "D1 D2") \
    ROW(BOTH, release_ends_what_the_peer_left, "D1 D2") \
    ROW(V2, release_of_the_connector_ends_what_the_peer_left, "D1 D2") \
    ROW(BOTH, requests_after_the_end_wait_for_the_flush, "D1 D2") \
    ROW(BOTH, requests_under_way_stay_when_the_program_is_told, "D1 D2") \
    ROW(BOTH, notify_after_the_end, "D1 D2") \
    ROW(BOTH, notify_races_with_the_end, "D1 D2") \
    ROW(BOTH, receives_end_without_a_call, "D1") \
    ROW(BOTH, local_disconnect_flushes, "D5") \
    ROW(BOTH, notify_of_the_side_that_disconnects, "D2") \
    ROW(BOTH, every_notify_completes, "D2") \
    ROW(BOTH, notify_right_after_accept, "D2") \
    ROW(BOTH, cancel_notify, "D2 N1") \
    ROW(BOTH, both_disconnect_at_once, "D3") \
    ROW(BOTH, disconnect_after_the_peer_has, "D3 D4") \
    ROW(BOTH, disconnect_without_a_connection, "D4") \
    ROW(BOTH, last_message_arrives, "D6") \
    ROW(BOTH, posts_after_the_end_are_flushed, "D1") \
    ROW(BOTH, outstanding_sends_are_flushed, "D5 S7") \
    ROW(V2, release_of_a_connected_connector, "D1") \
    ROW(BOTH, release_of_a_connected_queue_pair, "D1") \
    ROW(V2, release_of_a_connector_with_sends_under_way, "D1") \
    ROW(BOTH, release_of_a_queue_pair_with_sends_under_way, "D1") \
    ROW(BOTH, queues_serve_the_next_connection, "D5 S1") \
    ROW(BOTH, queue_pair_goes_before_its_disconnect_has_ended, "D5")

#define ROWS_lifetime(ROW) \
    ROW(BOTH, hostile_order_of_release, "lifetime M4") \
    ROW(BOTH, adapter_is_released_first, "lifetime") \
    ROW(BOTH, queues_are_released_before_their_use, "lifetime") \
    ROW(BOTH, last_release_with_a_notify, "teardown") \
    ROW(BOTH, last_release_with_a_connect, "teardown") \
    ROW(BOTH, last_release_with_an_accept, "teardown C6") \
    ROW(BOTH, last_release_with_a_notify_disconnect, "teardown") \
    ROW(BOTH, last_release_with_a_disconnect, "teardown") \
    ROW(BOTH, last_release_with_a_connection_request, "teardown") \
    ROW(V2, last_release_with_an_srq_notify, "teardown") \
    ROW(V2, last_release_after_a_registration, "teardown") \
    ROW(BOTH, structures_are_free_after_the_release, "overlapped") \
    ROW(BOTH, one_overlapped_twice, "overlapped") \
    ROW(BOTH, event_is_closed_while_pending, "overlapped") \
    ROW(BOTH, port_is_closed_while_pending, "overlapped") \
    ROW(BOTH, cancel_races_with_completion, "cancel") \
    ROW(BOTH, threads_connect_and_release, "C16 com")
#define ROWS_v1_adapter(ROW) \
    ROW(V1, provider_from_the_class_factory, "dll") \
    ROW(V1, class_makes_its_own_version, "dll com") \
    ROW(V1, query_address_list, "provider A1") \
    ROW(V1, open_adapter_by_address, "provider A2") \
    ROW(V1, adapter_refers_to_its_provider, "provider lifetime") \
    ROW(V1, helper_opens_version_1, "helper") \
    ROW(V1, query_tells_every_limit, "A3") \
    ROW(V1, query_agrees_with_version_2, "A3 A5") \
    ROW(V1, query_versions_and_sizes, "A3 adapter") \
    ROW(V1, control_is_not_supported, "adapter") \
    ROW(V1, one_file_handle, "adapter packet") \
    ROW(V1, one_file_for_every_object, "packet A9") \
    ROW(V1, client_closes_the_file, "lifetime") \
    ROW(V1, completion_queue_depths, "A4 status") \
    ROW(V1, no_place_for_the_object, "status com") \
    ROW(V1, registrations_have_handles, "handle M6") \
    ROW(V1, failed_registration_stores_nothing, "M1 M2 status") \
    ROW(V1, registration_shrinks_until_it_fits, "M7 status") \
    ROW(V1, adapter_takes_its_registrations_along, "lifetime handle")

#define ROWS_closing(ROW) \
    ROW(BOTH, with_a_notify, "closing packet") \
    ROW(BOTH, with_a_connection_request, "closing") \
    ROW(BOTH, with_a_connect, "closing") \
    ROW(BOTH, with_an_accept, "closing") \
    ROW(BOTH, with_a_notify_disconnect, "closing") \
    ROW(V2, with_an_srq_notify, "closing") \
    ROW(BOTH, many_objects, "closing") \
    ROW(BOTH, later_requests_are_refused, "closing status") \
    ROW(BOTH, duplicate_keeps_the_requests, "closing packet") \
    ROW(V2, other_files_keep_their_requests, "closing") \
    ROW(BOTH, races_with_new_requests, "closing") \
    ROW(BOTH, races_with_the_last_release, "closing lifetime")

#define ROWS_v1_endpoint(ROW) \
    ROW(V1, result_is_the_clients_own, "identity S7 S8") \
    ROW(V1, lengths_of_each_kind, "result S7") \
    ROW(V1, failed_results_tell_no_length, "result S7") \
    ROW(V1, no_result_given, "status") \
    ROW(V1, flags_of_each_kind, "status") \
    ROW(V1, one_entry_beyond_32_bits, "status") \
    ROW(V1, stale_and_foreign_handles, "handle status") \
    ROW(V1, null_handle_is_inline, "inline") \
    ROW(V1, inline_limits, "inline status") \
    ROW(V1, inline_and_registered_entries_mixed, "inline S3") \
    ROW(V1, batch_is_submitted, "batch S8") \
    ROW(V1, get_results_submits_the_batch, "batch") \
    ROW(V1, batch_does_not_outgrow_the_queue, "batch S9 status") \
    ROW(V1, flush_ends_the_batch, "batch S7") \
    ROW(V1, release_ends_the_batch, "batch lifetime") \
    ROW(V1, batch_of_receives_before_connecting, "batch S1")

#define ROWS_v1_window(ROW) \
    ROW(V1, descriptor_is_big_endian_wherever_it_stands, "descriptor W1") \
    ROW(V1, descriptor_travels_as_it_is, "descriptor W2") \
    ROW(V1, offsets_count_from_the_base, "descriptor W2") \
    ROW(V1, read_beyond_the_descriptor, "descriptor W3") \
    ROW(V1, lengthened_descriptor, "descriptor W3") \
    ROW(V1, peer_invalidates, "takeback") \
    ROW(V1, peer_invalidates_silently, "takeback") \
    ROW(V1, access_after_the_peer_has_invalidated, "takeback W4 M4") \
    ROW(V1, peer_invalidates_nothing, "takeback status") \
    ROW(V1, own_invalidate_is_not_told_of, "takeback") \
    ROW(V1, own_invalidate_comes_too_late, "takeback status") \
    ROW(V1, peers_invalidate_comes_too_late, "takeback D1") \
    ROW(V1, own_invalidate_is_overtaken, "takeback") \
    ROW(V1, both_invalidate_at_once, "takeback")

#define ROWS_v1_connector(ROW) \
    ROW(V1, endpoint_limits, "A5 A6 status") \
    ROW(V1, endpoint_on_queues_that_are_none, "com status") \
    ROW(V1, endpoint_tells_its_inline_data, "inline") \
    ROW(V1, connection_data_in_parts, "C9 C11") \
    ROW(V1, read_limits_come_from_the_endpoint, "C11 readlimit") \
    ROW(V1, timeout_is_no_failure, "status") \
    ROW(V1, endpoint_keeps_its_connection, "lifetime D1") \
    ROW(V1, connector_makes_several_endpoints, "C1") \
    ROW(V1, connect_to_malformed_addresses, "status") \
    ROW(V1, protocol_is_not_looked_at, "C1") \
    ROW(V1, listen_codes, "C10 status") \
    ROW(V1, request_for_a_connector_that_is_none, "C14 status") \
    ROW(V1, reject_codes, "C5 status")

#define ROWS_v1_client(ROW) \
    ROW(V1, whole_conversation, "client C12 C15 D5 N4 M7 M8")

#define ROWS_mixed(ROW) \
    ROW(V1, messages_both_ways, "mixed") \
    ROW(V1, windows_and_tokens, "mixed token") \
    ROW(V1, failures_in_both_words, "mixed status") \
    ROW(V1, private_data_and_read_limits, "mixed C9 C11") \
    ROW(V1, version_1_takes_back_a_window_of_version_2, "mixed takeback") \
    ROW(V1, other_versions_interfaces, "mixed com") \
    ROW(V1, other_versions_objects, "mixed com status") \
    ROW(V1, version_1_file_for_version_2, "mixed status") \
    ROW(V1, both_versions_side_by_side, "mixed A9")
/* clang-format on */

#endif
