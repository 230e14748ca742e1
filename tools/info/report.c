/* SPDX-License-Identifier: MIT */
/*
 * report.c - lists devices and addresses. It gathers the library's findings as JSON, and prints the JSON, or a text
 * made from it, so that programs and people get the same facts.
 */
#include "address.h"
#include "commands.h"
#include "failure.h"

#include <ndspi_linux.h>
#include <ndsupport.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gathered {
    json_t *adapters, *unusable; /* arrays */
    bool broken;                 /* there was no memory for a row */
};

static void append(struct gathered *gathered, json_t *array, json_t *row)
{
    if (!row || json_array_append_new(array, row))
        gathered->broken = true;
}

static const char *hex64(UINT64 value, char text[24])
{
    snprintf(text, 24, "0x%016" PRIx64, (uint64_t)value);
    return text;
}

static json_t *limits_json(const ND2_ADAPTER_INFO *info)
{
    json_t *limits = json_object();
    struct {
        const char *name;
        UINT64 value;
    } rows[] = {
#define ROW(member) { #member, info->member }
        ROW(MaxRegistrationSize), ROW(MaxWindowSize), ROW(MaxInitiatorSge), ROW(MaxReceiveSge),
        ROW(MaxReadSge), ROW(MaxTransferLength), ROW(MaxInlineDataSize), ROW(MaxInboundReadLimit),
        ROW(MaxOutboundReadLimit), ROW(MaxReceiveQueueDepth), ROW(MaxInitiatorQueueDepth),
        ROW(MaxSharedReceiveQueueDepth), ROW(MaxCompletionQueueDepth), ROW(InlineRequestThreshold),
        ROW(LargeRequestThreshold), ROW(MaxCallerData), ROW(MaxCalleeData)
#undef ROW
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        /* jansson's integers are signed; the largest means "no limit". */
        json_int_t value = rows[i].value > INT64_MAX ? INT64_MAX : (json_int_t)rows[i].value;
        json_object_set_new(limits, rows[i].name, json_integer(value));
    }
    return limits;
}

static json_t *flags_json(ULONG flags)
{
    static const struct {
        ULONG flag;
        const char *text;
    } names[] = {
        { ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED, "in-order-dma" },
        { ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED, "cq-interrupt-moderation" },
        { ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED, "multi-engine" },
        { ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED, "cq-resize" },
        { ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED, "loopback-connections" },
    };
    json_t *array = json_array();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags & names[i].flag)
            json_array_append_new(array, json_string(names[i].text));
    return array;
}

static json_t *notes_json(const ND_LINUX_DEVICE *device)
{
    json_t *array = json_array();

    for (ULONG i = 0; i < device->NoteCount; i++)
        json_array_append_new(array,
            json_pack("{s:s, s:s}", "code", device->Notes[i].Code, "text", device->Notes[i].Text));
    return array;
}

static VOID gather_device(VOID *context, const ND_LINUX_DEVICE *device)
{
    struct gathered *gathered = context;
    char id[24];
    json_t *row = json_pack("{s:s, s:i, s:s, s:s*, s:s, s:s}", "device", device->Name, "port",
        (int)device->Port, "provider", device->Provider, "interface", device->Interface, "code",
        device->Code, "reason", device->Reason);

    if (!row || !device->Used) {
        if (row && device->Remedy)
            json_object_set_new(row, "remedy", json_string(device->Remedy));
        append(gathered, gathered->unusable, row);
        return;
    }
    json_t *more = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:[], s:o, s:o, s:o}", "adapter_id",
        hex64(device->AdapterId, id), "family", device->Family, "transport", device->Transport,
        "firmware", device->Firmware, "vendor_id", (int)device->Info->VendorId, "device_id",
        (int)device->Info->DeviceId, "addresses", "limits", limits_json(device->Info), "flags",
        flags_json(device->Info->AdapterFlags), "notes", notes_json(device));
    if (!more || json_object_update(row, more))
        gathered->broken = true;
    json_decref(more);
    append(gathered, gathered->adapters, row);
}

static json_t *find_adapter(json_t *adapters, const char *id)
{
    json_t *adapter;
    size_t i;

    json_array_foreach(
        adapters, i, adapter) if (!strcmp(json_string_value(json_object_get(adapter, "adapter_id")),
                                      id)) return adapter;
    return NULL;
}

static VOID gather_address(VOID *context, const ND_LINUX_ADDRESS *address)
{
    struct gathered *gathered = context;
    char text[NDINFO_ADDRESS_OCTETS], id[24];
    json_t *adapter = find_adapter(gathered->adapters, hex64(address->AdapterId, id));

    address_text(address->Address, false, text);
    if (address->Used && adapter) {
        append(gathered, json_object_get(adapter, "addresses"),
            json_pack("{s:s, s:s*}", "address", text, "interface", address->Interface));
        return;
    }
    /* The address's device was chosen, but the trial has shown that it does not work. */
    bool failed = address->Used;
    append(gathered, gathered->unusable,
        json_pack("{s:s, s:s*, s:s*, s:s, s:s, s:s*}", "address", text, "interface",
            address->Interface, "device", address->Device, "code",
            failed ? "device-not-used" : address->Code, "reason",
            failed ? "its device does not work" : address->Reason, "remedy",
            failed ? "see the device" : address->Remedy));
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

static bool is_named(json_t *row, const char *key, const char *name)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value && !strcmp(value, name);
}

static bool row_matches(json_t *row, const char *name)
{
    json_t *address;
    size_t i;

    json_array_foreach(
        json_object_get(row, "addresses"), i, address) if (row_matches(address, name)) return true;
    return is_named(row, "device", name) || is_named(row, "interface", name) ||
           is_named(row, "address", name);
}

/* Keeps only the rows that one of the subjects names. */
static void keep_named(json_t *array, char *const *subjects, int count)
{
    for (size_t i = json_array_size(array); i-- > 0;) {
        bool keep = false;
        for (int s = 0; s < count && !keep; s++)
            keep = row_matches(json_array_get(array, i), subjects[s]);
        if (!keep)
            json_array_remove(array, i);
    }
}

static bool any_matches(json_t *array, const char *name)
{
    json_t *row;
    size_t i;

    json_array_foreach(array, i, row) if (row_matches(row, name)) return true;
    return false;
}

static void add_unknown(
    struct gathered *gathered, const char *name, const char *reason, const char *remedy)
{
    if (!any_matches(gathered->adapters, name) && !any_matches(gathered->unusable, name))
        append(gathered, gathered->unusable,
            json_pack("{s:s, s:s, s:s, s:s}", "device", name, "code", "unknown", "reason", reason,
                "remedy", remedy));
}

/* Adds unknown names of NDSPI_DEVICE and of the arguments; then keeps only what the arguments name. */
static void choose(struct gathered *gathered, const char *choice, char *const *subjects, int count)
{
    if (strcmp(choice, "auto") && strcmp(choice, "soft") && strcmp(choice, "all"))
        add_unknown(gathered, choice, "NDSPI_DEVICE names it, but there is no such device",
            "NDSPI_DEVICE=auto, soft, all, or the name of a device; a kernel's device needs its "
            "module loaded (\"rdma link\")");
    for (int s = 0; s < count; s++)
        add_unknown(gathered, subjects[s],
            "no device, network interface or address of this host has this name",
            "\"ndinfo\" without arguments lists all of them");
    if (count) {
        keep_named(gathered->adapters, subjects, count);
        keep_named(gathered->unusable, subjects, count);
    }
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static const char *text_of(json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

/* Whether a limit counts bytes, which the names of lengths do not say. */
static bool is_length(const char *name)
{
    return strstr(name, "Size") || strstr(name, "Length") || strstr(name, "Threshold") ||
           strstr(name, "Data");
}

static void print_limit(const char *name, json_int_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    int unit = 0;

    for (; value >= 1024 && unit < 6 && is_length(name); unit++)
        value /= 1024;
    printf("    %-28s %" JSON_INTEGER_FORMAT, name, bytes);
    if (unit)
        printf(" (%.4g %s)", value, units[unit]);
    printf("\n");
}

static void print_list(const char *title, json_t *array, const char *key)
{
    json_t *entry;
    size_t i;

    printf("  %s:", title);
    json_array_foreach(array, i, entry)
        printf(" %s", key ? text_of(entry, key) : json_string_value(entry));
    printf("\n");
}

static void print_adapter(json_t *adapter)
{
    const char *name;
    json_t *entry;
    size_t i;

    printf("adapter %s: %s port %d (%s, %s, %s)\n", text_of(adapter, "adapter_id"),
        text_of(adapter, "device"), (int)json_integer_value(json_object_get(adapter, "port")),
        text_of(adapter, "provider"), text_of(adapter, "family"), text_of(adapter, "transport"));
    printf("  %s\n", text_of(adapter, "reason"));
    if (json_object_get(adapter, "interface"))
        printf("  network interface: %s\n", text_of(adapter, "interface"));
    print_list("addresses", json_object_get(adapter, "addresses"), "address");
    printf("  firmware: %s, vendor 0x%04x, device 0x%04x\n", text_of(adapter, "firmware"),
        (unsigned)json_integer_value(json_object_get(adapter, "vendor_id")),
        (unsigned)json_integer_value(json_object_get(adapter, "device_id")));
    print_list("flags", json_object_get(adapter, "flags"), NULL);
    printf("  limits:\n");
    json_object_foreach(json_object_get(adapter, "limits"), name, entry)
        print_limit(name, json_integer_value(entry));
    json_array_foreach(json_object_get(adapter, "notes"), i, entry)
        printf("  note: %s\n", text_of(entry, "text"));
}

static void print_unusable(json_t *row)
{
    bool is_address = json_object_get(row, "address");
    json_int_t port = json_integer_value(json_object_get(row, "port"));

    printf("not used: %s %s", is_address ? "address" : "device",
        text_of(row, is_address ? "address" : "device"));
    if (port)
        printf(" port %" JSON_INTEGER_FORMAT, port);
    printf("\n  reason: %s\n", text_of(row, "reason"));
    if (json_object_get(row, "remedy"))
        printf("  remedy: %s\n", text_of(row, "remedy"));
}

static void print_all(const struct gathered *gathered)
{
    json_t *row;
    size_t i;

    json_array_foreach(gathered->adapters, i, row) print_adapter(row);
    json_array_foreach(gathered->unusable, i, row) print_unusable(row);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static int show(struct gathered *gathered, bool json, char *const *subjects, int count)
{
    const char *choice = getenv("NDSPI_DEVICE");
    int status = json_array_size(gathered->adapters) ? 0 : 1;

    if (!choice || !*choice)
        choice = "auto";
    choose(gathered, choice, subjects, count);
    for (int s = 0; s < count; s++)
        if (!any_matches(gathered->adapters, subjects[s]))
            status = 1;
    if (json) {
        json_t *all = json_pack("{s:s, s:s, s:O, s:O}", "version", NDINFO_VERSION, "choice", choice,
            "adapters", gathered->adapters, "unusable", gathered->unusable);
        gathered->broken |= !all || json_dumpf(all, stdout, JSON_INDENT(2)) || puts("") < 0;
        json_decref(all);
    } else {
        print_all(gathered);
    }
    if (status && !count)
        fprintf(stderr, "ndinfo: no adapter can be used%s\n",
            json_array_size(gathered->unusable) ? "" : ", and no device is known");
    return status;
}

int report(const struct options *options, char *const *subjects, int count)
{
    struct gathered gathered = { json_array(), json_array(), false };
    HRESULT hr = NdLinuxDescribeDevices(ND_LINUX_TRY, gather_device, &gathered);
    int status = 1;

    if (SUCCEEDED(hr))
        hr = NdLinuxDescribeAddresses(gather_address, &gathered);
    if (SUCCEEDED(hr))
        status = show(&gathered, options->json, subjects, count);
    if (SUCCEEDED(hr) && gathered.broken)
        hr = ND_NO_MEMORY;
    if (FAILED(hr)) {
        struct failure failure;
        failure_set(&failure, "looking for devices", hr);
        failure_print(&failure);
        status = 1;
    }
    json_decref(gathered.adapters);
    json_decref(gathered.unusable);
    return status;
}
