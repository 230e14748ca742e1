/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/diagnosis.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMIT_REMEDY                                                                               \
    "raise the limit of locked memory: ulimit -l unlimited; for good, \"* - memlock unlimited\" "  \
    "in /etc/security/limits.conf, LimitMEMLOCK=infinity in a systemd unit, --ulimit memlock=-1 "  \
    "for a container"

/*
 * %d device, %i its network interface, %e the error, %x the detail. A remedy can be typed as it is: if the interface is
 * not known, the remedy is another one (unnamed), and a text omits the name and the blank before it.
 */
static const struct {
    const char *code, *text, *remedy, *unnamed;
} words[ND_REASONS] = {
    [ND_REASON_USED] = { "used", "in use%x", NULL, NULL },
    [ND_REASON_NOT_CHOSEN] = { "not-chosen", "not chosen: NDSPI_DEVICE=%x",
        "set NDSPI_DEVICE=%d, or NDSPI_DEVICE=all", NULL },
    [ND_REASON_NOT_NEEDED] = { "not-needed", "not needed: an RDMA device is in use",
        "NDSPI_DEVICE=soft would use this one instead, NDSPI_DEVICE=all besides", NULL },
    [ND_REASON_GONE] = { "gone", "gone: the system lists it no longer",
        "look in the kernel's log (dmesg) for the reason", NULL },
    [ND_REASON_NO_UVERBS] = { "module-not-loaded",
        "programs cannot reach it: the kernel module ib_uverbs is not loaded", "modprobe ib_uverbs",
        NULL },
    [ND_REASON_NO_DRIVER] = { "no-user-driver", "libibverbs has no driver for it",
        "install the package ibverbs-providers, or the driver its maker provides", NULL },
    [ND_REASON_NOT_BUILT] = { "not-built", "this build of ndspi is without libibverbs",
        "build ndspi with -DNDSPI_RDMA_CORE=ON", NULL },
    [ND_REASON_MODULE_MISSING] = { "module-not-loaded",
        "the card can do RDMA, but the kernel module %x is not loaded", "modprobe %x", NULL },
    [ND_REASON_FILE_MISSING] = { "device-file-missing", "the device file %x does not exist",
        "in a container, hand it in (--device=%x); else see whether udev runs", NULL },
    [ND_REASON_PERMISSION] = { "no-permission", "no permission on the device file %x: %e",
        "allow this user to read and write it: a udev rule, a group, or chmod a+rw %x; in a "
        "container also --device=%x",
        NULL },
    [ND_REASON_OPEN_FAILED] = { "open-failed", "it cannot be opened: %e",
        "look in the kernel's log (dmesg) for the reason", NULL },
    [ND_REASON_NO_DESCRIPTORS] = { "no-descriptors", "it cannot be queried now: %e",
        "raise the limit of open files (ulimit -n), or look for what leaves files open", NULL },
    [ND_REASON_CM_MISSING] = { "module-not-loaded",
        "no connection manager: the kernel module rdma_ucm is not loaded",
        "modprobe rdma_ucm; in a container, hand in the device file "
        "(--device=/dev/infiniband/rdma_cm)",
        NULL },
    [ND_REASON_CM_PERMISSION] = { "no-permission",
        "no permission on the connection manager's device file /dev/infiniband/rdma_cm "
        "(module rdma_ucm): %e",
        "allow this user to read and write it: a udev rule, a group, or chmod a+rw "
        "/dev/infiniband/rdma_cm",
        NULL },
    [ND_REASON_CM_FAILED] = { "no-connection-manager", "no connection manager (rdma_ucm): %e",
        "look in the kernel's log (dmesg) for the reason", NULL },
    [ND_REASON_PORT_DOWN] = { "port-down", "its port is not active%x",
        "check cable, switch and \"ip link show %i\"; bring the network interface up: "
        "ip link set %i up",
        "check cable and switch, and bring its network interface up (ip link)" },
    [ND_REASON_NO_SUBNET_MANAGER] = { "no-subnet-manager",
        "its port has a link, but no subnet manager has configured it",
        "run a subnet manager (opensm) on the fabric", NULL },
    [ND_REASON_INTERFACE_DOWN] = { "interface-down", "the network interface %i is down",
        "ip link set %i up", "bring its network interface up (ip link)" },
    [ND_REASON_NO_ADDRESS] = { "no-address", "no IP address on its network interface %i",
        "give %i an address of its network (ip address add)",
        "give its network interface an address of its network (ip address add)" },
    [ND_REASON_NO_HOST_ADDRESS] = { "no-address",
        "none of its addresses is on a network interface of this host that is up",
        "name such addresses in NDSPI_SOFT_DEVICES, or bring a network interface up (ip address, "
        "ip link)",
        NULL },
    [ND_REASON_NO_CONNECTIONS] = { "no-connections",
        "it has no reliable connected queue pairs: NetworkDirect cannot be made of it",
        "choose another device, or the embedded one over its network interface "
        "(NDSPI_DEVICE=soft)",
        NULL },
    [ND_REASON_MEMLOCK] = { "memlock-limit",
        "no memory for %x (%e): this process may lock only that much", LIMIT_REMEDY, NULL },
    [ND_REASON_OBJECTS_FAILED] = { "objects-failed", "it makes no %x: %e",
        "other programs may hold all it has; else look in the kernel's log (dmesg)", NULL },
    [ND_REASON_DEVICE_NOT_USED] = { "device-not-used",
        "it belongs to the device %d, which is not used", "see the device %d", NULL },
    [ND_REASON_NOT_RDMA] = { "not-rdma", "its network interface %i is no RDMA device",
        "NDSPI_DEVICE=all lets the embedded device serve it; a software device of the kernel: "
        "rdma link add siw_%i type siw netdev %i",
        "NDSPI_DEVICE=all lets the embedded device serve it" },
    [ND_REASON_NOT_SERVED] = { "not-served", "no device in use has it",
        "NDSPI_DEVICE and NDSPI_SOFT_DEVICES decide which devices and addresses are used", NULL },
    [ND_REASON_BIND_FAILED] = { "bind-failed", "the connection manager cannot bind it: %e",
        "look in the kernel's log (dmesg) for the reason", NULL },
};

void nd_diagnosis_set(
    struct nd_diagnosis *diagnosis, enum nd_reason reason, int error, const char *detail, ...)
{
    va_list arguments;

    diagnosis->reason = reason;
    diagnosis->error = error;
    va_start(arguments, detail);
    vsnprintf(diagnosis->detail, sizeof(diagnosis->detail), detail, arguments);
    va_end(arguments);
}

/* If rdma-core cannot open a device file it tries /dev/char, too, and returns only the error of that. */
static int why_not_opened(int error, const char *file)
{
    char path[64];

    snprintf(path, sizeof(path), "/dev/infiniband/%.40s", file);
    if ((error == ENOENT || error == ENODEV) && !access(path, F_OK) && access(path, R_OK | W_OK))
        error = errno;
    return error;
}

void nd_diagnosis_set_open(struct nd_diagnosis *diagnosis, int error, const char *file)
{
    enum nd_reason reason = ND_REASON_OPEN_FAILED;

    error = why_not_opened(error, file);
    if (error == EMFILE || error == ENFILE)
        reason = ND_REASON_NO_DESCRIPTORS;
    if (error == EACCES || error == EPERM)
        reason = ND_REASON_PERMISSION;
    else if (error == ENOENT)
        reason = ND_REASON_FILE_MISSING;
    nd_diagnosis_set(diagnosis, reason, error, "/dev/infiniband/%s", file);
}

void nd_diagnosis_set_cm(struct nd_diagnosis *diagnosis, int error)
{
    enum nd_reason reason = ND_REASON_CM_FAILED;

    error = why_not_opened(error, "rdma_cm");
    if (error == EMFILE || error == ENFILE)
        reason = ND_REASON_NO_DESCRIPTORS;
    if (error == EACCES || error == EPERM)
        reason = ND_REASON_CM_PERMISSION;
    else if (error == ENOENT || error == ENODEV || error == ENOSYS)
        reason = ND_REASON_CM_MISSING;
    nd_diagnosis_set(diagnosis, reason, error, "%s", "");
}

bool nd_memory_lock_limit(char text[ND_DIAGNOSIS_DETAIL_OCTETS])
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return false;
    snprintf(
        text, ND_DIAGNOSIS_DETAIL_OCTETS, "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
    return true;
}

void nd_diagnosis_set_objects(struct nd_diagnosis *diagnosis, int error, const char *what)
{
    char limit[ND_DIAGNOSIS_DETAIL_OCTETS];

    /*
     * The kernel answers ENOMEM for both; the limit holds for a privileged process, too, unless it is the host's root.
     */
    if (error == ENOMEM && nd_memory_lock_limit(limit))
        nd_diagnosis_set(
            diagnosis, ND_REASON_MEMLOCK, error, "%s within the limit of %s", what, limit);
    else if (error == EMFILE || error == ENFILE)
        nd_diagnosis_set(diagnosis, ND_REASON_NO_DESCRIPTORS, error, "%s", what);
    else
        nd_diagnosis_set(diagnosis, ND_REASON_OBJECTS_FAILED, error, "%s", what);
}

const char *nd_diagnosis_code(const struct nd_diagnosis *diagnosis)
{
    return words[diagnosis->reason].code;
}

static const char *expand(
    const struct nd_diagnosis *diagnosis, const char *pattern, char text[ND_DIAGNOSIS_TEXT_OCTETS])
{
    size_t length = 0;

    for (; *pattern && length < ND_DIAGNOSIS_TEXT_OCTETS - 1; pattern++) {
        const char *word = NULL;
        int written;

        if (*pattern != '%') {
            text[length++] = *pattern;
            continue;
        }
        switch (*++pattern) {
        case 'd': word = diagnosis->device; break;
        case 'i':
            word = diagnosis->netdev;
            if (!*word && length && text[length - 1] == ' ')
                length--;
            break;
        case 'e': word = strerror(diagnosis->error); break;
        default: word = diagnosis->detail; break;
        }
        written = snprintf(text + length, ND_DIAGNOSIS_TEXT_OCTETS - length, "%s", word);
        length += (size_t)written;
    }
    if (length > ND_DIAGNOSIS_TEXT_OCTETS - 1)
        length = ND_DIAGNOSIS_TEXT_OCTETS - 1;
    text[length] = 0;
    return text;
}

const char *nd_diagnosis_text(
    const struct nd_diagnosis *diagnosis, char text[ND_DIAGNOSIS_TEXT_OCTETS])
{
    return expand(diagnosis, words[diagnosis->reason].text, text);
}

const char *nd_diagnosis_remedy(
    const struct nd_diagnosis *diagnosis, char text[ND_DIAGNOSIS_TEXT_OCTETS])
{
    const char *pattern = words[diagnosis->reason].remedy;

    if (!*diagnosis->netdev && words[diagnosis->reason].unnamed)
        pattern = words[diagnosis->reason].unnamed;
    return pattern ? expand(diagnosis, pattern, text) : NULL;
}
