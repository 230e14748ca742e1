/* SPDX-License-Identifier: MIT */
/*
 * list.h - intrusive doubly linked list, and container_of.
 *
 * A list_node lives inside its owner; a list_head is the list. A node is on at most one list; list_del leaves it
 * self-linked, so that list_linked() returns false. No locking of its own.
 */
#ifndef UTIL_LIST_H
#define UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

#define container_of(ptr, type, member)                                                            \
    ({                                                                                             \
        __typeof__(((type *)0)->member) *container_of_p_ = (ptr);                                  \
        (type *)((char *)container_of_p_ - offsetof(type, member));                                \
    })

struct list_node {
    struct list_node *next, *prev;
};

struct list_head {
    struct list_node n;
};

static inline void list_init(struct list_head *head)
{
    head->n.next = head->n.prev = &head->n;
}

static inline void list_node_init(struct list_node *node)
{
    node->next = node->prev = node;
}

static inline bool list_empty(const struct list_head *head)
{
    return head->n.next == &head->n;
}

/* Whether a node that was initialised (or deleted) is on some list. */
static inline bool list_linked(const struct list_node *node)
{
    return node->next != node;
}

static inline void list_insert_(
    struct list_node *node, struct list_node *prev, struct list_node *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

static inline void list_add_tail(struct list_head *head, struct list_node *node)
{
    list_insert_(node, head->n.prev, &head->n);
}

static inline void list_add_head(struct list_head *head, struct list_node *node)
{
    list_insert_(node, &head->n, head->n.next);
}

static inline void list_del(struct list_node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_node_init(node);
}

/* Takes the first node off, or returns NULL. */
static inline struct list_node *list_pop(struct list_head *head)
{
    struct list_node *node = head->n.next;

    if (node == &head->n)
        return NULL;
    list_del(node);
    return node;
}

/* Moves everything on from to the end of to; from is empty afterwards. */
static inline void list_splice_tail(struct list_head *to, struct list_head *from)
{
    if (list_empty(from))
        return;
    from->n.next->prev = to->n.prev;
    to->n.prev->next = from->n.next;
    from->n.prev->next = &to->n;
    to->n.prev = from->n.prev;
    list_init(from);
}

#define list_entry(node, type, member) container_of(node, type, member)

#define list_for_each(head, node)                                                                  \
    for (struct list_node *node = (head)->n.next; node != &(head)->n; node = node->next)

/* The loop body may delete node. */
#define list_for_each_safe(head, node)                                                             \
    for (struct list_node *node = (head)->n.next, *node##_next_ = node->next; node != &(head)->n;  \
         node = node##_next_, node##_next_ = node->next)

#endif
