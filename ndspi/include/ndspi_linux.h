/* SPDX-License-Identifier: MIT */
/*
 * ndspi_linux.h - what NetworkDirect on Linux offers beyond the Windows interfaces.
 *
 * To wait for a completion queue with poll or epoll, give the OVERLAPPED of its Notify an event, and get the event's
 * descriptor with WinLinuxGetDescriptor (winobj_linux.h).
 */
#ifndef NDSPI_LINUX_H
#define NDSPI_LINUX_H

#include <ndspi.h>

#include <ndspi_counters.h>
#include <winobj_linux.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One way in which a device falls short of the best. */
typedef struct _ND_LINUX_NOTE {
    const char *Code; /* "no-windows" and the like: never changes */
    const char *Text; /* the note, in words */
} ND_LINUX_NOTE;

/* One port of one device, used or not. Everything it points to is good during the callback. */
typedef struct _ND_LINUX_DEVICE {
    const char *Name; /* the device's; the network interface's for a card that is no device yet */
    const char *Provider;  /* "rdma-core", or "softrdma" for the embedded device */
    const char *Interface; /* the network interface it is, or NULL */
    ULONG Port;            /* the device's port, counted from 1; 0: the device cannot be asked */
    BOOL Used;             /* NDSPI_DEVICE, the host's addresses and the trial decide it */
    ULONG AddressCount;    /* local addresses it serves, or could */
    UINT64 AdapterId;      /* what IND2Provider::ResolveAddress returns */
    const char *Code;      /* "used", "port-down" and the like: never changes */
    const char *Reason;    /* why it is used or not, in words */
    const char *Remedy;    /* what to do about it, or NULL */
    /* ND_LINUX_TRY fills in the following, for devices that are used: */
    const char *Family;    /* the family of devices that the library takes it for */
    const char *Transport; /* "iWARP", "RoCE", "InfiniBand" */
    const char *Firmware;
    const ND2_ADAPTER_INFO *Info; /* what IND2Adapter::Query returns; InfoVersion is 0 */
    const ND_LINUX_NOTE *Notes;
    ULONG NoteCount;
} ND_LINUX_DEVICE;

typedef VOID (*ND_LINUX_DEVICE_CALLBACK)(VOID *context, const ND_LINUX_DEVICE *device);

/* Opens the devices that are used, as an adapter does, and registers some memory, to find those that do not work. */
#define ND_LINUX_TRY 0x1

/*
 * NdLinuxDescribeDevices - reports every device there is.
 * flags    in: 0 or ND_LINUX_TRY
 * tell     in: called once for each, on this thread; may call any function
 * context  in: handed to tell
 * Returns ND_SUCCESS; ND_INVALID_PARAMETER_1: unknown flag; ND_INVALID_PARAMETER_2: tell is NULL; ND_NO_MEMORY;
 * ND_INSUFFICIENT_RESOURCES: the system does not return its addresses. Any thread; needs no NdStartup.
 */
HRESULT NdLinuxDescribeDevices(ULONG flags, ND_LINUX_DEVICE_CALLBACK tell, VOID *context);

/* One address of this host. Everything it points to is good during the callback. */
typedef struct _ND_LINUX_ADDRESS {
    const struct sockaddr *Address; /* its port is 0 */
    ULONG AddressSize;              /* bytes */
    const char *Interface; /* the interface that has it, or NULL: only a device knows of it */
    const char *Device;    /* the device that has it, or would have it; NULL: none */
    UINT64 AdapterId;      /* the adapter that has it; 0: it is not used */
    BOOL Used;
    const char *Code, *Reason, *Remedy; /* see ND_LINUX_DEVICE */
} ND_LINUX_ADDRESS;

typedef VOID (*ND_LINUX_ADDRESS_CALLBACK)(VOID *context, const ND_LINUX_ADDRESS *address);

/*
 * NdLinuxDescribeAddresses - reports every IP address of this host; those that are used are what NdQueryAddressList
 * lists, in its order. Returns ND_SUCCESS; ND_INVALID_PARAMETER_1: tell is NULL; ND_NO_MEMORY;
 * ND_INSUFFICIENT_RESOURCES.
 */
HRESULT NdLinuxDescribeAddresses(ND_LINUX_ADDRESS_CALLBACK tell, VOID *context);

/*
 * NdLinuxStatusName - the name of a code.
 * status  in: as a method returned it
 * Returns "ND_CONNECTION_REFUSED" and the like, as ndstatus.h has it; "STATUS_..." and "E_..." for the codes of methods
 * that are in ntstatus.h and winerror.h alone; never freed; NULL for a code that no method returns. Any thread.
 */
const char *NdLinuxStatusName(HRESULT status);

/*
 * NdLinuxConnectionPath - the path that the data of a queue pair's connection takes.
 * queuePair  in: a queue pair of this library
 * Returns "shm": through memory that both ends share; "tcp": through a TCP socket; NULL: the device is not the embedded
 * one, or there is no connection. The text is never freed. Any thread.
 */
const char *NdLinuxConnectionPath(IND2QueuePair *queuePair);

/*
 * NdLinuxQueryCounters - what an adapter and everything made of it has counted.
 * adapter   in: an IND2Adapter or INDAdapter of this library
 * counters  inout: Size in: of the caller's structure, in bytes; members beyond what the library knows become 0
 * Returns ND_SUCCESS; ND_INVALID_PARAMETER_1: not an adapter of this library; ND_INVALID_PARAMETER_2: counters is NULL,
 * or Size has not even room for the ten counters of Windows. Any thread; takes no lock for longer than the copy of one
 * queue's figures. Also after the device is gone. Not in a forked child of the process that opened the adapter.
 */
HRESULT NdLinuxQueryCounters(IUnknown *adapter, ND_LINUX_COUNTERS *counters);

/* One adapter of one process. Everything it points to is good during the callback. */
typedef struct _ND_LINUX_PROCESS {
    const char *
        Name; /* unlike ProcessId unique for its user, also among earlier processes while this one lives */
    BOOL Damaged; /* what the process shows cannot be read; all but Name, Form and UserId is 0 */
    BOOL Fresh;   /* it has just answered; FALSE: these are its last figures */
    ULONG ProcessId;
    const char *Program; /* its file's name; other than printable characters are "_" */
    const char *Device;
    ULONG Port;
    ULONG Version; /* the interface's: 1, 2; 3: NDKPI */
    UINT64 AdapterId;
    const ND_LINUX_COUNTERS *Counters;
    ULONG Serial; /* counts the adapters opened under this Name, from 0; never reused */
    ULONG Form;   /* Damaged: the form that the process's version of this library writes */
    ULONG UserId; /* the process's user; what another user's process shows is that user's word */
} ND_LINUX_PROCESS;

typedef VOID (*ND_LINUX_PROCESS_CALLBACK)(VOID *context, const ND_LINUX_PROCESS *process);

/*
 * NdLinuxDescribeCounters - reports every open adapter of this user's processes, this one included; to root those of
 * all users, where these show them in /run/user or /dev/shm: 256 processes of another user at most. They show their
 * counters unless NDSPI_COUNTERS=0. Removes what ended processes of this user left behind.
 * wait     in: how long to wait for processes that do not answer, such as stopped ones; in ms
 * tell     in: called for each adapter, those of one process in a row, on this thread; may call any function
 * context  in: handed to tell
 * Returns ND_SUCCESS, also if there is none; ND_INVALID_PARAMETER_2: tell is NULL; ND_ACCESS_VIOLATION: the user's
 * directory is another user's, or others may enter it; ND_NO_MEMORY; ND_INSUFFICIENT_RESOURCES. Any thread.
 */
HRESULT NdLinuxDescribeCounters(ULONG wait, ND_LINUX_PROCESS_CALLBACK tell, VOID *context);

#ifdef __cplusplus
}
#endif
#endif
