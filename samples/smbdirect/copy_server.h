/* SPDX-License-Identifier: MIT */
/* copy_server.h - a session of smbdcopy's server, which one thread of the library's serves. */
#ifndef COPY_SERVER_H
#define COPY_SERVER_H

#include "copy.h"

struct server {
    const struct copy_options *options;
    SMBD_ADAPTER *adapter;
    int directory;
};

/* What a slot waits for. */
enum slot_state {
    MOVING, /* its RDMA */
    FILING, /* the worker */
    OVER,   /* nothing: its request is done */
};

/* A request for a piece that is under way. */
struct slot {
    enum slot_state state;
    struct copy_header request;
    SMBD_BUFFER *buffer;   /* by RDMA */
    uint8_t *piece;        /* in messages, of a file that is fetched */
    SMBD_MESSAGE *message; /* the same of one that is stored: until it is */
    struct copy_job job;
};

enum session_state { IDLE, PUTTING, GETTING };

struct session {
    struct server *server;
    SMBD_CONNECTION *connection;
    struct copy_worker *worker;
    char peer[COPY_ADDRESS_TEXT];
    struct slot slots[COPY_PIPELINE]; /* a ring */
    unsigned first, count;

    enum session_state state;
    char name[COPY_NAME_MOST + 1];
    uint64_t size, next; /* of the file; where the next request has to begin */
    int source;          /* GETTING */
    struct copy_target target;
    int error; /* of the file, negative; 0: none */
};

/* ---- copy_server.c. Answers return false where the connection has ended ---- */

void copy_session_say(struct session *session, const char *what, const char *why);
void copy_session_say_not_stored(struct session *session, int error);
/* answer in: Status, Tail and what the command has */
bool copy_session_answer(struct session *session, const struct copy_header *request,
    struct copy_header *answer, const void *tail);
bool copy_session_answer_failed(
    struct session *session, const struct copy_header *request, const char *text);
/* The request makes no sense: answers it, and ends the session. Returns false. */
bool copy_session_mistaken(
    struct session *session, const struct copy_header *request, const char *text);

/* ---- copy_server_pieces.c. They return false where the session ends ---- */

/* message: the request's, with its tail; *message = NULL: it is the session's */
bool copy_session_move(
    struct session *session, const struct copy_header *request, SMBD_MESSAGE **message);
/* Brings one request on, which there is; waits for it if none goes on without. */
bool copy_session_go_on(struct session *session);
/* Ends all of them. */
bool copy_session_finish(struct session *session);
/* The worker has none of them any more, and what they have besides buffers is freed. */
void copy_session_free_slots(struct session *session);

#endif
