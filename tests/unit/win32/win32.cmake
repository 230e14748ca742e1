# SPDX-License-Identifier: MIT
# Tests that call Windows' functions alone: tests/portable builds them, too.
set(win32_tests
    files/attributes files/file files/find files/folder files/requests files/routines locks/once locks/sync
    memory/heap memory/mapping memory/virtual names/named parcels/duplicate parcels/duplicate_process pipes/pipe
    pipes/pipe_calls pipes/pipe_peek pipes/pipe_processes pipes/pipe_requests process/console process/exit
    process/other_process process/process process/suspended process/unhandled sockets/accept sockets/adapters
    sockets/datagram sockets/host_names sockets/ip_text sockets/last_error sockets/network_events
    sockets/overlapped_socket sockets/socket sockets/socket_close sockets/socket_handle sockets/socket_message
    sockets/socket_options sockets/socket_poll sockets/socket_routines sockets/winsock spawn/create spawn/inherit
    spawn/priority_class system/date system/processor system/system text/command_line text/message text/text text/uuid
    threads/fls threads/pool threads/registered_wait threads/thread threads/timer_queue threads/times threads/tls
    threads/work)

include(${CMAKE_CURRENT_LIST_DIR}/../winobj/test_source.cmake)
