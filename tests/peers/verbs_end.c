/* SPDX-License-Identifier: MIT */
#include "tests/peers/verbs_end.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *here, *there;
static const char *const *peer_program;
static struct program peer;
static char reply[2 * 65536];

const unsigned char hello[7] = { 'h', 'e', 'l', 'l', 'o', 0, 7 };
const char hello_hex[] = "68656c6c6f0007";
const unsigned char answer[4] = { 'y', 'e', 's', 0xff };
const char answer_hex[] = "796573ff";

bool verbs_arguments(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s ADDRESS PEER_ADDRESS PEER [ARGUMENT...]\n", argv[0]);
        return false;
    }
    here = argv[1];
    there = argv[2];
    peer_program = (const char *const *)argv + 3;
    return true;
}

void verbs_start(void)
{
    program_start(&peer, peer_program);
}

void verbs_end(void)
{
    if (peer.pid)
        program_end(&peer);
    peer.pid = 0;
}

void verbs_kill(void)
{
    program_kill(&peer, SIGKILL);
    peer.pid = 0;
}

void tell(const char *format, ...)
{
    char line[4096];
    va_list arguments;

    va_start(arguments, format);
    assert_true(vsnprintf(line, sizeof(line), format, arguments) < (int)sizeof(line));
    va_end(arguments);
    program_tell(&peer, line);
}

const char *hear(void)
{
    program_line(&peer, reply, sizeof(reply));
    return reply;
}

unsigned verbs_listens(void)
{
    unsigned port;

    tell("listen %s", there);
    assert_int_equal(sscanf(hear(), "ok %u", &port), 1);
    return port;
}

/* ok RESPONDER INITIATOR OCTETS */
static void hear_connection(unsigned *responder, unsigned *initiator, const char *wanted)
{
    char data[513];

    assert_int_equal(sscanf(hear(), "ok %u %u %512s", responder, initiator, data), 3);
    assert_data(data, wanted);
}

void verbs_request(unsigned *responder, unsigned *initiator)
{
    tell("request");
    hear_connection(responder, initiator, hello_hex);
}

void verbs_connects(USHORT port_be, unsigned responder, unsigned initiator)
{
    tell("connect %s %s %u %u %u %s", there, here, ntohs(port_be), responder, initiator, hello_hex);
}

void verbs_connected(void)
{
    unsigned responder, initiator;

    hear_connection(&responder, &initiator, answer_hex);
}

void verbs_rejected(const char *hex)
{
    hear();
    assert_int_equal(strncmp(reply, "rejected ", 9), 0);
    assert_data(reply + 9, hex);
}

struct target verbs_memory(void)
{
    unsigned long long address;
    struct target target;

    tell("memory");
    assert_int_equal(sscanf(hear(), "ok %llx %x", &address, &target.token), 2);
    target.address = address;
    return target;
}

void verbs_gives_up(void)
{
    hear();
    tell("disconnect");
    hear(); /* "ok", or that it was over already */
}

void assert_data(const char *hex, const char *wanted)
{
    size_t length = strlen(wanted);

    assert_memory_equal(hex, wanted, length);
    assert_int_equal(strspn(hex + length, "0"), strlen(hex + length));
}

void assert_octets(const unsigned char *data, size_t size, const void *wanted, size_t length)
{
    assert_true(size >= length);
    assert_memory_equal(data, wanted, length);
    for (size_t i = length; i < size; i++)
        assert_int_equal(data[i], 0);
}

ULONG address_of(const char *text)
{
    struct in_addr address;

    assert_int_equal(inet_pton(AF_INET, text, &address), 1);
    return address.s_addr;
}

/* NDSPI_DEVICE may leave the choice to the library; on kernel devices NDSPI_CONFORMANCE_DEVICE names the kind. */
static bool on(const char *kind)
{
    const char *device = getenv("NDSPI_CONFORMANCE_DEVICE");

    if (!device)
        device = getenv("NDSPI_DEVICE");
    return device && !strncmp(device, kind, strlen(kind));
}

bool on_siw(void)
{
    return on("siw");
}

bool on_softrdma(void)
{
    return on("soft");
}
