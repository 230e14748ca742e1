// SPDX-License-Identifier: MIT
//
// ndcat - copies standard input of the client to standard output of the server, and makes sure that nothing is lost.
//
// Shows: a stream with flow control over Send and Receive; the interfaces as C++ sees them.
//
// The server keeps SLOTS Receives posted and returns a credit, an empty Send, for each chunk it has written out and
// whose slot it has posted again; the client never has more than SLOTS chunks under way. No chunk is empty, so the
// client ends the data by an empty Send. A message with length and checksum follows, and the server answers with its
// verdict.
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static const char usage[] =
    "usage: ndcat -s ip[:port] [-b|-p] > output   on one host, and then\n"
    "       ndcat -c ip[:port] [-b|-p] < input    on the other, with the address of the first\n"
    "  -b  wait for completions asleep     -p  poll for them (default)\n"
    "  -V  print the version               -h  print this\n"
    "An IPv6 address with a port is written [ip]:port. The default port is 54325.\n"
    "Both end with status 0 only if length and checksum agree.\n";

namespace
{

const ULONG SLOTS = 16;
const ULONG CHUNK = 65536;

SAMPLE sample;

// Length and FNV-1a of the data so far.
struct Sum {
    UINT64 length;
    UINT64 hash;

    Sum() : length(0), hash(0xcbf29ce484222325)
    {
    }

    void add(const unsigned char *data, size_t size)
    {
        length += size;
        for (size_t i = 0; i < size; ++i)
            hash = (hash ^ data[i]) * 0x100000001b3;
    }
};

void put64(unsigned char *to, UINT64 value)
{
    for (int i = 7; i >= 0; --i, value >>= 8)
        to[i] = (unsigned char)value;
}

UINT64 get64(const unsigned char *from)
{
    UINT64 value = 0;
    for (int i = 0; i < 8; ++i)
        value = value << 8 | from[i];
    return value;
}

// SLOTS registered chunks; the context of a request is its slot. Slot 0 sends the credits, which carry no data.
class Slots
{
  public:
    explicit Slots(ULONG flags) : memory_((unsigned char *)malloc(SLOTS * CHUNK))
    {
        if (!memory_)
            sample_fail(&sample, "out of memory");
        region_ = sample_register(&sample, memory_, SLOTS * CHUNK, flags);
        token_ = region_->GetLocalToken();
    }

    ~Slots()
    {
        sample_deregister(&sample, region_);
        free(memory_);
    }

    unsigned char *operator[](ULONG slot) const
    {
        return memory_ + slot * CHUNK;
    }

    void send(ULONG slot, ULONG size) const
    {
        ND2_SGE sge = { memory_ + slot * CHUNK, size, token_ };
        sample_check(
            &sample, sample.qp->Send((void *)(ULONG_PTR)slot, &sge, size ? 1 : 0, 0), "Send");
    }

    void receive(ULONG slot) const
    {
        ND2_SGE sge = { memory_ + slot * CHUNK, CHUNK, token_ };
        sample_check(&sample, sample.qp->Receive((void *)(ULONG_PTR)slot, &sge, 1), "Receive");
    }

    static ULONG of(const ND2_RESULT &result)
    {
        return (ULONG)(ULONG_PTR)result.RequestContext;
    }

  private:
    Slots(const Slots &);
    Slots &operator=(const Slots &);

    unsigned char *memory_;
    IND2MemoryRegion *region_;
    UINT32 token_;
};

const unsigned char VERDICT_GOOD = 1;
const char greeting[] = "ndcat 1"; // private data of the client

// ---- client ---------------------------------------------------------------------------------------------------------

class Client
{
  public:
    Client()
        : incoming_(ND_MR_FLAG_ALLOW_LOCAL_WRITE), outgoing_(0), credits_(SLOTS), sending_(0),
          verdict_(false)
    {
        for (ULONG slot = 0; slot < SLOTS; ++slot)
            incoming_.receive(slot);
    }

    void run()
    {
        ULONG slot = 0;
        size_t size;
        do {
            while (credits_ == 0 || sending_ == SLOTS)
                take_result();
            size = fread(outgoing_[slot], 1, CHUNK, stdin);
            if (ferror(stdin))
                sample_fail(&sample, "standard input cannot be read");
            sum_.add(outgoing_[slot], size);
            send(slot, (ULONG)size);
            slot = (slot + 1) % SLOTS;
        } while (size > 0);

        while (credits_ == 0 || sending_ > 0)
            take_result();
        put64(outgoing_[0], sum_.length);
        put64(outgoing_[0] + 8, sum_.hash);
        send(0, 16);
        while (!verdict_ || sending_ > 0)
            take_result();
    }

  private:
    void send(ULONG slot, ULONG size)
    {
        outgoing_.send(slot, size);
        --credits_;
        ++sending_;
    }

    // Sends complete in their order, so a slot is free again when fewer than SLOTS are under way.
    void take_result()
    {
        ND2_RESULT result;
        sample_next(&sample, &result);
        if (result.RequestType == Nd2RequestTypeSend) {
            --sending_;
            return;
        }
        if (result.BytesTransferred == 0) {
            ++credits_;
            incoming_.receive(Slots::of(result));
            return;
        }
        verdict_ = true;
        if (incoming_[Slots::of(result)][0] != VERDICT_GOOD)
            sample_fail(&sample, "the server received something else than was sent");
    }

    Slots incoming_, outgoing_;
    ULONG credits_, sending_;
    bool verdict_;
    Sum sum_;
};

// ---- server ---------------------------------------------------------------------------------------------------------

class Server
{
  public:
    Server()
        : incoming_(ND_MR_FLAG_ALLOW_LOCAL_WRITE), outgoing_(0), sending_(0), ended_(false),
          done_(false), good_(false)
    {
        for (ULONG slot = 0; slot < SLOTS; ++slot)
            incoming_.receive(slot);
    }

    // Whether all data came. Does not wait until the verdict's Send completes: the client ends the connection after it.
    bool run()
    {
        while (!done_ || sending_ > 1)
            take_result();
        return good_;
    }

  private:
    void send(ULONG size)
    {
        while (sending_ == SLOTS)
            take_result();
        outgoing_.send(0, size);
        ++sending_;
    }

    void take_result()
    {
        ND2_RESULT result;
        sample_next(&sample, &result);
        if (result.RequestType == Nd2RequestTypeSend)
            --sending_;
        else if (ended_)
            judge(incoming_[Slots::of(result)], result.BytesTransferred);
        else
            take_chunk(Slots::of(result), result.BytesTransferred);
    }

    void take_chunk(ULONG slot, ULONG size)
    {
        ended_ = size == 0;
        if (fwrite(incoming_[slot], 1, size, stdout) != size || (ended_ && fflush(stdout) != 0))
            sample_fail(&sample, "standard output cannot be written");
        sum_.add(incoming_[slot], size);
        incoming_.receive(slot);
        send(0); // a credit
    }

    void judge(const unsigned char *message, ULONG size)
    {
        good_ = size == 16 && get64(message) == sum_.length && get64(message + 8) == sum_.hash;
        *outgoing_[0] = good_ ? VERDICT_GOOD : 0;
        send(1);
        done_ = true;
    }

    Slots incoming_, outgoing_;
    ULONG sending_;
    bool ended_, done_, good_;
    Sum sum_;
};

void open()
{
    sample_open(&sample, 4 * SLOTS);
    sample_create_queue_pair(&sample, SLOTS, SLOTS);
}

// These return false where the address whose turn it was did not do.

bool serve()
{
    char hello[sizeof(greeting)];

    open();
    Server server;
    if (!sample_connect(&sample, hello, sizeof(hello)))
        return false;
    if (memcmp(hello, greeting, sizeof(hello)) != 0)
        sample_fail(&sample, "the client is no ndcat");
    bool good = server.run();
    sample_disconnect(&sample);
    if (!good)
        sample_fail(&sample, "something else was received than was sent");
    return true;
}

bool send()
{
    char hello[sizeof(greeting)];

    memcpy(hello, greeting, sizeof(hello));
    open();
    Client client;
    if (!sample_connect(&sample, hello, sizeof(hello)))
        return false;
    client.run();
    sample_disconnect(&sample);
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    sample.name = "ndcat";
    sample_arguments(&sample, argc, argv, usage, "", NULL);
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while (!(sample.server ? serve() : send()))
        sample_close(&sample); // another address is to be tried
    sample_close(&sample);
    WSACleanup();
    return 0;
}
