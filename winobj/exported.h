/* SPDX-License-Identifier: MIT */
/*
 * exported.h - what libwinobj exports besides Windows' names (winobj.map). The linker would take a function of the
 * program's that has the same name, so these have a prefix there. Each header that declares one includes this.
 */
#ifndef WINOBJ_EXPORTED_H
#define WINOBJ_EXPORTED_H

/* libndspi uses these. */
#define win_file_create          ndspi_win_file_create
#define win_file_get             ndspi_win_file_get
#define win_file_ref             ndspi_win_file_ref
#define win_file_room            ndspi_win_file_room
#define win_file_unref           ndspi_win_file_unref
#define win_overlapped_begin     ndspi_win_overlapped_begin
#define win_overlapped_complete  ndspi_win_overlapped_complete
#define win_overlapped_reserve   ndspi_win_overlapped_reserve
#define win_overlapped_result    ndspi_win_overlapped_result
#define win_overlapped_start     ndspi_win_overlapped_start
#define win_overlapped_unreserve ndspi_win_overlapped_unreserve
#define win_winsock_start        ndspi_win_winsock_start
#define win_winsock_stop         ndspi_win_winsock_stop

/* libndwin32 uses these, and some of the above. */
#define win_alert_begin                ndspi_win_alert_begin
#define win_alert_came                 ndspi_win_alert_came
#define win_alert_claim                ndspi_win_alert_claim
#define win_alert_claim_by_apc         ndspi_win_alert_claim_by_apc
#define win_alert_end                  ndspi_win_alert_end
#define win_apcs_adopt                 ndspi_win_apcs_adopt
#define win_apcs_close                 ndspi_win_apcs_close
#define win_apcs_forked                ndspi_win_apcs_forked
#define win_apcs_init                  ndspi_win_apcs_init
#define win_apcs_pending               ndspi_win_apcs_pending
#define win_apcs_post                  ndspi_win_apcs_post
#define win_apcs_run                   ndspi_win_apcs_run
#define win_descriptor_adopt           ndspi_win_descriptor_adopt
#define win_descriptor_claim           ndspi_win_descriptor_claim
#define win_descriptor_drop            ndspi_win_descriptor_drop
#define win_descriptor_handle          ndspi_win_descriptor_handle
#define win_descriptor_maker           ndspi_win_descriptor_maker
#define win_dispatcher                 ndspi_win_dispatcher
#define win_error_from_status          ndspi_win_error_from_status
#define win_event_new                  ndspi_win_event_new
#define win_event_type                 ndspi_win_event_type
#define win_file_free                  ndspi_win_file_free
#define win_file_new                   ndspi_win_file_new
#define win_file_open                  ndspi_win_file_open
#define win_file_pin                   ndspi_win_file_pin
#define win_handle_add                 ndspi_win_handle_add
#define win_handle_attribute           ndspi_win_handle_attribute
#define win_handle_inherits            ndspi_win_handle_inherits
#define win_handle_next_inherited      ndspi_win_handle_next_inherited
#define win_handle_offer               ndspi_win_handle_offer
#define win_handle_open                ndspi_win_handle_open
#define win_handle_pin                 ndspi_win_handle_pin
#define win_handle_place               ndspi_win_handle_place
#define win_handle_reserve             ndspi_win_handle_reserve
#define win_handle_set_inherit         ndspi_win_handle_set_inherit
#define win_handle_set_offered         ndspi_win_handle_set_offered
#define win_io_succeed                 ndspi_win_io_succeed
#define win_mutex_new                  ndspi_win_mutex_new
#define win_mutex_type                 ndspi_win_mutex_type
#define win_named_register             ndspi_win_named_register
#define win_object_find                ndspi_win_object_find
#define win_object_name                ndspi_win_object_name
#define win_object_ref                 ndspi_win_object_ref
#define win_object_unref               ndspi_win_object_unref
#define win_owner_abandon              ndspi_win_owner_abandon
#define win_owner_id                   ndspi_win_owner_id
#define win_port_clear                 ndspi_win_port_clear
#define win_port_create                ndspi_win_port_create
#define win_port_pin                   ndspi_win_port_pin
#define win_port_post                  ndspi_win_port_post
#define win_port_receive               ndspi_win_port_receive
#define win_port_unpin                 ndspi_win_port_unpin
#define win_remote_port_is_sound       ndspi_win_remote_port_is_sound
#define win_request_begin              ndspi_win_request_begin
#define win_request_begin_held         ndspi_win_request_begin_held
#define win_request_claim              ndspi_win_request_claim
#define win_request_end                ndspi_win_request_end
#define win_request_end_at_once        ndspi_win_request_end_at_once
#define win_request_unref              ndspi_win_request_unref
#define win_requests_cancel            ndspi_win_requests_cancel
#define win_routine_add                ndspi_win_routine_add
#define win_routine_drop               ndspi_win_routine_drop
#define win_routine_post               ndspi_win_routine_post
#define win_routine_take               ndspi_win_routine_take
#define win_semaphore_new              ndspi_win_semaphore_new
#define win_semaphore_type             ndspi_win_semaphore_type
#define win_timer_set                  ndspi_win_timer_set
#define win_wait_try_locked            ndspi_win_wait_try_locked
#define win_waitable_destroy           ndspi_win_waitable_destroy
#define win_waitable_init              ndspi_win_waitable_init
#define win_waitable_is_set            ndspi_win_waitable_is_set
#define win_waitable_object_descriptor ndspi_win_waitable_object_descriptor
#define win_waitable_object_forked     ndspi_win_waitable_object_forked
#define win_waitable_open              ndspi_win_waitable_open
#define win_waitable_pin               ndspi_win_waitable_pin
#define win_waitable_reset             ndspi_win_waitable_reset
#define win_waitable_set               ndspi_win_waitable_set
#define win_watch_begin                ndspi_win_watch_begin
#define win_watch_end                  ndspi_win_watch_end
#define win_watch_forked               ndspi_win_watch_forked
#define win_watch_satisfied            ndspi_win_watch_satisfied
#define win_winsock_register           ndspi_win_winsock_register

#endif
