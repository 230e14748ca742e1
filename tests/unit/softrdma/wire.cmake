# SPDX-License-Identifier: MIT
# Wire codecs and protocol engine.
foreach(part crc32c mpa terminate)
    nd_test(NAME softrdma.${part} SOURCES wire/test_${part}.c vectors.c LINK softrdma_internal)
endforeach()
foreach(part ops refused local hold ends keep ack place fast crc idle immediate atomic tell)
    nd_test(NAME softrdma.stream_${part} SOURCES stream/test_${part}.c stream_pair.c LINK softrdma_internal)
endforeach()
set_tests_properties(softrdma.stream_ops PROPERTIES COST 3)
nd_test(NAME softrdma.qp_ex SOURCES device/test_qp_ex.c stream_pair.c LINK softrdma_internal)
nd_test(NAME softrdma.stream_fuzz SOURCES stream/test_fuzz.c stream_pair.c vectors.c LINK softrdma_internal)
foreach(part wire session)
    nd_test(NAME softrdma.stream_${part} SOURCES stream/test_${part}.c wire_end.c stream_pair.c vectors.c
        LINK softrdma_internal)
endforeach()
foreach(part crc32c mpa terminate stream_wire stream_session stream_fuzz)
    target_compile_definitions(test_softrdma_${part} PRIVATE
        VECTOR_FILE="${PROJECT_SOURCE_DIR}/tests/vectors/iwarp-fpdu.txt")
endforeach()
add_executable(softrdma_list_terminates wire/list_terminates.c)
target_link_libraries(softrdma_list_terminates PRIVATE softrdma_internal)
add_test(NAME softrdma.terminates COMMAND softrdma_list_terminates ${PROJECT_SOURCE_DIR}/docs/troubleshooting.md)
add_test(NAME softrdma.crc32c_aarch64 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/wire/aarch64.sh ${PROJECT_SOURCE_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/aarch64)
set_tests_properties(softrdma.crc32c_aarch64 PROPERTIES SKIP_RETURN_CODE 77)
nd_test(NAME softrdma.stream_threads SOURCES stream/test_threads.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.stream_fast_threads SOURCES stream/test_fast_threads.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.stream_fast_calls SOURCES stream/test_fast_calls.c pair.c LINK softrdma_internal)
nd_both_ways(softrdma.stream_threads test_softrdma_stream_threads)
if(NDSPI_SANITIZE MATCHES "thread")
    # One end looks at what it was sent because the other says that it was. ThreadSanitizer sees this order in a socket,
    # not in memory that has two addresses.
    nd_path(tcp softrdma.stream_fast_threads)
else()
    nd_both_ways(softrdma.stream_fast_threads test_softrdma_stream_fast_threads)
endif()
