/* SPDX-License-Identifier: MIT */
/* named.c - whether a new object has a name, and who has those (named.h). */
#include "winobj/waits/named.h"

#include "util/log.h"

#include <stdlib.h>

const struct win_named_ops *_Atomic win_named;

void win_named_register(const struct win_named_ops *ops)
{
    win_named = ops;
}

HANDLE win_waitable_create(struct win_waitable *waitable, const struct win_object_type *type,
    const struct win_named_new *how)
{
    if (!win_named_wanted(how))
        return win_waitable_open(waitable, type);
    if (win_named)
        return win_handle_attribute(win_named->create(waitable, type, how), how->attributes);
    log_limited(LOG_ERROR, LOG_WIN,
        "an object with a name, or one to be inherited, needs libndwin32, which is not loaded: "
        "link "
        "the program with what pkg-config or CMake says of ndspi");
    free(waitable);
    SetLastError(ERROR_NOT_SUPPORTED);
    return NULL;
}

DWORD win_waitable_carry(struct win_object *object, struct win_parcel *parcel)
{
    const struct win_waitable *waitable = (struct win_waitable *)object;

    return waitable->name < 0 ? ERROR_NOT_SUPPORTED : win_named->carry(waitable, parcel);
}
