/* SPDX-License-Identifier: MIT */
/*
 * port.h - one port of an opened device, with what it can do.
 *
 * Capabilities are found by trying; the rest are quirks of the device's family (quirks.h), which take precedence. The
 * core reads this and nothing else of a device: never its name.
 */
#ifndef NDSPI_CORE_DEVICE_PORT_H
#define NDSPI_CORE_DEVICE_PORT_H

#include "ndspi/verbs/quirks.h"
#include "ndspi/verbs/verbs.h"

/* What a memory window is made of. */
enum nd_windows {
    ND_WINDOWS_REGISTERED, /* a registration of its own */
    ND_WINDOWS_EXACT,      /* a type 2 window over a registration of its own */
    ND_WINDOWS_REAL,       /* a type 2 window over the region */
};

/* How memory is registered by requests, page by page, under any address and one key. */
enum nd_fast_register {
    ND_FAST_NONE,
    ND_FAST_DEVICE, /* the device has such a request */
    ND_FAST_WINDOWS, /* a type 2 window over a registration under that address, which the call makes */
};
/* The most pages of ND_PAGE_OCTETS in one such region. */
enum { ND_PAGE_OCTETS = 4096, ND_FAST_PAGES = 256 };

struct nd_caps {
    const char *family; /* its name in the log */
    nd_quirk_set quirks;
    enum nd_windows windows;
    enum nd_fast_register fast_register;
    const char *no_fast_register; /* ND_FAST_NONE: why, for the log */
    uint32_t max_fast_pages;      /* ND_FAST_NONE: 0 */
    bool send_invalidate;         /* Send with invalidation of the peer's window */
    bool cq_resize;
    bool srq;
    bool srq_resize;
};

#define nd_has_quirk(caps, name) (((caps)->quirks & ND_QUIRK_BIT(name)) != 0)

struct nd_port {
    const struct nd_verbs *verbs;
    struct ibv_context *context;
    uint8_t number;
    struct ibv_pd *pd;
    struct ibv_cq *over_lost_key; /* quirk LOST_KEY: occupies the lost key */
    struct ibv_device_attr attr;
    struct ibv_port_attr port_attr;
    struct nd_caps caps;
};

/*
 * nd_port_init - take over an opened device; port->verbs and port->context are a shim's where its family needs one.
 * context  in: closed by nd_port_fini; not when this fails
 * number   in: the port, from 1
 * soft     in: whether it is the embedded device
 * Returns 0 or a negative errno. A shortage of memory or descriptors never counts as a missing capability: this fails
 * with that errno.
 */
int nd_port_init(struct nd_port *port, const struct nd_verbs *verbs, struct ibv_context *context,
    uint8_t number, bool soft);
void nd_port_fini(struct nd_port *port);

#endif
