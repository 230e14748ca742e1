/* SPDX-License-Identifier: MIT */
/* parameters.c - the values that the program sets for its driver, and those that the driver sets. */
#include "ndk/wdm/parameters.h"

#include <ndkl.h>

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

/* In the order in which they were first set. */
static struct kept {
    struct kept *next;
    struct ndk_parameter value; /* its name and its data follow */
} * first;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a leaf: the list */

/* Stores name and data behind a structure of so many bytes. NULL: no memory. */
static void *make(size_t bytes, size_t value, const struct ndk_parameter *from)
{
    size_t name_size = strlen(from->name) + 1;
    char *made = malloc(bytes + from->bytes + name_size);
    struct ndk_parameter *parameter = (struct ndk_parameter *)(made + value);
    UCHAR *data = (UCHAR *)made + bytes;

    if (!made)
        return NULL;
    *parameter = *from;
    if (from->bytes)
        memcpy(data, from->data, from->bytes);
    parameter->data = data;
    parameter->name = memcpy(data + from->bytes, from->name, name_size);
    return made;
}

/* Where the pointer to it is; to its end, if there is none. */
static struct kept **place_locked(const char *name)
{
    struct kept **at = &first;

    while (*at && strcasecmp((*at)->value.name, name) != 0)
        at = &(*at)->next;
    return at;
}

bool ndk_parameter_set(const char *name, ULONG type, const void *data, ULONG bytes)
{
    const struct ndk_parameter from = { type, bytes, name, data };
    struct kept *made = make(sizeof(*made), offsetof(struct kept, value), &from), *old, **at;

    if (!made)
        return false;
    pthread_mutex_lock(&mutex);
    at = place_locked(name);
    old = *at;
    made->next = old ? old->next : NULL;
    *at = made;
    pthread_mutex_unlock(&mutex);
    free(old);
    return true;
}

bool ndk_parameter_remove(const char *name)
{
    struct kept *old, **at;

    pthread_mutex_lock(&mutex);
    at = place_locked(name);
    if ((old = *at))
        *at = old->next;
    pthread_mutex_unlock(&mutex);
    free(old);
    return old != NULL;
}

struct ndk_parameter *ndk_parameter_copy(const char *name)
{
    struct ndk_parameter *copy = NULL;
    struct kept *found;

    pthread_mutex_lock(&mutex);
    if ((found = *place_locked(name)))
        copy = make(sizeof(*copy), 0, &found->value);
    pthread_mutex_unlock(&mutex);
    return copy;
}

struct ndk_parameter *ndk_parameter_at(ULONG index)
{
    struct ndk_parameter *copy = NULL;
    struct kept *found;

    pthread_mutex_lock(&mutex);
    for (found = first; found && index; found = found->next)
        index--;
    if (found)
        copy = make(sizeof(*copy), 0, &found->value);
    pthread_mutex_unlock(&mutex);
    return copy;
}

NTSTATUS NdklSetParameter(const char *name, const char *value)
{
    if (!name || !*name || !value || strlen(value) >= MAXULONG)
        return STATUS_INVALID_PARAMETER;
    if (!ndk_parameter_set(name, NDK_PARAMETER_TEXT, value, (ULONG)(strlen(value) + 1)))
        return STATUS_INSUFFICIENT_RESOURCES;
    return STATUS_SUCCESS;
}
