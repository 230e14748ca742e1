/* SPDX-License-Identifier: MIT */
#include "tests/samples/smbdirect/raw.h"

#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_MS = 600000 }; /* no machine is that slow */

/* ---- the library's end ---- */

/* Two connections may end at the same time. */
static pthread_mutex_t served_lock = PTHREAD_MUTEX_INITIALIZER;

static void was_served(struct scene *scene, NTSTATUS status, const char *reason, atomic_uint *count)
{
    pthread_mutex_lock(&served_lock);
    scene->served.status = status;
    snprintf(scene->served.reason, sizeof(scene->served.reason), "%s", reason);
    pthread_mutex_unlock(&served_lock);
    atomic_fetch_add(count, 1);
    KeSetEvent(&scene->served.ended, IO_NO_INCREMENT, FALSE);
}

static VOID echo(PVOID context, SMBD_CONNECTION *connection)
{
    struct scene *scene = context;
    SMBD_MESSAGE *message;
    const char *reason;
    NTSTATUS status;

    while ((status = SmbdReceive(connection, TRUE, &message)) == STATUS_SUCCESS) {
        status = SmbdSend(connection, message->Data, message->Length, NULL, 0, NULL);
        SmbdFreeMessage(message);
        if (status != STATUS_SUCCESS)
            break;
    }
    status = SmbdFailure(connection, &reason);
    was_served(scene, status, reason, &scene->served.served_count);
}

static VOID refused(PVOID context, const SOCKADDR *peer, NTSTATUS status, const char *reason)
{
    struct scene *scene = context;

    assert_int_equal(peer->sa_family, AF_INET);
    was_served(scene, status, reason, &scene->served.refused_count);
}

void library_listen(struct scene *scene)
{
    const SMBD_SERVICE service = { .Serve = scene->serve ? scene->serve : echo,
        .Refused = refused,
        .Context = scene,
        .MaxConnections = 2 };
    struct sockaddr_in any_port = own_address(0);

    assert_int_equal(SmbdListen(scene->adapter, (SOCKADDR *)&any_port, sizeof(any_port),
                         &scene->parameters, &service, &scene->listener),
        0);
    assert_int_equal(
        SmbdListenerAddress(scene->listener, (SOCKADDR *)&scene->address, sizeof(scene->address)),
        0);
}

NTSTATUS served_status(struct scene *scene, char reason[96])
{
    NTSTATUS status;

    assert_int_equal(
        KeWaitForSingleObject(&scene->served.ended, Executive, KernelMode, FALSE, NULL), 0);
    pthread_mutex_lock(&served_lock);
    status = scene->served.status;
    strcpy(reason, scene->served.reason);
    pthread_mutex_unlock(&served_lock);
    return status;
}

void served_as(struct scene *scene, ULONG status, const char *reason)
{
    char served[96];

    assert_int_equal((ULONG)served_status(scene, served), status);
    assert_string_equal(served, reason);
}

int scene_set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    assert_non_null(scene);
    pair_open(&scene->raw);
    scene->peer = &scene->raw.active;
    assert_int_equal(SmbdOpenAdapter(if_nametoindex("lo"), &scene->adapter), 0);
    SmbdDefaultParameters(&scene->parameters);
    scene->parameters.CreditMs = scene->parameters.ResponseMs = LONG_MS;
    scene->parameters.NegotiateMs = scene->parameters.RequestMs = LONG_MS;
    KeInitializeEvent(&scene->served.ended, SynchronizationEvent, FALSE);
    *state = scene;
    return 0;
}

int scene_tear_down(void **state)
{
    struct scene *scene = *state;

    if (scene->connection)
        SmbdClose(scene->connection);
    if (scene->listener)
        SmbdCloseListener(scene->listener);
    SmbdCloseAdapter(scene->adapter);
    pair_close(&scene->raw);
    free(scene);
    return 0;
}

/* ---- the raw peer: its Receives are the slices of its memory from RECEIVES on ---- */

enum { RECEIVES = 4096 };

static void post_receive(struct side *side, char *at)
{
    NDK_SGE entry = sge(at, RAW_RECEIVE_SIZE, side->token);

    assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, at, &entry, 1), 0);
}

static void post_receives(struct side *side)
{
    for (unsigned i = 0; i < RAW_RECEIVES; i++)
        post_receive(side, side->memory + RECEIVES + i * RAW_RECEIVE_SIZE);
}

void raw_connect(struct scene *scene)
{
    raw_connect_with(scene, NULL, 0);
}

ULONG raw_private_data(struct scene *scene, UCHAR data[64])
{
    NDK_CONNECTOR *connector = scene->peer->connector;
    ULONG length = 64;

    assert_int_equal(
        connector->Dispatch->NdkGetConnectionData(connector, NULL, NULL, data, &length), 0);
    return length;
}

void raw_connect_with(struct scene *scene, const void *data, ULONG length)
{
    post_receives(scene->peer);
    assert_int_equal(
        start_connect(scene->peer, &scene->address, data, length), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(scene->peer), 0);
    assert_int_equal(start_complete(scene->peer), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(scene->peer), 0);
}

void raw_accept(struct scene *scene)
{
    scene->peer = &scene->raw.passive;
    post_receives(scene->peer);
    take_incoming(&scene->raw);
    assert_int_equal(start_accept(scene->peer, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(scene->peer), 0);
}

void raw_negotiate(struct scene *scene)
{
    const SMBD_NEGOTIATE_REQUEST request = { 0x0100, 0x0100, 0, 8, 1024, 1024, 131072 };
    SMBD_NEGOTIATE_RESPONSE response;

    raw_connect(scene);
    raw_send(scene, &request, sizeof(request));
    assert_int_equal(raw_receive(scene, &response, sizeof(response)), 32);
    assert_int_equal(response.Status, 0);
    assert_int_equal(response.CreditsGranted, 8);
}

static NDK_RESULT next(NDK_CQ *cq)
{
    NDK_RESULT result;

    while (!cq->Dispatch->NdkGetCqResults(cq, &result, 1))
        sched_yield();
    return result;
}

void raw_send(struct scene *scene, const void *message, ULONG length)
{
    struct side *side = scene->peer;
    NDK_SGE entry = sge(side->memory, length, side->token);

    assert_in_range(length, 1, RECEIVES);
    memcpy(side->memory, message, length);
    assert_int_equal(side->qp->Dispatch->NdkSend(side->qp, NULL, &entry, 1, 0), 0);
    assert_int_equal(next(side->initiator_cq).Status, 0);
}

ULONG raw_receive(struct scene *scene, void *message, ULONG size)
{
    struct side *side = scene->peer;
    NDK_RESULT result = next(side->receive_cq);

    assert_int_equal(result.Status, 0);
    assert_true(result.BytesTransferred <= size);
    memcpy(message, result.RequestContext, result.BytesTransferred);
    post_receive(side, result.RequestContext);
    return result.BytesTransferred;
}

void raw_ended(struct scene *scene)
{
    told_wait(&scene->peer->disconnect);
}

/* ---- the library connects to the raw peer ---- */

static void *connect_thread(void *argument)
{
    struct connecting *connecting = argument;
    struct scene *scene = connecting->scene;
    struct sockaddr_in from = own_address(0);

    connecting->status =
        SmbdConnect(scene->adapter, (SOCKADDR *)&from, (SOCKADDR *)&scene->raw.address,
            sizeof(from), &scene->parameters, &scene->connection, &connecting->reason);
    return NULL;
}

void library_start_connect(struct scene *scene, struct connecting *connecting)
{
    connecting->scene = scene;
    assert_int_equal(pthread_create(&connecting->thread, NULL, connect_thread, connecting), 0);
}

void library_connect(struct scene *scene)
{
    const SMBD_NEGOTIATE_RESPONSE response = { 0x0100, 0x0100, 0x0100, 0, 8, 8, 0, 65536, 1024,
        1024, 131072 };
    struct connecting connecting;
    SMBD_NEGOTIATE_REQUEST request;

    library_start_connect(scene, &connecting);
    raw_accept(scene);
    assert_int_equal(raw_receive(scene, &request, sizeof(request)), 20);
    raw_send(scene, &response, sizeof(response));
    assert_int_equal(pthread_join(connecting.thread, NULL), 0);
    assert_int_equal(connecting.status, 0);
}
