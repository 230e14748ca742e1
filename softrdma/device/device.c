/* SPDX-License-Identifier: MIT */
/* device.c - the list of devices, opening contexts, and queries. */
#include "softrdma/device/device.h"

#include "softrdma/absent.h"
#include "softrdma/device/addr.h"
#include "softrdma/queues/cq.h"
#include "softrdma/memory/dma.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/qp.h"
#include "util/fork.h"
#include "util/log.h"
#include "util/once.h"
#include "util/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct lock lock; /* LOCK_SRD_DEVICE; held while a shared context is opened */
    struct srd_device *devices;
    int count;
} all = { .lock = LOCK_INIT(LOCK_SRD_DEVICE, "softrdma devices") };

static struct once once = ONCE_INIT;

/*
 * Hashes host and device name (FNV-1a, mixed once more), so that each run gets the same GUID, and each device another.
 */
static uint64_t make_guid(const char *name)
{
    char host[256] = "";
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    gethostname(host, sizeof(host) - 1);
    for (const char *p = host; *p; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001B3);
    hash = (hash ^ '/') * UINT64_C(0x100000001B3);
    for (const char *p = name; *p; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001B3);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

static struct srd_device *add_device(const char *name)
{
    struct srd_device *devices = realloc(all.devices, (size_t)(all.count + 1) * sizeof(*devices));
    struct srd_device *device;

    if (!devices)
        return NULL;
    all.devices = devices;
    device = &devices[all.count];
    memset(device, 0, sizeof(*device));
    device->ibv.node_type = IBV_NODE_RNIC;
    device->ibv.transport_type = IBV_TRANSPORT_IWARP;
    snprintf(device->ibv.name, sizeof(device->ibv.name), "%s", name);
    snprintf(device->ibv.dev_name, sizeof(device->ibv.dev_name), "%s", name);
    device->guid = make_guid(name);
    return device;
}

/* Appends an address to the device's list. Returns 0 or ENOMEM. */
static int add_address(struct srd_device *device, const struct sockaddr_storage *addr)
{
    struct sockaddr_storage *grown =
        realloc(device->addrs, (size_t)(device->n_addrs + 1) * sizeof(*addr));

    if (!grown)
        return ENOMEM;
    device->addrs = grown;
    device->addrs[device->n_addrs++] = *addr;
    return 0;
}

/* Adds the device of one "name=addr[,addr...]", which it cuts up. Returns 0, also when it adds none, or ENOMEM. */
static int parse_device(char *text)
{
    char *list = strchr(text, '=');
    struct srd_device *device;
    char *save = NULL;

    if (!list || list == text || !list[1] || list - text >= IBV_SYSFS_NAME_MAX) {
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_SOFT_DEVICES: \"%s\" is not name=address[,address...]; this device is left out",
            text);
        return 0;
    }
    *list++ = 0;
    if (!(device = add_device(text)))
        return ENOMEM;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        struct sockaddr_storage addr;
        if (srd_addr_parse(word, &addr)) {
            log_write(LOG_ERROR, LOG_DEVICE,
                "NDSPI_SOFT_DEVICES: device %s: \"%s\" is not a numeric address; it is left out",
                text, word);
            continue;
        }
        if (add_address(device, &addr)) {
            free(device->addrs);
            return ENOMEM;
        }
    }
    /* A device without an address would have every address of the host. */
    if (device->n_addrs)
        all.count++;
    else
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_SOFT_DEVICES: device %s has no address that can be read; it is left out", text);
    return 0;
}

static void forked(void)
{
    lock_init(&all.lock, LOCK_SRD_DEVICE, "softrdma devices");
    for (int i = 0; once_done(&once) && i < all.count; i++) {
        struct srd_device *device = &all.devices[i];
        /* The tables' objects were the parent's. Their memory stays: the program may still destroy them. */
        device->qps = NULL;
        device->n_qps = 0;
        device->free_qp = UINT32_MAX;
        device->ports = NULL;
        lock_init(&device->qp_lock, LOCK_SRD_DEVICE, "softrdma qps");
        srd_stag_table_init(&device->stags);
        atomic_store_explicit(&device->shared, NULL, memory_order_relaxed);
    }
}

FORK_CHILD(forked);

/* Adds the devices that the environment names, or softrdma0. Returns 0 or ENOMEM. */
static int name_devices(void)
{
    const char *spec = setting_text("NDSPI_SOFT_DEVICES");
    char *copy, *save = NULL;
    int error = 0;

    if (!spec) {
        if (!add_device("softrdma0"))
            return ENOMEM;
        all.count = 1;
        return 0;
    }
    if (!(copy = strdup(spec)))
        return ENOMEM;
    for (char *word = strtok_r(copy, ";", &save); word && !error; word = strtok_r(NULL, ";", &save))
        error = parse_device(word);
    free(copy);
    if (!error && !all.count)
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_SOFT_DEVICES=\"%s\" names no device that can be used, so softrdma has none: "
            "unset it for softrdma0, which serves all addresses",
            spec);
    return error;
}

static int make_devices(void)
{
    int error, made = 0;

    /* The child of a fork may find a list that a thread of its parent had begun: it forgets that list. */
    all.devices = NULL;
    all.count = 0;
    error = name_devices();
    for (; !error && made < all.count; made++) {
        lock_init(&all.devices[made].qp_lock, LOCK_SRD_DEVICE, "softrdma qps");
        all.devices[made].free_qp = UINT32_MAX;
        all.devices[made].strict = setting_on("NDSPI_STRICT");
        if ((error = srd_stag_table_init(&all.devices[made].stags)))
            break;
    }
    if (!error)
        return 0;
    for (int i = 0; i < all.count; i++) {
        free(all.devices[i].addrs);
        if (i < made)
            srd_stag_table_fini(&all.devices[i].stags);
    }
    free(all.devices);
    all.devices = NULL;
    all.count = 0;
    return error;
}

struct ibv_device **srd_get_device_list(int *num_devices)
{
    struct ibv_device **list;

    if (once_run(&once, make_devices) ||
        !(list = calloc((size_t)all.count + 1, sizeof(struct ibv_device *)))) {
        errno = ENOMEM;
        return NULL;
    }
    for (int i = 0; i < all.count; i++)
        list[i] = &all.devices[i].ibv;
    if (num_devices)
        *num_devices = all.count;
    return list;
}

void srd_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *srd_get_device_name(struct ibv_device *device)
{
    return device->name;
}

__be64 srd_get_device_guid(struct ibv_device *device)
{
    return htobe64(((struct srd_device *)device)->guid);
}

struct srd_device *srd_device_by_addr(const struct sockaddr *addr)
{
    if (once_run(&once, make_devices))
        return NULL;
    for (int i = 0; i < all.count; i++) {
        struct srd_device *device = &all.devices[i];
        if (!device->n_addrs)
            return device;
        for (int a = 0; a < device->n_addrs; a++)
            if (srd_addr_same_host((struct sockaddr *)&device->addrs[a], addr))
                return device;
    }
    return NULL;
}

static int query_port_ex(
    struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t octets)
{
    struct ibv_port_attr full;
    int error = srd_query_port(context, port_num, &full);

    if (!error)
        memcpy(attr, &full, octets < sizeof(full) ? octets : sizeof(full));
    return error;
}

static int query_device_ex(struct ibv_context *context,
    const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr, size_t octets)
{
    (void)input;
    if (octets < sizeof(attr->orig_attr))
        return EINVAL;
    memset(attr, 0, octets);
    if (octets >=
        offsetof(struct ibv_device_attr_ex, phys_port_cnt_ex) + sizeof(attr->phys_port_cnt_ex))
        attr->phys_port_cnt_ex = 1;
    if (octets >= offsetof(struct ibv_device_attr_ex, cq_mod_caps) + sizeof(attr->cq_mod_caps))
        attr->cq_mod_caps = (struct ibv_cq_moderation_caps){ UINT16_MAX, UINT16_MAX };
    return srd_query_device(context, &attr->orig_attr);
}

/* Fails, with a line in the log: without this function verbs.h would fail the call itself, and log nothing. */
static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    (void)context, (void)attr;
    srd_absent(SRD_ABSENT_XRC);
    errno = EOPNOTSUPP;
    return NULL;
}

struct ibv_context *srd_open_device(struct ibv_device *device)
{
    struct srd_context *context = calloc(1, sizeof(*context));
    struct ibv_context *ibv;
    int error;

    if (!context)
        return NULL;
    srd_dma_guard();
    error = srd_evq_init(&context->async, "softrdma async");
    if (error) {
        free(context);
        errno = -error;
        return NULL;
    }
    list_init(&context->async_unacked);
    context->device = (struct srd_device *)device;
    context->generation = srd_generation;
    context->verbs.sz = sizeof(context->verbs);
    context->verbs.query_port = query_port_ex;
    context->verbs.query_device_ex = query_device_ex;
    context->verbs.create_qp_ex = srd_create_qp_ex;
    context->verbs.create_cq_ex = srd_create_cq_ex;
    context->verbs.open_xrcd = open_xrcd;
    context->verbs.modify_cq = srd_modify_cq;
    ibv = &context->verbs.context;
    ibv->device = device;
    ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
    ibv->cmd_fd = -1;
    ibv->async_fd = context->async.fd;
    ibv->num_comp_vectors = 1;
    pthread_mutex_init(&ibv->mutex, NULL);
    ibv->ops.alloc_mw = srd_alloc_mw;
    ibv->ops.dealloc_mw = srd_dealloc_mw;
    ibv->ops.bind_mw = srd_bind_mw;
    ibv->ops.poll_cq = srd_poll_cq;
    ibv->ops.req_notify_cq = srd_req_notify_cq;
    ibv->ops.post_send = srd_post_send;
    ibv->ops.post_recv = srd_post_recv;
    ibv->ops.post_srq_recv = srd_post_srq_recv;
    return ibv;
}

int srd_close_device(struct ibv_context *ibv)
{
    struct srd_context *context = srd_context_from(ibv);
    unsigned users = atomic_load_explicit(&context->users, memory_order_acquire);

    if (users) {
        log_write(LOG_WARN, LOG_DEVICE, "close_device %s: %u objects of the context still exist",
            ibv->device->name, users);
        return errno = EBUSY;
    }
    srd_evq_fini(&context->async);
    pthread_mutex_destroy(&ibv->mutex);
    free(context);
    return 0;
}

/* Opens the device's shared context. The caller holds all.lock. */
static struct srd_context *open_shared(struct srd_device *device)
{
    struct ibv_context *ibv = srd_open_device(&device->ibv);

    if (!ibv)
        return NULL;
    device->shared_pd = srd_alloc_pd(ibv);
    if (!device->shared_pd) {
        srd_close_device(ibv);
        return NULL;
    }
    atomic_store_explicit(&device->shared, srd_context_from(ibv), memory_order_release);
    return srd_context_from(ibv);
}

struct ibv_context *srd_device_shared(struct srd_device *device, struct ibv_pd **pd)
{
    struct srd_context *context = atomic_load_explicit(&device->shared, memory_order_acquire);

    if (!context) {
        lock_acquire(&all.lock);
        context = atomic_load_explicit(&device->shared, memory_order_relaxed);
        if (!context)
            context = open_shared(device);
        lock_release(&all.lock);
    }
    *pd = context ? device->shared_pd : NULL;
    return context ? &context->verbs.context : NULL;
}

int srd_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){
        .fw_ver = "0.1",
        .node_guid = srd_get_device_guid(context->device),
        .sys_image_guid = srd_get_device_guid(context->device),
        .max_mr_size = SRD_MAX_MR_SIZE,
        .page_size_cap = ~UINT64_C(0xFFF),
        .vendor_id = SRD_VENDOR_ID,
        .vendor_part_id = 1,
        .max_qp = SRD_MAX_QP,
        .max_qp_wr = SRD_MAX_QP_WR,
        .device_cap_flags =
            IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .max_sge = SRD_MAX_SGE,
        .max_sge_rd = srd_device_of(context)->strict ? 1 : SRD_MAX_SGE_RD,
        .max_cq = SRD_MAX_CQ,
        .max_cqe = SRD_MAX_CQE,
        .max_mr = SRD_MAX_MR,
        .max_pd = SRD_MAX_PD,
        .max_qp_rd_atom = SRD_MAX_RD_ATOM,
        .max_res_rd_atom = SRD_MAX_RD_ATOM * SRD_MAX_QP,
        .max_qp_init_rd_atom = SRD_MAX_RD_ATOM,
        .atomic_cap = IBV_ATOMIC_GLOB, /* only softrdma peers have Atomics */
        .max_mw = SRD_MAX_MW,
        .max_srq = SRD_MAX_SRQ,
        .max_srq_wr = SRD_MAX_SRQ_WR,
        .max_srq_sge = SRD_MAX_SRQ_SGE,
        .max_pkeys = 1,
        .phys_port_cnt = 1,
    };
    return 0;
}

int srd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
    if (port_num != 1)
        return errno = EINVAL;
    *attr = (struct ibv_port_attr){
        .state = IBV_PORT_ACTIVE,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = srd_addr_count(srd_device_of(context)),
        .max_msg_sz = SRD_MAX_MSG_SIZE,
        .pkey_tbl_len = 1,
        .phys_state = 5, /* link up */
        .active_width = 2,
        .active_speed = 4,
        .link_layer = IBV_LINK_LAYER_ETHERNET,
    };
    return 0;
}

int srd_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    (void)context;
    if (port_num != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(0xFFFF);
    return 0;
}
