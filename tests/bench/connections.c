/* SPDX-License-Identifier: MIT */
/*
 * connections.c - N connections between two processes, each polled by one completion queue (connections.h).
 *
 * A round measures every N in processes of its own, which make the connections, send on each, leave them idle, and
 * look at their memory; send on one of them, then on all; end them all; make them again, and lose the peer. Ratios to
 * one connection alone are made within the round, as everywhere.
 */
#include "tests/bench/connections.h"

#include "tests/bench/process.h"
#include "tests/support/nd2_many.h"
#include "util/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNTS = 5, ROUNDS_MAX = 3, SPARE_FILES = 64 };
static const unsigned counts[COUNTS] = { 1, 10, 100, 1000, 10000 };

enum {
    BURST = 20, /* round trips between two looks at the clock */
    BURSTS = 500,
    BURSTS_ASLEEP = 250,
    BUSY = 50000, /* messages, in all */
    SMALL_OCTETS = 8,
    LARGE_OCTETS = 65536, /* sent once on every connection before it is idle */
    IDLE_MS = 3000,
    DEADLINE_MS = 120000,
};

enum what {
    KIB_EACH,
    KIB_EACH_PEER,
    SETUPS_PER_S,
    ENDS_PER_S,
    POLL_US,
    EVENT_US,
    BUSY_PER_S,
    THREADS,
    LOST_MS,
    FIGURES
};

static const struct figure {
    const char *name;
    double aim; /* 0: none */
    bool at_least;
} figures[FIGURES] = {
    [KIB_EACH] = { "kib_each", 16, false },
    [KIB_EACH_PEER] = { "kib_each_peer", 16, false },
    [SETUPS_PER_S] = { "setups_per_s", 3000, true },
    [ENDS_PER_S] = { "ends_per_s", 3000, true },
    [POLL_US] = { "poll_8B.us", 0, false },
    [EVENT_US] = { "event_8B.us", 0, false },
    [BUSY_PER_S] = { "busy_per_s", 0, false },
    [THREADS] = { "threads", 0, false },
    [LOST_MS] = { "lost_ms", 2000, false },
};

/* Both processes' results; shared memory. */
struct outcome {
    double value[FIGURES];
};

struct scene {
    unsigned count;
    int control[2]; /* of the active side, the passive */
    struct outcome *outcome;
};

/* --- both sides --------------------------------------------------------------------------------------------------- */

static void check(const struct nd2_many *many, HRESULT hr)
{
    if (hr != ND_SUCCESS)
        bench_die("%s: 0x%08x", many->step ? many->step : "NetworkDirect", (unsigned)hr);
}

/* The figures are of the network path. */
static void start_up(void)
{
    setenv("NDSPI_SOFT_SHM", "0", 1);
    check(&(struct nd2_many){ 0 }, NdStartup());
}

static void tell(int control, const void *data, size_t octets)
{
    if (write(control, data, octets) != (ssize_t)octets)
        bench_die("the other side is gone");
}

static void hear(int control, void *data, size_t octets)
{
    if (recv(control, data, octets, MSG_WAITALL) != (ssize_t)octets)
        bench_die("the other side is gone");
}

static double resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long size, resident;

    if (!file || fscanf(file, "%lu %lu", &size, &resident) != 2)
        bench_die("/proc/self/statm: %s", strerror(errno));
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double threads(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned count = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %u", &count) == 1)
            break;
    if (file)
        fclose(file);
    return count;
}

enum step { STEP_MAKE, STEP_ECHO, STEP_ECHO_ASLEEP, STEP_MEMORY, STEP_FOLLOW, STEP_END };

struct order {
    enum step step;
    unsigned count;
    size_t octets;
};

/* --- the passive side --------------------------------------------------------------------------------------------- */

static void obey(struct nd2_many *many, const struct order *order, double *base_kib)
{
    double kib;

    switch (order->step) {
    case STEP_MAKE: check(many, nd2_many_accept(many)); break;
    case STEP_ECHO:
    case STEP_ECHO_ASLEEP:
        check(many,
            nd2_many_echo(many, order->step == STEP_ECHO_ASLEEP, order->count, order->octets));
        break;
    case STEP_MEMORY:
        kib = resident_kib();
        *base_kib = *base_kib ? kib - *base_kib : kib;
        break;
    case STEP_FOLLOW: check(many, nd2_many_follow(many)); break;
    case STEP_END: break;
    }
}

static void serve(const struct scene *scene)
{
    static struct nd2_many many;
    struct order order = { 0 };
    double kib = 0;
    pid_t self = getpid();

    check(&many, nd2_many_open(&many, scene->count, true));
    tell(scene->control[1], &self, sizeof self);
    tell(scene->control[1], &many.port_be, sizeof many.port_be);
    for (;;) {
        hear(scene->control[1], &order, sizeof order);
        if (order.step == STEP_END)
            break;
        obey(&many, &order, &kib);
        scene->outcome->value[KIB_EACH_PEER] = kib / scene->count;
        tell(scene->control[1], &order, sizeof order);
    }
    for (;;)
        pause(); /* to be killed */
}

/* The passive side in a process of its own, which the active side kills. */
static uint64_t passive_process(const void *argument)
{
    pid_t child = fork();

    if (child < 0)
        bench_die("fork: %s", strerror(errno));
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        start_up();
        serve(argument);
    }
    waitpid(child, NULL, 0);
    return 1;
}

/* --- the active side ---------------------------------------------------------------------------------------------- */

static uint64_t order(const struct scene *scene, struct order order)
{
    tell(scene->control[0], &order, sizeof order);
    return clock_now_ns();
}

static void done(const struct scene *scene)
{
    struct order answer;

    hear(scene->control[0], &answer, sizeof answer);
}

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e9;
}

static void make_all(const struct scene *scene, struct nd2_many *many)
{
    order(scene, (struct order){ .step = STEP_MAKE });
    check(many, nd2_many_connect(many));
    done(scene);
}

static void end_all(const struct scene *scene, struct nd2_many *many)
{
    order(scene, (struct order){ .step = STEP_FOLLOW });
    check(many, nd2_many_disconnect(many));
    done(scene);
}

/* Returns the seconds that it took. */
static double ping(const struct scene *scene, struct nd2_many *many, bool sleep, unsigned busy,
    unsigned each, size_t octets)
{
    uint64_t start_ns = order(scene,
        (struct order){
            .step = sleep ? STEP_ECHO_ASLEEP : STEP_ECHO, .count = busy * each, .octets = octets });
    double seconds;

    check(many, nd2_many_ping(many, sleep, busy, each, octets));
    seconds = seconds_since(start_ns);
    done(scene);
    return seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * Microseconds one way, on one connection: the median of bursts. Their mean is mostly that of the few in which one of
 * both processes lost its processor, and says more about the machine's other work than about idle connections.
 */
static double ping_us(const struct scene *scene, struct nd2_many *many, bool sleep, unsigned bursts)
{
    double us[BURSTS];

    order(scene, (struct order){ .step = sleep ? STEP_ECHO_ASLEEP : STEP_ECHO,
                     .count = bursts * BURST,
                     .octets = SMALL_OCTETS });
    for (unsigned i = 0; i < bursts; i++) {
        uint64_t start_ns = clock_now_ns();

        check(many, nd2_many_ping(many, sleep, 1, BURST, SMALL_OCTETS));
        us[i] = seconds_since(start_ns) / BURST / 2 * 1e6;
    }
    done(scene);
    qsort(us, bursts, sizeof us[0], compare);
    return us[bursts / 2];
}

static void measure_memory(const struct scene *scene, struct nd2_many *many, double base_kib)
{
    struct outcome *outcome = scene->outcome;

    ping(scene, many, true, scene->count, 1, LARGE_OCTETS);
    Sleep(IDLE_MS);
    outcome->value[KIB_EACH] = (resident_kib() - base_kib) / scene->count;
    outcome->value[THREADS] = threads();
    order(scene, (struct order){ .step = STEP_MEMORY });
    done(scene);
}

static void measure_loss(const struct scene *scene, struct nd2_many *many, pid_t peer)
{
    uint64_t start_ns;

    make_all(scene, many);
    order(scene, (struct order){ .step = STEP_END });
    start_ns = clock_now_ns();
    kill(peer, SIGKILL);
    check(many, nd2_many_lose(many));
    scene->outcome->value[LOST_MS] = seconds_since(start_ns) * 1e3;
}

static uint64_t active_process(const void *argument)
{
    const struct scene *scene = argument;
    static struct nd2_many many;
    struct outcome *outcome = scene->outcome;
    unsigned count = scene->count;
    double base_kib;
    uint64_t start_ns;
    pid_t peer;

    start_up();
    check(&many, nd2_many_open(&many, count, false));
    hear(scene->control[0], &peer, sizeof peer);
    hear(scene->control[0], &many.port_be, sizeof many.port_be);
    base_kib = resident_kib();
    order(scene, (struct order){ .step = STEP_MEMORY });
    done(scene);
    start_ns = clock_now_ns();
    make_all(scene, &many);
    outcome->value[SETUPS_PER_S] = count / seconds_since(start_ns);
    measure_memory(scene, &many, base_kib);
    ping_us(scene, &many, false, BURSTS / 10);
    outcome->value[POLL_US] = ping_us(scene, &many, false, BURSTS);
    outcome->value[EVENT_US] = ping_us(scene, &many, true, BURSTS_ASLEEP);
    outcome->value[BUSY_PER_S] =
        2 * BUSY / ping(scene, &many, false, count, BUSY / count, SMALL_OCTETS);
    start_ns = clock_now_ns();
    end_all(scene, &many);
    outcome->value[ENDS_PER_S] = count / seconds_since(start_ns);
    measure_loss(scene, &many, peer);
    return 1;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static bool measure(unsigned count, struct outcome *outcome)
{
    struct scene scene = { .count = count, .outcome = outcome };
    struct bench_process processes[2] = { { active_process, &scene, "connections: active" },
        { passive_process, &scene, "connections: passive" } };
    bool good;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, scene.control) != 0)
        bench_die("socketpair: %s", strerror(errno));
    good = bench_run_for(processes, 2, DEADLINE_MS) != 0;
    close(scene.control[0]);
    close(scene.control[1]);
    return good;
}

/* Whether each process may open so many sockets. */
static bool files_suffice(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &limit) &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= count + SPARE_FILES);
}

static double median(
    const struct outcome *outcomes, const struct outcome *to, enum what what, unsigned rounds)
{
    double values[ROUNDS_MAX];

    for (unsigned i = 0; i < rounds; i++)
        values[i] = outcomes[i].value[what] / (to ? to[i].value[what] : 1);
    qsort(values, rounds, sizeof values[0], compare);
    return (values[(rounds - 1) / 2] + values[rounds / 2]) / 2;
}

static void put(struct bench_report *report, unsigned count, const char *name, double value,
    double aim, bool at_least)
{
    char key[BENCH_KEY];

    snprintf(key, sizeof key, "soft.connections_%u.%s", count, name);
    bench_put(report, key, value);
    bench_say(report, "%-38s %9.*f", key, value < 1000 ? 3 : 0, value);
    bench_judge(report, key, value, aim, at_least);
}

/* What one connection costs its process is mostly what the first one does; what is made in a blink has no rate. */
static double aim_of(unsigned count, enum what what)
{
    return count >= 1000 ? figures[what].aim : 0;
}

static void tell_count(struct bench_report *report, FILE *data, unsigned count,
    const struct outcome *outcomes, const struct outcome *alone, unsigned rounds)
{
    fprintf(data, "%u", count);
    for (enum what what = 0; what < FIGURES; what++) {
        double value = median(outcomes, NULL, what, rounds);

        fprintf(data, " %.3f", value);
        put(report, count, figures[what].name, value, aim_of(count, what), figures[what].at_least);
    }
    fputc('\n', data);
    if (count == 1)
        return;
    put(report, count, "poll_8B.vs_alone", median(outcomes, alone, POLL_US, rounds), 1.2, false);
    put(report, count, "event_8B.vs_alone", median(outcomes, alone, EVENT_US, rounds), 1.2, false);
}

/* connections.svg, by gnuplot, from connections.dat. */
static void plot(struct bench_report *report)
{
    char command[4096];

    snprintf(command, sizeof command, "cd '%s' && gnuplot '%s'", report->directory, BENCH_PLOT);
    if (system(command) != 0)
        bench_say(report, "connections.svg was not drawn: gnuplot is missing or failed\n");
}

static bool wanted(unsigned count, const char *only)
{
    char name[BENCH_KEY];

    snprintf(name, sizeof name, "%s_%u", BENCH_CONNECTIONS, count);
    return !only || strcmp(only, BENCH_CONNECTIONS) == 0 || strcmp(only, name) == 0;
}

bool bench_is_connections(const char *name)
{
    bool is = false;

    for (unsigned i = 0; i < COUNTS; i++)
        is = is || wanted(counts[i], name);
    return is;
}

bool bench_connections(struct bench_report *report, const char *only)
{
    unsigned rounds = report->rounds < ROUNDS_MAX ? report->rounds : ROUNDS_MAX;
    struct outcome(*outcomes)[ROUNDS_MAX] = mmap(NULL, sizeof(struct outcome[COUNTS][ROUNDS_MAX]),
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = true;
    char path[4096];
    FILE *data;

    snprintf(path, sizeof path, "%s/connections.dat", report->directory);
    data = fopen(path, "w");
    if (outcomes == MAP_FAILED || !data)
        bench_die("%s: %s", path, strerror(errno));
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(stderr, "connections, round %u of %u:", round + 1, rounds);
        for (unsigned i = 0; i < COUNTS && files_suffice(counts[i]); i++) {
            if (i && !wanted(counts[i], only))
                continue;
            fprintf(stderr, " %u", counts[i]);
            good = good && measure(counts[i], &outcomes[i][round]);
        }
        fputc('\n', stderr);
    }
    bench_say(report, "%u rounds of connections\n", rounds);
    for (unsigned i = 0; i < COUNTS && good; i++) {
        if (i && !wanted(counts[i], only))
            continue;
        if (files_suffice(counts[i]))
            tell_count(report, data, counts[i], outcomes[i], outcomes[0], rounds);
        else
            bench_say(report,
                "%u connections were not measured: the limit of open files is too "
                "low (ulimit -Hn)\n",
                counts[i]);
    }
    fclose(data);
    if (good)
        plot(report);
    return good;
}
