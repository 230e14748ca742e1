// SPDX-License-Identifier: MIT
// job.cpp - see job.h.
#include "job.h"

#include <stdio.h>
#include <stdlib.h>

#include "stream.h"

namespace ndmpi
{

namespace
{

const char GONE[] = "ndmpirun has ended, or the network to it";

Stream *obituaries; // where a rank reports its failure

// A message that ends this rank, on its way from the thread that reads it to the working thread.
class News : public Request
{
  public:
    explicit News(const std::string &text) : text_(text)
    {
    }
    void ended(HRESULT)
    {
        std::string text = text_;
        delete this;
        set_obituary(NULL);
        end_with(text);
    }

  private:
    const std::string text_;
};

// "abort MESSAGE" to MESSAGE.
bool is_abort(const std::string &line, std::string &message)
{
    if (line.compare(0, 6, "abort ") != 0)
        return false;
    message = line.substr(6);
    return true;
}

std::string variable(const char *name, const std::string &program)
{
    const char *value = getenv(name);
    if (!value)
        fail("it runs as one of several, started by ndmpirun, e.g.\n  ndmpirun -n 4 %s\n"
             "(-h lists its options)",
            program.c_str());
    return value;
}

} // namespace

bool parse_number(const std::string &text, unsigned long low, unsigned long high, unsigned &number)
{
    char *end;
    unsigned long value = strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end || value < low || value > high)
        return false;
    number = (unsigned)value;
    return true;
}

bool parse_ports(const std::string &text, unsigned &first, unsigned &last)
{
    size_t dash = text.find('-');
    return dash != std::string::npos && parse_number(text.substr(0, dash), 0, 65535, first) &&
           parse_number(text.substr(dash + 1), first, 65535, last);
}

Job::Job(const std::string &program) : stream_(NULL), executive_(NULL), thread_(NULL)
{
    bool good = parse_number(variable(NDMPI_SIZE, program), 1, MOST_RANKS, size_) &&
                parse_number(variable(NDMPI_RANK, program), 0, size_ - 1, rank_) &&
                parse_number(variable(NDMPI_VERSION, program), 1, 2, version_) &&
                parse_number(variable(NDMPI_HERE, program), 1, size_, here_) &&
                parse_ports(variable(NDMPI_PORTS, program), first_port_, last_port_) &&
                parse_address(variable(NDMPI_ROOT, program), root_) &&
                parse_address(variable(NDMPI_ADDRESS, program), address_);
    key_ = strtoull(variable(NDMPI_KEY, program).c_str(), NULL, 16);
    if (!good)
        fail("the NDMPI_ variables of the environment are damaged: start it with ndmpirun");
    set_name(format("%s: rank %u of %u: ", program.c_str(), rank_, size_));
}

Job::~Job()
{
    if (thread_) {
        stream_->shut_down();
        WaitForSingleObject(thread_, INFINITE);
        CloseHandle(thread_);
    }
    delete stream_;
}

std::vector<SOCKADDR_INET> Job::enter(Executive &executive, const SOCKADDR_INET &own)
{
    std::vector<SOCKADDR_INET> addresses(size_);
    std::string line, message;

    executive_ = &executive;
    stream_ = Stream::connect(root_);
    if (!stream_)
        fail("ndmpirun cannot be reached at %s: %s\n  ndmpirun -i names the address ranks reach it "
             "by",
            address_text(root_).c_str(), socket_error().c_str());
    obituaries = stream_;
    set_obituary(tell_failure);
    stream_->write(
        format("card %016llx %u %s", (unsigned long long)key_, rank_, address_text(own).c_str()));
    for (unsigned i = 0; i < size_; ++i) {
        unsigned rank = 0;
        char text[80];
        if (!stream_->read(line))
            fail("%s is gone", GONE);
        if (is_abort(line, message))
            end_with(message);
        if (sscanf(line.c_str(), "at %u %79s", &rank, text) != 2 || rank >= size_ ||
            !parse_address(text, addresses[rank]))
            fail("ndmpirun says \"%s\": is it of another version?", line.c_str());
    }
    thread_ = CreateThread(NULL, 0, listen_for_news, this, 0, NULL);
    if (!thread_)
        fail("CreateThread failed: error %u", (unsigned)GetLastError());
    return addresses;
}

void Job::leave()
{
    stream_->write("done");
    WaitForSingleObject(thread_, INFINITE); // until "bye"
    CloseHandle(thread_);
    thread_ = NULL;
    set_obituary(NULL);
}

DWORD WINAPI Job::listen_for_news(void *self)
{
    Job *job = (Job *)self;
    std::string line, message;

    if (job->stream_->read(line)) {
        if (line == "bye")
            return 0;
        if (!is_abort(line, message))
            message = "ndmpirun says \"" + line + "\"";
    } else {
        message = format("%s is gone", GONE);
    }
    job->executive_->post(*new News(message), ND_SUCCESS);
    return 0;
}

void Job::tell_failure(const std::string &message)
{
    obituaries->write("failed " + message);
}

} // namespace ndmpi
