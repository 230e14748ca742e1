/* SPDX-License-Identifier: MIT */
/*
 * driver.h - a driver's own object and devices, a part of ndkwdm.h: what a driver's skeleton names. The program
 * ndk_host calls DriverEntry and DriverUnload. Only drivers send requests here (irp.h). Members that are named are
 * where Windows has them.
 */
#ifndef NDKWDM_DRIVER_H
#define NDKWDM_DRIVER_H

#include <ndkwdm/level.h>
#include <ndkwdm/event.h>
#include <ndkwdm/string.h>
#include <wincompat/devioctl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _DRIVER_OBJECT;
struct _IRP;
struct _ETHREAD;

#define FILE_DEVICE_SECURE_OPEN 0x00000100
#define DO_BUFFERED_IO          0x00000004
#define DO_DIRECT_IO            0x00000010
#define DO_DEVICE_INITIALIZING  0x00000080

/* Made by IoCreateDevice. */
typedef struct _DEVICE_OBJECT {
    CSHORT Type;
    USHORT Size;
    LONG ReferenceCount;
    struct _DRIVER_OBJECT *DriverObject;
    struct _DEVICE_OBJECT *NextDevice; /* the driver's next device */
    struct _DEVICE_OBJECT *AttachedDevice;
    struct _IRP *CurrentIrp;
    PVOID Timer;
    ULONG Flags;
    ULONG Characteristics;
    PVOID Vpb;
    PVOID DeviceExtension; /* zeros at first */
    DEVICE_TYPE DeviceType;
    CHAR StackSize;
    UCHAR Reserved[0x103]; /* 0x150 bytes in all */
} DEVICE_OBJECT, *PDEVICE_OBJECT;

/* clang-format off */
#define IRP_MJ_CREATE                  0x00
#define IRP_MJ_CLOSE                   0x02
#define IRP_MJ_READ                    0x03
#define IRP_MJ_WRITE                   0x04
#define IRP_MJ_DEVICE_CONTROL          0x0e
#define IRP_MJ_INTERNAL_DEVICE_CONTROL 0x0f
#define IRP_MJ_SHUTDOWN                0x10
#define IRP_MJ_CLEANUP                 0x12
#define IRP_MJ_POWER                   0x16
#define IRP_MJ_SYSTEM_CONTROL          0x17
#define IRP_MJ_PNP                     0x1b
#define IRP_MJ_MAXIMUM_FUNCTION        0x1b
/* clang-format on */

typedef NTSTATUS DRIVER_DISPATCH(PDEVICE_OBJECT DeviceObject, struct _IRP *Irp);
typedef DRIVER_DISPATCH *PDRIVER_DISPATCH;
typedef NTSTATUS DRIVER_INITIALIZE(
    struct _DRIVER_OBJECT *DriverObject, PUNICODE_STRING RegistryPath);
typedef DRIVER_INITIALIZE *PDRIVER_INITIALIZE;
typedef VOID DRIVER_UNLOAD(struct _DRIVER_OBJECT *DriverObject);
typedef DRIVER_UNLOAD *PDRIVER_UNLOAD;
typedef NTSTATUS DRIVER_ADD_DEVICE(
    struct _DRIVER_OBJECT *DriverObject, PDEVICE_OBJECT PhysicalDeviceObject);
typedef DRIVER_ADD_DEVICE *PDRIVER_ADD_DEVICE;
typedef VOID DRIVER_STARTIO(PDEVICE_OBJECT DeviceObject, struct _IRP *Irp);
typedef DRIVER_STARTIO *PDRIVER_STARTIO;
typedef VOID DRIVER_CANCEL(PDEVICE_OBJECT DeviceObject, struct _IRP *Irp);
typedef DRIVER_CANCEL *PDRIVER_CANCEL;
typedef NTSTATUS IO_COMPLETION_ROUTINE(
    PDEVICE_OBJECT DeviceObject, struct _IRP *Irp, PVOID Context);
typedef IO_COMPLETION_ROUTINE *PIO_COMPLETION_ROUTINE;

typedef struct _DRIVER_EXTENSION {
    struct _DRIVER_OBJECT *DriverObject;
    PDRIVER_ADD_DEVICE AddDevice;
    ULONG Count;
    UNICODE_STRING ServiceKeyName;
} DRIVER_EXTENSION, *PDRIVER_EXTENSION;

/* What DriverEntry fills. */
typedef struct _DRIVER_OBJECT {
    CSHORT Type;
    CSHORT Size;
    PDEVICE_OBJECT DeviceObject; /* its devices, the last made first */
    ULONG Flags;
    PVOID DriverStart;
    ULONG DriverSize;
    PVOID DriverSection;
    PDRIVER_EXTENSION DriverExtension;
    UNICODE_STRING DriverName; /* \Driver\ and the service's name */
    PUNICODE_STRING HardwareDatabase;
    struct _FAST_IO_DISPATCH *FastIoDispatch;
    PDRIVER_INITIALIZE DriverInit;
    PDRIVER_STARTIO DriverStartIo;
    PDRIVER_UNLOAD DriverUnload;
    PDRIVER_DISPATCH MajorFunction[IRP_MJ_MAXIMUM_FUNCTION + 1];
} DRIVER_OBJECT, *PDRIVER_OBJECT;

/*
 * The driver's own: the first that is called. Text of 16 bits gives it another name in the object file, so that who
 * calls it knows what to pass.
 */
DRIVER_INITIALIZE DriverEntry WINCOMPAT_WIDE("DriverEntry");

/*
 * Makes a device of the driver. Below DISPATCH_LEVEL.
 * extension  in: bytes of DeviceExtension
 * name       in, may be NULL: not used, since nobody opens devices here
 * exclusive  in: not used
 * device     out: for IoDeleteDevice
 * Returns STATUS_SUCCESS; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS IoCreateDevice(PDRIVER_OBJECT driver, ULONG extension, PUNICODE_STRING name,
    DEVICE_TYPE type, ULONG characteristics, BOOLEAN exclusive, PDEVICE_OBJECT *device);
/* Takes the device from its driver, and frees it. Below DISPATCH_LEVEL. */
VOID IoDeleteDevice(PDEVICE_OBJECT device);

/*
 * Writes text on standard error.
 * format  in: as on Windows: l is 32 bits, I64 is 64, ws is wide text
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: the format has a directive that there is not, or standard error
 * takes nothing; then some of it may be missing.
 */
ULONG DbgPrint(const CHAR *format, ...) WINCOMPAT_WIDE("DbgPrint");
/* DbgPrintEx, KdPrint and KdPrintEx do what DbgPrint does. component, level: not used. */
#define DbgPrintEx(component, level, ...)    DbgPrint(__VA_ARGS__)
#define KdPrint(arguments)                   ((void)DbgPrint arguments)
#define KdPrintEx(arguments)                 NdkwdmPrintEx arguments
#define NdkwdmPrintEx(component, level, ...) ((void)DbgPrint(__VA_ARGS__))
#define DPFLTR_IHVDRIVER_ID                  77
#define DPFLTR_IHVNETWORK_ID                 80
#define DPFLTR_DEFAULT_ID                    101
#define DPFLTR_ERROR_LEVEL                   0
#define DPFLTR_WARNING_LEVEL                 1
#define DPFLTR_TRACE_LEVEL                   2
#define DPFLTR_INFO_LEVEL                    3

#ifdef __cplusplus
}
#endif

#endif
