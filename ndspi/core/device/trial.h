/* SPDX-License-Identifier: MIT */
/*
 * trial.h - opens a device as an adapter does: for an adapter, or only to see whether that works, and why not.
 */
#ifndef NDSPI_CORE_DEVICE_TRIAL_H
#define NDSPI_CORE_DEVICE_TRIAL_H

#include "ndspi/core/device/limits.h"
#include "ndspi/core/device/provider.h"

/*
 * nd_trial_open - open a device and find its limits.
 * recall   in: limits may be those found before in this process
 * port     out: on success for nd_port_fini
 * diagnosis  out: used, or what failed
 * Returns 0 or a negative errno.
 */
int nd_trial_open(const struct nd_device *device, bool recall, struct nd_port *port,
    struct nd_limits *limits, struct nd_diagnosis *diagnosis);

/* Logs why a device cannot be opened, and the remedy. */
void nd_trial_log(const struct nd_device *device, const struct nd_diagnosis *diagnosis);

enum { ND_NOTES_MAX = ND_QUIRK_COUNT + 8, ND_NOTE_TEXT_OCTETS = 512 };

/* What differs from the best a device could do. */
struct nd_note {
    char code[32]; /* never changes, for programs */
    char text[ND_NOTE_TEXT_OCTETS];
};

struct nd_trial {
    struct nd_diagnosis diagnosis;
    ND2_ADAPTER_INFO info; /* this and what follows is valid only if the diagnosis is "used" */
    const char *family, *transport;
    char firmware[64];
    unsigned notes;
    struct nd_note note[ND_NOTES_MAX];
};

/* Opens a device, registers some memory, and closes it. Blocks as long as the device does. */
void nd_trial_run(const struct nd_device *device, struct nd_trial *trial);

#endif
