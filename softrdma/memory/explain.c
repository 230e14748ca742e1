/* SPDX-License-Identifier: MIT */
/* explain.c - why the STag table refuses an access, in words: srd_stag_explain of stag.h. */
#include "softrdma/memory/table.h"

#include <inttypes.h>
#include <stdio.h>

/* What the log needs of an entry, copied under the table's lock. */
struct view {
    enum srd_stag_error error;
    struct srd_stag_entry entry;
    bool found, was_there;
    bool swapped; /* an entry has the key with its octets in the other order */
};

static bool was_there_locked(const struct srd_stag_table *table, uint32_t key)
{
    for (uint32_t i = 0; i < SRD_STAG_GONE_KEYS && i < table->n_gone; i++)
        if (table->gone[i] == key)
            return true;
    return false;
}

/* NetworkDirect's remote tokens are in network byte order, its local ones are not: programs mix them up. */
static bool is_swapped_locked(struct srd_stag_table *table, uint32_t key)
{
    const struct srd_stag_entry *entry = srd_stag_find_locked(table, __builtin_bswap32(key));

    return entry && entry->key == __builtin_bswap32(key);
}

static void look(
    const struct srd_qp *qp, const struct srd_stag_question *question, struct view *view)
{
    struct srd_stag_table *table = srd_stag_table_of(qp);
    const struct srd_stag_entry *entry;

    lock_acquire(&table->lock);
    entry = srd_stag_find_locked(table, question->key);
    view->error = srd_stag_check_locked(entry, qp, question);
    view->found = entry != NULL;
    view->was_there = !entry && was_there_locked(table, question->key);
    view->swapped = !entry && is_swapped_locked(table, question->key);
    if (entry) {
        view->entry.key = entry->key;
        view->entry.window = entry->window;
        view->entry.by_domain = entry->by_domain;
        view->entry.valid = entry->valid;
        view->entry.used = entry->used;
        view->entry.access = entry->access;
        view->entry.addr = entry->addr;
        view->entry.length = entry->length;
        view->entry.max_pages = entry->max_pages;
    }
    lock_release(&table->lock);
}

static const char *kind_of(const struct srd_stag_entry *entry)
{
    return entry->window ? "window" : entry->max_pages ? "fast region" : "region";
}

/* Explains SRD_STAG_INVALID: no entry has the key, or the access may not use it. */
static void explain_invalid(
    const struct view *view, const struct srd_stag_question *question, char *text, size_t size)
{
    const struct srd_stag_entry *entry = &view->entry;

    if (view->swapped)
        snprintf(text, size, "the token is a %s one, where the %s one is needed",
            question->remote ? "local" : "remote", question->remote ? "remote" : "local");
    else if (!view->found)
        snprintf(text, size, "no region or window has this token%s",
            view->was_there ? " any more: it was deregistered" : "");
    else if (entry->window && !question->remote && !question->invalidate)
        snprintf(text, size, "the token is a window's, which is for peers: use its region's");
    else if (entry->window && !entry->valid)
        snprintf(text, size, "its window is not bound%s",
            entry->used ? " any more: it was invalidated" : " yet");
    else if (entry->window)
        snprintf(
            text, size, "the token is of an earlier Bind of its window, which has another now");
    else if (entry->max_pages && !entry->valid)
        snprintf(text, size, "its fast region is not registered now");
    else
        snprintf(text, size, "no region has this token: its last octet is another one");
}

static void explain_bounds(
    const struct view *view, const struct srd_stag_question *question, char *text, size_t size)
{
    const struct srd_stag_entry *entry = &view->entry;
    char where[64];

    if (question->addr < entry->addr)
        snprintf(where, sizeof(where), "begins %" PRIu64 " bytes in front of it",
            entry->addr - question->addr);
    else if (question->addr - entry->addr >= entry->length)
        snprintf(where, sizeof(where), "begins %" PRIu64 " bytes behind its end",
            question->addr - entry->addr - entry->length);
    else
        snprintf(where, sizeof(where), "ends %" PRIu64 " bytes behind its end",
            question->addr - entry->addr + question->length - entry->length);
    snprintf(text, size, "its %s has %" PRIu64 " bytes at 0x%" PRIx64 ", the range %s",
        kind_of(entry), entry->length, entry->addr, where);
}

static const struct {
    int access;
    const char *name;
} rights[] = {
    { IBV_ACCESS_LOCAL_WRITE, "local write" },
    { IBV_ACCESS_REMOTE_READ, "remote read" },
    { IBV_ACCESS_REMOTE_WRITE, "remote write" },
    { IBV_ACCESS_REMOTE_ATOMIC, "remote atomic" },
    { IBV_ACCESS_MW_BIND, "window bind" },
};

/* Names access rights: "local write, remote read", or "nothing". */
static void name_rights(int access, char *text, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
        if (access & rights[i].access && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", rights[i].name);
    if (!at)
        snprintf(text, size, "local read alone");
}

static void explain_rights(
    const struct view *view, const struct srd_stag_question *question, char *text, size_t size)
{
    const struct srd_stag_entry *entry = &view->entry;
    int missing = question->access & ~entry->access;
    char has[96], needed[48];

    name_rights(entry->access, has, sizeof(has));
    name_rights(missing ? missing : question->access, needed, sizeof(needed));
    if (missing)
        snprintf(text, size, "its %s, %" PRIu64 " bytes at 0x%" PRIx64 ", allows %s; %s is missing",
            kind_of(entry), entry->length, entry->addr, has, needed);
    else
        snprintf(text, size,
            "the memory allows it, the queue pair does not: %s is missing in its access flags",
            needed);
}

bool srd_stag_explain(
    const struct srd_qp *qp, const struct srd_stag_question *question, char *text, size_t size)
{
    struct view view = { 0 };

    look(qp, question, &view);
    switch (view.error) {
    case SRD_STAG_OK:
        snprintf(text, size, "the memory is registered, but not all of it is mapped");
        break;
    case SRD_STAG_BOUNDS: explain_bounds(&view, question, text, size); break;
    case SRD_STAG_RIGHTS: explain_rights(&view, question, text, size); break;
    case SRD_STAG_WRAP: snprintf(text, size, "the range ends behind the highest address"); break;
    case SRD_STAG_STREAM:
        snprintf(text, size, "its %s belongs to another %s", kind_of(&view.entry),
            view.entry.window && !view.entry.by_domain ? "queue pair" : "protection domain");
        break;
    case SRD_STAG_NO_INVALIDATE:
        snprintf(text, size, "the token is a %s's, which a peer may not invalidate",
            kind_of(&view.entry));
        break;
    default: explain_invalid(&view, question, text, size); break;
    }
    return view.error != SRD_STAG_OK;
}
