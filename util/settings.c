/* SPDX-License-Identifier: MIT */
#include "util/settings.h"

#include "util/log.h"
#include "util/setting_names.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

const char *setting_text(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* Whether nobody has been warned of this variable yet. */
static bool first_warning(const char *name)
{
    static atomic_bool warned[SETTINGS_MAX + 1];

    return !atomic_exchange(&warned[setting_index(name)], true);
}

unsigned setting_number(const char *name, unsigned fallback, unsigned maximum)
{
    const char *text = setting_text(name);
    unsigned long number;
    char *end;

    if (!text)
        return fallback;
    errno = 0;
    number = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && number <= maximum)
        return (unsigned)number;
    if (first_warning(name))
        log_write(LOG_WARN, LOG_DEVICE,
            "%s=%s: a number from 0 to %u is wanted, in digits alone; taken as not set", name, text,
            maximum);
    return fallback;
}

bool setting_on(const char *name)
{
    const char *text = setting_text(name);

    if (!text || ((*text == '0' || *text == '1') && !text[1]))
        return text && *text == '1';
    if (first_warning(name))
        log_write(LOG_WARN, LOG_DEVICE, "%s=%s: 0 or 1 is wanted; taken as not set", name, text);
    return false;
}
