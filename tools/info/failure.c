/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include "address.h"

#include <ndspi_linux.h>
#include <ndsupport.h>

#include <stdio.h>
#include <string.h>

static const struct {
    HRESULT status;
    const char *reason, *remedy;
} answers[] = {
    { ND_CONNECTION_REFUSED,
        "no program listens there, or the listener refused or does not speak RDMA",
        "start \"ndinfo --serve\" on the peer, and probe the address and port it prints" },
    { ND_IO_TIMEOUT, "the peer does not answer",
        "check that the host runs and that no firewall drops the port; a listener that does not "
        "speak RDMA may stay silent, too" },
    { ND_TIMEOUT, "the peer does not answer in time",
        "check that the host runs and that no firewall drops the port; a listener that does not "
        "speak RDMA may stay silent, too" },
    { ND_CONNECTION_ABORTED,
        "the peer ended the connection during its setup: it does not speak RDMA on this port, or "
        "it was stopped",
        "start \"ndinfo --serve\" on the peer, and probe the address and port it prints" },
    { ND_NETWORK_UNREACHABLE, "there is no route to this network",
        "check the routes of this host (ip route)" },
    { ND_HOST_UNREACHABLE, "the host does not answer at all",
        "check the address, that the host runs, and the routes of this one (ip route)" },
    { BAD_NETWORK_NAME, "this is not the address of a host", "probe another address" },
    { ND_CANCELED, "the connection was lost",
        "look at the peer: its program or its host may have stopped" },
    { ND_ADDRESS_ALREADY_EXISTS, "another program listens there", "choose another port" },
    { ND_SHARING_VIOLATION, "another program listens there", "choose another port" },
    { ACCESS_DENIED, "the port is for privileged processes",
        "choose one from 1024 on (sysctl net.ipv4.ip_unprivileged_port_start prints the limit)" },
    { ND_INVALID_ADDRESS, "no adapter has this address",
        "ndinfo lists the addresses of adapters, and why it does not use the others" },
    { ND_INSUFFICIENT_RESOURCES,
        "descriptors, memory that may be locked, or something of the device is used up",
        "raise the limits of open files (ulimit -n) and of locked memory (ulimit -l); of a device, "
        "ndinfo lists the limits" },
    { ND_DEVICE_REMOVED, "the device is gone", "look in the kernel's log (dmesg)" },
    { ND_NO_MEMORY, "out of memory", "look in the kernel's log (dmesg)" },
};

bool failure_say(struct failure *failure, const char *step, const char *reason, const char *remedy)
{
    failure->step = step;
    failure->status = ND_SUCCESS;
    snprintf(failure->reason, sizeof(failure->reason), "%s", reason);
    snprintf(failure->remedy, sizeof(failure->remedy), "%s", remedy ? remedy : "");
    return false;
}

bool failure_set(struct failure *failure, const char *step, HRESULT status)
{
    const char *reason = "an unexpected answer", *remedy = "NDSPI_LOG=debug shows more";

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (answers[i].status == status) {
            reason = answers[i].reason;
            remedy = answers[i].remedy;
        }
    failure_say(failure, step, reason, remedy);
    failure->status = status;
    return false;
}

struct local {
    const struct sockaddr *wanted;
    struct failure *failure;
    char device[64]; /* the device whose reason look_at_device reads */
};

static bool same_ip(const struct sockaddr *a, const struct sockaddr *b)
{
    char left[NDINFO_ADDRESS_OCTETS], right[NDINFO_ADDRESS_OCTETS];

    return a->sa_family == b->sa_family &&
           !strcmp(address_text(a, false, left), address_text(b, false, right));
}

static VOID look_at_address(VOID *context, const ND_LINUX_ADDRESS *address)
{
    struct local *local = context;
    struct failure *failure = local->failure;

    if (!same_ip(address->Address, local->wanted) || address->Used)
        return;
    failure_say(failure, failure->step, address->Reason, address->Remedy);
    if (address->Device)
        snprintf(local->device, sizeof(local->device), "%s", address->Device);
}

static VOID look_at_device(VOID *context, const ND_LINUX_DEVICE *device)
{
    struct local *local = context;
    char reason[sizeof(local->failure->reason)];

    if (device->Used || strcmp(device->Name, local->device))
        return;
    snprintf(reason, sizeof(reason), "its device %s is not used: %s", device->Name, device->Reason);
    failure_say(local->failure, local->failure->step, reason, device->Remedy);
}

bool failure_local(struct failure *failure, const char *step, const struct sockaddr *address)
{
    struct local local = { address, failure, "" };
    char text[NDINFO_ADDRESS_OCTETS], reason[sizeof(failure->reason)];

    failure_say(failure, step, "this host does not have it",
        "\"ip address\" lists the addresses of this host");
    if (FAILED(NdLinuxDescribeAddresses(look_at_address, &local)) ||
        (*local.device && FAILED(NdLinuxDescribeDevices(ND_LINUX_TRY, look_at_device, &local))))
        return failure_set(failure, step, ND_INSUFFICIENT_RESOURCES);
    snprintf(reason, sizeof(reason), "the local address %s has no adapter: %.400s",
        address_text(address, false, text), failure->reason);
    memcpy(failure->reason, reason, sizeof(reason));
    return false;
}

static const char *status_name(const struct failure *failure, char text[16])
{
    const char *name = NdLinuxStatusName(failure->status);

    snprintf(text, 16, "0x%08x", (unsigned)failure->status);
    return name ? name : text;
}

void failure_print(const struct failure *failure)
{
    char text[16];

    fflush(stdout);
    fprintf(stderr, "ndinfo: %s failed", failure->step);
    if (failure->status != ND_SUCCESS)
        fprintf(stderr, " (%s)", status_name(failure, text));
    fprintf(stderr, ": %s\n", failure->reason);
    if (*failure->remedy)
        fprintf(stderr, "    remedy: %s\n", failure->remedy);
}

json_t *failure_json(const struct failure *failure)
{
    char text[16];

    return json_pack("{s:s, s:s*, s:s, s:s}", "step", failure->step, "status",
        failure->status != ND_SUCCESS ? status_name(failure, text) : NULL, "reason",
        failure->reason, "remedy", failure->remedy);
}
