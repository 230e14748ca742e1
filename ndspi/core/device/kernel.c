/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path below sysfs. */
__attribute__((format(printf, 2, 3))) static void sysfs(
    char path[PATH_MAX], const char *format, ...)
{
    const char *root = secure_getenv("SYSFS_PATH");
    int length = snprintf(path, PATH_MAX, "%s/", root && *root ? root : "/sys");
    va_list arguments;

    if (length >= PATH_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(path + length, (size_t)(PATH_MAX - length), format, arguments);
    va_end(arguments);
}

/* The first line of a file, "" when there is none. */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");

    *line = 0;
    if (!file)
        return;
    if (fgets(line, (int)size, file))
        line[strcspn(line, "\n")] = 0;
    else
        *line = 0;
    fclose(file);
}

/* Calls visit with each name in a directory until it returns true. */
static void each_entry(
    const char *path, bool (*visit)(void *context, const char *name), void *context)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (!directory)
        return;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.' && visit(context, entry->d_name))
            break;
    closedir(directory);
}

static bool take_name(void *context, const char *name)
{
    snprintf(context, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, name);
    return true;
}

enum { MAC_TEXT_OCTETS = sizeof("xx:xx:xx:xx:xx:xx") };

struct wanted_mac {
    char mac[MAC_TEXT_OCTETS];
    char *netdev; /* has room for IF_NAMESIZE */
};

static bool has_mac(void *context, const char *name)
{
    struct wanted_mac *wanted = context;
    char path[PATH_MAX], mac[MAC_TEXT_OCTETS];

    sysfs(path, "class/net/%s/address", name);
    read_line(path, mac, sizeof(mac));
    return !strcmp(mac, wanted->mac) && take_name(wanted->netdev, name);
}

/* The only GID of an iWARP port is its interface's link-layer address, and zeros. */
static void netdev_by_gid(const char *device, unsigned port, char netdev[IF_NAMESIZE])
{
    struct wanted_mac wanted = { .netdev = netdev };
    char path[PATH_MAX], gid[sizeof("xxxx:xxxx:xxxx:xxxx:xxxx:xxxx:xxxx:xxxx")];
    unsigned short word[3];
    int octets = 0;

    sysfs(path, "class/infiniband/%s/ports/%u/gids/0", device, port);
    read_line(path, gid, sizeof(gid));
    if (sscanf(gid, "%4hx:%4hx:%4hx%n", &word[0], &word[1], &word[2], &octets) != 3 ||
        strcmp(gid + octets, ":0000:0000:0000:0000:0000") != 0)
        return;
    snprintf(wanted.mac, sizeof(wanted.mac), "%02x:%02x:%02x:%02x:%02x:%02x", word[0] >> 8,
        word[0] & 0xff, word[1] >> 8, word[1] & 0xff, word[2] >> 8, word[2] & 0xff);
    sysfs(path, "class/net");
    each_entry(path, has_mac, &wanted);
}

void nd_kernel_netdev(const char *device, unsigned port, char netdev[IF_NAMESIZE])
{
    char path[PATH_MAX];

    /*
     * First devices whose GIDs are addresses; then software devices over a network interface; then the interface on the
     * same card.
     */
    sysfs(path, "class/infiniband/%s/ports/%u/gid_attrs/ndevs/0", device, port);
    read_line(path, netdev, IF_NAMESIZE);
    if (!*netdev) {
        sysfs(path, "class/infiniband/%s/parent", device);
        read_line(path, netdev, IF_NAMESIZE);
    }
    if (!*netdev) {
        sysfs(path, "class/infiniband/%s/device/net", device);
        each_entry(path, take_name, netdev);
    }
    if (!*netdev)
        netdev_by_gid(device, port, netdev);
}

static struct nd_found_port *add(struct nd_found *found, const char *name)
{
    struct nd_found_port *port;

    for (unsigned i = 0; i < found->ports; i++)
        if (!strcmp(found->port[i].name, name))
            return NULL;
    if (found->ports == ND_SCAN_PORTS_MAX)
        return NULL;
    port = &found->port[found->ports++];
    memset(port, 0, sizeof(*port));
    snprintf(port->name, sizeof(port->name), "%.*s", ND_DEVICE_NAME_OCTETS - 1, name);
    return port;
}

struct uverbs {
    const char *device;
    char file[ND_DEVICE_NAME_OCTETS]; /* its name in /dev/infiniband; "" until it is found */
};

static bool is_of_device(void *context, const char *name)
{
    struct uverbs *uverbs = context;
    char path[PATH_MAX], device[ND_DEVICE_NAME_OCTETS];

    sysfs(path, "class/infiniband_verbs/%s/ibdev", name);
    read_line(path, device, sizeof(device));
    if (strcmp(device, uverbs->device) != 0)
        return false;
    snprintf(uverbs->file, sizeof(uverbs->file), "%.*s", ND_DEVICE_NAME_OCTETS - 1, name);
    return true;
}

static bool add_device(void *context, const char *name)
{
    struct nd_found_port *port = add(context, name);
    struct uverbs uverbs = { .device = name };
    char path[PATH_MAX];

    if (!port)
        return false;
    sysfs(path, "class/infiniband_verbs");
    each_entry(path, is_of_device, &uverbs);
    nd_kernel_netdev(name, 1, port->diagnosis.netdev);
    snprintf(path, sizeof(path), "/dev/infiniband/%s", uverbs.file);
    if (!*uverbs.file)
        nd_diagnosis_set(&port->diagnosis, ND_REASON_NO_UVERBS, 0, "%s", "");
    else if (access(path, F_OK)) /* libibverbs does not list these */
        nd_diagnosis_set_open(&port->diagnosis, errno, uverbs.file);
    else
        nd_diagnosis_set(&port->diagnosis, ND_REASON_NO_DRIVER, 0, "%s", "");
    return false;
}

/* Drivers of network cards, and the modules that make RDMA devices of them. */
static const struct {
    const char *driver, *module;
} modules[] = {
    { "mlx4_core", "mlx4_ib" },
    { "mlx5_core", "mlx5_ib" },
    { "ice", "irdma" },
    { "bnxt_en", "bnxt_re" },
    { "cxgb4", "iw_cxgb4" },
    { "hns3", "hns_roce_hw_v2" },
    { "qede", "qedr" },
    { "mana", "mana_ib" },
};

static const char *module_of(const char *netdev)
{
    char path[PATH_MAX], target[PATH_MAX];
    const char *driver;
    ssize_t length;

    sysfs(path, "class/net/%s/device/driver", netdev);
    length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return NULL;
    target[length] = 0;
    driver = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (!strcmp(modules[i].driver, driver))
            return modules[i].module;
    return NULL;
}

static bool add_card(void *context, const char *netdev)
{
    const char *module = module_of(netdev);
    struct nd_found_port *port;
    char path[PATH_MAX];

    if (!module)
        return false;
    sysfs(path, "module/%s", module);
    if (!access(path, F_OK)) /* the module is loaded: this card of the driver cannot do RDMA */
        return false;
    port = add(context, netdev);
    if (port) {
        snprintf(port->diagnosis.netdev, IF_NAMESIZE, "%.*s", IF_NAMESIZE - 1, netdev);
        nd_diagnosis_set(&port->diagnosis, ND_REASON_MODULE_MISSING, 0, "%s", module);
    }
    return false;
}

void nd_kernel_add_unlisted(struct nd_found *found)
{
    char path[PATH_MAX];

    sysfs(path, "class/infiniband");
    each_entry(path, add_device, found);
    sysfs(path, "class/net");
    each_entry(path, add_card, found);
}
