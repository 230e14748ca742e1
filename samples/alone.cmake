# SPDX-License-Identifier: MIT
# What the samples have from the project around them, where there is none: an installed ndspi is found, programs come
# into bin/ of the build folder, and nothing is installed.
find_package(ndspi REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(GNUInstallDirs)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 11)
add_compile_definitions(_GNU_SOURCE)

function(nd_sample name)
    cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    target_link_libraries(${name} PRIVATE ndspi::ndspi ndspi::compat ${A_LINK})
endfunction()

function(nd_manual)
endfunction()
