/* SPDX-License-Identifier: MIT */
/*
 * usage: mute TEST [OPTION...] --bind ADDRESS [OPTION...]    as ndperf's server
 *        mute TEST [OPTION...] SERVER                        as its client
 * Connects as ndperf does, in version 2, or accepts one connection, and then says nothing until the peer is gone. Ends
 * with status 1, as a measurement that failed.
 */
#include <stdio.h>
#include <string.h>

#include "tools/perf/channel.h"
#include "tools/perf/failure.h"
#include "samples/ndsample.h"

using namespace ndperf;

static SOCKADDR_INET address_of(const char *text)
{
    SAMPLE_ADDRESSES addresses;
    SAMPLE sample;

    memset(&sample, 0, sizeof(sample));
    if (!sample_parse_addresses(&sample, text, 1, &addresses))
        fail("no address: %s", text);
    return addresses.each[0].address;
}

static void accept_one(Adapter &adapter, Channel &channel)
{
    check(adapter.listen(0, false), "Listen");
    fprintf(stderr, "mute: listening on %s\n", address_text(adapter.listening()).c_str());
    check(adapter.next_request(channel.endpoint(), NULL), "GetConnectionRequest");
    check(channel.endpoint().accept(NULL), "Accept");
}

static void connect_to(Channel &channel, const SOCKADDR_INET &server)
{
    Greeting greeting = { htonl(GREETING_MAGIC), htonl(PROTOCOL), 0, 0 };

    check(channel.endpoint().connect(server, &greeting, sizeof(greeting)), "Connect");
    check(channel.endpoint().complete_connect(), "CompleteConnect");
}

int main(int argc, char **argv)
{
    const char *bind = NULL;
    WSADATA data;

    set_program("mute");
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        fail("Winsock does not start");
    for (int i = 1; i + 1 < argc; ++i)
        if (strcmp(argv[i], "--bind") == 0)
            bind = argv[i + 1];
    check(NdStartup(), "NdStartup");
    SOCKADDR_INET peer = address_of(bind ? bind : argv[argc - 1]), local = peer;
    local.Ipv4.sin_port = 0; // both ends are on one address
    {
        std::unique_ptr<Adapter> adapter;
        check(Adapter::open(2, local, adapter), "NdOpenAdapter");
        Channel channel(*adapter);
        if (bind)
            accept_one(*adapter, channel);
        else
            connect_to(channel, peer);
        channel.established();
        channel.await_end();
    }
    NdCleanup();
    WSACleanup();
    return STATUS_FAILED;
}
