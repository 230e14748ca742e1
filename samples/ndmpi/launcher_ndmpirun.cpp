// SPDX-License-Identifier: MIT
//
// launcher_ndmpirun.cpp - a rank that ndmpirun has started.
//
// The environment names the rank and ndmpirun's address; then both send lines of text over one TCP connection:
//     rank to ndmpirun    card KEY RANK ADDRESS     done                      failed MESSAGE
//     ndmpirun to rank    at RANK ADDRESS, for each of them    bye, after done           abort MESSAGE
#include <stdio.h>
#include <stdlib.h>

#include "launcher.h"
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

class Ndmpirun : public Launcher
{
  public:
    explicit Ndmpirun(Place &place);
    ~Ndmpirun();
    std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own);
    void leave();

  private:
    static DWORD WINAPI listen_for_news(void *launcher);
    static void tell_failure(const std::string &message);

    const Place &place_;
    SOCKADDR_INET root_;
    Stream *stream_;
    Executive *executive_;
    HANDLE thread_;
};

Ndmpirun::Ndmpirun(Place &place) : place_(place), stream_(NULL), executive_(NULL), thread_(NULL)
{
    bool good = parse_number(variable(NDMPI_SIZE), 1, MOST_RANKS, place.size) &&
                parse_number(variable(NDMPI_RANK), 0, place.size - 1, place.rank) &&
                parse_number(variable(NDMPI_VERSION), 1, 2, place.version) &&
                parse_number(variable(NDMPI_HERE), 1, place.size, place.here) &&
                parse_ports(variable(NDMPI_PORTS), place.first_port, place.last_port) &&
                parse_address(variable(NDMPI_ROOT), root_) &&
                parse_address(variable(NDMPI_ADDRESS), place.address);
    place.key = strtoull(variable(NDMPI_KEY).c_str(), NULL, 16);
    if (!good)
        fail("the NDMPI_ variables of the environment are damaged: start it with ndmpirun");
}

Ndmpirun::~Ndmpirun()
{
    if (thread_) {
        stream_->shut_down();
        WaitForSingleObject(thread_, INFINITE);
        CloseHandle(thread_);
    }
    delete stream_;
}

std::vector<SOCKADDR_INET> Ndmpirun::enter(Executive &executive, const SOCKADDR_INET &own)
{
    std::vector<SOCKADDR_INET> addresses(place_.size);
    std::string line, message;

    executive_ = &executive;
    stream_ = Stream::connect(root_);
    if (!stream_)
        fail("ndmpirun cannot be reached at %s: %s\n  ndmpirun -i names the address ranks reach it "
             "by",
            address_text(root_).c_str(), socket_error().c_str());
    obituaries = stream_;
    set_obituary(tell_failure);
    stream_->write(format("card %016llx %u %s", (unsigned long long)place_.key, place_.rank,
        address_text(own).c_str()));
    for (unsigned i = 0; i < place_.size; ++i) {
        unsigned rank = 0;
        char text[80];
        if (!stream_->read(line))
            fail("%s is gone", GONE);
        if (is_abort(line, message))
            end_with(message);
        if (sscanf(line.c_str(), "at %u %79s", &rank, text) != 2 || rank >= place_.size ||
            !parse_address(text, addresses[rank]))
            fail("ndmpirun says \"%s\": is it of another version?", line.c_str());
    }
    thread_ = CreateThread(NULL, 0, listen_for_news, this, 0, NULL);
    if (!thread_)
        fail("CreateThread failed: error %u", (unsigned)GetLastError());
    return addresses;
}

void Ndmpirun::leave()
{
    stream_->write("done");
    WaitForSingleObject(thread_, INFINITE); // until "bye"
    CloseHandle(thread_);
    thread_ = NULL;
    set_obituary(NULL);
}

DWORD WINAPI Ndmpirun::listen_for_news(void *self)
{
    Ndmpirun *launcher = (Ndmpirun *)self;
    std::string line, message;

    if (launcher->stream_->read(line)) {
        if (line == "bye")
            return 0;
        if (!is_abort(line, message))
            message = "ndmpirun says \"" + line + "\"";
    } else {
        message = format("%s is gone", GONE);
    }
    launcher->executive_->post(*new News(message), ND_SUCCESS);
    return 0;
}

void Ndmpirun::tell_failure(const std::string &message)
{
    obituaries->write("failed " + message);
}

} // namespace

Launcher *launched_by_ndmpirun(Place &place)
{
    return getenv(NDMPI_RANK) ? new Ndmpirun(place) : NULL;
}

} // namespace ndmpi
