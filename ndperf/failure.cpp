/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../samples/ndsample.h"

namespace ndperf
{

namespace
{

const char *program_ = "ndperf";
std::string adapter_, peer_;
volatile LONG failing_;

std::string print(const char *text, va_list arguments)
{
    char line[1024];
    vsnprintf(line, sizeof(line), text, arguments);
    return line;
}

// Advice that differs from the samples'.
const char *hint_of(HRESULT hr)
{
    switch (hr) {
    case ND_CONNECTION_REFUSED: return "Start the same test there first, without a SERVER.";
    case ND_INVALID_ADDRESS:
        return "ndinfo lists the addresses of adapters, and says why it uses no others.";
    case ND_CANCELED: return "Look at the peer: its program or its host may have stopped.";
    case ND_SHARING_VIOLATION:
    case ND_ADDRESS_ALREADY_EXISTS:
        return "Another program listens there: choose another port with -p.";
    default: return sample_code_hint(hr);
    }
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

// Other threads may still run, so no destructor may run.
void end(int status, const std::string &message)
{
    if (InterlockedExchange(&failing_, 1))
        Sleep(INFINITE); // the other thread ends the process
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

void check(HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    const char *hint = hint_of(hr);
    std::string place;
    if (!adapter_.empty())
        place += ", adapter " + adapter_;
    if (!peer_.empty())
        place += ", peer " + peer_;
    fail("%s failed%s: %s (0x%08x)%s%s", what, place.c_str(), sample_code_name(hr), (unsigned)hr,
        hint ? "\n  " : "", hint ? hint : "");
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

SIZE_T address_size(const SOCKADDR_INET &address)
{
    return sample_address_size(&address);
}

} // namespace ndperf
