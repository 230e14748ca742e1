/* SPDX-License-Identifier: MIT */
/*
 * What ndinfo says of devices and addresses, whole and broken. Arguments: ndinfo, and the same over a device with
 * faults.
 */
#include "tests/ndinfo/said.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *ndinfo, *ndinfo_fake;
static char sysfs[] = "/tmp/ndinfo-sysfs-XXXXXX";

/* ---- a sysfs of our own ---- */

/* Makes a folder below sysfs, with all above it. */
static void make_folder(const char *name)
{
    char path[PATH_MAX];
    size_t root = strlen(sysfs);

    snprintf(path, sizeof(path), "%s/%s/", sysfs, name);
    for (char *slash = strchr(path + root + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    assert_int_equal(access(path, F_OK), 0);
}

static void make_file(const char *folder, const char *name, const char *content)
{
    char path[PATH_MAX];
    FILE *file;

    make_folder(folder);
    snprintf(path, sizeof(path), "%s/%s/%s", sysfs, folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", content) > 0);
    assert_int_equal(fclose(file), 0);
}

/* A device the kernel knows without programs' way to it; one without its device file; a card without its module. */
static void make_kernel_devices(void)
{
    char link[PATH_MAX];

    make_folder("class/infiniband/unreached0");
    make_folder("class/infiniband/foreign0");
    make_file("class/infiniband_verbs/uverbs7", "ibdev", "foreign0");
    make_folder("class/net/eth9/device");
    snprintf(link, sizeof(link), "%s/class/net/eth9/device/driver", sysfs);
    assert_int_equal(symlink("../../../bus/pci/drivers/mlx5_core", link), 0);
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("FAULT");
    setenv("NDSPI_DEVICE", "fake0", 1);
    setenv("SYSFS_PATH", "/nonexistent", 1);
    return 0;
}

static int remove_sysfs(void **state)
{
    char command[PATH_MAX];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", sysfs);
    return system(command);
}

static int make_sysfs(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(sysfs));
    make_kernel_devices();
    return 0;
}

/* ---- what it says ---- */

static const char *text_of(json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

static json_t *find(json_t *rows, const char *key, const char *name)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (!strcmp(text_of(row, key), name)) return row;
    fail_msg("no row has %s \"%s\"", key, name);
    return NULL;
}

struct broken {
    const char *fault;         /* of faults.c, or NULL */
    const char *choice;        /* NDSPI_DEVICE */
    const char *kind, *name;   /* "device" or "address" */
    const char *code, *reason; /* of the row of that name */
    const char *remedy;
};

static const struct broken set_ups[] = {
    { "open_permission", "fake0", "device", "fake0", "no-permission",
        "no permission on the device file /dev/infiniband/uverbs_fake0: Permission denied",
        "chmod a+rw /dev/infiniband/uverbs_fake0" },
    { "open_missing", "fake0", "device", "fake0", "device-file-missing",
        "the device file /dev/infiniband/uverbs_fake0 does not exist",
        "--device=/dev/infiniband/uverbs_fake0" },
    { "open_broken", "fake0", "device", "fake0", "open-failed", "Input/output error", "dmesg" },
    { "cm_missing", "fake0", "device", "fake0", "module-not-loaded",
        "the kernel module rdma_ucm is not loaded", "modprobe rdma_ucm" },
    { "cm_permission", "fake0", "device", "fake0", "no-permission", "/dev/infiniband/rdma_cm",
        "chmod a+rw /dev/infiniband/rdma_cm" },
    { "cm_broken", "fake0", "device", "fake0", "no-connection-manager", "Input/output error",
        "dmesg" },
    { "port_down", "fake0", "device", "fake0", "port-down", "its port is not active: down",
        "check cable and switch, and bring its network interface up" },
    { "port_initializing", "fake0", "device", "fake0", "no-subnet-manager",
        "no subnet manager has configured it", "opensm" },
    { "no_address", "fake0", "device", "fake0", "no-address",
        "no IP address on its network interface", "give its network interface an address" },
    { "no_address", "fake0", "address", "127.0.0.1", "not-rdma",
        "its network interface lo is no RDMA device", "rdma link add siw_lo type siw netdev lo" },
    { "bind_broken", "fake0", "address", "127.0.0.1", "bind-failed", "Input/output error",
        "dmesg" },
    { "interfaces_down", "fake0", "address", "127.0.0.1", "interface-down",
        "the network interface lo is down", "ip link set lo up" },
    { "port_down", "fake0", "address", "127.0.0.1", "device-not-used",
        "it belongs to the device fake0, which is not used", "see the device fake0" },
    { "queues_broken", "fake0", "device", "fake0", "objects-failed", "it makes no queues",
        "other programs may hold" },
    { "register_broken", "fake0", "device", "fake0", "objects-failed",
        "it makes no registered memory: Input/output error", "other programs may hold" },
    { "register_broken", "fake0", "address", "127.0.0.1", "device-not-used",
        "its device does not work", "see the device" },
    { NULL, "nosuch0", "device", "nosuch0", "unknown", "NDSPI_DEVICE names it", "rdma link" },
    { NULL, "nosuch0", "device", "fake0", "not-chosen", "not chosen: NDSPI_DEVICE=nosuch0",
        "set NDSPI_DEVICE=fake0, or NDSPI_DEVICE=all" },
};

static const struct broken kernel_set_ups[] = {
    { NULL, "unreached0", "device", "unreached0", "module-not-loaded",
        "the kernel module ib_uverbs is not loaded", "modprobe ib_uverbs" },
    { NULL, "foreign0", "device", "foreign0", "device-file-missing",
        "the device file /dev/infiniband/uverbs7 does not exist", "see whether udev runs" },
    { NULL, "eth9", "device", "eth9", "module-not-loaded",
        "the kernel module mlx5_ib is not loaded", "modprobe mlx5_ib" },
};

/* The text and the JSON output report the same, and the status is no success. */
static void check(const struct broken *row)
{
    static struct program program;
    const char *plain[] = { ndinfo_fake, NULL }, *json[] = { ndinfo_fake, "--json", NULL };
    json_t *all, *found;

    print_message("  %s: %s %s\n", row->fault ? row->fault : "-", row->kind, row->name);
    if (row->fault)
        setenv("FAULT", row->fault, 1);
    else
        unsetenv("FAULT");
    setenv("NDSPI_DEVICE", row->choice, 1);
    program_run(&program, json);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "no adapter can be used");
    all = program_json(&program);
    assert_string_equal(text_of(all, "choice"), row->choice);
    assert_int_equal(json_array_size(json_object_get(all, "adapters")), 0);
    found = find(json_object_get(all, "unusable"), row->kind, row->name);
    assert_string_equal(text_of(found, "code"), row->code);
    assert_says(text_of(found, "reason"), row->reason);
    assert_says(text_of(found, "remedy"), row->remedy);
    program_run(&program, plain);
    assert_int_equal(program.status, 1);
    assert_says(program.said, text_of(found, "reason"));
    assert_says(program.said, text_of(found, "remedy"));
    json_decref(all);
}

static void test_each_broken_set_up_is_told_with_reason_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(set_ups) / sizeof(set_ups[0]); i++)
        check(&set_ups[i]);
}

static void test_what_only_the_kernel_knows_is_told(void **state)
{
    (void)state;
    setenv("SYSFS_PATH", sysfs, 1);
    for (size_t i = 0; i < sizeof(kernel_set_ups) / sizeof(kernel_set_ups[0]); i++)
        check(&kernel_set_ups[i]);
}

static void test_an_interface_is_known_by_its_link_layer_address(void **state)
{
    static const struct broken row = { "no_address", "fake0", "device", "fake0", "no-address",
        "no IP address on its network interface eth8", "give eth8 an address of its network" };

    (void)state;
    make_file("class/net/eth7", "address", "02:5e:00:0a:ff:02");
    make_file("class/net/eth8", "address", "02:5e:00:0a:ff:01");
    make_file(
        "class/infiniband/fake0/ports/1/gids", "0", "025e:000a:ff01:0000:0000:0000:0000:0000");
    setenv("SYSFS_PATH", sysfs, 1);
    check(&row);
}

static void test_a_device_whose_interface_is_down_is_told(void **state)
{
    static const struct broken row = { "interfaces_down", "fake0", "device", "fake0",
        "interface-down", "the network interface lo is down", "ip link set lo up" };

    (void)state;
    make_file("class/infiniband/fake0", "parent", "lo");
    setenv("SYSFS_PATH", sysfs, 1);
    check(&row);
}

static void with_memory_limit(rlim_t octets, const struct broken *row)
{
    struct rlimit old, limit;

    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
    limit = old;
    limit.rlim_cur = octets;
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    check(row);
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
}

static void test_the_limit_of_locked_memory_is_told(void **state)
{
    static const struct broken memory = { "memory_lock", "fake0", "device", "fake0",
        "memlock-limit", "no memory for registered memory within the limit of 32 KiB",
        "ulimit -l unlimited" };
    static const struct broken queues = { "queues_memory", "fake0", "device", "fake0",
        "memlock-limit", "no memory for queues within the limit of 32 KiB",
        "LimitMEMLOCK=infinity" };

    (void)state;
    with_memory_limit(32768, &memory);
    with_memory_limit(32768, &queues);
}

static void test_a_broken_device_is_told_beside_the_one_used_in_its_place(void **state)
{
    static struct program program;
    const char *arguments[] = { ndinfo_fake, "--json", NULL };
    json_t *all;

    (void)state;
    setenv("NDSPI_DEVICE", "auto", 1);
    setenv("FAULT", "open_permission", 1);
    program_run(&program, arguments);
    assert_int_equal(program.status, 0);
    all = program_json(&program);
    find(json_object_get(all, "adapters"), "device", "softrdma0");
    assert_string_equal(text_of(find(json_object_get(all, "unusable"), "device", "fake0"), "code"),
        "no-permission");
    json_decref(all);
}

static void test_an_argument_has_to_be_usable(void **state)
{
    static struct program program;
    const char *fake[] = { ndinfo_fake, "fake0", NULL },
               *soft[] = { ndinfo_fake, "softrdma0", NULL };
    const char *address[] = { ndinfo_fake, "127.0.0.1", NULL };
    const char *nobody[] = { ndinfo_fake, "127.0.0.1", "nobody0", NULL };

    (void)state;
    setenv("NDSPI_DEVICE", "auto", 1);
    program_run(&program, fake);
    assert_int_equal(program.status, 0);
    assert_null(strstr(program.said, "softrdma0"));
    program_run(&program, soft);
    assert_int_equal(program.status, 1);
    assert_says(program.said, "not needed: an RDMA device is in use");
    program_run(&program, address);
    assert_int_equal(program.status, 0);
    program_run(&program, nobody);
    assert_int_equal(program.status, 1);
    assert_says(program.said, "not used: device nobody0");
}

static void test_a_usable_adapter_is_told_in_full(void **state)
{
    static struct program program;
    const char *json[] = { ndinfo_fake, "--json", NULL }, *plain[] = { ndinfo_fake, NULL };
    json_t *all, *adapter;

    (void)state;
    program_run(&program, json);
    assert_int_equal(program.status, 0);
    all = program_json(&program);
    adapter = find(json_object_get(all, "adapters"), "device", "fake0");
    assert_int_equal(json_integer_value(json_object_get(adapter, "port")), 1);
    assert_string_equal(text_of(adapter, "provider"), "rdma-core");
    assert_string_equal(text_of(adapter, "transport"), "RoCE");
    assert_string_equal(text_of(adapter, "firmware"), "1");
    assert_int_equal(json_integer_value(json_object_get(adapter, "vendor_id")), 0xfa6e);
    find(json_object_get(adapter, "addresses"), "address", "127.0.0.1");
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(adapter, "limits"), "MaxInitiatorQueueDepth")),
        4095);
    assert_int_equal(json_array_size(json_object_get(adapter, "flags")), 4);
    json_decref(all);
    program_run(&program, plain);
    assert_int_equal(program.status, 0);
    assert_says(program.said, "fake0 port 1 (rdma-core, ");
    assert_says(program.said, "addresses: 127.0.0.1\n");
    assert_says(program.said, "MaxInitiatorQueueDepth       4095\n");
    assert_says(program.said, "flags: in-order-dma multi-engine cq-resize loopback-connections\n");
}

static void test_the_embedded_device_is_usable(void **state)
{
    static struct program program;
    const char *arguments[] = { ndinfo, "-j", NULL };
    json_t *all, *adapter;

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    program_run(&program, arguments);
    assert_int_equal(program.status, 0);
    all = program_json(&program);
    adapter = find(json_object_get(all, "adapters"), "device", "softrdma0");
    assert_string_equal(text_of(adapter, "transport"), "iWARP");
    find(json_object_get(adapter, "addresses"), "address", "127.0.0.1");
    json_decref(all);
}

static void test_addresses_that_the_host_does_not_have_are_told(void **state)
{
    static struct program program;
    const char *arguments[] = { ndinfo, "--json", "a", NULL };
    json_t *all, *device;

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_DEVICES", "a=203.0.113.77", 1);
    program_run(&program, arguments);
    unsetenv("NDSPI_SOFT_DEVICES");
    assert_int_equal(program.status, 1);
    all = program_json(&program);
    device = find(json_object_get(all, "unusable"), "device", "a");
    assert_string_equal(text_of(device, "code"), "no-address");
    assert_says(text_of(device, "reason"), "none of its addresses is on a network interface");
    assert_says(text_of(device, "remedy"), "NDSPI_SOFT_DEVICES");
    json_decref(all);
}

static void test_a_list_without_devices_is_told(void **state)
{
    static struct program program;
    const char *arguments[] = { ndinfo, "--json", NULL };

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_DEVICES", ";;", 1);
    program_run(&program, arguments);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "NDSPI_SOFT_DEVICES=\";;\" names no device that can be used");
    setenv("NDSPI_SOFT_DEVICES", "a=,;b=nonsense", 1);
    program_run(&program, arguments);
    unsetenv("NDSPI_SOFT_DEVICES");
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "device a has no address that can be read; it is left out");
    assert_says(program.complained, "device b has no address that can be read; it is left out");
    assert_says(program.complained, "names no device that can be used");
}

/* With the limit that is to be raised. */
static void test_too_few_descriptors_are_told(void **state)
{
    static struct program program;
    const char *const arguments[] = { "/bin/sh", "-c", "ulimit -n 7; exec \"$0\"", ndinfo, NULL };

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    program_run(&program, arguments);
    assert_int_equal(program.status, 1);
    assert_says(program.complained, "looking for devices failed (ND_INSUFFICIENT_RESOURCES)");
    assert_says(program.complained, "remedy: raise the limits of open files (ulimit -n)");
}

static void test_addresses_left_out_of_the_embedded_device_are_told(void **state)
{
    static struct program program;
    const char *arguments[] = { ndinfo, "--json", "127.0.0.1", NULL };
    json_t *all;

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_SOFT_DEVICES", "a=127.0.0.2", 1);
    program_run(&program, arguments);
    unsetenv("NDSPI_SOFT_DEVICES");
    assert_int_equal(program.status, 1);
    all = program_json(&program);
    assert_string_equal(
        text_of(find(json_object_get(all, "unusable"), "address", "127.0.0.1"), "code"),
        "not-served");
    json_decref(all);
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* Once, though each library of the process reads it. */
static void test_bad_environment_is_told_once(void **state)
{
    static struct program program;
    const char *const arguments[] = { ndinfo, NULL };

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    setenv("NDSPI_DEVCIE", "all", 1);
    setenv("NDSPI_LOG", "warn,tarce", 1);
    setenv("NDSPI_LOG_FILE", "/nonexistent/log", 1);
    program_run(&program, arguments);
    unsetenv("NDSPI_DEVCIE");
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    assert_int_equal(program.status, 0);
    assert_says(program.complained,
        "NDSPI_LOG: unknown word \"tarce\"; levels: none error warn info debug; topics: device cm "
        "cq qp mr soft win wire ndk\n");
    assert_says(program.complained,
        "unknown variable NDSPI_DEVCIE; the variables are: NDSPI_CHECK NDSPI_COUNTERS");
    assert_says(program.complained, "NDSPI_LOG_FILE: cannot open /nonexistent/log: No such file");
    assert_int_equal(count_of(program.complained, "\n"), 3);
}

/* Also arguments that mean nothing to the command, which nothing else would show. */
static void test_wrong_arguments_are_told(void **state)
{
    static struct program program;
    static const char *const wrong[][4] = {
        { "--count takes a number from 1 to 1000000, not: 0", "--serve", "--count", "0" },
        { "--rounds takes a number from 1 to 1000000, not: 2x", "--rounds", "2x" },
        { "--timeout takes a number from 1 to 3600, not: -1", "--timeout", "-1" },
        { "--rounds needs --probe", "--rounds", "5" },
        { "--rounds needs --probe", "--serve", "--rounds", "5" },
        { "--count needs --serve", "--probe=127.0.0.1", "--count", "5" },
        { "--timeout needs --probe or --serve", "--json", "--timeout", "5" },
        { "not an IP address: 127.0.0.1.2", "--serve", "127.0.0.1.2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const arguments[] = { ndinfo, wrong[i][1], wrong[i][2], wrong[i][3], NULL };

        program_run(&program, arguments);
        assert_says(program.complained, wrong[i][0]);
        assert_int_equal(program.status, 2);
    }
}

/* A report that was not written is no success. */
static void test_an_output_that_takes_nothing_is_told(void **state)
{
    static struct program program;
    static const char *const ways[][2] = {
        { "exec \"$0\" > /dev/full", "No space left on device" },
        { "exec \"$0\" --json > /dev/full", "No space left on device" },
        { "exec \"$0\" --help > /dev/full", "No space left on device" },
        { "exec \"$0\" --version > /dev/full", "No space left on device" },
        { "exec \"$0\" >&-", "Bad file descriptor" },
        { "exec \"$0\" --json <&- >&-", "Bad file descriptor" },
    };

    (void)state;
    setenv("NDSPI_DEVICE", "soft", 1);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const char *const arguments[] = { "/bin/sh", "-c", ways[i][0], ndinfo, NULL };

        program_run(&program, arguments);
        assert_says(program.complained, "ndinfo: cannot write to standard output: ");
        assert_says(program.complained, ways[i][1]);
        assert_int_equal(program.status, 1);
    }
}

static void test_wrong_addresses_are_told_what_is_wrong(void **state)
{
    static struct program program;
    static const char *const wrong[][2] = {
        { "127.0.0.1:65536", "a port is a number from 0 to 65535, not \"65536\"" },
        { "127.0.0.1:http", "a port is a number from 0 to 65535, not \"http\"" },
        { "127.0.0.1.2", "not an IP address: 127.0.0.1.2" },
        { "[::1", "[ADDRESS]:PORT is the form for IPv6, not [::1" },
        { "[127.0.0.1]:80", "only an IPv6 address is written in brackets: [127.0.0.1]:80" },
        { "::1::2", "not an IPv6 address: ::1::2" },
        { "fe80::1", "a link-local address needs its network interface: fe80::1%eth0" },
        { "fe80::1%nosuch0", "no network interface is called nosuch0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *const arguments[] = { ndinfo, "--probe", wrong[i][0], NULL };

        program_run(&program, arguments);
        assert_int_equal(program.status, 2);
        assert_says(program.complained, wrong[i][1]);
    }
}

static void test_wrong_arguments_are_status_2(void **state)
{
    static struct program program;
    const char *const lines[][5] = {
        { ndinfo, "--nonsense", NULL },
        { ndinfo, "--probe", NULL },
        { ndinfo, "--probe", "127.0.0.1.2", NULL },
        { ndinfo, "--probe", "127.0.0.1:65536", NULL },
        { ndinfo, "--probe", "[::1", NULL },
        { ndinfo, "--probe", "127.0.0.1", "superfluous", NULL },
        { ndinfo, "--serve", "--probe", "127.0.0.1", NULL },
        { ndinfo, "--serve", "127.0.0.1", "127.0.0.2", NULL },
        { ndinfo, "--serve", "--json", NULL },
        { ndinfo, "--timeout", "0", NULL },
        { ndinfo, "--rounds", "many", NULL },
    };
    const char *help[] = { ndinfo, "-h", NULL };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        program_run(&program, lines[i]);
        assert_int_equal(program.status, 2);
        assert_string_equal(program.said, "");
        assert_true(program.complained[0]);
    }
    program_run(&program, help);
    assert_int_equal(program.status, 0);
    assert_says(program.said, "usage: ndinfo");
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_broken_set_up_is_told_with_reason_and_remedy),
        TEST(test_what_only_the_kernel_knows_is_told),
        TEST(test_an_interface_is_known_by_its_link_layer_address),
        TEST(test_a_device_whose_interface_is_down_is_told),
        TEST(test_the_limit_of_locked_memory_is_told),
        TEST(test_a_broken_device_is_told_beside_the_one_used_in_its_place),
        TEST(test_an_argument_has_to_be_usable),
        TEST(test_a_usable_adapter_is_told_in_full),
        TEST(test_the_embedded_device_is_usable),
        TEST(test_addresses_left_out_of_the_embedded_device_are_told),
        TEST(test_addresses_that_the_host_does_not_have_are_told),
        TEST(test_a_list_without_devices_is_told),
        TEST(test_too_few_descriptors_are_told),
        TEST(test_bad_environment_is_told_once),
        TEST(test_wrong_addresses_are_told_what_is_wrong),
        TEST(test_wrong_arguments_are_told),
        TEST(test_an_output_that_takes_nothing_is_told),
        TEST(test_wrong_arguments_are_status_2),
    };

    if (argc < 3)
        return 1;
    ndinfo = argv[1];
    ndinfo_fake = argv[2];
    return cmocka_run_group_tests(tests, make_sysfs, remove_sysfs);
}
