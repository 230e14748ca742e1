# SPDX-License-Identifier: MIT
# The libraries of rdma-core, or its headers alone: NDSPI_RDMA_CORE=OFF leaves the devices of the kernel out, and the
# preload library. softrdma takes verbs' structures and inline functions, so it needs the headers in any case.

pkg_check_modules(NDSPI_RDMA_CORE_LIBRARIES QUIET libibverbs librdmacm)
if(NDSPI_RDMA_CORE_LIBRARIES_FOUND)
    option(NDSPI_RDMA_CORE "RDMA devices of the kernel, by libibverbs and librdmacm" ON)
else()
    option(NDSPI_RDMA_CORE "RDMA devices of the kernel, by libibverbs and librdmacm" OFF)
    if(NDSPI_RDMA_CORE)
        message(FATAL_ERROR "No libibverbs or no librdmacm (Debian: libibverbs-dev, librdmacm-dev); "
            "-DNDSPI_RDMA_CORE=OFF builds with the embedded device alone, by their headers")
    endif()
endif()
if(NDSPI_RDMA_CORE)
    pkg_check_modules(IBVERBS REQUIRED IMPORTED_TARGET libibverbs)
    pkg_check_modules(RDMACM REQUIRED IMPORTED_TARGET librdmacm)
    return()
endif()

find_path(NDSPI_VERBS_HEADERS infiniband/verbs.h)
find_path(NDSPI_RDMACM_HEADERS rdma/rdma_cma.h)
if(NOT NDSPI_VERBS_HEADERS OR NOT NDSPI_RDMACM_HEADERS)
    message(FATAL_ERROR "No infiniband/verbs.h or no rdma/rdma_cma.h (Debian: libibverbs-dev, librdmacm-dev): "
        "the embedded device has verbs' interface, so it needs rdma-core's headers")
endif()
message(STATUS "Without rdma-core's libraries: the embedded device alone; devices of the kernel and softrdma-run are "
    "left out")
# Under the names that pkg-config would give them, so that targets need not ask.
foreach(library IBVERBS RDMACM)
    add_library(PkgConfig::${library} INTERFACE IMPORTED)
endforeach()
