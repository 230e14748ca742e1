/* SPDX-License-Identifier: MIT */
/*
 * tables.h - NDKPI as it is here, for docs/compatibility.md: what each name of tests/abi/ndk.def does, since which
 * version, and the tests of this folder that prove it.
 *
 *   SLOTS   SLOT(table, member, "since", "state", "test.row test.row")
 *   TYPES   TYPE(name, "since", "text")       function types that no slot has
 *   STRUCTS STRUCT(name, "since", "text")
 *   INFO    FIELD(name, "since", "text")      fields of NDK_ADAPTER_INFO
 *   VALUES  VALUE(name, "since", "text")
 *   CODES   CODE(name, "text")
 *
 * list_tables.c holds them against ndk.def: a row that either side lacks is an error, and so is a test that does not
 * exist.
 */
#ifndef TESTS_UNIT_NDK_TABLES_H
#define TESTS_UNIT_NDK_TABLES_H

#define DONE       "complete"
#define NONE       "not provided: "
#define ENDS_LAST  "complete; ends last, and after what was made from the object or uses it"
#define EXTENSIONS "complete; there are no extensions: STATUS_NOT_SUPPORTED"

/* clang-format off */
#define SLOTS(SLOT) \
    SLOT(NDK_ADAPTER_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkQueryAdapterInfo, "1.1", DONE "; 0x60 bytes before 2.0", \
        "adapter.info_before_2_0_has_0x60_bytes adapter.info_tells_limits") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkCreateCq, "1.1", DONE "; Affinity pins a thread of the adapter where one is " \
        "free", "queue.completion_queues_have_limits") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkCreatePd, "1.1", DONE, "adapter.objects_are_made_and_closed_in_the_call " \
        "adapter.forced_they_are_by_the_callback") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkCreateSharedEndpoint, "1.1", DONE, "connection.connectors_share_an_endpoint") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkCreateConnector, "1.1", DONE, "connection.both_sides_agree") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkCreateListener, "1.1", DONE, "connection.both_sides_agree " \
        "connection.bad_calls_of_listeners") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkBuildLAM, "1.1", DONE "; always ends in the call, so the callback may be NULL; " \
        "a logical address is the virtual one", "lam.mapping_has_the_pages lam.bad_mappings_are_refused " \
        "lam.many_mappings_come_and_go") \
    SLOT(NDK_ADAPTER_DISPATCH, NdkReleaseLAM, "1.1", DONE, "lam.privileged_token_names_mapped_memory " \
        "lam.released_memory_may_be_mapped_anew") \
    SLOT(NDK_PD_DISPATCH, NdkClosePd, "1.1", ENDS_LAST, "memory.antecedents_end_after_successors") \
    SLOT(NDK_PD_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_PD_DISPATCH, NdkCreateMr, "1.1", DONE, "memory.region_is_for_one_kind_of_registration") \
    SLOT(NDK_PD_DISPATCH, NdkCreateMw, "1.1", DONE "; a registration of its own on a device without windows", \
        "data.window_is_bound_and_invalidated") \
    SLOT(NDK_PD_DISPATCH, NdkCreateSrq, "1.1", DONE, "queue.shared_receive_queue_tells_its_threshold") \
    SLOT(NDK_PD_DISPATCH, NdkCreateQp, "1.1", DONE, "queue.queue_pairs_have_limits") \
    SLOT(NDK_PD_DISPATCH, NdkCreateQpWithSrq, "1.1", DONE, "queue.queue_pair_takes_a_shared_receive_queue") \
    SLOT(NDK_PD_DISPATCH, NdkGetPrivilegedMemoryRegionToken, "1.1", DONE "; what no mapping of the adapter has is " \
        "refused when it is posted", "lam.privileged_token_names_mapped_memory " \
        "lam.memory_without_a_right_to_write_is_sent") \
    SLOT(NDK_CQ_DISPATCH, NdkCloseCq, "1.1", ENDS_LAST, "queue.completion_queue_ends_after_its_queue_pair " \
        "queue.close_waits_for_the_callback") \
    SLOT(NDK_CQ_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_CQ_DISPATCH, NdkResizeCq, "1.1", DONE "; on a device that cannot, within what the queue was made " \
        "with", "queue.depth_changes") \
    SLOT(NDK_CQ_DISPATCH, NdkArmCq, "1.1", DONE "; the callback is never called inside it", \
        "data.what_an_arm_fires_on data.stronger_arm_wins data.arm_fires_for_what_is_there " \
        "queue.overrun_is_told") \
    SLOT(NDK_CQ_DISPATCH, NdkGetCqResults, "1.1", DONE, "data.messages_arrive data.send_invalidates_at_the_peer") \
    SLOT(NDK_CQ_DISPATCH, NdkControlCqInterruptModeration, "1.1", DONE "; STATUS_NOT_SUPPORTED on a " \
        "device that cannot", "queue.completion_queues_have_limits") \
    SLOT(NDK_CQ_DISPATCH, NdkGetCqResultsEx, "1.2", DONE, "data.messages_arrive " \
        "data.send_invalidates_at_the_peer") \
    SLOT(NDK_QP_DISPATCH, NdkCloseQp, "1.1", ENDS_LAST, "queue.close_ends_receives " \
        "connection.queue_pair_ends_after_its_connector") \
    SLOT(NDK_QP_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_QP_DISPATCH, NdkFlush, "1.1", DONE "; the queue pair takes no request after it", \
        "queue.flush_ends_receives data.flush_cancels_and_closes_without_disconnect") \
    SLOT(NDK_QP_DISPATCH, NdkSend, "1.1", DONE, "data.messages_arrive data.inline_data_is_copied " \
        "queue.initiator_needs_a_connection") \
    SLOT(NDK_QP_DISPATCH, NdkReceive, "1.1", DONE, "queue.bad_lists_are_refused " \
        "data.too_long_messages_fail_at_the_receiver data.consumer_lives_in_its_callback") \
    SLOT(NDK_QP_DISPATCH, NdkBind, "1.1", DONE, "data.window_is_bound_and_invalidated") \
    SLOT(NDK_QP_DISPATCH, NdkFastRegister, "1.1", DONE "; where it is a window over a registration (any device " \
        "but the embedded one) the pages have to follow each other, else STATUS_NOT_SUPPORTED, and the region " \
        "serves the queue pair it is registered on", "fast_register.pages_are_reached_at_any_base " \
        "fast_register.pages_may_be_scattered fast_register.bad_registrations_are_refused " \
        "fast_register.own_requests_use_the_base fast_register.rights_are_those_that_were_given") \
    SLOT(NDK_QP_DISPATCH, NdkInvalidate, "1.1", DONE "; what is not registered, or not bound, is refused in the " \
        "call, and the connection stays", "data.window_is_bound_and_invalidated " \
        "fast_register.token_is_the_same_for_life") \
    SLOT(NDK_QP_DISPATCH, NdkRead, "1.1", DONE "; a Read past the end fails in its result", \
        "data.peers_memory_is_read_and_written") \
    SLOT(NDK_QP_DISPATCH, NdkWrite, "1.1", DONE, "data.peers_memory_is_read_and_written " \
        "data.silent_requests_tell_failures_alone") \
    SLOT(NDK_QP_DISPATCH, NdkSendAndInvalidate, "1.2", DONE, "data.send_invalidates_at_the_peer " \
        "fast_register.peer_invalidates") \
    SLOT(NDK_MR_DISPATCH, NdkCloseMr, "1.1", ENDS_LAST, "memory.antecedents_end_after_successors " \
        "fast_register.close_ends_access") \
    SLOT(NDK_MR_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_MR_DISPATCH, NdkRegisterMr, "1.1", DONE "; ends in the call", \
        "memory.region_has_tokens_while_registered memory.only_contiguous_memory_is_registered") \
    SLOT(NDK_MR_DISPATCH, NdkDeregisterMr, "1.1", DONE "; STATUS_INVALID_DEVICE_STATE while a window is bound to " \
        "it", "memory.region_has_tokens_while_registered") \
    SLOT(NDK_MR_DISPATCH, NdkInitializeFastRegisterMr, "1.1", DONE "; once for each region; STATUS_NOT_SUPPORTED " \
        "on a device without fast registration", "fast_register.regions_are_initialised_once") \
    SLOT(NDK_MR_DISPATCH, NdkGetRemoteTokenFromMr, "1.1", DONE "; of a region for fast registration one token for " \
        "life, known once it is initialised", "memory.region_has_tokens_while_registered " \
        "fast_register.token_is_the_same_for_life") \
    SLOT(NDK_MR_DISPATCH, NdkGetLocalTokenFromMr, "1.1", DONE "; the same", "memory.tokens_are_of_their_domain " \
        "fast_register.token_is_the_same_for_life") \
    SLOT(NDK_MW_DISPATCH, NdkCloseMw, "1.1", ENDS_LAST, "memory.antecedents_end_after_successors") \
    SLOT(NDK_MW_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_MW_DISPATCH, NdkGetRemoteTokenFromMw, "1.1", DONE "; another one after each NdkBind", \
        "data.window_is_bound_and_invalidated") \
    SLOT(NDK_SRQ_DISPATCH, NdkCloseSrq, "1.1", ENDS_LAST, "queue.shared_receive_queue_tells_its_threshold") \
    SLOT(NDK_SRQ_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_SRQ_DISPATCH, NdkModifySrq, "1.1", DONE "; a depth that the device cannot make is " \
        "STATUS_INSUFFICIENT_RESOURCES", "queue.shared_receive_queue_tells_its_threshold") \
    SLOT(NDK_SRQ_DISPATCH, NdkSrqReceive, "1.1", DONE, "data.messages_arrive_by_a_shared_receive_queue") \
    SLOT(NDK_SHARED_ENDPOINT_DISPATCH, NdkCloseSharedEndpoint, "1.1", ENDS_LAST, \
        "connection.connectors_share_an_endpoint") \
    SLOT(NDK_SHARED_ENDPOINT_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_SHARED_ENDPOINT_DISPATCH, NdkGetLocalAddress, "1.1", DONE, \
        "connection.connectors_share_an_endpoint") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkCloseConnector, "1.1", ENDS_LAST "; it rejects, or disconnects and flushes", \
        "connection.close_of_a_connector_disconnects connection.close_of_a_request_refuses " \
        "connection.close_ends_what_is_pending") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkConnect, "1.1", DONE "; always ends by its callback; may be tried again " \
        "when it failed", "connection.both_sides_agree connection.nobody_listens " \
        "connection.refused_connects_are_tried_again connection.bad_calls_of_connectors") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkConnectWithSharedEndpoint, "1.1", DONE, \
        "connection.connectors_share_an_endpoint") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkCompleteConnect, "1.1", DONE "; iWARP has no message for it, so the peer's " \
        "NdkAccept may have ended before", "connection.both_sides_agree " \
        "connection.disconnect_tells_the_peer_once") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkAccept, "1.1", DONE, "connection.both_sides_agree " \
        "connection.active_side_backs_out") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkReject, "1.1", DONE, "connection.reject_refuses_with_data " \
        "connection.active_side_backs_out") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkGetConnectionData, "1.1", DONE "; also after the connection was completed", \
        "connection.both_sides_agree connection.reject_refuses_with_data") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkGetLocalAddress, "1.1", DONE, "connection.both_sides_agree") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkGetPeerAddress, "1.1", DONE, "connection.both_sides_agree") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkDisconnect, "1.1", DONE, "connection.disconnect_tells_the_peer_once") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkCompleteConnectEx, "2.1", DONE "; works in every version", \
        "connection.events_have_a_reason_since_2_1") \
    SLOT(NDK_CONNECTOR_DISPATCH, NdkAcceptEx, "2.1", DONE "; works in every version", \
        "connection.events_have_a_reason_since_2_1") \
    SLOT(NDK_LISTENER_DISPATCH, NdkCloseListener, "1.1", ENDS_LAST "; requests are refused from the call on", \
        "connection.listener_ends_after_its_connectors connection.listener_close_refuses_what_was_not_told") \
    SLOT(NDK_LISTENER_DISPATCH, NdkQueryExtension, "1.1", EXTENSIONS, "adapter.there_are_no_extensions") \
    SLOT(NDK_LISTENER_DISPATCH, NdkListen, "1.1", DONE "; the wildcard address where the adapter has one address " \
        "of the family", "connection.both_sides_agree connection.bad_calls_of_listeners") \
    SLOT(NDK_LISTENER_DISPATCH, NdkGetLocalAddress, "1.1", DONE, "connection.bad_calls_of_listeners") \
    SLOT(NDK_LISTENER_DISPATCH, NdkControlConnectEvents, "1.1", DONE, "connection.paused_listener_refuses") \
    SLOT(WSK_PROVIDER_NDK_DISPATCH, WskOpenNdkAdapter, "1.1", DONE, "adapter.adapters_open_by_winsock_kernel " \
        "adapter.versions_are_negotiated adapter.open_refuses_what_it_cannot") \
    SLOT(WSK_PROVIDER_NDK_DISPATCH, WskCloseNdkAdapter, "1.1", DONE "; waits for every callback of the adapter's " \
        "objects", "adapter.adapter_close_waits_for_callbacks " \
        "adapter.adapter_close_in_a_callback_ends_the_program")

#define TYPES(TYPE) \
    TYPE(NDK_FN_CLOSE_COMPLETION, "1.1", "called once after STATUS_PENDING") \
    TYPE(NDK_FN_REQUEST_COMPLETION, "1.1", "the same") \
    TYPE(NDK_FN_CREATE_COMPLETION, "1.1", "the same; brings the object") \
    TYPE(NDK_FN_CQ_NOTIFICATION_CALLBACK, "1.1", "by a thread of the adapter's, once for each arm") \
    TYPE(NDK_FN_SRQ_NOTIFICATION_CALLBACK, "1.1", "by such a thread, once for each threshold") \
    TYPE(NDK_FN_CONNECT_EVENT_CALLBACK, "1.1", "on the control thread, one request at a time") \
    TYPE(NDK_FN_DISCONNECT_EVENT_CALLBACK, "1.1", "on the control thread, once at most: when the peer " \
        "disconnects, or a request's failure ends the connection") \
    TYPE(NDK_FN_DISCONNECT_EVENT_CALLBACK_EX, "2.1", "the same; the reason is the device's code, 0 for a " \
        "disconnect") \
    TYPE(NDK_FN_DISCONNECT_EX, "1.1", NONE "no table has it") \
    TYPE(NDK_FN_QUERY_ADAPTER_INFO_EX, "1.1", NONE "no table has it")

#define OBJECT "an object; the library never reads Dispatch again"
#define STRUCTS(STRUCT) \
    STRUCT(NDK_VERSION, "1.1", "asked for at the opening, told in every header") \
    STRUCT(NDK_OBJECT_HEADER_RESERVED_BLOCK, "1.1", "zero at first, never touched again") \
    STRUCT(NDK_OBJECT_HEADER, "1.1", "Version is the one negotiated") \
    STRUCT(NDK_ADAPTER, "1.1", OBJECT) \
    STRUCT(NDK_PD, "1.1", OBJECT) \
    STRUCT(NDK_CQ, "1.1", OBJECT) \
    STRUCT(NDK_QP, "1.1", OBJECT) \
    STRUCT(NDK_MR, "1.1", OBJECT) \
    STRUCT(NDK_MW, "1.1", OBJECT) \
    STRUCT(NDK_SRQ, "1.1", OBJECT) \
    STRUCT(NDK_CONNECTOR, "1.1", OBJECT) \
    STRUCT(NDK_LISTENER, "1.1", OBJECT) \
    STRUCT(NDK_SHARED_ENDPOINT, "1.1", OBJECT) \
    STRUCT(NDK_SGE, "1.1", "an entry of no length is left out; with NDK_OP_FLAG_INLINE the token is not looked " \
        "at") \
    STRUCT(NDK_RESULT, "1.1", "BytesTransferred is 0 but for Receives") \
    STRUCT(NDK_RESULT_EX, "1.2", "ProviderErrorCode (2.1) is the device's code of a failure, 0 of a success, in " \
        "every version; TypeSpecificCompletionOutput is 0 but for ReceiveAndInvalidate") \
    STRUCT(NDK_LOGICAL_ADDRESS_MAPPING, "1.1", "pages are of 4096 bytes, whatever the system's own is") \
    STRUCT(NDK_EXTENSION_INTERFACE, "1.1", "never filled: there are no extensions") \
    STRUCT(NDK_ADAPTER_INFO, "1.1", "0x60 bytes before 2.0; its fields are below") \
    STRUCT(MDL, "1.1", "where Windows has the members; no array of page frames follows")

#define INFO(FIELD) \
    FIELD(Version, "1.1", "the one negotiated") \
    FIELD(VendorId, "1.1", "the device's, 24 bits") \
    FIELD(DeviceId, "1.1", "the device's") \
    FIELD(MaxRegistrationSize, "1.1", "the device's") \
    FIELD(MaxWindowSize, "1.1", "as MaxRegistrationSize") \
    FIELD(FRMRPageCount, "1.1", "256; 0 without fast registration") \
    FIELD(MaxInitiatorRequestSge, "1.1", "the device's") \
    FIELD(MaxReceiveRequestSge, "1.1", "the device's") \
    FIELD(MaxReadRequestSge, "1.1", "the device's, which may be fewer") \
    FIELD(MaxTransferLength, "1.1", "the port's, 0x7fffffff at most") \
    FIELD(MaxInlineDataSize, "1.1", "found by trying") \
    FIELD(MaxInboundReadLimit, "1.1", "the device's") \
    FIELD(MaxOutboundReadLimit, "1.1", "the device's") \
    FIELD(MaxReceiveQueueDepth, "1.1", "the device's, less what the library keeps") \
    FIELD(MaxInitiatorQueueDepth, "1.1", "the same") \
    FIELD(MaxSrqDepth, "1.1", "the device's; 0: no shared receive queues") \
    FIELD(MaxCqDepth, "1.1", "the device's, less what the library keeps") \
    FIELD(LargeRequestThreshold, "1.1", "4096") \
    FIELD(MaxCallerData, "1.1", "56 on every device") \
    FIELD(MaxCalleeData, "1.1", "148 on every device") \
    FIELD(AdapterFlags, "1.1", "see the flags") \
    FIELD(RdmaTechnology, "2.0", "of RoCE always NdkRoCEv2")

#define VALUES(VALUE) \
    VALUE(NdkObjectTypeUndefined, "1.1", "no object has it") \
    VALUE(NdkObjectTypeAdapter, "1.1", DONE) \
    VALUE(NdkObjectTypeQp, "1.1", DONE) \
    VALUE(NdkObjectTypeCq, "1.1", DONE) \
    VALUE(NdkObjectTypeMr, "1.1", DONE) \
    VALUE(NdkObjectTypeMw, "1.1", DONE) \
    VALUE(NdkObjectTypePd, "1.1", DONE) \
    VALUE(NdkObjectTypeSharedEndpoint, "1.1", DONE) \
    VALUE(NdkObjectTypeConnector, "1.1", DONE) \
    VALUE(NdkObjectTypeListener, "1.1", DONE) \
    VALUE(NdkObjectTypeSrq, "1.1", DONE) \
    VALUE(NdkObjectTypeMax, "1.1", "no object has it") \
    VALUE(NdkOperationTypeReceive, "1.2", DONE) \
    VALUE(NdkOperationTypeReceiveAndInvalidate, "1.2", DONE ", where the device tells of it") \
    VALUE(NdkOperationTypeSend, "1.2", DONE "; also of NdkSendAndInvalidate") \
    VALUE(NdkOperationTypeFastRegister, "1.2", DONE) \
    VALUE(NdkOperationTypeBind, "1.2", DONE) \
    VALUE(NdkOperationTypeInvalidate, "1.2", DONE) \
    VALUE(NdkOperationTypeRead, "1.2", DONE) \
    VALUE(NdkOperationTypeWrite, "1.2", DONE) \
    VALUE(NdkUndefined, "2.0", "never told") \
    VALUE(NdkiWarp, "2.0", "the embedded device, siw, iWARP cards") \
    VALUE(NdkInfiniBand, "2.0", DONE) \
    VALUE(NdkRoCE, "2.0", "never told: the connection manager takes version 2 by itself") \
    VALUE(NdkRoCEv2, "2.0", "rxe, RoCE cards") \
    VALUE(NdkMaxTechnology, "2.0", "never told") \
    VALUE(NDK_CQ_NOTIFY_ERRORS, "1.1", DONE) \
    VALUE(NDK_CQ_NOTIFY_ANY, "1.1", DONE) \
    VALUE(NDK_CQ_NOTIFY_SOLICITED, "1.1", DONE "; where the device does not mark such Receives, any Receive may " \
        "fire it") \
    VALUE(NDK_OP_FLAG_SILENT_SUCCESS, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_READ_FENCE, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_ALLOW_REMOTE_READ, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_ALLOW_LOCAL_WRITE, "1.1", DONE "; NdkBind does not look at it") \
    VALUE(NDK_OP_FLAG_ALLOW_REMOTE_WRITE, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_INLINE, "1.1", DONE "; also of NdkWrite; any number of entries") \
    VALUE(NDK_OP_FLAG_RDMA_READ_SINK, "1.1", DONE) \
    VALUE(NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE, "1.2", "not looked at: no adapter sets its flag") \
    VALUE(NDK_OP_FLAG_DEFER, "1.2", DONE "; kept until a request without it, a refused one, or 32 of them") \
    VALUE(NDK_MR_FLAG_ALLOW_LOCAL_READ, "1.1", DONE) \
    VALUE(NDK_MR_FLAG_ALLOW_LOCAL_WRITE, "1.1", DONE) \
    VALUE(NDK_MR_FLAG_ALLOW_REMOTE_READ, "1.1", DONE) \
    VALUE(NDK_MR_FLAG_ALLOW_REMOTE_WRITE, "1.1", DONE) \
    VALUE(NDK_MR_FLAG_RDMA_READ_SINK, "1.1", DONE) \
    VALUE(NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED, "1.1", "never set") \
    VALUE(NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED, "1.1", "set but for kernel and card iWARP") \
    VALUE(NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED, "1.1", "set where the device can") \
    VALUE(NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED, "1.1", "always set") \
    VALUE(NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED, "1.2", "never set") \
    VALUE(NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED, "1.1", "set where the device can") \
    VALUE(NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED, "1.1", "always set") \
    VALUE(WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, "1.1", DONE) \
    VALUE(PAGE_SIZE, "1.1", "whatever the system's own is") \
    VALUE(MAXULONG, "1.1", "no special meaning here: interrupts are not moderated")

#define CODES(CODE) \
    CODE(STATUS_SUCCESS, "calls, callbacks, results") \
    CODE(STATUS_TIMEOUT, "KeWaitForSingleObject") \
    CODE(STATUS_PENDING, "calls that end by their callback") \
    CODE(STATUS_BUFFER_OVERFLOW, "results: a message longer than its Receive; a completion queue's callback: an " \
        "overrun") \
    CODE(STATUS_UNSUCCESSFUL, "a failure of the device that no other code fits") \
    CODE(STATUS_ACCESS_VIOLATION, "requests and results: a token, right or mapping does not allow it; " \
        "NdkRegisterMr: the memory is not there") \
    CODE(STATUS_INVALID_PARAMETER, "calls: an argument, or an object of another device, domain or type") \
    CODE(STATUS_INVALID_DEVICE_REQUEST, "results: the peer could not make sense of the request; NdkRead: read " \
        "limit 0") \
    CODE(STATUS_NO_MEMORY, "none: it is STATUS_INSUFFICIENT_RESOURCES") \
    CODE(STATUS_BUFFER_TOO_SMALL, "NdkQueryAdapterInfo, NdkBuildLAM, NdkGetConnectionData, the address functions") \
    CODE(STATUS_INVALID_PARAMETER_MIX, "none: interrupts are not moderated") \
    CODE(STATUS_DATA_OVERRUN, "requests: too many entries") \
    CODE(STATUS_SHARING_VIOLATION, "NdkListen, NdkConnect, NdkCreateSharedEndpoint: the port is in use") \
    CODE(STATUS_INSUFFICIENT_RESOURCES, "calls: out of memory or of the device's objects; requests: the queue is " \
        "full") \
    CODE(STATUS_DEVICE_NOT_READY, "WskCaptureProviderNPI: not registered") \
    CODE(STATUS_IO_TIMEOUT, "NdkConnect, NdkAccept, NdkDisconnect: no answer; results: the peer does not answer") \
    CODE(STATUS_NOT_SUPPORTED, "NdkQueryExtension; interrupt moderation and fast registration where the " \
        "device cannot, other control codes") \
    CODE(STATUS_INTERNAL_ERROR, "results, callbacks of queues: the device failed") \
    CODE(STATUS_CANCELLED, "results: flushed; requests of a connector that is closed") \
    CODE(STATUS_REMOTE_RESOURCES, "results: a Read past the end or without the right; the peer had no Receive") \
    CODE(STATUS_INVALID_ADDRESS, "NdkListen, NdkConnect, NdkCreateSharedEndpoint: not an address of this " \
        "adapter") \
    CODE(STATUS_INVALID_DEVICE_STATE, "calls and requests: the object's state does not allow it") \
    CODE(STATUS_IO_DEVICE_ERROR, "none") \
    CODE(STATUS_INVALID_BUFFER_SIZE, "requests: too many bytes; calls: too much private data") \
    CODE(STATUS_TOO_MANY_ADDRESSES, "NdkListen, NdkConnect, NdkCreateSharedEndpoint: no port is left") \
    CODE(STATUS_ADDRESS_ALREADY_EXISTS, "NdkConnect: these two addresses are connected already") \
    CODE(STATUS_CONNECTION_DISCONNECTED, "none") \
    CODE(STATUS_CONNECTION_REFUSED, "NdkConnect: rejected, or no program listens") \
    CODE(STATUS_CONNECTION_INVALID, "requests and calls: not connected") \
    CODE(STATUS_CONNECTION_ACTIVE, "NdkConnect, NdkAccept: the queue pair has a connection") \
    CODE(STATUS_NETWORK_UNREACHABLE, "NdkConnect: no route") \
    CODE(STATUS_HOST_UNREACHABLE, "NdkConnect: no answer to address resolution") \
    CODE(STATUS_CONNECTION_ABORTED, "NdkAccept, NdkReject, NdkCompleteConnect: the peer gave up") \
    CODE(STATUS_DEVICE_REMOVED, "calls: the device is gone") \
    CODE(STATUS_IMPLEMENTATION_LIMIT, "NdkInitializeFastRegisterMr: more pages than FRMRPageCount") \
    CODE(NDIS_STATUS_SUCCESS, "the opening") \
    CODE(NDIS_STATUS_RESOURCES, "the opening: as STATUS_INSUFFICIENT_RESOURCES") \
    CODE(NDIS_STATUS_BAD_VERSION, "the opening: no such version, or the device does not offer it") \
    CODE(NDIS_STATUS_ADAPTER_NOT_READY, "the opening: no device serves the interface, or it is gone")
/* clang-format on */

#endif
