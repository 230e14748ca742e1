/* SPDX-License-Identifier: MIT */
/* client.c - the active side: rounds of requests, as many at a time as there are slots and credits. */
#include "ndkdriver.h"

static LONG volatile Started, Finished;

/* ----- Rounds ----- */

static VOID BeginRound(SLOT *Slot)
{
    ULONG Round = (ULONG)InterlockedIncrement(&Started);

    if (Round > Driver.Rounds)
        return;
    RtlZeroMemory(Slot->Out, sizeof(*Slot->Out));
    Slot->Out->Kind = Round % 2 ? PULL : PUSH;
    Slot->Out->Slot = Slot->Index;
    Slot->Out->Round = Round;
    Slot->Out->Address = (ULONG_PTR)Slot->Data;
    Slot->Out->Token = Slot->Mr->Dispatch->NdkGetRemoteTokenFromMr(Slot->Mr);
    Slot->Out->Length = DATA_LENGTH;
    if (Slot->Out->Kind == PULL)
        Fill(Slot->Data, DATA_LENGTH, Round);
    else
        RtlZeroMemory(Slot->Data, DATA_LENGTH);
    Slot->Out->Credits = Round > Slot->Socket->SlotCount; /* the first ones are in the greeting */
    SendMessage(Slot);
}

/* Whether the buffer, which is the client's again, has what it should, or the server saw that. */
static BOOLEAN IsRight(const SLOT *Slot)
{
    if (Slot->Out->Kind == PULL)
        return Slot->Request.Checksum == Checksum(Slot->Data, DATA_LENGTH);
    for (ULONG i = 0; i < DATA_LENGTH; i++)
        if (Slot->Data[i] != (UCHAR)(i * 7 + (i >> 8) + Slot->Out->Round * 31))
            return FALSE;
    return TRUE;
}

static VOID EndRound(PVOID Object, PVOID Context, PIO_WORKITEM Item)
{
    SLOT *Slot = Context;
    SOCKET *Socket = Slot->Socket;

    UNREFERENCED_PARAMETER(Object);
    UNREFERENCED_PARAMETER(Item);
    if (!IsRight(Slot)) {
        Fail(Socket, STATUS_UNSUCCESSFUL, "wrong data");
    } else if ((ULONG)InterlockedIncrement(&Finished) == Driver.Rounds) {
        DbgPrint("ndkdriver: %lu rounds, all right\n", Driver.Rounds);
    } else {
        BeginRound(Slot);
    }
    ExReleaseRundownProtection(&Socket->Users);
}

/* slot: of the Receive; the reply says which slot it is for. */
VOID ClientReceived(SLOT *Receiver, const NDK_RESULT_EX *Result)
{
    SOCKET *Socket = Receiver->Socket;
    MESSAGE Reply = *Receiver->In;
    SLOT *Slot = &Socket->Slots[Reply.Slot % CLIENT_SLOTS];
    NTSTATUS Status;

    if (Result->BytesTransferred != sizeof(Reply) || Reply.Slot >= Socket->SlotCount ||
        Reply.Round != Slot->Out->Round || Result->Type != NdkOperationTypeReceiveAndInvalidate ||
        (UINT32)Result->TypeSpecificCompletionOutput != Slot->Out->Token) {
        Fail(Socket, STATUS_UNSUCCESSFUL, "a reply that is none");
        return;
    }
    Status = PostReceive(Receiver);
    if (!NT_SUCCESS(Status)) {
        Fail(Socket, Status, "no Receive");
        return;
    }
    Slot->Request = Reply;
    AddCredits(Socket, (LONG)Reply.Credits);
    Defer(Slot, EndRound);
}

/* ----- Connecting ----- */

static NTSTATUS Connect(SOCKET *Socket, GREETING *Server)
{
    GREETING Mine = { CLIENT_SLOTS, DATA_LENGTH };
    ULONG Length = sizeof(*Server);
    NDK_CONNECTOR *Connector;
    NTSTATUS Status;
    CALL Call;

    BeginCall(&Call);
    Status = EndCreation(&Call,
        Socket->Adapter->Dispatch->NdkCreateConnector(
            Socket->Adapter, Created, &Call, &Socket->Connector),
        (PVOID *)&Socket->Connector);
    if (!NT_SUCCESS(Status))
        return Status;
    Connector = Socket->Connector;
    BeginCall(&Call);
    Status = EndCall(
        &Call, Connector->Dispatch->NdkConnect(Connector, Socket->Qp, (PSOCKADDR)&Driver.Local,
                   sizeof(Driver.Local), (PSOCKADDR)&Driver.Peer, sizeof(Driver.Peer), READS, 0,
                   &Mine, sizeof(Mine), RequestEnded, &Call));
    if (!NT_SUCCESS(Status))
        return Status;
    RtlZeroMemory(Server, sizeof(*Server));
    Status = Connector->Dispatch->NdkGetConnectionData(Connector, NULL, NULL, Server, &Length);
    if ((!NT_SUCCESS(Status) && Status != STATUS_BUFFER_TOO_SMALL) || Server->Length != DATA_LENGTH)
        return STATUS_UNSUCCESSFUL;
    BeginCall(&Call);
    return EndCall(&Call, Connector->Dispatch->NdkCompleteConnect(
                              Connector, Disconnected, Socket, RequestEnded, &Call));
}

NTSTATUS StartClient(VOID)
{
    GREETING Server;
    SOCKET *Socket;
    NTSTATUS Status = OpenSocket(CLIENT_SLOTS, &Socket);

    if (!NT_SUCCESS(Status)) {
        DbgPrint("ndkdriver: no socket: status 0x%08lx\n", (ULONG)Status);
        return Status;
    }
    Status = Connect(Socket, &Server);
    if (!NT_SUCCESS(Status)) {
        Fail(Socket, Status, "the server cannot be reached");
        return Status;
    }
    AddCredits(Socket, (LONG)Server.Credits);
    if (ExAcquireRundownProtection(&Socket->Users)) { /* it may be closed meanwhile */
        for (ULONG i = 0; i < CLIENT_SLOTS; i++)
            BeginRound(&Socket->Slots[i]);
        ExReleaseRundownProtection(&Socket->Users);
    }
    return STATUS_SUCCESS;
}
