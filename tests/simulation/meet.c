/* SPDX-License-Identifier: MIT */
/*
 * meet.c - how an end comes to its stream. Where octets go by TCP it is attached at once. Where the two ends share
 * memory they change over as softrdma/cm does: the passive end gives its share to the connection, and sends its Reply
 * by TCP; the active one takes the Reply, then does the same. All behind that goes through the memory.
 */
#include "simulation.h"

#include <errno.h>
#include <string.h>

enum { REPLY_OCTETS = 300 };

static bool is_in_startup(const struct end *end)
{
    return srd_life_phase(&end->conn->life) == SRD_CONN_STARTUP;
}

/* Whether this call of several is to attach it. */
static bool begins(struct end *end)
{
    if (end->begun)
        return false;
    end->begun = true;
    return true;
}

static void accept_peer(struct end *end)
{
    uint8_t reply[REPLY_OCTETS];
    int error = 0;

    end->reply_octets = 1 + below(REPLY_OCTETS);
    memset(reply, 0x5a, sizeof(reply));
    say("host %d link %d: replies, %u octets", end->host, end->link, end->reply_octets);
    lock_acquire(&end->owner_lock);
    if (is_in_startup(end)) {
        srd_conn_give_share(end->conn, end->share);
        error = srd_conn_send(end->conn, reply, end->reply_octets);
    }
    if (error)
        srd_conn_close(end->conn);
    lock_release(&end->owner_lock);
}

/* The first octets are there, or the end of the peer. */
static bool passive_ready(struct end *end)
{
    ssize_t got = end->reply_octets ? srd_conn_flush(end->conn) : -EAGAIN;

    if (!got && end->reply_octets)
        got = srd_conn_fill(end->conn);
    if (got <= 0 && got != -EAGAIN)
        srd_conn_close(end->conn);
    return got > 0 && begins(end);
}

static bool takes_reply(struct end *end)
{
    struct srd_conn *conn = end->conn;
    uint32_t octets = peer_of(end)->reply_octets;

    if (!octets || conn->in_octets < octets)
        return false;
    CHECK(
        conn->in_octets == octets, "%zu octets of a stream come by TCP", conn->in_octets - octets);
    conn->in_octets = 0;
    say("host %d link %d: has the Reply", end->host, end->link);
    srd_conn_give_share(conn, end->share);
    end->met = true;
    return true;
}

static bool active_ready(struct end *end)
{
    ssize_t got = srd_conn_fill(end->conn);

    if (got == -EAGAIN)
        return false;
    if (got <= 0) {
        srd_conn_close(end->conn);
        return false;
    }
    if (end->met) {
        srd_conn_watch(end->conn, false, false); /* what comes behind waits for the program */
        return false;
    }
    return takes_reply(end) && below(2) && begins(end);
}

void meet_ready(struct end *end)
{
    bool now = false;

    if (!sim.set.shared[end->link])
        return; /* not attached yet: the octets wait */
    lock_acquire(&end->owner_lock);
    if (is_in_startup(end))
        now = end->host ? passive_ready(end) : active_ready(end);
    lock_release(&end->owner_lock);
    if (now)
        attach(end);
}

/* The whole Reply is with the kernel. */
static bool has_replied(struct end *end)
{
    bool replied;

    lock_acquire(&end->owner_lock);
    replied = is_in_startup(end) && end->conn->out_sent == end->conn->out_octets;
    lock_release(&end->owner_lock);
    return replied;
}

/* The passive end waits for the first octets of a peer that is to show itself by them. */
static bool may_be_silent(void)
{
    return sim.set.rtr == SRD_MPA_RTR_NONE || sim.part == PART_DRAIN;
}

void meet(struct end *end)
{
    if (end->begun)
        return;
    if (!sim.set.shared[end->link]) {
        if ((end->host || peer_of(end)->attached) && begins(end))
            attach(end);
    } else if (end->host && !end->reply_octets) {
        accept_peer(end);
    } else if ((end->host ? may_be_silent() && has_replied(end) : end->met) && begins(end)) {
        attach(end);
    }
}
