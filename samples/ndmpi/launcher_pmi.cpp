// SPDX-License-Identifier: MIT
//
// launcher_pmi.cpp - a rank whose launcher speaks PMI-1, as MPICH's mpiexec.hydra does: lines of words NAME=VALUE over
// the descriptor PMI_FD, a request and its answer at a time.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher_keys.h"

namespace ndmpi
{

namespace
{

enum { LONGEST = 4096 }; // line

class Pmi : public Keys
{
  public:
    explicit Pmi(int descriptor);
    ~Pmi()
    {
        close(descriptor_);
    }
    unsigned rank() const
    {
        return rank_;
    }
    unsigned size() const
    {
        return size_;
    }
    void put(const std::string &key, const std::string &value)
    {
        ask("cmd=put kvsname=" + space_ + " key=" + own(rank_, key) + " value=" + value,
            "put_result");
    }
    void fence()
    {
        ask("cmd=barrier_in", "barrier_out");
    }
    std::string get(unsigned rank, const std::string &key)
    {
        return word(
            ask("cmd=get kvsname=" + space_ + " key=" + own(rank, key), "get_result"), "value");
    }
    void finish()
    {
        ask("cmd=finalize", "finalize_ack");
    }

  private:
    // All ranks share the keys, so each puts its number into its own.
    static std::string own(unsigned rank, const std::string &key)
    {
        return format("%s-%u", key.c_str(), rank);
    }
    std::string ask(const std::string &request, const std::string &answer);
    bool write_line(const std::string &line);
    bool read_line(std::string &line);
    static std::string word(const std::string &line, const std::string &name);

    const int descriptor_;
    unsigned rank_, size_;
    std::string space_, read_;
};

Pmi::Pmi(int descriptor) : descriptor_(descriptor), rank_(0), size_(0)
{
    if (!parse_number(variable("PMI_SIZE"), 1, MOST_RANKS, size_) ||
        !parse_number(variable("PMI_RANK"), 0, size_ - 1, rank_))
        fail("the launcher's PMI_RANK=%s, PMI_SIZE=%s: a rank of 1 to %u is wanted",
            variable("PMI_RANK").c_str(), variable("PMI_SIZE").c_str(), (unsigned)MOST_RANKS);
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    space_ = word(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
}

bool Pmi::write_line(const std::string &line)
{
    const std::string octets = line + '\n';
    for (size_t sent = 0; sent < octets.size();) {
        ssize_t n = write(descriptor_, octets.data() + sent, octets.size() - sent);
        if (n < 0 && errno != EINTR)
            return false;
        sent += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool Pmi::read_line(std::string &line)
{
    size_t end;
    while ((end = read_.find('\n')) == std::string::npos) {
        char octets[LONGEST];
        ssize_t n = read(descriptor_, octets, sizeof(octets));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || read_.size() > LONGEST)
            return false;
        read_.append(octets, (size_t)n);
    }
    line = read_.substr(0, end);
    read_.erase(0, end + 1);
    return true;
}

// The value of a word; empty: there is none.
std::string Pmi::word(const std::string &line, const std::string &name)
{
    size_t at = (' ' + line).find(' ' + name + '=');
    if (at == std::string::npos)
        return "";
    at += name.size() + 1;
    return line.substr(at, line.find(' ', at) - at);
}

std::string Pmi::ask(const std::string &request, const std::string &answer)
{
    std::string line;
    if (!write_line(request) || !read_line(line))
        fail("the launcher that speaks PMI-1 is gone");
    const std::string status = word(line, "rc");
    if (word(line, "cmd") != answer || (!status.empty() && status != "0"))
        fail("the launcher answers \"%s\" to \"%s\"", line.c_str(), request.c_str());
    return line;
}

} // namespace

Launcher *launched_by_pmi(Place &place)
{
    unsigned descriptor;
    if (variable("PMI_FD").empty())
        return NULL;
    if (!parse_number(variable("PMI_FD"), 0, 1u << 20, descriptor))
        fail("the launcher's PMI_FD=%s is no descriptor", variable("PMI_FD").c_str());
    take_settings(place);
    return launched_with_keys(new Pmi((int)descriptor), place);
}

} // namespace ndmpi
