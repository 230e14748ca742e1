// SPDX-License-Identifier: MIT
//
// launch.h - the processes of a run, from their start until the last of them has ended.
#ifndef NDMPI_LAUNCH_H
#define NDMPI_LAUNCH_H

#include "hosts.h"
#include "job.h"
#include "platform.h"
#include "stream.h"

namespace ndmpi
{

struct Plan {
    bool shared; // small messages on one host go through shared memory
    unsigned ranks, version, first_port, last_port, patience_s;
    std::vector<Host> hosts;
    std::vector<std::string> remote;  // the remote command, without login
    std::vector<std::string> command; // program and arguments
    SOCKADDR_INET root;               // where ranks reach this process; port 0: any
};

class Launch : private ListenerOwner
{
  public:
    explicit Launch(const Plan &plan);
    ~Launch();
    // Starts all ranks and waits for them. Returns whether all succeeded; if not, the reason has been printed.
    bool run();

  private:
    struct Rank;
    struct Connection;
    struct End;

    Launch(const Launch &);
    Launch &operator=(const Launch &);

    void start(unsigned rank);
    std::string key() const;
    std::vector<std::string> environment(unsigned rank) const;
    std::string remote_line(unsigned rank) const;
    void abort(const std::string &why);
    void deadline();
    DWORD until_deadline() const;

    // events
    void came(SOCKET socket);
    void make_room();
    void said(Connection &connection, const std::string &line);
    void left(Connection &connection);
    void send_away(Connection &connection);
    void sweep();
    void ended(Rank &rank, bool good, const std::string &how);

    void card(Connection &connection, const std::string &line);
    void verdict(Rank &rank);
    bool everybody(bool (*is)(const Rank &)) const;
    std::string describe(const Rank &rank) const;

    static DWORD WINAPI wait_thread(void *rank);

    const Plan plan_;
    UINT64 key_;
    std::vector<size_t> places_;
    Executive executive_;
    Listener listener_;
    std::vector<Rank *> ranks_;
    std::vector<Connection *> connections_;
    bool aborted_;
    unsigned long long ignored_; // connections of programs that are no rank of this run
    std::string why_;
    ULONGLONG deadline_;
    ULONGLONG room_; // when the next connection may be accepted; NEVER: already
};

} // namespace ndmpi
#endif
