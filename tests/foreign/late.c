/* SPDX-License-Identifier: MIT */
/*
 * Makes rping end as it may by itself, on any device. In LD_PRELOAD in front of the verbs library.
 *
 * rping's second thread (cm_thread in librdmacm/examples/rping.c) asks for the next event for as long as the process
 * lives. The first destroys the event channel at the end, without waiting for the second, which finds it gone and ends
 * the process with exit(-1).
 *
 * Here the first thread destroys its id when the last event has been acknowledged, the second asks for the next one
 * when the channel is destroyed, and the first does not end the process.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <unistd.h>

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool over, destroyed; /* the connection; the channel */

static void set(bool *flag)
{
    pthread_mutex_lock(&lock);
    *flag = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const bool *flag)
{
    pthread_mutex_lock(&lock);
    while (!*flag)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    bool last = event->event == RDMA_CM_EVENT_DISCONNECTED;
    int error = REAL(rdma_ack_cm_event)(event);

    if (last)
        set(&over);
    return error;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    if (over)
        wait_for(&destroyed);
    return REAL(rdma_get_cm_event)(channel, event);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    wait_for(&over);
    return REAL(rdma_destroy_id)(id);
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
    REAL(rdma_destroy_event_channel)(channel);
    set(&destroyed);
    for (;;)
        pause();
}
