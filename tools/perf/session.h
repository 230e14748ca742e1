/* SPDX-License-Identifier: MIT */
/*
 * session.h - a measurement from its first connection to its last: agreement, connections, phases.
 */
#ifndef TOOLS_PERF_SESSION_H
#define TOOLS_PERF_SESSION_H

#include <memory>
#include <vector>

#include "channel.h"
#include "doors.h"
#include "options.h"
#include "report.h"
#include "worker.h"

namespace ndperf
{

class Session
{
  public:
    explicit Session(const Options &options);
    ~Session();
    // Runs the measurement. Returns the program's status.
    int run();

  private:
    // Make the first connection, and agree on the parameters.
    void meet_server();
    void meet_client();
    HRESULT find_local(SOCKADDR_INET &local) const;
    HRESULT reach(const char *&what);
    void withdraw(const std::string &reason, bool is_connected) __attribute__((noreturn));
    void accept_first(Doors &doors);
    void propose();
    void agreed();
    void judge();
    void refuse(const std::string &reason);

    // Make the connections that are measured.
    void connect_streams();
    void accept_stream(Endpoint &endpoint, const Greeting &own);
    void exchange_memory();
    Stream &stream(size_t index)
    {
        return *workers_[index % workers_.size()]->streams()[index / workers_.size()];
    }

    bool measure();
    bool run_phase(const Phase &phase);
    bool run_workers(const Phase &phase);
    bool is_to_stop(bool &by_peer);
    UINT64 messages_so_far() const;
    Message own_part(double processor) const;
    Row row_of(const Phase &phase, const Message &own, const Message &peer);
    void verify(const Phase &phase);
    void keep_part(const Phase &phase, double processor);
    void stop_early(bool by_peer) __attribute__((noreturn));
    void finish();

    const Options &options_;
    Parameters p_;
    UINT32 cookie_;
    SOCKADDR_INET peer_; // client: the server's address
    std::unique_ptr<Adapter> adapter_;
    std::unique_ptr<Channel> channel_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<Report> report_;   // the client has it
    std::unique_ptr<Refuser> refuser_; // the server has it
    UINT64 damaged_;                   // number of damaged messages, on both sides

    bool stopped_by_peer_;

    // This end's part of a phase whose row is not reported yet.
    struct {
        bool is_there;
        Phase phase;
        Message own;
    } part_;
};

// Makes the greeting of a connection. Cookie 0: it begins a new measurement.
Greeting greeting(UINT32 cookie, UINT32 index);

} // namespace ndperf
#endif
