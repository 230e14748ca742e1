/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../samples/ndsample.h"

namespace ndperf
{

namespace
{

const char *program_ = "ndperf";
std::string adapter_, peer_;
volatile LONG ending_; // id of the thread that ends the program

std::string print(const char *text, va_list arguments)
{
    char line[1024];
    vsnprintf(line, sizeof(line), text, arguments);
    return line;
}

// Returns the advice for a code, where it differs from the samples'.
const char *hint_of(HRESULT hr)
{
    switch (hr) {
    case ND_CONNECTION_REFUSED:
        return "Nobody listens there: start the same test there first, without a SERVER. If it "
               "runs,\n  take an address and a port that it prints: IPv4 and IPv6 are apart.";
    case ND_INVALID_ADDRESS:
        return "ndinfo lists the addresses of adapters, and says why it uses no others.";
    case ND_CANCELED: return "Look at the peer: its program or its host may have stopped.";
    case ND_SHARING_VIOLATION:
    case ND_ADDRESS_ALREADY_EXISTS:
        return "Another program listens there: choose another port with -p.";
    default: return sample_code_hint(hr);
    }
}

// Returns "Connect failed, peer ::1: ND_..." with advice. place in: "" or text that follows
std::string reason(HRESULT hr, const char *what, const std::string &place, const char *indent)
{
    const char *hint = hint_of(hr);
    return format("%s failed%s: %s (0x%08x)%s%s", what, place.c_str(), sample_code_name(hr),
        (unsigned)hr, hint ? indent : "", hint ? hint : "");
}

} // namespace

void set_program(const char *name)
{
    program_ = name;
}

const char *program()
{
    return program_;
}

void set_place(const std::string &adapter, const std::string &peer)
{
    adapter_ = adapter;
    peer_ = peer;
}

std::string format(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    std::string line = print(text, arguments);
    va_end(arguments);
    return line;
}

void claim_end()
{
    LONG own = (LONG)GetCurrentThreadId(), other = InterlockedCompareExchange(&ending_, own, 0);
    if (other && other != own)
        Sleep(INFINITE);
}

// Other threads may still run, so no destructor may run.
void end(int status, const std::string &message)
{
    claim_end();
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", program_, message.c_str());
    fflush(stderr);
    ExitProcess((UINT)status);
    for (;;) // for compilers that do not know ExitProcess
        Sleep(INFINITE);
}

void fail(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    std::string message = print(text, arguments);
    va_end(arguments);
    end(STATUS_FAILED, message);
}

void write_out()
{
    if (fflush(stdout) || ferror(stdout))
        fail("cannot write to standard output: %s", strerror(errno));
}

void check(HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    std::string place;
    if (!adapter_.empty())
        place += ", adapter " + adapter_;
    if (!peer_.empty())
        place += ", peer " + peer_;
    fail("%s", reason(hr, what, place, "\n  ").c_str());
}

void fail_at_all(const std::string &name, const std::vector<Tried> &addresses)
{
    std::string all;
    for (size_t i = 0; i < addresses.size(); ++i)
        all += "\n  " + address_text(addresses[i].address) + ": " +
               reason(addresses[i].hr, addresses[i].what, "", "\n    ");
    end(STATUS_FAILED, format("%s has %u addresses, and none of them works:", name.c_str(),
                           (unsigned)addresses.size()) +
                           all);
}

void fail_lost()
{
    fail("the connection to %s was lost\n  %s", peer_.c_str(), hint_of(ND_CANCELED));
}

std::string address_text(const SOCKADDR_INET &address)
{
    char text[80];
    return sample_address_text((const struct sockaddr *)&address, text, sizeof(text));
}

std::string place_text(SOCKADDR_INET address)
{
    address.Ipv4.sin_port = 0; // both families have the port at the same offset
    std::string name = address_text(address);
    return name.substr(0, name.size() - 2); // without ":0"
}

SIZE_T address_size(const SOCKADDR_INET &address)
{
    return sample_address_size(&address);
}

} // namespace ndperf
