/* SPDX-License-Identifier: MIT */
/*
 * raw.h - a peer of SMB Direct that is no library: it sends the octets that a test gives it, right ones or others, by
 * NDKPI itself; and a library's end in the same process.
 */
#ifndef TESTS_SAMPLES_SMBDIRECT_RAW_H
#define TESTS_SAMPLES_SMBDIRECT_RAW_H

#include "tests/unit/ndk/pair.h"

#include "smbd.h"

enum { RAW_RECEIVES = 16, RAW_RECEIVE_SIZE = 2048 };

/* What became of the connections that the library's listener took. */
struct served {
    KEVENT ended; /* one was served, or refused */
    NTSTATUS status;
    char reason[96];
    atomic_uint served_count, refused_count;
};

struct scene {
    struct pair raw; /* its active or its passive side is the peer */
    struct side *peer;
    SMBD_ADAPTER *adapter;
    SMBD_PARAMETERS parameters;
    SMBD_SERVE *serve;       /* the listener's, its context is the scene; NULL: see below */
    SMBD_LISTENER *listener; /* echoes messages, until the connection ends */
    struct sockaddr_in address;
    struct served served;
    SMBD_CONNECTION *connection; /* of library_connect */
};

/* As fixtures: *state is the scene, with default parameters but long patience. */
int scene_set_up(void **state);
int scene_tear_down(void **state);

/* The library listens. */
void library_listen(struct scene *scene);
/* The raw peer connects to it; its Receives are posted. */
void raw_connect(struct scene *scene);
/* The same with private data. */
void raw_connect_with(struct scene *scene, const void *data, ULONG length);
/* What the library gave the raw peer when it connected or accepted; returns its length. */
ULONG raw_private_data(struct scene *scene, UCHAR data[64]);
/* The same, and negotiates, asking for 8 credits and granting none. */
void raw_negotiate(struct scene *scene);

/* A call of SmbdConnect, to the raw peer, in a thread of its own. */
struct connecting {
    struct scene *scene;
    pthread_t thread;
    NTSTATUS status;
    const char *reason;
};

void library_start_connect(struct scene *scene, struct connecting *connecting);
/* The whole of it: 8 credits each way; 65536 bytes in a descriptor. */
void library_connect(struct scene *scene);

/* The raw peer takes the library's connection request, which another thread has made, and accepts. */
void raw_accept(struct scene *scene);

/* A message of the raw peer's. */
void raw_send(struct scene *scene, const void *message, ULONG length);
/* One that the library sent; returns its length. */
ULONG raw_receive(struct scene *scene, void *message, ULONG size);
/* The library has ended the connection. */
void raw_ended(struct scene *scene);

/* Waits until the library is done with a connection; checks why. */
/* Waits until one was served or refused. */
NTSTATUS served_status(struct scene *scene, char reason[96]);
void served_as(struct scene *scene, ULONG status, const char *reason);

/* A data transfer message of the raw peer's. */
struct raw_transfer {
    SMBD_DATA_TRANSFER header;
    ULONG padding;
    UCHAR data[1024];
};

#endif
