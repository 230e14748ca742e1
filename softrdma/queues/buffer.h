/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - address space for a stream's staging: a page is there from when it is first stored to until it is given
 * back, so that a connection keeps what its traffic needs, and nothing while it is idle.
 */
#ifndef SOFTRDMA_QUEUES_BUFFER_H
#define SOFTRDMA_QUEUES_BUFFER_H

#include <stddef.h>

/* Zeroed; NULL without memory. */
void *srd_buffer_map(size_t octets);
/* buffer: may be NULL */
void srd_buffer_unmap(void *buffer, size_t octets);
/* Gives its pages back: what is in it is lost, and it can be used as before. */
void srd_buffer_give_back(void *buffer, size_t octets);

#endif
