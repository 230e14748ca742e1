# SPDX-License-Identifier: MIT
# A compiler with pointers of 32 bits (MODE) is refused, by a line that says why, before anything else is looked for.
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
file(WRITE ${WORK_DIR}/toolchain.cmake
    "set(CMAKE_C_FLAGS_INIT ${MODE})\nset(CMAKE_CXX_FLAGS_INIT ${MODE})\n"
    "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${PROJECT} -B ${WORK_DIR}/build -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_TOOLCHAIN_FILE=${WORK_DIR}/toolchain.cmake
    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
message("${output}${errors}")
if(NOT result EQUAL 1)
    message(FATAL_ERROR "cmake ended with ${result}, not 1")
endif()
string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
if(NOT errors MATCHES "ndspi is for 64-bit processors: .* has pointers of 4 bytes")
    message(FATAL_ERROR "not said: ndspi is for 64-bit processors")
endif()
if(output MATCHES "libibverbs")
    message(FATAL_ERROR "libraries were looked for before")
endif()
