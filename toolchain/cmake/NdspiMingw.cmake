# SPDX-License-Identifier: MIT
# Windows binaries from the same sources, when MinGW is there (NDSPI_MINGW is set then):
#   nd_mingw_object(OUTPUT file.o SOURCE file.c|.cpp [FLAGS ...])
#   nd_mingw_library(NAME target OUTPUT file.a SOURCES ... [FLAGS ...])
#   nd_mingw_program(NAME target OUTPUT file.exe SOURCES ... [FLAGS ...] [LINK file|-lname ...] [DEPENDS ...])
# A second compiler in one build tree: custom commands, with dependencies from the compiler.

find_program(NDSPI_MINGW_CC x86_64-w64-mingw32-gcc)
find_program(NDSPI_MINGW_CXX x86_64-w64-mingw32-g++)
find_program(NDSPI_MINGW_AR x86_64-w64-mingw32-ar)
find_program(NDSPI_MINGW_OBJCOPY x86_64-w64-mingw32-objcopy)
find_program(NDSPI_MINGW_OBJDUMP x86_64-w64-mingw32-objdump)
find_program(NDSPI_MINGW_DLLTOOL x86_64-w64-mingw32-dlltool)
find_program(NDSPI_WINEBUILD winebuild PATHS /usr/lib/wine)
find_program(NDSPI_PERL perl)
if(NDSPI_SANITIZE) # such a build tests native code alone
    set(NDSPI_MINGW OFF)
elseif(NDSPI_MINGW_CC AND NDSPI_MINGW_CXX AND NDSPI_MINGW_AR AND NDSPI_MINGW_OBJCOPY AND NDSPI_MINGW_OBJDUMP)
    set(NDSPI_MINGW ON)
else()
    set(NDSPI_MINGW OFF)
    message(STATUS "No MinGW: libndutil, the samples' .exe and the ABI check against it are left out")
endif()

set(NDSPI_WINE OFF)
if(NDSPI_MINGW AND NDSPI_WINEBUILD AND NDSPI_PERL)
    set(NDSPI_WINE ON)
elseif(DEFINED ENV{NDSPI_REQUIRE_WINE} AND NOT NDSPI_SANITIZE)
    message(FATAL_ERROR "NDSPI_REQUIRE_WINE is set, but there is no MinGW, winebuild (Debian: wine64-tools) or perl")
elseif(NOT NDSPI_SANITIZE)
    message(STATUS "No MinGW, winebuild (Debian: wine64-tools) or perl: the provider for Wine is left out")
endif()

set(NDSPI_MINGW_FLAGS -O2 ${NDSPI_WARNINGS} -D_WIN32_WINNT=0x0A00 -I${PROJECT_SOURCE_DIR}/ndspi/include
    -I${PROJECT_BINARY_DIR}/ndspi/include)

function(nd_mingw_object)
    cmake_parse_arguments(A "" "OUTPUT;SOURCE" "FLAGS" ${ARGN})
    cmake_path(ABSOLUTE_PATH A_SOURCE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    if(A_SOURCE MATCHES "\\.cpp$")
        set(compiler ${NDSPI_MINGW_CXX} -std=gnu++11)
    else()
        set(compiler ${NDSPI_MINGW_CC} -std=gnu11)
    endif()
    add_custom_command(OUTPUT ${A_OUTPUT}
        COMMAND ${compiler} ${NDSPI_MINGW_FLAGS} ${A_FLAGS} -MD -MF ${A_OUTPUT}.d -MT ${A_OUTPUT}
            -c ${A_SOURCE} -o ${A_OUTPUT}
        DEPENDS ${A_SOURCE} DEPFILE ${A_OUTPUT}.d COMMENT "MinGW ${A_SOURCE}" VERBATIM)
endfunction()

# Objects of all SOURCES below the build folder of this directory; their paths in ${variable}.
function(nd_mingw_objects variable prefix)
    cmake_parse_arguments(A "" "" "SOURCES;FLAGS" ${ARGN})
    set(objects)
    foreach(source ${A_SOURCES})
        cmake_path(GET source FILENAME file)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${prefix}.${file}.o)
        nd_mingw_object(OUTPUT ${object} SOURCE ${source} FLAGS ${A_FLAGS})
        list(APPEND objects ${object})
    endforeach()
    set(${variable} ${objects} PARENT_SCOPE)
endfunction()

function(nd_mingw_library)
    cmake_parse_arguments(A "" "NAME;OUTPUT" "SOURCES;FLAGS" ${ARGN})
    nd_mingw_objects(objects ${A_NAME} SOURCES ${A_SOURCES} FLAGS ${A_FLAGS})
    add_custom_command(OUTPUT ${A_OUTPUT}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${A_OUTPUT}
        COMMAND ${NDSPI_MINGW_AR} rcsD ${A_OUTPUT} ${objects}
        DEPENDS ${objects} VERBATIM)
    add_custom_target(${A_NAME} ALL DEPENDS ${A_OUTPUT})
endfunction()

function(nd_mingw_program)
    cmake_parse_arguments(A "" "NAME;OUTPUT" "SOURCES;FLAGS;LINK;DEPENDS" ${ARGN})
    nd_mingw_objects(objects ${A_NAME} SOURCES ${A_SOURCES} FLAGS ${A_FLAGS})
    set(compiler ${NDSPI_MINGW_CC})
    if("${A_SOURCES}" MATCHES "\\.cpp")
        set(compiler ${NDSPI_MINGW_CXX})
    endif()
    add_custom_command(OUTPUT ${A_OUTPUT}
        COMMAND ${compiler} -static ${objects} ${A_LINK} -o ${A_OUTPUT}
        DEPENDS ${objects} ${A_DEPENDS} VERBATIM)
    add_custom_target(${A_NAME} ALL DEPENDS ${A_OUTPUT})
    set_property(GLOBAL APPEND PROPERTY NDSPI_MINGW_PROGRAMS ${A_NAME})
endfunction()

# nd_install_windows(name): of the Windows program in the folder "windows" of the programs: it is installed, for Wine.
# A build of the target "installed" alone has none of them.
function(nd_install_windows name)
    install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/windows/${name}.exe
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/ndspi/windows OPTIONAL)
endfunction()

# nd_mingw_dll(NAME target OUTPUT file.dll SOURCES ... DEF file.def [FLAGS ...] [LINK ...] [DEPENDS ...] [BUILTIN]): a
# DLL; BUILTIN marks it as one of Wine's own kind.
function(nd_mingw_dll)
    cmake_parse_arguments(A "BUILTIN" "NAME;OUTPUT;DEF" "SOURCES;FLAGS;LINK;DEPENDS" ${ARGN})
    nd_mingw_objects(objects ${A_NAME} SOURCES ${A_SOURCES} FLAGS ${A_FLAGS})
    cmake_path(ABSOLUTE_PATH A_DEF BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set(mark)
    if(A_BUILTIN)
        set(mark COMMAND ${NDSPI_WINEBUILD} --builtin ${A_OUTPUT})
    endif()
    # The automatic base address is a hash of the output's path: two builds would differ.
    add_custom_command(OUTPUT ${A_OUTPUT}
        COMMAND ${NDSPI_MINGW_CC} -shared -static -Wl,--disable-auto-image-base ${objects} ${A_DEF} ${A_LINK}
            -o ${A_OUTPUT}
        ${mark}
        DEPENDS ${objects} ${A_DEF} ${A_DEPENDS} VERBATIM)
    add_custom_target(${A_NAME} ALL DEPENDS ${A_OUTPUT})
endfunction()

# nd_win32_test(NAME dotted.name SOURCES ...): a test of Windows functions alone. Built natively, as ported code is, and
# as a Windows program that Wine runs: NAME.wine.
function(nd_win32_test)
    cmake_parse_arguments(A "" "NAME" "SOURCES" ${ARGN})
    string(REPLACE "." "_" target test_${A_NAME})
    nd_test(NAME ${A_NAME} SOURCES ${A_SOURCES} LINK ndwin32 ndspi_compat)
    target_compile_options(${target} PRIVATE -UNDSPI_NO_CRT)
    if(NDSPI_MINGW)
        set(program ${CMAKE_CURRENT_BINARY_DIR}/${target}.exe)
        nd_mingw_program(NAME ${target}_exe OUTPUT ${program} SOURCES ${A_SOURCES}
            FLAGS -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/tests/support/pe -D__USE_MINGW_ANSI_STDIO=0
            -Wno-format
            LINK -lws2_32 -lntdll -lsynchronization -lole32 -lrpcrt4 -luuid -lwinmm -loleaut32 -liphlpapi -lpthread)
        add_test(NAME ${A_NAME}.wine COMMAND ${PROJECT_SOURCE_DIR}/tests/support/wine.sh
            ${PROJECT_SOURCE_DIR}/build/wine ${program})
        set_tests_properties(${A_NAME}.wine PROPERTIES TIMEOUT 400 SKIP_RETURN_CODE 77)
    endif()
endfunction()
