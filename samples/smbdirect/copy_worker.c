/* SPDX-License-Identifier: MIT */
/*
 * copy_worker.c - the thread that reads, writes and hashes a connection's files. Jobs are done in the order in which
 * they are given; each is a piece of the file, whose bytes its giver leaves alone until the job has ended.
 */
#include "copy.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct copy_worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t given; /* a job, or the end */
    pthread_cond_t ended; /* a job */
    struct copy_job *first, **last;
    bool ends;
    /* Of the file; the worker's while there are jobs: */
    struct copy_sum sum;
    int fd;
    enum copy_way way;
    int error; /* of the first job that failed: those behind it are not done */
};

static int do_job(struct copy_worker *worker, const struct copy_job *job)
{
    int error;

    if (worker->way == COPY_FROM_FILE)
        error = copy_read(worker->fd, job->data, job->length, job->offset);
    else
        error = copy_write(worker->fd, job->data, job->length, job->offset);
    if (!error)
        copy_sum_add(&worker->sum, job->data, job->length);
    return error;
}

static void *work(void *argument)
{
    struct copy_worker *worker = argument;

    pthread_mutex_lock(&worker->mutex);
    for (;;) {
        struct copy_job *job = worker->first;
        int error = worker->error;

        if (!job && worker->ends)
            break;
        if (!job) {
            pthread_cond_wait(&worker->given, &worker->mutex);
            continue;
        }
        pthread_mutex_unlock(&worker->mutex);
        if (!error)
            error = do_job(worker, job);
        pthread_mutex_lock(&worker->mutex);
        worker->first = job->next;
        if (!worker->first)
            worker->last = &worker->first;
        if (!worker->error)
            worker->error = error;
        job->error = worker->error;
        job->ended = true;
        pthread_cond_signal(&worker->ended); /* one thread gives and waits */
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

static struct copy_worker *start(struct copy_worker *worker)
{
    worker->last = &worker->first;
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->given, NULL);
    pthread_cond_init(&worker->ended, NULL);
    if (copy_sum_init(&worker->sum)) {
        if (!pthread_create(&worker->thread, NULL, work, worker)) {
            pthread_setname_np(worker->thread, "smbdcopy-file");
            return worker;
        }
        copy_sum_free(&worker->sum);
    }
    pthread_cond_destroy(&worker->ended);
    pthread_cond_destroy(&worker->given);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
    return NULL;
}

struct copy_worker *copy_worker_start(void)
{
    struct copy_worker *worker = calloc(1, sizeof(*worker));

    return worker ? start(worker) : NULL;
}

void copy_worker_stop(struct copy_worker *worker)
{
    copy_worker_drop(worker);
    pthread_mutex_lock(&worker->mutex);
    worker->ends = true;
    pthread_cond_signal(&worker->given);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    copy_sum_free(&worker->sum);
    pthread_cond_destroy(&worker->ended);
    pthread_cond_destroy(&worker->given);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

void copy_worker_begin(struct copy_worker *worker, int fd, enum copy_way way)
{
    pthread_mutex_lock(&worker->mutex);
    worker->fd = fd;
    worker->way = way;
    worker->error = 0;
    copy_sum_reset(&worker->sum);
    pthread_mutex_unlock(&worker->mutex);
}

void copy_worker_give(struct copy_worker *worker, struct copy_job *job)
{
    job->next = NULL;
    job->error = 0;
    job->ended = false;
    pthread_mutex_lock(&worker->mutex);
    *worker->last = job;
    worker->last = &job->next;
    pthread_cond_signal(&worker->given);
    pthread_mutex_unlock(&worker->mutex);
}

bool copy_worker_has_ended(struct copy_worker *worker, const struct copy_job *job)
{
    bool ended;

    pthread_mutex_lock(&worker->mutex);
    ended = job->ended;
    pthread_mutex_unlock(&worker->mutex);
    return ended;
}

int copy_worker_await(struct copy_worker *worker, const struct copy_job *job)
{
    int error;

    pthread_mutex_lock(&worker->mutex);
    while (!job->ended)
        pthread_cond_wait(&worker->ended, &worker->mutex);
    error = job->error;
    pthread_mutex_unlock(&worker->mutex);
    return error;
}

void copy_worker_drop(struct copy_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    if (!worker->error)
        worker->error = -ECANCELED;
    while (worker->first)
        pthread_cond_wait(&worker->ended, &worker->mutex);
    pthread_mutex_unlock(&worker->mutex);
}

void copy_worker_sum(struct copy_worker *worker, uint8_t checksum[COPY_CHECKSUM])
{
    pthread_mutex_lock(&worker->mutex);
    copy_sum_end(&worker->sum, checksum);
    pthread_mutex_unlock(&worker->mutex);
}
