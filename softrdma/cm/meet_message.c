/* SPDX-License-Identifier: MIT */
/*
 * meet_message.c - sends and receives an offer (meet.h), and checks its sender and the descriptors in it.
 * srd_share_take, which maps the memory, checks that.
 */
#include "softrdma/cm/meet.h"

#include "softrdma/device/addr.h"
#include "softrdma/share/close.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

/* The id that the kernel shows for users of other user namespaces (/proc/sys/kernel/overflowuid). */
enum { NO_USER = 65534 };
/* Shares may take the SHARES_PART-th part of the descriptors; the rest is for connections over TCP. */
enum { SHARES_PART = 4 };

/* The octets of an offer; the last one is the version of the offer and of the memory's layout. */
enum { SAID_OCTETS = 8 };
static const uint8_t said[SAID_OCTETS] = { 's', 'r', 'd', 'm', 'e', 'e', 't', 2 };
enum { MEMORY, TCP, DESCRIPTORS };

socklen_t srd_meet_name(const struct sockaddr *addr, int which, struct sockaddr_un *name)
{
    static const struct in6_addr any = IN6ADDR_ANY_INIT;
    const struct sockaddr_in *four = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)addr;
    const struct in_addr any_four = { htonl(INADDR_ANY) };
    bool is_four = addr->sa_family == AF_INET;
    char text[INET6_ADDRSTRLEN];
    const void *from;
    int octets;

    if (which > (is_four ? 2 : 1))
        return 0;
    if (is_four && which < 2)
        from = which ? &any_four : &four->sin_addr;
    else
        from = which ? &any : &six->sin6_addr;
    is_four = is_four && which < 2;
    inet_ntop(is_four ? AF_INET : AF_INET6, from, text, sizeof(text));
    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    octets = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
        is_four ? "softrdma/%s:%u" : "softrdma/[%s]:%u", text,
        (unsigned)ntohs(srd_addr_port(addr)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)octets);
}

bool srd_meet_same_user(int fd)
{
    struct ucred peer = { .uid = NO_USER };
    socklen_t octets = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &octets) && peer.uid != NO_USER &&
           peer.uid == geteuid();
}

const char *srd_meet_other_user(void)
{
    return geteuid() == NO_USER ? "this is user 65534, as which any user may be shown"
                                : "it belongs to another user";
}

bool srd_meet_may_keep(int fd)
{
    struct rlimit files;

    /* If a seccomp filter refuses getrlimit, no limit is assumed. */
    return fd >= 0 &&
           (getrlimit(RLIMIT_NOFILE, &files) || (rlim_t)fd < files.rlim_cur / SHARES_PART);
}

static int option(int fd, int which)
{
    int value = -1;
    socklen_t octets = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, which, &value, &octets) ? -1 : value;
}

uint64_t srd_meet_network(int fd)
{
    uint64_t network = 0;
    socklen_t octets = sizeof(network);

    return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &network, &octets) ? 0 : network;
}

int srd_meet_pair_of(int fd, struct srd_meet_pair *pair)
{
    socklen_t local = sizeof(pair->local), peer = sizeof(pair->peer);

    memset(pair, 0, sizeof(*pair));
    if (option(fd, SO_PROTOCOL) != IPPROTO_TCP || option(fd, SO_TYPE) != SOCK_STREAM ||
        getsockname(fd, (struct sockaddr *)&pair->local, &local) ||
        !srd_addr_len((struct sockaddr *)&pair->local))
        return -EPROTO;
    if (getpeername(fd, (struct sockaddr *)&pair->peer, &peer))
        return -ENOTCONN;
    pair->network = srd_meet_network(fd);
    srd_addr_unmap(&pair->local);
    srd_addr_unmap(&pair->peer);
    return 0;
}

/* Room for the descriptors of one message, and no more: the kernel sets MSG_CTRUNC if some did not fit. */
union control {
    struct cmsghdr header; /* aligns it */
    char octets[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

int srd_meet_send(int fd, int memory_fd, int tcp_fd)
{
    const int fds[DESCRIPTORS] = { [MEMORY] = memory_fd, [TCP] = tcp_fd };
    union control control = { 0 };
    struct iovec iov = { .iov_base = (void *)said, .iov_len = sizeof(said) };
    struct msghdr message = { .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control.octets) };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    ssize_t sent;

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(header), fds, sizeof(fds));
    sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        return -errno;
    return sent == sizeof(said) ? 0 : -EPROTO;
}

/*
 * Takes the descriptors of a message, and closes those beyond DESCRIPTORS. Returns how many came; others in fds are -1.
 */
static int take_descriptors(struct msghdr *message, int fds[DESCRIPTORS])
{
    int count = 0;

    for (int i = 0; i < DESCRIPTORS; i++)
        fds[i] = -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        size_t octets = header->cmsg_len - CMSG_LEN(0);

        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; at + sizeof(int) <= octets; at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(header) + at, sizeof(fd));
            if (count < DESCRIPTORS)
                fds[count] = fd;
            else
                srd_close_foreign(fd);
            count++;
        }
    }
    return count;
}

static int check(const struct msghdr *message, ssize_t got, const uint8_t *octets, int count)
{
    if (message->msg_flags & MSG_CTRUNC && count < DESCRIPTORS)
        return -EMFILE; /* also if more than DESCRIPTORS were sent, and few descriptors are left */
    if (got != SAID_OCTETS || memcmp(octets, said, SAID_OCTETS) != 0 || count != DESCRIPTORS ||
        message->msg_flags & (MSG_CTRUNC | MSG_TRUNC))
        return -EPROTO;
    return 0;
}

int srd_meet_receive(int fd, struct srd_meet_offer *offer)
{
    uint8_t octets[SAID_OCTETS + 1]; /* one more, so that a longer message shows */
    union control control = { 0 };
    struct iovec iov = { .iov_base = octets, .iov_len = sizeof(octets) };
    struct msghdr message = { .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control.octets) };
    int fds[DESCRIPTORS], count, error;
    ssize_t got;

    if (!srd_meet_same_user(fd))
        return -EACCES;
    got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return -EAGAIN;
    if (got <= 0)
        return got ? -errno : -ECONNRESET;
    count = take_descriptors(&message, fds);
    error = check(&message, got, octets, count);
    if (!error)
        error = srd_meet_pair_of(fds[TCP], &offer->pair);
    if (!error && !srd_meet_may_keep(fds[MEMORY]))
        error = -EMFILE;
    if (fds[TCP] >= 0)
        srd_close_foreign(fds[TCP]); /* a copy kept here would keep the sender's end of TCP open */
    if (error && fds[MEMORY] >= 0)
        srd_close_foreign(fds[MEMORY]);
    offer->share = (struct srd_share_offer){ .memory_fd = error ? -1 : fds[MEMORY], .wake_fd = -1 };
    return error;
}
