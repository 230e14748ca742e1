# SPDX-License-Identifier: MIT
# Packages are made so: installed below DESTDIR. A foreign program runs on what was installed, found from a link
# elsewhere.
set(root ${WORK_DIR}/moved)
set(run ${WORK_DIR}/softrdma-run)

file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${WORK_DIR}/first ${CMAKE_COMMAND} --install ${BUILD_DIR}
    --prefix /opt/ndspi
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK_DIR}/first ${root})
file(CREATE_LINK ${root}/opt/ndspi/bin/softrdma-run ${run} SYMBOLIC)

# Both libraries come from the installation.
execute_process(COMMAND ${run} cat /proc/self/maps OUTPUT_VARIABLE maps COMMAND_ERROR_IS_FATAL ANY)
foreach(library libsoftrdma-preload.so libsoftrdma.so)
    string(REGEX MATCH "[^ \n]*/${library}[^ \n]*" path "${maps}")
    string(FIND "${path}" "${root}/opt/ndspi/${LIBDIR}/" at)
    if(NOT at EQUAL 0)
        message(FATAL_ERROR "${library}: \"${path}\" is not the installed one")
    endif()
endforeach()

set(ENV{COUNT} "10 ping data: rdma-ping")
set(ENV{FLAW} "255 ^rdma_get_cm_event: Bad file descriptor$") # tests/foreign/late.c
execute_process(COMMAND ${PAIR} ${run} rping -s -a 127.0.0.1 -p PORT -C 10 -S 4096 -V
    -- rping -c -a 127.0.0.1 -p PORT -C 10 -S 4096 -V -v COMMAND_ERROR_IS_FATAL ANY)
