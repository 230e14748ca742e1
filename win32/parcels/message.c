/* SPDX-License-Identifier: MIT */
/* message.c - packets with a descriptor (message.h). */
#include "win32/parcels/message.h"

#include "util/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A control message of one descriptor. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

int parcel_send(int socket, const void *packet, size_t octets, int fd)
{
    struct iovec data = { (void *)packet, octets };
    union control control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
                                  .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS } };
    struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
    ssize_t sent;

    if (fd >= 0) {
        memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
    }
    while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent < 0 ? -errno : 0;
}

/* Keeps the first of the descriptors received, and closes any others. */
static void keep_first(struct msghdr *message, int *fd)
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        const size_t count =
            head->cmsg_len > CMSG_LEN(0) ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int one;

            memcpy(&one, CMSG_DATA(head) + i * sizeof(one), sizeof(one));
            if (*fd < 0)
                *fd = one;
            else
                close(one);
        }
    }
}

int parcel_receive(int socket, void *packet, size_t octets, int *fd)
{
    struct iovec data = { packet, octets };
    union control control;
    struct msghdr message = { .msg_iov = &data,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control) };
    ssize_t got;
    int error = 0;

    *fd = -1;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        return -errno;
    keep_first(&message, fd);
    if (!got)
        error = -ECONNRESET;
    else if ((size_t)got != octets || (message.msg_flags & MSG_TRUNC))
        error = -EPROTO;
    else if ((message.msg_flags & MSG_CTRUNC) && *fd < 0)
        error = -EMFILE;
    if (!error && *fd >= 0 && (*fd = descriptor_raise(*fd)) < 0)
        error = -errno;
    if (error && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return error;
}
