/* SPDX-License-Identifier: MIT */
/* sink_wine.h - the sink of Windows programs under Wine: Wine's files, events and completion ports. */
#ifndef WINE_SINK_WINE_H
#define WINE_SINK_WINE_H

#include "ndspi/core/sink.h"

extern const struct nd_sink nd_sink_wine;

#endif
