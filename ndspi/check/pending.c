/* SPDX-License-Identifier: MIT */
#include "ndspi/check/pending.h"

#include "ndspi/core/queue/qp.h"

#include <stdlib.h>

/* A region's place on the list of a request. */
struct name {
    struct list_node link; /* nd_check_region.named */
    struct post *post;
};

struct post {
    struct nd_checked *object;
    const char *call;
    UINT64 number; /* counts the queue's posts, from 1 on */
    bool receives, silent;
    size_t n;
    struct name names[];
};

/* `order` is held over a post; nd_check_lock guards the members after it. */
struct nd_check_queue {
    struct lock order;
    struct post **ring; /* the newest, as many as the queue is deep */
    size_t room;
    UINT64 count; /* requests posted so far */
    UINT64 ended; /* how many of them are known to have ended */
};

/* ---- lists ---- */

struct nd_check_entry nd_check_list_entry(const struct nd_check_list *list, size_t index)
{
    if (list->v2)
        return (struct nd_check_entry){
            .buffer = list->v2[index].Buffer,
            .length = list->v2[index].BufferLength,
            .name = list->v2[index].MemoryRegionToken,
        };
    return (struct nd_check_entry){
        .buffer = list->v1[index].pAddr,
        .length = list->v1[index].Length,
        .name = (uintptr_t)list->v1[index].hMr,
    };
}

bool nd_check_list_names(const struct nd_check_list *list)
{
    return (list->v2 && !(list->flags & ND_OP_FLAG_INLINE)) || list->v1;
}

/* ---- life ---- */

static void init_orders(struct nd_check_queue *queues)
{
    for (int i = 0; i < 2; i++)
        lock_init(&queues[i].order, LOCK_CHECK_POST, "posts that are checked");
}

struct nd_check_queue *nd_check_queues_make(void)
{
    struct nd_check_queue *queues = calloc(2, sizeof(*queues));

    if (queues)
        init_orders(queues);
    return queues;
}

void nd_check_queues_forked_locked(struct nd_checked *checked)
{
    if (checked->queues)
        init_orders(checked->queues);
}

static void forget_locked(struct post *post)
{
    for (size_t i = 0; post && i < post->n; i++)
        list_del(&post->names[i].link);
    free(post);
}

void nd_check_queues_end_locked(struct nd_checked *checked)
{
    for (int i = 0; checked->queues && i < 2; i++) {
        struct nd_check_queue *queue = &checked->queues[i];

        for (size_t k = 0; queue->ring && k < queue->room; k++) {
            forget_locked(queue->ring[k]);
            queue->ring[k] = NULL;
        }
    }
}

void nd_check_queues_free(struct nd_checked *checked)
{
    for (int i = 0; checked->queues && i < 2; i++)
        free(checked->queues[i].ring);
    free(checked->queues);
}

/* ---- posts ---- */

static struct nd_check_queue *queue_of(const struct nd_checked *checked, bool receives)
{
    return checked->queues ? &checked->queues[receives] : NULL;
}

void nd_check_order(const struct nd_check_call *call, bool receives)
{
    struct nd_check_queue *queue = queue_of(call->object, receives);

    if (queue)
        lock_acquire(&queue->order);
}

static struct post *make_post(const struct nd_check_call *call, const struct nd_check_list *list)
{
    size_t n = nd_check_list_names(list) ? list->n : 0;
    struct post *post = malloc(sizeof(*post) + n * sizeof(post->names[0]));

    if (!post)
        return NULL;
    *post = (struct post){
        .object = call->object,
        .call = call->name,
        .receives = list->use == ND_CHECK_RECEIVES,
        .silent = list->use != ND_CHECK_RECEIVES && list->flags & ND_OP_FLAG_SILENT_SUCCESS,
        .n = n,
    };
    for (size_t i = 0; i < n; i++) {
        list_node_init(&post->names[i].link);
        post->names[i].post = post;
    }
    return post;
}

static void name_regions_locked(struct post *post, const struct nd_check_list *list)
{
    for (size_t i = 0; i < post->n; i++) {
        const struct nd_check_entry entry = nd_check_list_entry(list, i);
        struct nd_check_region *region =
            entry.length ? nd_check_region_locked(entry.name, post->object->adapter) : NULL;

        if (region && region->adapter == post->object->adapter)
            list_add_tail(&region->named, &post->names[i].link);
    }
}

/* Overwrites the record of a request that has ended: no more are posted than the queue is deep. */
static void keep_locked(struct nd_check_queue *queue, size_t depth, struct post *post)
{
    struct post **place;

    queue->count++;
    if (!queue->ring && (queue->ring = calloc(depth, sizeof(*queue->ring))))
        queue->room = depth;
    if (!queue->ring) {
        forget_locked(post);
        return;
    }
    place = &queue->ring[queue->count % queue->room];
    forget_locked(*place);
    *place = post;
    if (post)
        post->number = queue->count;
}

void nd_check_taken(const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list)
{
    bool receives = list->use == ND_CHECK_RECEIVES;
    const struct nd_check_limits *limits = &call->object->limits;
    struct nd_check_queue *queue = queue_of(call->object, receives);
    struct post *post;

    if (!queue)
        return;
    if (SUCCEEDED(hr)) {
        post = make_post(call, list);
        lock_acquire(&nd_check_lock);
        if (post)
            name_regions_locked(post, list);
        keep_locked(queue, receives ? limits->receives : limits->initiators, post);
        if (call->object->dead)
            nd_check_queues_end_locked(call->object);
        lock_release(&nd_check_lock);
    }
    lock_release(&queue->order);
}

/* ---- a region is deregistered ---- */

/* Asks the queue which requests have ended since. Drops nd_check_lock meanwhile; the object stays. */
static void update_locked(struct nd_checked *object, bool receives)
{
    struct nd_check_queue *queue = &object->queues[receives];
    struct nd_qp *core = object->kind->core(object->inner);
    uint32_t outstanding = 0;
    UINT64 count;

    object->held++;
    if (core)
        nd_object_pin(&core->object);
    lock_release(&nd_check_lock);
    lock_acquire(&queue->order);
    if (core && !nd_queue_outstanding(receives ? &core->receive : &core->initiator, &outstanding))
        outstanding = 0;
    lock_acquire(&nd_check_lock);
    count = queue->count;
    lock_release(&nd_check_lock);
    lock_release(&queue->order);
    if (core)
        nd_object_unpin(&core->object);
    lock_acquire(&nd_check_lock);
    object->held--;
    if (count > outstanding && queue->ended < count - outstanding)
        queue->ended = count - outstanding;
}

static bool has_ended(const struct post *post)
{
    return post->silent || post->object->dead || post->object->ending ||
           post->number <= post->object->queues[post->receives].ended;
}

/* The first request that may be pending; forgets those before it. */
static const struct post *first_locked(struct nd_check_region *region)
{
    while (!list_empty(&region->named)) {
        const struct name *name = container_of(region->named.n.next, struct name, link);

        if (!has_ended(name->post))
            return name->post;
        list_del(region->named.n.next);
    }
    return NULL;
}

struct nd_check_pending nd_check_pending_on(const struct nd_checked *object, UINT64 name)
{
    const struct nd_check_queue *queue = NULL;
    struct nd_check_pending found = { 0 };
    struct nd_check_region *region;
    const struct post *post;

    lock_acquire(&nd_check_lock);
    while ((region = nd_check_region_of_locked(object, name)) && (post = first_locked(region))) {
        if (queue == &post->object->queues[post->receives]) { /* just asked */
            found = (struct nd_check_pending){ post->call, post->object->kind->name, post->object };
            break;
        }
        queue = &post->object->queues[post->receives];
        update_locked(post->object, post->receives);
    }
    lock_release(&nd_check_lock);
    return found;
}
