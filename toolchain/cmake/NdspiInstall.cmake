# SPDX-License-Identifier: MIT
# What `cmake --install` puts where, apart from programs, which are installed beside their definition:
#   lib/      libndspi, libndk, libndwin32, libwinobj, libsoftrdma, libndreactor (versioned), libndspi_compat.a,
#             pkgconfig/ndspi.pc, ndk.pc, softrdma.pc, cmake/ndspi/
#             ndspi/libsoftrdma-preload.so
#             ndspi/x86_64-w64-mingw32/libndutil.a where MinGW was there
#   include/ndspi/          ndspi.h and its companions, the extension headers
#   include/ndspi/compat/   the Windows-named headers; nothing outside finds them without asking
#   include/ndspi/ndk/      NDKPI and its kernel primitives; the same
#   include/ndspi/softrdma/ the embedded device as such
#   share/doc/ndspi/        license, documents, sources of the samples
# Everything finds its siblings where the prefix is moved to.

include(CMakePackageConfigHelpers)

if(NOT TARGET ndspi)
    return()
endif()

set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/ndspi)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ndspi)

target_include_directories(ndspi INTERFACE $<INSTALL_INTERFACE:${include_dir}>)
target_include_directories(ndk_headers INTERFACE $<INSTALL_INTERFACE:${include_dir}/ndk>)
target_include_directories(ndspi_compat INTERFACE $<INSTALL_INTERFACE:${include_dir}/compat>)
target_include_directories(softrdma INTERFACE $<INSTALL_INTERFACE:${include_dir}>
    $<INSTALL_INTERFACE:${include_dir}/softrdma>)
set_target_properties(ndspi_compat PROPERTIES EXPORT_NAME compat)
set_target_properties(ndspi ndk ndwin32 winobj softrdma ndreactor PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET ndinfo)
    set_target_properties(ndinfo ndstat PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

install(TARGETS ndspi ndk ndk_headers ndwin32 winobj softrdma ndreactor ndspi_compat EXPORT ndspi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ndspi NAMESPACE ndspi:: FILE ndspiTargets.cmake DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/ndspi/include/ ${PROJECT_BINARY_DIR}/ndspi/include/ DESTINATION ${include_dir}
    FILES_MATCHING PATTERN *.h)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/ndk/include/ DESTINATION ${include_dir}/ndk FILES_MATCHING PATTERN *.h)
# What ndktypes.h reads where the Windows-named headers are not asked for.
foreach(part devioctl.h guid.h inaddr.h interlocked.h interlocked_forms.h ip_text.h luid.h native.h ntstatus.h
        pragma.h sal.h sal_states.h seh_blocks.h short_wchar.h types.h version.h)
    install(FILES ${PROJECT_SOURCE_DIR}/compat/include/wincompat/${part} DESTINATION ${include_dir}/ndk/wincompat)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/compat/include/ ${PROJECT_BINARY_DIR}/compat/include/
    DESTINATION ${include_dir}/compat)
install(FILES ${PROJECT_SOURCE_DIR}/softrdma/softrdma.h DESTINATION ${include_dir}/softrdma)

configure_package_config_file(${PROJECT_SOURCE_DIR}/toolchain/cmake/ndspiConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/ndspiConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ndspiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ndspiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ndspiConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/toolchain/cmake/ndspiMicrosoft.cmake
    DESTINATION ${package_dir})

# In the folders that they are in here, so that their links lead to the same.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN man EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# bash looks for completions under the name of the program: those of one package are links to one file of it. zsh finds
# programs by the first line of a file: each package has one.
set(completions ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(alone softrdma-run)
if(TARGET ndspi_wine_unix)
    list(APPEND alone ndspi-wine)
endif()
foreach(program ndinfo ${alone})
    install(FILES ${PROJECT_SOURCE_DIR}/toolchain/completion/ndspi.bash DESTINATION ${completions} RENAME ${program})
endforeach()
foreach(program ndspi ${alone})
    install(FILES ${PROJECT_SOURCE_DIR}/toolchain/completion/_${program}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endforeach()
foreach(program ndadapterinfo ndstat ndmpirun ndring ndhalo ndalltoall ndlatency ndpingpong nd1pingpong ndrpingpong
        ndcat smbdcat smbdcopy smbdserve ndk_host ndperf nd_send_lat nd_send_bw nd_write_lat nd_write_bw nd_read_lat
        nd_read_bw nd_connect)
    install(CODE "file(CREATE_LINK ndinfo
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${completions}/${program}\" SYMBOLIC)")
endforeach()

file(RELATIVE_PATH NDSPI_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(JOIN NDSPI_MSVC_CFLAGS " " NDSPI_PC_MSVC_CFLAGS)
foreach(package ndspi ndk softrdma)
    configure_file(${PROJECT_SOURCE_DIR}/toolchain/${package}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
# Gives programs a run path to the libraries where the loader does not look or ldconfig has not run yet. Below /usr the
# loader looks by itself.
install(CODE "set(ndspi_pc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")")
install(CODE [[
    if(CMAKE_INSTALL_PREFIX MATCHES "^(/|/usr/?)$")
        foreach(package ndspi ndk softrdma)
            file(READ "${ndspi_pc}/${package}.pc" text)
            string(REPLACE " -Wl,-rpath,\${libdir}" "" text "${text}")
            file(WRITE "${ndspi_pc}/${package}.pc" "${text}")
        endforeach()
    endif()
]])
