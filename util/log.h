/* SPDX-License-Identifier: MIT */
/*
 * log.h - diagnostics that are never compiled out.
 *
 * NDSPI_LOG=LEVEL[,TOPIC...] chooses what is written: none, error, warn (default), info, debug; with topics, levels
 * above warn are limited to them (cm, cq, qp, mr, soft, win, device, wire, ndk). NDSPI_LOG_FILE=PATH writes there
 * instead of standard error. A disabled message costs one load and one compare.
 *
 * Writing never blocks: a line that standard error does not accept at once is dropped, and the next line that it
 * accepts is preceded by the number of dropped ones.
 */
#ifndef UTIL_LOG_H
#define UTIL_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_NONE, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_topic {
    LOG_DEVICE = 1 << 0,
    LOG_CM = 1 << 1,
    LOG_CQ = 1 << 2,
    LOG_QP = 1 << 3,
    LOG_MR = 1 << 4,
    LOG_SOFT = 1 << 5,
    LOG_WIN = 1 << 6,
    LOG_WIRE = 1 << 7,
    LOG_NDK = 1 << 8,
};

extern enum log_level log_max_level_; /* read through log_on */

/* Whether a message of this level and topic would be written. */
bool log_wanted_(enum log_level level, enum log_topic topic);

static inline bool log_on(enum log_level level, enum log_topic topic)
{
    return __builtin_expect(level <= log_max_level_, 0) && log_wanted_(level, topic);
}

/* left_out  in: how many lines of this place the limit dropped since the last one written */
void log_write_(enum log_level level, enum log_topic topic, unsigned left_out, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

/* The number of lines that one place in the code may write in this time. */
enum { LOG_LIMIT_LINES = 10, LOG_LIMIT_MS = 5000 };

/* The limit of one place in the code; all zeros at first. */
struct log_limit {
    _Atomic uint64_t period; /* number of the period of LOG_LIMIT_MS that is counted, from 1 on */
    atomic_uint lines, left_out;
    atomic_bool listed; /* it has left a line out, so the members below are set and stay */
    enum log_level level;
    enum log_topic topic;
    const char *format;
    uint64_t summed; /* the period in which log_sums_write looked at this place last */
    struct log_limit *next;
};

/*
 * log_limit_passes - whether one more line of a place is written now.
 * now_ms    in: clock_now_ms
 * left_out  out: on true, how many lines were dropped since the last one written; each is counted once
 * Threads: any.
 */
bool log_limit_passes(struct log_limit *limit, uint64_t now_ms, unsigned *left_out);

/*
 * log_sums_write - writes the sum of each place that has left lines out and had no line since the call before: how many
 * lines, and what they look like. The first line that is left out starts a thread, which calls it every LOG_LIMIT_MS;
 * the end of the process calls it, too.
 * all  in: whether to write the sums of the places that had lines since, too
 * Returns whether any place still has lines left out that no sum counts.
 * Threads: one at a time, unless all.
 */
bool log_sums_write(bool all);

/* log_limit_passes at the present time, for a place whose sums are written. At NDSPI_LOG=debug it is always true. */
bool log_limit_passes_now_(struct log_limit *limit, enum log_level level, enum log_topic topic,
    unsigned *left_out, const char *format);

/* Expands to the first of its arguments. */
#define LOG_FORMAT_(...)       LOG_FIRST_(__VA_ARGS__, 0)
#define LOG_FIRST_(first, ...) first

/*
 * log_limited - writes a line that a peer can cause, or a program repeat without end: at most LOG_LIMIT_LINES lines of
 * this place in LOG_LIMIT_MS. The next line written says how many were left out; when none follows, a sum does. The
 * arguments of a line that is left out are not evaluated.
 */
#define log_limited(level, topic, ...)                                                             \
    do {                                                                                           \
        static struct log_limit log_limit_;                                                        \
        unsigned log_left_out_;                                                                    \
        if (log_on(level, topic) && log_limit_passes_now_(&log_limit_, level, topic,               \
                                        &log_left_out_, LOG_FORMAT_(__VA_ARGS__)))                 \
            log_write_(level, topic, log_left_out_, __VA_ARGS__);                                  \
    } while (0)

/*
 * log_write(LOG_WARN, LOG_CM, "connect to %s: %s; ...", ...): say what failed, where, and what to do about it. Lines of
 * levels that are on by default are limited as by log_limited, since a flood of causes may reach any line.
 */
#define log_write(level, topic, ...)                                                               \
    do {                                                                                           \
        static struct log_limit log_limit_;                                                        \
        unsigned log_left_out_ = 0;                                                                \
        if (log_on(level, topic) &&                                                                \
            ((level) > LOG_WARN || log_limit_passes_now_(&log_limit_, level, topic,                \
                                       &log_left_out_, LOG_FORMAT_(__VA_ARGS__))))                 \
            log_write_(level, topic, log_left_out_, __VA_ARGS__);                                  \
    } while (0)

#endif
