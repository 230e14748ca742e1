/* SPDX-License-Identifier: MIT */
/* Damages a byte in the middle of the first payload of 1000 bytes or more that the process sends. In LD_PRELOAD. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static atomic_bool done;
    __typeof__(&sendmsg) real = (__typeof__(&sendmsg))dlsym(RTLD_NEXT, "sendmsg");

    for (size_t i = 0; i < message->msg_iovlen; i++) {
        const struct iovec *piece = &message->msg_iov[i];
        if (piece->iov_len >= 1000 && !atomic_exchange(&done, true))
            ((char *)piece->iov_base)[piece->iov_len / 2] ^= 0x40;
    }
    return real(fd, message, flags);
}
