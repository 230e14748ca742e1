/* SPDX-License-Identifier: MIT */
/* table.c - ndstat's output for people. */
#include "tools/stat/forms.h"

#include "tools/stat/kernel.h"

#include <inttypes.h>
#include <string.h>

const char *stat_terminate_text(ULONG code, char text[STAT_TERMINATE])
{
    snprintf(text, STAT_TERMINATE, "%x/%x/%02x", (unsigned)code >> 12 & 15,
        (unsigned)code >> 8 & 15, (unsigned)code & 255);
    return text;
}

static const char *version_text(ULONG version)
{
    return version == 3 ? "NDKPI" : version == 1 ? "version 1" : "version 2";
}

static void print_kernel(void *context, const char *name, uint64_t value)
{
    fprintf(context, "  kernel %-32s %20" PRIu64 "\n", name, value);
}

static void print_row(FILE *out, const struct stat_row *row, const char *sysfs, bool all)
{
    const ND_LINUX_COUNTER *counter;
    char owner[STAT_OWNER];

    fprintf(out, "%s%s[%u]  %s port %u, %s%s\n", stat_owner_text(row->user, owner), row->program,
        row->process, row->device, row->port, version_text(row->version),
        row->fresh ? "" : "  (does not answer: its last figures)");
    for (ULONG i = 0; (counter = NdLinuxCounter(i)); i++)
        if (all || stat_value(row, counter))
            fprintf(
                out, "  %-39s %20" PRIu64 "\n", counter->Name, (uint64_t)stat_value(row, counter));
    for (ULONG i = 0; i < row->counters.TerminateCount; i++) {
        const ND_LINUX_TERMINATE *kind = &row->counters.Terminates[i];
        char code[STAT_TERMINATE];

        stat_terminate_text(kind->Code, code);
        fprintf(out, "  terminates_sent %-23s %20" PRIu64 "\n", code, (uint64_t)kind->Sent);
        fprintf(out, "  terminates_received %-19s %20" PRIu64 "\n", code, (uint64_t)kind->Received);
    }
    stat_kernel(sysfs, row->device, row->port, print_kernel, out);
}

void stat_table(FILE *out, const struct stat_snapshot *snapshot, const char *sysfs, bool all)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (i)
            fputc('\n', out);
        print_row(out, &snapshot->rows[i], sysfs, all);
    }
}

/* Prints the title. A terminal of 80 columns has room for a line, unless names are long. */
void stat_rates_title(FILE *out)
{
    fprintf(out, "%-18s %-10s %7s %7s %7s %7s %7s %5s %4s\n", "process", "device", "in B/s",
        "out B/s", "in f/s", "out f/s", "req/s", "conns", "errs");
}

/* Returns the growth of a counter; 0 if it is less than before, which a process of this library never shows. */
static UINT64 growth(UINT64 before, UINT64 now)
{
    return now > before ? now - before : 0;
}

enum { RATE = 8 };

/* Writes the growth per second: "1234", "12.3k", "1.23M". */
static const char *rate(UINT64 before, UINT64 now, double seconds, char text[RATE])
{
    double value = seconds > 0 ? (double)growth(before, now) / seconds : 0;
    const char *unit = "";

    for (const char *next = "kMGTPE"; value >= 9999.5 && *next; value /= 1000)
        unit = next++;
    snprintf(text, RATE, "%.*f%.1s",
        !*unit || value >= 999.95 ? 0
        : value >= 99.95          ? 1
                                  : 2,
        value, unit);
    return text;
}

static UINT64 requests_of(const ND_LINUX_COUNTERS *counters)
{
    return counters->Sends + counters->Reads + counters->Writes + counters->OtherRequests;
}

static UINT64 errors_of(const ND_LINUX_COUNTERS *counters)
{
    return counters->ConnectionErrors + counters->CompletionQueueErrors +
           counters->FailedConnectionAttempts;
}

void stat_rates(FILE *out, const struct stat_snapshot *earlier, const struct stat_snapshot *now)
{
    double seconds = (double)(now->taken_ns - earlier->taken_ns) / 1e9;

    for (size_t i = 0; i < now->count; i++) {
        const struct stat_row *row = &now->rows[i], *before = stat_before(earlier, row);
        const ND_LINUX_COUNTERS none = { 0 }, *to = &row->counters;
        const ND_LINUX_COUNTERS *from = before ? &before->counters : &none;
        char name[STAT_OWNER + STAT_NAME + 16], owner[STAT_OWNER], texts[5][RATE];

        snprintf(name, sizeof(name), "%s%s[%u]%s", stat_owner_text(row->user, owner), row->program,
            row->process, row->fresh ? "" : "!");
        fprintf(out, "%-18s %-10s %7s %7s %7s %7s %7s %5" PRIu64 " %4" PRIu64 "\n", name,
            row->device, rate(from->InboundBytes, to->InboundBytes, seconds, texts[0]),
            rate(from->OutboundBytes, to->OutboundBytes, seconds, texts[1]),
            rate(from->InboundFrames, to->InboundFrames, seconds, texts[2]),
            rate(from->OutboundFrames, to->OutboundFrames, seconds, texts[3]),
            rate(requests_of(from), requests_of(to), seconds, texts[4]),
            (uint64_t)to->ActiveConnections, (uint64_t)growth(errors_of(from), errors_of(to)));
    }
}
