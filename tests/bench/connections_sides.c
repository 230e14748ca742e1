/* SPDX-License-Identifier: MIT */
/* connections_sides.c - see connections_sides.h. */
#include "tests/bench/connections_sides.h"

#include "tests/bench/process.h"
#include "tests/support/nd2_many.h"
#include "util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BURST = 20, /* round trips between two looks at the clock */
    TURNS = 10,
    BURSTS = 50, /* in a turn */
    BURSTS_ASLEEP = 25,
    BUSY = 50000, /* messages, in all */
    SMALL_OCTETS = 8,
    LARGE_OCTETS = 65536, /* sent once on every connection before it is idle */
    IDLE_MS = 3000,
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
uint64_t passive_process(const void *argument)
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

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare);
    return values[count / 2];
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
    return median(us, bursts);
}

struct turn {
    bool sleep;
    unsigned bursts; /* 0: there are no more */
};

static void ping_by_turns(const struct scene *scene, struct nd2_many *many, bool sleep)
{
    struct turn turn = { .sleep = sleep, .bursts = sleep ? BURSTS_ASLEEP : BURSTS };
    double us[TURNS], ratio[TURNS], alone_us;

    for (int i = 0; i < TURNS; i++) {
        us[i] = ping_us(scene, many, sleep, turn.bursts);
        alone_us = us[i];
        if (scene->turns[0] >= 0) {
            tell(scene->turns[0], &turn, sizeof turn);
            hear(scene->turns[0], &alone_us, sizeof alone_us);
        }
        ratio[i] = us[i] / alone_us;
    }
    scene->outcome->value[sleep ? EVENT_US : POLL_US] = median(us, TURNS);
    scene->outcome->value[sleep ? EVENT_VS_ALONE : POLL_VS_ALONE] = median(ratio, TURNS);
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

/* Opens the side, and learns of its peer. Returns the peer's process. */
static pid_t open_active(const struct scene *scene, struct nd2_many *many)
{
    pid_t peer;

    start_up();
    check(many, nd2_many_open(many, scene->count, false));
    hear(scene->control[0], &peer, sizeof peer);
    hear(scene->control[0], &many->port_be, sizeof many->port_be);
    return peer;
}

uint64_t active_process_beside(const void *argument)
{
    const struct scene *scene = argument;
    static struct nd2_many many;
    pid_t peer = open_active(scene, &many);
    struct turn turn;
    double us;

    make_all(scene, &many);
    ping_us(scene, &many, false, BURSTS);
    for (;;) {
        hear(scene->turns[1], &turn, sizeof turn);
        if (!turn.bursts)
            break;
        us = ping_us(scene, &many, turn.sleep, turn.bursts);
        tell(scene->turns[1], &us, sizeof us);
    }
    kill(peer, SIGKILL);
    return 1;
}

uint64_t active_process(const void *argument)
{
    const struct scene *scene = argument;
    static struct nd2_many many;
    struct outcome *outcome = scene->outcome;
    unsigned count = scene->count;
    double base_kib;
    uint64_t start_ns;
    pid_t peer = open_active(scene, &many);

    base_kib = resident_kib();
    order(scene, (struct order){ .step = STEP_MEMORY });
    done(scene);
    start_ns = clock_now_ns();
    make_all(scene, &many);
    outcome->value[SETUPS_PER_S] = count / seconds_since(start_ns);
    measure_memory(scene, &many, base_kib);
    ping_us(scene, &many, false, BURSTS);
    ping_by_turns(scene, &many, false);
    ping_by_turns(scene, &many, true);
    if (scene->turns[0] >= 0)
        tell(scene->turns[0], &(struct turn){ .bursts = 0 }, sizeof(struct turn));
    outcome->value[BUSY_PER_S] =
        2 * BUSY / ping(scene, &many, false, count, BUSY / count, SMALL_OCTETS);
    start_ns = clock_now_ns();
    end_all(scene, &many);
    outcome->value[ENDS_PER_S] = count / seconds_since(start_ns);
    measure_loss(scene, &many, peer);
    return 1;
}
