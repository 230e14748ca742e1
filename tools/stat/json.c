/* SPDX-License-Identifier: MIT */
/* json.c - ndstat's output for programs: {"version", "adapters": [{..., "counters", "terminates", "kernel"}]}. */
#include "tools/stat/forms.h"

#include "tools/stat/kernel.h"

#include <jansson.h>

/* Makes an integer, which is signed in jansson. */
static json_t *integer(UINT64 value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void add_kernel(void *context, const char *name, uint64_t value)
{
    json_object_set_new(context, name, integer(value));
}

static json_t *counters_json(const struct stat_row *row)
{
    json_t *object = json_object();
    const ND_LINUX_COUNTER *counter;

    for (ULONG i = 0; (counter = NdLinuxCounter(i)); i++)
        json_object_set_new(object, counter->Name, integer(stat_value(row, counter)));
    return object;
}

static json_t *terminates_json(const struct stat_row *row)
{
    json_t *array = json_array();

    for (ULONG i = 0; i < row->counters.TerminateCount; i++) {
        const ND_LINUX_TERMINATE *kind = &row->counters.Terminates[i];
        char code[STAT_TERMINATE];

        json_array_append_new(
            array, json_pack("{s:s, s:o, s:o}", "code", stat_terminate_text(kind->Code, code),
                       "sent", integer(kind->Sent), "received", integer(kind->Received)));
    }
    return array;
}

static json_t *row_json(const struct stat_row *row, const char *sysfs)
{
    json_t *kernel = json_object();

    stat_kernel(sysfs, row->device, row->port, add_kernel, kernel);
    return json_pack("{s:I, s:I, s:s, s:s, s:i, s:s, s:i, s:i, s:b, s:o, s:o, s:o}", "process",
        (json_int_t)row->process, "user", (json_int_t)row->user, "program", row->program, "source",
        row->source, "adapter", (int)row->serial, "device", row->device, "port", (int)row->port,
        "version", (int)row->version, "fresh", row->fresh, "counters", counters_json(row),
        "terminates", terminates_json(row), "kernel", kernel);
}

int stat_json(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs, unsigned indent)
{
    json_t *adapters = json_array();
    json_t *object;
    int failed = 0;

    for (size_t i = 0; i < snapshot->count && !failed; i++)
        failed = json_array_append_new(adapters, row_json(&snapshot->rows[i], sysfs));
    object = json_pack("{s:s, s:o}", "version", NDSTAT_VERSION, "adapters", adapters);
    failed = failed || !object ||
             json_dumpf(object, out, indent ? JSON_INDENT(indent) : JSON_COMPACT) ||
             fputc('\n', out) == EOF;
    json_decref(object);
    return failed ? -1 : 0;
}
