/* SPDX-License-Identifier: MIT */
/* exceptions.c - devices.h as a table. */
#include "exceptions.h"

#include <stddef.h>
#include <string.h>

#include "devices.h"

#define EXCEPTION_(device, row, result, reason) { #device, row, result, reason },
static const struct exception exceptions[] = { EXCEPTIONS(EXCEPTION_) };

#define DEVICE_(name, text, complete) #name,
static const char *const devices[] = { DEVICES(DEVICE_) };

bool names_row(const char *asked, const char *full_name)
{
    return strcmp(asked, full_name) == 0 || strcmp(asked, strchr(full_name, '.') + 1) == 0;
}

const char *exception_word(enum exception_result result)
{
    static const char *const words[] = { "fails", "in part", "not applicable" };

    return words[result];
}

bool device_is_known(const char *device)
{
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (strcmp(devices[i], device) == 0)
            return true;
    return false;
}

const struct exception *exception_of(const char *device, const char *full_name)
{
    for (size_t i = 0; device && i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (strcmp(exceptions[i].device, device) == 0 && names_row(exceptions[i].row, full_name))
            return &exceptions[i];
    return NULL;
}
