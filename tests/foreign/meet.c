/* SPDX-License-Identifier: MIT */
/*
 * meet.c - preloaded into perftest's two ends. Its server listens twice on one port, first for the parameters the two
 * exchange, then for the queue pairs; its client crashes when it comes too early for the second, on any device. So the
 * client's first rdma_connect waits for the first rdma_listen, its second for the second.
 *
 * NDSPI_MEET names a FIFO that the test script keeps open. One octet in it is one rdma_listen that has succeeded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_MS = 40000, LISTENS = 2 };

/* RDWR: neither the opening nor the end of the other program matters. */
static int meeting(void)
{
    const char *path = getenv("NDSPI_MEET");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0) {
        perror("meet: NDSPI_MEET");
        exit(1);
    }
    return fd;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    int (*real)(struct rdma_cm_id *, int) = dlsym(RTLD_NEXT, "rdma_listen");
    int result = real(id, backlog), error = errno, fd;

    if (!result) {
        fd = meeting();
        if (write(fd, "", 1) != 1)
            perror("meet: write");
        close(fd);
    }
    errno = error;
    return result;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    int (*real)(struct rdma_cm_id *, struct rdma_conn_param *) = dlsym(RTLD_NEXT, "rdma_connect");
    struct pollfd readable = { .events = POLLIN };
    static int met;
    char octet;

    if (met++ >= LISTENS)
        return real(id, param);
    readable.fd = meeting();
    if (poll(&readable, 1, PATIENCE_MS) != 1 || read(readable.fd, &octet, 1) != 1)
        fprintf(
            stderr, "meet: nobody listens\n"); /* what the program makes of it is its own affair */
    close(readable.fd);
    return real(id, param);
}
