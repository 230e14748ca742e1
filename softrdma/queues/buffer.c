/* SPDX-License-Identifier: MIT */
#include "softrdma/queues/buffer.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SRD_BUFFER_BY_MALLOC /* the sanitizer then sees a store beyond the end */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SRD_BUFFER_BY_MALLOC
#endif

#ifdef SRD_BUFFER_BY_MALLOC

void *srd_buffer_map(size_t octets)
{
    return calloc(1, octets);
}

void srd_buffer_unmap(void *buffer, size_t octets)
{
    (void)octets;
    free(buffer);
}

void srd_buffer_give_back(void *buffer, size_t octets)
{
    (void)buffer, (void)octets;
}

#else

void *srd_buffer_map(size_t octets)
{
    void *buffer = mmap(
        NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (buffer == MAP_FAILED)
        return NULL;
    /* The kernel merges neighbours into one mapping; a huge page in it would be the memory of a dozen connections. */
    madvise(buffer, octets, MADV_NOHUGEPAGE);
    return buffer;
}

void srd_buffer_unmap(void *buffer, size_t octets)
{
    if (buffer)
        munmap(buffer, octets);
}

void srd_buffer_give_back(void *buffer, size_t octets)
{
    madvise(buffer, octets, MADV_DONTNEED);
}

#endif
