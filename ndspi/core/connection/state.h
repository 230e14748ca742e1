/* SPDX-License-Identifier: MIT */
/*
 * state.h - the state machine of a connector, as data: what each call returns in each state, and what each event does.
 * connector.c executes the rows; tests check them one by one.
 *
 * Source: NetworkDirect SPI, IND2Connector and INDConnector, all methods.
 */
#ifndef NDSPI_CORE_CONNECTION_STATE_H
#define NDSPI_CORE_CONNECTION_STATE_H

#include "ndspi/core/dialect.h"
#include "ndspi/core/status.h"

enum nd_connector_state {
    ND_CONNECTOR_IDLE,
    ND_CONNECTOR_QUEUED, /* a GetConnectionRequest waits for a request */
    ND_CONNECTOR_BOUND,
    ND_CONNECTOR_RESOLVING,
    ND_CONNECTOR_REQUEST_SENT,
    ND_CONNECTOR_REQUEST_RECEIVED,
    ND_CONNECTOR_REPLY_RECEIVED,
    ND_CONNECTOR_REPLY_SENT,
    ND_CONNECTOR_CONNECTED,
    ND_CONNECTOR_PASSIVE_DISCONNECT, /* the peer disconnected */
    ND_CONNECTOR_ACTIVE_DISCONNECT,  /* this side disconnected, and waits for the peer's answer */
    ND_CONNECTOR_DISCONNECTED,
    ND_CONNECTOR_CANCELED, /* a Connect was cancelled; here another Connect returns another code than in Disconnected */
    ND_CONNECTOR_STATES
};

enum nd_connector_call {
    ND_CALL_QUEUE, /* GetConnectionRequest of a listener */
    ND_CALL_BIND,
    ND_CALL_BIND_AND_CONNECT, /* Connect of version 1 binds first; ND_CALL_CONNECT then decides the next state */
    ND_CALL_CONNECT,
    ND_CALL_COMPLETE_CONNECT,
    ND_CALL_ACCEPT,
    ND_CALL_REJECT,
    ND_CALL_GET_READ_LIMITS,
    ND_CALL_GET_PRIVATE_DATA, /* success also needs the peer's data to be there */
    ND_CALL_GET_LOCAL_ADDRESS,
    ND_CALL_GET_PEER_ADDRESS,
    ND_CALL_NOTIFY_DISCONNECT,
    ND_CALL_DISCONNECT,
    ND_CALLS
};

enum nd_connector_event {
    ND_EVENT_REQUEST,      /* a listener delivers a request */
    ND_EVENT_UNQUEUED,     /* its GetConnectionRequest was cancelled */
    ND_EVENT_ROUTED,       /* address and route are resolved */
    ND_EVENT_PORT_TAKEN,   /* the local port cannot reach the peer: try another */
    ND_EVENT_FAILED,       /* a step of ours failed; the status comes with the event */
    ND_EVENT_REJECTED,     /* the peer's program rejected, or none listens */
    ND_EVENT_UNREACHABLE,  /* no answer */
    ND_EVENT_RESPONSE,     /* the peer accepted and waits for CompleteConnect */
    ND_EVENT_ESTABLISHED,  /* the connection is up at both ends */
    ND_EVENT_DISCONNECTED, /* the peer disconnected, or answered our Disconnect */
    ND_EVENT_BROKEN,       /* a request failed, and the dialect takes that for the peer's end */
    ND_EVENT_REMOVED,      /* the device is gone */
    ND_EVENT_DEADLINE,     /* no answer to our Disconnect in time, by our clock or the device's */
    ND_EVENT_CANCEL,       /* CancelOverlappedRequests */
    ND_EVENT_QP_FLUSHED,   /* the program has flushed the queue pair */
    ND_EVENT_QP_CLOSED,    /* the last reference to the queue pair is gone */
    ND_EVENT_RELEASE,      /* the last reference to the connector is gone */
    ND_EVENT_LEAVE, /* RELEASE, but an endpoint keeps the connector; a state without this row takes RELEASE's */
    ND_EVENTS
};

/* Actions of an event, besides the next state; executed in this order. */
enum nd_connector_action {
    ND_DO_KEEP_DATA = 1 << 0,  /* take over private data and read limits of the event */
    ND_DO_REJECT = 1 << 1,     /* reject, without private data */
    ND_DO_DISCONNECT = 1 << 2, /* start or answer a disconnect */
    ND_DO_FLUSH = 1 << 3,      /* move the queue pair to the error state */
    ND_DO_UNCLAIM = 1 << 4,    /* unclaim the queue pair */
    ND_DO_DROP_ID = 1 << 5,    /* unpin the connection id */
    ND_DO_START_DEADLINE = 1 << 6,
    ND_DO_STOP_DEADLINE = 1 << 7,
    ND_DO_END_CONNECT = 1 << 8, /* complete the Connect with the row's status */
    ND_DO_END_ACCEPT = 1 << 9,
    ND_DO_END_NOTIFY = 1 << 10, /* complete the NotifyDisconnect with the row's notify status */
    ND_DO_END_DISCONNECT = 1 << 11,
};

/* Statuses of completions; some values are a dialect's: nd_connector_status. */
enum nd_connector_status {
    ND_ENDS_WITH_NOTHING, /* the row completes nothing */
    ND_ENDS_WITH_SUCCESS,
    ND_ENDS_WITH_GIVEN, /* the status that comes with the event */
    ND_ENDS_WITH_REFUSED,
    ND_ENDS_WITH_BACKED_OUT, /* Accept: the peer backed out */
    ND_ENDS_WITH_TIMEOUT,
    ND_ENDS_WITH_UNREACHED, /* Connect: the failure that comes with the event, else as TIMEOUT */
    ND_ENDS_WITH_NO_ANSWER, /* Disconnect: the peer has not answered */
    ND_ENDS_WITH_LOCAL_END, /* NotifyDisconnect after a local Disconnect */
    ND_ENDS_WITH_CANCELED,
    ND_ENDS_WITH_REMOVED,
    ND_CONNECTOR_STATUSES
};

struct nd_connector_answer {
    /* A failure is returned as it is. ND_PENDING begins a request. ND_SUCCESS: done, completed now. */
    HRESULT result;
    enum nd_connector_state next; /* entered unless result is a failure */
};

struct nd_connector_row {
    enum nd_connector_state next;
    unsigned actions; /* enum nd_connector_action */
    enum nd_connector_status status, notify;
};

const struct nd_connector_answer *nd_connector_answer(
    enum nd_connector_state state, enum nd_connector_call call);
/* NULL: the event means nothing in this state. */
const struct nd_connector_row *nd_connector_row(
    enum nd_connector_state state, enum nd_connector_event event);
/* Returns the status that a completion carries; given  in: the one for ND_ENDS_WITH_GIVEN. */
HRESULT nd_connector_status(
    const struct nd_dialect *dialect, enum nd_connector_status status, HRESULT given);
const char *nd_connector_state_name(enum nd_connector_state state);
const char *nd_connector_event_name(enum nd_connector_event event);

#endif
