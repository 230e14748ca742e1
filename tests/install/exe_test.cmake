# SPDX-License-Identifier: MIT
# A PE program of ours imports from Windows' own libraries only, and from Winsock.
execute_process(COMMAND ${OBJDUMP} -p ${EXE} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "DLL Name: [^\n]*" imports "${headers}")
if(NOT imports MATCHES "DLL Name: WS2_32\\.dll")
    message(FATAL_ERROR "${EXE} does not use Winsock: ${imports}")
endif()
foreach(import ${imports})
    if(NOT import MATCHES "^DLL Name: (KERNEL32|msvcrt|WS2_32)\\.dll$")
        message(FATAL_ERROR "${EXE} needs ${import}")
    endif()
endforeach()
