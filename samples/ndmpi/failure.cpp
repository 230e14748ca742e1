// SPDX-License-Identifier: MIT
// failure.cpp - see failure.h.
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

namespace ndmpi
{

namespace
{

std::string name_;
void (*obituary_)(const std::string &);

std::string print(const char *text, va_list arguments)
{
    char line[4096]; // ndmpirun's usage is among what is printed
    vsnprintf(line, sizeof(line), text, arguments);
    return line;
}

} // namespace

void set_name(const std::string &name)
{
    name_ = name;
}

void set_obituary(void (*report)(const std::string &))
{
    obituary_ = report;
}

std::string format(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    std::string line = print(text, arguments);
    va_end(arguments);
    return line;
}

void end_with(const std::string &message, int status)
{
    fflush(stdout);
    fprintf(stderr, "%s%s\n", name_.c_str(), message.c_str());
    exit(status);
}

void fail_usage(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    std::string message = print(text, arguments);
    va_end(arguments);
    end_with(message, 2);
}

void fail(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    std::string message = print(text, arguments);
    va_end(arguments);
    void (*report)(const std::string &) = obituary_;
    obituary_ = NULL; // once: the report may fail, too
    if (report)
        report(message);
    end_with(message);
}

void write_out()
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("cannot write to standard output: %s", strerror(errno));
}

std::string code_text(HRESULT hr)
{
    return format("%s (0x%08x)", sample_code_name(hr), (unsigned)hr);
}

void check(HRESULT hr, const char *what, const SOCKADDR_INET *where)
{
    if (SUCCEEDED(hr))
        return;
    const char *hint = sample_code_hint(hr);
    fail("%s%s%s failed: %s%s%s", what, where ? ", address " : "",
        where ? address_text(*where).c_str() : "", code_text(hr).c_str(), hint ? "\n  " : "",
        hint ? hint : "");
}

std::string address_text(const SOCKADDR_INET &address)
{
    char text[64];
    return sample_address_text((const struct sockaddr *)&address, text, sizeof(text));
}

std::string ip_text(const SOCKADDR_INET &address)
{
    std::string text = address_text(address);
    text.erase(text.rfind(':'));
    return text[0] == '[' ? text.substr(1, text.size() - 2) : text;
}

bool parse_address(const std::string &text, SOCKADDR_INET &address)
{
    const int families[] = { AF_INET, AF_INET6 };
    for (int i = 0; i < 2; ++i) {
        std::vector<char> copy(text.begin(), text.end());
        INT length = sizeof(address);
        copy.push_back(0);
        memset(&address, 0, sizeof(address));
        if (WSAStringToAddressA(
                &copy[0], families[i], NULL, (struct sockaddr *)&address, &length) == 0)
            return true;
    }
    return false;
}

} // namespace ndmpi
