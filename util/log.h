/* SPDX-License-Identifier: MIT */
/*
 * log.h - diagnostics that are never compiled out.
 *
 * NDSPI_LOG=LEVEL[,TOPIC...] chooses what is written: none, error, warn (default), info, debug, trace; with topics,
 * levels above warn are limited to them (cm, cq, qp, mr, soft, win, device, wire). NDSPI_LOG_FILE=PATH writes there
 * instead of standard error. A disabled message costs one load and one compare.
 */
#ifndef UTIL_LOG_H
#define UTIL_LOG_H

#include <stdbool.h>

enum log_level { LOG_NONE, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

enum log_topic {
    LOG_DEVICE = 1 << 0,
    LOG_CM = 1 << 1,
    LOG_CQ = 1 << 2,
    LOG_QP = 1 << 3,
    LOG_MR = 1 << 4,
    LOG_SOFT = 1 << 5,
    LOG_WIN = 1 << 6,
    LOG_WIRE = 1 << 7,
};

extern enum log_level log_max_level_; /* read through log_on */

/* Whether a message of this level and topic would be written. */
bool log_wanted_(enum log_level level, enum log_topic topic);

static inline bool log_on(enum log_level level, enum log_topic topic)
{
    return __builtin_expect(level <= log_max_level_, 0) && log_wanted_(level, topic);
}

void log_write_(enum log_level level, enum log_topic topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* log_write(LOG_WARN, LOG_CM, "connect to %s: %s; ...", ...): say what failed, where, and what to do about it. */
#define log_write(level, topic, ...)                                                               \
    do {                                                                                           \
        if (log_on(level, topic))                                                                  \
            log_write_(level, topic, __VA_ARGS__);                                                 \
    } while (0)

#endif
