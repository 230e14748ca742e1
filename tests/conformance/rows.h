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
    ROW(provider_asked_for_directly, "dll") \
    ROW(provider_from_the_class_factory, "dll") \
    ROW(class_factory_rules, "dll com") \
    ROW(unknown_class_and_interface, "dll") \
    ROW(can_unload_now, "dll lifetime") \
    ROW(lock_server, "dll") \
    ROW(query_address_list, "provider A1") \
    ROW(resolve_address, "provider") \
    ROW(addresses_of_one_adapter, "provider") \
    ROW(open_adapter_by_id, "provider") \
    ROW(adapters_are_independent, "provider A9") \
    ROW(providers_come_and_go, "dll")

#define ROWS_helper(ROW) \
    ROW(nothing_works_before_startup, "helper") \
    ROW(startup_is_counted, "helper") \
    ROW(every_address_of_the_list_is_good, "A1") \
    ROW(list_into_too_small_a_buffer, "A1 helper") \
    ROW(list_without_some, "helper") \
    ROW(check_address, "A1 helper") \
    ROW(resolve_address, "A2") \
    ROW(resolve_into_too_small_a_buffer, "A2 helper") \
    ROW(resolve_malformed_addresses, "helper") \
    ROW(open_adapter_by_address, "helper A2") \
    ROW(cleanup_with_an_open_adapter, "helper lifetime") \
    ROW(threads_start_and_stop, "helper com")

#define ROWS_adapter(ROW) \
    ROW(query_with_the_exact_size, "A3") \
    ROW(query_for_the_size, "A3 adapter") \
    ROW(query_into_too_small_a_buffer, "adapter") \
    ROW(query_into_a_larger_buffer, "adapter") \
    ROW(query_versions, "A3") \
    ROW(adapter_flags, "A8") \
    ROW(query_address_list, "A1 adapter") \
    ROW(overlapped_files, "adapter") \
    ROW(objects_outlive_the_file_handle, "lifetime")

#define ROWS_device(ROW) \
    ROW(two_queues_of_the_greatest_depth, "A4") \
    ROW(limits_hold_together, "A5 A6") \
    ROW(greatest_queue_pair_works, "A5 S9") \
    ROW(many_objects, "A9") \
    ROW(several_adapters_in_one_process, "A9") \
    ROW(one_port_for_everything, "A9 N1") \
    ROW(connections_share_one_queue, "A9 S8") \
    ROW(every_address_connects, "A1 address") \
    ROW(ipv6_loopback, "address")

#define ROWS_iunknown(ROW) \
    ROW(query_its_own_interface, "com") \
    ROW(identity, "com") \
    ROW(overlapped_interface, "com") \
    ROW(other_interfaces, "com") \
    ROW(null_out_pointer, "com") \
    ROW(counts, "com") \
    ROW(holders_are_not_counted, "com lifetime") \
    ROW(makers_check_the_iid, "adapter status") \
    ROW(made_as_iunknown, "provider adapter") \
    ROW(peer_is_null, "com status") \
    ROW(peer_is_foreign, "com status") \
    ROW(peer_is_of_the_wrong_kind, "com status") \
    ROW(counts_are_safe_in_threads, "com")

#define ROWS_params(ROW) \
    ROW(queue_pair_depths, "A6 status") \
    ROW(queue_pair_sge, "A5 status") \
    ROW(queue_pair_inline, "A4 status") \
    ROW(queue_pair_with_srq, "status") \
    ROW(completion_queue_depth, "A4 status") \
    ROW(affinity_is_a_hint, "adapter") \
    ROW(shared_receive_queue, "srq status") \
    ROW(file_is_not_of_this_adapter, "adapter status") \
    ROW(peers_of_another_adapter, "provider status") \
    ROW(malformed_addresses, "status") \
    ROW(private_data_without_a_pointer, "status")

#define ROWS_overlapped(ROW) \
    ROW(never_success_at_once, "M8 packet") \
    ROW(connection_calls_never_succeed_at_once, "C15 packet") \
    ROW(one_packet_for_each_non_failure, "M8 packet") \
    ROW(pending_structure, "overlapped") \
    ROW(finished_structure, "overlapped") \
    ROW(immediate_error_leaves_everything_alone, "packet") \
    ROW(tagged_event_suppresses_the_packet, "M7 overlapped") \
    ROW(no_event_and_no_port, "overlapped") \
    ROW(result_waits, "N4 overlapped") \
    ROW(auto_reset_event, "N4 overlapped") \
    ROW(port_attached_late, "packet") \
    ROW(two_files_one_port, "A9 packet") \
    ROW(second_port_for_a_file, "port") \
    ROW(user_packets_pass, "N5") \
    ROW(several_packets_at_once, "port") \
    ROW(dequeued_error_of_a_refusal, "overlapped C2") \
    ROW(dequeued_error_of_a_local_disconnect, "overlapped D2") \
    ROW(dequeued_error_of_an_overrun, "overlapped cq") \
    ROW(any_region_tells_the_result, "overlapped") \
    ROW(cancel_touches_its_own_object_only, "cancel") \
    ROW(cancel_after_the_end, "cancel") \
    ROW(file_closed_while_requests_are_pending, "packet lifetime") \
    ROW(null_overlapped, "status")

#define ROWS_cq(ROW) \
    ROW(results_come_in_arrays, "S8") \
    ROW(result_of_each_kind, "S7 result") \
    ROW(depth_smaller_than_its_queue_pairs, "A7") \
    ROW(exactly_full, "cq") \
    ROW(overrun_fails_the_queue, "cq status") \
    ROW(overrun_by_messages, "cq") \
    ROW(resize_up_with_entries_queued, "cq") \
    ROW(resize_down_with_entries_queued, "cq") \
    ROW(failed_resize_changes_nothing, "cq status") \
    ROW(resize_while_messages_arrive, "cq S8") \
    ROW(notify_affinity, "affinity") \
    ROW(several_threads_take_results, "S8")

#define ROWS_notify(ROW) \
    ROW(cancels_come_in_the_order_of_the_calls, "N1") \
    ROW(one_cancel_ends_all_in_issue_order, "N2") \
    ROW(issue_and_cancel_a_thousand_times, "N1") \
    ROW(cancel_with_nothing_pending, "N1") \
    ROW(release_cancels, "N1") \
    ROW(any_completes_on_success, "N3 N4") \
    ROW(any_completes_on_errors, "notify") \
    ROW(entry_that_is_there_completes_it_at_once, "N4 notify") \
    ROW(fetched_entries_do_not_count, "notify") \
    ROW(used_up_entries_do_not_count, "notify") \
    ROW(one_event_completes_all, "cq") \
    ROW(silent_success_does_not_trigger, "silent") \
    ROW(solicited_waits_for_a_solicited_message, "solicited") \
    ROW(solicited_ignores_own_requests, "solicited") \
    ROW(solicited_completes_on_errors, "solicited") \
    ROW(any_upgrades_solicited, "solicited") \
    ROW(errors_ignores_requests, "notify") \
    ROW(unknown_type, "status") \
    ROW(port_and_result_without_waiting, "N3") \
    ROW(blocking_mode_with_an_auto_reset_event, "N4") \
    ROW(no_wakeup_is_lost_under_load, "N4 cq") \
    ROW(random_interleavings, "cq notify")

#define ROWS_srq(ROW) \
    ROW(two_queue_pairs_take_from_one, "srq S7") \
    ROW(empty_queue_does_not_break_the_sender, "srq") \
    ROW(many_messages_wait_and_are_served_in_order, "srq S8") \
    ROW(notify_below_the_threshold, "srq") \
    ROW(notify_when_it_is_below_already, "srq") \
    ROW(notify_without_a_threshold, "srq") \
    ROW(modify_threshold, "srq") \
    ROW(modify_depth, "srq") \
    ROW(receive_limits, "status") \
    ROW(scatter, "S3 srq") \
    ROW(receive_on_the_queue_pair, "status") \
    ROW(one_connection_ends, "srq D1") \
    ROW(released_before_its_queue_pairs, "srq") \
    ROW(release_cancels_notify, "srq") \
    ROW(notify_affinity, "affinity")

#define ROWS_mr(ROW) \
    ROW(null_buffer, "M1") \
    ROW(zero_length, "M2") \
    ROW(larger_than_the_adapter_takes, "status A3") \
    ROW(unmapped_memory, "status") \
    ROW(registered_already, "status") \
    ROW(deregister_without_a_registration, "status") \
    ROW(every_size_again_and_again, "M3") \
    ROW(unaligned_small_buffers, "M3") \
    ROW(flags, "flags") \
    ROW(tokens_change_with_each_registration, "W4") \
    ROW(many_regions_of_the_same_memory, "M6") \
    ROW(synchronous_registration_on_a_port, "M7") \
    ROW(every_registration_queues_a_packet, "M8") \
    ROW(release_deregisters, "W4") \
    ROW(register_without_an_overlapped, "status")

#define ROWS_mw(ROW) \
    ROW(bind_completes_and_token_is_known_at_once, "W1") \
    ROW(active_side_owns_the_window, "W1 W2") \
    ROW(large_window_at_any_offset, "W2") \
    ROW(outside_the_window, "W3") \
    ROW(after_invalidate, "W4") \
    ROW(rights_of_the_window, "W5") \
    ROW(window_without_rights, "M5") \
    ROW(window_grants_what_its_region_does_not, "M6") \
    ROW(write_right_needs_local_write, "status") \
    ROW(buffer_outside_the_region, "status") \
    ROW(unregistered_region, "status") \
    ROW(window_is_bound_already, "status") \
    ROW(invalidate_of_an_unbound_window, "status") \
    ROW(bind_and_invalidate_keep_the_order, "W6 S8") \
    ROW(silent_bind_and_invalidate, "silent") \
    ROW(token_changes_with_each_bind, "W4 token") \
    ROW(rebind_to_another_queue_pair_and_region, "window") \
    ROW(window_serves_its_own_queue_pair_only, "window") \
    ROW(overlapping_windows_with_different_rights, "window M6") \
    ROW(deregister_with_a_bound_window, "M4") \
    ROW(deregister_after_the_window_has_gone, "M4") \
    ROW(region_is_released_before_its_window, "M4") \
    ROW(bound_region_is_released_and_access_goes_on, "M4") \
    ROW(window_of_another_adapter, "status")

#define ROWS_qp(ROW) \
    ROW(posts_before_connecting, "status S1") \
    ROW(posts_while_connecting, "status") \
    ROW(receive_queue_depth_is_exact, "S9") \
    ROW(initiator_queue_depth_is_exact, "S9") \
    ROW(depth_one, "S9") \
    ROW(too_many_sge, "status") \
    ROW(too_long, "status") \
    ROW(one_octet_beyond_the_transfer_limit, "status A3") \
    ROW(unknown_flags, "status") \
    ROW(sge_array_may_be_reused, "S3") \
    ROW(flush_without_a_connection, "S6 S7") \
    ROW(flush_of_an_empty_queue_pair, "S6") \
    ROW(flush_of_a_connected_queue_pair, "S7 D5") \
    ROW(flush_reports_silent_requests, "silent") \
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
    ROW(silent_requests_without_end, "silent") \
    ROW(silent_and_visible_requests_mixed, "silent S8") \
    ROW(silent_request_that_fails_is_reported, "silent S7") \
    ROW(inline_data_needs_no_registration, "inline") \
    ROW(inline_data_in_many_entries, "inline") \
    ROW(inline_length_limit, "inline") \
    ROW(inline_without_room_for_it, "inline") \
    ROW(inline_write, "W7 inline") \
    ROW(inline_buffer_reuse, "inline") \
    ROW(receive_is_too_small, "S4 S7") \
    ROW(no_receive_is_posted, "S5") \
    ROW(receive_comes_late, "S5") \
    ROW(bad_local_memory_of_a_send, "status") \
    ROW(receive_without_the_right_to_write, "status") \
    ROW(receive_beyond_its_region, "status") \
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
    ROW(read_with_a_limit_of_zero, "C11 status") \
    ROW(peer_offered_no_reads, "C11 status") \
    ROW(fence_waits_for_reads, "fence") \
    ROW(fence_on_every_kind, "fence") \
    ROW(no_token, "status W3") \
    ROW(beyond_the_region, "W3") \
    ROW(region_grants_only_what_its_flags_say, "W5 M6") \
    ROW(token_of_another_adapter, "W3 provider") \
    ROW(deregistered_region, "M3 W4") \
    ROW(bad_local_memory, "status") \
    ROW(read_into_memory_without_the_right, "status") \
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
    ROW(bind_to_a_foreign_address, "status") \
    ROW(bind_to_the_port_of_a_listener, "C13") \
    ROW(connect_from_an_explicit_port, "C13") \
    ROW(both_ends_tell_the_same_addresses, "C1") \
    ROW(short_address_buffer, "status") \
    ROW(nobody_listens, "C2") \
    ROW(refused_connector_connects_again, "C2 C5 S1") \
    ROW(connect_to_the_wildcard_address, "C3") \
    ROW(connect_without_a_route, "status") \
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
    ROW(read_limits_are_negotiated, "C11 readlimit") \
    ROW(read_limits_of_zero, "C11 readlimit") \
    ROW(read_limits_above_everything, "C11 readlimit") \
    ROW(head_to_head, "C12") \
    ROW(many_connections, "C16") \
    ROW(many_connections_at_once, "C16 A9")

#define ROWS_listener(ROW) \
    ROW(bind_port_zero_chooses_a_port, "C10") \
    ROW(second_bind, "C10") \
    ROW(second_listen, "C10") \
    ROW(listen_before_bind, "C10") \
    ROW(local_address_before_bind, "status") \
    ROW(short_address_buffer, "status") \
    ROW(request_before_listen, "C14") \
    ROW(bind_to_a_foreign_address, "status") \
    ROW(port_is_taken, "status") \
    ROW(port_is_free_after_the_release, "C2") \
    ROW(connector_is_not_idle, "C14") \
    ROW(requests_come_in_order, "C14") \
    ROW(cancelled_connectors_are_idle_again, "C14 N1") \
    ROW(release_cancels, "C14") \
    ROW(release_of_a_queued_connector, "C14") \
    ROW(release_refuses_what_nobody_took, "C2") \
    ROW(requests_outlive_their_listener, "C14") \
    ROW(backlog_limits_unanswered_requests, "C14 status") \
    ROW(backlog_zero_is_unlimited, "C14") \
    ROW(wildcard_listens_on_every_address, "address") \
    ROW(ipv6_wildcard_listens_on_every_address, "address")

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
    ROW(hostile_order_of_release, "lifetime M4") \
    ROW(adapter_is_released_first, "lifetime") \
    ROW(queues_are_released_before_their_use, "lifetime") \
    ROW(last_release_with_a_notify, "teardown") \
    ROW(last_release_with_a_connect, "teardown") \
    ROW(last_release_with_an_accept, "teardown C6") \
    ROW(last_release_with_a_notify_disconnect, "teardown") \
    ROW(last_release_with_a_disconnect, "teardown") \
    ROW(last_release_with_a_connection_request, "teardown") \
    ROW(last_release_with_an_srq_notify, "teardown") \
    ROW(last_release_after_a_registration, "teardown") \
    ROW(structures_are_free_after_the_release, "overlapped") \
    ROW(one_overlapped_twice, "overlapped") \
    ROW(event_is_closed_while_pending, "overlapped") \
    ROW(port_is_closed_while_pending, "overlapped") \
    ROW(cancel_races_with_completion, "cancel") \
    ROW(threads_connect_and_release, "C16 com")
/* clang-format on */

#endif
