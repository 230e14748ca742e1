/* SPDX-License-Identifier: MIT */
/*
 * methods.h - every method of every interface, what it does here, and the rows that prove it:
 * METHODS_<interface>(METHOD) with METHOD(name, "state", "suite.row suite.row"). The methods an interface inherits are
 * listed with its base.
 *
 * list_methods.c takes the vtables of ndspi.h as the list of what there is: a slot that no entry names, and a row that
 * does not exist or does not run over the interface's version, are errors.
 */
#ifndef TESTS_CONFORMANCE_METHODS_H
#define TESTS_CONFORMANCE_METHODS_H

#define DONE "complete"

/* clang-format off */
/* INTERFACE(name, base, version) */
#define INTERFACES(INTERFACE) \
    INTERFACE(INDProvider, IUnknown, V1) \
    INTERFACE(INDOverlapped, IUnknown, V1) \
    INTERFACE(INDAdapter, INDOverlapped, V1) \
    INTERFACE(INDCompletionQueue, INDOverlapped, V1) \
    INTERFACE(INDMemoryWindow, IUnknown, V1) \
    INTERFACE(INDEndpoint, IUnknown, V1) \
    INTERFACE(INDConnector, INDOverlapped, V1) \
    INTERFACE(INDListen, INDOverlapped, V1) \
    INTERFACE(IND2Provider, IUnknown, V2) \
    INTERFACE(IND2Adapter, IUnknown, V2) \
    INTERFACE(IND2Overlapped, IUnknown, V2) \
    INTERFACE(IND2CompletionQueue, IND2Overlapped, V2) \
    INTERFACE(IND2SharedReceiveQueue, IND2Overlapped, V2) \
    INTERFACE(IND2MemoryWindow, IUnknown, V2) \
    INTERFACE(IND2MemoryRegion, IND2Overlapped, V2) \
    INTERFACE(IND2QueuePair, IUnknown, V2) \
    INTERFACE(IND2Connector, IND2Overlapped, V2) \
    INTERFACE(IND2Listener, IND2Overlapped, V2)

/* Of all interfaces. */
#define METHODS_IUnknown(METHOD) \
    METHOD(QueryInterface, DONE, "iunknown.query_its_own_interface iunknown.identity iunknown.other_interfaces " \
        "iunknown.null_out_pointer") \
    METHOD(AddRef, DONE, "iunknown.counts iunknown.counts_are_safe_in_threads") \
    METHOD(Release, DONE, "iunknown.counts states.release_in_every_state_returns_zero " \
        "lifetime.hostile_order_of_release")

#define METHODS_INDProvider(METHOD) \
    METHOD(QueryAddressList, DONE, "v1_adapter.query_address_list") \
    METHOD(OpenAdapter, DONE, "v1_adapter.open_adapter_by_address")

#define METHODS_INDOverlapped(METHOD) \
    METHOD(CancelOverlappedRequests, DONE, "notify.one_cancel_ends_all_in_issue_order " \
        "overlapped.cancel_touches_its_own_object_only states.cancel_in_every_state") \
    METHOD(GetOverlappedResult, DONE "; the number of bytes is 0", "overlapped.result_waits " \
        "overlapped.finished_structure notify.port_and_result_without_waiting")

#define METHODS_INDAdapter(METHOD) \
    METHOD(GetFileHandle, DONE, "v1_adapter.one_file_handle v1_adapter.one_file_for_every_object " \
        "v1_adapter.client_closes_the_file") \
    METHOD(Query, DONE, "v1_adapter.query_tells_every_limit v1_adapter.query_agrees_with_version_2 " \
        "v1_adapter.query_versions_and_sizes") \
    METHOD(Control, "not supported: ND_NOT_SUPPORTED for every code, since codes are a vendor's own and there is " \
        "none here", "v1_adapter.control_is_not_supported") \
    METHOD(CreateCompletionQueue, DONE, "v1_adapter.completion_queue_depths v1_adapter.no_place_for_the_object " \
        "device.two_queues_of_the_greatest_depth") \
    METHOD(RegisterMemory, DONE, "v1_adapter.registrations_have_handles " \
        "v1_adapter.failed_registration_stores_nothing mr.every_size_again_and_again mr.unmapped_memory") \
    METHOD(DeregisterMemory, DONE, "v1_adapter.registrations_have_handles v1_endpoint.stale_and_foreign_handles " \
        "mw.deregister_with_a_bound_window") \
    METHOD(CreateMemoryWindow, DONE "; a registration of its own on a device without " \
        "windows", "v1_window.peer_invalidates mw.bind_completes_and_token_is_known_at_once " \
        "v1_adapter.no_place_for_the_object") \
    METHOD(CreateConnector, DONE, "states.connect_in_every_state v1_adapter.no_place_for_the_object") \
    METHOD(Listen, DONE, "v1_connector.listen_codes listener.backlog_limits_unanswered_requests " \
        "v1_connector.protocol_is_not_looked_at")

#define METHODS_INDCompletionQueue(METHOD) \
    METHOD(Resize, DONE "; on a device that cannot, within what the queue was made " \
        "with", "cq.resize_up_with_entries_queued cq.resize_down_with_entries_queued " \
        "cq.failed_resize_changes_nothing") \
    METHOD(Notify, DONE, "notify.any_completes_on_success notify.solicited_waits_for_a_solicited_message " \
        "notify.errors_ignores_requests notify.random_interleavings") \
    METHOD(GetResults, DONE, "v1_endpoint.result_is_the_clients_own v1_endpoint.lengths_of_each_kind " \
        "cq.results_come_in_arrays")

#define METHODS_INDMemoryWindow(METHOD)

#define METHODS_INDEndpoint(METHOD) \
    METHOD(Flush, DONE, "qp.flush_without_a_connection qp.flush_of_a_connected_queue_pair " \
        "v1_endpoint.flush_ends_the_batch") \
    METHOD(StartRequestBatch, DONE "; requests are held back until the batch ends", "v1_endpoint.batch_is_submitted " \
        "v1_endpoint.batch_of_receives_before_connecting v1_endpoint.batch_does_not_outgrow_the_queue") \
    METHOD(SubmitRequestBatch, DONE, "v1_endpoint.batch_is_submitted v1_endpoint.get_results_submits_the_batch") \
    METHOD(Send, DONE, "sendrecv.sizes v1_endpoint.null_handle_is_inline " \
        "v1_endpoint.inline_and_registered_entries_mixed qp.posts_before_connecting") \
    METHOD(SendAndInvalidate, DONE "; ND_NOT_SUPPORTED on a device that cannot", "v1_window.peer_invalidates " \
        "v1_window.peer_invalidates_nothing v1_window.both_invalidate_at_once") \
    METHOD(Receive, DONE, "sendrecv.receives_posted_before_connecting sendrecv.receive_is_too_small " \
        "qp.receive_queue_depth_is_exact") \
    METHOD(Bind, DONE, "v1_window.descriptor_is_big_endian_wherever_it_stands mw.rights_of_the_window " \
        "mw.buffer_outside_the_region mw.window_is_bound_already") \
    METHOD(Invalidate, DONE, "mw.after_invalidate mw.invalidate_of_an_unbound_window " \
        "v1_window.own_invalidate_comes_too_late") \
    METHOD(Read, DONE, "rdma.read_sizes v1_window.offsets_count_from_the_base v1_window.read_beyond_the_descriptor") \
    METHOD(Write, DONE, "rdma.write_sizes v1_window.offsets_count_from_the_base v1_window.lengthened_descriptor")

#define METHODS_INDConnector(METHOD) \
    METHOD(CreateEndpoint, DONE, "v1_connector.endpoint_limits v1_connector.endpoint_on_queues_that_are_none " \
        "v1_connector.endpoint_tells_its_inline_data v1_connector.read_limits_come_from_the_endpoint") \
    METHOD(Connect, DONE, "states.connect_in_every_state connector.nobody_listens " \
        "connector.refused_connector_connects_again v1_connector.timeout_is_no_failure") \
    METHOD(CompleteConnect, DONE, "states.complete_connect_in_every_state") \
    METHOD(Accept, DONE, "states.accept_in_every_state refusal.active_side_rejects " \
        "negotiation.accept_with_too_much_data") \
    METHOD(Reject, DONE, "states.reject_in_every_state v1_connector.reject_codes refusal.passive_side_rejects " \
        "refusal.active_side_rejects") \
    METHOD(GetConnectionData, DONE, "v1_connector.connection_data_in_parts states.get_read_limits_in_every_state " \
        "states.get_private_data_in_every_state") \
    METHOD(GetLocalAddress, DONE, "states.get_local_address_in_every_state " \
        "connector.both_ends_tell_the_same_addresses") \
    METHOD(GetPeerAddress, DONE, "states.get_peer_address_in_every_state connector.both_ends_tell_the_same_addresses") \
    METHOD(NotifyDisconnect, DONE, "states.notify_disconnect_in_every_state disconnect.peer_disconnects " \
        "disconnect.notify_of_the_side_that_disconnects") \
    METHOD(Disconnect, DONE, "states.disconnect_in_every_state disconnect.local_disconnect_flushes " \
        "disconnect.both_disconnect_at_once")

#define METHODS_INDListen(METHOD) \
    METHOD(GetConnectionRequest, DONE, "listener.requests_come_in_order listener.connector_is_not_idle " \
        "v1_connector.request_for_a_connector_that_is_none")

#define METHODS_IND2Provider(METHOD) \
    METHOD(QueryAddressList, DONE, "provider.query_address_list") \
    METHOD(ResolveAddress, DONE, "provider.resolve_address provider.addresses_of_one_adapter") \
    METHOD(OpenAdapter, DONE, "provider.open_adapter_by_id provider.adapters_are_independent")

#define METHODS_IND2Adapter(METHOD) \
    METHOD(CreateOverlappedFile, DONE, "adapter.overlapped_files overlapped.two_files_one_port") \
    METHOD(Query, DONE, "adapter.query_with_the_exact_size adapter.query_for_the_size adapter.query_versions") \
    METHOD(QueryAddressList, DONE, "adapter.query_address_list") \
    METHOD(CreateCompletionQueue, DONE, "params.completion_queue_depth device.two_queues_of_the_greatest_depth " \
        "iunknown.makers_check_the_iid") \
    METHOD(CreateMemoryRegion, DONE, "iunknown.makers_check_the_iid params.file_is_not_of_this_adapter") \
    METHOD(CreateMemoryWindow, DONE "; a registration of its own on a device without " \
        "windows", "mw.bind_completes_and_token_is_known_at_once iunknown.makers_check_the_iid") \
    METHOD(CreateSharedReceiveQueue, DONE "; ND_NOT_SUPPORTED on a device without shared receive " \
        "queues", "params.shared_receive_queue iunknown.makers_check_the_iid") \
    METHOD(CreateQueuePair, DONE, "params.queue_pair_depths params.queue_pair_sge params.queue_pair_inline " \
        "device.limits_hold_together") \
    METHOD(CreateQueuePairWithSrq, DONE, "params.queue_pair_with_srq srq.two_queue_pairs_take_from_one") \
    METHOD(CreateConnector, DONE, "iunknown.makers_check_the_iid params.file_is_not_of_this_adapter") \
    METHOD(CreateListener, DONE, "iunknown.makers_check_the_iid params.file_is_not_of_this_adapter")

#define METHODS_IND2Overlapped(METHOD) \
    METHOD(CancelOverlappedRequests, DONE, "notify.one_cancel_ends_all_in_issue_order " \
        "overlapped.cancel_touches_its_own_object_only states.cancel_in_every_state") \
    METHOD(GetOverlappedResult, DONE, "overlapped.result_waits overlapped.finished_structure " \
        "overlapped.any_region_tells_the_result")

#define METHODS_IND2CompletionQueue(METHOD) \
    METHOD(GetNotifyAffinity, DONE "; tells the hint of CreateCompletionQueue", "cq.notify_affinity") \
    METHOD(Resize, DONE "; on a device that cannot, within what the queue was made " \
        "with", "cq.resize_up_with_entries_queued cq.resize_down_with_entries_queued " \
        "cq.failed_resize_changes_nothing") \
    METHOD(Notify, DONE, "notify.any_completes_on_success notify.solicited_waits_for_a_solicited_message " \
        "notify.errors_ignores_requests notify.random_interleavings") \
    METHOD(GetResults, DONE, "cq.results_come_in_arrays cq.result_of_each_kind")

#define METHODS_IND2SharedReceiveQueue(METHOD) \
    METHOD(GetNotifyAffinity, DONE "; tells the hint of CreateSharedReceiveQueue", "srq.notify_affinity") \
    METHOD(Modify, DONE "; on a device that cannot, within what the queue was made with", "srq.modify_depth " \
        "srq.modify_threshold") \
    METHOD(Notify, DONE, "srq.notify_below_the_threshold srq.notify_when_it_is_below_already") \
    METHOD(Receive, DONE, "srq.two_queue_pairs_take_from_one srq.receive_limits srq.scatter")

#define METHODS_IND2MemoryWindow(METHOD) \
    METHOD(GetRemoteToken, DONE, "mw.bind_completes_and_token_is_known_at_once mw.token_changes_with_each_bind")

#define METHODS_IND2MemoryRegion(METHOD) \
    METHOD(Register, DONE, "mr.every_size_again_and_again mr.flags mr.unmapped_memory mr.registered_already") \
    METHOD(Deregister, DONE, "mr.deregister_without_a_registration mw.deregister_with_a_bound_window") \
    METHOD(GetLocalToken, DONE, "mr.tokens_change_with_each_registration sendrecv.gather_and_scatter") \
    METHOD(GetRemoteToken, DONE, "mr.tokens_change_with_each_registration rdma.region_grants_only_what_its_flags_say")

#define METHODS_IND2QueuePair(METHOD) \
    METHOD(Flush, DONE, "qp.flush_without_a_connection qp.flush_of_a_connected_queue_pair") \
    METHOD(Send, DONE, "sendrecv.sizes sendrecv.gather_and_scatter inline.inline_data_needs_no_registration " \
        "qp.posts_before_connecting") \
    METHOD(Receive, DONE, "sendrecv.receives_posted_before_connecting sendrecv.receive_is_too_small " \
        "qp.receive_queue_depth_is_exact") \
    METHOD(Bind, DONE, "mw.bind_completes_and_token_is_known_at_once mw.rights_of_the_window " \
        "mw.buffer_outside_the_region mw.window_is_bound_already") \
    METHOD(Invalidate, DONE, "mw.after_invalidate mw.invalidate_of_an_unbound_window") \
    METHOD(Read, DONE, "rdma.read_sizes rdma.read_scatters rdma.beyond_the_region") \
    METHOD(Write, DONE, "rdma.write_sizes rdma.write_gathers rdma.beyond_the_region")

#define METHODS_IND2Connector(METHOD) \
    METHOD(Bind, DONE, "states.bind_in_every_state connector.bind_port_zero_chooses_a_port " \
        "connector.bind_to_the_port_of_a_listener") \
    METHOD(Connect, DONE, "states.connect_in_every_state connector.nobody_listens " \
        "connector.refused_connector_connects_again") \
    METHOD(CompleteConnect, DONE, "states.complete_connect_in_every_state") \
    METHOD(Accept, DONE, "states.accept_in_every_state refusal.active_side_rejects " \
        "negotiation.accept_with_too_much_data") \
    METHOD(Reject, DONE, "states.reject_in_every_state refusal.passive_side_rejects refusal.active_side_rejects") \
    METHOD(GetReadLimits, DONE, "states.get_read_limits_in_every_state negotiation.read_limits_are_negotiated") \
    METHOD(GetPrivateData, DONE, "states.get_private_data_in_every_state negotiation.private_data_arrives") \
    METHOD(GetLocalAddress, DONE, "states.get_local_address_in_every_state " \
        "connector.both_ends_tell_the_same_addresses") \
    METHOD(GetPeerAddress, DONE, "states.get_peer_address_in_every_state connector.both_ends_tell_the_same_addresses") \
    METHOD(NotifyDisconnect, DONE, "states.notify_disconnect_in_every_state disconnect.peer_disconnects " \
        "disconnect.every_notify_completes") \
    METHOD(Disconnect, DONE, "states.disconnect_in_every_state disconnect.local_disconnect_flushes " \
        "disconnect.both_disconnect_at_once")

#define METHODS_IND2Listener(METHOD) \
    METHOD(Bind, DONE, "listener.bind_port_zero_chooses_a_port listener.second_bind listener.port_is_taken") \
    METHOD(Listen, DONE, "listener.second_listen listener.listen_before_bind " \
        "listener.backlog_limits_unanswered_requests") \
    METHOD(GetLocalAddress, DONE, "listener.local_address_before_bind listener.bind_port_zero_chooses_a_port") \
    METHOD(GetConnectionRequest, DONE, "listener.requests_come_in_order listener.connector_is_not_idle " \
        "listener.cancelled_connectors_are_idle_again")
/* clang-format on */

#endif
