/* SPDX-License-Identifier: MIT */
#include "ndspi/core/deferred.h"

#include "reactor/again.h"
#include "util/fork.h"
#include "util/log.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* A plain mutex, not util/lock.h: the thread sleeps on a condition. A leaf below everything. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct list_head jobs = { { &jobs.n, &jobs.n } };
static uint64_t jobs_given, jobs_done;
static bool running;

static void serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        struct list_node *node = list_pop(&jobs);

        if (!node) {
            pthread_cond_wait(&given, &mutex);
            continue;
        }
        struct nd_deferred *job = list_entry(node, struct nd_deferred, link);

        pthread_mutex_unlock(&mutex);
        job->run(job);
        pthread_mutex_lock(&mutex);
        jobs_done++;
        pthread_cond_broadcast(&done);
    }
}

static void start_again(struct reactor_source *source, enum reactor_how how);

static const struct reactor_source_ops again_ops = { .expired = start_again };
static struct reactor_again again; /* tries again to start the thread */

static void start_locked(void)
{
    int error = thread_start_detached("ndspi-deferred", serve, NULL);

    if (error)
        log_limited(LOG_ERROR, LOG_CM,
            "cannot start the thread for deferred work: %s; ended connections and adapters are not "
            "freed until it starts (raise the limit on threads)",
            strerror(-error));
    if (error)
        reactor_again(&again, &again_ops);
    running = !error;
}

static void start_again(struct reactor_source *source, enum reactor_how how)
{
    (void)source, (void)how;
    pthread_mutex_lock(&mutex);
    if (!running && !list_empty(&jobs))
        start_locked();
    pthread_mutex_unlock(&mutex);
}

/* The child of a fork has no thread for its parent's jobs, which are forgotten: their objects are the parent's. */
static void forked(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    given = done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    list_init(&jobs);
    jobs_done = jobs_given;
    running = false;
    again = (struct reactor_again){ 0 };
}

FORK_CHILD(forked);

void nd_defer(struct nd_deferred *job)
{
    pthread_mutex_lock(&mutex);
    if (!running)
        start_locked();
    list_node_init(&job->link);
    list_add_tail(&jobs, &job->link);
    jobs_given++;
    pthread_cond_signal(&given);
    pthread_mutex_unlock(&mutex);
}

void nd_deferred_drain(void)
{
    uint64_t until;

    pthread_mutex_lock(&mutex);
    until = jobs_given;
    while (jobs_done < until && running)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}
