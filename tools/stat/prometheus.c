/* SPDX-License-Identifier: MIT */
/*
 * prometheus.c - Prometheus' text format: each metric once, with all of its samples behind its HELP and TYPE. A
 * counter's name ends in _total. The label "source" distinguishes processes of one number. "adapter" distinguishes the
 * adapters of one process by a serial, so that no series continues as another adapter's. "user" names another user's
 * id.
 */
#include "tools/stat/forms.h"

#include "tools/stat/kernel.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Prints a label's value: escapes backslash, quote and the end of a line. */
static void put_value(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else
            fputc(*text, out);
}

static void put_label(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",%s=\"", name);
    put_value(out, text);
    fputc('"', out);
}

/* Prints the labels of an adapter, without the closing brace. */
static void put_labels(FILE *out, const struct stat_row *row)
{
    fprintf(out, "{process=\"%u\"", row->process);
    if (row->user != geteuid())
        fprintf(out, ",user=\"%u\"", row->user);
    put_label(out, "source", row->source);
    put_label(out, "program", row->program);
    put_label(out, "device", row->device);
    fprintf(
        out, ",port=\"%u\",adapter=\"%u\",version=\"%u\"", row->port, row->serial, row->version);
}

static void put_counter(
    FILE *out, const struct stat_snapshot *snapshot, const ND_LINUX_COUNTER *counter)
{
    const char *end = counter->Total ? "_total" : "";

    fprintf(out, "# HELP ndspi_%s%s %s\n# TYPE ndspi_%s%s %s\n", counter->Name, end, counter->Text,
        counter->Name, end, counter->Total ? "counter" : "gauge");
    for (size_t i = 0; i < snapshot->count; i++) {
        fprintf(out, "ndspi_%s%s", counter->Name, end);
        put_labels(out, &snapshot->rows[i]);
        fprintf(out, "} %" PRIu64 "\n", (uint64_t)stat_value(&snapshot->rows[i], counter));
    }
}

static void put_terminates(FILE *out, const struct stat_snapshot *snapshot, bool sent)
{
    const char *name =
        sent ? "ndspi_terminates_sent_by_code_total" : "ndspi_terminates_received_by_code_total";

    fprintf(out, "# HELP %s Terminate messages, by layer, type and code.\n# TYPE %s counter\n",
        name, name);
    for (size_t i = 0; i < snapshot->count; i++)
        for (ULONG k = 0; k < snapshot->rows[i].counters.TerminateCount; k++) {
            const ND_LINUX_TERMINATE *kind = &snapshot->rows[i].counters.Terminates[k];
            char code[STAT_TERMINATE];

            fputs(name, out);
            put_labels(out, &snapshot->rows[i]);
            put_label(out, "code", stat_terminate_text(kind->Code, code));
            fprintf(out, "} %" PRIu64 "\n", (uint64_t)(sent ? kind->Sent : kind->Received));
        }
}

struct port {
    FILE *out;
    const char *device;
    unsigned number;
};

static void put_kernel(void *context, const char *name, uint64_t value)
{
    const struct port *port = context;

    fprintf(port->out, "ndspi_kernel{counter=\"%s\"", name);
    put_label(port->out, "device", port->device);
    fprintf(port->out, ",port=\"%u\"} %" PRIu64 "\n", port->number, value);
}

/* Whether an earlier adapter has the same port. */
static bool was_told(const struct stat_snapshot *snapshot, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(snapshot->rows[i].device, snapshot->rows[index].device) == 0 &&
            snapshot->rows[i].port == snapshot->rows[index].port)
            return true;
    return false;
}

void stat_prometheus(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs)
{
    const ND_LINUX_COUNTER *counter;

    for (ULONG i = 0; (counter = NdLinuxCounter(i)); i++)
        put_counter(out, snapshot, counter);
    put_terminates(out, snapshot, true);
    put_terminates(out, snapshot, false);
    fputs("# HELP ndspi_kernel What the kernel counts of a port, by its own names.\n"
          "# TYPE ndspi_kernel untyped\n",
        out);
    for (size_t i = 0; i < snapshot->count; i++)
        if (!was_told(snapshot, i))
            stat_kernel(sysfs, snapshot->rows[i].device, snapshot->rows[i].port, put_kernel,
                &(struct port){ out, snapshot->rows[i].device, snapshot->rows[i].port });
}
