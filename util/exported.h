/* SPDX-License-Identifier: MIT */
/*
 * exported.h - what libwinobj exports of util to libndwin32 (winobj/winobj.map). The linker would take a function of
 * the program's that has the same name, so these have a prefix there. For both libraries the compiler reads this before
 * each source (CMakeLists.txt).
 */
#ifndef UTIL_EXPORTED_H
#define UTIL_EXPORTED_H

#define fork_add_               ndspi_fork_add_
#define guard_set_last          ndspi_guard_set_last
#define lock_release_rest       ndspi_lock_release_rest
#define lock_sleep_             ndspi_lock_sleep_
#define log_limit_passes_now_   ndspi_log_limit_passes_now_
#define log_max_level_          ndspi_log_max_level_
#define log_wanted_             ndspi_log_wanted_
#define log_write_              ndspi_log_write_
#define processors_highest_node ndspi_processors_highest_node
#define processors_of_node      ndspi_processors_of_node
#define processors_online       ndspi_processors_online
#define processors_read         ndspi_processors_read
#define setting_word            ndspi_setting_word
#define thread_start_detached   ndspi_thread_start_detached

#ifndef NDEBUG
#define lock_debug_assert_held ndspi_lock_debug_assert_held
#define lock_debug_check       ndspi_lock_debug_check
#define lock_debug_dropped     ndspi_lock_debug_dropped
#define lock_debug_init        ndspi_lock_debug_init
#define lock_debug_taken       ndspi_lock_debug_taken
#endif

#endif
