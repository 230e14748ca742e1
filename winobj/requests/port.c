/* SPDX-License-Identifier: MIT */
/*
 * port.c - completion ports: a FIFO of packets, and the threads that wait for one; the last to begin is served first.
 *
 * A packet goes to exactly one thread. The port's lock decides: a post hands the packet to a waiting thread, and a wait
 * that times out at the same moment finds it. Files hold a reference; closing the handle ends the port for good.
 *
 * A port that another process has a handle of has an inlet (inlet.h), whose packets every use of the port takes first.
 */
#include "winobj/requests/port.h"

#include "winobj/requests/inlet.h"
#include "winobj/requests/remote_port.h"
#include "winobj/status.h"
#include "winobj/waits/alert.h"
#include "winobj/waits/waiter.h"

#include "util/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { RECEIVE_MOST = 4096 }; /* records at once, so that no post of others keeps the lock */

struct win_port {
    struct win_object object;
    struct lock lock; /* LOCK_WIN_OBJECT; guards everything below */
    struct list_head packets;
    struct list_head threads; /* newest first */
    /* -1, or an eventfd readable exactly while packets are queued. Read without the lock */
    atomic_int export_fd;
    bool closed;
    struct win_inlet *inlet; /* NULL: no other process has had a handle */
};

struct port_wait {
    struct list_node link;
    struct reactor_waiter *waiter;
    struct win_packet *packet; /* handed over by a post */
    struct win_alert *alert;   /* NULL if it is not alertable */
};

/* Makes the exported descriptor readable exactly while packets are queued; the calls cannot block. */
static void export_update_locked(struct win_port *port)
{
    eventfd_t value;

    if (port->export_fd < 0)
        return;
    while (eventfd_read(port->export_fd, &value) < 0 && errno == EINTR)
        ;
    while (!list_empty(&port->packets) && eventfd_write(port->export_fd, 1) < 0 && errno == EINTR)
        ;
}

static void clear_locked(struct win_port *port)
{
    struct list_node *node;

    while ((node = list_pop(&port->packets)))
        win_packet_free(list_entry(node, struct win_packet, link));
    export_update_locked(port);
}

static void port_close(struct win_object *object)
{
    struct win_port *port = (struct win_port *)object;
    struct win_inlet *inlet;

    lock_acquire(&port->lock);
    port->closed = true;
    inlet = port->inlet;
    clear_locked(port);
    list_for_each (&port->threads, thread)
        reactor_signal(list_entry(thread, struct port_wait, link)->waiter);
    lock_release(&port->lock);
    if (!inlet)
        return;
    win_inlet_stop(inlet);
    lock_acquire(&port->lock);
    win_inlet_close(&port->inlet);
    lock_release(&port->lock);
}

static void port_destroy(struct win_object *object)
{
    struct win_port *port = (struct win_port *)object;

    if (port->export_fd >= 0)
        close(port->export_fd);
    free(port);
}

static int port_descriptor(struct win_object *object)
{
    struct win_port *port = (struct win_port *)object;
    int fd;

    lock_acquire(&port->lock);
    if (port->export_fd < 0)
        port->export_fd = eventfd(!list_empty(&port->packets), EFD_CLOEXEC | EFD_NONBLOCK);
    fd = port->export_fd;
    lock_release(&port->lock);
    return fd;
}

static void port_forked(struct win_object *object)
{
    struct win_port *port = (struct win_port *)object;

    /* If the lock is held, another thread of the parent may have been changing the queue at the fork. */
    if (atomic_load_explicit(&port->lock.word, memory_order_relaxed))
        list_init(&port->packets);
    lock_init(&port->lock, LOCK_WIN_OBJECT, "completion port");
    list_init(&port->threads);
    if (port->export_fd >= 0)
        close(port->export_fd);
    port->export_fd = -1;
    win_inlet_forked(&port->inlet);
}

static DWORD port_carry(struct win_object *object, struct win_parcel *parcel);

static const struct win_object_type port_type = {
    .name = "completion port",
    .close = port_close,
    .destroy = port_destroy,
    .descriptor = port_descriptor,
    .forked = port_forked,
    .carry = port_carry,
};

struct win_port *win_port_pin(HANDLE handle)
{
    return (struct win_port *)win_handle_pin(handle, &port_type);
}

void win_port_unpin(struct win_port *port)
{
    win_object_unref(&port->object);
}

/* Removes the thread that gets the next packet; NULL: none waits. Skips waits that APCs have ended. */
static struct port_wait *serve_locked(struct win_port *port)
{
    struct list_node *node;

    while ((node = list_pop(&port->threads))) {
        struct port_wait *wait = list_entry(node, struct port_wait, link);
        if (win_alert_claim(wait->alert))
            return wait;
    }
    return NULL;
}

/* Queues a packet of an open port. Returns the thread to signal that got it instead, or NULL. */
static struct reactor_waiter *queue_locked(struct win_port *port, struct win_packet *packet)
{
    struct port_wait *wait = serve_locked(port);

    if (wait) {
        wait->packet = packet;
        return wait->waiter;
    }
    list_add_tail(&port->packets, &packet->link);
    export_update_locked(port);
    return NULL;
}

/* Takes what has come from other processes. Without memory it stays where it is. */
static void receive_locked(struct win_port *port)
{
    const struct win_inlet_record *record;
    struct reactor_waiter *waiter;
    struct win_packet *packet;

    for (int i = 0; i < RECEIVE_MOST && (record = win_inlet_next(port->inlet)); i++) {
        if (!(packet = win_packet_new()))
            return;
        packet->bytes = record->bytes;
        packet->key = (ULONG_PTR)record->key;
        packet->overlapped = (OVERLAPPED *)(uintptr_t)record->overlapped;
        packet->status = 0;
        win_inlet_taken(port->inlet);
        if ((waiter = queue_locked(port, packet)))
            reactor_signal(waiter);
    }
}

static inline void look_at_inlet_locked(struct win_port *port)
{
    if (__builtin_expect(port->inlet && !port->closed, 0))
        receive_locked(port);
}

/* The reactor calls this when records have come. */
static void port_ready(struct win_object *object)
{
    struct win_port *port = (struct win_port *)object;

    lock_acquire(&port->lock);
    look_at_inlet_locked(port);
    lock_release(&port->lock);
}

static DWORD port_carry(struct win_object *object, struct win_parcel *parcel)
{
    struct win_port *port = (struct win_port *)object;
    DWORD error = ERROR_SUCCESS;
    int writer = -1;

    if (!parcel)
        return ERROR_SUCCESS;
    lock_acquire(&port->lock);
    if (port->closed)
        error = ERROR_INVALID_HANDLE;
    else if (!port->inlet)
        error = win_inlet_open(&port->inlet, win_object_name(object), port_ready);
    if (!error && (writer = win_inlet_writer(port->inlet)) < 0)
        error = ERROR_TOO_MANY_OPEN_FILES;
    lock_release(&port->lock);
    if (!error)
        win_port_carry(parcel, writer, (uint32_t)getpid(), win_object_name(object));
    return error;
}

struct win_object *win_port_of_writer(HANDLE name, int writer)
{
    struct win_object *object = win_object_find(name);
    struct win_port *port = (struct win_port *)object;
    bool mine = false;

    if (object && object->type == &port_type) {
        lock_acquire(&port->lock);
        mine = port->inlet && win_inlet_is_mine(port->inlet, writer);
        lock_release(&port->lock);
    }
    if (mine || !object)
        return object;
    win_object_unref(object);
    return NULL;
}

void win_port_post(struct win_port *port, struct win_packet *packet)
{
    struct reactor_waiter *waiter = NULL;

    lock_acquire(&port->lock);
    look_at_inlet_locked(port);
    if (port->closed)
        win_packet_free(packet);
    else
        waiter = queue_locked(port, packet);
    lock_release(&port->lock);
    if (waiter)
        reactor_signal(waiter);
}

static struct win_packet *take_locked(struct win_port *port)
{
    struct list_node *node = list_pop(&port->packets);

    lock_assert_held(&port->lock);
    if (!node)
        return NULL;
    export_update_locked(port);
    return list_entry(node, struct win_packet, link);
}

static struct win_packet *take(struct win_port *port)
{
    struct win_packet *packet;

    lock_acquire(&port->lock);
    look_at_inlet_locked(port);
    packet = take_locked(port);
    lock_release(&port->lock);
    return packet;
}

/* Whether the wait has ended: it has a packet, an APC came, or the port is closed. */
static bool wait_ended(struct win_port *port, struct port_wait *wait)
{
    bool ended;

    lock_acquire(&port->lock);
    ended = wait->packet || port->closed || win_alert_came(wait->alert);
    lock_release(&port->lock);
    return ended;
}

/* Whether the port has a descriptor: the program then polls that, and may not call again soon. */
static bool exported(struct win_port *port)
{
    return atomic_load_explicit(&port->export_fd, memory_order_relaxed) >= 0;
}

/* Sleeps until the wait has ended. Returns whether the port is closed. */
static bool wait_asleep(struct win_port *port, struct port_wait *wait, uint64_t deadline_ns)
{
    bool closed;

    lock_acquire(&port->lock);
    list_node_init(&wait->link);
    look_at_inlet_locked(port);
    if (list_empty(&port->packets) || !win_alert_claim(wait->alert))
        list_add_head(&port->threads, &wait->link);
    else
        wait->packet = take_locked(port);
    lock_release(&port->lock);

    while (!wait_ended(port, wait) && win_wait_sleep(wait->waiter, deadline_ns))
        ;

    lock_acquire(&port->lock);
    list_del(&wait->link);
    closed = port->closed;
    lock_release(&port->lock);
    return closed;
}

/*
 * The next packet, or NULL with the last error WAIT_TIMEOUT, ERROR_ABANDONED_WAIT_0, or, if alertable,
 * WAIT_IO_COMPLETION: the caller runs win_apcs_run.
 */
static struct win_packet *port_wait(struct win_port *port, DWORD timeout_ms, bool alertable)
{
    struct port_wait wait = { .packet = take(port) };
    struct win_alert alert;
    bool closed, came = false;

    if (wait.packet) {
        if (!exported(port))
            reactor_active();
        return wait.packet;
    }
    if (!timeout_ms) {
        reactor_look();
        if (!exported(port))
            reactor_active();
        if (!(wait.packet = take(port)))
            SetLastError(alertable && win_apcs_pending() ? WAIT_IO_COMPLETION : WAIT_TIMEOUT);
        return wait.packet;
    }
    if (!(wait.waiter = win_waiter_self()))
        return NULL;
    if (alertable) {
        if (!win_alert_begin(&alert, wait.waiter, NULL)) {
            SetLastError(WAIT_IO_COMPLETION);
            return NULL;
        }
        wait.alert = &alert;
    }
    closed = wait_asleep(port, &wait, win_deadline_ns(timeout_ms));
    if (alertable)
        came = win_alert_end(&alert);
    if (!wait.packet)
        SetLastError(came ? WAIT_IO_COMPLETION : closed ? ERROR_ABANDONED_WAIT_0 : WAIT_TIMEOUT);
    return wait.packet;
}

void win_port_clear(struct win_port *port)
{
    lock_acquire(&port->lock);
    clear_locked(port);
    lock_release(&port->lock);
}

HANDLE win_port_create(void)
{
    struct win_port *port = calloc(1, sizeof(*port));
    HANDLE handle;

    if (!port) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    lock_init(&port->lock, LOCK_WIN_OBJECT, "completion port");
    list_init(&port->packets);
    list_init(&port->threads);
    port->export_fd = -1;
    if (!(handle = win_handle_open(&port->object, &port_type)))
        free(port);
    return handle;
}

/*
 * GetQueuedCompletionStatus - takes the next packet; waits up to timeout_ms (0: does not wait; INFINITE).
 * Returns TRUE for a packet of a successful request. FALSE with *overlapped set: the packet of a failed request, its
 * status translated to the last error. FALSE with *overlapped NULL: no packet; WAIT_TIMEOUT, ERROR_INVALID_HANDLE,
 * ERROR_ABANDONED_WAIT_0 (another thread closed the port), ERROR_NOT_SUPPORTED (a port of another process, which alone
 * can take packets). A waiting thread does the library's pending work.
 */
BOOL WINAPI GetQueuedCompletionStatus(
    HANDLE handle, LPDWORD bytes, PULONG_PTR key, LPOVERLAPPED *overlapped, DWORD timeout_ms)
{
    struct win_port *port;
    struct win_packet *packet;
    LONG status;

    if (!overlapped) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *overlapped = NULL;
    if (!(port = win_port_pin(handle))) {
        win_remote_port_refuse(handle, "GetQueuedCompletionStatus");
        return FALSE;
    }
    packet = port_wait(port, timeout_ms, false);
    win_port_unpin(port);
    if (!packet)
        return FALSE;
    status = packet->status;
    if (bytes)
        *bytes = packet->bytes;
    if (key)
        *key = packet->key;
    *overlapped = packet->overlapped;
    win_packet_free(packet);
    if (status >= 0)
        return TRUE;
    SetLastError(win_error_from_status(status));
    return FALSE;
}

/*
 * GetQueuedCompletionStatusEx - takes up to count packets; waits for the first only. Failed requests count as packets:
 * their NTSTATUS is in Internal. FALSE: as above; ERROR_INVALID_PARAMETER for NULL arrays or count 0; if alertable,
 * WAIT_IO_COMPLETION: APCs of the calling thread (QueueUserAPC) have run, and no packet was taken.
 */
BOOL WINAPI GetQueuedCompletionStatusEx(HANDLE handle, LPOVERLAPPED_ENTRY entries, ULONG count,
    PULONG removed, DWORD timeout_ms, BOOL alertable)
{
    struct win_packet *packet;
    struct win_port *port;
    ULONG taken = 0;

    if (!entries || !count || !removed) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *removed = 0;
    if (!(port = win_port_pin(handle))) {
        win_remote_port_refuse(handle, "GetQueuedCompletionStatusEx");
        return FALSE;
    }
    for (packet = port_wait(port, timeout_ms, alertable); packet;
         packet = taken < count ? take(port) : NULL) {
        entries[taken++] = (OVERLAPPED_ENTRY){
            .lpCompletionKey = packet->key,
            .lpOverlapped = packet->overlapped,
            .Internal = (ULONG_PTR)(ULONG)packet->status,
            .dwNumberOfBytesTransferred = packet->bytes,
        };
        win_packet_free(packet);
    }
    win_port_unpin(port);
    *removed = taken;
    if (!taken && GetLastError() == WAIT_IO_COMPLETION) {
        win_apcs_run();
        SetLastError(WAIT_IO_COMPLETION); /* the functions may have changed it */
    }
    return taken > 0;
}

/*
 * PostQueuedCompletionStatus - queues a packet with three values of the program. To a port of another process (a handle
 * by DuplicateHandle or inheritance) it queues it there: in the order of the posts, and lost with that process.
 * FALSE with ERROR_INVALID_HANDLE (also: the other process has closed the port, or ended), ERROR_NOT_ENOUGH_MEMORY,
 * ERROR_NO_SYSTEM_RESOURCES (the other process has been stopped for 5 s, with more than 2,000 packets on their way).
 */
BOOL WINAPI PostQueuedCompletionStatus(
    HANDLE handle, DWORD bytes, ULONG_PTR key, LPOVERLAPPED overlapped)
{
    struct win_port *port = win_port_pin(handle);
    struct win_packet *packet;

    if (!port) {
        const DWORD error = win_remote_port_post(handle, bytes, key, overlapped);

        if (error)
            SetLastError(error);
        return !error;
    }
    if (!(packet = win_packet_new())) {
        win_port_unpin(port);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    packet->bytes = bytes;
    packet->key = key;
    packet->overlapped = overlapped;
    packet->status = 0;
    win_port_post(port, packet);
    win_port_unpin(port);
    return TRUE;
}
