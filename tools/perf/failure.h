/* SPDX-License-Identifier: MIT */
/*
 * failure.h - ends the program with a message that says what failed, on which adapter and address, and what to do.
 *
 * Any thread: the program prints the first failure only.
 */
#ifndef TOOLS_PERF_FAILURE_H
#define TOOLS_PERF_FAILURE_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <string>
#include <vector>

namespace ndperf
{

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

// The beginning of each message. name in: how the program was called, kept
void set_program(const char *name);
const char *program();
// Names the adapter and the peer in later messages. text in: "" removes it
void set_place(const std::string &adapter, const std::string &peer);

// printf's text.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));
// Prints the message to standard error and ends the program.
void end(int status, const std::string &message) __attribute__((noreturn));
// From here on the calling thread alone ends the program, by end; other threads that want to wait for ever.
void claim_end();
void fail(const char *text, ...) __attribute__((format(printf, 1, 2), noreturn));
// Writes out what was printed. Figures that nobody can read are no measurement: a full disk or a closed output ends the
// program.
void write_out();
// Ends the program if hr is a failure. what in: "Connect"
void check(HRESULT hr, const char *what);
// The peer is gone.
void fail_lost() __attribute__((noreturn));

// An address, and what failed there.
struct Tried {
    SOCKADDR_INET address;
    const char *what;
    HRESULT hr;
};
// None of the addresses of a name worked. Ends the program with the reasons of all.
void fail_at_all(const std::string &name, const std::vector<Tried> &addresses)
    __attribute__((noreturn));

// "192.0.2.1:18515" or "[2001:db8::1]:18515".
std::string address_text(const SOCKADDR_INET &address);
// The same without a port.
std::string place_text(SOCKADDR_INET address);
SIZE_T address_size(const SOCKADDR_INET &address);

} // namespace ndperf
#endif
