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

const unsigned PATIENCE_S = 75; // if the environment does not say

Stream *obituaries; // where a rank reports its failure

// "abort MESSAGE" to MESSAGE.
bool is_abort(const std::string &line, std::string &message)
{
    if (line.compare(0, 6, "abort ") != 0)
        return false;
    message = line.substr(6);
    return true;
}

class Ndmpirun : public Launcher, private StreamOwner
{
  public:
    explicit Ndmpirun(Place &place);
    std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own);
    void leave();

  private:
    // of the stream
    void connected(Stream &stream);
    void said(Stream &stream, const std::string &line);
    void left(Stream &stream, const std::string &why);

    void met(const std::string &line);
    static void tell_failure(const std::string &message);

    const Place &place_;
    SOCKADDR_INET root_, own_;
    Stream *stream_;
    Executive *executive_;
    std::vector<SOCKADDR_INET> addresses_;
    std::vector<bool> known_; // of addresses_
    unsigned missing_, patience_s_;
    bool connected_, bye_;
};

Ndmpirun::Ndmpirun(Place &place)
    : place_(place), stream_(NULL), executive_(NULL), missing_(0), patience_s_(PATIENCE_S),
      connected_(false), bye_(false)
{
    const std::string patience = variable(NDMPI_PATIENCE, format("%u", PATIENCE_S));
    bool good = parse_number(variable(NDMPI_SIZE), 1, MOST_RANKS, place.size) &&
                parse_number(variable(NDMPI_RANK), 0, place.size - 1, place.rank) &&
                parse_number(variable(NDMPI_VERSION), 1, 2, place.version) &&
                parse_number(variable(NDMPI_HERE), 1, place.size, place.here) &&
                parse_channel(variable(NDMPI_CHANNEL, "nd"), place.shared) &&
                parse_number(patience, 1, 100000, patience_s_) &&
                parse_ports(variable(NDMPI_PORTS), place.first_port, place.last_port) &&
                parse_address(variable(NDMPI_ROOT), root_) &&
                parse_address(variable(NDMPI_ADDRESS), place.address);
    place.key = strtoull(variable(NDMPI_KEY).c_str(), NULL, 16);
    if (!good)
        fail("the NDMPI_ variables of the environment are damaged: start it with ndmpirun");
}

std::vector<SOCKADDR_INET> Ndmpirun::enter(Executive &executive, const SOCKADDR_INET &own)
{
    const ULONGLONG deadline = GetTickCount64() + patience_s_ * 1000ULL;

    executive_ = &executive;
    own_ = own;
    addresses_.resize(place_.size);
    known_.resize(place_.size);
    missing_ = place_.size;
    stream_ = new Stream(executive, *this, root_);
    while (missing_) {
        const ULONGLONG now = GetTickCount64();
        if (now >= deadline)
            fail(connected_ ? "what listens at %s has not named the other ranks within %u s: is it "
                              "ndmpirun?"
                            : "ndmpirun cannot be reached at %s: no answer within %u s\n  ndmpirun "
                              "-i names the address ranks reach it by",
                address_text(root_).c_str(), patience_s_);
        executive.run((DWORD)(deadline - now));
    }
    return addresses_;
}

void Ndmpirun::connected(Stream &stream)
{
    connected_ = true;
    obituaries = &stream;
    set_obituary(tell_failure);
    stream.write(format("card %016llx %u %s", (unsigned long long)place_.key, place_.rank,
        address_text(own_).c_str()));
}

void Ndmpirun::said(Stream &, const std::string &line)
{
    std::string message;

    if (is_abort(line, message)) {
        set_obituary(NULL);
        end_with(message);
    }
    if (missing_)
        met(line);
    else if (line == "bye")
        bye_ = true;
    else
        fail("ndmpirun says \"%s\": is it of another version?", line.c_str());
}

void Ndmpirun::met(const std::string &line)
{
    unsigned rank = 0;
    char text[80];

    if (sscanf(line.c_str(), "at %u %79s", &rank, text) != 2 || rank >= place_.size ||
        known_[rank] || !parse_address(text, addresses_[rank]))
        fail("ndmpirun says \"%s\": is it of another version?", line.c_str());
    known_[rank] = true;
    --missing_;
}

void Ndmpirun::left(Stream &, const std::string &why)
{
    if (bye_)
        return;
    set_obituary(NULL);
    if (!connected_)
        fail("ndmpirun cannot be reached at %s: %s\n  ndmpirun -i names the address ranks reach it "
             "by",
            address_text(root_).c_str(), why.c_str());
    end_with("ndmpirun has ended, or the network to it is gone: " + why);
}

void Ndmpirun::leave()
{
    stream_->write("done");
    while (!bye_)
        executive_->run(INFINITE);
    set_obituary(NULL);
    for (stream_->close(); !stream_->idle();)
        executive_->run(INFINITE);
    delete stream_;
}

void Ndmpirun::tell_failure(const std::string &message)
{
    obituaries->last_words("failed " + message);
}

} // namespace

Launcher *launched_by_ndmpirun(Place &place)
{
    return getenv(NDMPI_RANK) ? new Ndmpirun(place) : NULL;
}

} // namespace ndmpi
