# SPDX-License-Identifier: MIT
# Debian's musl (musl-tools): C alone, and no library but musl itself. The headers of the kernel and of verbs are this
# machine's own, which are the same for each C library; they are linked into a folder of their own, since those of glibc
# are beside them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND)
set(ndspi_musl_headers ${CMAKE_BINARY_DIR}/musl-headers)
file(MAKE_DIRECTORY ${ndspi_musl_headers})
foreach(folder linux asm-generic infiniband rdma ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/asm)
    cmake_path(GET folder FILENAME name)
    file(CREATE_LINK /usr/include/${folder} ${ndspi_musl_headers}/${name} SYMBOLIC)
endforeach()
set(CMAKE_C_FLAGS_INIT "-isystem ${ndspi_musl_headers}")
set(CMAKE_INCLUDE_PATH ${ndspi_musl_headers})
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
# Else pkg-config answers for the libraries of glibc.
set(ENV{PKG_CONFIG_LIBDIR} ${ndspi_musl_headers})
