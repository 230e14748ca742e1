/* SPDX-License-Identifier: MIT */
/*
 * agreement.cpp - the part of a Session before its first phase: the two ends find each other, agree or refuse, and
 * connect what they measure.
 *
 * The first connection carries a Greeting in its private data; a server rejects a stranger and another PROTOCOL with
 * its own Greeting. On it the client sends all parameters (HELLO); the server answers that it agrees, or why not
 * (VERDICT). Each further connection carries the cookie of the measurement and the number of its queue pair.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "failure.h"

namespace ndperf
{

namespace
{

enum { VERDICT_AGREED }; // values of a VERDICT
enum { HELLO_TEST, HELLO_FIELDS };
enum { PATIENCE_MS = 20000 }; // how long each end waits for a peer before they have agreed

Greeting greeting(UINT32 cookie, UINT32 index)
{
    Greeting g = { htonl(GREETING_MAGIC), htonl(PROTOCOL), htonl(cookie), htonl(index) };
    return g;
}

// The first local address of an adapter.
SOCKADDR_INET first_address(int version)
{
    DWORD flags = version == 1 ? ND_QUERY_EXCLUDE_NDv2_ADDRESSES : ND_QUERY_EXCLUDE_NDv1_ADDRESSES;
    SIZE_T size = 0;
    SOCKADDR_INET first;

    HRESULT hr = NdQueryAddressList(flags, NULL, &size);
    if (hr != ND_BUFFER_OVERFLOW)
        check(hr, "NdQueryAddressList");
    std::vector<char> room(size + sizeof(SOCKET_ADDRESS_LIST));
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
    size = room.size();
    check(NdQueryAddressList(flags, list, &size), "NdQueryAddressList");
    if (size == 0 || list->iAddressCount == 0)
        fail("no adapter for version %d here: ndinfo says why", version);
    memset(&first, 0, sizeof(first));
    memcpy(&first, list->Address[0].lpSockaddr, (size_t)list->Address[0].iSockaddrLength);
    return first;
}

} // namespace

void Session::open_adapter()
{
    SOCKADDR_INET local = options_.bind;
    SIZE_T size = sizeof(local);

    if (local.si_family == 0 && options_.server)
        local = first_address((int)p_.nd);
    if (!options_.server)
        set_place("", address_text(options_.peer));
    if (local.si_family == 0)
        check(NdResolveAddress((const struct sockaddr *)&options_.peer, address_size(options_.peer),
                  (struct sockaddr *)&local, &size),
            "NdResolveAddress, which finds the adapter for the peer,");
    local.Ipv4.sin_port = 0;
    std::string name = address_text(local);
    name.erase(name.size() - 2); // ":0"
    set_place(name, options_.server ? "" : address_text(options_.peer));
    adapter_.reset(Adapter::open((int)p_.nd, local));
}

// ---- client ---------------------------------------------------------------------------------------------------------

void Session::meet_server()
{
    std::string wrong = beyond(p_, adapter_->limits());
    if (!wrong.empty())
        fail("%s", wrong.c_str());
    cookie_ = (UINT32)ticks() ^ GetCurrentProcessId() << 16;
    cookie_ += cookie_ == 0;
    channel_.reset(new Channel(*adapter_));
    Greeting first = greeting(0, 0), answer;
    Endpoint &endpoint = channel_->endpoint();
    HRESULT hr = endpoint.connect(options_.peer, &first, sizeof(first));
    if (hr == ND_CONNECTION_REFUSED && endpoint.private_data(&answer, sizeof(answer)) &&
        answer.magic == htonl(GREETING_MAGIC))
        fail("%s refuses: its ndperf speaks protocol %u, this one %u\n"
             "  Use the same version of ndperf on both hosts.",
            address_text(options_.peer).c_str(), (unsigned)ntohl(answer.protocol),
            (unsigned)PROTOCOL);
    check(hr, "Connect");
    check(endpoint.complete_connect(), "CompleteConnect");
    channel_->established();
    propose();
}

void Session::propose()
{
    Message hello(HELLO);
    hello.values[HELLO_TEST] = (UINT64)cookie_ << 32 | p_.test;
    for (size_t i = 0; i < field_count; ++i)
        hello.values[HELLO_FIELDS + i] = p_.*fields[i].member;
    channel_->send(hello);
    Message verdict = channel_->receive(VERDICT, PATIENCE_MS);
    if (!verdict.values[VERDICT_AGREED])
        fail("%s refuses: %s", address_text(options_.peer).c_str(), verdict.text);
}

// ---- server ---------------------------------------------------------------------------------------------------------

void Session::accept_first()
{
    for (;;) {
        channel_.reset(new Channel(*adapter_));
        Endpoint &endpoint = channel_->endpoint();
        Greeting own = greeting(0, 0), theirs;
        check(adapter_->next_request(endpoint, NULL), "GetConnectionRequest");
        bool is_known = endpoint.private_data(&theirs, sizeof(theirs)) && theirs.magic == own.magic;
        if (is_known && theirs.protocol == own.protocol && theirs.cookie == 0) {
            set_place("", address_text(endpoint.peer()));
            if (endpoint.accept(NULL) == ND_SUCCESS)
                return;
            continue; // the client has given up
        }
        fprintf(stderr, "%s: refused %s: %s\n", program(), address_text(endpoint.peer()).c_str(),
            is_known ? "its ndperf speaks another protocol, or it belongs to another measurement"
                     : "it is not ndperf");
        endpoint.reject(&own, sizeof(own));
    }
}

void Session::meet_client()
{
    adapter_->listen(htons(options_.port), options_.bind.si_family == 0);
    fprintf(stderr, "%s: %s listening on %s\n", program(), test_name(p_.test),
        address_text(adapter_->listening()).c_str());
    fflush(stderr);
    accept_first();
    channel_->established();
    judge();
}

void Session::judge()
{
    Message hello = channel_->receive(HELLO, PATIENCE_MS), verdict(VERDICT);
    Parameters client = Parameters();

    client.test = (UINT32)hello.values[HELLO_TEST];
    cookie_ = (UINT32)(hello.values[HELLO_TEST] >> 32);
    for (size_t i = 0; i < field_count; ++i)
        client.*fields[i].member = (UINT32)hello.values[HELLO_FIELDS + i];
    std::string reason = unlike(p_, options_.given, client);
    for (size_t i = 0; i < field_count; ++i)
        if (fields[i].local && options_.given >> i & 1)
            client.*fields[i].member = p_.*fields[i].member;
    if (reason.empty())
        reason = out_of_range(client);
    if (reason.empty())
        reason = contradiction(client);
    if (reason.empty())
        reason = beyond(client, adapter_->limits());
    if (!reason.empty())
        refuse(reason);
    p_ = client;
    verdict.values[VERDICT_AGREED] = 1;
    channel_->send(verdict);
}

// The client reads why, and ends the connection; if that takes too long, the server ends without it.
void Session::refuse(const std::string &reason)
{
    Message verdict(VERDICT);
    verdict.say(reason);
    channel_->send(verdict);
    channel_->await_end(PATIENCE_MS);
    fail("refused %s: %s", address_text(channel_->endpoint().peer()).c_str(), reason.c_str());
}

// ---- both -----------------------------------------------------------------------------------------------------------

void Session::connect_streams()
{
    for (UINT32 i = 0; i < p_.streams(); ++i) {
        Endpoint &endpoint = *workers_[i % workers_.size()]->add_stream().endpoint;
        Greeting own = greeting(cookie_, i);
        if (!options_.server) {
            check(endpoint.connect(options_.peer, &own, sizeof(own)), "Connect");
            check(endpoint.complete_connect(), "CompleteConnect");
            continue;
        }
        accept_stream(endpoint, own);
    }
    exchange_memory();
}

// Takes the request with this greeting; refuses others, also one that a stranger has withdrawn.
void Session::accept_stream(Endpoint &endpoint, const Greeting &own)
{
    Greeting theirs;

    for (;;) {
        HRESULT hr = adapter_->next_request(endpoint, channel_->lost());
        if (hr == ND_CANCELED)
            fail_lost();
        check(hr, "GetConnectionRequest");
        if (endpoint.private_data(&theirs, sizeof(theirs)) && !memcmp(&theirs, &own, sizeof(own)))
            break;
        fprintf(stderr, "%s: refused %s: it is not the client of this measurement\n", program(),
            address_text(endpoint.peer()).c_str());
        endpoint.reject(&own, sizeof(own));
        endpoint.renew();
    }
    HRESULT hr = endpoint.accept(channel_->lost());
    if (hr == ND_CANCELED)
        fail_lost();
    check(hr, "Accept");
}

// Where the peer may write or read, for each connection.
void Session::exchange_memory()
{
    for (UINT32 i = 0; i < p_.streams() && !p_.sends(); ++i) {
        Message own(MEMORY);
        ND_MW_DESCRIPTOR descriptor = workers_[i % workers_.size()]->grant(stream(i));
        memcpy(own.text, &descriptor, sizeof(descriptor));
        Message peer = channel_->swap(own);
        memcpy(&descriptor, peer.text, sizeof(descriptor));
        stream(i).endpoint->set_peer(descriptor);
    }
}

} // namespace ndperf
