/* SPDX-License-Identifier: MIT */
/* task_memory.c - memory of COM: the caller frees what a function made. Any thread. */
#include <objbase.h>

#include <stdlib.h>

/* CoTaskMemAlloc - memory that another one than its maker may free; NULL: none. Of size 0 it is not NULL. */
LPVOID WINAPI CoTaskMemAlloc(SIZE_T size)
{
    return malloc(size ? size : 1);
}

/* CoTaskMemRealloc - changes a block's size; makes a new one for NULL; frees it for size 0, and returns NULL. */
LPVOID WINAPI CoTaskMemRealloc(LPVOID memory, SIZE_T size)
{
    if (memory && !size) {
        free(memory);
        return NULL;
    }
    return realloc(memory, size ? size : 1);
}

/* CoTaskMemFree - frees such a block; NULL is none. */
void WINAPI CoTaskMemFree(LPVOID memory)
{
    free(memory);
}
