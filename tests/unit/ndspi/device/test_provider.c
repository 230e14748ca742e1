/* SPDX-License-Identifier: MIT */
/* Which device is used, over two made-up verbs providers that can list devices and bind addresses, nothing else. */
#include "tests/unit/util/cmocka_test.h"
#include "tests/unit/util/log_catch.h"
#include "tests/support/spec_codes.h"

#include "ndspi/core/address.h"
#include "ndspi/core/device/provider.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the made-up providers ---- */

struct fake {
    const char *name; /* of its one device */
    uint64_t guid;
    bool present, loopback, active, no_cm;
    int opened;
    int list_error, open_error, bind_error; /* errno with which that fails now */
    struct ibv_device device;
    struct ibv_context context;
};

static struct fake rdma, soft;

static struct ibv_device **list_of(struct fake *fake, int *count)
{
    struct ibv_device **list = calloc(2, sizeof(*list));

    assert_non_null(list);
    if (fake->list_error) {
        free(list);
        errno = fake->list_error;
        return NULL;
    }
    snprintf(fake->device.name, sizeof(fake->device.name), "%s", fake->name);
    list[0] = fake->present ? &fake->device : NULL;
    *count = fake->present;
    return list;
}

static struct ibv_device **rdma_list(int *count)
{
    return list_of(&rdma, count);
}

static struct ibv_device **soft_list(int *count)
{
    return list_of(&soft, count);
}

static void free_list(struct ibv_device **list)
{
    free(list);
}

static const char *device_name(struct ibv_device *device)
{
    return device->name;
}

static struct fake *fake_of(struct ibv_device *device)
{
    return device == &rdma.device ? &rdma : &soft;
}

static __be64 device_guid(struct ibv_device *device)
{
    return htobe64(fake_of(device)->guid);
}

static struct ibv_context *open_device(struct ibv_device *device)
{
    struct fake *fake = fake_of(device);

    if (fake->open_error) {
        errno = fake->open_error;
        return NULL;
    }
    fake->opened++;
    fake->context.device = device;
    return &fake->context;
}

static int close_device(struct ibv_context *context)
{
    fake_of(context->device)->opened--;
    return 0;
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    (void)context;
    memset(attr, 0, sizeof(*attr));
    attr->phys_port_cnt = 1;
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->state = fake_of(context->device)->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    return port == 1 ? 0 : EINVAL;
}

static struct rdma_event_channel rdma_channel, soft_channel;

static struct rdma_event_channel *rdma_channel_create(void)
{
    errno = EACCES;
    return rdma.no_cm ? NULL : &rdma_channel;
}

static struct rdma_event_channel *soft_channel_create(void)
{
    return &soft_channel;
}

static void channel_destroy(struct rdma_event_channel *channel)
{
    (void)channel;
}

static int create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space ps)
{
    (void)ps;
    *id = calloc(1, sizeof(**id));
    assert_non_null(*id);
    (*id)->channel = channel;
    (*id)->context = context;
    return 0;
}

static int destroy_id(struct rdma_cm_id *id)
{
    free(id);
    return 0;
}

static int bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    struct fake *fake = id->channel == &rdma_channel ? &rdma : &soft;
    bool is_loopback = nd_address_is_loopback((struct sockaddr_storage *)address);

    if (fake->bind_error) {
        errno = fake->bind_error;
        return -1;
    }

    if (is_loopback && !fake->loopback) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    fake->context.device = &fake->device;
    id->verbs = &fake->context;
    id->port_num = 1;
    return 0;
}

#define COMMON                                                                                     \
    .free_device_list = free_list, .get_device_name = device_name, .get_device_guid = device_guid, \
    .open_device = open_device, .close_device = close_device, .query_device = query_device,        \
    .query_port = query_port, .destroy_event_channel = channel_destroy, .create_id = create_id,    \
    .destroy_id = destroy_id, .bind_addr = bind_addr

static const struct nd_verbs rdma_verbs = { .name = "rdma-core",
    .get_device_list = rdma_list,
    .create_event_channel = rdma_channel_create,
    COMMON };
static const struct nd_verbs soft_verbs = { .name = "softrdma",
    .get_device_list = soft_list,
    .create_event_channel = soft_channel_create,
    COMMON };

static int set_up(void **state)
{
    (void)state;
    memset(&rdma, 0, sizeof(rdma));
    memset(&soft, 0, sizeof(soft));
    rdma.name = "mlx0";
    rdma.guid = 0x1122334455667788;
    rdma.present = rdma.active = rdma.loopback = true;
    soft.name = "softrdma0";
    soft.guid = 0x99;
    soft.present = soft.active = soft.loopback = true;
    unsetenv("NDSPI_DEVICE");
    setenv("SYSFS_PATH", "/nonexistent", 1); /* not the devices of this machine */
    nd_provider_use(&rdma_verbs, &soft_verbs);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nd_provider_use(NULL, NULL);
    return rdma.opened || soft.opened; /* every device was closed again */
}

static HRESULT find_loopback(struct nd_device **device)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(1234), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    struct sockaddr_storage ip;

    assert_int_equal(nd_address_import((struct sockaddr *)&address, sizeof(address), &ip), 0);
    return nd_provider_find(&ip, device);
}

static struct nd_device *device_of_loopback(void)
{
    struct nd_device *device;

    assert_int_equal(find_loopback(&device), 0);
    return device;
}

static void test_provider_auto_prefers_a_usable_rdma_device(void **state)
{
    struct nd_device *device = device_of_loopback();

    (void)state;
    assert_non_null(device);
    assert_string_equal(device->name, "mlx0");
    assert_false(device->soft);
    assert_ptr_equal(device->verbs, &rdma_verbs);
    assert_int_equal(device->port, 1);
}

static void test_provider_auto_takes_soft_without_a_device(void **state)
{
    (void)state;
    rdma.present = false;
    assert_string_equal(device_of_loopback()->name, "softrdma0");
    assert_true(device_of_loopback()->soft);
}

static void test_provider_auto_takes_soft_when_the_connection_manager_is_missing(void **state)
{
    (void)state;
    rdma.no_cm = true;
    assert_string_equal(device_of_loopback()->name, "softrdma0");
}

static void test_provider_soft_ignores_rdma_devices(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    assert_string_equal(device_of_loopback()->name, "softrdma0");
}

static void test_provider_all_gives_shared_addresses_to_hardware(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "all", 1);
    assert_string_equal(device_of_loopback()->name, "mlx0");
    rdma.loopback = false;
    nd_provider_use(&rdma_verbs, &soft_verbs);
    assert_string_equal(device_of_loopback()->name, "softrdma0");
}

static void test_provider_names_one_device_and_never_falls_back(void **state)
{
    struct nd_device *device;

    (void)state;
    setenv("NDSPI_DEVICE", "mlx0", 1);
    assert_string_equal(device_of_loopback()->name, "mlx0");
    setenv("NDSPI_DEVICE", "softrdma0", 1);
    assert_string_equal(device_of_loopback()->name, "softrdma0");
    setenv("NDSPI_DEVICE", "mlx9", 1);
    assert_int_equal(find_loopback(&device), (HRESULT)SPEC_ND_INVALID_ADDRESS);
    assert_null(device);
}

static void test_provider_a_change_of_choice_needs_no_restart(void **state)
{
    (void)state;
    assert_string_equal(device_of_loopback()->name, "mlx0");
    setenv("NDSPI_DEVICE", "soft", 1);
    assert_string_equal(device_of_loopback()->name, "softrdma0");
}

static void test_provider_adapter_ids_are_stable_and_differ(void **state)
{
    struct nd_device *hardware, *embedded, *device;
    uint64_t id;

    (void)state;
    setenv("NDSPI_DEVICE", "mlx0", 1);
    hardware = device_of_loopback();
    id = hardware->adapter_id;
    assert_int_equal(nd_provider_device(id, &device), 0);
    assert_ptr_equal(device, hardware);
    setenv("NDSPI_DEVICE", "softrdma0", 1);
    embedded = device_of_loopback();
    assert_true(embedded->adapter_id != id);
    assert_int_equal(
        nd_provider_device(id, &device), (HRESULT)SPEC_ND_INVALID_PARAMETER); /* not in use now */
    assert_int_equal(nd_provider_device(id + 1, &device), (HRESULT)SPEC_ND_INVALID_PARAMETER);
    assert_null(device);
    setenv("NDSPI_DEVICE", "mlx0", 1);
    assert_ptr_equal(device_of_loopback(), hardware);
    assert_int_equal(hardware->adapter_id, id);
}

static void test_provider_list_holds_each_address_once_and_loopback_last(void **state)
{
    struct sockaddr_storage *addresses;
    bool loopback = false;
    unsigned count;

    (void)state;
    setenv("NDSPI_DEVICE", "all", 1);
    assert_int_equal(nd_provider_addresses(NULL, &addresses, &count), 0);
    assert_true(count > 0);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(nd_address_port_be(&addresses[i]), 0);
        assert_false(loopback && !nd_address_is_loopback(&addresses[i]));
        loopback = nd_address_is_loopback(&addresses[i]);
        for (unsigned k = 0; k < i; k++)
            assert_false(nd_address_same_ip(&addresses[i], &addresses[k]));
    }
    assert_true(loopback);
    free(addresses);
}

static void test_provider_list_of_a_device_holds_its_addresses_only(void **state)
{
    struct sockaddr_storage *addresses;
    unsigned count;

    (void)state;
    setenv("NDSPI_DEVICE", "all", 1);
    rdma.loopback = false;
    assert_true(device_of_loopback()->soft);
    assert_int_equal(nd_provider_addresses(device_of_loopback(), &addresses, &count), 0);
    assert_true(count >= 1);
    for (unsigned i = 0; i < count; i++)
        assert_true(nd_address_is_loopback(&addresses[i])); /* the others are mlx0's */
    free(addresses);
}

struct report {
    struct {
        char name[32], why[256];
        bool used;
        unsigned addresses;
    } rows[4];
    unsigned count;
};

static void collect(void *context, const struct nd_device *device, unsigned addresses,
    const struct nd_diagnosis *diagnosis)
{
    struct report *report = context;
    char text[ND_DIAGNOSIS_TEXT_OCTETS];

    if (strcmp(device->name, "mlx0") && strcmp(device->name, "mlx5") &&
        strcmp(device->name, "softrdma0"))
        return;
    assert_true(report->count < 4);
    snprintf(report->rows[report->count].name, 32, "%.31s", device->name);
    snprintf(report->rows[report->count].why, 256, "%.255s", nd_diagnosis_text(diagnosis, text));
    report->rows[report->count].addresses = addresses;
    report->rows[report->count++].used = nd_diagnosis_used(diagnosis);
}

/* The reason why a device is not used; "" when it is. */
static const char *why_not(struct report *report, const char *name)
{
    memset(report, 0, sizeof(*report));
    assert_int_equal(nd_provider_report(collect, report), ND_SUCCESS);
    for (unsigned i = 0; i < report->count; i++)
        if (!strcmp(report->rows[i].name, name))
            return report->rows[i].used ? "" : report->rows[i].why;
    return "not told of";
}

static void test_provider_report_says_why_each_device_is_not_used(void **state)
{
    struct report report;

    (void)state;
    assert_string_equal(why_not(&report, "mlx0"), "");
    assert_non_null(strstr(why_not(&report, "softrdma0"), "not needed"));
    setenv("NDSPI_DEVICE", "soft", 1);
    assert_non_null(strstr(why_not(&report, "mlx0"), "NDSPI_DEVICE=soft"));
    setenv("NDSPI_DEVICE", "all", 1);
    rdma.no_cm = true;
    nd_provider_use(&rdma_verbs, &soft_verbs);
    assert_non_null(strstr(why_not(&report, "mlx0"), "rdma_ucm"));
    assert_non_null(strstr(why_not(&report, "mlx0"), strerror(EACCES)));
    rdma.present = false;
    nd_provider_use(&rdma_verbs, &soft_verbs);
    assert_non_null(strstr(why_not(&report, "mlx0"), "gone"));
}

/* As NDSPI_RDMA_CORE=OFF builds it: the kernel has a device that no library lists. */
static void test_provider_without_libibverbs_says_so_of_the_kernels_devices(void **state)
{
    static const char *const folders[] = { "", "/class", "/class/infiniband",
        "/class/infiniband/mlx5" };
    static struct nd_verbs absent; /* devices keep it */
    char root[] = "/tmp/ndspi-sysfs-XXXXXX", path[64];
    struct report report;

    (void)state;
    assert_non_null(mkdtemp(root));
    for (int i = 1; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    setenv("SYSFS_PATH", root, 1);
    rdma.present = false;
    absent = rdma_verbs;
    absent.absent = true;
    nd_provider_use(&absent, &soft_verbs);
    assert_string_equal(why_not(&report, "mlx5"), "this build of ndspi is without libibverbs");
    assert_string_equal(device_of_loopback()->name, "softrdma0");
    for (int i = 3; i >= 0; i--) {
        snprintf(path, sizeof(path), "%s%s", root, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

static void test_provider_device_opens_anew_each_time_and_may_be_gone(void **state)
{
    struct nd_device *device = device_of_loopback();
    struct ibv_context *context;

    (void)state;
    context = nd_device_open(device, NULL);
    assert_ptr_equal(context, &rdma.context);
    assert_int_equal(rdma.opened, 1);
    close_device(context);
    rdma.present = false;
    assert_null(nd_device_open(device, NULL));
    assert_int_equal(errno, ENODEV);
}

/* ---- what the log says by default ---- */

/* Returns what the first look for devices logs with a choice; the second logs nothing. */
static const char *announcement(const char *choice)
{
    static char text[8192];
    struct nd_device *device;

    setenv("NDSPI_DEVICE", "softrdma0", 1);
    find_loopback(&device);
    setenv("NDSPI_DEVICE", choice, 1);
    nd_provider_use(&rdma_verbs, &soft_verbs);
    log_catch();
    find_loopback(&device);
    snprintf(text, sizeof(text), "%s", log_caught());
    nd_provider_use(&rdma_verbs, &soft_verbs);
    log_catch();
    find_loopback(&device);
    assert_string_equal(log_caught(), "");
    return text;
}

static void test_log_is_silent_where_all_is_as_expected(void **state)
{
    (void)state;
    assert_string_equal(announcement("auto"), "");
    assert_string_equal(announcement("mlx0"), "");
    assert_string_equal(announcement("soft"), "");
    rdma.active = false;
    assert_string_equal(announcement("soft"), "");
    rdma.present = false;
    assert_string_equal(announcement("auto"), "");
}

static void test_log_tells_of_hardware_that_is_not_used(void **state)
{
    (void)state;
    rdma.no_cm = true;
    assert_string_equal(announcement("auto"),
        "ndspi: warn: device: the embedded device is used, although there is RDMA hardware: mlx0: "
        "no permission on the connection manager's device file /dev/infiniband/rdma_cm (module "
        "rdma_ucm): Permission denied; remedy: allow this user to read and write it: a udev rule, "
        "a group, or chmod a+rw /dev/infiniband/rdma_cm. Set NDSPI_DEVICE=soft if that is "
        "intended; \"ndinfo\" shows more\n");
}

static void test_log_tells_why_a_named_device_is_not_used(void **state)
{
    (void)state;
    assert_string_equal(announcement("mlx9"),
        "ndspi: error: device: NDSPI_DEVICE=mlx9: there is no device of this name. There are: mlx0 "
        "softrdma0; or auto, soft, all. \"ndinfo\" shows more\n");
    rdma.active = false;
    assert_string_equal(announcement("mlx0"),
        "ndspi: error: device: NDSPI_DEVICE=mlx0: no device can be used. mlx0: its port is not "
        "active: down; remedy: check cable and switch, and bring its network interface up (ip "
        "link). \"ndinfo\" lists all devices\n");
}

static void test_remedies_can_be_typed(void **state)
{
    struct nd_diagnosis diagnosis = { .device = "mlx0", .error = EIO };
    char text[ND_DIAGNOSIS_TEXT_OCTETS];

    (void)state;
    snprintf(diagnosis.detail, sizeof(diagnosis.detail), "detail");
    for (int named = 0; named < 2; named++) {
        snprintf(diagnosis.netdev, sizeof(diagnosis.netdev), named ? "eth0" : "");
        for (int reason = 0; reason < ND_REASONS; reason++) {
            const char *remedy;

            diagnosis.reason = (enum nd_reason)reason;
            assert_null(strstr(nd_diagnosis_text(&diagnosis, text), "  "));
            assert_null(strstr(text, "INTERFACE"));
            if (!(remedy = nd_diagnosis_remedy(&diagnosis, text)))
                continue;
            assert_null(strstr(remedy, "ADDRESS"));
            assert_null(strstr(remedy, "PREFIX"));
            assert_null(strstr(remedy, "INTERFACE"));
            assert_null(strstr(remedy, "NAME"));
            assert_null(strchr(remedy, '%'));
            assert_null(strstr(remedy, "  "));
        }
    }
}

#define INSUFFICIENT_RESOURCES ((HRESULT)SPEC_ND_INSUFFICIENT_RESOURCES)
#define NO_MEMORY              ((HRESULT)SPEC_ND_NO_MEMORY)

/* Every question fails with the code; none does once the shortage is over, without a wait. */
static void expect_shortage(int *error, int value, HRESULT expected, const char *name)
{
    struct nd_device *device = &(struct nd_device){ 0 };
    struct sockaddr_storage *addresses;
    struct report report = { 0 };
    unsigned count;

    nd_provider_use(&rdma_verbs, &soft_verbs);
    *error = value;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(find_loopback(&device), expected);
        assert_null(device);
        assert_int_equal(nd_provider_device(0x99, &device), expected);
        assert_int_equal(nd_provider_addresses(NULL, &addresses, &count), expected);
        assert_int_equal(count, 0);
        assert_int_equal(nd_provider_report(collect, &report), expected);
        assert_int_equal(report.count, 0);
    }
    *error = 0;
    assert_int_equal(find_loopback(&device), 0);
    assert_string_equal(device->name, name);
    assert_int_equal(nd_provider_addresses(NULL, &addresses, &count), 0);
    assert_true(count > 0);
    free(addresses);
}

static void test_provider_a_shortage_fails_the_call_and_is_forgotten(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    expect_shortage(&soft.open_error, EMFILE, INSUFFICIENT_RESOURCES, "softrdma0");
    expect_shortage(&soft.open_error, ENFILE, INSUFFICIENT_RESOURCES, "softrdma0");
    expect_shortage(&soft.open_error, ENOMEM, NO_MEMORY, "softrdma0");
    expect_shortage(&soft.list_error, ENOMEM, NO_MEMORY, "softrdma0");
    expect_shortage(&soft.bind_error, EMFILE, INSUFFICIENT_RESOURCES, "softrdma0");
    expect_shortage(&soft.bind_error, EAGAIN, INSUFFICIENT_RESOURCES, "softrdma0");
    expect_shortage(&soft.bind_error, ENOBUFS, INSUFFICIENT_RESOURCES, "softrdma0");
    unsetenv("NDSPI_DEVICE");
    expect_shortage(&rdma.open_error, EMFILE, INSUFFICIENT_RESOURCES, "mlx0");
    expect_shortage(&rdma.bind_error, ENFILE, INSUFFICIENT_RESOURCES, "mlx0");
}

static int record_error; /* 1: there is no memory for the record of a device */

void *__real_calloc(size_t count, size_t octets);
/* Visible: a sanitizer's runtime refers to it. */
__attribute__((visibility("default"))) void *__wrap_calloc(size_t count, size_t octets);

void *__wrap_calloc(size_t count, size_t octets)
{
    return record_error && octets == sizeof(struct nd_device) ? NULL : __real_calloc(count, octets);
}

/* It is one that is not known yet. */
static void test_provider_a_device_without_a_record_is_not_taken_for_none(void **state)
{
    (void)state;
    setenv("NDSPI_DEVICE", "all", 1);
    rdma.present = false;
    soft.name = "softrdma-new";
    expect_shortage(&record_error, 1, NO_MEMORY, "softrdma-new");
    rdma.present = true;
    rdma.name = "mlx-new";
    expect_shortage(&record_error, 1, NO_MEMORY, "mlx-new");
}

/* A shortage of one device does not keep others from use; the next call asks that device again. */
static void test_provider_a_device_that_is_short_is_left_aside_until_the_next_call(void **state)
{
    (void)state;
    rdma.open_error = ENOMEM;
    assert_string_equal(device_of_loopback()->name, "softrdma0");
    rdma.open_error = 0;
    assert_string_equal(device_of_loopback()->name, "mlx0");
}

/* A shortage leaves known devices known: the provider lists them again when there are descriptors. */
static void test_provider_a_shortage_leaves_what_is_known(void **state)
{
    struct nd_device *before = device_of_loopback(), *device;
    uint64_t id = before->adapter_id;

    (void)state;
    rdma.open_error = EMFILE;
    setenv("NDSPI_DEVICE", "all", 1);
    assert_int_equal(find_loopback(&device), INSUFFICIENT_RESOURCES);
    rdma.open_error = 0;
    assert_int_equal(nd_provider_device(id, &device), 0);
    assert_ptr_equal(device, before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_provider_auto_prefers_a_usable_rdma_device),
        TEST(test_provider_auto_takes_soft_without_a_device),
        TEST(test_provider_auto_takes_soft_when_the_connection_manager_is_missing),
        TEST(test_provider_soft_ignores_rdma_devices),
        TEST(test_provider_all_gives_shared_addresses_to_hardware),
        TEST(test_provider_names_one_device_and_never_falls_back),
        TEST(test_provider_a_change_of_choice_needs_no_restart),
        TEST(test_provider_adapter_ids_are_stable_and_differ),
        TEST(test_provider_list_holds_each_address_once_and_loopback_last),
        TEST(test_provider_list_of_a_device_holds_its_addresses_only),
        TEST(test_provider_report_says_why_each_device_is_not_used),
        TEST(test_provider_without_libibverbs_says_so_of_the_kernels_devices),
        TEST(test_provider_device_opens_anew_each_time_and_may_be_gone),
        TEST(test_provider_a_shortage_fails_the_call_and_is_forgotten),
        TEST(test_provider_a_device_without_a_record_is_not_taken_for_none),
        TEST(test_provider_a_device_that_is_short_is_left_aside_until_the_next_call),
        TEST(test_provider_a_shortage_leaves_what_is_known),
        TEST(test_log_is_silent_where_all_is_as_expected),
        TEST(test_log_tells_of_hardware_that_is_not_used),
        TEST(test_log_tells_why_a_named_device_is_not_used),
        TEST(test_remedies_can_be_typed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
