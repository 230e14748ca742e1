/* SPDX-License-Identifier: MIT */
/*
 * plain_adapter.c - linked with "--wrap=SmbdOpenAdapter": adapters have no fast registration, as that of siw, whatever
 * they are.
 */
#include "smbd_private.h"

NTSTATUS __real_SmbdOpenAdapter(NET_IFINDEX Index, SMBD_ADAPTER **Adapter);
NTSTATUS __wrap_SmbdOpenAdapter(NET_IFINDEX Index, SMBD_ADAPTER **Adapter);

NTSTATUS __wrap_SmbdOpenAdapter(NET_IFINDEX Index, SMBD_ADAPTER **Adapter)
{
    NTSTATUS Status = __real_SmbdOpenAdapter(Index, Adapter);

    if (NT_SUCCESS(Status))
        (*Adapter)->Info.FRMRPageCount = 0;
    return Status;
}
