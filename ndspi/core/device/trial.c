/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/trial.h"

#include "util/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERED_OCTETS = 1 << 16 };

int nd_trial_open(const struct nd_device *device, bool recall, struct nd_port *port,
    struct nd_limits *limits, struct nd_diagnosis *diagnosis)
{
    struct ibv_context *context;
    char file[IBV_SYSFS_NAME_MAX];
    int rc;

    memset(diagnosis, 0, sizeof(*diagnosis));
    snprintf(diagnosis->device, sizeof(diagnosis->device), "%s", device->name);
    context = nd_device_open(device, file);
    if (!context) {
        rc = errno ? errno : ENODEV;
        nd_diagnosis_set_open(diagnosis, rc, file);
        return -rc;
    }
    if ((rc = nd_port_init(port, device->verbs, context, device->port, device->soft))) {
        nd_diagnosis_set_objects(diagnosis, -rc, "first objects");
        device->verbs->close_device(context);
        return rc;
    }
    if (nd_has_quirk(&port->caps, NO_CONNECTIONS)) {
        nd_diagnosis_set(diagnosis, ND_REASON_NO_CONNECTIONS, 0, "%s", "");
        nd_port_fini(port);
        return -EOPNOTSUPP;
    }
    if ((rc = recall ? nd_limits_recall(port, limits) : nd_limits_find(port, limits))) {
        nd_diagnosis_set_objects(diagnosis, -rc, "queues");
        nd_port_fini(port);
    }
    return rc;
}

void nd_trial_log(const struct nd_device *device, const struct nd_diagnosis *diagnosis)
{
    char text[ND_DIAGNOSIS_TEXT_OCTETS], remedy[ND_DIAGNOSIS_TEXT_OCTETS];

    log_write(LOG_ERROR, LOG_DEVICE, "%s port %u cannot serve as an adapter: %s; %s", device->name,
        device->port, nd_diagnosis_text(diagnosis, text), nd_diagnosis_remedy(diagnosis, remedy));
}

static void try_register(const struct nd_port *port, struct nd_diagnosis *diagnosis)
{
    void *memory = aligned_alloc(4096, REGISTERED_OCTETS);
    struct ibv_mr *mr;

    if (!memory) {
        nd_diagnosis_set(diagnosis, ND_REASON_OBJECTS_FAILED, ENOMEM, "memory");
        return;
    }
    mr = port->verbs->reg_mr(port->pd, memory, REGISTERED_OCTETS, IBV_ACCESS_LOCAL_WRITE);
    if (mr)
        port->verbs->dereg_mr(mr);
    else
        nd_diagnosis_set_objects(diagnosis, errno, "registered memory");
    free(memory);
}

__attribute__((format(printf, 3, 4))) static void add_note(
    struct nd_trial *trial, const char *code, const char *format, ...)
{
    struct nd_note *note = &trial->note[trial->notes++];
    va_list arguments;

    for (size_t i = 0; code[i] && i + 1 < sizeof(note->code); i++)
        note->code[i] = code[i] == '_' ? '-' : (char)tolower((unsigned char)code[i]);
    va_start(arguments, format);
    vsnprintf(note->text, sizeof(note->text), format, arguments);
    va_end(arguments);
}

static void add_notes(const struct nd_port *port, bool soft, struct nd_trial *trial)
{
    const struct nd_caps *caps = &port->caps;
    char limit[ND_DIAGNOSIS_DETAIL_OCTETS];

    if (caps->windows != ND_WINDOWS_REAL)
        add_note(trial, "windows-emulated", "Memory windows are emulated: %s.",
            caps->windows == ND_WINDOWS_EXACT
                ? "each is a device's window over a registration of its own"
                : "each is a registration of its own, which takes longer to bind");
    if (!caps->srq)
        add_note(trial, "no-srq", "There are no shared receive queues.");
    if (!soft && nd_memory_lock_limit(limit))
        add_note(trial, "memlock-limit",
            "Registered memory counts against the limit of locked memory, %s (ulimit -l), unless "
            "the process is privileged.",
            limit);
    for (int i = 0; i < ND_QUIRK_COUNT; i++)
        if (caps->quirks & (nd_quirk_set)1 << i)
            add_note(trial, nd_quirk_texts[i].name, "%s %s", nd_quirk_texts[i].wrong,
                nd_quirk_texts[i].done);
}

static const char *transport_of(const struct nd_port *port)
{
    if (port->context->device->transport_type == IBV_TRANSPORT_IWARP)
        return "iWARP";
    return port->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE" : "InfiniBand";
}

void nd_trial_run(const struct nd_device *device, struct nd_trial *trial)
{
    struct nd_limits limits;
    struct nd_port port;

    memset(trial, 0, sizeof(*trial));
    if (nd_trial_open(device, false, &port, &limits, &trial->diagnosis))
        return;
    try_register(&port, &trial->diagnosis);
    nd_limits_describe(&limits, device->adapter_id, &trial->info);
    trial->family = port.caps.family;
    trial->transport = transport_of(&port);
    snprintf(trial->firmware, sizeof(trial->firmware), "%.*s", (int)sizeof(trial->firmware) - 1,
        port.attr.fw_ver);
    add_notes(&port, device->soft, trial);
    nd_port_fini(&port);
}
