# SPDX-License-Identifier: MIT
# Shows that the table bites: one wrong literal of each class, and the compiler (for slots of C++, test_abi) has to object.
# In: CC, CXX, OBJCOPY, FLAGS, SOURCE_DIR, WORK_DIR, TEST_ABI

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
file(COPY ${SOURCE_DIR}/abi_layout.h ${SOURCE_DIR}/abi_layout.c ${SOURCE_DIR}/abi_layout.cpp DESTINATION ${WORK_DIR})
file(READ ${SOURCE_DIR}/abi.def table)
set(flags ${FLAGS})

function(verdict variable)
    execute_process(COMMAND ${CC} -std=gnu11 ${flags} ${WORK_DIR}/abi_layout.c RESULT_VARIABLE c ERROR_QUIET)
    list(REMOVE_ITEM flags -fsyntax-only)
    execute_process(COMMAND ${CXX} -std=gnu++11 ${flags} -c ${WORK_DIR}/abi_layout.cpp -o ${WORK_DIR}/slots.o
        RESULT_VARIABLE cpp ERROR_QUIET)
    if(cpp EQUAL 0)
        execute_process(COMMAND ${OBJCOPY} -O binary -j .abi ${WORK_DIR}/slots.o ${WORK_DIR}/slots.bin
            COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${TEST_ABI} ${WORK_DIR}/slots.bin RESULT_VARIABLE cpp OUTPUT_QUIET ERROR_QUIET)
    endif()
    set(${variable} "${c};${cpp}" PARENT_SCOPE)
endfunction()

function(expect_objection right wrong)
    string(FIND "${table}" "${right}" at)
    string(REPLACE "${right}" "${wrong}" mutated "${table}")
    if(at EQUAL -1)
        message(FATAL_ERROR "not in the table: ${right}")
    endif()
    file(WRITE ${WORK_DIR}/abi.def "${mutated}")
    verdict(result)
    if(result MATCHES "(^|;)0(;|$)")
        message(FATAL_ERROR "nobody objects to ${wrong}: ${result}")
    endif()
endfunction()

file(WRITE ${WORK_DIR}/abi.def "${table}")
verdict(result)
if(NOT result STREQUAL "0;0")
    message(FATAL_ERROR "the table itself does not hold: ${result}")
endif()
expect_objection("ND2_RESULT, BytesTransferred, 4, 4" "ND2_RESULT, BytesTransferred, 8, 8")
expect_objection("ABI_SIZE(ND2_SGE, 16, 12)" "ABI_SIZE(ND2_SGE, 24, 12)")
expect_objection("ABI_ALIGN(ND_MW_DESCRIPTOR, 1, 1)" "ABI_ALIGN(ND_MW_DESCRIPTOR, 4, 4)")
expect_objection("ND_MR_FLAG_ALLOW_REMOTE_WRITE, 0x5" "ND_MR_FLAG_ALLOW_REMOTE_WRITE, 0x4")
expect_objection("ND_IO_TIMEOUT, 0xC00000B5" "ND_IO_TIMEOUT, 0x00000102")
expect_objection("0xA6F7, 0x622791A7044C" "0xA6F7, 0x622791A7044D")
expect_objection("ABI_SLOT(IND2QueuePair, Read, 8)" "ABI_SLOT(IND2QueuePair, Read, 9)")
