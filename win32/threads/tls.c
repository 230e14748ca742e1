/* SPDX-License-Identifier: MIT */
/*
 * tls.c - TlsAlloc, TlsFree, TlsGetValue and TlsSetValue over POSIX keys: an index is the key. The end of a thread
 * frees no values.
 */
#include <windows.h>

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool ours[PTHREAD_KEYS_MAX]; /* keys of TlsAlloc; the process may have others */

static bool is_ours(DWORD index)
{
    if (index < PTHREAD_KEYS_MAX && atomic_load_explicit(&ours[index], memory_order_relaxed))
        return true;
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
}

/* TlsAlloc - a new index, NULL in every thread. TLS_OUT_OF_INDEXES with ERROR_NO_SYSTEM_RESOURCES. */
DWORD WINAPI TlsAlloc(void)
{
    pthread_key_t key;

    if (pthread_key_create(&key, NULL)) {
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
        return TLS_OUT_OF_INDEXES;
    }
    atomic_store_explicit(&ours[key], true, memory_order_relaxed);
    return key;
}

/* TlsFree - FALSE with ERROR_INVALID_PARAMETER: no index of TlsAlloc. */
BOOL WINAPI TlsFree(DWORD index)
{
    if (!is_ours(index))
        return FALSE;
    atomic_store_explicit(&ours[index], false, memory_order_relaxed);
    pthread_key_delete(index);
    return TRUE;
}

/*
 * TlsGetValue - the calling thread's value, the last error cleared; NULL with ERROR_INVALID_PARAMETER: no index of
 * TlsAlloc.
 */
LPVOID WINAPI TlsGetValue(DWORD index)
{
    if (!is_ours(index))
        return NULL;
    SetLastError(ERROR_SUCCESS);
    return pthread_getspecific(index);
}

/* TlsSetValue - sets it. FALSE with ERROR_INVALID_PARAMETER (no index of TlsAlloc), ERROR_NOT_ENOUGH_MEMORY. */
BOOL WINAPI TlsSetValue(DWORD index, LPVOID value)
{
    if (!is_ours(index))
        return FALSE;
    if (!pthread_setspecific(index, value))
        return TRUE;
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return FALSE;
}
