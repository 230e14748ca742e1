/* SPDX-License-Identifier: MIT */
/* replay.c - runs a fuzz target on the files named, or all in the folders named. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static unsigned replayed;

static void replay_file(const char *path)
{
    static uint8_t input[1 << 20];
    FILE *file = fopen(path, "rb");
    uint8_t *exact;
    size_t octets;

    if (!file) {
        perror(path);
        exit(1);
    }
    octets = fread(input, 1, sizeof input, file);
    fclose(file);
    exact = malloc(octets ? octets : 1); /* so that a read behind the end shows */
    FUZZ_CHECK(exact);
    memcpy(exact, input, octets);
    LLVMFuzzerTestOneInput(exact, octets);
    free(exact);
    replayed++;
}

static void replay(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    char name[4096];

    if (!directory) {
        replay_file(path);
        return;
    }
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            replay_file(name);
        }
    closedir(directory);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%u inputs\n", replayed);
    return replayed ? 0 : 1;
}
