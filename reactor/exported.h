/* SPDX-License-Identifier: MIT */
/*
 * exported.h - the names that libndreactor exports have a prefix, since the linker would take a program's own function
 * of the same name instead.
 */
#ifndef REACTOR_EXPORTED_H
#define REACTOR_EXPORTED_H

#define reactor_activity     ndspi_reactor_activity
#define reactor_add          ndspi_reactor_add
#define reactor_before_exit  ndspi_reactor_before_exit
#define reactor_before_wait  ndspi_reactor_before_wait
#define reactor_deadline     ndspi_reactor_deadline
#define reactor_exits        ndspi_reactor_exits
#define reactor_in_turn      ndspi_reactor_in_turn
#define reactor_is_lent      ndspi_reactor_is_lent
#define reactor_is_signalled ndspi_reactor_is_signalled
#define reactor_is_wanted    ndspi_reactor_is_wanted
#define reactor_leave        ndspi_reactor_leave
#define reactor_lend         ndspi_reactor_lend
#define reactor_look         ndspi_reactor_look
#define reactor_poll         ndspi_reactor_poll
#define reactor_ref          ndspi_reactor_ref
#define reactor_remove       ndspi_reactor_remove
#define reactor_remove_sync  ndspi_reactor_remove_sync
#define reactor_run          ndspi_reactor_run
#define reactor_serve        ndspi_reactor_serve
#define reactor_signal       ndspi_reactor_signal
#define reactor_source_init  ndspi_reactor_source_init
#define reactor_unref        ndspi_reactor_unref
#define reactor_update       ndspi_reactor_update
#define reactor_wait         ndspi_reactor_wait
#define reactor_wait_awake   ndspi_reactor_wait_awake
#define reactor_waiter_self  ndspi_reactor_waiter_self

#endif
