# SPDX-License-Identifier: MIT
# A distribution's package: below /usr the loader looks by itself, and what is built with it is to carry no path.
file(REMOVE_RECURSE ${WORK_DIR})
foreach(prefix /usr /usr/local)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${WORK_DIR} ${CMAKE_COMMAND} --install ${BUILD_DIR}
        --prefix ${prefix}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    foreach(package ndspi ndk softrdma)
        file(STRINGS ${WORK_DIR}${prefix}/${LIBDIR}/pkgconfig/${package}.pc libs REGEX "^Libs:")
        message("${prefix}: ${libs}")
        if(NOT libs MATCHES "-l${package}( |$)")
            message(FATAL_ERROR "${package}.pc names no library")
        endif()
        string(FIND "${libs}" "rpath" at)
        if(prefix STREQUAL "/usr" AND NOT at EQUAL -1)
            message(FATAL_ERROR "${package}.pc: a path in the programs of a distribution")
        endif()
        if(prefix STREQUAL "/usr/local" AND at EQUAL -1)
            message(FATAL_ERROR "${package}.pc: no path: programs start only after ldconfig")
        endif()
    endforeach()
endforeach()
