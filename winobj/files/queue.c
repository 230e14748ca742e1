/* SPDX-License-Identifier: MIT */
/*
 * queue.c - overlapped requests on files: threads of the pool do them, so that they may end in any order. Until a
 * thread takes a request up, a cancel ends it; a lock that waits can be cancelled until it is got.
 */
#include "winobj/files/plain.h"

#include "winobj/threads/pool.h"

#include "util/log.h"
#include "util/once.h"

#include <errno.h>
#include <ntstatus.h>
#include <stdlib.h>

enum job_kind { JOB_READ, JOB_WRITE, JOB_LOCK };

struct job {
    struct win_request request;
    enum job_kind kind;
    bool exclusive; /* of a lock */
    void *buffer;   /* of a transfer; not written to by JOB_WRITE */
    uint64_t bytes;
    uint64_t offset;
};

static struct once jobs_once = ONCE_INIT;
static PTP_IO jobs;

static struct job *job_of(struct win_request *request)
{
    return container_of(request, struct job, request);
}

static void job_cancel(struct win_request *request)
{
    if (win_request_claim(request))
        win_request_end(request, STATUS_CANCELLED, 0);
}

static void job_free(struct win_request *request)
{
    free(job_of(request));
}

static const struct win_request_ops job_ops = { .cancel = job_cancel, .free = job_free };

/* The octets of a file that a request of the given size may touch are free of other handles' locks. */
static LONG transfer(const struct job *job, DWORD *done)
{
    const struct plain_file *plain = win_file_room(job->request.file);
    const bool writes = job->kind == JOB_WRITE;
    int64_t offset = plain->type == FILE_TYPE_DISK ? place_of(job->offset, writes) : PLACE_NONE;
    int result;

    if (offset == PLACE_INVALID)
        return STATUS_INVALID_PARAMETER;
    if (range_check(plain, job->offset, job->bytes, writes))
        return STATUS_FILE_LOCK_CONFLICT;
    result = writes ? plain_write(plain, job->buffer, (DWORD)job->bytes, offset, done)
                    : plain_read(plain, job->buffer, (DWORD)job->bytes, offset, done);
    if (result)
        return files_status(result);
    return !writes && !*done && job->bytes ? STATUS_END_OF_FILE : STATUS_SUCCESS;
}

/* A lock that was got after its request was cancelled is given back. */
static void job_lock(struct job *job)
{
    struct win_request *request = &job->request;
    DWORD error = range_lock(request->file, job->offset, job->bytes, job->exclusive, true);

    if (win_request_claim(request))
        win_request_end(request, error ? STATUS_FILE_LOCK_CONFLICT : STATUS_SUCCESS, 0);
    else if (!error)
        range_unlock(request->file, job->offset, job->bytes);
}

static VOID CALLBACK job_run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    struct job *job = overlapped;
    DWORD done = 0;

    (void)instance;
    (void)context;
    (void)error;
    (void)bytes;
    (void)io;
    if (job->kind == JOB_LOCK) {
        job_lock(job);
    } else if (win_request_claim(&job->request)) {
        LONG status = transfer(job, &done);
        win_request_end(&job->request, status, done);
    }
    win_request_unref(&job->request);
}

static int jobs_open(void)
{
    jobs = win_pool_open(job_run, NULL, NULL);
    if (jobs)
        log_write(LOG_INFO, LOG_WIN, "overlapped requests are done by threads of the pool");
    return jobs ? 0 : -ENOMEM;
}

static DWORD job_begin(struct win_file *file, struct job like, OVERLAPPED *overlapped)
{
    struct job *job;
    DWORD error;

    if (once_run(&jobs_once, jobs_open) || !(job = malloc(sizeof(*job))))
        return ERROR_NOT_ENOUGH_MEMORY;
    *job = like;
    job->offset = overlapped_offset(overlapped);
    if ((error = win_request_begin(file, &job->request, &job_ops, overlapped))) {
        free(job);
        return error;
    }
    win_request_ref(&job->request); /* the thread's */
    if (win_pool_post(jobs, job))
        return ERROR_IO_PENDING;
    error = ERROR_IO_PENDING; /* unless a cancel was faster */
    if (win_request_claim(&job->request))
        error = win_request_end_at_once(&job->request, STATUS_NO_MEMORY, 0);
    win_request_unref(&job->request);
    return error;
}

DWORD queue_read(struct win_file *file, void *buffer, DWORD bytes, OVERLAPPED *overlapped)
{
    return job_begin(
        file, (struct job){ .kind = JOB_READ, .buffer = buffer, .bytes = bytes }, overlapped);
}

DWORD queue_write(struct win_file *file, const void *buffer, DWORD bytes, OVERLAPPED *overlapped)
{
    return job_begin(file,
        (struct job){ .kind = JOB_WRITE, .buffer = (void *)(uintptr_t)buffer, .bytes = bytes },
        overlapped);
}

DWORD queue_lock(struct win_file *file, uint64_t bytes, bool exclusive, OVERLAPPED *overlapped)
{
    return job_begin(
        file, (struct job){ .kind = JOB_LOCK, .bytes = bytes, .exclusive = exclusive }, overlapped);
}
