/* SPDX-License-Identifier: MIT */
/* parameters.c - the values that the program sets for its driver. They stay until the end: readers keep them. */
#include "ndk/wdm/parameters.h"

#include <ndkl.h>

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

static struct parameter {
    struct parameter *next;
    const char *value;
    char name[];
} * first;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a leaf: the list */

NTSTATUS NdklSetParameter(const char *name, const char *value)
{
    size_t name_size, value_size;
    struct parameter *made;

    if (!name || !*name || !value)
        return STATUS_INVALID_PARAMETER;
    name_size = strlen(name) + 1;
    value_size = strlen(value) + 1;
    if (!(made = malloc(sizeof(*made) + name_size + value_size)))
        return STATUS_INSUFFICIENT_RESOURCES;
    memcpy(made->name, name, name_size);
    made->value = memcpy(made->name + name_size, value, value_size);
    pthread_mutex_lock(&mutex);
    made->next = first;
    first = made;
    pthread_mutex_unlock(&mutex);
    return STATUS_SUCCESS;
}

const char *ndk_parameter(const char *name)
{
    const char *value = NULL;

    pthread_mutex_lock(&mutex);
    for (const struct parameter *at = first; at && !value; at = at->next)
        if (!strcasecmp(at->name, name))
            value = at->value;
    pthread_mutex_unlock(&mutex);
    return value;
}
