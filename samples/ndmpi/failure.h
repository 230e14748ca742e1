// SPDX-License-Identifier: MIT
//
// failure.h - ends a rank that has failed: prints why, reports it to ndmpirun, exits with status 1.
#ifndef NDMPI_FAILURE_H
#define NDMPI_FAILURE_H

#include <string>

#include "../ndsample.h"

namespace ndmpi
{

// Printed before every message, "ndring: rank 2 of 4: ". May be called again when more is known.
void set_name(const std::string &name);
// A function that gets the message besides printing it. NULL: none.
void set_obituary(void (*report)(const std::string &message));

// Takes printf's arguments, without a line end.
[[noreturn]] void fail(const char *format, ...);
// Writes out what was printed; fails if that is not possible.
void write_out();
// Prints the message and ends without an obituary: the other ranks know already.
[[noreturn]] void end_with(const std::string &message, int status = 1);
// The same as fail for wrong arguments: status 2, and no obituary, since nothing has begun.
[[noreturn]] void fail_usage(const char *format, ...);
// The same as text.
std::string format(const char *format, ...);

// Ends the program if hr is a failure: "WHAT, address ADDRESS failed: CODE", and what to do about it.
void check(HRESULT hr, const char *what, const SOCKADDR_INET *where = NULL);
std::string code_text(HRESULT hr);
std::string address_text(const SOCKADDR_INET &address);
// The same without a port: "10.0.0.1", "::1".
std::string ip_text(const SOCKADDR_INET &address);
// Reads "10.0.0.1", "10.0.0.1:80", "[::1]:80". False: it is no address.
bool parse_address(const std::string &text, SOCKADDR_INET &address);

} // namespace ndmpi
#endif
