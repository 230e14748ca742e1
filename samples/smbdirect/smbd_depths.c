/* SPDX-License-Identifier: MIT */
/*
 * smbd_depths.c - on iWARP, whose first startup frames say nothing of Reads: how many may be in flight, as private data
 * of the connection. Peers that say nothing there are served all the same.
 *
 * Source: [MS-SMBD] 6.1; that zeros say nothing: servers on Linux send them.
 */
#include "smbd_private.h"

/* From 2.0 on an adapter says it. Before, those of iWARP are the ones that need a registered sink for Reads. */
BOOLEAN SmbdIsIwarp(const SMBD_ADAPTER *Adapter)
{
    const NDK_ADAPTER_INFO *Info = &Adapter->Info;

    if (Info->Version.Major >= 2)
        return Info->RdmaTechnology == NdkiWarp;
    return !(Info->AdapterFlags & NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED);
}

static ULONG AtLeastOne(ULONG Depth)
{
    return Depth ? Depth : 1;
}

ULONG SmbdOwnDepths(
    const SMBD_ADAPTER *Adapter, ULONG Inbound, ULONG Outbound, SMBD_READ_DEPTHS *Depths)
{
    Depths->Inbound = RtlUlongByteSwap(AtLeastOne(Inbound));
    Depths->Outbound = RtlUlongByteSwap(AtLeastOne(Outbound));
    return SmbdIsIwarp(Adapter) ? sizeof(*Depths) : 0;
}

BOOLEAN SmbdPeerDepths(const SMBD_ADAPTER *Adapter, NDK_CONNECTOR *Connector, ULONG *Outbound)
{
    SMBD_READ_DEPTHS Depths = { 0, 0 };
    ULONG Length = sizeof(Depths);
    NTSTATUS Status;

    if (!SmbdIsIwarp(Adapter))
        return FALSE;
    Status = Connector->Dispatch->NdkGetConnectionData(Connector, NULL, NULL, &Depths, &Length);
    if ((!NT_SUCCESS(Status) && Status != STATUS_BUFFER_TOO_SMALL) || Length < sizeof(Depths))
        return FALSE;
    Depths.Inbound = RtlUlongByteSwap(Depths.Inbound);
    if (Depths.Inbound && Depths.Inbound < *Outbound)
        *Outbound = Depths.Inbound;
    return TRUE;
}
