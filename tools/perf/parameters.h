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
    LARGEST = 1 << 23,     // the largest size of -a, as in perftest
    LARGEST_ANY = 1 << 30, // the largest size of -s
    CREDITS = 8            // number of Receives, and of Sends, for credits, besides the depths
};

// The parameters are numbers of 32 bits; flags are 0 or 1.
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
    UINT32 inline_size; // largest inline message; INLINE_ADVISED: each side's adapter decides
    UINT32 bidirectional;
    UINT32 post_list; // number of requests in a batch
    UINT32 cq_mod;    // number of requests for one completion
    UINT32 outs;      // number of Reads in flight, 0: as many as the adapters can
    UINT32 srq;
    UINT32 windows; // the peer uses memory windows, not the region's token
    UINT32 verify;
    UINT32 warmup; // iterations
    UINT32 wait;   // Wait

    bool latency() const
    {
        return test == SEND_LAT || test == WRITE_LAT || test == READ_LAT;
    }
    // Whether the time of every message or connection is kept.
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
    // Returns the number of connections that last for the whole measurement.
    UINT32 streams() const
    {
        return test == CONNECT ? 0 : qps;
    }
    UINT32 largest() const
    {
        return all ? (UINT32)LARGEST : size;
    }
    // Returns the sizes to measure, in bytes.
    std::vector<UINT32> sizes() const;
    // Returns the number of completed Receives after which the receiver sends a credit.
    UINT32 credit() const
    {
        return rx() < 4 ? 1 : rx() / 4;
    }
    // Return the number of messages in flight: the depths; fewer with verify, where each message has a buffer of its
    // own, if that took much memory.
    UINT32 tx() const;
    UINT32 rx() const;
    UINT32 stride() const; // returns the bytes from buffer to buffer
};

const UINT32 INLINE_ADVISED = 0xFFFFFFFFu;

// Returns "send_lat" and so on.
const char *test_name(UINT32 test);
// Returns "poll" and so on.
const char *wait_name(UINT32 wait);

// A parameter with the option that sets it.
struct Field {
    const char *option; // "--size"
    UINT32 Parameters::*member;
    UINT32 minimum, maximum; // range of the option's value; 0, 1: it takes no value
    UINT32 absent;           // the value without the option, if outside this range
    bool local;              // each side may have its own
};
extern const Field fields[];
extern const size_t field_count;
// Whether the parameter is a flag: 1 or 0.
bool is_flag(const Field &field);
const Field &field_of(UINT32 Parameters::*member);

// Sets the defaults. given in: bit i: the user gave fields[i]
void set_defaults(Parameters &parameters, UINT32 given);
// Checks a peer's parameters, which may have any value: names one that no option can have set; "": none.
std::string out_of_range(const Parameters &parameters);
// Says which options contradict each other; "": none.
std::string contradiction(const Parameters &parameters);
// Says which option this side's adapter cannot serve; "": none.
std::string beyond(const Parameters &parameters, const Limits &limits);
// Says why a server with some parameters of its own does not serve this client; "": it does.
std::string unlike(const Parameters &server, UINT32 given, const Parameters &client);

} // namespace ndperf
#endif
