/* SPDX-License-Identifier: MIT */
/* value.h - values of the registry in the form that drivers know, for each width of wchar_t. */
#ifndef NDK_WDM_VALUE_H
#define NDK_WDM_VALUE_H

#include "ndk/wdm/parameters.h"

#include <errno.h>
#include <stdlib.h>

struct ndk_value {
    ULONG type, bytes;
    const void *data;
    ULONG number;
    WCHAR *made; /* free releases it */
};

/* False: it is longer than a name can be, or not of ASCII. */
static inline bool ndk_value_name(
    const WCHAR *text, size_t bytes, char narrow[NDK_PARAMETER_NAME_MOST + 1])
{
    size_t count = bytes / sizeof(WCHAR), i;

    for (i = 0; i < count && i < NDK_PARAMETER_NAME_MOST && text[i] > 0 && text[i] < 0x80; i++)
        narrow[i] = (char)text[i];
    narrow[i] = '\0';
    return i == count;
}

static inline bool ndk_value_number(const char *text, ULONG *number)
{
    unsigned long long parsed;
    char *end;

    errno = 0;
    parsed = strtoull(text, &end, 0);
    *number = (ULONG)parsed;
    return *text >= '0' && *text <= '9' && !*end && !errno && parsed <= MAXULONG;
}

/* What the program has set is REG_DWORD if it is a number, else REG_SZ. False: no memory. */
static inline bool ndk_value_of(const struct ndk_parameter *parameter, struct ndk_value *value)
{
    const char *text = (const char *)parameter->data;

    *value = (struct ndk_value){
        .type = parameter->type, .bytes = parameter->bytes, .data = parameter->data
    };
    if (parameter->type != NDK_PARAMETER_TEXT)
        return true;
    if (ndk_value_number(text, &value->number)) {
        value->type = REG_DWORD;
        value->data = &value->number;
        value->bytes = sizeof(value->number);
        return true;
    }
    if (parameter->bytes > MAXULONG / sizeof(WCHAR) ||
        !(value->made = malloc(parameter->bytes * sizeof(WCHAR))))
        return false;
    for (ULONG i = 0; i < parameter->bytes; i++)
        value->made[i] = (WCHAR)parameter->data[i];
    value->type = REG_SZ;
    value->data = value->made;
    value->bytes = (ULONG)(parameter->bytes * sizeof(WCHAR));
    return true;
}

#endif
