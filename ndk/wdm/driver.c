/* SPDX-License-Identifier: MIT */
/* driver.c - devices of ndkwdm.h. */
#include "ndk/verifier/passive.h"

#include <pthread.h>
#include <stdlib.h>

enum { DEVICE_TYPE_OF_OBJECT = 3 }; /* DEVICE_OBJECT.Type */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* the lists of devices: a leaf */

NTSTATUS IoCreateDevice(PDRIVER_OBJECT driver, ULONG extension, PUNICODE_STRING name,
    DEVICE_TYPE type, ULONG characteristics, BOOLEAN exclusive, PDEVICE_OBJECT *device)
{
    PDEVICE_OBJECT made = calloc(1, sizeof(*made) + extension);

    (void)name;
    (void)exclusive;
    ndk_wait_expected("IoCreateDevice", "DRIVER_OBJECT", driver);
    if (!made)
        return STATUS_INSUFFICIENT_RESOURCES;
    made->Type = DEVICE_TYPE_OF_OBJECT;
    made->Size = (USHORT)(sizeof(*made) + extension);
    made->DriverObject = driver;
    made->Flags = DO_DEVICE_INITIALIZING;
    made->Characteristics = characteristics;
    made->DeviceExtension = extension ? made + 1 : NULL;
    made->DeviceType = type;
    made->StackSize = 1;
    pthread_mutex_lock(&mutex);
    made->NextDevice = driver->DeviceObject;
    driver->DeviceObject = made;
    pthread_mutex_unlock(&mutex);
    *device = made;
    return STATUS_SUCCESS;
}

VOID IoDeleteDevice(PDEVICE_OBJECT device)
{
    PDEVICE_OBJECT *at = &device->DriverObject->DeviceObject;

    ndk_wait_expected("IoDeleteDevice", "DEVICE_OBJECT", device);
    pthread_mutex_lock(&mutex);
    while (*at && *at != device)
        at = &(*at)->NextDevice;
    if (*at)
        *at = device->NextDevice;
    pthread_mutex_unlock(&mutex);
    free(device);
}
