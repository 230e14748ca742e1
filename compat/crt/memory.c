/* SPDX-License-Identifier: MIT */
/* memory.c - _aligned_malloc, _aligned_realloc and _aligned_free over posix_memalign; memcpy_s, memmove_s. */
#include <wincompat/stdlib.h>
#include <wincompat/string.h>

#include <malloc.h>

/* _aligned_malloc - allocates size bytes at a multiple of alignment, a power of 2. NULL with errno EINVAL or ENOMEM. */
void *_aligned_malloc(size_t size, size_t alignment)
{
    void *memory = NULL;
    int error = EINVAL;

    if (alignment && !(alignment & (alignment - 1)))
        error =
            posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
    if (error)
        errno = error;
    return error ? NULL : memory;
}

/*
 * _aligned_realloc - changes the size and keeps the contents. NULL: memory is unchanged (or size is 0: it is freed).
 */
void *_aligned_realloc(void *memory, size_t size, size_t alignment)
{
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *moved;

    if (memory && !size) {
        free(memory);
        return NULL;
    }
    if (!(moved = _aligned_malloc(size, alignment)))
        return NULL;
    if (memory)
        memcpy(moved, memory, size < before ? size : before);
    free(memory);
    return moved;
}

void _aligned_free(void *memory)
{
    free(memory);
}

/*
 * memmove_s, memcpy_s - copy count bytes into room bytes. Return 0; ERANGE or EINVAL (NULL), and clear the destination.
 */
errno_t memmove_s(void *to, rsize_t room, const void *from, rsize_t count)
{
    if (!count)
        return 0;
    if (!to || !from || room < count) {
        if (to && room)
            memset(to, 0, room);
        return errno = to && from ? ERANGE : EINVAL;
    }
    memmove(to, from, count);
    return 0;
}

errno_t memcpy_s(void *to, rsize_t room, const void *from, rsize_t count)
{
    return memmove_s(to, room, from, count);
}

/* _freea - frees memory of _malloca that came from the heap. It ignores NULL. */
void _freea(void *memory)
{
    char *begin = memory ? (char *)memory - 16 : NULL;

    if (begin && *(unsigned *)begin == 0xDDDD)
        free(begin);
}
