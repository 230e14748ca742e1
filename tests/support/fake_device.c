/* SPDX-License-Identifier: MIT */
/* fake_device.c - the verbs half, its device and memory; fake_cq.c and fake_qp.c: completion and work queues. */
#include "tests/support/fake_device.h"

#include "tests/support/fake_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

static struct ibv_device fake_ibv_device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = FAKE_DEVICE_NAME,
    .dev_name = "uverbs_fake0",
};

atomic_flag fake_lock_word = ATOMIC_FLAG_INIT;
struct fake_state fake = {
    .port_state = IBV_PORT_ACTIVE, .link_layer = IBV_LINK_LAYER_ETHERNET, .read_sge = FAKE_SGE_MAX
};

static struct ibv_async_event fake_async[FAKE_EVENTS_MAX];
static unsigned fake_async_head, fake_async_count;

void fake_abort(const char *what)
{
    fprintf(stderr, "fake device: %s\n", what);
    abort();
}

int fake_descriptor(void)
{
    int fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);

    if (fd < 0)
        fake_abort("no descriptor");
    return fd;
}

void *fake_new(size_t octets)
{
    void *object = calloc(1, octets);

    if (!object)
        fake_abort("out of memory");
    fake_lock();
    fake.live++;
    fake_unlock();
    return object;
}

void fake_free(void *object)
{
    fake_lock();
    fake.live--;
    fake_unlock();
    free(object);
}

bool fake_gone(void)
{
    if (fake.removed)
        errno = EIO;
    return fake.removed;
}

bool fake_fails(enum fake_call call)
{
    int error;

    fake_lock();
    error = fake.error[call];
    fake_unlock();
    if (fake_gone())
        return true;
    if (error)
        errno = error;
    return error;
}

void fake_break(enum fake_call call, int error)
{
    fake_lock();
    fake.error[call] = error;
    fake_unlock();
}

void fake_set_port(enum ibv_port_state state, uint8_t link_layer)
{
    fake_lock();
    fake.port_state = state;
    fake.link_layer = link_layer;
    fake_unlock();
}

void fake_set_read_sge(int entries)
{
    fake_lock();
    fake.read_sge = entries;
    fake_unlock();
}

void fake_set_send_entries(unsigned entries)
{
    fake_lock();
    fake.send_entries = entries;
    fake_unlock();
}

void fake_set_memory_lock(bool counts)
{
    fake_lock();
    fake.memory_lock = counts;
    fake_unlock();
}

/* ------------------------------------------------------------------------------------------------
 * device */

static struct ibv_mw *fake_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct ibv_mw *mw;

    if (fake_gone())
        return NULL;
    mw = fake_new(sizeof *mw);
    *mw = (struct ibv_mw){ .context = pd->context, .pd = pd, .rkey = 0x7700, .type = type };
    return mw;
}

static int fake_dealloc_mw(struct ibv_mw *mw)
{
    fake_free(mw);
    return 0;
}

static void fake_context_init(struct ibv_context *context)
{
    context->device = &fake_ibv_device;
    context->ops.alloc_mw = fake_alloc_mw;
    context->ops.dealloc_mw = fake_dealloc_mw;
    context->ops.poll_cq = fake_poll_cq;
    context->ops.req_notify_cq = fake_req_notify_cq;
    context->ops.post_send = fake_post_send;
    context->ops.post_recv = fake_post_recv;
    context->async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    context->num_comp_vectors = 1;
    if (context->async_fd < 0)
        fake_abort("no descriptor");
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = fake_new(2 * sizeof *list);

    list[0] = &fake_ibv_device;
    if (num_devices)
        *num_devices = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    fake_free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    (void)device;
    return htobe64(0xfa6e000000000001);
}

/* librdmacm has its own context for the ids; here it is the one that the program opened, or this one. */
struct ibv_context *fake_cm_context(void)
{
    static struct ibv_context context;

    fake_lock();
    if (!context.device)
        fake_context_init(&context);
    fake_unlock();
    return &context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *context;

    (void)device;
    if (fake_fails(FAKE_OPEN_DEVICE))
        return NULL;
    context = fake_new(sizeof *context);
    fake_context_init(context);
    fake_lock();
    fake.context = context;
    fake_unlock();
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    fake_lock();
    if (fake.context == context)
        fake.context = NULL;
    fake_async_count = 0;
    fake_unlock();
    close(context->async_fd);
    fake_free(context);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    *attr = (struct ibv_device_attr){
        .fw_ver = "1",
        .node_guid = htobe64(0xfa6e000000000001),
        .max_mr_size = UINT64_MAX,
        .page_size_cap = 4096,
        .vendor_id = 0xfa6e,
        .vendor_part_id = 1,
        .max_qp = 1024,
        .max_qp_wr = FAKE_QUEUE_MAX,
        .device_cap_flags =
            IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .max_sge = FAKE_SGE_MAX,
        .max_sge_rd = fake.read_sge,
        .max_cq = 1024,
        .max_cqe = FAKE_CQ_MAX,
        .max_mr = 1024,
        .max_pd = 64,
        .max_qp_rd_atom = 16,
        .max_qp_init_rd_atom = 16,
        .max_res_rd_atom = 1024,
        .max_mw = 1024,
        .phys_port_cnt = 1,
    };
    return 0;
}

int ibv_query_port(
    struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

    (void)context;
    if (port_num != 1)
        return EINVAL;
    fake_lock();
    attr->state = fake.port_state;
    attr->link_layer = fake.link_layer;
    fake_unlock();
    attr->max_mtu = attr->active_mtu = IBV_MTU_4096;
    attr->gid_tbl_len = attr->pkey_tbl_len = 1;
    attr->max_msg_sz = 1u << 30;
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    (void)context;
    if (port_num != 1 || index != 0)
        return EINVAL;
    memset(gid, 0, sizeof *gid);
    memcpy(gid->raw + 10, "\xff\xff\x7f\x00\x00\x01", 6); /* ::ffff:127.0.0.1 */
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    (void)context;
    *pkey = 0xffff;
    return port_num == 1 && index == 0 ? 0 : EINVAL;
}

void fake_async_raise(const struct ibv_async_event *event)
{
    uint64_t one = 1;

    fake_lock();
    if (fake_async_count == FAKE_EVENTS_MAX || !fake.context)
        fake_abort("the program takes no asynchronous events");
    fake_async[(fake_async_head + fake_async_count++) % FAKE_EVENTS_MAX] = *event;
    if (write(fake.context->async_fd, &one, sizeof one) != sizeof one)
        fake_abort("eventfd");
    fake_unlock();
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    uint64_t one;

    if (read(context->async_fd, &one, sizeof one) != sizeof one)
        return -1;
    fake_lock();
    *event = fake_async[fake_async_head];
    fake_async_head = (fake_async_head + 1) % FAKE_EVENTS_MAX;
    fake_async_count--;
    fake.async_unacked++;
    fake_unlock();
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
    fake_lock();
    if (fake.async_unacked-- == 0)
        fake_abort("acknowledged an asynchronous event that was not taken");
    fake_unlock();
}

/* ------------------------------------------------------------------------------------------------
 * memory */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd;

    if (fake_gone())
        return NULL;
    pd = fake_new(sizeof *pd);
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    fake_free(pd);
    return 0;
}

static bool fake_locks_too_much(size_t length)
{
    struct rlimit limit;

    if (!fake.memory_lock || getrlimit(RLIMIT_MEMLOCK, &limit) || length <= limit.rlim_cur)
        return false;
    errno = ENOMEM;
    return true;
}

struct ibv_mr *ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
    struct ibv_mr *mr;

    (void)iova;
    (void)access;
    if (fake_fails(FAKE_REG_MR) || fake_locks_too_much(length))
        return NULL;
    mr = fake_new(sizeof *mr);
    *mr = (struct ibv_mr){ .context = pd->context,
        .pd = pd,
        .addr = addr,
        .length = length,
        .lkey = 0x100,
        .rkey = 0x200 };
    return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    fake_free(mr);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * for the tests */

void fake_set_mode(enum fake_mode mode)
{
    fake_lock();
    fake.mode = mode;
    fake_unlock();
}

void fake_raise_device_fatal(void)
{
    fake_async_raise(&(struct ibv_async_event){ .event_type = IBV_EVENT_DEVICE_FATAL });
}

void fake_remove(void)
{
    fake_lock();
    fake.removed = true;
    fake_unlock();
}

unsigned fake_live(void)
{
    unsigned live;

    fake_lock();
    live = fake.live;
    fake_unlock();
    return live;
}

void fake_reset(void)
{
    fake_lock();
    fake.mode = FAKE_IMMEDIATE;
    fake.removed = false;
    fake.no_answer = false;
    fake.silent_neighbours = 0;
    fake.taken_ports = 0;
    memset(fake.error, 0, sizeof fake.error);
    fake.port_state = IBV_PORT_ACTIVE;
    fake.link_layer = IBV_LINK_LAYER_ETHERNET;
    fake.memory_lock = false;
    fake.read_sge = FAKE_SGE_MAX;
    fake.send_entries = 0;
    fake_unlock();
}
