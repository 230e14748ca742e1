/* SPDX-License-Identifier: MIT */
#include "util/settings.h"

#include "util/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

#define PREFIX "NDSPI_"

/* The names that the libraries read. */
static const char *const names[] = {
    "NDSPI_CHECK",
    "NDSPI_COUNTERS",
    "NDSPI_DEVICE",
    "NDSPI_FILES",
    "NDSPI_LOG",
    "NDSPI_LOG_FILE",
    "NDSPI_SOFT_ANSWER_MS",
    "NDSPI_SOFT_CRC",
    "NDSPI_SOFT_DEVICES",
    "NDSPI_SOFT_PATIENCE_MS",
    "NDSPI_SOFT_SHM",
    "NDSPI_SOFT_SPEAK_MS",
    "NDSPI_STRICT",
    "NDK_FORCE_INLINE_CALLBACK",
    "NDK_FORCE_PENDING",
    "NDK_OPEN_PARTIAL",
    "NDK_VERIFIER",
};

/* The names that scripts, samples and tests read; processes inherit them. Names with NDSPI_TEST_ are the tests' own. */
static const char *const others[] = {
    "NDSPI_ADDRESS",
    "NDSPI_CONFORMANCE_DEVICE",
    "NDSPI_GUEST_CONSOLE",
    "NDSPI_GUEST_CPUS",
    "NDSPI_JOBS",
    "NDSPI_MEET",
    "NDSPI_PEER",
    "NDSPI_PROVIDER",
    "NDSPI_REQUIRE_GUEST",
    "NDSPI_REQUIRE_ROOT",
    "NDSPI_REQUIRE_SLURM",
    "NDSPI_REQUIRE_WINE",
    "NDSPI_WERROR",
    "NDSPI_WINE",
    "NDSPI_WINE_DLLS",
};

enum { NAMES = sizeof(names) / sizeof(names[0]), OTHERS = sizeof(others) / sizeof(others[0]) };

const char *setting_name(size_t index)
{
    return index < NAMES ? names[index] : NULL;
}

size_t setting_index(const char *name)
{
    size_t index = 0;

    while (index < NAMES && strcmp(names[index], name) != 0)
        index++;
    return index;
}

static bool is_in(const char *const *table, size_t count, const char *entry, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i]) == length && !memcmp(table[i], entry, length))
            return true;
    return false;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

const char *setting_unknown(char *const **at)
{
    for (; **at; ++*at) {
        const char *entry = **at;
        size_t length = strcspn(entry, "=");

        if (!begins(entry, PREFIX) || begins(entry, PREFIX "TEST_") ||
            is_in(names, NAMES, entry, length) || is_in(others, OTHERS, entry, length))
            continue;
        ++*at;
        return entry;
    }
    return NULL;
}

/* ---- values ---- */

const char *setting_text(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* Whether no warning of this variable was written yet. */
static bool first_warning(const char *name)
{
    static atomic_bool warned[NAMES + 1];

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
            "%s=%s: expected a number from 0 to %u, in digits alone; ignored", name, text, maximum);
    return fallback;
}

/* Whether the switch is set to this position, '0' or '1'. */
static bool is_at(const char *name, char place)
{
    const char *text = setting_text(name);

    if (!text || ((*text == '0' || *text == '1') && !text[1]))
        return text && *text == place;
    if (first_warning(name))
        log_write(LOG_WARN, LOG_DEVICE, "%s=%s: expected 0 or 1; ignored", name, text);
    return false;
}

bool setting_on(const char *name)
{
    return is_at(name, '1');
}

bool setting_off(const char *name)
{
    return is_at(name, '0');
}

unsigned setting_word(const char *name, const char *const words[])
{
    const char *text = setting_text(name);
    char all[64] = "";

    for (unsigned i = 0; text && words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
        strncat(all, words[i], sizeof(all) - strlen(all) - 1);
    }
    if (text && first_warning(name))
        log_write(LOG_WARN, LOG_DEVICE, "%s=%s: expected one of %s; ignored", name, text, all);
    return 0;
}
