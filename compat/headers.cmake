# SPDX-License-Identifier: MIT
# The headers that only read others, all made from header.in. CMake makes those of compat/ in ${INTO}; so does, for what
# compiles without it (names.sh, tests),
#   cmake -DINTO=FOLDER -P compat/headers.cmake

# nd_forward([AS NAME...] [SPELLED NAME...] TO HEADER... ABOUT TEXT): headers with these names, which read those.
# SPELLED are names that differ from another one in upper and lower case alone: a file system that does not tell them
# apart has the other one.
function(nd_forward)
    cmake_parse_arguments(PARSE_ARGV 0 A "" "ABOUT" "AS;SPELLED;TO")
    if(EXISTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/HEADERS.CMAKE)
        set(A_SPELLED "")
    endif()
    set(ABOUT "Forwarder: ${A_ABOUT}")
    list(TRANSFORM A_TO REPLACE "(.+)" "#include <\\1>")
    list(JOIN A_TO "\n" LINES)
    foreach(name ${A_AS} ${A_SPELLED})
        configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/header.in ${INTO}/${name} @ONLY)
    endforeach()
endfunction()

# nd_pack(NAME PRAGMA): a header that is one #pragma pack, and is read as often as it is named.
function(nd_pack name arguments)
    set(ABOUT "${name} - how members of structures are packed from here on")
    set(LINES "#pragma pack(${arguments})")
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/header.in ${INTO}/${name} @ONLY)
endfunction()

# nd_without_words(NAME...): headers of the C++ library, which has names of its own that are words of Windows.
function(nd_without_words)
    foreach(name ${ARGN})
        set(ABOUT "${name} - the C++ library's own, read without the words of Windows")
        string(CONCAT LINES "#pragma GCC system_header\n#include <wincompat/words_push.inc>\n"
            "#include_next <${name}>\n#include <wincompat/words_pop.inc>")
        configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/header.in ${INTO}/${name} @ONLY)
    endforeach()
endfunction()

nd_forward(AS windows.h SPELLED Windows.h TO wincompat/base.h wincompat/sal1.h
    ABOUT "the Windows base header, with the annotations ported code uses")
nd_forward(AS minwindef.h TO wincompat/base.h ABOUT "the Windows base header")
nd_forward(AS basetsd.h windef.h winnt.h TO wincompat/base.h ABOUT "the Windows base")
# The SDK's small headers: each has some of the functions that windows.h brings all, and so is all of it here.
nd_forward(AS consoleapi.h consoleapi2.h debugapi.h errhandlingapi.h fibersapi.h fileapi.h handleapi.h heapapi.h
    interlockedapi.h ioapiset.h libloaderapi.h memoryapi.h minwinbase.h namedpipeapi.h processenv.h
    processthreadsapi.h processtopologyapi.h profileapi.h realtimeapiset.h stringapiset.h synchapi.h sysinfoapi.h
    systemtopologyapi.h threadpoolapiset.h threadpoollegacyapiset.h timezoneapi.h utilapiset.h winbase.h wincon.h
    winnls.h
    TO wincompat/base.h wincompat/sal1.h ABOUT "a part of windows.h in Windows' SDK")
nd_forward(AS excpt.h TO wincompat/base.h ABOUT "words and codes of exceptions, and the Windows base")
nd_forward(AS shellapi.h TO wincompat/base.h ABOUT "CommandLineToArgvW, and the Windows base")
# Their constants are those of the registry and of resources, of which there is nothing: a name of theirs that a program
# uses is not declared.
nd_forward(AS ntverp.h winreg.h TO wincompat/base.h ABOUT "nothing of its own: the Windows base")
nd_forward(SPELLED WinIoCtl.h TO winioctl.h ABOUT "the header in another case")
nd_pack(pshpack1.h "push, 1")
nd_pack(pshpack2.h "push, 2")
nd_pack(pshpack4.h "push, 4")
nd_pack(pshpack8.h "push, 8")
nd_pack(poppack.h pop)
nd_forward(AS intrin.h TO wincompat/base.h
    ABOUT "the Windows base header; the compiler's functions are in wincompat/bits.h and interlocked.h")
nd_forward(AS rpc.h rpcdce.h TO wincompat/base.h
    ABOUT "UUIDs are with the GUIDs of the base header; there are no remote procedure calls")
nd_forward(AS combaseapi.h objbase.h unknwn.h unknwnbase.h wtypes.h wtypesbase.h SPELLED Objbase.h Unknwn.h
    TO wincompat/base.h wincompat/com.h
    ABOUT "interface macros, IUnknown, IClassFactory, and the Windows base")
nd_forward(AS cguid.h coguid.h guiddef.h SPELLED CoGuid.h TO wincompat/guid.h ABOUT "GUIDs")
nd_forward(AS SDKDDKVer.h SPELLED sdkddkver.h TO wincompat/version.h
    ABOUT "versions of Windows by name, and the one compiled for")
nd_forward(AS winerror.h TO wincompat/error.h ABOUT "error codes")
nd_forward(AS ntstatus.h TO wincompat/ntstatus.h ABOUT "status codes")
nd_forward(AS sal.h specstrings.h TO wincompat/sal.h wincompat/sal1.h ABOUT "source annotations of both kinds")
nd_forward(AS concurrencysal.h TO wincompat/sal.h ABOUT "source annotations of locks")
nd_forward(AS rpcsal.h TO wincompat/sal.h wincompat/sal_rpc.h ABOUT "source annotations of interfaces")
nd_forward(AS driverspecs.h TO wincompat/sal.h wincompat/sal1.h wincompat/sal_drivers.h
    ABOUT "source annotations of both kinds, and those of drivers")
nd_forward(AS mmsystem.h timeapi.h TO wincompat/multimedia.h ABOUT "the multimedia clock")
nd_forward(SPELLED Psapi.h TO psapi.h ABOUT "the header in another case")
nd_forward(AS ws2def.h TO wincompat/socket.h ABOUT "socket addresses, and the Windows base")
nd_forward(AS winsock.h winsock2.h ws2spi.h SPELLED WinSock2.h Winsock2.h WS2spi.h Ws2spi.h TO wincompat/winsock.h
    ABOUT "socket addresses, Winsock functions, and the Windows base")
nd_forward(AS ws2tcpip.h wspiapi.h SPELLED WS2tcpip.h Ws2tcpip.h TO wincompat/addrinfo.h ws2ipdef.h
    ABOUT "socket addresses, names of hosts, Winsock functions, and the Windows base")
nd_forward(AS ifdef.h ipifcons.h iphlpapi.h iptypes.h SPELLED Iphlpapi.h IPHlpApi.h TO wincompat/adapters.h
    ABOUT "network adapters and their addresses, Winsock functions, and the Windows base")
nd_forward(AS mswsock.h TO wincompat/mswsock.h ABOUT "the extension functions of Winsock")

nd_without_words(
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono
    cinttypes ciso646 climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp
    csignal cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype
    deque exception execution expected filesystem flat_map flat_set format forward_list fstream functional future
    generator initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map mdspan memory
    memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept stdfloat stop_token
    streambuf string string_view strstream syncstream system_error text_encoding thread tuple type_traits typeindex
    typeinfo unordered_map unordered_set utility valarray variant vector version
    experimental/algorithm experimental/any experimental/array experimental/buffer experimental/chrono
    experimental/deque experimental/executor experimental/filesystem experimental/forward_list experimental/functional
    experimental/internet experimental/io_context experimental/iterator experimental/list experimental/map
    experimental/memory experimental/memory_resource experimental/net experimental/netfwd experimental/numeric
    experimental/optional experimental/propagate_const experimental/random experimental/ratio experimental/regex
    experimental/scope experimental/set experimental/simd experimental/socket experimental/source_location
    experimental/string experimental/string_view experimental/system_error experimental/timer experimental/tuple
    experimental/type_traits experimental/unordered_map experimental/unordered_set experimental/utility
    experimental/contract experimental/synchronized_value experimental/vector)
