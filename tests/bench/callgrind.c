/* SPDX-License-Identifier: MIT */
/*
 * callgrind.c - runs ndspi-bench-count under callgrind and adds up what it counted, by function.
 *
 * The overhead is everything executed between the caller and the device: the instructions counted in the run through
 * NetworkDirect, less those of the same loop on raw verbs calls. The fake device's own functions are left out of both,
 * so a poll more or less does not count as the device's work.
 */
#include "tests/bench/instructions.h"

#include "tests/bench/count.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FUNCTIONS_MAX = 256, NAME_MAX_ = 128 };

struct profile {
    struct function {
        char name[NAME_MAX_];
        double cost; /* instructions a round, its own */
    } functions[FUNCTIONS_MAX];
    unsigned count;
    double sum; /* without the device */
};

static bool is_device(const char *name)
{
    return strncmp(name, "fake_", 5) == 0;
}

static struct function *profile_function(struct profile *profile, const char *name)
{
    for (unsigned i = 0; i < profile->count; i++)
        if (strcmp(profile->functions[i].name, name) == 0)
            return &profile->functions[i];
    if (profile->count == FUNCTIONS_MAX)
        return NULL;
    snprintf(profile->functions[profile->count].name, NAME_MAX_, "%.*s", NAME_MAX_ - 1, name);
    return &profile->functions[profile->count++];
}

/*
 * The format: "fn=NAME" opens a function; "LINE COST" is its own cost; "calls=..." is followed by
 * one such line that holds what the callee cost, which is not its own. All names are written in
 * full (--compress-strings=no).
 */
static bool profile_read(struct profile *profile, const char *path)
{
    FILE *file = fopen(path, "r");
    struct function *function = NULL;
    char line[1024];
    bool of_callee = false;

    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        unsigned long cost;

        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "fn=", 3) == 0) {
            function = profile_function(profile, line + 3);
        } else if (strncmp(line, "calls=", 6) == 0) {
            of_callee = true;
        } else if (sscanf(line, "%*u %lu", &cost) == 1) {
            if (function && !of_callee)
                function->cost += (double)cost / BENCH_COUNT_ROUNDS;
            of_callee = false;
        }
    }
    fclose(file);
    for (unsigned i = 0; i < profile->count; i++)
        if (!is_device(profile->functions[i].name))
            profile->sum += profile->functions[i].cost;
    return profile->sum > 0;
}

static bool program_beside_us(char *path, size_t size, const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);

    if (length < 0)
        return false;
    path[length] = 0;
    *(strrchr(path, '/') + 1) = 0;
    if (strlen(path) + strlen(name) >= size)
        return false;
    strcat(path, name);
    return true;
}

static int run_valgrind(const char *out_path, const char *log_path, const char *program,
    const char *what, const char *how)
{
    char out_option[4200];
    pid_t pid;
    int status;

    snprintf(out_option, sizeof out_option, "--callgrind-out-file=%s", out_path);
    pid = fork();
    if (pid == 0) {
        int log = open(log_path, O_CREAT | O_TRUNC | O_WRONLY, 0666);

        if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
            _exit(126);
        execlp("valgrind", "valgrind", "--tool=callgrind", out_option, "--collect-atstart=no",
            "--toggle-collect=" BENCH_COUNT_FUNCTION, "--compress-strings=no", "--compress-pos=no",
            "--dump-instr=no", program, what, how, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns NULL or why it failed. */
static const char *profile_take(
    struct profile *profile, const char *directory, const char *what, const char *how)
{
    static char why[4400];
    char program[4096], out_path[4096], log_path[4096];
    int status;

    *profile = (struct profile){ 0 };
    if (!program_beside_us(program, sizeof program, "ndspi-bench-count"))
        return "ndspi-bench-count is not found";
    snprintf(out_path, sizeof out_path, "%s/callgrind.%s.%s", directory, what, how);
    snprintf(log_path, sizeof log_path, "%s/callgrind.%s.%s.log", directory, what, how);
    unlink(out_path);
    status = run_valgrind(out_path, log_path, program, what, how);
    if (status == 127)
        return "valgrind is not installed";
    if (status != 0 || !profile_read(profile, out_path)) {
        snprintf(why, sizeof why, "valgrind ended with status %d; see %s", status, log_path);
        return why;
    }
    return NULL;
}

static int by_cost(const void *a, const void *b)
{
    double x = ((const struct function *)a)->cost, y = ((const struct function *)b)->cost;

    return (x < y) - (x > y);
}

static void profile_print(struct profile *profile, FILE *table, const char *title)
{
    qsort(profile->functions, profile->count, sizeof profile->functions[0], by_cost);
    fprintf(table, "%s: %.1f instructions a round without the device\n", title, profile->sum);
    for (unsigned i = 0; i < profile->count; i++)
        if (profile->functions[i].cost >= 0.05)
            fprintf(table, "  %8.1f  %s%s\n", profile->functions[i].cost,
                profile->functions[i].name,
                is_device(profile->functions[i].name) ? "   (device)" : "");
}

enum { COUNTED_V1, COUNTED_V2, COUNTED_NDK, COUNTED_VERBS, COUNTED };

static const struct {
    const char *what, *title;
    double aim; /* at most, above verbs, completions fetched together */
} counted[COUNTED] = {
    [COUNTED_V1] = { "v1", "NetworkDirect v1", 150 },
    [COUNTED_V2] = { "v2", "NetworkDirect v2", 125 },
    [COUNTED_NDK] = { "ndk", "NDKPI", 0 },
    [COUNTED_VERBS] = { "verbs", "raw verbs calls", 0 },
};

/* Counts all of them, completions fetched as how says. Returns NULL or why it failed. */
static const char *count_all(
    struct bench_report *report, const char *how, struct profile profiles[COUNTED])
{
    const char *why = NULL;

    for (int i = 0; i < COUNTED && !why; i++)
        why = profile_take(&profiles[i], report->directory, counted[i].what, how);
    if (why)
        return why;
    fprintf(report->table, "completions fetched %s:\n", how);
    for (int i = 0; i < COUNTED; i++)
        profile_print(&profiles[i], report->table, counted[i].title);
    fputc('\n', report->table);
    return NULL;
}

static void report_overhead(struct bench_report *report, const struct profile *together,
    const struct profile *singly, int i)
{
    double value = together[i].sum - together[COUNTED_VERBS].sum;
    char key[BENCH_KEY];

    snprintf(key, sizeof key, "overhead.%s_instructions", counted[i].what);
    bench_put(report, key, value);
    bench_say(report, "%-38s %9.1f", key, value);
    bench_judge(report, key, value, counted[i].aim, false);
    value = singly[i].sum - singly[COUNTED_VERBS].sum;
    snprintf(key, sizeof key, "overhead.%s_instructions_singly", counted[i].what);
    bench_put(report, key, value);
    bench_say(report, "%-38s %9.1f\n", key, value);
}

/* The whole of a round without the device, the caller included: the kernel flavour's over version 2's. */
static void report_ratio(struct bench_report *report, const struct profile *profiles)
{
    static const char key[] = "instructions.ndk_over_v2";
    double value = profiles[COUNTED_NDK].sum / profiles[COUNTED_V2].sum;

    bench_put(report, key, value);
    bench_say(report, "%-38s %9.3f", key, value);
    bench_judge(report, key, value, 1.12, false);
    bench_say(report, "\n");
}

bool bench_instructions(struct bench_report *report)
{
    static struct profile together[COUNTED], singly[COUNTED];
    const char *why;

    fprintf(stderr, "counting instructions under callgrind\n");
    if ((why = count_all(report, "together", together)) ||
        (why = count_all(report, "singly", singly))) {
        bench_say(report, "instructions were not counted: %s\n", why);
        return false;
    }
    bench_say(report,
        "instructions added to one Send, one Receive and their two completions (by function: "
        "%s/results.txt)\n",
        report->directory);
    for (int i = 0; i < COUNTED_VERBS; i++)
        report_overhead(report, together, singly, i);
    report_ratio(report, together);
    return true;
}
