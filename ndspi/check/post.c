/* SPDX-License-Identifier: MIT */
#include "ndspi/check/post.h"

#include "ndspi/check/debt.h"
#include "ndspi/check/strict.h"

#include <string.h>

/* Returns how many entries the queue takes that the list is for. */
static size_t most_entries(const struct nd_check_call *call, const struct nd_check_list *list)
{
    const struct nd_check_limits *limits = &call->object->limits;

    return list->use == ND_CHECK_RECEIVES ? limits->receive_entries : limits->initiator_entries;
}

/* Returns whether an entry of version 1 has no region, in a request that may have such entries. */
static bool is_inline(const struct nd_check_list *list, const struct nd_check_entry *entry)
{
    return !list->v2 && !entry->name && list->use == ND_CHECK_READS;
}

/* Checks no more entries than the queue takes: the call refuses a longer list unread. */
void nd_check_list(const struct nd_check_call *call, const struct nd_check_list *list)
{
    size_t most = most_entries(call, list);

    for (size_t i = 0; nd_check_list_names(list) && list->n <= most && i < list->n; i++) {
        const struct nd_check_entry entry = nd_check_list_entry(list, i);

        if (!is_inline(list, &entry))
            nd_check_entry(call, (unsigned)i, &entry, list->use);
    }
    nd_check_order(call, list->use == ND_CHECK_RECEIVES);
}

#define REPORT(rule, ...)                                                                          \
    nd_check_report_locked(                                                                        \
        ND_CHECK_##rule, call->name, call->object->kind->name, call->object, __VA_ARGS__)

/* Such a line does not end the program, as those of returned.h do not. */
#define EXPLAIN(rule, ...)                                                                         \
    nd_check_tell_locked(                                                                          \
        ND_CHECK_##rule, call->name, call->object->kind->name, call->object, __VA_ARGS__)

/* Version 1: only a few lists that mix both kinds of entries may be pending. */
static bool is_mixed(const struct nd_check_list *list)
{
    size_t inlines = 0;

    for (size_t i = 0; list->v1 && i < list->n; i++)
        inlines += !list->v1[i].hMr;
    return inlines && inlines < list->n;
}

static void report_full_locked(const struct nd_check_call *call, const struct nd_check_list *list)
{
    const struct nd_check_limits *limits = &call->object->limits;
    bool receives = list->use == ND_CHECK_RECEIVES;

    if (!is_mixed(list))
        REPORT(DEPTH, "the results of all %zu requests of its %s queue are not fetched yet",
            receives ? limits->receives : limits->initiators, receives ? "receive" : "initiator");
}

static void report_long_locked(const struct nd_check_call *call, const struct nd_check_list *list)
{
    size_t total = 0, inlines = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct nd_check_entry entry = nd_check_list_entry(list, i);

        total += entry.length;
        if (is_inline(list, &entry) || (list->flags & ND_OP_FLAG_INLINE))
            inlines += entry.length;
    }
    if (inlines > call->object->limits.inline_octets)
        REPORT(LONG, "%zu bytes are inline, and it was made for %zu", inlines,
            call->object->limits.inline_octets);
    else
        REPORT(LONG, "%zu bytes are more than its adapter takes", total);
}

static void report_unconnected_locked(const struct nd_check_call *call)
{
    const struct nd_checked *debtor = nd_check_debtor_locked(call->object);

    if (debtor)
        REPORT(CONNECTED, "CompleteConnect of %s %p, whose Connect has ended, was not called",
            debtor->kind->name, (const void *)debtor);
    else
        REPORT(CONNECTED, "it is not connected");
}

/* Send has its flags as the fourth argument; Read and Write as the sixth. */
static bool is_of_flags(HRESULT hr)
{
    return hr == ND_INVALID_PARAMETER_4 || hr == ND_INVALID_PARAMETER_6;
}

static void report_flags_locked(const struct nd_check_call *call, const struct nd_check_list *list)
{
    ULONG takes = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE;

    if (list->use != ND_CHECK_FETCHES)
        takes |= ND_OP_FLAG_INLINE;
    if (strstr(call->name, "::Send"))
        takes |= ND_OP_FLAG_SEND_AND_SOLICIT_EVENT;
    if (list->flags & ~takes)
        EXPLAIN(FLAGS, "flags 0x%x, and it takes no 0x%x", (unsigned)list->flags,
            (unsigned)(list->flags & ~takes));
}

void nd_check_posted(const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list)
{
    lock_acquire(&nd_check_lock);
    if (hr == ND_NO_MORE_ENTRIES)
        report_full_locked(call, list);
    else if (hr == ND_CONNECTION_INVALID)
        report_unconnected_locked(call);
    else if (hr == ND_DATA_OVERRUN && list->n > most_entries(call, list))
        REPORT(ENTRIES, "%zu entries, and it was made for %zu", list->n, most_entries(call, list));
    else if (hr == ND_BUFFER_OVERFLOW && (list->v1 || list->v2))
        report_long_locked(call, list);
    else if (hr == ND_INVALID_DEVICE_REQUEST && list->use == ND_CHECK_FETCHES)
        EXPLAIN(NO_READS, "its connection allows no Read: this end's outbound limit is 0, or the "
                          "peer's inbound one");
    else if (is_of_flags(hr))
        report_flags_locked(call, list);
    lock_release(&nd_check_lock);
    nd_check_taken(call, hr, list);
    nd_check_first(call, hr, list->use);
}
