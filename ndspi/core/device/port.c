/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/port.h"

#include "ndspi/verbs/shim/shim.h"

#include "util/log.h"
#include "util/settings.h"
#include "util/shortage.h"

#include <errno.h>
#include <string.h>

static bool try_windows(struct nd_port *port)
{
    struct ibv_mw *mw;

    if (!(port->attr.device_cap_flags &
            (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
        return false;
    mw = ibv_alloc_mw(port->pd, IBV_MW_TYPE_2);
    if (!mw)
        return false;
    ibv_dealloc_mw(mw);
    return true;
}

/* Returns why a call failed: a negative errno for a shortage, or 0: the device cannot do that. */
static int shortage(void)
{
    return errno_is_shortage(errno) ? -errno : 0;
}

/* Returns 0, or a negative errno of a shortage. So does try_srq. */
static int try_cq(struct nd_port *port)
{
    struct ibv_cq *cq;

    errno = 0;
    if (!(cq = port->verbs->create_cq(port->context, 3, NULL, NULL, 0)))
        return shortage();
    port->caps.cq_resize = !port->verbs->resize_cq(cq, 7);
    port->verbs->destroy_cq(cq);
    return 0;
}

static int try_srq(struct nd_port *port)
{
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct ibv_srq_attr attr = { .max_wr = 16 };
    struct ibv_srq *srq;

    errno = 0;
    if (!port->attr.max_srq)
        return 0;
    if (!(srq = port->verbs->create_srq(port->pd, &init)))
        return shortage();
    port->caps.srq = true;
    port->caps.srq_resize = !port->verbs->modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
    port->verbs->destroy_srq(srq);
    return 0;
}

static enum nd_windows kind_of_windows(nd_quirk_set quirks)
{
    if (quirks & ND_QUIRK_BIT(NO_WINDOWS))
        return ND_WINDOWS_REGISTERED;
    return quirks & ND_QUIRK_BIT(WINDOW_BOUNDS) ? ND_WINDOWS_EXACT : ND_WINDOWS_REAL;
}

/* Fast regions require that a peer can invalidate a key and that the program learns of it. */
static void find_fast_register(const struct nd_port *port, struct nd_caps *caps)
{
    if (port->verbs->post_fast_reg)
        caps->fast_register = ND_FAST_DEVICE;
    else if (caps->windows == ND_WINDOWS_REGISTERED)
        caps->no_fast_register = "there are no type 2 memory windows";
    else if (nd_has_quirk(caps, INVALIDATED_UNTOLD))
        caps->no_fast_register = "a Receive does not tell that its sender invalidated a key";
    else if (!caps->send_invalidate)
        caps->no_fast_register = "there is no Send with invalidation";
    else if (!port->verbs->reg_mr_iova)
        caps->no_fast_register = "memory cannot be registered under another address";
    else
        caps->fast_register = ND_FAST_WINDOWS;
    caps->max_fast_pages = caps->fast_register == ND_FAST_NONE ? 0 : ND_FAST_PAGES;
}

/* The quirks of other families that the embedded device shows with NDSPI_STRICT. */
#define STRICT                                                                                     \
    (ND_QUIRK_BIT(SOLICITED) | ND_QUIRK_BIT(READ_SINK) | ND_QUIRK_BIT(NO_RECEIVER_WAIT) |          \
        ND_QUIRK_BIT(FEWER_READ_ENTRIES) | ND_QUIRK_BIT(FIXED_SRQ) | ND_QUIRK_BIT(FIXED_CQ))

/* Returns 0, or a negative errno: a shortage keeps us from finding out what the device can do. */
static int find_caps(struct nd_port *port, const struct nd_family *family)
{
    struct nd_caps *caps = &port->caps;
    int rc;

    *caps = (struct nd_caps){
        .family = family->name,
        .quirks = family->quirks,
        .send_invalidate = port->attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS,
    };
    if (family->soft && setting_on("NDSPI_STRICT"))
        caps->quirks |= STRICT;
    if (!nd_has_quirk(caps, NO_WINDOWS) && !try_windows(port))
        caps->quirks |= ND_QUIRK_BIT(NO_WINDOWS);
    caps->windows = kind_of_windows(caps->quirks);
    find_fast_register(port, caps);
    if ((rc = try_cq(port)))
        return rc;
    return try_srq(port);
}

/*
 * Quirk LOST_KEY: keys are the first free pages of the context, 4 KiB each, from 0 on, and the lost one is page 144.
 * Creates a queue from page 0 to 128 and one after it to page 145, then destroys the first.
 */
static void cover_lost_key(struct nd_port *port)
{
    /* An entry has 32 octets, and each queue has one page besides. */
    enum { ENTRIES_BEFORE = 16384, ENTRIES_OVER = 2048 };
    struct ibv_cq *before;
    int error;

    if (!nd_has_quirk(&port->caps, LOST_KEY))
        return;
    before = port->verbs->create_cq(port->context, ENTRIES_BEFORE, NULL, NULL, 0);
    if (before)
        port->over_lost_key = port->verbs->create_cq(port->context, ENTRIES_OVER, NULL, NULL, 0);
    error = errno;
    if (before)
        port->verbs->destroy_cq(before);
    if (!port->over_lost_key)
        log_write(LOG_INFO, LOG_DEVICE, "%s: only some dozens of queues can be created: %s",
            port->verbs->get_device_name(port->context->device), strerror(error));
}

/* Returns 0 or a negative errno. */
static int find_all(struct nd_port *port, const struct nd_family *family)
{
    int rc;

    if (!(port->pd = port->verbs->alloc_pd(port->context)))
        return errno ? -errno : -ENOMEM;
    if ((rc = find_caps(port, family)))
        port->verbs->dealloc_pd(port->pd);
    return rc;
}

int nd_port_init(struct nd_port *port, const struct nd_verbs *verbs, struct ibv_context *context,
    uint8_t number, bool soft)
{
    const struct nd_family *family;
    int rc;

    memset(port, 0, sizeof(*port));
    port->verbs = verbs;
    port->context = context;
    port->number = number;
    if ((rc = verbs->query_device(context, &port->attr)) ||
        (rc = verbs->query_port(context, number, &port->port_attr)))
        return rc > 0 ? -rc : -EIO;
    family = nd_family_of(&port->attr, context->device->transport_type, soft);
    if (family->quirks & ND_QUIRK_BIT(NO_CONNECTIONS)) {
        log_write(LOG_WARN, LOG_DEVICE, "%s (%s) has no reliable connections: not usable",
            verbs->get_device_name(context->device), family->name);
        return -EOPNOTSUPP;
    }
    if (family->quirks & ND_SHIM_QUIRKS &&
        (rc = nd_shim_open(&port->verbs, &port->context, family->quirks)))
        return rc;
    if ((rc = find_all(port, family))) {
        if (port->verbs != verbs)
            nd_shim_remove(&port->verbs, &port->context);
        return rc;
    }
    cover_lost_key(port);
    if (port->caps.windows != ND_WINDOWS_REAL)
        log_write(LOG_INFO, LOG_DEVICE,
            "%s port %u (%s): memory windows have registrations of their own",
            verbs->get_device_name(context->device), number, port->caps.family);
    return 0;
}

void nd_port_fini(struct nd_port *port)
{
    int rc;

    if (port->over_lost_key)
        port->verbs->destroy_cq(port->over_lost_key);
    if ((rc = port->verbs->dealloc_pd(port->pd)))
        log_write(LOG_ERROR, LOG_DEVICE, "cannot free a protection domain: %s", strerror(rc));
    if (port->verbs->close_device(port->context))
        log_write(LOG_ERROR, LOG_DEVICE, "cannot close the device: %s", strerror(errno));
}
