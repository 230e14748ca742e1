/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - address space for a stream's staging: a page takes memory from the first store to it until the buffer is
 * given back, so a connection keeps as much memory as its traffic needs, and none while it is idle.
 */
#ifndef SOFTRDMA_QUEUES_BUFFER_H
#define SOFTRDMA_QUEUES_BUFFER_H

#include <stddef.h>

/* Returns a zeroed buffer; NULL: no memory. */
void *srd_buffer_map(size_t octets);
/* buffer: may be NULL */
void srd_buffer_unmap(void *buffer, size_t octets);
/* Gives the buffer's pages back: its contents are lost, and it can be used as before. */
void srd_buffer_give_back(void *buffer, size_t octets);

#endif
