/* SPDX-License-Identifier: MIT */
/* meet.c - the active end of meet.h: finds the socket of the peer's listener and makes an offer. */
#include "softrdma/cm/meet.h"

#include "softrdma/device/addr.h"
#include "softrdma/share/close.h"
#include "util/log.h"
#include "util/settings.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

bool srd_meet_wanted(void)
{
    return !setting_off("NDSPI_SOFT_SHM");
}

/* Whether an address belongs to this host, or rather to its network namespace: a socket can be bound to it. */
static bool can_bind(const struct sockaddr *addr)
{
    struct sockaddr_storage any_port;
    bool can;
    int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);

    memcpy(&any_port, addr, sizeof(any_port));
    srd_addr_set_port((struct sockaddr *)&any_port, 0);
    can = fd >= 0 && !bind(fd, (struct sockaddr *)&any_port, srd_addr_len(addr));
    if (fd >= 0)
        close(fd);
    return can;
}

static bool is_here(const struct sockaddr *local, const struct sockaddr *peer)
{
    return srd_addr_same_host(local, peer) || srd_addr_is_loopback(peer) || can_bind(peer);
}

/* Returns a Unix socket that is connected to the listener's, or a negative errno. */
static int find_listener(const struct sockaddr *peer)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;

    if (fd < 0)
        return -errno;
    for (int which = 0; which < SRD_MEET_NAMES; which++) {
        struct sockaddr_un name;
        socklen_t octets = srd_meet_name(peer, which, &name);

        if (!octets)
            break;
        if (!connect(fd, (struct sockaddr *)&name, octets))
            return fd;
        error = errno;
        if (error != ECONNREFUSED) /* EAGAIN: the listener's queue is full */
            break;
    }
    close(fd);
    return -error;
}

/* Makes and sends an offer; takes wake_fd over. Returns 0 or a negative errno. why: the reason, if errno is unclear. */
static int make_offer(int wake_fd, int tcp_fd, struct srd_share **share, const char **why)
{
    struct srd_share_offer offer;
    int error;

    if (!srd_meet_same_user(wake_fd)) {
        error = -EPERM;
        *why = srd_meet_other_user();
    } else if (!srd_meet_may_keep(wake_fd)) {
        error = -EMFILE;
        *why = "more than a quarter of the descriptors (ulimit -n) are in use";
    } else {
        error = srd_share_make(&offer);
        if (error == -EFBIG)
            *why = "files may not be as large as it is (ulimit -f)";
    }
    if (!error && (error = srd_meet_send(wake_fd, offer.memory_fd, tcp_fd)))
        close(offer.memory_fd);
    if (error) {
        srd_close_foreign(wake_fd); /* the listener may have sent descriptors */
        return error;
    }
    offer.wake_fd = wake_fd;
    error = srd_share_take(&offer, true, share);
    if (error == -EUSERS)
        *why = SRD_MEET_TOO_MANY;
    return error;
}

struct srd_share *srd_meet_offer(int fd, const struct sockaddr *local, const struct sockaddr *peer)
{
    struct sockaddr_storage listener = { 0 };
    struct srd_share *share = NULL;
    const char *why = NULL;
    char text[SRD_ADDR_TEXT];
    int error;

    if (!srd_meet_wanted() || !is_here(local, peer))
        return NULL;
    memcpy(&listener, peer, srd_addr_len(peer));
    srd_addr_unmap(&listener);
    error = find_listener((struct sockaddr *)&listener);
    if (error >= 0)
        error = make_offer(error, fd, &share, &why);
    else if (error == -ECONNREFUSED)
        why = "no softrdma listener of this host takes any";
    if (error)
        log_limited(LOG_INFO, LOG_CM, "no memory is offered to %s: %s", srd_addr_text(peer, text),
            why ? why : strerror(-error));
    return share;
}
