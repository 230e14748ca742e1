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

// Sets the beginning of each message. name in: the name by which the program was called; it is kept
void set_program(const char *name);
const char *program();
// Names the adapter and the peer in later messages. text in: "" removes it
void set_place(const std::string &adapter, const std::string &peer);

// Returns the text that printf would print.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));
// Prints the message to standard error and ends the program.
void end(int status, const std::string &message) __attribute__((noreturn));
// From now on the calling thread alone ends the program; other threads that call end wait for ever.
void claim_end();
void fail(const char *text, ...) __attribute__((format(printf, 1, 2), noreturn));
// Writes the printed output out. A full disk or a closed output ends the program with a failure, since figures that
// nobody can read are no measurement.
void write_out();
// Ends the program if hr is a failure. what in: "Connect"
void check(HRESULT hr, const char *what);
// Ends the program because the peer is gone.
void fail_lost() __attribute__((noreturn));

// An address, and what failed there.
struct Tried {
    SOCKADDR_INET address;
    const char *what;
    HRESULT hr;
};
// Ends the program because none of the addresses of a name worked, with the reasons of all.
void fail_at_all(const std::string &name, const std::vector<Tried> &addresses)
    __attribute__((noreturn));

// Returns "192.0.2.1:18515" or "[2001:db8::1]:18515".
std::string address_text(const SOCKADDR_INET &address);
// Returns an address without its port.
std::string place_text(SOCKADDR_INET address);
SIZE_T address_size(const SOCKADDR_INET &address);

} // namespace ndperf
#endif
