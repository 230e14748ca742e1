/* SPDX-License-Identifier: MIT */
#include "parameters.h"

#include "failure.h"

namespace ndperf
{

namespace
{

enum {
    VERIFY_BYTES = 4 << 20, // most bytes of a queue pair's buffers, each way, or one message
    LINE = 64,
    CQ_MOD = 100, // perftest's default
    CQ_MOD_LARGEST = 8192
};

const char *const tests[] = { "send_lat", "send_bw", "write_lat", "write_bw", "read_lat", "read_bw",
    "connect" };
const char *const waits[] = { "poll", "event", "port" };

bool is_given(UINT32 given, UINT32 Parameters::*member)
{
    return given >> (&field_of(member) - fields) & 1;
}

// Returns a number as its option takes it.
std::string value_text(const Field &field, UINT32 value)
{
    if (field.member == &Parameters::wait)
        return wait_name(value);
    if (field.member == &Parameters::inline_size && value == INLINE_ADVISED)
        return "advised";
    return format("%u", (unsigned)value);
}

UINT32 in_flight(const Parameters &p, UINT32 depth)
{
    UINT32 fit = VERIFY_BYTES / p.stride();
    if (!p.verify || fit > depth)
        return depth;
    return fit ? fit : 1;
}

// contradiction() for the test connect.
std::string contradiction_of_connect(const Parameters &p)
{
    if (p.size || p.all || p.verify)
        return "connect sends no messages: leave -s, -a and --verify out";
    if (p.qps > 1)
        return "connect makes one connection at a time in each thread: --threads in place of -q";
    if (p.wait != POLL)
        return "connect waits for no completions: leave -w and -e out";
    return "";
}

} // namespace

const Field fields[] = {
    { "--nd", &Parameters::nd, 1, 2, 1, false },
    { "--size", &Parameters::size, 1, LARGEST_ANY, 0, false },
    { "--all", &Parameters::all, 0, 1, 0, false },
    { "--iters", &Parameters::iterations, 1, 50000000, 1, false },
    { "--duration", &Parameters::duration, 1, 86400, 0, false },
    { "--qp", &Parameters::qps, 1, 16384, 1, false },
    { "--threads", &Parameters::threads, 1, 60, 1, false },
    { "--tx-depth", &Parameters::tx_depth, 1, 65536, 1, false },
    { "--rx-depth", &Parameters::rx_depth, 1, 65536, 1, false },
    { "--inline_size", &Parameters::inline_size, 0, 65536, INLINE_ADVISED, false },
    { "--bidirectional", &Parameters::bidirectional, 0, 1, 0, false },
    { "--post_list", &Parameters::post_list, 1, 65536, 1, false },
    { "--cq-mod", &Parameters::cq_mod, 1, 65536, 1, false },
    { "--outs", &Parameters::outs, 1, 65536, 0, false },
    { "--use-srq", &Parameters::srq, 0, 1, 0, false },
    { "--mw", &Parameters::windows, 0, 1, 0, false },
    { "--verify", &Parameters::verify, 0, 1, 0, false },
    { "--warmup", &Parameters::warmup, 0, 1000000, 0, false },
    { "--wait", &Parameters::wait, POLL, PORT, POLL, true },
};
const size_t field_count = sizeof(fields) / sizeof(fields[0]);

bool is_flag(const Field &field)
{
    return field.minimum == 0 && field.maximum == 1;
}

const Field &field_of(UINT32 Parameters::*member)
{
    const Field *field = fields;
    while (field->member != member)
        ++field;
    return *field;
}

const char *test_name(UINT32 test)
{
    return test < TESTS ? tests[test] : "another test";
}

const char *wait_name(UINT32 wait)
{
    return wait <= PORT ? waits[wait] : "another way";
}

std::vector<UINT32> Parameters::sizes() const
{
    std::vector<UINT32> list;
    for (UINT32 bytes = 1; all && bytes <= (UINT32)LARGEST; bytes *= 2)
        list.push_back(bytes);
    if (!all)
        list.push_back(size);
    return list;
}

// A buffer has one byte more than the largest message, by which the last message of a run is longer.
UINT32 Parameters::stride() const
{
    return (largest() + 1 + LINE - 1) / LINE * LINE;
}

UINT32 Parameters::tx() const
{
    return in_flight(*this, tx_depth);
}

UINT32 Parameters::rx() const
{
    return in_flight(*this, rx_depth);
}

void set_defaults(Parameters &parameters, UINT32 given)
{
    Parameters &p = parameters;
    if (!is_given(given, &Parameters::nd))
        p.nd = 2;
    if (!is_given(given, &Parameters::size))
        p.size = p.bandwidth() ? 65536 : p.latency() ? 2 : 0;
    if (!is_given(given, &Parameters::iterations))
        p.iterations = 1000;
    if (!is_given(given, &Parameters::qps))
        p.qps = 1;
    if (!is_given(given, &Parameters::threads))
        p.threads = 1;
    if (!is_given(given, &Parameters::tx_depth))
        p.tx_depth = p.bandwidth() ? 128 : 16;
    if (!is_given(given, &Parameters::rx_depth))
        p.rx_depth = p.bandwidth() ? 512 : 16;
    if (!is_given(given, &Parameters::inline_size))
        p.inline_size = p.test == SEND_LAT || p.test == WRITE_LAT ? INLINE_ADVISED : 0;
    if (!is_given(given, &Parameters::post_list))
        p.post_list = 1;
    if (!is_given(given, &Parameters::cq_mod)) {
        UINT32 most = p.tx_depth < CQ_MOD ? p.tx_depth : (UINT32)CQ_MOD;
        bool moderate = p.bandwidth() && !p.verify && (p.all || p.size <= CQ_MOD_LARGEST);
        p.cq_mod = moderate && most >= p.post_list ? most / p.post_list * p.post_list : p.post_list;
    }
    if (!is_given(given, &Parameters::warmup))
        p.warmup = p.latency() ? 100 : p.bandwidth() ? p.tx_depth : 10;
}

std::string out_of_range(const Parameters &p)
{
    for (size_t i = 0; i < field_count; ++i) {
        UINT32 value = p.*fields[i].member;
        bool may_lack = value == fields[i].absent;
        if (fields[i].member == &Parameters::size)
            may_lack = may_lack && p.test == CONNECT;
        if ((value < fields[i].minimum || value > fields[i].maximum) && !may_lack)
            return format("%s is %u", fields[i].option, (unsigned)value);
    }
    return "";
}

std::string contradiction(const Parameters &p)
{
    if (p.test == CONNECT && !contradiction_of_connect(p).empty())
        return contradiction_of_connect(p);
    if (p.bidirectional && !p.bandwidth())
        return format("-b goes with send_bw, write_bw and read_bw, not with %s", test_name(p.test));
    if (p.threads > p.qps && p.test != CONNECT)
        return format(
            "%u threads need as many queue pairs: -q %u", (unsigned)p.threads, (unsigned)p.threads);
    if (p.cq_mod > p.tx() || p.post_list > p.tx())
        return format("-Q %u and -l %u are more than may be in flight: %u (-t%s)",
            (unsigned)p.cq_mod, (unsigned)p.post_list, (unsigned)p.tx(),
            p.verify ? ", --verify" : "");
    if (p.cq_mod % p.post_list)
        return format("-Q %u is no multiple of -l %u", (unsigned)p.cq_mod, (unsigned)p.post_list);
    if (p.sends() && p.post_list > p.rx() - p.credit() + 1)
        return format("-l %u is more than the peer takes at once with %u Receives (-r%s)",
            (unsigned)p.post_list, (unsigned)p.rx(), p.verify ? ", --verify" : "");
    if (p.test == WRITE_LAT && p.wait != POLL)
        return "write_lat looks for the data in memory: it has no -w event or port";
    if (p.inline_size != INLINE_ADVISED && p.inline_size && !p.sends() && !p.writes())
        return format("%s sends no data inline: leave -I out", test_name(p.test));
    if (p.srq && !p.sends())
        return "--use-srq goes with send_lat and send_bw: the others receive nothing";
    if (p.srq && p.nd == 1)
        return "version 1 has no shared receive queue: --use-srq needs --nd 2";
    if (p.windows && !p.writes() && !p.reads())
        return "--mw goes with Writes and Reads";
    if (p.outs && !p.reads())
        return "-o goes with read_lat and read_bw";
    if (p.nd == 1 && p.wait == PORT && p.threads > 1)
        return "version 1 has one file for all queues of an adapter: -w port needs --threads 1";
    return "";
}

std::string beyond(const Parameters &p, const Limits &limits)
{
    UINT64 each = (UINT64)p.tx_depth + p.rx_depth + 2 * CREDITS;
    UINT64 qps = (p.qps + p.threads - 1) / p.threads;
    struct {
        const char *what;
        UINT64 wanted, most;
    } rows[] = {
        { "bytes in one message (-s)", (UINT64)p.largest() + 1, limits.max_transfer },
        { "requests in a send queue (-t)", (UINT64)p.tx_depth + CREDITS, limits.max_sends },
        { "Receives in a queue (-r)", p.srq ? 0 : (UINT64)p.rx_depth + CREDITS,
            limits.max_receives },
        { "Receives in a shared queue (-r, -q)", p.srq ? ((UINT64)p.rx_depth + CREDITS) * qps : 0,
            limits.max_shared },
        { "results in a completion queue (-q, -t, -r)", each * qps, limits.max_results },
        { "bytes inline (-I)", p.inline_size == INLINE_ADVISED ? 0 : p.inline_size,
            limits.max_inline },
        { "Reads in flight (-o)", p.outs, limits.max_reads },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i)
        if (rows[i].wanted > rows[i].most)
            return format("%llu %s are wanted, the adapter has at most %llu",
                (unsigned long long)rows[i].wanted, rows[i].what, (unsigned long long)rows[i].most);
    if (p.test == WRITE_LAT && p.verify && !limits.in_order)
        return "the adapter does not say that data lands in order: write_lat has no --verify there";
    if (p.reads())
        return limits.max_reads ? "" : "the adapter does no Reads";
    return "";
}

std::string unlike(const Parameters &server, UINT32 given, const Parameters &client)
{
    if (server.test != client.test)
        return format(
            "the client runs %s, the server %s", test_name(client.test), test_name(server.test));
    if (server.nd != client.nd)
        return format(
            "the client uses version %u of NetworkDirect, the server version %u: give both "
            "the same --nd",
            (unsigned)client.nd, (unsigned)server.nd);
    for (size_t i = 0; i < field_count; ++i) {
        UINT32 Parameters::*member = fields[i].member;
        if (!(given >> i & 1) || fields[i].local || server.*member == client.*member)
            continue;
        if (is_flag(fields[i]))
            return format("the server was given %s, the client was not", fields[i].option);
        return format("the client has %s %s, the server was given %s: give both the same, or the "
                      "server none",
            fields[i].option, value_text(fields[i], client.*member).c_str(),
            value_text(fields[i], server.*member).c_str());
    }
    return "";
}

} // namespace ndperf
