/* SPDX-License-Identifier: MIT */
/*
 * rows.h - every row of the suite, in one place: ROWS_<file>(ROW) with ROW(function, "behaviours it covers").
 *
 * A function test_<file>.c does not define, or one that is not listed here, does not compile. The behaviours are those of
 * behaviours.h; README.md holds the table of both, and a test compares it.
 */
#ifndef CONFORMANCE_ROWS_H
#define CONFORMANCE_ROWS_H

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
    SUITE(rdma) \
    SUITE(connector) \
    SUITE(listener) \
    SUITE(disconnect) \
    SUITE(lifetime)

#define ROWS_provider(ROW) \
    ROW(provider_asked_for_directly, "5.2") \
    ROW(provider_from_the_class_factory, "5.2") \
    ROW(class_factory_rules, "5.2 1.5") \
    ROW(unknown_class_and_interface, "5.2") \
    ROW(can_unload_now, "5.2 1.6") \
    ROW(lock_server, "5.2") \
    ROW(query_address_list, "3.5 A1") \
    ROW(resolve_address, "3.5") \
    ROW(addresses_of_one_adapter, "3.5") \
    ROW(open_adapter_by_id, "3.5") \
    ROW(adapters_are_independent, "3.5 A9") \
    ROW(providers_come_and_go, "5.2")

#define ROWS_helper(ROW) \
    ROW(nothing_works_before_startup, "5") \
    ROW(startup_is_counted, "5") \
    ROW(every_address_of_the_list_is_good, "A1") \
    ROW(list_into_too_small_a_buffer, "A1 5") \
    ROW(list_without_some, "5") \
    ROW(check_address, "A1 5") \
    ROW(resolve_address, "A2") \
    ROW(resolve_into_too_small_a_buffer, "A2 5") \
    ROW(resolve_malformed_addresses, "5") \
    ROW(open_adapter_by_address, "5 A2") \
    ROW(cleanup_with_an_open_adapter, "5 1.6") \
    ROW(threads_start_and_stop, "5 1.5")

#define ROWS_adapter(ROW) \
    ROW(query_with_the_exact_size, "A3") \
    ROW(query_for_the_size, "A3 3.6") \
    ROW(query_into_too_small_a_buffer, "3.6") \
    ROW(query_into_a_larger_buffer, "3.6") \
    ROW(query_versions, "A3") \
    ROW(adapter_flags, "A8") \
    ROW(query_address_list, "A1 3.6") \
    ROW(overlapped_files, "3.6") \
    ROW(objects_outlive_the_file_handle, "1.6")

#define ROWS_device(ROW) \
    ROW(two_queues_of_the_greatest_depth, "A4") \
    ROW(limits_hold_together, "A5 A6") \
    ROW(greatest_queue_pair_works, "A5 S9") \
    ROW(many_objects, "A9") \
    ROW(several_adapters_in_one_process, "A9") \
    ROW(one_port_for_everything, "A9 N1") \
    ROW(connections_share_one_queue, "A9 S8") \
    ROW(every_address_connects, "A1 7.8") \
    ROW(ipv6_loopback, "7.8")

#define ROWS_iunknown(ROW) \
    ROW(query_its_own_interface, "1.5") \
    ROW(identity, "1.5") \
    ROW(overlapped_interface, "1.5") \
    ROW(other_interfaces, "1.5") \
    ROW(null_out_pointer, "1.5") \
    ROW(counts, "1.5") \
    ROW(holders_are_not_counted, "1.5 1.6") \
    ROW(makers_check_the_iid, "3.6 4.2") \
    ROW(made_as_iunknown, "3.5 3.6") \
    ROW(peer_is_null, "1.5 4.2") \
    ROW(peer_is_foreign, "1.5 4.2") \
    ROW(peer_is_of_the_wrong_kind, "1.5 4.2") \
    ROW(counts_are_safe_in_threads, "1.5")

#define ROWS_params(ROW) \
    ROW(queue_pair_depths, "A6 4.2") \
    ROW(queue_pair_sge, "A5 4.2") \
    ROW(queue_pair_inline, "A4 4.2") \
    ROW(queue_pair_with_srq, "4.2") \
    ROW(completion_queue_depth, "A4 4.2") \
    ROW(affinity_is_a_hint, "3.6") \
    ROW(shared_receive_queue, "7.8 4.2") \
    ROW(file_is_not_of_this_adapter, "3.6 4.2") \
    ROW(peers_of_another_adapter, "3.5 4.2") \
    ROW(malformed_addresses, "4.2") \
    ROW(private_data_without_a_pointer, "4.2")

#define ROWS_overlapped(ROW) \
    ROW(never_success_at_once, "M8 6.1") \
    ROW(connection_calls_never_succeed_at_once, "C15 6.1") \
    ROW(one_packet_for_each_non_failure, "M8 6.1") \
    ROW(pending_structure, "6.2") \
    ROW(finished_structure, "6.2") \
    ROW(immediate_error_leaves_everything_alone, "6.1") \
    ROW(tagged_event_suppresses_the_packet, "M7 6.2") \
    ROW(no_event_and_no_port, "6.2") \
    ROW(result_waits, "N4 6.2") \
    ROW(auto_reset_event, "N4 6.2") \
    ROW(port_attached_late, "6.1") \
    ROW(two_files_one_port, "A9 6.1") \
    ROW(second_port_for_a_file, "6.4") \
    ROW(user_packets_pass, "N5") \
    ROW(several_packets_at_once, "6.4") \
    ROW(dequeued_error_of_a_refusal, "6.2 C2") \
    ROW(dequeued_error_of_a_local_disconnect, "6.2 D2") \
    ROW(dequeued_error_of_an_overrun, "6.2 7.8") \
    ROW(any_region_tells_the_result, "6.2") \
    ROW(cancel_touches_its_own_object_only, "6.3") \
    ROW(cancel_after_the_end, "6.3") \
    ROW(file_closed_while_requests_are_pending, "6.1 1.6") \
    ROW(null_overlapped, "4.2")

#define ROWS_cq(ROW) \
    ROW(results_come_in_arrays, "S8") \
    ROW(result_of_each_kind, "S7 3.2") \
    ROW(depth_smaller_than_its_queue_pairs, "A7") \
    ROW(exactly_full, "7.8") \
    ROW(overrun_fails_the_queue, "7.8 4.2") \
    ROW(overrun_by_messages, "7.8") \
    ROW(resize_up_with_entries_queued, "7.8") \
    ROW(resize_down_with_entries_queued, "7.8") \
    ROW(failed_resize_changes_nothing, "7.8 4.2") \
    ROW(resize_while_messages_arrive, "7.8 S8") \
    ROW(notify_affinity, "3.7") \
    ROW(several_threads_take_results, "S8")

#define ROWS_notify(ROW) \
    ROW(cancels_come_in_the_order_of_the_calls, "N1") \
    ROW(one_cancel_ends_all_in_issue_order, "N2") \
    ROW(issue_and_cancel_a_thousand_times, "N1") \
    ROW(cancel_with_nothing_pending, "N1") \
    ROW(release_cancels, "N1") \
    ROW(any_completes_on_success, "N3 N4") \
    ROW(any_completes_on_errors, "6.6") \
    ROW(entry_that_is_there_completes_it_at_once, "N4 6.6") \
    ROW(fetched_entries_do_not_count, "6.6") \
    ROW(used_up_entries_do_not_count, "6.6") \
    ROW(one_event_completes_all, "7.8") \
    ROW(silent_success_does_not_trigger, "7.8") \
    ROW(solicited_waits_for_a_solicited_message, "7.8") \
    ROW(solicited_ignores_own_requests, "7.8") \
    ROW(solicited_completes_on_errors, "7.8") \
    ROW(any_upgrades_solicited, "7.8") \
    ROW(errors_ignores_requests, "6.6") \
    ROW(unknown_type, "4.2") \
    ROW(port_and_result_without_waiting, "N3") \
    ROW(blocking_mode_with_an_auto_reset_event, "N4") \
    ROW(no_wakeup_is_lost_under_load, "N4 7.8") \
    ROW(random_interleavings, "7.8 6.6")

#define ROWS_srq(ROW) \
    ROW(two_queue_pairs_take_from_one, "7.8 S7") \
    ROW(empty_queue_does_not_break_the_sender, "7.8") \
    ROW(many_messages_wait_and_are_served_in_order, "7.8 S8") \
    ROW(notify_below_the_threshold, "7.8") \
    ROW(notify_when_it_is_below_already, "7.8") \
    ROW(notify_without_a_threshold, "7.8") \
    ROW(modify_threshold, "7.8") \
    ROW(modify_depth, "7.8") \
    ROW(receive_limits, "4.2") \
    ROW(scatter, "S3 7.8") \
    ROW(receive_on_the_queue_pair, "4.2") \
    ROW(one_connection_ends, "7.8 D1") \
    ROW(released_before_its_queue_pairs, "7.8") \
    ROW(release_cancels_notify, "7.8") \
    ROW(notify_affinity, "3.7")

#define ROWS_mr(ROW) \
    ROW(null_buffer, "M1") \
    ROW(zero_length, "M2") \
    ROW(larger_than_the_adapter_takes, "4.2 A3") \
    ROW(unmapped_memory, "4.2") \
    ROW(registered_already, "4.2") \
    ROW(deregister_without_a_registration, "4.2") \
    ROW(every_size_again_and_again, "M3") \
    ROW(unaligned_small_buffers, "M3") \
    ROW(flags, "3.3") \
    ROW(tokens_change_with_each_registration, "W4") \
    ROW(many_regions_of_the_same_memory, "M6") \
    ROW(synchronous_registration_on_a_port, "M7") \
    ROW(every_registration_queues_a_packet, "M8") \
    ROW(release_deregisters, "W4") \
    ROW(register_without_an_overlapped, "4.2")

#define ROWS_mw(ROW) \
    ROW(bind_completes_and_token_is_known_at_once, "W1") \
    ROW(active_side_owns_the_window, "W1 W2") \
    ROW(large_window_at_any_offset, "W2") \
    ROW(outside_the_window, "W3") \
    ROW(after_invalidate, "W4") \
    ROW(rights_of_the_window, "W5") \
    ROW(window_without_rights, "M5") \
    ROW(window_grants_what_its_region_does_not, "M6") \
    ROW(write_right_needs_local_write, "4.2") \
    ROW(buffer_outside_the_region, "4.2") \
    ROW(unregistered_region, "4.2") \
    ROW(window_is_bound_already, "4.2") \
    ROW(invalidate_of_an_unbound_window, "4.2") \
    ROW(bind_and_invalidate_keep_the_order, "W6 S8") \
    ROW(silent_bind_and_invalidate, "7.8") \
    ROW(token_changes_with_each_bind, "W4 3.9") \
    ROW(rebind_to_another_queue_pair_and_region, "7.8") \
    ROW(window_serves_its_own_queue_pair_only, "7.8") \
    ROW(overlapping_windows_with_different_rights, "7.8 M6") \
    ROW(deregister_with_a_bound_window, "M4") \
    ROW(deregister_after_the_window_has_gone, "M4") \
    ROW(region_is_released_before_its_window, "M4") \
    ROW(bound_region_is_released_and_access_goes_on, "M4") \
    ROW(window_of_another_adapter, "4.2")

#define ROWS_qp(ROW) \
    ROW(posts_before_connecting, "4.2 S1") \
    ROW(posts_while_connecting, "4.2") \
    ROW(receive_queue_depth_is_exact, "S9") \
    ROW(initiator_queue_depth_is_exact, "S9") \
    ROW(depth_one, "S9") \
    ROW(too_many_sge, "4.2") \
    ROW(too_long, "4.2") \
    ROW(one_octet_beyond_the_transfer_limit, "4.2 A3") \
    ROW(unknown_flags, "4.2") \
    ROW(sge_array_may_be_reused, "S3") \
    ROW(flush_without_a_connection, "S6 S7") \
    ROW(flush_of_an_empty_queue_pair, "S6") \
    ROW(flush_of_a_connected_queue_pair, "S7 D5") \
    ROW(flush_reports_silent_requests, "7.8") \
    ROW(completions_outlive_the_queue_pair, "S7") \
    ROW(two_queue_pairs_on_one_cq, "S8 S7")

#define ROWS_sendrecv(ROW) \
    ROW(sizes, "S8") \
    ROW(large_message, "S3") \
    ROW(receives_posted_before_connecting, "S1") \
    ROW(zero_length_messages, "S2") \
    ROW(gather_and_scatter, "S3") \
    ROW(mixed_entries, "S3") \
    ROW(most_entries_the_adapter_takes, "A5 S3") \
    ROW(streams_both_ways_keep_their_order, "S7 S8 S9") \
    ROW(silent_requests_without_end, "7.8") \
    ROW(silent_and_visible_requests_mixed, "7.8 S8") \
    ROW(silent_request_that_fails_is_reported, "7.8 S7") \
    ROW(inline_data_needs_no_registration, "7.8") \
    ROW(inline_data_in_many_entries, "7.8") \
    ROW(inline_length_limit, "7.8") \
    ROW(inline_without_room_for_it, "7.8") \
    ROW(inline_write, "W7 7.8") \
    ROW(inline_buffer_reuse, "7.8") \
    ROW(receive_is_too_small, "S4 S7") \
    ROW(no_receive_is_posted, "S5") \
    ROW(receive_comes_late, "S5") \
    ROW(bad_local_memory_of_a_send, "4.2") \
    ROW(receive_without_the_right_to_write, "4.2") \
    ROW(receive_beyond_its_region, "4.2") \
    ROW(failure_flushes_the_rest, "S7 S8") \
    ROW(several_threads_post_to_one_queue, "S9")

#define ROWS_rdma(ROW) \
    ROW(write_sizes, "W7 W8") \
    ROW(read_sizes, "W7") \
    ROW(zero_length_read_and_write, "W7") \
    ROW(write_gathers, "S3 W7") \
    ROW(read_scatters, "S3 W7") \
    ROW(large_region_at_any_offset, "W2") \
    ROW(send_delivers_behind_the_write, "W8") \
    ROW(batches_complete_in_order, "W7 S8") \
    ROW(reads_beyond_the_limit_wait, "C11 W7") \
    ROW(read_with_a_limit_of_zero, "C11 4.2") \
    ROW(peer_offered_no_reads, "C11 4.2") \
    ROW(fence_waits_for_reads, "7.8") \
    ROW(fence_on_every_kind, "7.8") \
    ROW(no_token, "4.2 W3") \
    ROW(beyond_the_region, "W3") \
    ROW(region_grants_only_what_its_flags_say, "W5 M6") \
    ROW(token_of_another_adapter, "W3 3.5") \
    ROW(deregistered_region, "M3 W4") \
    ROW(bad_local_memory, "4.2") \
    ROW(read_into_memory_without_the_right, "4.2") \
    ROW(same_memory_with_different_rights, "M6")

#define ROWS_connector(ROW) \
    ROW(bind_in_every_state, "C1 C4") \
    ROW(connect_in_every_state, "C4") \
    ROW(complete_connect_in_every_state, "C1") \
    ROW(accept_in_every_state, "C1") \
    ROW(reject_in_every_state, "C5") \
    ROW(get_read_limits_in_every_state, "C11") \
    ROW(get_private_data_in_every_state, "C9") \
    ROW(get_local_address_in_every_state, "C1") \
    ROW(get_peer_address_in_every_state, "C1") \
    ROW(notify_disconnect_in_every_state, "D2") \
    ROW(disconnect_in_every_state, "D4") \
    ROW(cancel_in_every_state, "N1") \
    ROW(release_in_every_state_returns_zero, "C6") \
    ROW(second_disconnect_while_one_runs, "D4") \
    ROW(bind_port_zero_chooses_a_port, "C1") \
    ROW(bind_to_a_foreign_address, "4.2") \
    ROW(bind_to_the_port_of_a_listener, "C13") \
    ROW(connect_from_an_explicit_port, "C13") \
    ROW(both_ends_tell_the_same_addresses, "C1") \
    ROW(short_address_buffer, "4.2") \
    ROW(nobody_listens, "C2") \
    ROW(refused_connector_connects_again, "C2 C5 S1") \
    ROW(connect_to_the_wildcard_address, "C3") \
    ROW(connect_without_a_route, "4.2") \
    ROW(second_connect_of_a_connector, "C4") \
    ROW(queue_pair_is_connected_already, "C4") \
    ROW(accept_with_a_connected_queue_pair, "C4") \
    ROW(one_adapter_for_both_ends, "A9 C1") \
    ROW(data_before_the_accept_is_reaped, "C17") \
    ROW(notify_disconnect_behind_complete_connect, "D2") \
    ROW(passive_side_rejects, "C5 C9") \
    ROW(active_side_rejects, "C5 D1") \
    ROW(active_side_is_released_unconfirmed, "C6 D1") \
    ROW(passive_side_is_released_unanswered, "C6") \
    ROW(reject_with_too_much_data, "C5") \
    ROW(accept_of_a_dead_request, "C6") \
    ROW(reject_of_a_dead_request, "C6") \
    ROW(cancel_connect, "N1") \
    ROW(cancel_accept, "N1") \
    ROW(connect_with_too_much_data, "C7") \
    ROW(accept_with_too_much_data, "C8") \
    ROW(private_data_arrives, "C9") \
    ROW(read_limits_are_negotiated, "C11 7.8") \
    ROW(read_limits_of_zero, "C11 7.8") \
    ROW(read_limits_above_everything, "C11 7.8") \
    ROW(head_to_head, "C12") \
    ROW(many_connections, "C16") \
    ROW(many_connections_at_once, "C16 A9")

#define ROWS_listener(ROW) \
    ROW(bind_port_zero_chooses_a_port, "C10") \
    ROW(second_bind, "C10") \
    ROW(second_listen, "C10") \
    ROW(listen_before_bind, "C10") \
    ROW(local_address_before_bind, "4.2") \
    ROW(short_address_buffer, "4.2") \
    ROW(request_before_listen, "C14") \
    ROW(bind_to_a_foreign_address, "4.2") \
    ROW(port_is_taken, "4.2") \
    ROW(port_is_free_after_the_release, "C2") \
    ROW(connector_is_not_idle, "C14") \
    ROW(requests_come_in_order, "C14") \
    ROW(cancelled_connectors_are_idle_again, "C14 N1") \
    ROW(release_cancels, "C14") \
    ROW(release_of_a_queued_connector, "C14") \
    ROW(release_refuses_what_nobody_took, "C2") \
    ROW(requests_outlive_their_listener, "C14") \
    ROW(backlog_limits_unanswered_requests, "C14 4.2") \
    ROW(backlog_zero_is_unlimited, "C14") \
    ROW(wildcard_listens_on_every_address, "7.8") \
    ROW(ipv6_wildcard_listens_on_every_address, "7.8")

#define ROWS_disconnect(ROW) \
    ROW(peer_disconnects, "D1 D2") \
    ROW(receives_end_without_a_call, "D1") \
    ROW(local_disconnect_flushes, "D5") \
    ROW(notify_of_the_side_that_disconnects, "D2") \
    ROW(every_notify_completes, "D2") \
    ROW(notify_right_after_accept, "D2") \
    ROW(cancel_notify, "D2 N1") \
    ROW(both_disconnect_at_once, "D3") \
    ROW(disconnect_after_the_peer_has, "D3 D4") \
    ROW(disconnect_without_a_connection, "D4") \
    ROW(last_message_arrives, "D6") \
    ROW(posts_after_the_end_are_flushed, "D1") \
    ROW(outstanding_sends_are_flushed, "D5 S7") \
    ROW(release_of_a_connected_connector, "D1") \
    ROW(release_of_a_connected_queue_pair, "D1") \
    ROW(queues_serve_the_next_connection, "D5 S1") \
    ROW(queue_pair_goes_before_its_disconnect_has_ended, "D5")

#define ROWS_lifetime(ROW) \
    ROW(hostile_order_of_release, "1.6 M4") \
    ROW(adapter_is_released_first, "1.6") \
    ROW(queues_are_released_before_their_use, "1.6") \
    ROW(last_release_with_a_notify, "7.8") \
    ROW(last_release_with_a_connect, "7.8") \
    ROW(last_release_with_an_accept, "7.8 C6") \
    ROW(last_release_with_a_notify_disconnect, "7.8") \
    ROW(last_release_with_a_disconnect, "7.8") \
    ROW(last_release_with_a_connection_request, "7.8") \
    ROW(last_release_with_an_srq_notify, "7.8") \
    ROW(last_release_after_a_registration, "7.8") \
    ROW(structures_are_free_after_the_release, "6.2") \
    ROW(one_overlapped_twice, "6.2") \
    ROW(event_is_closed_while_pending, "6.2") \
    ROW(port_is_closed_while_pending, "6.2") \
    ROW(cancel_races_with_completion, "6.3") \
    ROW(threads_connect_and_release, "C16 1.5")
/* clang-format on */

#endif
