/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/announce.h"

#include "ndspi/core/device/provider.h"

#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LIST_OCTETS = 512 };

__attribute__((format(printf, 2, 3))) static void append(
    char list[LIST_OCTETS], const char *format, ...)
{
    size_t length = strlen(list);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(list + length, LIST_OCTETS - length, format, arguments);
    va_end(arguments);
}

static const struct nd_device *next(const struct list_head *devices, const struct nd_device *device)
{
    struct list_node *node = device ? device->link.next : devices->n.next;

    return node == &devices->n ? NULL : list_entry(node, struct nd_device, link);
}

#define for_each_device(device, devices)                                                           \
    for (const struct nd_device *device = NULL; (device = next(devices, device));)

/* Lists the names of the devices that exist, each once, however many ports it has. */
static void list_names(const struct list_head *devices, char list[LIST_OCTETS])
{
    const struct nd_device *before = NULL;

    for_each_device(device, devices)
    {
        if (device->diagnosis.reason == ND_REASON_GONE ||
            device->diagnosis.reason == ND_REASON_MODULE_MISSING ||
            (before && !strcmp(before->name, device->name)))
            continue;
        append(list, " %s", device->name);
        before = device;
    }
}

static void tell_unusable(
    enum log_level level, const char *head, const struct nd_device *device, const char *tail)
{
    char text[ND_DIAGNOSIS_TEXT_OCTETS], remedy[ND_DIAGNOSIS_TEXT_OCTETS];
    const char *advice = nd_diagnosis_remedy(&device->diagnosis, remedy);

    log_write(level, LOG_DEVICE, "%s%s: %s%s%s%s", head, device->name,
        nd_diagnosis_text(&device->diagnosis, text), advice ? "; remedy: " : "",
        advice ? advice : "", tail);
}

/* The device whose diagnosis explains best why no other is used; one that was chosen goes first. */
static const struct nd_device *wanted(const struct list_head *devices, bool hardware)
{
    for_each_device(device, devices)
    {
        switch (device->diagnosis.reason) {
        case ND_REASON_USED:
        case ND_REASON_NOT_CHOSEN:
        case ND_REASON_NOT_NEEDED:
        case ND_REASON_GONE:
        case ND_REASON_MODULE_MISSING: continue;
        default:
            if (!hardware || !device->soft)
                return device;
        }
    }
    return NULL;
}

static void tell_nothing_used(const struct list_head *devices, const char *choice)
{
    const struct nd_device *device = wanted(devices, false);
    char head[128], names[LIST_OCTETS] = "";

    if (device) {
        snprintf(head, sizeof(head), "NDSPI_DEVICE=%s: no device can be used. ", choice);
        tell_unusable(LOG_ERROR, head, device, ". \"ndinfo\" lists all devices");
        return;
    }
    list_names(devices, names);
    if (strcmp(choice, "auto") && strcmp(choice, "soft") && strcmp(choice, "all"))
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_DEVICE=%s: there is no device of this name. There are:%s; or auto, soft, all. "
            "\"ndinfo\" shows more",
            choice, *names ? names : " none");
    else
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_DEVICE=%s: there is no such device. There are:%s. \"ndinfo\" shows more", choice,
            *names ? names : " none");
}

void nd_announce(const struct list_head *devices, const char *choice)
{
    static char told[LIST_OCTETS] = "-"; /* the devices used when the log last named them */
    char used[LIST_OCTETS] = "", text[ND_DIAGNOSIS_TEXT_OCTETS];
    const struct nd_device *hardware = wanted(devices, true);
    bool soft = false, others = false;

    for_each_device(device, devices)
    {
        if (!nd_diagnosis_used(&device->diagnosis))
            continue;
        append(used, " %s/%u", device->name, device->port);
        *(device->soft ? &soft : &others) = true;
    }
    append(used, " %s", choice);
    if (!strcmp(used, told))
        return;
    memcpy(told, used, sizeof(told));
    if (!soft && !others)
        tell_nothing_used(devices, choice);
    else if (!others && hardware && !strcmp(choice, "auto"))
        tell_unusable(LOG_WARN,
            "the embedded device is used, although there is RDMA hardware: ", hardware,
            ". Set NDSPI_DEVICE=soft if that is intended; \"ndinfo\" shows more");
    for_each_device(device, devices)
    {
        log_write(LOG_INFO, LOG_DEVICE, "device %s port %u (%s): %s", device->name, device->port,
            device->verbs->name, nd_diagnosis_text(&device->diagnosis, text));
    }
}
