# SPDX-License-Identifier: MIT
# WAY=pkgconfig or cmake: see CMakeLists.txt. The user has this project and a compiler: neither the development packages
# of rdma-core nor a loader that knows the prefix.
set(prefix ${WORK_DIR}/moved)

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${prefix})

foreach(library ndspi winobj softrdma ndreactor)
    if(NOT IS_SYMLINK ${prefix}/${LIBDIR}/lib${library}.so)
        message(FATAL_ERROR "lib${library}.so is no link to a version")
    endif()
endforeach()
if(EXISTS ${prefix}/include/windows.h OR EXISTS ${prefix}/include/ndspi/windows.h)
    message(FATAL_ERROR "windows.h is in a folder that more than our users look into")
endif()

unset(ENV{LD_LIBRARY_PATH})
unset(ENV{LD_RUN_PATH})
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/${LIBDIR}/pkgconfig)
if(WAY STREQUAL pkgconfig)
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ndspi
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    separate_arguments(sanitize UNIX_COMMAND "${SANITIZE}")
    list(APPEND flags -Wall -Wextra -Werror ${sanitize})
    execute_process(COMMAND ${CC} -std=gnu11 -M ${SOURCE_DIR}/app.c ${flags} OUTPUT_VARIABLE headers
        COMMAND_ERROR_IS_FATAL ANY)
    if(headers MATCHES "/infiniband/|/rdma/")
        message(FATAL_ERROR "a header of rdma-core is read: ${headers}")
    endif()
    run(${CC} -std=gnu11 ${SOURCE_DIR}/app.c -o ${WORK_DIR}/app_c ${flags})
    run(${CXX} -std=gnu++11 ${SOURCE_DIR}/app.cpp -o ${WORK_DIR}/app_cpp ${flags})
else()
    run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/app -B ${WORK_DIR} -DCMAKE_PREFIX_PATH=${prefix}
        -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
        -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX}
        -DCMAKE_C_FLAGS=${SANITIZE} -DCMAKE_CXX_FLAGS=${SANITIZE})
    run(${CMAKE_COMMAND} --build ${WORK_DIR} -j 1)
endif()
run(${WORK_DIR}/app_c)
run(${WORK_DIR}/app_cpp)
run(${prefix}/bin/ndinfo)
