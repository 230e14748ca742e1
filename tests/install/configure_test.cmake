# SPDX-License-Identifier: MIT
# CASE: default (cmake alone), no_tests (with -DNDSPI_TESTS=OFF), no_cmocka (cmake alone where there is no cmocka),
# tests_without_cmocka (with -DNDSPI_TESTS=ON where there is none).
set(build ${WORK_DIR}/build)
set(arguments)
set(status 0)
set(tests OFF)
file(REMOVE_RECURSE ${WORK_DIR})
if(CASE STREQUAL default)
    set(tests ON)
elseif(CASE STREQUAL no_tests)
    set(arguments -DNDSPI_TESTS=OFF)
elseif(CASE STREQUAL tests_without_cmocka)
    set(arguments -DNDSPI_TESTS=ON)
    set(status 1)
endif()

if(CASE MATCHES "cmocka")
    # A pkg-config that does not know it.
    file(WRITE ${WORK_DIR}/pkg-config
        "#!/bin/sh\ncase \" $* \" in *' cmocka '*) exit 1 ;; esac\nexec '${PKG_CONFIG}' \"$@\"\n")
    file(CHMOD ${WORK_DIR}/pkg-config PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    list(APPEND arguments -DPKG_CONFIG_EXECUTABLE=${WORK_DIR}/pkg-config)
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${PROJECT} -B ${build} -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_CXX_COMPILER=${CXX} ${arguments}
    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
message("${output}${errors}")
if(NOT result EQUAL status)
    message(FATAL_ERROR "cmake ended with ${result}, not ${status}")
endif()
if(status EQUAL 1)
    if(NOT errors MATCHES "libcmocka-dev" OR NOT errors MATCHES "-DNDSPI_TESTS=OFF")
        message(FATAL_ERROR "nothing is said of cmocka and what to do")
    endif()
    return()
endif()

execute_process(COMMAND ${CMAKE_COMMAND} --build ${build}
    --target help OUTPUT_VARIABLE targets COMMAND_ERROR_IS_FATAL ANY)
foreach(target libndspi.so libndk.so ndinfo ndpingpong ndspi-bench)
    if(NOT targets MATCHES "\n${target}: ")
        message(FATAL_ERROR "no target ${target}")
    endif()
endforeach()
string(REGEX MATCH "\ntest_[^\n]*" found "${targets}")
if(tests AND NOT found OR found AND NOT tests)
    message(FATAL_ERROR "tests: wanted ${tests}, found \"${found}\"")
endif()

# steps(TARGET...): what a build of these would do; none of it is for the tests.
function(steps)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target ${ARGV}
        -- -n -v OUTPUT_VARIABLE steps COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "\n\\[[0-9]+/[0-9]+\\] [^\n]*" lines "\n${steps}")
    list(LENGTH lines count)
    message("${count} steps for ${ARGV}")
    foreach(line ${lines})
        if(line MATCHES "${PROJECT}/tests/|_internal\\.|ndspi_wine_stack")
            message(FATAL_ERROR "${ARGV}: a step for the tests: ${line}")
        endif()
    endforeach()
    set(count ${count} PARENT_SCOPE)
endfunction()
steps(util/all reactor/all softrdma/all compat/all winobj/all ndspi/all ndk/all samples/all)
steps(demo)
if(count LESS 100 OR count GREATER 450)
    message(FATAL_ERROR "${count} steps build the demo")
endif()
if(targets MATCHES "\nndspi_wine_unix: ")
    steps(wine-demo)
endif()

# A compiler newer than ours warns of more: a user's build goes on.
file(STRINGS ${build}/build.ninja strict REGEX "-Werror")
file(STRINGS ${build}/build.ninja warnings REGEX "-Wextra")
if(strict OR NOT warnings)
    message(FATAL_ERROR "warnings are errors in a user's build, or not asked for")
endif()
