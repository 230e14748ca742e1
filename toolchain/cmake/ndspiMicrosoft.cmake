# SPDX-License-Identifier: MIT
# ndspi_microsoft_sources(TARGET [SHORT_WCHAR] [WINDOWS_LIMITS]): TARGET's sources are written for Microsoft's compiler
# (docs/win32.md, "Sources for Microsoft's compiler"). Their C++ is compiled by clang's Microsoft modes; g++ takes
# those that need no more than -fms-extensions. With clang the headers' names are found in any case.
#   SHORT_WCHAR     a wchar_t of 16 bits
#   WINDOWS_LIMITS  LONG_MIN, LONG_MAX and ULONG_MAX are those of a 32-bit long

# -fgnuc-version: without it glibc's and libstdc++'s headers take clang for another compiler. "case
# 0x8000FFFF:" of an HRESULT narrows: a warning to Microsoft's compiler, an error to these.
set(NDSPI_MSVC_CFLAGS -fms-extensions -fms-compatibility -fms-compatibility-version=19.20 -fdelayed-template-parsing
    -fgnuc-version=4.2.1 -Wno-microsoft -Wno-nonportable-include-path -Wno-c++11-narrowing
    -Wno-unknown-warning-option -Wno-delayed-template-parsing-in-cxx20) # which clang 17 warns of, and 14 does not know

# The folders of the headers, for clang's -ivfsoverlay: the files of the same names, written in any case.
function(ndspi_header_overlay OUTPUT)
    set(roots)
    foreach(folder ${ARGN})
        set(files)
        file(GLOB headers RELATIVE ${folder} ${folder}/*.h)
        foreach(header ${headers})
            string(TOLOWER ${header} name)
            if(NOT header STREQUAL name AND name IN_LIST headers) # a forwarder to that one
                continue()
            endif()
            list(APPEND files "{ 'name': '${name}', 'type': 'file', 'external-contents': '${folder}/${header}' }")
        endforeach()
        list(JOIN files ",\n      " files)
        list(APPEND roots "{ 'name': '${folder}', 'type': 'directory', 'contents': [\n      ${files} ] }")
    endforeach()
    list(JOIN roots ",\n    " roots)
    file(WRITE ${OUTPUT} "{ 'version': 0, 'case-sensitive': 'false', 'use-external-names': 'true',\n"
        "  'roots': [\n    ${roots} ] }\n")
endfunction()

function(ndspi_microsoft_sources target)
    cmake_parse_arguments(PARSE_ARGV 1 A "SHORT_WCHAR;WINDOWS_LIMITS" "" "")
    if(A_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ndspi_microsoft_sources: unknown option ${A_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(Clang|GNU)$")
        message(FATAL_ERROR "ndspi_microsoft_sources: ${CMAKE_CXX_COMPILER_ID} is neither clang nor gcc")
    endif()
    target_compile_options(${target} PRIVATE -fms-extensions
        "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:${NDSPI_MSVC_CFLAGS}>" "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-narrowing>")
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS ON)
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
        set(overlay ${CMAKE_CURRENT_BINARY_DIR}/ndspi-headers.yaml)
        get_target_property(folders ndspi::compat INTERFACE_INCLUDE_DIRECTORIES)
        get_target_property(more ndspi::ndspi INTERFACE_INCLUDE_DIRECTORIES)
        list(APPEND folders ${more})
        list(REMOVE_DUPLICATES folders)
        ndspi_header_overlay(${overlay} ${folders})
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-ivfsoverlay ${overlay}>")
    endif()
    if(A_SHORT_WCHAR)
        target_compile_options(${target} PRIVATE -fshort-wchar
            "$<$<COMPILE_LANGUAGE:C>:SHELL:-include wincompat/short_wchar.h>")
    endif()
    if(A_WINDOWS_LIMITS)
        target_compile_definitions(${target} PRIVATE NDSPI_LIMITS)
    endif()
endfunction()
