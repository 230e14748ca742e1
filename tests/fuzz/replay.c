/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target on the files named, or all in the folders named; then, with --for SECONDS, or with
 * --long SECONDS where NDSPI_TEST_LONG=1, on changes of these, drawn from a seed that is always the same. An input that
 * ends the program is kept: crash-NUMBER.
 */
#include "fuzz.h"

#include "tests/support/long.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS = 4096, MOST_OCTETS = 1 << 16 };

static struct {
    uint8_t *octets;
    size_t count;
} inputs[INPUTS];
static unsigned n_inputs, replayed;
static const uint8_t *present; /* what the target runs on now */
static size_t present_octets;

static void keep(int number)
{
    char name[] = "crash-0000000000";
    unsigned n = replayed;
    int fd;

    for (char *digit = name + sizeof name - 2; *digit == '0'; digit--, n /= 10)
        *digit = (char)('0' + n % 10);
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0 && write(fd, present, present_octets) == (ssize_t)present_octets &&
        write(2, name, sizeof name - 1) > 0)
        close(fd);
    signal(number, SIG_DFL);
    raise(number);
}

/* cmocka's assertions outside of its tests end the program by exit. */
static void keep_at_exit(void)
{
    if (present)
        abort();
}

static void run(const uint8_t *octets, size_t count)
{
    uint8_t *exact = malloc(count ? count : 1); /* so that a read behind the end shows */

    FUZZ_CHECK(exact);
    memcpy(exact, octets, count);
    present = exact;
    present_octets = count;
    LLVMFuzzerTestOneInput(exact, count);
    present = NULL;
    free(exact);
    replayed++;
}

static void replay_file(const char *path)
{
    static uint8_t input[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t octets;

    if (!file) {
        perror(path);
        exit(1);
    }
    octets = fread(input, 1, sizeof input, file);
    fclose(file);
    run(input, octets);
    if (n_inputs == INPUTS || octets > MOST_OCTETS)
        return;
    inputs[n_inputs].octets = malloc(octets ? octets : 1);
    FUZZ_CHECK(inputs[n_inputs].octets);
    memcpy(inputs[n_inputs].octets, input, octets);
    inputs[n_inputs++].count = octets;
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

/* --- changes --- */

static size_t below(size_t most)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % most;
}

/* Another octet, one more or fewer, or the rest of another input. */
static size_t change(uint8_t *octets, size_t count)
{
    size_t at = below(count + 1), other = below(n_inputs), more;

    switch (below(5)) {
    case 0:
        if (at < count)
            octets[at] ^= (uint8_t)(1u << below(8));
        return count;
    case 1:
        if (at < count)
            octets[at] = (uint8_t)below(256);
        return count;
    case 2:
        if (at == count)
            return count;
        memmove(octets + at, octets + at + 1, count - at - 1);
        return count - 1;
    case 3:
        if (count == MOST_OCTETS)
            return count;
        memmove(octets + at + 1, octets + at, count - at);
        octets[at] = (uint8_t)below(256);
        return count + 1;
    default:
        if (!inputs[other].count)
            return count;
        more = below(inputs[other].count);
        if (at + more > MOST_OCTETS)
            return count;
        memcpy(octets + at, inputs[other].octets + inputs[other].count - more, more);
        return at + more > count ? at + more : count;
    }
}

static void run_changes(time_t seconds)
{
    static uint8_t octets[MOST_OCTETS];
    struct timespec now;
    time_t end;

    clock_gettime(CLOCK_MONOTONIC, &now);
    for (end = now.tv_sec + seconds; now.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &now))
        for (int i = 0; i < 50; i++) {
            size_t from = below(n_inputs), count = inputs[from].count;

            memcpy(octets, inputs[from].octets, count);
            for (size_t changes = 1 + below(8); changes; changes--)
                count = change(octets, count);
            run(octets, count);
        }
}

int main(int argc, char **argv)
{
    static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE };
    long seconds = 0;
    int first = 1;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], keep);
    if (atexit(keep_at_exit))
        abort();
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2)
        if (!strcmp(argv[first], "--for") || (!strcmp(argv[first], "--long") && test_is_long()))
            seconds = strtol(argv[first + 1], NULL, 10);
    for (int i = first; i < argc; i++)
        replay(argv[i]);
    printf("%u inputs\n", replayed);
    if (!replayed)
        return 1;
    run_changes(seconds);
    printf("%u with changes\n", replayed);
    return 0;
}
