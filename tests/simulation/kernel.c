/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - what the product calls of the kernel: the linker leads it here (--wrap). A connection is two ways; each
 * has a buffer in the sender's kernel and one in the receiver's, and the schedule moves octets from the one to the
 * other.
 */
#include "simulation.h"

#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t __wrap_recv(int fd, void *octets, size_t size, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
int __wrap_shutdown(int fd, int how);
int __wrap_close(int fd);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t octets);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *octets);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
ssize_t __wrap_getrandom(void *octets, size_t count, unsigned flags);
long __wrap_syscall(long number, ...);

int __real_close(int fd);
int __real_clock_gettime(clockid_t id, struct timespec *now);
long __real_syscall(long number, ...);

struct end *end_of_fd(int fd)
{
    int at = fd - (is_bell(fd) ? FIRST_BELL : FIRST_FD);

    return at < 0 ? NULL : &sim.hosts[at % HOSTS].ends[at / HOSTS];
}

static struct direction *way_of(const struct end *from)
{
    return &sim.ways[from->link][from->host];
}

static struct direction *way_to(const struct end *to)
{
    return &sim.ways[to->link][!to->host];
}

void kernel_reset(void)
{
    for (int link = 0; link < LINKS; link++)
        for (int host = 0; host < HOSTS; host++) {
            struct direction *way = &sim.ways[link][host];

            way->out.head = way->out.tail = way->in.head = way->in.tail = 0;
            way->fin_sent = way->fin_arrived = way->reset_sent = false;
        }
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void put(struct buffer *buffer, const uint8_t *octets, uint32_t count)
{
    uint32_t at = buffer->head % BUFFER_OCTETS;
    uint32_t first = BUFFER_OCTETS - at < count ? BUFFER_OCTETS - at : count;

    memcpy(buffer->octets + at, octets, first);
    memcpy(buffer->octets, octets + first, count - first);
    buffer->head += count;
}

static void get(struct buffer *buffer, uint8_t *octets, uint32_t count)
{
    uint32_t at = buffer->tail % BUFFER_OCTETS;
    uint32_t first = BUFFER_OCTETS - at < count ? BUFFER_OCTETS - at : count;

    memcpy(octets, buffer->octets + at, first);
    memcpy(octets + first, buffer->octets, count - first);
    buffer->tail += count;
}

static void drop(struct buffer *buffer)
{
    buffer->tail = buffer->head;
}

/* --- the network ------------------------------------------------------------------------------ */

static void is_reset(struct end *end, int error)
{
    drop(&way_of(end)->out);
    if (!end->socket.open || end->socket.dead || end->socket.error)
        return;
    end->socket.error = error;
    sim.activity++;
}

bool network_moves(struct end *from, uint32_t most)
{
    struct direction *way = way_of(from);
    struct end *to = peer_of(from);
    uint32_t count = buffered(&way->out), room = sim.set.receive_buffer - buffered(&way->in);
    uint8_t octets[16384];

    if (sim.cut[from->link])
        return false;
    if (count && (!to->socket.open || to->killed)) {
        drop(&way->out);
        is_reset(from, way->fin_arrived ? EPIPE : ECONNRESET);
        return true;
    }
    if (count && !room)
        return false;
    if (count) {
        count = count < most ? count : most;
        count = count < room ? count : room;
        say("network: %u octets from host %d on link %d", count, from->host, from->link);
        sim.activity += count;
        for (uint32_t moved = 0, here; moved < count; moved += here) {
            here = count - moved < sizeof(octets) ? count - moved : (uint32_t)sizeof(octets);
            get(&way->out, octets, here);
            put(&way->in, octets, here);
        }
        return count;
    }
    if (way->reset_sent) {
        say("network: a reset from host %d on link %d", from->host, from->link);
        way->reset_sent = false;
        is_reset(to, ECONNRESET);
        return true;
    }
    if (way->fin_sent && !way->fin_arrived) {
        say("network: FIN from host %d on link %d", from->host, from->link);
        way->fin_arrived = true;
        sim.activity++;
        return true;
    }
    return false;
}

void network_cuts(int link)
{
    say("network: link %d is cut", link);
    sim.cut[link] = true;
    for (int host = 0; host < HOSTS; host++) {
        note_cause(&sim.hosts[host].ends[link], CAUSE_CUT);
        drop(&sim.ways[link][host].out);
    }
}

static void kills(struct end *end)
{
    struct direction *way = way_of(end);

    note_cause(end, CAUSE_CUT);
    note_cause(peer_of(end), CAUSE_CUT);
    end->killed = true;
    if (end->socket.open && !sim.cut[end->link]) {
        if (buffered(&way_to(end)->in)) {
            drop(&way->out);
            way->reset_sent = true;
        }
        way->fin_sent = true;
        if (!end->socket.error && !end->socket.dead)
            end->socket.error = ECONNRESET;
    }
    drop(&way_to(end)->in);
    share_leaves(end);
    sim.activity++;
}

/* What the threads of the host do after that, only they see: it is as if they had stopped for ever. */
void network_kills(int host)
{
    say("host %d is killed", host);
    sim.kills++;
    for (unsigned link = 0; link < sim.set.links; link++)
        if (!sim.hosts[host].ends[link].killed)
            kills(&sim.hosts[host].ends[link]);
}

bool network_tells(struct end *end)
{
    static const int errors[] = { ECONNRESET, ETIMEDOUT, EHOSTUNREACH };

    if (end->socket.noted)
        return false;
    end->socket.noted = true;
    say("network: host %d learns that link %d is cut", end->host, end->link);
    is_reset(end, errors[below(3)]);
    return true;
}

uint32_t socket_events(const struct end *end)
{
    const struct direction *out = way_of(end), *in = way_to(end);
    const struct end_socket *socket = &end->socket;
    uint32_t events = 0, used = buffered(&out->out);

    if (buffered(&in->in) || in->fin_arrived || socket->error || socket->dead)
        events |= EPOLLIN;
    if (sim.set.send_buffer - used >= sim.set.send_buffer / 3 || socket->shut || socket->error ||
        socket->dead)
        events |= EPOLLOUT;
    if (socket->error)
        events |= EPOLLERR;
    if (socket->error || socket->dead || (socket->shut && in->fin_arrived))
        events |= EPOLLHUP;
    return events;
}

/* --- sockets ---------------------------------------------------------------------------------- */

static struct end *opened(int fd, const char *call)
{
    struct end *end = end_of_fd(fd);

    CHECK(end && end->socket.open, "%s on a descriptor that is closed: %d", call, fd);
    return end;
}

static int fails(int error)
{
    errno = error;
    return -1;
}

static uint32_t total_of(const struct iovec *iov, size_t entries)
{
    size_t total = 0;

    for (size_t i = 0; i < entries; i++)
        total += iov[i].iov_len;
    return total < BUFFER_OCTETS ? (uint32_t)total : BUFFER_OCTETS;
}

/* A call may be cut short, by a signal or for want of memory. */
static uint32_t part_of(uint32_t count)
{
    if (count < 2 || !chance(sim.set.partial))
        return count;
    return 1 + below(below(2) || count < 40 ? count : 40);
}

static ssize_t receive(int fd, const struct iovec *iov, size_t entries)
{
    struct end *end = opened(fd, "recv");
    struct direction *way = way_to(end);
    uint32_t count = total_of(iov, entries), left;

    if (!sim.resting && chance(sim.set.interrupts))
        return fails(EINTR);
    if (count > buffered(&way->in))
        count = buffered(&way->in);
    if (!count && end->socket.error) {
        int error = end->socket.error;

        end->socket.error = 0;
        end->socket.dead = true;
        say("host %d link %d: recv: %s", end->host, end->link, strerror(error));
        return fails(error);
    }
    if (!count && (way->fin_arrived || end->socket.dead))
        return 0;
    if (!count)
        return fails(EAGAIN);
    left = count = part_of(count);
    say("host %d link %d: recv: %u octets", end->host, end->link, count);
    sim.activity += count;
    for (size_t i = 0; left; i++) {
        uint32_t here = iov[i].iov_len < left ? (uint32_t)iov[i].iov_len : left;

        get(&way->in, iov[i].iov_base, here);
        left -= here;
    }
    return count;
}

static ssize_t transmit(int fd, const struct iovec *iov, size_t entries)
{
    struct end *end = opened(fd, "send");
    struct direction *way = way_of(end);
    uint32_t count = total_of(iov, entries), room = sim.set.send_buffer - buffered(&way->out), left;

    CHECK(!end->socket.shut, "host %d sends behind its FIN", end->host);
    if (!sim.resting && chance(sim.set.interrupts))
        return fails(below(4) ? EINTR : ENOBUFS);
    if (end->socket.error) {
        int error = end->socket.error;

        end->socket.error = 0;
        end->socket.dead = true;
        return fails(error);
    }
    if (end->socket.dead)
        return fails(EPIPE);
    if (!room)
        return fails(EAGAIN);
    left = count = part_of(count < room ? count : room);
    say("host %d link %d: send: %u octets", end->host, end->link, count);
    sim.activity += count;
    end->by_tcp += count;
    CHECK(!sim.set.shared[end->link] || end->by_tcp <= end->reply_octets,
        "host %d link %d sends by TCP what belongs into the memory", end->host, end->link);
    for (size_t i = 0; left; i++) {
        uint32_t here = iov[i].iov_len < left ? (uint32_t)iov[i].iov_len : left;

        if (!sim.set.shared[end->link])
            wire_sees(end, iov[i].iov_base, here);
        if (!sim.cut[end->link])
            put(&way->out, iov[i].iov_base, here);
        left -= here;
    }
    return count;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
    ssize_t result;
    int error;

    (void)flags;
    if (is_bell(fd))
        return bell_answers(end_of_fd(fd), msg->msg_iov->iov_len);
    thread_may_change();
    result = receive(fd, msg->msg_iov, msg->msg_iovlen);
    error = errno;
    thread_may_change();
    errno = error;
    return result;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
    ssize_t result;
    int error;

    (void)flags;
    if (is_bell(fd))
        return bell_rings(end_of_fd(fd));
    thread_may_change();
    result = transmit(fd, msg->msg_iov, msg->msg_iovlen);
    error = errno;
    thread_may_change();
    errno = error;
    return result;
}

ssize_t __wrap_recv(int fd, void *octets, size_t size, int flags)
{
    struct iovec iov = { octets, size };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    return __wrap_recvmsg(fd, &msg, flags);
}

ssize_t __wrap_send(int fd, const void *octets, size_t count, int flags)
{
    struct iovec iov = { (void *)(uintptr_t)octets, count };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    return __wrap_sendmsg(fd, &msg, flags);
}

int __wrap_shutdown(int fd, int how)
{
    struct end *end = opened(fd, "shutdown");

    (void)how;
    thread_may_change();
    end->socket.shut = true;
    if (end->socket.dead) { /* the peer's reset was read: nothing goes out any more */
        errno = ENOTCONN;
        return -1;
    }
    say("host %d link %d: FIN", end->host, end->link);
    wire_ends(end, end->killed || end->socket.error);
    way_of(end)->fin_sent = true;
    sim.activity++;
    return 0;
}

int __wrap_close(int fd)
{
    struct end *end;
    struct direction *way;

    if (fd < FIRST_FD)
        return __real_close(fd);
    if (is_bell(fd))
        return bell_closes(end_of_fd(fd));
    thread_may_change();
    end = opened(fd, "close");
    way = way_of(end);
    end->socket.open = false;
    sim.activity++;
    if (end->killed)
        return 0;
    if (end->socket.linger_zero || buffered(&way_to(end)->in)) {
        say("host %d link %d: closes by a reset", end->host, end->link);
        wire_ends(end, true);
        drop(&way->out);
        way->reset_sent = !end->socket.dead;
    } else {
        say("host %d link %d: closes", end->host, end->link);
        if (!end->socket.shut)
            wire_ends(end, end->socket.dead || end->socket.error || way_to(end)->fin_arrived);
        way->fin_sent = true;
    }
    drop(&way_to(end)->in);
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t octets)
{
    struct end *end = opened(fd, "setsockopt");

    (void)value, (void)octets;
    if (level == SOL_SOCKET && name == SO_LINGER)
        end->socket.linger_zero = true;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *octets)
{
    struct end *end = opened(fd, "getsockopt");
    struct tcp_info *info = value;

    CHECK(level == IPPROTO_TCP && name == TCP_INFO && *octets >= sizeof(*info),
        "getsockopt of something unexpected: %d", name);
    thread_may_change();
    info->tcpi_state = end->socket.dead || end->socket.error                ? TCP_CLOSE
                       : way_to(end)->fin_arrived && !way_of(end)->fin_sent ? TCP_CLOSE_WAIT
                                                                            : TCP_ESTABLISHED;
    return 0;
}

/* --- time, chance, futexes -------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (!sim.running)
        return __real_clock_gettime(id, now);
    now->tv_sec = (time_t)(sim.now_ns / 1000000000);
    now->tv_nsec = (long)(sim.now_ns % 1000000000);
    return 0;
}

ssize_t __wrap_getrandom(void *octets, size_t count, unsigned flags)
{
    uint64_t value = random_next(&sim.noise);

    (void)flags;
    CHECK(count <= sizeof(value), "getrandom of %zu octets", count);
    memcpy(octets, &value, count);
    return (ssize_t)count;
}

static long futex(const _Atomic uint32_t *word, int operation, uint32_t value)
{
    if (operation == FUTEX_WAKE_PRIVATE) {
        long woken = 0;

        for (int i = 0; i < THREADS && woken < (long)value; i++) {
            struct thread *thread = &sim.threads[i];

            if (thread->state != THREAD_BLOCKS || thread->futex != word)
                continue;
            thread->state = THREAD_READY;
            woken++;
        }
        return woken;
    }
    if (atomic_load(word) != value)
        return fails(EAGAIN);
    CHECK(current, "a deadlock: no other coroutine could wake it");
    current->state = THREAD_BLOCKS;
    current->futex = word;
    thread_yield();
    return 0;
}

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_futex: return futex((const void *)a[0], (int)a[1], (uint32_t)a[2]);
    case SYS_recvfrom: return __wrap_recv((int)a[0], (void *)a[1], (size_t)a[2], (int)a[3]);
    case SYS_sendto: return __wrap_send((int)a[0], (const void *)a[1], (size_t)a[2], (int)a[3]);
    default: return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}
