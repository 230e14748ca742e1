# SPDX-License-Identifier: MIT
# Tests that call Windows' functions alone: tests/portable builds them, too.
set(win32_tests
    handles/handle waits/event waits/wait requests/port requests/file_wait threads/thread sockets/winsock system/system
    locks/sync locks/once sockets/socket process/process memory/virtual memory/heap
    threads/pool threads/work text/text text/uuid text/message text/command_line system/date
    process/exit process/other_process system/processor threads/tls process/console waits/mutex
    waits/semaphore waits/named waits/timer memory/mapping handles/duplicate handles/duplicate_process
    requests/port_processes files/file files/folder files/requests files/find files/attributes files/routines
    process/create process/inherit process/priority_class process/suspended
    sockets/overlapped_socket sockets/ip_text sockets/host_names
    sockets/adapters
    sockets/network_events sockets/socket_handle sockets/socket_routines sockets/socket_poll sockets/socket_message
    sockets/accept sockets/last_error sockets/socket_close sockets/socket_options sockets/datagram waits/apc threads/fls
    pipes/pipe pipes/pipe_peek pipes/pipe_requests pipes/pipe_calls pipes/pipe_processes
    threads/timer_queue threads/registered_wait threads/times process/unhandled)

# Of FOLDER/NAME: the test's name and its source, FOLDER/test_NAME.c.
macro(nd_winobj_test_source test)
    get_filename_component(name ${test} NAME)
    string(REGEX REPLACE "[^/]+$" "test_${name}.c" source ${test})
endmacro()
