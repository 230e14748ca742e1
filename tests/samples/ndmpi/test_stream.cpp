// SPDX-License-Identifier: MIT
// test_stream.cpp - lines over overlapped sockets: whole and in pieces, what is no line, ends, and addresses that fail.
#include <string.h>

#include <vector>

#include "samples/ndmpi/failure.h"
#include "samples/ndmpi/stream.h"

#include "cmocka_cpp.h" // its fail is a macro

using namespace ndmpi;

namespace
{

SOCKADDR_INET loopback(USHORT port)
{
    SOCKADDR_INET address;
    assert_true(parse_address(format("127.0.0.1:%u", port), address));
    return address;
}

// One end, and what it was told.
struct End : public StreamOwner {
    End() : stream(NULL), is_connected(false), is_left(false), close_at("-")
    {
    }
    void connected(Stream &)
    {
        is_connected = true;
    }
    void said(Stream &from, const std::string &line)
    {
        assert_false(is_left);
        lines.push_back(line);
        if (line == close_at)
            from.close();
    }
    void left(Stream &, const std::string &the_why)
    {
        assert_false(is_left);
        is_left = true;
        why = the_why;
    }

    Stream *stream;
    bool is_connected, is_left;
    std::vector<std::string> lines;
    std::string why, close_at;
};

struct Fixture : public ListenerOwner {
    Fixture() : listener(new Listener(executive, *this, loopback(0))), plain(INVALID_SOCKET)
    {
    }
    ~Fixture()
    {
        end(there);
        end(here);
        listener->close();
        while (!listener->idle())
            assert_true(executive.run(10000));
        delete listener;
        if (plain != INVALID_SOCKET)
            closesocket(plain);
    }
    void came(SOCKET socket)
    {
        assert_null(there.stream);
        there.stream = new Stream(executive, there, socket);
        listener->accept();
    }
    void end(End &end)
    {
        if (!end.stream)
            return;
        end.stream->close();
        while (!end.stream->idle())
            assert_true(executive.run(10000));
        delete end.stream;
        end.stream = NULL;
    }
    // Two streams.
    void meet()
    {
        here.stream = new Stream(executive, here, listener->address());
        while (!here.is_connected || !there.stream)
            assert_true(executive.run(10000));
    }
    // A stream, and a socket that knows no lines.
    void meet_plain()
    {
        const SOCKADDR_INET to = listener->address();
        plain = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
        assert_int_equal(connect(plain, (const struct sockaddr *)&to, sizeof(to.Ipv4)), 0);
        while (!there.stream)
            assert_true(executive.run(10000));
    }
    void send_plain(const std::string &octets)
    {
        assert_int_equal(send(plain, octets.data(), (int)octets.size(), 0), octets.size());
    }
    void until_lines(const End &end, size_t lines)
    {
        while (end.lines.size() < lines)
            assert_true(executive.run(10000));
    }
    void until_left(const End &end)
    {
        while (!end.is_left)
            assert_true(executive.run(10000));
    }

    Executive executive;
    End here, there;
    Listener *listener;
    SOCKET plain;
};

void test_lines_go_both_ways(void **)
{
    Fixture f;
    f.meet();
    f.here.stream->write("one");
    f.here.stream->write("two\nthree\r");
    f.there.stream->write("");
    f.until_lines(f.there, 2);
    f.until_lines(f.here, 1);
    assert_string_equal(f.there.lines[0].c_str(), "one");
    assert_string_equal(f.there.lines[1].c_str(), "two three ");
    assert_string_equal(f.here.lines[0].c_str(), "");
}

// Far more than a socket takes at once.
void test_many_lines_keep_their_order(void **)
{
    Fixture f;
    f.meet();
    for (unsigned i = 0; i < 20000; ++i)
        f.here.stream->write(format("%u %0900u", i, i));
    f.until_lines(f.there, 20000);
    for (unsigned i = 0; i < 20000; ++i)
        assert_string_equal(f.there.lines[i].c_str(), format("%u %0900u", i, i).c_str());
}

void test_a_line_may_come_in_pieces(void **)
{
    Fixture f;
    f.meet_plain();
    f.send_plain("first\nmore to");
    f.until_lines(f.there, 1);
    f.send_plain(" come\n");
    f.until_lines(f.there, 2);
    assert_string_equal(f.there.lines[1].c_str(), "more to come");
}

// The longest is taken, one octet more is none, with its end or without.
void test_what_is_no_line_ends_the_stream(void **)
{
    for (int row = 0; row < 3; ++row) {
        Fixture f;
        f.meet_plain();
        f.send_plain(std::string(1000, 'a') + "\n");
        f.until_lines(f.there, 1);
        assert_int_equal(f.there.lines[0].size(), 1000);
        f.send_plain(row == 0   ? std::string(1001, 'a')
                     : row == 1 ? std::string(1001, 'a') + "\n"
                                : std::string(5000, '\0'));
        f.until_left(f.there);
        assert_string_equal(f.there.why.c_str(), "what came is no line of text");
        assert_int_equal(f.there.lines.size(), 1);
    }
}

void test_the_end_of_the_peer(void **)
{
    Fixture f;
    f.meet_plain();
    f.send_plain("last\nhalf");
    f.until_lines(f.there, 1);
    shutdown(f.plain, SD_SEND);
    f.until_left(f.there);
    assert_string_equal(f.there.why.c_str(), "the peer has closed the connection");
    f.there.stream->write("nobody hears it");
    assert_int_equal(f.there.lines.size(), 1);
}

void test_the_peer_is_killed(void **)
{
    Fixture f;
    struct linger reset = { 1, 0 };
    f.meet_plain();
    setsockopt(f.plain, SOL_SOCKET, SO_LINGER, (const char *)&reset, sizeof(reset));
    closesocket(f.plain);
    f.plain = INVALID_SOCKET;
    f.until_left(f.there);
    assert_int_equal(f.there.why.find("connection reset"), 0);
}

// Closed while its owner hears of a line, it hears of no more, although they have come.
void test_closed_inside_an_event(void **)
{
    Fixture f;
    f.meet_plain();
    f.there.close_at = "enough";
    f.send_plain("enough\nmore\nand more\n");
    f.until_lines(f.there, 1);
    while (!f.there.stream->idle())
        assert_true(f.executive.run(10000));
    assert_int_equal(f.there.lines.size(), 1);
    assert_false(f.there.is_left);
}

// What is pending when a stream is closed ends.
void test_closed_while_it_writes(void **)
{
    Fixture f;
    f.meet_plain();
    for (unsigned i = 0; i < 20000; ++i)
        f.there.stream->write(std::string(900, 'x'));
    assert_false(f.there.stream->idle());
    f.end(f.there);
}

void test_nobody_listens(void **)
{
    Fixture f;
    SOCKADDR_INET to = loopback(0);
    socklen_t size = sizeof(to.Ipv4);
    f.plain = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    assert_int_equal(bind(f.plain, (const struct sockaddr *)&to, size), 0);
    assert_int_equal(getsockname(f.plain, (struct sockaddr *)&to, &size), 0);
    f.here.stream = new Stream(f.executive, f.here, to);
    f.until_left(f.here);
    assert_string_equal(f.here.why.c_str(), "connection refused (Winsock error 10061)");
    assert_false(f.here.is_connected);
}

void test_last_words_come_first_come(void **)
{
    Fixture f;
    f.meet();
    f.here.stream->write("before");
    f.here.stream->last_words("failed");
    f.until_lines(f.there, 2);
    assert_string_equal(f.there.lines[0].c_str(), "before");
    assert_string_equal(f.there.lines[1].c_str(), "failed");
}

// Strangers that say nothing do not keep the next one away.
void test_the_silent_do_not_block(void **)
{
    Fixture f;
    f.meet_plain();
    Stream *silent = f.there.stream;
    f.there.stream = NULL;
    f.here.stream = new Stream(f.executive, f.here, f.listener->address());
    while (!f.here.is_connected || !f.there.stream)
        assert_true(f.executive.run(10000));
    f.here.stream->write("hello");
    f.until_lines(f.there, 1);
    silent->close();
    while (!silent->idle())
        assert_true(f.executive.run(10000));
    delete silent;
}

} // namespace

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_go_both_ways),
        cmocka_unit_test(test_many_lines_keep_their_order),
        cmocka_unit_test(test_a_line_may_come_in_pieces),
        cmocka_unit_test(test_what_is_no_line_ends_the_stream),
        cmocka_unit_test(test_the_end_of_the_peer),
        cmocka_unit_test(test_the_peer_is_killed),
        cmocka_unit_test(test_closed_inside_an_event),
        cmocka_unit_test(test_closed_while_it_writes),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_last_words_come_first_come),
        cmocka_unit_test(test_the_silent_do_not_block),
    };
    WSADATA data;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
