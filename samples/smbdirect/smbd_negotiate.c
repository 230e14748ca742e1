/* SPDX-License-Identifier: MIT */
/*
 * smbd_negotiate.c - the first message each way: version, sizes, credits.
 *
 * Source: [MS-SMBD] 3.1.4.1 (request), 3.1.5.2 and 3.1.5.3 (what a side makes of the other's).
 */
#include "smbd_private.h"

static NTSTATUS Violated(SMBD_CONNECTION *Connection, const char *Reason)
{
    return SmbdFail(Connection, STATUS_INVALID_DEVICE_REQUEST, Reason);
}

static ULONG Least(ULONG One, ULONG Other)
{
    return One < Other ? One : Other;
}

/* Message out: the peer's message, of Size bytes at least. */
static NTSTATUS AwaitMessage(
    SMBD_CONNECTION *Connection, ULONG Milliseconds, VOID *Message, ULONG Size)
{
    KLOCK_QUEUE_HANDLE Handle;
    ULONG Length = 0;
    NTSTATUS Status;

    if (!SmbdWait(&Connection->MessageEvent, Milliseconds))
        return SmbdFail(Connection, STATUS_IO_TIMEOUT, "the peer does not negotiate");
    SmbdLock(Connection, &Handle);
    Status = Connection->Status;
    if (Connection->FirstReceived) {
        Length = Connection->NegotiationLength;
        RtlCopyMemory(Message, Connection->Negotiation, Least(Size, Length));
    }
    SmbdUnlock(&Handle);
    if (!NT_SUCCESS(Status))
        return Status;
    if (Length < Size)
        return Violated(Connection, "the peer's message is too short for a negotiation");
    return STATUS_SUCCESS;
}

/* With the lock: messages of the peer's upper layer may come from now on. */
static VOID Begin(SMBD_CONNECTION *Connection, ULONG CreditsAsked)
{
    Connection->Credits.Most = Connection->Receives.Count;
    SmbdCreditsAsked(&Connection->Credits, CreditsAsked);
    Connection->Negotiated = TRUE;
    SmbdPostReceives(Connection);
}

/* ----- The active side ----- */

static NTSTATUS CheckResponse(SMBD_CONNECTION *Connection, const SMBD_NEGOTIATE_RESPONSE *Response)
{
    if (Response->Status == (ULONG)STATUS_NOT_SUPPORTED)
        return SmbdFail(
            Connection, STATUS_NOT_SUPPORTED, "the peer does not speak this version of SMB Direct");
    if (!NT_SUCCESS((NTSTATUS)Response->Status))
        return SmbdFail(Connection, (NTSTATUS)Response->Status, "the peer refuses the negotiation");
    if (Response->NegotiatedVersion != SMBD_VERSION)
        return SmbdFail(
            Connection, STATUS_NOT_SUPPORTED, "the peer chose a version that was not offered");
    if (!Response->CreditsRequested || !Response->CreditsGranted)
        return Violated(Connection, "the peer negotiates no credits");
    if (Response->PreferredSendSize > Connection->Parameters.MaxReceiveSize)
        return Violated(Connection, "the peer wants to send more than was offered");
    if (Response->MaxReceiveSize < SMBD_LEAST_RECEIVE_SIZE ||
        Response->MaxFragmentedSize < SMBD_LEAST_FRAGMENTED_SIZE)
        return Violated(Connection, "the peer can receive less than the protocol asks for");
    return STATUS_SUCCESS;
}

NTSTATUS SmbdNegotiateActive(SMBD_CONNECTION *Connection)
{
    SMBD_PARAMETERS *Parameters = &Connection->Parameters;
    const SMBD_NEGOTIATE_REQUEST Request = {
        .MinVersion = SMBD_VERSION,
        .MaxVersion = SMBD_VERSION,
        .CreditsRequested = Parameters->Credits,
        .PreferredSendSize = Parameters->MaxSendSize,
        .MaxReceiveSize = Parameters->MaxReceiveSize,
        .MaxFragmentedSize = Parameters->MaxFragmentedSize,
    };
    SMBD_NEGOTIATE_RESPONSE Response;
    KLOCK_QUEUE_HANDLE Handle;
    NTSTATUS Status;

    Status = SmbdSendPlain(Connection, &Request, sizeof(Request));
    if (NT_SUCCESS(Status))
        Status = AwaitMessage(Connection, Parameters->NegotiateMs, &Response, sizeof(Response));
    if (NT_SUCCESS(Status))
        Status = CheckResponse(Connection, &Response);
    if (!NT_SUCCESS(Status))
        return Status;
    Parameters->MaxSendSize = Least(Parameters->MaxSendSize, Response.MaxReceiveSize);
    Parameters->MaxReadWriteSize = Least(Parameters->MaxReadWriteSize, Response.MaxReadWriteSize);
    Connection->LongestSend = Response.MaxFragmentedSize;
    SmbdLock(Connection, &Handle);
    Connection->Credits.Send = Response.CreditsGranted;
    Begin(Connection, Response.CreditsRequested);
    Status = Connection->Status;
    SmbdUnlock(&Handle);
    return Status;
}

/* ----- The passive side ----- */

static NTSTATUS CheckRequest(SMBD_CONNECTION *Connection, const SMBD_NEGOTIATE_REQUEST *Request)
{
    if (!Request->CreditsRequested)
        return Violated(Connection, "the peer negotiates no credits");
    if (Request->MaxReceiveSize < SMBD_LEAST_RECEIVE_SIZE ||
        Request->MaxFragmentedSize < SMBD_LEAST_FRAGMENTED_SIZE)
        return Violated(Connection, "the peer can receive less than the protocol asks for");
    return STATUS_SUCCESS;
}

static NTSTATUS RefuseVersion(SMBD_CONNECTION *Connection)
{
    const SMBD_NEGOTIATE_RESPONSE Response = {
        .MinVersion = SMBD_VERSION,
        .MaxVersion = SMBD_VERSION,
        .Status = (ULONG)STATUS_NOT_SUPPORTED,
    };
    NTSTATUS Status = SmbdSendPlain(Connection, &Response, sizeof(Response));

    if (NT_SUCCESS(Status))
        SmbdAwaitSent(Connection);
    return SmbdFail(
        Connection, STATUS_NOT_SUPPORTED, "the peer does not speak this version of SMB Direct");
}

/* Posts the Receives before it tells the peer of them. */
static NTSTATUS Respond(SMBD_CONNECTION *Connection, ULONG CreditsAsked)
{
    SMBD_PARAMETERS *Parameters = &Connection->Parameters;
    SMBD_NEGOTIATE_RESPONSE Response = {
        .MinVersion = SMBD_VERSION,
        .MaxVersion = SMBD_VERSION,
        .NegotiatedVersion = SMBD_VERSION,
        .CreditsRequested = Parameters->Credits,
        .MaxReadWriteSize = Parameters->MaxReadWriteSize,
        .PreferredSendSize = Parameters->MaxSendSize,
        .MaxReceiveSize = Parameters->MaxReceiveSize,
        .MaxFragmentedSize = Parameters->MaxFragmentedSize,
    };
    KLOCK_QUEUE_HANDLE Handle;

    SmbdLock(Connection, &Handle);
    Begin(Connection, CreditsAsked);
    Response.CreditsGranted = SmbdCreditsGrant(&Connection->Credits);
    SmbdUnlock(&Handle);
    return SmbdSendPlain(Connection, &Response, sizeof(Response));
}

NTSTATUS SmbdNegotiatePassive(SMBD_CONNECTION *Connection)
{
    SMBD_PARAMETERS *Parameters = &Connection->Parameters;
    SMBD_NEGOTIATE_REQUEST Request;
    NTSTATUS Status = AwaitMessage(Connection, Parameters->RequestMs, &Request, sizeof(Request));

    if (!NT_SUCCESS(Status))
        return Status;
    if (Request.MinVersion > SMBD_VERSION || Request.MaxVersion < SMBD_VERSION)
        return RefuseVersion(Connection);
    Status = CheckRequest(Connection, &Request);
    if (!NT_SUCCESS(Status))
        return Status;
    Parameters->MaxSendSize = Least(Parameters->MaxSendSize, Request.MaxReceiveSize);
    Parameters->MaxReceiveSize = Least(Parameters->MaxReceiveSize, Request.PreferredSendSize);
    if (Parameters->MaxReceiveSize < SMBD_LEAST_RECEIVE_SIZE)
        Parameters->MaxReceiveSize = SMBD_LEAST_RECEIVE_SIZE;
    Connection->LongestSend = Request.MaxFragmentedSize;
    return Respond(Connection, Request.CreditsRequested);
}
