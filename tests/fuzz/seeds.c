/* SPDX-License-Identifier: MIT */
/* seeds.c FOLDER - writes what the fuzzers begin with, also from the test vectors: FOLDER/TARGET/NAME. */
#include "tests/unit/softrdma/vectors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *folder;

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST) {
        perror(path);
        exit(1);
    }
}

static void write_seed(const char *target, const char *name, const void *head, size_t head_octets,
    const void *octets, size_t count)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, target);
    make_folder(path);
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    file = fopen(path, "wb");
    if (!file || (head_octets && fwrite(head, 1, head_octets, file) != head_octets) ||
        fwrite(octets, 1, count, file) != count || fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* A step of fuzz_stream.c: a frame with everything set right but what the frame is about. */
static size_t frame_step(uint8_t *out, const struct vector *v)
{
    size_t count = v->count < 79 ? v->count - 4 : 79;

    out[0] = 0x80 | 0x02 | 0x04 | 0x10; /* CRC, moved, sink */
    out[1] = (uint8_t)count;
    out[2] = (uint8_t)(v->count - count);
    memcpy(out + 3, v->octets, count);
    return 3 + count;
}

static void stream_seeds(void)
{
    enum { FLAGS = 6 };
    static const uint8_t flags[FLAGS] = { 0, 1, 2, 4, 7, 8 | 4 };
    static const uint8_t posts[] = { 5, 64, 5, 64, 3, 8, 15, 8, 27, 8, 0 };
    uint8_t session[8192], one[256];
    char name[64];

    for (int f = 0; f < FLAGS; f++) {
        size_t octets = 0;

        for (size_t i = 0; i < vectors_count; i++) {
            const struct vector *v = &vectors[i];
            uint8_t head[1 + sizeof posts] = { flags[f] };

            if (v->name[0] == 'm' || !memcmp(v->octets, "MPA", 3) || v->count < 20)
                continue;
            memcpy(head + 1, posts, sizeof posts);
            snprintf(name, sizeof name, "%.31s-%d", v->name, flags[f]);
            write_seed("stream", name, head, sizeof head, one, frame_step(one, v));
            if (v->name[0] == 's' && octets + 256 < sizeof session)
                octets += frame_step(session + octets, v);
        }
        snprintf(name, sizeof name, "session-%d", flags[f]);
        session[octets++] = 0;
        write_seed("stream", name, &flags[f], 1, session, octets);
    }
}

/* Steps of fuzz_stream.c that are whole operations, see step and rare_step there. */
enum {
    TAKE = 0,
    TAKE_SOME = 2,
    SEND = 3,
    WRITE = 15,
    READ_LONG = 28,
    RECEIVE = 5,
    SEND_IMMEDIATE = 51,
    WRITE_IMMEDIATE = 63,
    ATOMIC = 75,
    BIND = 23,
    INVALIDATE = 35,
    ACK = 47,
    IN_WRITE = 59,
    IN_WINDOW = 71,
    IN_SEND = 83,
    IN_SEND_INV = 95,
    IN_RESPONSE = 107,
    FAST = 119, /* then what of it, see fast_step */
};

static void operation_seeds(void)
{
    /* flags: 4 soft peer, 1 initiator, 64 shared receives */
    static const struct {
        const char *name;
        uint8_t octets[48], count;
    } seeds[] = {
        { "acknowledged",
            { 5, SEND, 8, WRITE, 8, TAKE, ACK, 1, SEND, 8, TAKE, ACK, 2, ACK, 1, ACK, 0 }, 17 },
        { "extensions",
            { 5, SEND_IMMEDIATE, 8, WRITE_IMMEDIATE, 8, TAKE, ACK, 2, ATOMIC, 8, ATOMIC, 8, SEND, 8,
                TAKE, ACK, 1, TAKE },
            17 },
        { "atomic-response", /* a frame that brings it, with CRC, number and identifier set right */
            { 5, ATOMIC, 8, TAKE, 0x80 | 1 | 2 | 8 | 16, 32, 0, 0, 0, 0x41, 0x4b, 0, 0, 0, 0, 0, 0,
                0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, TAKE },
            40 },
        { "held", /* three Sends wait; each Receive lets one go on, the second into two places */
            { 4, IN_SEND, 1, 1, IN_SEND, 1, 1, IN_SEND, 1, 1, RECEIVE, 254, TAKE, RECEIVE, 253,
                RECEIVE, 251, TAKE },
            18 },
        { "large-sends", /* into one place, into two */
            { 4, RECEIVE, 254, IN_SEND, 1, 250, RECEIVE, 253, IN_SEND, 1, 250, TAKE }, 12 },
        { "straight", { 5, IN_WRITE, 1, 100, 0, IN_WRITE, 9, 200, 4, IN_WRITE, 0, 250, 100, TAKE },
            14 },
        { "response", { 5, READ_LONG, 200, TAKE, IN_RESPONSE, 0, 100, IN_RESPONSE, 2, 0, TAKE },
            11 },
        { "windows",
            { 5, BIND, 40, TAKE, IN_WINDOW, 1, 64, 0, INVALIDATE, TAKE, BIND, 40, TAKE, RECEIVE,
                255, RECEIVE, 255, IN_SEND_INV, 1, 1, TAKE, IN_WINDOW, 1, 64, 0, TAKE },
            26 },
        { "window-refused", { 5, BIND, 255, TAKE, SEND, 8, TAKE }, 7 },
        { "fast",
            { 5, FAST, 0, 0x98, 1, 200, FAST, 5, 2, 100, FAST, 7, 40, 100, TAKE, FAST, 3, 5, 30, 3,
                FAST, 3, 1, 64, 9, IN_RESPONSE, 2, 0, FAST, 2, FAST, 0, 0xb4, 0, 60, TAKE, RECEIVE,
                255, RECEIVE, 255, FAST, 4, 1, 1, TAKE },
            45 },
        { "source-goes", /* of the second Read, while the first is answered; then of one that is half sent */
            { 5, BIND, 40, TAKE, FAST, 0x81, 200, 0, FAST, 0x82, 20, 0, RECEIVE, 255, IN_SEND_INV,
                1, 0, TAKE_SOME, 50, TAKE, TAKE },
            21 },
        { "source-goes-half-sent",
            { 5, BIND, 40, TAKE, FAST, 0x82, 200, 0, TAKE_SOME, 100, RECEIVE, 255, IN_SEND_INV, 1,
                0, TAKE },
            16 },
        { "fast-source-goes",
            { 5, FAST, 0, 0x98, 1, 200, TAKE, FAST, 0x80, 150, 4, TAKE_SOME, 100, RECEIVE, 255,
                FAST, 4, 1, 0, TAKE },
            20 },
        { "fast-refused", { 4, FAST, 1, 0x13, 255, 255, FAST, 2, TAKE, FAST, 3, 1, 1, 0, TAKE },
            15 },
        { "shared",
            { 4 | 64, RECEIVE, 255, IN_SEND, 1, 1, IN_SEND, 1, 1, IN_SEND, 1, 1, RECEIVE, 255, TAKE,
                RECEIVE, 255, RECEIVE, 255, TAKE, IN_SEND, 1, 1, TAKE },
            24 },
        { "shared-initiator", { 5 | 64, IN_SEND, 1, 1, IN_WRITE, 1, 2, 0, RECEIVE, 255, TAKE, 8 },
            12 },
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        write_seed(
            "stream", seeds[i].name, seeds[i].octets, 1, seeds[i].octets + 1, seeds[i].count - 1u);
}

/* See step of fuzz_ack.c. */
static void ack_seeds(void)
{
    enum {
        ALL = 0,
        PART = 1,
        POST_SEND = 2,
        POST_WRITE = 3,
        MORE = 4,
        SENT = 5,
        ANY = 6,
        TIME = 7
    };
    static const struct {
        const char *name;
        uint8_t octets[32], count;
    } seeds[] = {
        { "in-order", { POST_SEND, 4, POST_WRITE, 9, ALL, MORE + 8, MORE + 8, MORE }, 8 },
        { "in-parts", { POST_WRITE, 255, PART, 200, SENT + 8, PART, 100, ALL, SENT + 8 }, 9 },
        { "too-many", { POST_SEND, 4, ALL, SENT }, 4 },
        { "fewer", { POST_SEND, 4, POST_SEND, 4, ALL, SENT + 8, SENT + 16 }, 7 },
        { "huge", { POST_SEND, 4, ALL, ANY, 255, 255, 255, 255, 255, 255, 255, 255 }, 12 },
        { "in-pieces", { POST_SEND, 1, ALL, ANY + 8, 0, 0, 0, 0, 0, 0, 0, 1, TIME }, 13 },
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        write_seed("ack", seeds[i].name, NULL, 0, seeds[i].octets, seeds[i].count);
}

static void ring_seeds(void)
{
    /* Around the ring by both ends' positions; then a position that cannot be. */
    static const uint8_t round[] = { 7, 255, 255, 0, 255, 255, 1, 255, 255, 8, 255, 255, 2, 7, 64,
        0, 0, 64, 0, 9, 1, 255, 255, 1, 255, 255, 1, 255, 255, 1, 255, 255, 3, 8, 128, 0, 1, 128,
        0 };
    static const uint8_t wrong[] = { 6, 0, 32, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 64, 2, 0, 0, 64, 1, 0,
        64 };

    write_seed("ring", "round", NULL, 0, round, sizeof round);
    write_seed("ring", "wrong", NULL, 0, wrong, sizeof wrong);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    folder = argv[1];
    make_folder(folder);
    vectors_load(0, NULL);
    for (size_t i = 0; i < vectors_count; i++) {
        const struct vector *v = &vectors[i];
        bool reply = v->count > 9 && v->octets[9] == 'p';

        if (!memcmp(v->octets, "MPA", 3))
            write_seed("mpa", v->name, (uint8_t[]){ reply ? 5 : 4, 4, 4 }, 3, v->octets, v->count);
        else if (v->count > 24 && v->octets[3] == 0x47)
            write_seed("terminate", v->name, (uint8_t[]){ 3, 0 }, 2, v->octets + 20, v->count - 24);
        else if (v->count > 20)
            write_seed("terminate", v->name, (uint8_t[]){ 0, 12 }, 2, v->octets + 2, v->count - 6);
    }
    stream_seeds();
    operation_seeds();
    ack_seeds();
    ring_seeds();
    return 0;
}
