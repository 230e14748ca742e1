/* SPDX-License-Identifier: MIT */
/*
 * cat.h - what the parts of smbdcat share: one file of an SMB server, read to standard output or written from standard
 * input. One thread does all of it.
 */
#ifndef CAT_H
#define CAT_H

#include "cat_login.h"
#include "copy_host.h"
#include "smb2.h"
#include "smbd.h"

enum {
    CAT_PIPELINE = 8,        /* pieces under way */
    CAT_PIECE = 1048576,     /* moved by RDMA */
    CAT_IN_MESSAGE = 65536,  /* in a message */
    CAT_CREDIT_BYTES = 65536 /* that a credit of SMB2 is good for; [MS-SMB2] 3.2.4.1.5 */
};

/* ---- cat_url.c ---- */

/* smb://HOST[:PORT]/SHARE/PATH; its texts are those of one allocation, memory. */
struct cat_url {
    char *memory;
    const char *host, *port, *share, *path; /* port NULL: SMB Direct's */
};

/* NULL, or what is wrong. Percent and two digits are an octet. */
const char *cat_url_parse(const char *text, struct cat_url *url);

/* ---- the connection: cat_client.c ---- */

struct cat_options {
    const char *text; /* the URL as it was given */
    struct cat_url url;
    struct smb2_login login;
    struct copy_address local; /* length 0: chosen by the route */
    uint16_t newest;           /* enum smb2_dialect */
    unsigned pieces;           /* under way at a time, CAT_PIPELINE at most */
    bool put, in_messages;
};

struct cat {
    const struct cat_options *options;
    struct copy_address address;
    SMBD_ADAPTER *adapter;
    SMBD_CONNECTION *connection;
    struct smb2_negotiated negotiated;
    uint64_t next_id, session;
    uint32_t credits, tree;
    bool user_proven; /* the session has a key */
    uint8_t hash[SMB2_INTEGRITY], key[SMB2_SESSION_KEY];
    struct smb2_file file;
};

/* Says what failed of which file, at which server; returns false, for its callers' ends. */
bool cat_failed(const struct cat *cat, const char *doing, const char *what);
/* The same of the connection, which has ended. */
bool cat_ended(const struct cat *cat, const char *doing);

/*
 * cat_ask - sends a request of the session, and its data.
 * bytes  in: that the request moves; it takes a credit for each CAT_CREDIT_BYTES
 * id     out: its answer has the same
 * False: the connection has ended; said.
 */
bool cat_ask(struct cat *cat, struct smb2_request *request, enum smb2_command command,
    const char *doing, const void *data, uint32_t length, uint32_t bytes, uint64_t *id);
/* Credits that a request takes. */
uint32_t cat_charge(const struct cat *cat, uint32_t bytes);
/* The next answer, whose signature is right. Message out: to be freed. False: said. */
bool cat_answer(
    struct cat *cat, const char *doing, SMBD_MESSAGE **message, struct smb2_header *header);
/* A request, and its answer, which has to be a success. Message out: as above. */
bool cat_transact(struct cat *cat, struct smb2_request *request, enum smb2_command command,
    const char *doing, SMBD_MESSAGE **message);

/* The addresses of the server are tried in their order. Returns the program's status. */
int cat_run(const struct cat_options *options);

/* ---- cat_session.c ---- */

/* From the dialect to the open file, and the file closed. False: said. */
bool cat_open(struct cat *cat);
bool cat_close(struct cat *cat);

/* ---- cat_pieces.c ---- */

/* All of the file to standard output, or of standard input to the file. False: said. */
bool cat_move(struct cat *cat);

#endif
