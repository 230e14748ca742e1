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

/* log_write(LOG_WARN, LOG_CM, "connect to %s: %s; ...", ...): say what failed, where, and what to do about it. */
#define log_write(level, topic, ...)                                                               \
    do {                                                                                           \
        if (log_on(level, topic))                                                                  \
            log_write_(level, topic, 0, __VA_ARGS__);                                              \
    } while (0)

/* The number of lines that one place in the code may write in this time. */
enum { LOG_LIMIT_LINES = 10, LOG_LIMIT_MS = 5000 };

/* Of one place; all zeros at first. */
struct log_limit {
    _Atomic uint64_t period; /* since which the lines are counted: LOG_LIMIT_MS each, from 1 on */
    atomic_uint lines, left_out;
};

/*
 * log_limit_passes - whether one more line of a place is written now.
 * now_ms    in: clock_now_ms
 * left_out  out: on true, how many were dropped since the last one written; each is counted once
 * Threads: any.
 */
bool log_limit_passes(struct log_limit *limit, uint64_t now_ms, unsigned *left_out);

/* The same with the clock; at NDSPI_LOG=debug always true, so no line is left out. */
bool log_limit_passes_now_(struct log_limit *limit, unsigned *left_out);

/*
 * log_limited - log_write for what a peer can cause, and for what a program may repeat without end: at most
 * LOG_LIMIT_LINES lines of this place in LOG_LIMIT_MS. The next line written says how many were left out. The arguments
 * of those are not evaluated.
 */
#define log_limited(level, topic, ...)                                                             \
    do {                                                                                           \
        static struct log_limit log_limit_;                                                        \
        unsigned log_left_out_;                                                                    \
        if (log_on(level, topic) && log_limit_passes_now_(&log_limit_, &log_left_out_))            \
            log_write_(level, topic, log_left_out_, __VA_ARGS__);                                  \
    } while (0)

#endif
