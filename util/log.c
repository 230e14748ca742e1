/* SPDX-License-Identifier: MIT */
/* log.c - see log.h. The environment is read once, when the library is loaded. */
#include "util/descriptor.h"
#include "util/log.h"

#include "util/clock.h"
#include "util/fork.h"
#include "util/outlet.h"
#include "util/settings.h"
#include "util/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum log_level log_max_level_ = LOG_WARN;
static unsigned topics_; /* 0 = all */
static int outlet_ = STDERR_FILENO;
static atomic_uint missing_; /* lines that the outlet did not take */

static const char *const level_names[] = { "none", "error", "warn", "info", "debug" };
static const char *const topic_names[] = { "device", "cm", "cq", "qp", "mr", "soft", "win", "wire",
    "ndk" };

static const char *topic_name(enum log_topic topic)
{
    return topic_names[__builtin_ctz((unsigned)topic)];
}

/*
 * Whether this is the first copy of this file in the process to complain of the environment. Each library has a copy,
 * and all read the same environment; the variable that the dynamic linker finds first is the one that they share.
 */
__attribute__((visibility("default"))) atomic_bool ndspi_log_complained;

static bool complains(void)
{
    atomic_bool *complained = dlsym(RTLD_DEFAULT, "ndspi_log_complained");

    return !atomic_exchange(complained ? complained : &ndspi_log_complained, true);
}

static bool take_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strlen(level_names[i]) == length && !strncmp(word, level_names[i], length)) {
            log_max_level_ = (enum log_level)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(topic_names) / sizeof(topic_names[0]); i++) {
        if (strlen(topic_names[i]) == length && !strncmp(word, topic_names[i], length)) {
            topics_ |= 1u << i;
            return true;
        }
    }
    return false;
}

static void read_words(const char *spec, bool aloud)
{
    while (*spec) {
        size_t length = strcspn(spec, ",");

        if (length && !take_word(spec, length) && aloud)
            log_write(LOG_WARN, LOG_DEVICE,
                "NDSPI_LOG: unknown word \"%.*s\"; levels: none error warn info debug; topics: "
                "device cm cq qp mr soft win wire ndk",
                (int)length, spec);
        spec += length;
        spec += *spec == ',';
    }
}

/*
 * Only the log uses this open file description, so it may have O_NONBLOCK; with it open fails on a FIFO without a
 * reader. Returns 0 or errno.
 */
static int open_file(const char *path)
{
    const int fd = descriptor_raise(
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));

    if (fd < 0)
        return errno;
    outlet_ = fd;
    return 0;
}

static void complain_of_names(void)
{
    char *const *at = environ;
    char known[512] = "";
    const char *entry;
    size_t length = 0;

    for (size_t i = 0; setting_name(i) && length < sizeof(known); i++)
        length += (size_t)snprintf(known + length, sizeof(known) - length, " %s", setting_name(i));
    while (at && (entry = setting_unknown(&at)))
        log_write(LOG_WARN, LOG_DEVICE, "unknown variable %.*s; the variables are:%s",
            (int)strcspn(entry, "="), entry, known);
}

__attribute__((constructor(200))) static void log_start(void)
{
    const char *spec = getenv("NDSPI_LOG");
    const char *path = getenv("NDSPI_LOG_FILE");
    bool aloud = complains();
    int error;

    if (fcntl(STDERR_FILENO, F_GETFD) < 0)
        outlet_ = -1; /* a connection's descriptor may get the number 2 */
    error = path && *path ? open_file(path) : 0;

    if (spec)
        read_words(spec, aloud);
    if (aloud && error)
        log_write(LOG_WARN, LOG_DEVICE,
            "NDSPI_LOG_FILE: cannot open %s: %s; logging to standard error", path, strerror(error));
    if (aloud)
        complain_of_names();
}

bool log_wanted_(enum log_level level, enum log_topic topic)
{
    return level <= LOG_WARN || !topics_ || (topics_ & (unsigned)topic);
}

bool log_limit_passes(struct log_limit *limit, uint64_t now_ms, unsigned *left_out)
{
    uint64_t period = now_ms / LOG_LIMIT_MS + 1, before = atomic_load(&limit->period);

    if (period > before && atomic_compare_exchange_strong(&limit->period, &before, period))
        atomic_store(&limit->lines, 0);
    if (atomic_fetch_add(&limit->lines, 1) >= LOG_LIMIT_LINES) {
        atomic_fetch_add(&limit->left_out, 1);
        return false;
    }
    *left_out = atomic_exchange(&limit->left_out, 0);
    return true;
}

/* Writes a line, and before it the number of missing lines. Both fit PIPE_BUF, so a pipe takes both or none. */
static void put(const char *line)
{
    char text[1400];
    unsigned missing = atomic_exchange(&missing_, 0);
    int octets = 0;

    if (missing)
        octets = snprintf(text, sizeof(text),
            missing == 1 ? "ndspi: warn: %u line is missing here: the reader was too slow\n"
                         : "ndspi: warn: %u lines are missing here: the reader was too slow\n",
            missing);
    octets += snprintf(text + octets, sizeof(text) - (size_t)octets, "%s\n", line);
    if (!outlet_write(outlet_, text, (size_t)octets))
        atomic_fetch_add(&missing_, missing + 1);
}
_Static_assert(1400 <= PIPE_BUF, "a line is written in one piece");

void log_write_(
    enum log_level level, enum log_topic topic, unsigned left_out, const char *format, ...)
{
    char line[1024];
    int saved_errno = errno;
    int head = 0;
    va_list args;

    if (level >= LOG_INFO && log_max_level_ >= LOG_DEBUG) {
        uint64_t now = clock_now_ns();
        head = snprintf(line, sizeof(line), "ndspi: %s: %s: [%ld %llu.%06llu] ", level_names[level],
            topic_name(topic), syscall(SYS_gettid), (unsigned long long)(now / 1000000000u),
            (unsigned long long)(now / 1000u % 1000000u));
    } else {
        head =
            snprintf(line, sizeof(line), "ndspi: %s: %s: ", level_names[level], topic_name(topic));
    }
    if (left_out)
        head += snprintf(
            line + head, sizeof(line) - (size_t)head, "(%u like this left out) ", left_out);
    va_start(args, format);
    vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
    va_end(args);
    put(line);
    errno = saved_errno;
}

/* ---- sums ---- */

static _Atomic(struct log_limit *) listed_; /* the places that have ever left a line out */
static atomic_bool summing_;                /* the thread runs */

/* Makes the text of a place, with "..." for each argument. It knows printf's own conversions alone. */
static void put_kind(const char *format, char *text, size_t room)
{
    size_t length = 0;

    while (*format && length + 4 < room) {
        if (*format != '%' || format[1] == '%') {
            format += *format == '%';
            text[length++] = *format++;
            continue;
        }
        format += 1 + strspn(format + 1, "-+ #0123456789.*hlzjt");
        format += *format != 0;
        memcpy(text + length, "...", 3);
        length += 3;
    }
    text[length] = 0;
}

bool log_sums_write(bool all)
{
    bool left = false;

    for (struct log_limit *limit = atomic_load(&listed_); limit; limit = limit->next) {
        uint64_t period = atomic_load(&limit->period);
        unsigned left_out;
        char kind[400];

        if (!all && period != limit->summed) {
            limit->summed = period;
            left = left || atomic_load(&limit->left_out);
            continue;
        }
        if (!(left_out = atomic_exchange(&limit->left_out, 0)))
            continue;
        put_kind(limit->format, kind, sizeof(kind));
        log_write_(limit->level, limit->topic, 0, "%u more lines like this were left out: %s",
            left_out, kind);
    }
    return left;
}

static bool any_left_out(void)
{
    for (struct log_limit *limit = atomic_load(&listed_); limit; limit = limit->next)
        if (atomic_load(&limit->left_out))
            return true;
    return false;
}

/* Writes the sums of floods that are over, until there are none. */
static void sum_up(void *unused)
{
    static const struct timespec a_period = { .tv_sec = LOG_LIMIT_MS / 1000 };

    (void)unused;
    do {
        do
            nanosleep(&a_period, NULL);
        while (log_sums_write(false));
        atomic_store(&summing_, false);
        /* A thread that leaves a line out now either saw summing_ set, so its line is seen here, or starts a thread. */
    } while (any_left_out() && !atomic_exchange(&summing_, true));
}

static void forked(void)
{
    atomic_store(&summing_, false);
    for (struct log_limit *limit = atomic_load(&listed_); limit; limit = limit->next)
        atomic_store(&limit->left_out, 0); /* the parent writes the sum of these */
}

FORK_CHILD(forked);

/* Notes that a place has left a line out. counted: how many since the last sum, this one included */
static void leave_out(struct log_limit *limit, enum log_level level, enum log_topic topic,
    const char *format, unsigned counted)
{
    enum { START_TRIED_EVERY = 64 };

    if (!atomic_exchange(&limit->listed, true)) {
        limit->level = level;
        limit->topic = topic;
        limit->format = format;
        limit->next = atomic_load(&listed_);
        while (!atomic_compare_exchange_weak(&listed_, &limit->next, limit))
            ;
    }
    /* If no thread can be started, the next line of the place, or the end of the process, writes the sum. */
    if (counted % START_TRIED_EVERY == 1 && !atomic_exchange(&summing_, true) &&
        thread_start_detached("ndspi-log", sum_up, NULL))
        atomic_store(&summing_, false);
}

bool log_limit_passes_now_(struct log_limit *limit, enum log_level level, enum log_topic topic,
    unsigned *left_out, const char *format)
{
    int error = errno;

    *left_out = 0;
    if (log_max_level_ >= LOG_DEBUG || log_limit_passes(limit, clock_now_ms(), left_out))
        return true;
    leave_out(limit, level, topic, format, atomic_load(&limit->left_out));
    errno = error;
    return false;
}

__attribute__((destructor)) static void sums_end(void)
{
    log_sums_write(true);
}
