/* SPDX-License-Identifier: MIT */
/* log.c - see log.h. The environment is read once, when the library is loaded. */
#include "util/log.h"

#include "util/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum log_level log_max_level_ = LOG_WARN;
static unsigned topics_; /* 0 = all */
static FILE *stream_;

static const char *const level_names[] = { "none", "error", "warn", "info", "debug", "trace" };
static const char *const topic_names[] = { "device", "cm", "cq", "qp", "mr", "soft", "win", "wire" };

static const char *topic_name(enum log_topic topic)
{
    return topic_names[__builtin_ctz((unsigned)topic)];
}

static void parse_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strlen(level_names[i]) == length && !strncmp(word, level_names[i], length)) {
            log_max_level_ = (enum log_level)i;
            return;
        }
    }
    for (size_t i = 0; i < sizeof(topic_names) / sizeof(topic_names[0]); i++) {
        if (strlen(topic_names[i]) == length && !strncmp(word, topic_names[i], length)) {
            topics_ |= 1u << i;
            return;
        }
    }
    fprintf(stderr,
        "ndspi: NDSPI_LOG: unknown word \"%.*s\"; levels: none error warn info debug trace; "
        "topics: device cm cq qp mr soft win wire\n",
        (int)length, word);
}

__attribute__((constructor)) static void log_start(void)
{
    const char *spec = getenv("NDSPI_LOG");
    const char *path = getenv("NDSPI_LOG_FILE");

    while (spec && *spec) {
        size_t length = strcspn(spec, ",");
        if (length)
            parse_word(spec, length);
        spec += length;
        spec += *spec == ',';
    }
    if (path && *path && !(stream_ = fopen(path, "ae")))
        fprintf(stderr, "ndspi: NDSPI_LOG_FILE: cannot open %s: %s; logging to standard error\n", path,
            strerror(errno));
}

bool log_wanted_(enum log_level level, enum log_topic topic)
{
    return level <= LOG_WARN || !topics_ || (topics_ & (unsigned)topic);
}

void log_write_(enum log_level level, enum log_topic topic, const char *format, ...)
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
        head = snprintf(line, sizeof(line), "ndspi: %s: %s: ", level_names[level], topic_name(topic));
    }
    va_start(args, format);
    vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
    va_end(args);
    fprintf(stream_ ? stream_ : stderr, "%s\n", line);
    if (stream_)
        fflush(stream_);
    errno = saved_errno;
}
