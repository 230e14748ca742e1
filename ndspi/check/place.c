/* SPDX-License-Identifier: MIT */
#include "ndspi/check/place.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#ifdef NDSPI_UNWIND
#include <unwind.h>

struct walk {
    struct nd_check_place *place;
    unsigned found;
    const void *own; /* where this library is mapped */
};

static const void *base_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    const char *address = (const char *)_Unwind_GetIP(context);

    if (!address || walk->found == ND_CHECK_FRAMES)
        return _URC_END_OF_STACK;
    if (walk->found || base_of(address - 1) != walk->own)
        walk->place->frames[walk->found++] = address;
    return _URC_NO_REASON;
}
#endif

static atomic_bool never;

void nd_check_place_here(struct nd_check_place *place)
{
    memset(place, 0, sizeof(*place));
#ifdef NDSPI_UNWIND
    if (nd_check_place_known()) {
        struct walk walk = { .place = place, .own = base_of((const void *)nd_check_place_here) };

        _Unwind_Backtrace(visit, &walk);
    }
#endif
}

void nd_check_place_never(void)
{
    atomic_store_explicit(&never, true, memory_order_relaxed);
}

bool nd_check_place_known(void)
{
#ifdef NDSPI_UNWIND
    return !atomic_load_explicit(&never, memory_order_relaxed);
#else
    return false; /* the compiler's unwinder does not fit the C library */
#endif
}

/* Returns how much was added. The call is the instruction before a return address. */
static size_t add_frame(char *text, size_t room, const void *frame, const char *between)
{
    const char *call = (const char *)frame - 1, *name;
    Dl_info info;
    int length;

    if (!dladdr(call, &info) || !info.dli_fname) {
        length = snprintf(text, room, "%s%p", between, (const void *)call);
    } else {
        name = strrchr(info.dli_fname, '/');
        length = snprintf(text, room, info.dli_sname ? "%s%s+0x%zx (%s)" : "%s%s+0x%zx", between,
            name ? name + 1 : info.dli_fname, (size_t)(call - (const char *)info.dli_fbase),
            info.dli_sname);
    }
    return length < (int)room ? (size_t)length : room - 1;
}

const char *nd_check_place_text(const struct nd_check_place *place, char *text)
{
    size_t used = 0;

    for (unsigned i = 0; i < ND_CHECK_FRAMES && place->frames[i]; i++)
        used +=
            add_frame(text + used, ND_CHECK_PLACE_OCTETS - used, place->frames[i], i ? " < " : "");
    return used ? text : "an unknown place";
}
