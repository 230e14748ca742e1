/* SPDX-License-Identifier: MIT */
/*
 * queue.c - overlapped transfers of files, which may end in any order. io_uring does the reads of disk files where
 * the kernel lets us (ring.h), threads of the pool all else. A cancel ends a request that no thread has taken up; for
 * one that the kernel has, it asks the kernel.
 */
#include "win32/files/plain.h"

#include "win32/files/ring.h"

#include "win32/threads/pool.h"

#include "util/log.h"
#include "util/once.h"

#include <errno.h>
#include <ntstatus.h>
#include <stdlib.h>
#include <sys/stat.h>

enum job_kind { JOB_READ, JOB_WRITE };

struct job {
    struct win_request request;
    enum job_kind kind;
    void *buffer; /* not written to by JOB_WRITE */
    uint64_t bytes;
    uint64_t offset;
    DWORD done; /* octets that were moved so far */
    struct ring_op op;
    atomic_bool on_ring; /* a cancel asks the ring, and the ring's completion claims the request */
};

static struct once jobs_once = ONCE_INIT;
static PTP_IO jobs;

static struct job *job_of(struct win_request *request)
{
    return container_of(request, struct job, request);
}

/*
 * While on_ring is set the ring uses the buffer, so no other thread may end the request. One thread sets on_ring, then
 * reads cancelling; the other sets cancelling, then reads on_ring here: so at least one sees the other.
 */
static void job_cancel(struct win_request *request)
{
    if (atomic_load(&job_of(request)->on_ring))
        ring_cancel(&job_of(request)->op);
    else if (win_request_claim(request))
        win_request_end(request, STATUS_CANCELLED, 0);
}

static void job_free(struct win_request *request)
{
    free(job_of(request));
}

static const struct win_request_ops job_ops = { .cancel = job_cancel, .free = job_free };

/* Where a transfer goes. False: it has no place, or other handles have locked octets that it would touch. */
static bool place_checked(const struct job *job, int64_t *offset, LONG *status)
{
    const struct plain_file *plain = win_file_room(job->request.file);
    const bool writes = job->kind == JOB_WRITE;

    *offset = plain->type == FILE_TYPE_DISK ? place_of(plain, job->offset, writes) : PLACE_NONE;
    *status = STATUS_SUCCESS;
    if (*offset == PLACE_INVALID)
        *status = STATUS_INVALID_PARAMETER;
    else if (*offset != PLACE_END && range_check(plain, job->offset, job->bytes, writes))
        *status = STATUS_FILE_LOCK_CONFLICT;
    return !*status;
}

static LONG transfer_ended(const struct job *job, int result, DWORD done)
{
    if (result)
        return files_status(result);
    return job->kind == JOB_READ && !done && job->bytes ? STATUS_END_OF_FILE : STATUS_SUCCESS;
}

/* Does the rest of a transfer. job->done: out. */
static LONG transfer(struct job *job)
{
    const struct plain_file *plain = win_file_room(job->request.file);
    const DWORD left = (DWORD)job->bytes - job->done;
    char *buffer = (char *)job->buffer + job->done;
    int64_t offset;
    DWORD done = 0;
    LONG status;
    int result;

    if (!place_checked(job, &offset, &status))
        return status;
    if (offset >= 0)
        offset += job->done;
    result = job->kind == JOB_WRITE ? plain_write(plain, buffer, left, offset, &done)
                                    : plain_read(plain, buffer, left, offset, &done);
    job->done += done;
    return transfer_ended(job, result, job->done);
}

static VOID CALLBACK job_run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    struct job *job = overlapped;

    (void)instance;
    (void)context;
    (void)error;
    (void)bytes;
    (void)io;
    if (win_request_claim(&job->request)) {
        LONG status = transfer(job);
        win_request_end(&job->request, status, job->done);
    }
    win_request_unref(&job->request);
}

static int jobs_open(void)
{
    jobs = win_pool_open(job_run, NULL, NULL);
    return jobs ? 0 : -ENOMEM;
}

/* A thread of the pool is going to do the job, and has its reference. What the call returns. */
static DWORD job_post(struct job *job)
{
    DWORD error = ERROR_IO_PENDING;

    if (!once_run(&jobs_once, jobs_open) && win_pool_post(jobs, job))
        return ERROR_IO_PENDING;
    if (win_request_claim(&job->request)) /* else a cancel has ended it */
        error = win_request_end_at_once(&job->request, STATUS_NO_MEMORY, 0);
    win_request_unref(&job->request);
    return error;
}

/* Whether a short read ended at the end of the file, by its present size. */
static bool at_end(const struct job *job)
{
    const struct plain_file *plain = win_file_room(job->request.file);
    struct stat status;

    return !fstat(plain->fd, &status) && S_ISREG(status.st_mode) &&
           (uint64_t)status.st_size <= job->offset + job->done;
}

/* Whether the ring's result ends the read; else the pool does the rest, or fails it. */
static bool job_over(const struct job *job, int result)
{
    if (result < 0)
        return result == -EIO;
    return !result || job->done == job->bytes || at_end(job);
}

static void job_ringed(struct ring_op *op, int result)
{
    struct job *job = container_of(op, struct job, op);
    struct win_request *request = &job->request;
    const bool canceled = (result == -ECANCELED || result == -EINTR) && !job->done &&
                          atomic_load(&request->cancelling);

    if (result > 0)
        job->done += (DWORD)result;
    if (canceled || job_over(job, result)) {
        if (win_request_claim(request))
            win_request_end(request,
                canceled ? STATUS_CANCELLED
                         : transfer_ended(job, result < 0 ? result : 0, job->done),
                job->done);
        win_request_unref(request);
        return;
    }
    /* also reads that ended with the thread that began them, were partial, or do not suit a ring */
    atomic_store(&job->on_ring, false);
    if (once_run(&jobs_once, jobs_open) || !win_pool_post(jobs, job)) {
        if (win_request_claim(request))
            win_request_end(request, STATUS_NO_MEMORY, job->done);
        win_request_unref(request);
    }
}

/*
 * Gives a read to the ring. False: the pool has to do it. The pool does all writes, too: for most file systems the
 * kernel hands them to a thread of its own, one at a time. The range is checked here, so that the completion need not.
 */
static bool job_ring(struct job *job)
{
    struct win_request *request = &job->request;
    const struct plain_file *plain = win_file_room(request->file);
    const size_t bytes = job->bytes < RING_MOST ? job->bytes : RING_MOST;
    bool begun = false;
    int64_t offset;
    LONG status;

    if (job->kind != JOB_READ || plain->type != FILE_TYPE_DISK || !ring_there())
        return false;
    atomic_store(&job->on_ring, true);
    /* the pool ends a transfer that has no place */
    if (!atomic_load(&request->cancelling) && place_checked(job, &offset, &status))
        begun = ring_read(&job->op, plain->fd, job->buffer, bytes, offset);
    if (begun)
        return true;
    atomic_store(&job->on_ring, false);
    if (atomic_load(&request->cancelling))
        job_cancel(request); /* the cancel asked the ring, which does not have it */
    return false;
}

static DWORD job_begin(struct win_file *file, struct job like, OVERLAPPED *overlapped)
{
    struct job *job;
    DWORD error;

    if (!(job = malloc(sizeof(*job))))
        return ERROR_NOT_ENOUGH_MEMORY;
    *job = like;
    job->offset = overlapped_offset(overlapped);
    job->op.done = job_ringed;
    atomic_init(&job->on_ring, false);
    /* the reference is the ring's or the pool thread's */
    if ((error = win_request_begin_held(file, &job->request, &job_ops, overlapped))) {
        free(job);
        return error;
    }
    return job_ring(job) ? ERROR_IO_PENDING : job_post(job);
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
