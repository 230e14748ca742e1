/* SPDX-License-Identifier: MIT */
#include "ndspi/core/sink_call.h"

/* The file: nothing but its users. */
static struct nd_file_users users = {
    .lock = LOCK_INIT(LOCK_FILE_USERS, "users of calls"),
    .list = { .n = { &users.list.n, &users.list.n } },
};

struct nd_sink_file *nd_sink_calls_file(void)
{
    return (struct nd_sink_file *)&users;
}

static struct nd_sink_file *file_ref(struct nd_sink_file *file)
{
    return file;
}

static void file_unref(struct nd_sink_file *file)
{
    (void)file;
}

static struct nd_file_users *file_users(struct nd_sink_file *file)
{
    return (struct nd_file_users *)file;
}

static HRESULT reserve(struct nd_sink_file *file)
{
    (void)file;
    return ND_SUCCESS;
}

static void unreserve(struct nd_sink_file *file)
{
    (void)file;
}

static void start(struct nd_sink_file *file, OVERLAPPED *request)
{
    (void)file;
    (void)request;
}

static void complete(struct nd_sink_file *file, OVERLAPPED *request, HRESULT status)
{
    struct nd_call *call = (struct nd_call *)(void *)request;

    (void)file;
    call->end(call, status);
}

/* The kernel flavour has no files, and no call that waits for a result. */
const struct nd_sink nd_sink_calls = {
    .file_ref = file_ref,
    .file_unref = file_unref,
    .file_users = file_users,
    .reserve = reserve,
    .unreserve = unreserve,
    .start = start,
    .complete = complete,
};
