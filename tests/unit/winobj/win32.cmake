# SPDX-License-Identifier: MIT
# Tests that call Windows' functions alone: tests/portable builds them, too.
set(win32_tests
    handles/handle waits/event waits/wait requests/port requests/file_wait waits/mutex waits/semaphore waits/timer
    requests/port_processes waits/apc)

include(${CMAKE_CURRENT_LIST_DIR}/test_source.cmake)
