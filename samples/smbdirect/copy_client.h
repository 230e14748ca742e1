/* SPDX-License-Identifier: MIT */
/* copy_client.h - smbdcopy's client, which one thread runs. */
#ifndef COPY_CLIENT_H
#define COPY_CLIENT_H

#include "copy.h"

/* The end of a step: a success; not yet; a failure of this file; the end of the connection. */
enum outcome { WELL, NOT_YET, FILE_FAILED, ENDED };

/* What a slot waits for. */
enum slot_state {
    FILING, /* the worker */
    ASKED,  /* the server's answer */
    OVER,   /* nothing: its piece is done */
};

/* A piece under way. */
struct slot {
    enum slot_state state;
    struct copy_header request;
    SMBD_BUFFER *buffer;   /* by RDMA */
    uint8_t *piece;        /* in messages, of COPY_INLINE_PIECE bytes: what is sent */
    SMBD_MESSAGE *message; /* the same: what was fetched, until it is stored */
    struct copy_job job;
};

struct client {
    const struct copy_options *options;
    SMBD_ADAPTER *adapter;
    SMBD_CONNECTION *connection;
    struct copy_worker *worker;
    char server[COPY_ADDRESS_TEXT];
    struct slot slots[COPY_PIPELINE]; /* a ring */
    unsigned first, count;
    uint32_t next_id;
    bool rdma;            /* both adapters register memory for it */
    uint32_t inline_most; /* pieces up to this size go in messages */
    int directory;        /* for fetched files */
    char failure[512];    /* of the file, in words */
    /* The file: */
    uint64_t size, next;
    struct copy_progress progress;
};

/* ---- copy_client.c ---- */

/* Keeps the first text of a file. Returns FILE_FAILED. */
enum outcome copy_client_failed(struct client *client, const char *text);
enum outcome copy_client_ask(
    struct client *client, struct copy_header *request, const void *tail, uint32_t length);
/*
 * The answer to the request of that id, whose tail is in *out, which SmbdFreeMessage frees; not where NOT_YET or ENDED.
 * wait  in: false: NOT_YET, where it is not there
 */
enum outcome copy_client_answer(
    struct client *client, uint32_t id, bool wait, SMBD_MESSAGE **out, struct copy_header *answer);

/* ---- copy_client_pieces.c ---- */

/* The largest piece that goes in messages; peers reassemble at least 128 KiB. */
uint32_t copy_client_inline_most(const struct client *client);
/* All pieces of the file, by the worker. command in: COPY_WRITE, COPY_READ */
enum outcome copy_client_move(struct client *client, enum copy_command command);
/* The worker has none of them any more, and what they have besides buffers is freed. */
void copy_client_free_slots(struct client *client);

#endif
