# SPDX-License-Identifier: MIT
# Packages are made so: installed below DESTDIR. A foreign program runs on what was installed, found from a link
# elsewhere. The dynamic linker takes a path with a space for two in LD_PRELOAD.
set(root "${WORK_DIR}/moved to é")
set(run ${WORK_DIR}/softrdma-run)

file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${WORK_DIR}/first ${CMAKE_COMMAND} --install ${BUILD_DIR}
    --prefix /opt/ndspi
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK_DIR}/first ${root})
file(CREATE_LINK ${root}/opt/ndspi/bin/softrdma-run ${run} SYMBOLIC)

# Both libraries come from the installation.
execute_process(COMMAND ${run} cat /proc/self/maps OUTPUT_VARIABLE maps COMMAND_ERROR_IS_FATAL ANY)
foreach(library ndspi/libsoftrdma-preload.so libsoftrdma.so)
    string(FIND "${maps}" "${root}/opt/ndspi/${LIBDIR}/${library}" at)
    string(REGEX MATCHALL "[^\n]*/${library}[^\n]*" found "${maps}")
    if(at EQUAL -1)
        message(FATAL_ERROR "${library}: \"${found}\" is not the installed one")
    endif()
endforeach()
# What the caller has asked to be preloaded, and where it has libraries, stays.
execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=libm.so.6 LD_LIBRARY_PATH=/nonexistent
    ${run} sh -c "echo $LD_LIBRARY_PATH; cat /proc/self/maps" OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "^[^\n]*/ndspi:/nonexistent\n" OR NOT said MATCHES "/libm\\.so\\.6\n" OR
    NOT said MATCHES "/libsoftrdma-preload\\.so\n")
    message(FATAL_ERROR "the caller's LD_PRELOAD or LD_LIBRARY_PATH is lost: ${said}")
endif()

set(ENV{COUNT} "10 ping data: rdma-ping")
set(ENV{FLAW} "255 ^rdma_get_cm_event: Bad file descriptor$") # tests/foreign/late.c
execute_process(COMMAND ${PAIR} ${run} rping -s -a 127.0.0.1 -p PORT -C 10 -S 4096 -V
    -- rping -c -a 127.0.0.1 -p PORT -C 10 -S 4096 -V -v COMMAND_ERROR_IS_FATAL ANY)
