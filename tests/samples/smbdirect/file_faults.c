/* SPDX-License-Identifier: MIT */
/*
 * In LD_PRELOAD of smbdcopy: ends the program where another thread than the one for files reads or writes a file. With
 * FAULT=CALL:OFFSET that call fails with EIO from there on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fails(const char *call, off64_t offset)
{
    const char *fault = getenv("FAULT");
    size_t length = strlen(call);
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    if (strcmp(name, "smbdcopy-file")) {
        fprintf(stderr, "%s in the thread %s\n", call, name);
        abort();
    }
    return fault && !strncmp(fault, call, length) && fault[length] == ':' &&
           offset >= strtoll(fault + length + 1, NULL, 10);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
    ssize_t (*real)(int, void *, size_t, off64_t) =
        (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");

    if (!fails("pread", offset))
        return real(fd, data, size, offset);
    errno = EIO;
    return -1;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");

    if (!fails("pwrite", offset))
        return real(fd, data, size, offset);
    errno = EIO;
    return -1;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return pread64(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return pwrite64(fd, data, size, offset);
}
