/* SPDX-License-Identifier: MIT */
/*
 * parameters.h - what both ends of a measurement have to agree on.
 */
#ifndef TOOLS_PERF_PARAMETERS_H
#define TOOLS_PERF_PARAMETERS_H

#include <winsock2.h>

#include <string>
#include <vector>

#include "verbs.h"

namespace ndperf
{

enum Test { SEND_LAT, SEND_BW, WRITE_LAT, WRITE_BW, READ_LAT, READ_BW, CONNECT, TESTS };
enum Wait { POLL, EVENT, PORT };

enum {
    LARGEST = 1 << 23,     // with -a, as perftest
    LARGEST_ANY = 1 << 30, // with -s
    CREDITS = 8            // Receives for credits, and Sends of them, besides the depths
};

// Numbers, all 32 bits wide; flags are 0 or 1.
struct Parameters {
    UINT32 test; // Test
    UINT32 nd;   // version of NetworkDirect
    UINT32 size; // bytes
    UINT32 all;  // sizes 1, 2, 4 ... LARGEST in place of size
    UINT32 iterations;
    UINT32 duration; // seconds, in place of iterations; 0: iterations count
    UINT32 qps;
    UINT32 threads;
    UINT32 tx_depth, rx_depth; // requests of each queue pair
    UINT32
    inline_size; // messages up to here are inline; INLINE_ADVISED: each side's adapter decides
    UINT32 bidirectional;
    UINT32 post_list; // requests of a batch
    UINT32 cq_mod;    // one completion for so many
    UINT32 outs;      // Reads in flight, 0: as many as the adapters can
    UINT32 srq;
    UINT32 windows; // remote access by memory windows, not by the region's token
    UINT32 verify;
    UINT32 warmup; // iterations
    UINT32 wait;   // Wait

    bool latency() const
    {
        return test == SEND_LAT || test == WRITE_LAT || test == READ_LAT;
    }
    // The time of every message or connection is kept.
    bool times_each() const
    {
        return latency() || test == CONNECT;
    }
    bool bandwidth() const
    {
        return test == SEND_BW || test == WRITE_BW || test == READ_BW;
    }
    bool sends() const
    {
        return test == SEND_LAT || test == SEND_BW;
    }
    bool reads() const
    {
        return test == READ_LAT || test == READ_BW;
    }
    bool writes() const
    {
        return test == WRITE_LAT || test == WRITE_BW;
    }
    // Connections that last for the whole measurement.
    UINT32 streams() const
    {
        return test == CONNECT ? 0 : qps;
    }
    UINT32 largest() const
    {
        return all ? (UINT32)LARGEST : size;
    }
    // The sizes to measure, in bytes.
    std::vector<UINT32> sizes() const;
    // The receiver sends a credit after so many completed Receives.
    UINT32 credit() const
    {
        return rx() < 4 ? 1 : rx() / 4;
    }
    // Messages in flight: the depths; fewer with verify, where each has a buffer of its own, if that took much memory.
    UINT32 tx() const;
    UINT32 rx() const;
    UINT32 stride() const; // bytes from buffer to buffer
};

const UINT32 INLINE_ADVISED = 0xFFFFFFFFu;

// "send_lat"
const char *test_name(UINT32 test);
// "poll"
const char *wait_name(UINT32 wait);

// A parameter with the option that sets it.
struct Field {
    const char *option; // "--size"
    UINT32 Parameters::*member;
    UINT32 minimum, maximum; // of the option's value; 0, 1: it has none
    UINT32 absent;           // the value without the option, if outside this range
    bool local;              // each side may have its own
};
extern const Field fields[];
extern const size_t field_count;
// A flag: 1 or 0.
bool is_flag(const Field &field);
const Field &field_of(UINT32 Parameters::*member);

// Sets the defaults. given in: bit i: the user gave fields[i]
void set_defaults(Parameters &parameters, UINT32 given);
// Checks a peer's parameters, which may be anything: names one that no option can have set; "": none.
std::string out_of_range(const Parameters &parameters);
// Which options contradict each other, in words; "": none.
std::string contradiction(const Parameters &parameters);
// Which option this side's adapter cannot serve, in words; "": none.
std::string beyond(const Parameters &parameters, const Limits &limits);
// Why a server with some parameters of its own does not serve this client; "": it does.
std::string unlike(const Parameters &server, UINT32 given, const Parameters &client);

} // namespace ndperf
#endif
