/* SPDX-License-Identifier: MIT */
/*
 * behaviours.h - what clients rely on, by the short name the rows refer to: BEHAVIOUR(name, "text").
 */
#ifndef TESTS_CONFORMANCE_BEHAVIOURS_H
#define TESTS_CONFORMANCE_BEHAVIOURS_H

/* clang-format off */
#define BEHAVIOURS(BEHAVIOUR) \
    BEHAVIOUR(A1, "addresses of the list pass the check and open adapters; the list tells its size") \
    BEHAVIOUR(A2, "a peer's address leads to a local one, port 0, that opens an adapter") \
    BEHAVIOUR(A3, "Query with the exact size; every limit is positive") \
    BEHAVIOUR(A4, "two CQs of the greatest depth; a QP as deep as CQ and Receive limits allow") \
    BEHAVIOUR(A5, "limits hold together, not one at a time") \
    BEHAVIOUR(A6, "one Receive more than the limit is refused") \
    BEHAVIOUR(A7, "a CQ may be smaller than its QPs") \
    BEHAVIOUR(A8, "the adapter says that data lands in order") \
    BEHAVIOUR(A9, "several adapters and connections in one process, one port for all") \
    BEHAVIOUR(M1, "registering NULL") \
    BEHAVIOUR(M2, "registering nothing") \
    BEHAVIOUR(M3, "one object registered again and again, any size, any alignment") \
    BEHAVIOUR(M4, "a bound window keeps its region registered") \
    BEHAVIOUR(M5, "a window without rights") \
    BEHAVIOUR(M6, "rights of overlapping regions and windows are independent") \
    BEHAVIOUR(M7, "a tagged event makes a registration synchronous") \
    BEHAVIOUR(M8, "one packet for every request that did not fail at once") \
    BEHAVIOUR(W1, "Bind completes; its token is known when it returns") \
    BEHAVIOUR(W2, "large windows and regions, any offset") \
    BEHAVIOUR(W3, "access beyond the end fails at its maker; the owner's Receives are flushed") \
    BEHAVIOUR(W4, "tokens die with Invalidate and Deregister") \
    BEHAVIOUR(W5, "a right that was not granted") \
    BEHAVIOUR(W6, "Bind and Invalidate complete in order") \
    BEHAVIOUR(W7, "batches of Reads and Writes of any size") \
    BEHAVIOUR(W8, "a Send arrives behind the data written before it") \
    BEHAVIOUR(S1, "Receives posted before connecting are used") \
    BEHAVIOUR(S2, "messages and Receives of no length") \
    BEHAVIOUR(S3, "gather and scatter") \
    BEHAVIOUR(S4, "a Receive that is too small") \
    BEHAVIOUR(S5, "no Receive posted: the sender times out soon, the receiver sees nothing") \
    BEHAVIOUR(S6, "Flush without a connection") \
    BEHAVIOUR(S7, "results carry contexts and type, failed ones too") \
    BEHAVIOUR(S8, "completions come in the order of the posts") \
    BEHAVIOUR(S9, "depth is exact and counted by fetched completions") \
    BEHAVIOUR(C1, "Bind, Connect, Accept, CompleteConnect in every state") \
    BEHAVIOUR(C2, "nobody listens") \
    BEHAVIOUR(C3, "connecting to the wildcard address") \
    BEHAVIOUR(C4, "a connector or queue pair that is in use") \
    BEHAVIOUR(C5, "either side rejects") \
    BEHAVIOUR(C6, "either side goes away without an answer") \
    BEHAVIOUR(C7, "private data of Connect, too long and exact") \
    BEHAVIOUR(C8, "private data of Accept, too long and exact") \
    BEHAVIOUR(C9, "reading private data") \
    BEHAVIOUR(C10, "second Bind and second Listen of a listener") \
    BEHAVIOUR(C11, "read limits are negotiated and held") \
    BEHAVIOUR(C12, "both sides connect at once") \
    BEHAVIOUR(C13, "explicit local ports, also a listener's") \
    BEHAVIOUR(C14, "connection requests: order, cancel, backlog") \
    BEHAVIOUR(C15, "connection calls return ND_PENDING") \
    BEHAVIOUR(C16, "many connections, also from several threads") \
    BEHAVIOUR(C17, "data before the Accept was looked at") \
    BEHAVIOUR(D1, "the peer's end flushes the queues, unless the program asked to be told") \
    BEHAVIOUR(D2, "NotifyDisconnect") \
    BEHAVIOUR(D3, "both disconnect at once") \
    BEHAVIOUR(D4, "Disconnect without a connection") \
    BEHAVIOUR(D5, "after Disconnect everything can be fetched") \
    BEHAVIOUR(D6, "the last message arrives") \
    BEHAVIOUR(N1, "cancelling: order, packets, status") \
    BEHAVIOUR(N2, "one cancel, several requests") \
    BEHAVIOUR(N3, "status after the packet was taken") \
    BEHAVIOUR(N4, "blocking waits miss nothing") \
    BEHAVIOUR(N5, "user packets pass the port") \
    BEHAVIOUR(silent, "silent success, 10 times the depth; failures are not silent") \
    BEHAVIOUR(fence, "requests behind a fence wait for Reads") \
    BEHAVIOUR(solicited, "what wakes a solicited Notify") \
    BEHAVIOUR(srq, "shared receive queues") \
    BEHAVIOUR(cq, "resizing, overrun, the race rule of Notify") \
    BEHAVIOUR(inline, "inline data: unregistered, many entries, limit, reuse") \
    BEHAVIOUR(window, "windows: rebinding, overlap") \
    BEHAVIOUR(readlimit, "read limits of 0 and beyond 255") \
    BEHAVIOUR(address, "IPv6 and wildcard addresses") \
    BEHAVIOUR(teardown, "the last Release with every kind of pending request") \
    BEHAVIOUR(status, "the exact code of every refused call and failed request") \
    BEHAVIOUR(com, "IUnknown rules, foreign objects, threads") \
    BEHAVIOUR(lifetime, "any order of release; what keeps what alive") \
    BEHAVIOUR(result, "numbers of the request types") \
    BEHAVIOUR(flags, "registration flags") \
    BEHAVIOUR(provider, "IND2Provider; adapters are independent") \
    BEHAVIOUR(adapter, "IND2Adapter's queries and makers") \
    BEHAVIOUR(affinity, "notify affinity") \
    BEHAVIOUR(token, "a window's token changes") \
    BEHAVIOUR(helper, "the Nd* functions") \
    BEHAVIOUR(dll, "exports and class object of the library") \
    BEHAVIOUR(packet, "where a completion goes: event, port, both, neither") \
    BEHAVIOUR(overlapped, "the fields of an OVERLAPPED and its event, from start to end") \
    BEHAVIOUR(cancel, "a cancel is over when it returns and touches its own object only") \
    BEHAVIOUR(closing, "closing the overlapped file cancels what is pending on it and refuses what comes later") \
    BEHAVIOUR(port, "completion ports beside the provider's packets") \
    BEHAVIOUR(notify, "when a Notify completes") \
    BEHAVIOUR(identity, "version 1: a result is the client's own structure, told by its address") \
    BEHAVIOUR(handle, "version 1: registrations as handles; stale, foreign and wrong ones") \
    BEHAVIOUR(descriptor, "version 1: 20 octets, big endian, at any address; offsets from their base") \
    BEHAVIOUR(takeback, "version 1: the peer takes a window back; both sides at once") \
    BEHAVIOUR(batch, "version 1: batches: when they are submitted, what is checked in the call") \
    BEHAVIOUR(client, "version 1: a message-passing library's whole conversation") \
    BEHAVIOUR(mixed, "both versions in one process, and on one connection")
/* clang-format on */

#endif
