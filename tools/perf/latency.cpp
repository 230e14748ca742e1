/* SPDX-License-Identifier: MIT */
/*
 * latency.cpp - one message at a time, round after round, over the worker's connections in turn.
 *
 * A Send and a Write go there and back; half of that time is the latency. The last Send of a phase is one byte longer,
 * the last Write ends with the byte LAST, so the server learns that it is the last. Reads involve only the client.
 */
#include "interrupt.h"
#include "phases.h"

namespace ndperf
{

namespace
{

// The last byte of a Write tells its number: 1 to TURN, from 1 again, or LAST.
enum { TURN = 254, LAST = 255 };

class Latency : public Handler
{
  public:
    Latency(Worker &worker, const Phase &phase)
        : worker_(worker), phase_(phase), p_(worker.parameters()), streams_(worker.streams()),
          deadline_(deadline_of(worker, phase)), arrived_(false), ended_(false)
    {
    }
    void received(Stream &stream, const char *data, ULONG bytes)
    {
        if (p_.verify && !is_right(data, bytes, stream.arrived))
            ++stream.damaged;
        ++stream.arrived;
        arrived_ = true;
        ended_ = bytes == phase_.size + 1;
    }
    void completed(Stream &stream)
    {
        --stream.outstanding;
    }
    void send_rounds();
    void write_rounds();
    void read_rounds();

  private:
    // Returns the connection of a round; rounds take the connections in turn.
    Stream &stream_of(UINT64 round)
    {
        return *streams_[round % streams_.size()];
    }
    bool is_last(UINT64 round) const
    {
        return deadline_ ? ticks() >= deadline_ : round + 1 == phase_.iterations;
    }
    // Handles results until the stream has room for a request: with verify its only buffer must be free.
    void await_room(Stream &stream)
    {
        while (stream.outstanding >= (p_.verify ? 1 : p_.tx()))
            step();
    }
    void await_all()
    {
        for (size_t i = 0; i < streams_.size(); ++i)
            while (streams_[i]->outstanding)
                step();
    }
    void step()
    {
        if (!worker_.progress(*this))
            worker_.rest();
    }
    void send(Stream &stream, bool last);
    bool await_message();
    void write(Stream &stream, unsigned char number);
    unsigned char await_write(Stream &stream, unsigned char number);
    void end_round(UINT64 &begun);

    Worker &worker_;
    const Phase &phase_;
    const Parameters &p_;
    std::vector<std::unique_ptr<Stream>> &streams_;
    UINT64 deadline_;
    bool arrived_, ended_; // a message has arrived; it was the last one
};

// Records a round's time, which lasts until the next round begins.
void Latency::end_round(UINT64 &begun)
{
    UINT64 now = ticks();
    worker_.samples.add(now - begun);
    begun = now;
    worker_.count(1);
}

void Latency::send(Stream &stream, bool last)
{
    ULONG size = phase_.size + (last ? 1 : 0);
    await_room(stream);
    if (p_.verify)
        fill(worker_.out(stream, 0), size, stream.sent);
    worker_.post(stream, SEND, size, 0, 0);
}

// Waits for the next message. False: the measurement stops.
bool Latency::await_message()
{
    while (!arrived_ && !stopping())
        step();
    bool came = arrived_;
    arrived_ = false;
    return came;
}

void Latency::send_rounds()
{
    UINT64 begun = ticks();
    for (UINT64 round = 0; !ended_; ++round) {
        Stream &stream = stream_of(round);
        if (worker_.server() && !await_message())
            return;
        send(stream, worker_.server() ? ended_ : is_last(round));
        if (worker_.server())
            continue;
        if (!await_message())
            return;
        end_round(begun);
    }
    await_all();
}

void Latency::write(Stream &stream, unsigned char number)
{
    char *data = worker_.out(stream, 0);
    await_room(stream);
    if (p_.verify)
        fill(data, phase_.size - 1, number);
    data[phase_.size - 1] = (char)number;
    worker_.post(stream, WRITE, phase_.size, 0, 0);
}

// Polls the byte that the device stores; polling for results lets the device make progress. Returns the byte; 0: the
// measurement stops.
unsigned char Latency::await_write(Stream &stream, unsigned char number)
{
    const char *data = worker_.in(stream, 0);
    const volatile unsigned char *place = (const volatile unsigned char *)data + phase_.size - 1;
    unsigned char found;

    while ((found = *place) != number && found != LAST) {
        if (stopping())
            return 0;
        worker_.progress(*this);
    }
    MemoryBarrier();
    if (p_.verify && !is_right(data, phase_.size - 1, found))
        ++stream.damaged;
    ++stream.arrived;
    return found;
}

void Latency::write_rounds()
{
    UINT64 begun = ticks();
    for (UINT64 round = 0; !ended_; ++round) {
        Stream &stream = stream_of(round);
        unsigned char number = (unsigned char)(round / streams_.size() % TURN + 1);
        if (worker_.server()) {
            unsigned char found = await_write(stream, number);
            if (!found)
                return;
            ended_ = found == LAST;
            write(stream, found);
            continue;
        }
        ended_ = is_last(round);
        write(stream, ended_ ? (unsigned char)LAST : number);
        if (!await_write(stream, number))
            return;
        end_round(begun);
    }
    await_all();
}

void Latency::read_rounds()
{
    UINT64 begun = ticks();
    for (UINT64 round = 0; !ended_ && !stopping(); ++round) {
        Stream &stream = stream_of(round);
        ended_ = is_last(round);
        if (p_.verify)
            fill(worker_.in(stream, 0), phase_.size, 1);
        worker_.post(stream, READ, phase_.size, 0, 0);
        while (stream.outstanding)
            step();
        if (p_.verify && !is_right(worker_.in(stream, 0), phase_.size, 0))
            ++stream.damaged;
        end_round(begun);
    }
}

} // namespace

void run_send_latency(Worker &worker, const Phase &phase)
{
    Latency(worker, phase).send_rounds();
}

void run_write_latency(Worker &worker, const Phase &phase)
{
    Latency(worker, phase).write_rounds();
}

void run_read_latency(Worker &worker, const Phase &phase)
{
    if (!worker.server())
        Latency(worker, phase).read_rounds();
}

// ---- all phases -----------------------------------------------------------------------------------------------------

void run_phase(Worker &worker, const Phase &phase)
{
    switch (worker.parameters().test) {
    case SEND_LAT: run_send_latency(worker, phase); break;
    case WRITE_LAT: run_write_latency(worker, phase); break;
    case READ_LAT: run_read_latency(worker, phase); break;
    case CONNECT: run_connects(worker, phase); break;
    default: run_bandwidth(worker, phase); break;
    }
}

void prepare_phase(Worker &worker, const Phase &phase)
{
    const Parameters &p = worker.parameters();

    for (size_t i = 0; i < worker.streams().size(); ++i) {
        Stream &stream = *worker.streams()[i];
        if (p.test == WRITE_LAT)
            worker.in(stream, 0)[phase.size - 1] = 0;
        for (UINT32 slot = 0; p.reads() && p.verify && slot < p.tx(); ++slot)
            fill(worker.out(stream, slot), phase.size, slot);
    }
}

// Checks the last message in each buffer that was written in this phase.
void verify_writes(Worker &worker, Stream &stream, const Phase &phase, UINT64 begun, UINT64 sent)
{
    UINT32 buffers = worker.parameters().tx();
    UINT64 number = sent - begun > buffers ? sent - buffers : begun;
    for (; number < sent; ++number)
        if (!is_right(worker.in(stream, (UINT32)(number % buffers)), phase.size, number))
            ++stream.damaged;
}

UINT64 deadline_of(const Worker &worker, const Phase &phase)
{
    return phase.duration ? worker.start + (UINT64)(phase.duration * ticks_per_second()) : 0;
}

// Each byte has eight bits of the number, the next byte the next eight: a buffer is reused after as many messages as
// there are buffers, which may be a multiple of 256.
static char pattern(ULONG offset, UINT64 number)
{
    return (char)(offset * 7 + (offset >> 8) + (number >> offset % 8 * 8));
}

void fill(char *data, ULONG bytes, UINT64 number)
{
    for (ULONG i = 0; i < bytes; ++i)
        data[i] = pattern(i, number);
}

bool is_right(const char *data, ULONG bytes, UINT64 number)
{
    for (ULONG i = 0; i < bytes; ++i)
        if (data[i] != pattern(i, number))
            return false;
    return true;
}

} // namespace ndperf
