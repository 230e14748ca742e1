// SPDX-License-Identifier: MIT
// test_shared.cpp - the rings between ranks of one host: order, room, who is there, and the wake of a rank that sleeps.
#include "samples/ndmpi/failure.h"
#include "samples/ndmpi/shared.h"

#include "cmocka_cpp.h" // has a macro fail

#include <string.h>

using namespace ndmpi;

namespace
{

// Each test has a job of its own: a name may outlive its last handle for as long as its registered wait ends.
UINT64 jobs;

// What came to a rank.
struct Inbox : public LinkOwner {
    Inbox() : link(NULL)
    {
    }
    void message(const Header &header, const unsigned char *data)
    {
        tags.push_back(header.tag);
        texts.push_back(std::string((const char *)data, header.kind == EAGER ? header.length : 0));
        if (link) // it does nothing inside
            assert_false(link->poll(*this));
    }
    void room()
    {
    }
    void broken(HRESULT, const char *)
    {
        assert_true(false);
    }
    SharedLink *link;
    std::vector<INT32> tags;
    std::vector<std::string> texts;
};

// Ranks 0 and 1 of 3 in one process; rank 2 has no section.
struct Pair {
    Pair()
        : job(++jobs << 32 | GetCurrentProcessId()), zero(executive, job, 0, 3),
          one(executive, job, 1, 3), to_one(zero.open(1)), to_zero(one.open(0))
    {
        assert_non_null(to_one);
        assert_non_null(to_zero);
    }
    const UINT64 job;
    Executive executive;
    Shared zero, one;
    SharedLink *to_one, *to_zero;
};

void send(SharedLink &link, INT32 tag, const std::string &text)
{
    Header header = { EAGER, 7, tag, (UINT32)text.size(), 0 };
    link.send(header, text.data(), text.size());
}

void test_messages_keep_their_order(void **)
{
    Pair pair;
    Inbox inbox, back;
    const std::string longest(Link::LARGEST, 'z');
    inbox.link = pair.to_zero;
    for (int i = 0; i < 1000; ++i) {
        assert_true(pair.to_one->can_send());
        send(*pair.to_one, i, i % 2 ? longest : format("%d", i));
        if (i % 3 == 2)
            assert_true(pair.to_zero->poll(inbox));
    }
    pair.to_zero->poll(inbox);
    assert_false(pair.to_zero->poll(inbox));
    assert_int_equal(inbox.tags.size(), 1000);
    for (int i = 0; i < 1000; ++i) {
        assert_int_equal(inbox.tags[(size_t)i], i);
        assert_true(inbox.texts[(size_t)i] == (i % 2 ? longest : format("%d", i)));
    }
    assert_false(pair.to_one->poll(back)); // nothing goes the other way
}

// Eight messages fill a ring; the reader of a full one rings the writer's bell, of another one it does not.
void test_a_full_ring_has_room_again(void **)
{
    Pair pair;
    Inbox inbox;
    for (int i = 0; i < 8; ++i) {
        assert_true(pair.to_one->can_send());
        send(*pair.to_one, i, "");
    }
    assert_true(pair.one.rung());
    assert_false(pair.one.rung());
    assert_false(pair.to_one->can_send());
    assert_false(pair.zero.rung());
    assert_true(pair.to_zero->poll(inbox));
    assert_true(pair.zero.rung());
    assert_true(pair.to_one->can_send());
    send(*pair.to_one, 8, "");
    assert_true(pair.to_zero->poll(inbox));
    assert_false(pair.zero.rung());
    assert_int_equal(inbox.tags.size(), 9);
    assert_int_equal(inbox.tags[8], 8);
}

void test_a_rank_without_a_section(void **)
{
    Pair pair;
    assert_null(pair.zero.open(2));
    assert_int_equal(pair.zero.peers(), 1);
    Shared two(pair.executive, pair.job + (1u << 31), 2, 3); // of another job
    assert_null(pair.zero.open(2));
}

// A packet comes for a message if the rank sleeps, and only then.
void test_a_message_wakes_who_sleeps(void **)
{
    Pair pair;
    Inbox inbox;
    for (int i = 0; i < 100; ++i) {
        pair.one.sleeps();
        assert_false(pair.one.rung());
        send(*pair.to_one, i, "wake up");
        assert_true(pair.executive.run(10000));
        pair.one.wakes();
        assert_true(pair.one.rung());
        assert_true(pair.to_zero->poll(inbox));
        send(*pair.to_one, i, "awake");
        assert_true(pair.one.rung());
        assert_true(pair.to_zero->poll(inbox));
        assert_false(pair.executive.run(0));
    }
}

struct Sender {
    Pair *pair;
    int count;
};

DWORD WINAPI send_all(void *argument)
{
    Sender *sender = (Sender *)argument;
    for (int i = 0; i < sender->count; ++i) {
        while (!sender->pair->to_one->can_send())
            SwitchToThread();
        send(*sender->pair->to_one, i, format("%d", i));
    }
    return 0;
}

// No wake is lost, whenever the message comes: the reader would sleep for ever.
void test_no_wake_is_lost(void **)
{
    Pair pair;
    Inbox inbox;
    Sender sender = { &pair, 20000 };
    HANDLE thread = CreateThread(NULL, 0, send_all, &sender, 0, NULL);
    assert_non_null(thread);
    while (inbox.tags.size() < 20000) {
        pair.one.sleeps();
        if (!pair.one.rung())
            assert_true(pair.executive.run(10000));
        pair.one.wakes();
        pair.to_zero->poll(inbox);
    }
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    for (int i = 0; i < 20000; ++i)
        assert_int_equal(inbox.tags[(size_t)i], i);
}

} // namespace

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_keep_their_order),
        cmocka_unit_test(test_a_full_ring_has_room_again),
        cmocka_unit_test(test_a_rank_without_a_section),
        cmocka_unit_test(test_a_message_wakes_who_sleeps),
        cmocka_unit_test(test_no_wake_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
