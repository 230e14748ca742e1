/* SPDX-License-Identifier: MIT */
/*
 * agreement.cpp - the part of a Session before its first phase: the two ends find each other, agree or refuse, and
 * connect what they measure.
 *
 * The first connection carries a Greeting in its private data; a server rejects a stranger and another PROTOCOL with
 * its own Greeting, which has the cookie of its measurement while one runs. On it the client sends all parameters
 * (HELLO), or why its own adapter cannot do what they ask for (WITHDRAWN); the server answers that it agrees, or why
 * not (VERDICT). Each further connection carries the cookie of the measurement and the number of its queue pair.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "failure.h"
#include "interrupt.h"

namespace ndperf
{

namespace
{

enum { VERDICT_AGREED }; // values of a VERDICT
enum { HELLO_TEST, HELLO_FIELDS };
enum { PATIENCE_MS = 20000 }; // how long an end waits for each message of its peer until they agree

// Ends the program with the reason that a server gives which rejected the client.
void fail_refused(const std::string &server, const Greeting &answer)
{
    if (answer.protocol != htonl(PROTOCOL))
        fail("%s refuses: its ndperf speaks protocol %u, this one %u\n"
             "  Use the same version of ndperf on both hosts.",
            server.c_str(), (unsigned)ntohl(answer.protocol), (unsigned)PROTOCOL);
    fail("%s is busy: it measures with another client\n"
         "  Try again when that has ended, or start a server of its own there, at another port "
         "(-p).",
        server.c_str());
}

} // namespace

Greeting greeting(UINT32 cookie, UINT32 index)
{
    Greeting g = { htonl(GREETING_MAGIC), htonl(PROTOCOL), htonl(cookie), htonl(index) };
    return g;
}

// ---- client ---------------------------------------------------------------------------------------------------------

// Finds the local address for the peer: of those that the user gave, the first of the peer's family.
HRESULT Session::find_local(SOCKADDR_INET &local) const
{
    const std::vector<SOCKADDR_INET> &binds = options_.binds;
    SIZE_T size = sizeof(local);

    memset(&local, 0, sizeof(local));
    if (binds.empty())
        return NdResolveAddress(
            (const struct sockaddr *)&peer_, address_size(peer_), (struct sockaddr *)&local, &size);
    local = binds[0];
    for (size_t i = binds.size(); i-- > 0;)
        if (binds[i].si_family == peer_.si_family)
            local = binds[i];
    return ND_SUCCESS;
}

// Connects to the peer's address peer_. what out: the function that failed
HRESULT Session::reach(const char *&what)
{
    SOCKADDR_INET local;
    Greeting first = greeting(0, 0), answer;

    channel_.reset();
    adapter_.reset();
    set_place("", address_text(peer_));
    what = "NdResolveAddress, which finds the adapter for the peer,";
    HRESULT hr = find_local(local);
    if (FAILED(hr))
        return hr;
    set_place(place_text(local), address_text(peer_));
    what = p_.nd == 1 ? "NdOpenV1Adapter" : "NdOpenAdapter";
    if (FAILED(hr = Adapter::open((int)p_.nd, local, adapter_)))
        return hr;
    channel_.reset(new Channel(*adapter_));
    Endpoint &endpoint = channel_->endpoint();
    what = "Connect";
    hr = endpoint.connect(peer_, &first, sizeof(first));
    if (hr == ND_CONNECTION_REFUSED && endpoint.private_data(&answer, sizeof(answer)) &&
        answer.magic == htonl(GREETING_MAGIC))
        fail_refused(address_text(peer_), answer);
    if (SUCCEEDED(hr)) {
        what = "CompleteConnect";
        hr = endpoint.complete_connect();
    }
    std::string wrong = beyond(p_, adapter_->limits());
    if (!wrong.empty())
        withdraw(wrong, SUCCEEDED(hr));
    return hr;
}

// Ends the program since this end's adapter cannot do what its user asks for. It tells the server, which then does not
// wait any longer.
void Session::withdraw(const std::string &reason, bool is_connected)
{
    Message message(WITHDRAWN);

    if (is_connected) {
        channel_->established();
        message.say(reason);
        channel_->send(message);
        channel_->await_end(PATIENCE_MS);
    }
    fail("%s", reason.c_str());
}

void Session::meet_server()
{
    const std::vector<SOCKADDR_INET> &peers = options_.peers;
    std::vector<Tried> tried;
    HRESULT hr = ND_UNSUCCESSFUL;

    cookie_ = (UINT32)ticks() ^ GetCurrentProcessId() << 16;
    cookie_ += cookie_ == 0;
    for (size_t i = 0; FAILED(hr) && i < peers.size(); ++i) {
        Tried one = { peers[i], NULL, ND_SUCCESS };
        peer_ = peers[i];
        hr = one.hr = reach(one.what);
        tried.push_back(one);
    }
    if (peers.size() > 1 && FAILED(hr))
        fail_at_all(options_.peer_name, tried);
    check(hr, tried.back().what);
    channel_->established();
    propose();
}

// From now on a user who stops this end stops both.
void Session::agreed()
{
    watch_interrupts();
    channel_->set_stop([this](bool by_peer) { stop_early(by_peer); });
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
        fail("%s refuses: %s", address_text(peer_).c_str(), verdict.text);
    agreed();
}

// ---- server ---------------------------------------------------------------------------------------------------------

// Accepts the client's connection, and takes adapter and channel from its door.
void Session::accept_first(Doors &doors)
{
    for (;;) {
        Door &door = doors.wait();
        Endpoint &endpoint = door.channel->endpoint();
        Greeting own = greeting(0, 0), theirs;
        bool is_known = endpoint.private_data(&theirs, sizeof(theirs)) && theirs.magic == own.magic;
        if (is_known && theirs.protocol == own.protocol && theirs.cookie == 0) {
            set_place("", address_text(endpoint.peer()));
            if (endpoint.accept(NULL) != ND_SUCCESS)
                continue; // the client has given up
            channel_ = std::move(door.channel);
            adapter_ = std::move(door.adapter);
            return;
        }
        fprintf(stderr, "%s: refused %s: %s\n", program(), address_text(endpoint.peer()).c_str(),
            is_known ? "its ndperf speaks another protocol, or it belongs to another measurement"
                     : "it is not ndperf");
        endpoint.reject(&own, sizeof(own));
    }
}

void Session::meet_client()
{
    std::vector<SOCKADDR_INET> locals = options_.binds;
    if (locals.empty())
        locals = first_addresses((int)p_.nd);
    {
        Doors doors((int)p_.nd, locals, htons(options_.port), options_.binds.empty());
        for (size_t i = 0; i < doors.all().size(); ++i)
            fprintf(stderr, "%s: %s listening on %s\n", program(), test_name(p_.test),
                address_text(doors.all()[i]->adapter->listening()).c_str());
        fflush(stderr);
        accept_first(doors);
    }
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
    agreed();
    verdict.values[VERDICT_AGREED] = 1;
    channel_->send(verdict);
}

// Tells the client why, which then ends the connection; if that takes too long, the server ends without it.
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
            check(endpoint.connect(peer_, &own, sizeof(own)), "Connect");
            check(endpoint.complete_connect(), "CompleteConnect");
            continue;
        }
        accept_stream(endpoint, own);
    }
    exchange_memory();
}

// Accepts the request with this greeting; refuses others, also one that a stranger has withdrawn.
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

// Tells the peer, for each connection, where it may write or read, and learns the same of the peer.
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
