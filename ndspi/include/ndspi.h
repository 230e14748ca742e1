/* SPDX-License-Identifier: MIT */
/*
 * ndspi.h - the interfaces of NetworkDirect, versions 1 and 2.
 *
 * Interfaces are COM vtables: in C++ classes of virtual methods, in C structures with lpVtbl. There is no COM runtime:
 * no registration, no apartments. Every method may be called from any thread; methods of different objects run
 * concurrently. QueryInterface follows COM: E_NOINTERFACE with NULL stored, E_POINTER for a NULL pointer.
 *
 * Said once for all methods:
 * - Sizes are in bytes, depths and limits in requests or entries; ports are in network order.
 * - An overlapped method (one that takes an OVERLAPPED) returns ND_PENDING and completes later through the structure's
 *   event and the completion port of the object's file, or returns an error and does neither. GetOverlappedResult
 *   returns its result. The structure must live until then.
 * - Methods that create an object store an interface with one reference, or NULL and an error. Besides the codes named,
 *   all of them return ND_NO_MEMORY; ND_INSUFFICIENT_RESOURCES; ND_DEVICE_REMOVED; E_POINTER: no place for the
 *   interface; E_NOINTERFACE: another iid; ND_INVALID_HANDLE: a file that is not of this adapter.
 * - "Size query": length on entry is the room, on return the size used or needed; all of them return
 *   ND_BUFFER_OVERFLOW: a NULL buffer, or one too small.
 * - Objects may be released in any order. The last Release cancels the object's overlapped requests.
 *
 * IIDs: define INITGUID before the includes of one source, or link with the library, which exports them.
 * Source: the page of Microsoft's NetworkDirect SPI documentation that bears the method's name.
 */
#ifndef _NETWORKDIRECT_H_
#define _NETWORKDIRECT_H_

#include <winsock2.h>
#include <unknwn.h>

#include <sal.h>

#include <ndstatus.h>

#include <nddef.h>

/* clang-format off */
DEFINE_GUID(IID_INDProvider, /* 0C5DD316-5FDF-47E6-B2D0-2A6EDA8D39DD */
    0x0c5dd316, 0x5fdf, 0x47e6, 0xb2, 0xd0, 0x2a, 0x6e, 0xda, 0x8d, 0x39, 0xdd);
DEFINE_GUID(IID_INDOverlapped, /* C859E15E-75E2-4FE3-8D6D-0DFF36F02442 */
    0xc859e15e, 0x75e2, 0x4fe3, 0x8d, 0x6d, 0x0d, 0xff, 0x36, 0xf0, 0x24, 0x42);
DEFINE_GUID(IID_INDAdapter, /* A023C5A0-5B73-43BC-8D20-33AA07E9510F */
    0xa023c5a0, 0x5b73, 0x43bc, 0x8d, 0x20, 0x33, 0xaa, 0x07, 0xe9, 0x51, 0x0f);
DEFINE_GUID(IID_INDCompletionQueue, /* 1245A633-2A32-473A-830C-E05D1F869D02 */
    0x1245a633, 0x2a32, 0x473a, 0x83, 0x0c, 0xe0, 0x5d, 0x1f, 0x86, 0x9d, 0x02);
DEFINE_GUID(IID_INDMemoryWindow, /* 070FE1F5-0AB5-4361-88DB-974BA704D4B9, that of version 2 as well */
    0x070fe1f5, 0x0ab5, 0x4361, 0x88, 0xdb, 0x97, 0x4b, 0xa7, 0x04, 0xd4, 0xb9);
DEFINE_GUID(IID_INDEndpoint, /* DBD00EAB-B679-44A9-BD65-E82F3DE12D1A */
    0xdbd00eab, 0xb679, 0x44a9, 0xbd, 0x65, 0xe8, 0x2f, 0x3d, 0xe1, 0x2d, 0x1a);
DEFINE_GUID(IID_INDConnector, /* 1BCAF2D1-E274-4AEB-AC57-CD5D4376E0B7 */
    0x1bcaf2d1, 0xe274, 0x4aeb, 0xac, 0x57, 0xcd, 0x5d, 0x43, 0x76, 0xe0, 0xb7);
DEFINE_GUID(IID_INDListen, /* BB902588-BA3F-4441-9FE1-3B6795E4E668 */
    0xbb902588, 0xba3f, 0x4441, 0x9f, 0xe1, 0x3b, 0x67, 0x95, 0xe4, 0xe6, 0x68);

DEFINE_GUID(IID_IND2Provider, /* 49EAE6C1-76C4-46D0-8003-5C2EAA2C9A8E */
    0x49eae6c1, 0x76c4, 0x46d0, 0x80, 0x03, 0x5c, 0x2e, 0xaa, 0x2c, 0x9a, 0x8e);
DEFINE_GUID(IID_IND2Adapter, /* D89C798C-4823-4D69-846C-DFDCCFF9E5F3 */
    0xd89c798c, 0x4823, 0x4d69, 0x84, 0x6c, 0xdf, 0xdc, 0xcf, 0xf9, 0xe5, 0xf3);
DEFINE_GUID(IID_IND2Overlapped, /* ABF72719-B016-4A40-A6F7-622791A7044C */
    0xabf72719, 0xb016, 0x4a40, 0xa6, 0xf7, 0x62, 0x27, 0x91, 0xa7, 0x04, 0x4c);
DEFINE_GUID(IID_IND2CompletionQueue, /* 20CC445E-64A0-4CBB-AA75-F6A7251FDA9E */
    0x20cc445e, 0x64a0, 0x4cbb, 0xaa, 0x75, 0xf6, 0xa7, 0x25, 0x1f, 0xda, 0x9e);
DEFINE_GUID(IID_IND2SharedReceiveQueue, /* AABD67DC-459A-4DB1-826B-56CFCC278883 */
    0xaabd67dc, 0x459a, 0x4db1, 0x82, 0x6b, 0x56, 0xcf, 0xcc, 0x27, 0x88, 0x83);
DEFINE_GUID(IID_IND2MemoryWindow, /* 070FE1F5-0AB5-4361-88DB-974BA704D4B9 */
    0x070fe1f5, 0x0ab5, 0x4361, 0x88, 0xdb, 0x97, 0x4b, 0xa7, 0x04, 0xd4, 0xb9);
DEFINE_GUID(IID_IND2MemoryRegion, /* 55DFEA2F-BC56-4982-8A45-0301BE46C413 */
    0x55dfea2f, 0xbc56, 0x4982, 0x8a, 0x45, 0x03, 0x01, 0xbe, 0x46, 0xc4, 0x13);
DEFINE_GUID(IID_IND2QueuePair, /* EEF2F332-B75D-4063-BCE3-3A0BAD2D02CE */
    0xeef2f332, 0xb75d, 0x4063, 0xbc, 0xe3, 0x3a, 0x0b, 0xad, 0x2d, 0x02, 0xce);
DEFINE_GUID(IID_IND2Connector, /* 7DD615C4-6B4C-4866-950C-F3B1D25A5302 */
    0x7dd615c4, 0x6b4c, 0x4866, 0x95, 0x0c, 0xf3, 0xb1, 0xd2, 0x5a, 0x53, 0x02);
DEFINE_GUID(IID_IND2Listener, /* 65D23D83-3A57-4E02-86A4-350165C2D130 */
    0x65d23d83, 0x3a57, 0x4e02, 0x86, 0xa4, 0x35, 0x01, 0x65, 0xc2, 0xd1, 0x30);

/* The slots every interface begins with; gone at the end of this file. */
#define ND_IUNKNOWN_METHODS_                                       \
    IFACEMETHOD(QueryInterface)(THIS_ REFIID iid, VOID **ppvObject) PURE; \
    IFACEMETHOD_(ULONG, AddRef)(THIS) PURE;                        \
    IFACEMETHOD_(ULONG, Release)(THIS) PURE;

/* ============================================================================================================
 * Version 2
 */

/* Overlapped requests of one object: base of the interfaces that have some. */
#undef INTERFACE
#define INTERFACE IND2Overlapped
DECLARE_INTERFACE_(IND2Overlapped, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    /*
     * Completes every pending request of this object with ND_CANCELED, in the order they were issued, before it
     * returns. Returns ND_SUCCESS.
     */
    IFACEMETHOD(CancelOverlappedRequests)(THIS) PURE;
    /*
     * How a request has ended.
     * pOverlapped  in: a request of this object
     * wait         in: TRUE waits until it has ended
     * Returns its final status; ND_PENDING: not ended (wait FALSE).
     */
    IFACEMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped, BOOL wait) PURE;
};

#define ND_OVERLAPPED_METHODS_                     \
    ND_IUNKNOWN_METHODS_                           \
    IFACEMETHOD(CancelOverlappedRequests)(THIS) PURE; \
    IFACEMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped, BOOL wait) PURE;

/* Results of finished requests of any number of queue pairs. */
#undef INTERFACE
#define INTERFACE IND2CompletionQueue
DECLARE_INTERFACE_(IND2CompletionQueue, IND2Overlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * Where notifications are delivered: the processors that were asked for.
     * pGroup, pAffinity  out
     * Returns ND_SUCCESS; ND_INVALID_PARAMETER: one is NULL.
     */
    IFACEMETHOD(GetNotifyAffinity)(THIS_ USHORT *pGroup, KAFFINITY *pAffinity) PURE;
    /*
     * Changes how many results the queue holds.
     * queueDepth  in: new depth in results
     * Returns ND_SUCCESS; ND_INVALID_PARAMETER: above the adapter's limit; ND_BUFFER_OVERFLOW: more results wait;
     * ND_INSUFFICIENT_RESOURCES: the device has not that many, or cannot resize and the queue was made with fewer;
     * ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Resize)(THIS_ ULONG queueDepth) PURE;
    /*
     * Overlapped. Waits for a result: completes when one arrives that was not yet there when the last request of this
     * kind ended.
     * type  in: ND_CQ_NOTIFY_*
     * Ends with ND_SUCCESS; ND_CANCELED; ND_BUFFER_OVERFLOW: results were lost for want of room;
     * ND_INTERNAL_ERROR; ND_DEVICE_REMOVED. Returns ND_INVALID_PARAMETER for another type.
     */
    IFACEMETHOD(Notify)(THIS_ ULONG type, OVERLAPPED *pOverlapped) PURE;
    /*
     * Takes the results of finished requests.
     * results   out: filled from index 0; those of one queue in their order
     * nResults  in: room of results, in entries
     * Returns how many were stored; fewer than nResults means there are no more. Never blocks.
     */
    IFACEMETHOD_(ULONG, GetResults)(THIS_ ND2_RESULT results[], ULONG nResults) PURE;
};

/* Receives that several queue pairs take from. An empty one makes senders wait, for ever if need be. */
#undef INTERFACE
#define INTERFACE IND2SharedReceiveQueue
DECLARE_INTERFACE_(IND2SharedReceiveQueue, IND2Overlapped)
{
    ND_OVERLAPPED_METHODS_

    /* See IND2CompletionQueue::GetNotifyAffinity. */
    IFACEMETHOD(GetNotifyAffinity)(THIS_ USHORT *pGroup, KAFFINITY *pAffinity) PURE;
    /*
     * Changes how many Receives the queue holds, and when Notify completes.
     * queueDepth       in: new depth, 0 = keep
     * notifyThreshold  in: new threshold of Notify, 0 = keep
     * Returns ND_SUCCESS; ND_BUFFER_OVERFLOW: more Receives are posted; ND_INVALID_PARAMETER: above the limit, or a
     * threshold above the depth; ND_NOT_SUPPORTED; ND_INSUFFICIENT_RESOURCES; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Modify)(THIS_ ULONG queueDepth, ULONG notifyThreshold) PURE;
    /*
     * Overlapped. Waits until Receives run short: completes when fewer are posted than the threshold says, or when the
     * queue fails.
     * Ends with ND_SUCCESS; ND_CANCELED; ND_INTERNAL_ERROR; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Notify)(THIS_ OVERLAPPED *pOverlapped) PURE;
    /* See IND2QueuePair::Receive. The result carries the context of the queue pair that took it. */
    IFACEMETHOD(Receive)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge) PURE;
};

/* Remote access to a part of a region, granted by IND2QueuePair::Bind. */
#undef INTERFACE
#define INTERFACE IND2MemoryWindow
DECLARE_INTERFACE_(IND2MemoryWindow, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    /* The token for the peer, in network order; known as soon as Bind has returned, another one after each Bind. */
    IFACEMETHOD_(UINT32, GetRemoteToken)(THIS) PURE;
};

/* Memory the adapter may access: one buffer at a time. */
#undef INTERFACE
#define INTERFACE IND2MemoryRegion
DECLARE_INTERFACE_(IND2MemoryRegion, IND2Overlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * Overlapped. Lets the adapter access memory.
     * pBuffer, cbBuffer  in: the memory; must stay mapped while registered
     * flags              in: ND_MR_FLAG_*
     * Returns or ends with ND_INVALID_PARAMETER: NULL buffer, too large, unknown flags; ND_INVALID_BUFFER_SIZE: no
     * length; ND_ACCESS_VIOLATION: not mapped, or not writable as flags ask; ND_INVALID_DEVICE_STATE: registered
     * already; ND_INSUFFICIENT_RESOURCES; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Register)
    (THIS_ const VOID *pBuffer, SIZE_T cbBuffer, ULONG flags, OVERLAPPED *pOverlapped) PURE;
    /*
     * Overlapped. Takes the memory back. The object may be registered again afterwards.
     * Returns ND_DEVICE_BUSY: a window is bound to it; ND_INVALID_DEVICE_STATE: not registered.
     */
    IFACEMETHOD(Deregister)(THIS_ OVERLAPPED *pOverlapped) PURE;
    /* The token for ND2_SGE. */
    IFACEMETHOD_(UINT32, GetLocalToken)(THIS) PURE;
    /* The token for the peer, in network order; what it may do was said with Register. */
    IFACEMETHOD_(UINT32, GetRemoteToken)(THIS) PURE;
};

/*
 * One end of a connection: an initiator queue and a receive queue. Every request that was accepted ends with one result
 * in its completion queue, but silent ones that succeed.
 *
 * What all requests take: requestContext (in: given back in ND2_RESULT), sge and nSge (in: local memory; the array
 * itself is read during the call only), flags (in: ND_OP_FLAG_*). All requests return ND_SUCCESS: queued;
 * ND_NO_MORE_ENTRIES: as many requests as the queue is deep have results not yet fetched; ND_DATA_OVERRUN: too many
 * entries; ND_BUFFER_OVERFLOW: longer than the adapter's MaxTransferLength or the queue pair's inlineDataSize;
 * ND_CONNECTION_INVALID: never connected (Receive excepted); ND_INVALID_PARAMETER_n: unknown flag; ND_DEVICE_REMOVED.
 * A request refused in the call changes nothing. A failed result ends the connection, and flushes what is queued.
 */
#undef INTERFACE
#define INTERFACE IND2QueuePair
DECLARE_INTERFACE_(IND2QueuePair, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    /*
     * Ends all queued requests with ND_CANCELED, perhaps after it has returned. The queue pair is of no further use.
     * Returns ND_SUCCESS; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Flush)(THIS) PURE;
    /* Sends a message, which fills the peer's oldest Receive. */
    IFACEMETHOD(Send)
    (THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge, ULONG flags) PURE;
    /* Gives room for one message. Allowed before the connection is made. */
    IFACEMETHOD(Receive)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge) PURE;
    /*
     * Lets the peer access cbBuffer bytes at pBuffer, a part of the region, through the window.
     * Returns also ND_INVALID_PARAMETER_2, _3: no region, window of this adapter; _4, _5: not inside the region;
     * ND_INVALID_DEVICE_REQUEST: bound already; ND_ACCESS_VIOLATION: a window to write through needs a region with
     * ND_MR_FLAG_ALLOW_LOCAL_WRITE.
     */
    IFACEMETHOD(Bind)
    (THIS_ VOID *requestContext, IUnknown *pMemoryRegion, IUnknown *pMemoryWindow, const VOID *pBuffer,
        SIZE_T cbBuffer, ULONG flags) PURE;
    /* Ends the access through the window. Returns also ND_INVALID_PARAMETER_2; ND_INVALID_DEVICE_REQUEST: not bound. */
    IFACEMETHOD(Invalidate)
    (THIS_ VOID *requestContext, IUnknown *pMemoryWindow, ULONG flags) PURE;
    /* Fetches from remoteAddress, an address of the peer, that remoteToken (network order) grants. */
    IFACEMETHOD(Read)
    (THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge, UINT64 remoteAddress, UINT32 remoteToken,
        ULONG flags) PURE;
    /*
     * Stores at remoteAddress, an address of the peer, that remoteToken (network order) grants.
     * The peer gets no result.
     */
    IFACEMETHOD(Write)
    (THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge, UINT64 remoteAddress, UINT32 remoteToken,
        ULONG flags) PURE;
};

/*
 * Makes and ends one connection of a queue pair. Active side: Bind, Connect, CompleteConnect. Passive side:
 * IND2Listener::GetConnectionRequest, Accept or Reject. "Read limits" are Reads in flight; inbound: those of the peer.
 */
#undef INTERFACE
#define INTERFACE IND2Connector
DECLARE_INTERFACE_(IND2Connector, IND2Overlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * Gives the connector its local address.
     * pAddress, cbAddress  in: local address; port 0 = choose
     * Returns ND_SUCCESS; 0xC0000238: bound already; ND_INVALID_ADDRESS: not of this adapter;
     * ND_TOO_MANY_ADDRESSES: no port left; 0xC0000022: the port is for privileged processes (below 1024).
     */
    IFACEMETHOD(Bind)(THIS_ const struct sockaddr *pAddress, ULONG cbAddress) PURE;
    /*
     * Overlapped. Asks a peer for a connection. Ends when the peer has answered; CompleteConnect or Reject have to
     * follow a success.
     * pQueuePair                            in: to be connected
     * pDestinationAddress, cbDestinationAddress  in: where the peer listens
     * inboundReadLimit, outboundReadLimit   in: cut silently to what both sides can do
     * pPrivateData, cbPrivateData           in: for the peer's GetPrivateData; NULL, 0: none
     * Returns ND_INVALID_PARAMETER_1: no queue pair of this adapter; 0xC0000239: not bound; ND_CONNECTION_ACTIVE: the
     * connector or queue pair is in use, or the connector's Connect was cancelled; ND_INVALID_DEVICE_STATE;
     * ND_INVALID_BUFFER_SIZE: more than MaxCallerData. Ends with ND_CONNECTION_REFUSED: rejected, or no program
     * listens; ND_IO_TIMEOUT; 0xC00000CC: the address cannot be resolved; ND_NETWORK_UNREACHABLE,
     * ND_HOST_UNREACHABLE; ND_TOO_MANY_ADDRESSES: no local port is left for this peer; ND_CANCELED. After each but
     * ND_CANCELED it may be tried again.
     */
    IFACEMETHOD(Connect)
    (THIS_ IUnknown *pQueuePair, const struct sockaddr *pDestinationAddress, ULONG cbDestinationAddress,
        ULONG inboundReadLimit, ULONG outboundReadLimit, const VOID *pPrivateData, ULONG cbPrivateData,
        OVERLAPPED *pOverlapped) PURE;
    /*
     * Overlapped. Makes the connection that the peer has accepted; the peer's Accept ends.
     * Returns or ends with ND_CONNECTION_INVALID: no answered Connect; ND_CONNECTION_ABORTED: the peer gave up.
     */
    IFACEMETHOD(CompleteConnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
    /*
     * Overlapped. Accepts the connection request that the connector holds. Ends when the peer completes the connection.
     * Parameters as of Connect.
     * Returns ND_INVALID_PARAMETER_1; ND_CONNECTION_ACTIVE: no request is held; ND_CONNECTION_ABORTED: the peer gave
     * up; ND_INVALID_BUFFER_SIZE: more than MaxCalleeData. Ends with ND_CONNECTION_REFUSED: the peer backed out;
     * ND_IO_TIMEOUT; ND_CANCELED, also by Flush or release of the queue pair.
     */
    IFACEMETHOD(Accept)
    (THIS_ IUnknown *pQueuePair, ULONG inboundReadLimit, ULONG outboundReadLimit, const VOID *pPrivateData,
        ULONG cbPrivateData, OVERLAPPED *pOverlapped) PURE;
    /*
     * Refuses a request, or backs out after Connect.
     * Returns ND_SUCCESS; ND_CONNECTION_INVALID: the attempt is over; ND_INVALID_DEVICE_STATE: there was none;
     * ND_INVALID_BUFFER_SIZE: more than MaxCalleeData.
     */
    IFACEMETHOD(Reject)(THIS_ const VOID *pPrivateData, ULONG cbPrivateData) PURE;
    /*
     * The limits of Reads in flight agreed so far.
     * pInboundReadLimit, pOutboundReadLimit  out, optional
     * Returns ND_SUCCESS; ND_CONNECTION_INVALID: no answer, no request.
     */
    IFACEMETHOD(GetReadLimits)(THIS_ ULONG *pInboundReadLimit, ULONG *pOutboundReadLimit) PURE;
    /* What the peer gave with Connect, Accept or Reject. Size query; ND_BUFFER_OVERFLOW has stored what fits.
     * Transports may deliver more bytes than were given, filled with zero. Returns also ND_CONNECTION_INVALID. */
    IFACEMETHOD(GetPrivateData)(THIS_ VOID *pPrivateData, ULONG *pcbPrivateData) PURE;
    /* The local address. Size query. Returns also ND_CONNECTION_INVALID: not bound. */
    IFACEMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
    /* The peer's address. Size query. Returns also ND_CONNECTION_INVALID: neither connecting nor connected. */
    IFACEMETHOD(GetPeerAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
    /*
     * Overlapped. Waits for the end of the connection. Ends with ND_SUCCESS: the peer disconnected, which flushes
     * nothing then; 0xC000020C: this side did; ND_CANCELED. Returns also ND_CONNECTION_INVALID: never connected.
     */
    IFACEMETHOD(NotifyDisconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
    /*
     * Overlapped. Flushes the queue pair and tells the peer; queued requests end with ND_CANCELED.
     * Ends with ND_SUCCESS; ND_TIMEOUT: disconnected, without an answer from the peer.
     * Returns also ND_CONNECTION_INVALID: not connected; ND_INVALID_DEVICE_STATE: under way already.
     */
    IFACEMETHOD(Disconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
};

/* Takes connection requests that arrive for a local address. */
#undef INTERFACE
#define INTERFACE IND2Listener
DECLARE_INTERFACE_(IND2Listener, IND2Overlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * Gives the listener its local address.
     * pAddress, cbAddress  in: local address; the wildcard means all of this adapter; port 0 = choose
     * Returns ND_SUCCESS; ND_SHARING_VIOLATION: in use; 0xC0000238: bound already; ND_INVALID_ADDRESS;
     * ND_TOO_MANY_ADDRESSES; ND_INSUFFICIENT_RESOURCES; 0xC0000022: the port is for privileged processes (below 1024).
     */
    IFACEMETHOD(Bind)(THIS_ const struct sockaddr *pAddress, ULONG cbAddress) PURE;
    /*
     * Begins to take connection requests.
     * backlog  in: requests that may wait, 0 = no limit
     * Returns ND_SUCCESS; ND_INVALID_DEVICE_STATE: unbound, or listening already; ND_SHARING_VIOLATION.
     */
    IFACEMETHOD(Listen)(THIS_ ULONG backlog) PURE;
    /* The local address. Size query. Returns also ND_INVALID_DEVICE_STATE: not bound. */
    IFACEMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
    /*
     * Overlapped. Takes a connection request. Ends when one was put into pConnector, a fresh one; several calls may
     * wait, first come first served.
     * Returns ND_INVALID_DEVICE_STATE: not listening; ND_CONNECTION_ACTIVE: the connector is not fresh;
     * ND_INVALID_PARAMETER_1: it is none of this adapter. Ends with ND_SUCCESS; ND_CANCELED; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(GetConnectionRequest)(THIS_ IUnknown *pConnector, OVERLAPPED *pOverlapped) PURE;
};

/* An open adapter: makes the other objects, which work together if they come from the same one. */
#undef INTERFACE
#define INTERFACE IND2Adapter
DECLARE_INTERFACE_(IND2Adapter, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    /*
     * Makes a file for overlapped requests.
     * phOverlappedFile  out: file for those of the objects made with it; bind it to a completion port
     * with CreateIoCompletionPort, close it with CloseHandle. Closing its last handle cancels what is pending on it
     * (ND_CANCELED), and overlapped calls of those objects fail with ND_INVALID_HANDLE from then on.
     */
    IFACEMETHOD(CreateOverlappedFile)(THIS_ HANDLE *phOverlappedFile) PURE;
    /*
     * What the adapter can do. Size query; InfoVersion of pInfo is in: ND_VERSION_2.
     * Returns also ND_NOT_SUPPORTED: another version; ND_DEVICE_REMOVED.
     */
    IFACEMETHOD(Query)(THIS_ ND2_ADAPTER_INFO *pInfo, ULONG *pcbInfo) PURE;
    /* The addresses of this adapter. Size query. Returns also ND_NO_MEMORY; ND_DEVICE_REMOVED. */
    IFACEMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList, ULONG *pcbAddressList) PURE;
    /*
     * Makes a completion queue.
     * queueDepth       in: results it holds
     * group, affinity  in: processors to be notified on, a hint; 0 = any
     * Returns also ND_INVALID_PARAMETER_3: depth is 0 or above the limit.
     */
    IFACEMETHOD(CreateCompletionQueue)
    (THIS_ REFIID iid, HANDLE hOverlappedFile, ULONG queueDepth, USHORT group, KAFFINITY affinity,
        VOID **ppCompletionQueue) PURE;
    /* Makes a memory region. It has no memory before Register. */
    IFACEMETHOD(CreateMemoryRegion)(THIS_ REFIID iid, HANDLE hOverlappedFile, VOID **ppMemoryRegion) PURE;
    /* Makes a memory window. It is bound to no region before IND2QueuePair::Bind. */
    IFACEMETHOD(CreateMemoryWindow)(THIS_ REFIID iid, VOID **ppMemoryWindow) PURE;
    /*
     * Makes a shared receive queue.
     * queueDepth, maxRequestSge  in: Receives it holds, entries of each
     * notifyThreshold            in: of Notify; 0 = off
     * Returns also ND_INVALID_PARAMETER_3, _4: depth, entries; ND_NOT_SUPPORTED.
     */
    IFACEMETHOD(CreateSharedReceiveQueue)
    (THIS_ REFIID iid, HANDLE hOverlappedFile, ULONG queueDepth, ULONG maxRequestSge, ULONG notifyThreshold,
        USHORT group, KAFFINITY affinity, VOID **ppSharedReceiveQueue) PURE;
    /*
     * Makes a queue pair.
     * pReceiveCompletionQueue, pInitiatorCompletionQueue  in: may be the same
     * context         in: QueuePairContext of its results
     * inlineDataSize  in: longest inline request
     * Returns also ND_INVALID_PARAMETER_2, _3, _5 to _9: the argument of that place.
     */
    IFACEMETHOD(CreateQueuePair)
    (THIS_ REFIID iid, IUnknown *pReceiveCompletionQueue, IUnknown *pInitiatorCompletionQueue, VOID *context,
        ULONG receiveQueueDepth, ULONG initiatorQueueDepth, ULONG maxReceiveRequestSge,
        ULONG maxInitiatorRequestSge, ULONG inlineDataSize, VOID **ppQueuePair) PURE;
    /*
     * Makes a queue pair whose Receives come from a shared receive queue.
     * Returns also ND_INVALID_PARAMETER_2 to _4, _6 to _8: the argument of that place; ND_NOT_SUPPORTED.
     */
    IFACEMETHOD(CreateQueuePairWithSrq)
    (THIS_ REFIID iid, IUnknown *pReceiveCompletionQueue, IUnknown *pInitiatorCompletionQueue,
        IUnknown *pSharedReceiveQueue, VOID *context, ULONG initiatorQueueDepth,
        ULONG maxInitiatorRequestSge, ULONG inlineDataSize, VOID **ppQueuePair) PURE;
    /* Makes a connector. It is for one connection of a queue pair at a time. */
    IFACEMETHOD(CreateConnector)(THIS_ REFIID iid, HANDLE hOverlappedFile, VOID **ppConnector) PURE;
    /* Makes a listener. It listens from IND2Listener::Listen on. */
    IFACEMETHOD(CreateListener)(THIS_ REFIID iid, HANDLE hOverlappedFile, VOID **ppListener) PURE;
};

/* The way to the adapters; may be released once one is open. */
#undef INTERFACE
#define INTERFACE IND2Provider
DECLARE_INTERFACE_(IND2Provider, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    /* The addresses of all adapters. Size query. Returns also ND_NO_MEMORY. */
    IFACEMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList, ULONG *pcbAddressList) PURE;
    /*
     * Finds the adapter that has a local address.
     * pAddress, cbAddress  in: local address
     * pAdapterId           out: adapter that has it
     * Returns ND_SUCCESS; ND_INVALID_ADDRESS: none has; ND_NO_MEMORY; ND_INSUFFICIENT_RESOURCES: no descriptors to ask
     * the devices with.
     */
    IFACEMETHOD(ResolveAddress)
    (THIS_ const struct sockaddr *pAddress, ULONG cbAddress, UINT64 *pAdapterId) PURE;
    /*
     * Opens an adapter. Opening it again gives another, independent one.
     * Returns also ND_INVALID_PARAMETER: no such adapter.
     */
    IFACEMETHOD(OpenAdapter)(THIS_ REFIID iid, UINT64 adapterId, VOID **ppAdapter) PURE;
};

#undef ND_OVERLAPPED_METHODS_

/* ============================================================================================================
 * Version 1. The comments on methods say only what differs from version 2.
 */

/* What an adapter can do (INDAdapter::Query, version 1). */
typedef struct _ND_ADAPTER_INFO1 {
    UINT32 VendorId;
    UINT32 DeviceId;
    SIZE_T MaxInboundSge;
    SIZE_T MaxInboundRequests;
    SIZE_T MaxInboundLength;
    SIZE_T MaxOutboundSge;
    SIZE_T MaxOutboundRequests;
    SIZE_T MaxOutboundLength;
    SIZE_T MaxInlineData;
    SIZE_T MaxInboundReadLimit;  /* Reads a peer may have in flight */
    SIZE_T MaxOutboundReadLimit; /* Reads this side may have in flight */
    SIZE_T MaxCqEntries;
    SIZE_T MaxRegistrationSize;
    SIZE_T MaxWindowSize;
    SIZE_T LargeRequestThreshold;
    SIZE_T MaxCallerData;
    SIZE_T MaxCalleeData;
} ND_ADAPTER_INFO1, *PND_ADAPTER_INFO1;

typedef ND_ADAPTER_INFO1 ND_ADAPTER_INFO;

/* Overlapped requests of one object: base of the interfaces that have some. */
#undef INTERFACE
#define INTERFACE INDOverlapped
DECLARE_INTERFACE_(INDOverlapped, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    IFACEMETHOD(CancelOverlappedRequests)(THIS) PURE;
    /* pNumberOfBytesTransferred  out: the provider's own affair */
    IFACEMETHOD(GetOverlappedResult)
    (THIS_ OVERLAPPED *pOverlapped, SIZE_T *pNumberOfBytesTransferred, BOOL bWait) PURE;
};

#define ND_OVERLAPPED_METHODS_                     \
    ND_IUNKNOWN_METHODS_                           \
    IFACEMETHOD(CancelOverlappedRequests)(THIS) PURE; \
    IFACEMETHOD(GetOverlappedResult)              \
    (THIS_ OVERLAPPED *pOverlapped, SIZE_T *pNumberOfBytesTransferred, BOOL bWait) PURE;

/* Results of finished requests of any number of endpoints. */
#undef INTERFACE
#define INTERFACE INDCompletionQueue
DECLARE_INTERFACE_(INDCompletionQueue, INDOverlapped)
{
    ND_OVERLAPPED_METHODS_

    IFACEMETHOD(Resize)(THIS_ SIZE_T nEntries) PURE;
    IFACEMETHOD(Notify)(THIS_ DWORD Type, OVERLAPPED *pOverlapped) PURE;
    /* pResults  out: addresses of the callers' own ND_RESULTs, filled at this moment. Returns how many. */
    IFACEMETHOD_(SIZE_T, GetResults)(THIS_ ND_RESULT *pResults[], SIZE_T nResults) PURE;
};

/* Remote access to a part of a registration, granted by INDEndpoint::Bind. It has no methods of its own. */
#undef INTERFACE
#define INTERFACE INDMemoryWindow
DECLARE_INTERFACE_(INDMemoryWindow, IUnknown)
{
    ND_IUNKNOWN_METHODS_
};

/*
 * One end of a connection: an initiator queue and a receive queue. A request that was accepted ends with its result in
 * its completion queue.
 *
 * pResult identifies a request. All requests return ND_INVALID_PARAMETER_1: pResult is NULL; ND_INVALID_HANDLE: an hMr
 * that is no registration of this adapter (any more).
 *
 * An entry whose hMr is NULL is inline data: of Send, SendAndInvalidate and Write, pMaxInlineData of CreateEndpoint in
 * all. A list that mixes inline and registered entries may be longer than that; of such, 16 may be under way on one
 * endpoint, the next one gets ND_NO_MORE_ENTRIES.
 */
#undef INTERFACE
#define INTERFACE INDEndpoint
DECLARE_INTERFACE_(INDEndpoint, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    IFACEMETHOD(Flush)(THIS) PURE;
    /*
     * Begins a batch: requests are kept until SubmitRequestBatch. They are given to the device together; sooner when
     * the queue or 256 requests are full, by Flush or Release, or when GetResults or Notify of its completion queue is
     * called. What they take is copied in the call. Those the device refuses end with a failed result.
     */
    IFACEMETHOD_(VOID, StartRequestBatch)(THIS) PURE;
    /* Posts the kept requests. */
    IFACEMETHOD_(VOID, SubmitRequestBatch)(THIS) PURE;
    IFACEMETHOD(Send)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge, DWORD Flags) PURE;
    /*
     * Sends a message that also takes back the peer's window.
     * Returns as INDEndpoint::Send; ND_INVALID_PARAMETER_4: no descriptor; ND_NOT_SUPPORTED: the device cannot.
     */
    IFACEMETHOD(SendAndInvalidate)
    (THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge, const ND_MW_DESCRIPTOR *pRemoteMwDescriptor,
        DWORD Flags) PURE;
    IFACEMETHOD(Receive)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge) PURE;
    /* pMwDescriptor  out: valid on return */
    IFACEMETHOD(Bind)
    (THIS_ ND_RESULT *pResult, ND_MR_HANDLE hMr, INDMemoryWindow *pMw, const VOID *pBuffer, SIZE_T BufferSize,
        DWORD Flags, ND_MW_DESCRIPTOR *pMwDescriptor) PURE;
    IFACEMETHOD(Invalidate)(THIS_ ND_RESULT *pResult, INDMemoryWindow *pMw, DWORD Flags) PURE;
    /* Offset  in: from the descriptor's Base, bytes. Returns also ND_REMOTE_ERROR: beyond the descriptor's Length. */
    IFACEMETHOD(Read)
    (THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge, const ND_MW_DESCRIPTOR *pRemoteMwDescriptor,
        ULONGLONG Offset, DWORD Flags) PURE;
    IFACEMETHOD(Write)
    (THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge, const ND_MW_DESCRIPTOR *pRemoteMwDescriptor,
        ULONGLONG Offset, DWORD Flags) PURE;
};

/* Makes an endpoint, connects it once, and disconnects it. */
#undef INTERFACE
#define INTERFACE INDConnector
DECLARE_INTERFACE_(INDConnector, INDOverlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * Makes an endpoint.
     * pMaxInlineData  out, optional: bytes that the inline entries of a request may have together
     * Returns also ND_INVALID_PARAMETER_1 to _8: the argument of that place.
     */
    IFACEMETHOD(CreateEndpoint)
    (THIS_ INDCompletionQueue *pInboundCq, INDCompletionQueue *pOutboundCq, SIZE_T nInboundEntries,
        SIZE_T nOutboundEntries, SIZE_T nInboundSge, SIZE_T nOutboundSge, SIZE_T InboundReadLimit,
        SIZE_T OutboundReadLimit, SIZE_T *pMaxInlineData, INDEndpoint **ppEndpoint) PURE;
    /* Protocol is not looked at; LocalPort 0 = choose. Ends with ND_TIMEOUT: no answer, it may be tried again. */
    IFACEMETHOD(Connect)
    (THIS_ INDEndpoint *pEndpoint, const struct sockaddr *pAddress, SIZE_T AddressLength, INT Protocol,
        USHORT LocalPort, const VOID *pPrivateData, SIZE_T PrivateDataLength, OVERLAPPED *pOverlapped) PURE;
    IFACEMETHOD(CompleteConnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
    IFACEMETHOD(Accept)
    (THIS_ INDEndpoint *pEndpoint, const VOID *pPrivateData, SIZE_T PrivateDataLength,
        OVERLAPPED *pOverlapped) PURE;
    IFACEMETHOD(Reject)(THIS_ const VOID *pPrivateData, SIZE_T PrivateDataLength) PURE;
    /*
     * Read limits and the peer's private data; each optional. ND_BUFFER_OVERFLOW has stored what fits.
     * Returns as IND2Connector::GetPrivateData.
     */
    IFACEMETHOD(GetConnectionData)
    (THIS_ SIZE_T *pInboundReadLimit, SIZE_T *pOutboundReadLimit, VOID *pPrivateData,
        SIZE_T *pPrivateDataLength) PURE;
    IFACEMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, SIZE_T *pAddressLength) PURE;
    IFACEMETHOD(GetPeerAddress)(THIS_ struct sockaddr *pAddress, SIZE_T *pAddressLength) PURE;
    /*
     * Ends with ND_CANCELED, also when this side disconnects.
     * The peer's disconnect flushes nothing while it is pending.
     */
    IFACEMETHOD(NotifyDisconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
    IFACEMETHOD(Disconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
};

/* Takes connection requests that arrive at a local port. */
#undef INTERFACE
#define INTERFACE INDListen
DECLARE_INTERFACE_(INDListen, INDOverlapped)
{
    ND_OVERLAPPED_METHODS_

    IFACEMETHOD(GetConnectionRequest)(THIS_ INDConnector *pConnector, OVERLAPPED *pOverlapped) PURE;
};

/* An open adapter: makes the other objects and registers memory. */
#undef INTERFACE
#define INTERFACE INDAdapter
DECLARE_INTERFACE_(INDAdapter, INDOverlapped)
{
    ND_OVERLAPPED_METHODS_

    /*
     * The file of all overlapped requests of this adapter and its objects. It belongs to the adapter: if the program
     * closes it anyway, that cancels them (ND_CANCELED), and overlapped calls fail with ND_INVALID_HANDLE from then on.
     */
    IFACEMETHOD_(HANDLE, GetFileHandle)(THIS) PURE;
    /* VersionRequested in: 1. Size query. Returns also ND_NOT_SUPPORTED. */
    IFACEMETHOD(Query)(THIS_ DWORD VersionRequested, ND_ADAPTER_INFO *pInfo, SIZE_T *pBufferSize) PURE;
    /* Vendors' own codes, of which there are none here. Returns ND_NOT_SUPPORTED. */
    IFACEMETHOD(Control)
    (THIS_ DWORD IoControlCode, const VOID *pInBuffer, SIZE_T InBufferSize, VOID *pOutBuffer,
        SIZE_T OutBufferSize, SIZE_T *pBytesReturned, OVERLAPPED *pOverlapped) PURE;
    IFACEMETHOD(CreateCompletionQueue)(THIS_ SIZE_T nEntries, INDCompletionQueue **ppCq) PURE;
    /*
     * Overlapped. Registers memory, for local access. Peers get access through windows.
     * phMr  out: the registration; stored at the end, on success only
     * Returns as IND2MemoryRegion::Register.
     */
    IFACEMETHOD(RegisterMemory)
    (THIS_ const VOID *pBuffer, SIZE_T BufferSize, OVERLAPPED *pOverlapped, ND_MR_HANDLE *phMr) PURE;
    /* See IND2MemoryRegion::Deregister. */
    IFACEMETHOD(DeregisterMemory)(THIS_ ND_MR_HANDLE hMr, OVERLAPPED *pOverlapped) PURE;
    /*
     * pInvalidateResult  in: delivered to the inbound queue when the peer takes the window back, directly after the
     * Receive that did it, as a result more; may be NULL. Not delivered after the window's release.
     */
    IFACEMETHOD(CreateMemoryWindow)(THIS_ ND_RESULT *pInvalidateResult, INDMemoryWindow **ppMw) PURE;
    IFACEMETHOD(CreateConnector)(THIS_ INDConnector **ppConnector) PURE;
    /*
     * Makes a listener, which listens at once. Backlog 0 = no limit; Protocol is not looked at; Port 0 = choose, and
     * store it in pAssignedPort.
     * Returns also ND_ADDRESS_ALREADY_EXISTS; ND_INVALID_PARAMETER_MIX: port 0 without pAssignedPort.
     */
    IFACEMETHOD(Listen)
    (THIS_ SIZE_T Backlog, INT Protocol, USHORT Port, USHORT *pAssignedPort, INDListen **ppListen) PURE;
};

/* The way to the adapters; may be released once one is open. */
#undef INTERFACE
#define INTERFACE INDProvider
DECLARE_INTERFACE_(INDProvider, IUnknown)
{
    ND_IUNKNOWN_METHODS_

    IFACEMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList, SIZE_T *pBufferSize) PURE;
    /* Returns also ND_INVALID_ADDRESS. */
    IFACEMETHOD(OpenAdapter)
    (THIS_ const struct sockaddr *pAddress, SIZE_T AddressLength, INDAdapter **ppAdapter) PURE;
};

#undef INTERFACE
#undef ND_OVERLAPPED_METHODS_
#undef ND_IUNKNOWN_METHODS_

    /* clang-format on */

#endif
