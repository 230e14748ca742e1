/* SPDX-License-Identifier: MIT */
/* seeds.c FOLDER - writes what the fuzzers begin with, from the test vectors: FOLDER/{mpa,terminate,stream}/NAME. */
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
    if (!file || fwrite(head, 1, head_octets, file) != head_octets ||
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
    return 0;
}
