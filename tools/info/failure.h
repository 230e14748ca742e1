/* SPDX-License-Identifier: MIT */
/* failure.h - what failed, why, and what to do. */
#ifndef TOOLS_INFO_FAILURE_H
#define TOOLS_INFO_FAILURE_H

#include <winsock2.h>

#include <jansson.h>
#include <stdbool.h>

/* Connect's code for a destination that is no address of a host. */
#define BAD_NETWORK_NAME ((HRESULT)0xC00000CCu)
/* Bind's code for a port that only privileged processes may have. */
#define ACCESS_DENIED    ((HRESULT)0xC0000022u)

/* What went wrong, for people and for --json. */
struct failure {
    const char *step; /* "Connect"; NULL: nothing failed */
    HRESULT status;   /* ND_SUCCESS: the reason says all */
    char reason[512];
    char remedy[512];
};

/* These return false, so that the caller can return it. */
bool failure_set(struct failure *failure, const char *step, HRESULT status);
bool failure_say(struct failure *failure, const char *step, const char *reason, const char *remedy);
/* Sets why an address of this host has no adapter, in the words of the library. */
bool failure_local(struct failure *failure, const char *step, const struct sockaddr *local);
void failure_print(const struct failure *failure);
/* Returns a new reference. */
json_t *failure_json(const struct failure *failure);

#endif
