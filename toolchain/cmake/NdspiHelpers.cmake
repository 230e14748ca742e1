# SPDX-License-Identifier: MIT
# Settings for every target, and the helpers that keep the leaf CMakeLists short:
#   nd_library(NAME SHARED|STATIC|OBJECT SOURCES ... [PUBLIC_INCLUDE dir...] [LINK lib...] [MAP file])
#   nd_wide_sources(LIBRARY source...)     adds sources with wide text, compiled for each width of wchar_t
#   nd_test(NAME dotted.name SOURCES ... [LINK lib...] [TIMEOUT seconds] [LABELS ...])
#   nd_sanitized(TEST...)                  tests that a change has to pass under the sanitizers, too
#   nd_short(TEST...)                      of those that run on kernel devices: a change has to pass them there
#   nd_sample(NAME [LINK lib...])          builds samples/NAME.c or .cpp; all of them: global property
#   NDSPI_SAMPLE_NAMES
#   nd_depend_on_folders(TARGET [BUT...])  TARGET builds what "all" builds of every folder that was added before, but
#                                          these targets

include(GNUInstallDirs)
include(CheckCCompilerFlag)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)          # gnu11
set(CMAKE_CXX_STANDARD 11)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# Compilations that were done before are taken from ccache, where it is installed.
find_program(NDSPI_CCACHE ccache)
mark_as_advanced(NDSPI_CCACHE)
if(NDSPI_CCACHE)
    foreach(language C CXX)
        if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER ${NDSPI_CCACHE})
        endif()
    endforeach()
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(NdspiRdmaCore)

# Release keeps no assert; the checks on what a caller or a peer hands in are not asserts.
set(NDSPI_WARNINGS -Wall -Wextra)
if(NDSPI_WERROR)
    list(APPEND NDSPI_WARNINGS -Werror)
endif()
add_compile_options(${NDSPI_WARNINGS} -Wpointer-arith -Wvla
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# Programs (samples, tests of ported code) have the Windows meaning of printf and its kind; the project itself has
# libc's.
add_compile_definitions(_GNU_SOURCE NDSPI_NO_CRT)

if(NDSPI_SANITIZE)
    add_compile_options(-fsanitize=${NDSPI_SANITIZE} -fno-omit-frame-pointer -g1 -O1)
    add_link_options(-fsanitize=${NDSPI_SANITIZE})
    if(NDSPI_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
        # A COM object is no C++ object of the class its caller sees: there is no type information to check.
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
    endif()
endif()

function(nd_library name kind)
    cmake_parse_arguments(A "" "MAP;OUTPUT" "SOURCES;PUBLIC_INCLUDE;LINK;PUBLIC_LINK" ${ARGN})
    add_library(${name} ${kind} ${A_SOURCES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    foreach(dir ${A_PUBLIC_INCLUDE})
        target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${dir}>)
    endforeach()
    target_link_libraries(${name} PRIVATE ${A_LINK} PUBLIC ${A_PUBLIC_LINK})
    if(A_OUTPUT)
        set_target_properties(${name} PROPERTIES OUTPUT_NAME ${A_OUTPUT})
    endif()
    if(kind STREQUAL SHARED)
        set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
        target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now)
        if(NOT NDSPI_SANITIZE)
            target_link_options(${name} PRIVATE -Wl,--no-undefined)
        endif()
        if(A_MAP)
            target_link_options(${name} PRIVATE -Wl,--version-script=${A_MAP})
            set_target_properties(${name} PROPERTIES LINK_DEPENDS ${A_MAP})
        endif()
    endif()
endfunction()

# Objects NAME_wide16 and NAME_wide32 of the library; WIDE_BITS is the width. A source without WIDE_BITS is compiled for
# narrow text.
function(nd_wide_sources name)
    foreach(bits 16 32)
        set(objects ${name}_wide${bits})
        add_library(${objects} OBJECT ${ARGN})
        target_compile_definitions(${objects} PRIVATE WIDE_BITS=${bits})
        target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/compat/include
            ${PROJECT_BINARY_DIR}/compat/include)
        if(bits EQUAL 16)
            target_compile_options(${objects} PRIVATE -fshort-wchar "SHELL:-include wincompat/short_wchar.h")
        endif()
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endforeach()
endfunction()

# Of every test that runs product code. A process of several threads sleeps at its end, a second unless told otherwise,
# to catch races with that end; tests with many processes spend their time on it.
set(NDSPI_TSAN_OPTIONS
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/toolchain/tsan.supp halt_on_error=1 atexit_sleep_ms=50")

function(nd_test)
    cmake_parse_arguments(A "" "NAME;TIMEOUT" "SOURCES;LINK;LABELS;ARGS;ENV" ${ARGN})
    string(REPLACE "." "_" target test_${A_NAME})
    add_executable(${target} ${A_SOURCES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE ${A_LINK} cmocka Threads::Threads)
    add_test(NAME ${A_NAME} COMMAND ${target} ${A_ARGS})
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 120)
    endif()
    if(NDSPI_SANITIZE) # ten times slower at worst, and CI machines are small
        math(EXPR A_TIMEOUT "${A_TIMEOUT} * 4")
    endif()
    set_tests_properties(${A_NAME} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
        SKIP_RETURN_CODE 77
        ENVIRONMENT "${NDSPI_TSAN_OPTIONS};${A_ENV}")
    nd_sanitized(${A_NAME})
    add_dependencies(sanitized ${target})
    foreach(argument ${A_ARGS}) # programs that it runs
        if(argument MATCHES "^\\$<TARGET_FILE:([^>]+)>$")
            add_dependencies(${target} ${CMAKE_MATCH_1})
        endif()
    endforeach()
endfunction()

# Programs of nd_test run product code with threads or octets of others; so do some scripts. Label and target have one
# name: `./run sanitize` builds the target and runs the label, with --all everything.
add_custom_target(sanitized)
function(nd_sanitized)
    foreach(name ${ARGN})
        set_property(TEST ${name} APPEND PROPERTY LABELS sanitized)
    endforeach()
endfunction()

function(nd_short)
    foreach(name ${ARGN})
        set_property(TEST ${name} APPEND PROPERTY LABELS short)
    endforeach()
endfunction()

# nd_path(shm|tcp TEST...): what carries softrdma's data between two ends on one host in these tests: memory that they
# share, or TCP. One that is about what passes on the wire, what TCP does, or the paths themselves says so; others take
# the default.
function(nd_path path)
    set(value_shm 1)
    set(value_tcp 0)
    foreach(name ${ARGN})
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "NDSPI_SOFT_SHM=${value_${path}}")
    endforeach()
endfunction()

# nd_both_ways(TEST COMMAND...): TEST, which runs that, has ends that share memory; TEST.tcp is the same over TCP. That
# has the label tcp, and "sanitized" if TEST has it, but no other: what runs tests by label on kernel devices has no use
# for it.
function(nd_both_ways name)
    add_test(NAME ${name}.tcp COMMAND ${ARGN})
    foreach(property TIMEOUT COST SKIP_RETURN_CODE PROCESSORS RUN_SERIAL ENVIRONMENT)
        get_test_property(${name} ${property} value)
        if(value)
            set_tests_properties(${name}.tcp PROPERTIES ${property} "${value}")
        endif()
    endforeach()
    set_tests_properties(${name}.tcp PROPERTIES LABELS tcp)
    get_test_property(${name} LABELS labels)
    if(sanitized IN_LIST labels)
        nd_sanitized(${name}.tcp)
    endif()
    nd_path(shm ${name})
    nd_path(tcp ${name}.tcp)
endfunction()

function(nd_sample name)
    cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
    if(NOT A_SOURCES)
        set(A_SOURCES ${name}.c)
    endif()
    add_executable(${name} ${A_SOURCES})
    target_compile_options(${name} PRIVATE -UNDSPI_NO_CRT)
    target_link_libraries(${name} PRIVATE ndspi::ndspi ndspi::compat ${A_LINK})
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    set_property(GLOBAL APPEND PROPERTY NDSPI_SAMPLE_NAMES ${name})
endfunction()

# nd_manual(PAGE [NAME...]): installs a manual page; NAMEs are programs that it describes besides the one it is called
# after.
function(nd_manual page)
    string(REGEX MATCH "[0-9]$" section ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    foreach(name ${ARGN})
        file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.${section} ".so man${section}/${page}\n")
        install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.${section} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endforeach()
endfunction()

function(nd_depend_on_folders target)
    get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
    while(folders)
        list(POP_FRONT folders folder)
        get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
        get_property(names DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
        list(APPEND folders ${below})
        foreach(name ${names})
            get_target_property(left_out ${name} EXCLUDE_FROM_ALL)
            get_target_property(type ${name} TYPE)
            if(NOT left_out AND NOT type STREQUAL INTERFACE_LIBRARY AND NOT name IN_LIST ARGN)
                add_dependencies(${target} ${name})
            endif()
        endforeach()
    endwhile()
endfunction()
