/* SPDX-License-Identifier: MIT */
#include "ndspi/check/strict.h"

#include "ndspi/check/debt.h"
#include "ndspi/core/queue/qp.h"

#include "util/settings.h"

#include <stdio.h>

bool nd_check_strict(void)
{
    return !setting_off("NDSPI_STRICT");
}

const char *nd_check_families(enum nd_quirk quirk, char text[ND_CHECK_FAMILIES_OCTETS])
{
    int at = 0;

    for (size_t i = 0; i < nd_family_count && at < ND_CHECK_FAMILIES_OCTETS; i++)
        if (nd_families[i].quirks & (nd_quirk_set)1 << quirk)
            at += snprintf(text + at, (size_t)(ND_CHECK_FAMILIES_OCTETS - at), "%s%s",
                at ? "; " : "", nd_families[i].name);
    if (at < ND_CHECK_FAMILIES_OCTETS)
        snprintf(text + at, (size_t)(ND_CHECK_FAMILIES_OCTETS - at), " (%s)",
            nd_quirk_texts[quirk].name);
    return text;
}

void nd_check_accepts(const struct nd_check_call *call, const void *qp)
{
    struct nd_checked *checked;

    nd_check_connects(call, qp);
    if (!nd_check_strict())
        return;
    lock_acquire(&nd_check_lock);
    if (qp && (checked = nd_check_find_locked(qp)) && checked->kind->core)
        checked->first_due = true;
    lock_release(&nd_check_lock);
}

/* Returns whether the device says that nothing of the peer's has come. */
static bool has_not_spoken(struct nd_checked *checked)
{
    struct nd_qp *core = checked->kind->core(checked->inner);
    struct nd_rnr rnr;

    return core && nd_qp_rnr(core, &rnr) && !rnr.messages;
}

void nd_check_first(const struct nd_check_call *call, HRESULT hr, enum nd_check_use use)
{
    struct nd_checked *object = call->object;
    char families[ND_CHECK_FAMILIES_OCTETS];
    bool due, silent;

    if (use == ND_CHECK_RECEIVES || FAILED(hr))
        return;
    lock_acquire(&nd_check_lock);
    due = object->first_due;
    lock_release(&nd_check_lock);
    if (!due)
        return;
    silent = has_not_spoken(object);
    lock_acquire(&nd_check_lock);
    object->first_due = false;
    if (silent)
        nd_check_report_locked(ND_CHECK_FIRST, call->name, object->kind->name, object,
            "its connection was accepted, and nothing of the peer's has come yet; that breaks it "
            "on "
            "%s",
            nd_check_families(ND_QUIRK_ACTIVE_FIRST, families));
    lock_release(&nd_check_lock);
}
