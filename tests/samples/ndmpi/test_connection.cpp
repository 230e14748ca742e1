// SPDX-License-Identifier: MIT
//
// test_connection.cpp - which connection wins when two ranks connect to each other at once, in every order of the
// events, and what a link owes its peer by then. The adapter is a fake: a test ends each call when it wants to.
#include "samples/ndmpi/connection.h"

#include "cmocka_cpp.h"
#include "tests/support/spec_codes.h" // has a macro fail

#include <string.h>

using namespace ndmpi;

namespace
{

class FakeMemory : public Memory
{
};

class FakeEndpoint : public Endpoint
{
  public:
    FakeEndpoint()
        : last(NULL), sent(), connects(0), completes(0), accepts(0), rejects(0), sends(0),
          flushed(false)
    {
        ++live;
    }
    ~FakeEndpoint()
    {
        --live;
    }
    void open_queues()
    {
    }
    void connect(const SOCKADDR_INET &, const void *data, ULONG size, Request &request)
    {
        assert_int_equal(size, 28);
        assert_true(hello.unpack((const unsigned char *)data));
        ++connects;
        last = &request;
    }
    void complete_connect(Request &request)
    {
        ++completes;
        last = &request;
    }
    void accept(const void *, ULONG size, Request &request)
    {
        assert_int_equal(size, 1);
        ++accepts;
        last = &request;
    }
    void reject()
    {
        ++rejects;
    }
    bool private_data(void *data, ULONG)
    {
        *(unsigned char *)data = RECEIVES;
        return true;
    }
    void disconnect(Request &request)
    {
        last = &request;
    }
    // Receives end at once: the connection has handled that when this returns.
    void flush()
    {
        flushed = true;
        while (!works.empty()) {
            Work *work = works.back();
            works.pop_back();
            buffers.pop_back();
            work->done(ND_CANCELED, 0);
        }
    }
    HRESULT receive(Work &work, void *data, size_t, Memory &)
    {
        works.push_back(&work);
        buffers.push_back(data);
        return ND_SUCCESS;
    }
    // The test ends no Send; flush does.
    HRESULT send(Work &work, const void *data, size_t size, Memory &)
    {
        assert_true(sent.unpack((const unsigned char *)data, size));
        ++sends;
        works.push_back(&work);
        buffers.push_back(NULL);
        return ND_SUCCESS;
    }
    // The peer's next message fills the oldest Receive.
    void arrive(Header header)
    {
        Work *work = works.front();
        header.pack((unsigned char *)buffers.front());
        works.erase(works.begin());
        buffers.erase(buffers.begin());
        work->done(ND_SUCCESS, Header::SIZE);
    }
    HRESULT read(Work &, void *, size_t, Memory &, const Descriptor &)
    {
        return ND_NOT_SUPPORTED;
    }
    HRESULT grant(const void *, size_t, Memory &, Descriptor &, Window *&, Work &, bool &)
    {
        return ND_NOT_SUPPORTED;
    }
    HRESULT revoke(Window *, Work &, bool &)
    {
        return ND_NOT_SUPPORTED;
    }
    void reclaim(Window *)
    {
    }
    void end(HRESULT status)
    {
        Request *request = last;
        last = NULL;
        assert_non_null(request);
        request->ended(status);
    }

    static int live;
    Request *last;
    Hello hello;
    Header sent; // of the last Send
    int connects, completes, accepts, rejects, sends;
    bool flushed;
    std::vector<Work *> works;
    std::vector<void *> buffers; // of works, in their order; NULL for a Send's
};

int FakeEndpoint::live;

class FakeAdapter : public Adapter
{
  public:
    FakeAdapter() : made(NULL)
    {
        memset(&address_, 0, sizeof(address_));
    }
    HRESULT listen(USHORT)
    {
        return ND_NOT_SUPPORTED;
    }
    Endpoint *create_endpoint()
    {
        return made = new FakeEndpoint();
    }
    void next_request(Endpoint &, Request &)
    {
    }
    Memory *register_memory(const void *, size_t, Access, HRESULT &hr)
    {
        hr = ND_SUCCESS;
        return new FakeMemory();
    }
    bool poll()
    {
        return false;
    }
    void notify(Request &)
    {
    }
    FakeEndpoint *made;
};

class Owner : public ConnectionOwner
{
  public:
    Owner() : connections(0), backed_outs(0), brokens(0), status(0)
    {
    }
    void message(const Header &, const unsigned char *)
    {
    }
    void room()
    {
    }
    void broken(HRESULT the_status, const char *)
    {
        ++brokens;
        status = the_status;
    }
    void connected()
    {
        ++connections;
    }
    void backed_out()
    {
        ++backed_outs;
    }
    int connections, backed_outs, brokens;
    HRESULT status;
};

Hello hello_of(UINT32 rank)
{
    Hello hello = { rank, 99, RECEIVES, Link::SLOT };
    return hello;
}

// The connection of rank own to rank peer.
struct Side {
    Side(UINT32 own, UINT32 the_peer)
        : peer(the_peer), address(),
          connection(executive, adapter, owner, hello_of(own), the_peer, address)
    {
    }
    FakeEndpoint *open()
    {
        connection.open();
        return adapter.made;
    }
    // A request of the peer comes.
    FakeEndpoint *request()
    {
        FakeEndpoint *endpoint = new FakeEndpoint();
        connection.requested(endpoint, hello_of(peer));
        return endpoint;
    }
    UINT32 peer;
    Executive executive;
    FakeAdapter adapter;
    Owner owner;
    SOCKADDR_INET address;
    Connection connection;
};

void test_active(void **)
{
    Side side(3, 5);
    FakeEndpoint *own = side.open();
    assert_int_equal(own->hello.rank, 3);
    assert_true(own->hello.job == 99);
    side.connection.open(); // once
    assert_int_equal(own->connects, 1);
    own->end(ND_SUCCESS);
    assert_null(side.connection.up());
    own->end(ND_SUCCESS);
    assert_int_equal(own->completes, 1);
    assert_int_equal(side.owner.connections, 1);
    assert_non_null(side.connection.up());
    assert_int_equal(own->sends, 1); // at once
    assert_int_equal(own->sent.kind, CREDIT);
    assert_true(side.connection.up()->can_send());
    own->flush();
}

void test_passive(void **)
{
    Side side(5, 3);
    FakeEndpoint *theirs = side.request();
    assert_int_equal(theirs->accepts, 1);
    side.connection.open(); // not needed any more
    assert_null(side.adapter.made);
    theirs->end(ND_SUCCESS);
    assert_int_equal(side.owner.connections, 1);
}

// On iWARP a message of the accepting side that comes first breaks the connection.
void test_accepting_side_sends_when_it_has_heard(void **)
{
    Side side(5, 3);
    FakeEndpoint *theirs = side.request();
    const Header message = { CREDIT, 0, 0, 0, 0 };
    theirs->end(ND_SUCCESS);
    assert_false(side.connection.up()->can_send());
    theirs->arrive(message);
    assert_true(side.connection.up()->can_send());
    assert_int_equal(theirs->sends, 0);
}

// The peer's side was up first, and has sent all it may: it waits for credits, and nothing else will come from it.
void test_credits_of_what_came_before_the_accept_ended_are_paid(void **)
{
    Side side(5, 3);
    FakeEndpoint *theirs = side.request();
    const Header message = { EAGER, 0, 0, 0, 0 };
    for (int i = 0; i < RECEIVES - 1; ++i)
        theirs->arrive(message);
    assert_int_equal(theirs->sends, 0);
    theirs->end(ND_SUCCESS);
    assert_int_equal(theirs->sends, 1);
    assert_int_equal(theirs->sent.kind, CREDIT);
    assert_int_equal(theirs->sent.credits, RECEIVES - 1);
    theirs->flush();
}

void test_higher_rank_rejects_and_goes_on(void **)
{
    Side side(5, 3);
    FakeEndpoint *own = side.open();
    int live = FakeEndpoint::live;
    side.request();
    assert_int_equal(FakeEndpoint::live, live); // rejected and gone
    own->end(ND_SUCCESS);
    own->end(ND_SUCCESS);
    assert_int_equal(side.owner.connections, 1);
}

void test_lower_rank_hears_of_its_refusal_first(void **)
{
    Side side(3, 5);
    FakeEndpoint *own = side.open();
    own->end(ND_CONNECTION_REFUSED);
    assert_int_equal(side.owner.brokens, 0);
    side.connection.sweep();
    assert_int_equal(FakeEndpoint::live, 0);
    side.connection.open(); // waits for theirs
    assert_int_equal(FakeEndpoint::live, 0);
    FakeEndpoint *theirs = side.request();
    theirs->end(ND_SUCCESS);
    assert_int_equal(side.owner.connections, 1);
}

void test_lower_rank_sees_the_other_request_first(void **)
{
    Side side(3, 5);
    FakeEndpoint *own = side.open();
    FakeEndpoint *theirs = side.request();
    assert_int_equal(theirs->accepts, 1);
    side.connection.sweep();
    assert_int_equal(FakeEndpoint::live, 2); // its own has not ended yet
    theirs->end(ND_SUCCESS);
    assert_int_equal(side.owner.connections, 1);
    own->end(ND_CONNECTION_REFUSED);
    side.connection.sweep();
    assert_int_equal(FakeEndpoint::live, 1);
    assert_int_equal(side.owner.brokens, 0);
    assert_non_null(side.connection.up());
}

void test_dropped_attempt_that_succeeds_is_rejected(void **)
{
    Side side(3, 5);
    FakeEndpoint *own = side.open();
    side.request();
    own->end(ND_SUCCESS);
    assert_int_equal(own->rejects, 1);
    assert_int_equal(own->completes, 0);
    assert_true(own->flushed);
}

void test_request_when_connected_is_rejected(void **)
{
    Side side(3, 5);
    side.request()->end(ND_SUCCESS);
    int live = FakeEndpoint::live;
    side.request();
    assert_int_equal(FakeEndpoint::live, live);
    assert_non_null(side.connection.up());
}

void test_connects_again_after_no_answer(void **)
{
    Side side(5, 3);
    FakeEndpoint *own = side.open();
    for (int i = 0; i < 20; ++i)
        own->end(i % 2 ? ND_TIMEOUT : ND_IO_TIMEOUT);
    assert_int_equal(own->connects, 21);
    assert_int_equal(side.owner.brokens, 0);
}

void test_unresolvable_is_tried_a_few_times(void **)
{
    Side side(5, 3);
    FakeEndpoint *own = side.open();
    for (int i = 0; i < 5; ++i)
        own->end((HRESULT)SPEC_STATUS_BAD_NETWORK_NAME);
    assert_int_equal(own->connects, 5);
    assert_int_equal(side.owner.brokens, 1);
    assert_int_equal(side.owner.status, (HRESULT)SPEC_STATUS_BAD_NETWORK_NAME);
}

void test_refusal_of_the_higher_rank_is_an_error(void **)
{
    Side side(5, 3);
    side.open()->end(ND_CONNECTION_REFUSED);
    assert_int_equal(side.owner.brokens, 1);
    assert_int_equal(side.owner.status, ND_CONNECTION_REFUSED);
}

void test_peer_that_backs_out_may_come_again(void **)
{
    const HRESULT codes[] = { ND_CONNECTION_REFUSED,
        ND_CONNECTION_ABORTED }; // version 2, version 1
    Side side(5, 3);
    for (int i = 0; i < 2; ++i) {
        side.request()->end(codes[i]);
        assert_int_equal(side.owner.backed_outs, i + 1);
        assert_int_equal(side.owner.brokens, 0);
    }
    side.request()->end(ND_SUCCESS);
    assert_int_equal(side.owner.connections, 1);
}

void test_at_rest_when_all_is_taken_down(void **)
{
    Side side(3, 5);
    assert_true(side.connection.at_rest());
    FakeEndpoint *theirs = side.request();
    theirs->end(ND_SUCCESS);
    side.connection.close();
    theirs->end(ND_SUCCESS);
    assert_false(side.connection.at_rest()); // its receives have not ended
    theirs->flush();
    side.connection.sweep();
    assert_true(side.connection.at_rest());
    assert_int_equal(FakeEndpoint::live, 0);
}

int none_left(void **)
{
    int live = FakeEndpoint::live; // the test's own have gone with its connection
    FakeEndpoint::live = 0;        // a test that failed has skipped destructors
    return live;
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_active, none_left),
        cmocka_unit_test_teardown(test_passive, none_left),
        cmocka_unit_test_teardown(test_accepting_side_sends_when_it_has_heard, none_left),
        cmocka_unit_test_teardown(
            test_credits_of_what_came_before_the_accept_ended_are_paid, none_left),
        cmocka_unit_test_teardown(test_higher_rank_rejects_and_goes_on, none_left),
        cmocka_unit_test_teardown(test_lower_rank_hears_of_its_refusal_first, none_left),
        cmocka_unit_test_teardown(test_lower_rank_sees_the_other_request_first, none_left),
        cmocka_unit_test_teardown(test_dropped_attempt_that_succeeds_is_rejected, none_left),
        cmocka_unit_test_teardown(test_request_when_connected_is_rejected, none_left),
        cmocka_unit_test_teardown(test_connects_again_after_no_answer, none_left),
        cmocka_unit_test_teardown(test_unresolvable_is_tried_a_few_times, none_left),
        cmocka_unit_test_teardown(test_refusal_of_the_higher_rank_is_an_error, none_left),
        cmocka_unit_test_teardown(test_peer_that_backs_out_may_come_again, none_left),
        cmocka_unit_test_teardown(test_at_rest_when_all_is_taken_down, none_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
