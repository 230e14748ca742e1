/* SPDX-License-Identifier: MIT */
/* stop.h - misuse of a kernel primitive that stops Windows with a bug check. */
#ifndef NDK_WDM_STOP_H
#define NDK_WDM_STOP_H

#include "util/log.h"

#include <stdlib.h>

/* Logs what was wrong and ends the program, in every build. */
#define ndk_stop(...)                                                                              \
    do {                                                                                           \
        log_write(LOG_ERROR, LOG_NDK, __VA_ARGS__);                                                \
        abort();                                                                                   \
    } while (0)

#endif
