/* SPDX-License-Identifier: MIT */
/*
 * serve.h - what the parts of smbdserve share: a session, which one thread of the library's serves, request after
 * request. Of what a client sends every octet may be anything.
 */
#ifndef SERVE_H
#define SERVE_H

#include "cat_login.h"
#include "copy_host.h"
#include "smb2.h"
#include "smb2_server.h"
#include "smbd.h"

#include <dirent.h>
#include <sys/stat.h>

enum {
    SERVE_MOST = 1048576,   /* of data that a request moves */
    SERVE_OUTPUT = 65536,   /* of an answer about a file or a directory */
    SERVE_CREDITS = 512,    /* that a client has at a time */
    SERVE_BUFFERS = 4,      /* for RDMA */
    SERVE_OPENS = 512,      /* of one session */
    SERVE_NAME_MOST = 255,  /* of a part of a path, in UTF-8 */
    SERVE_PATH_IN = 4096,   /* of a path, in UTF-16 */
    SERVE_PATH_MOST = 6144, /* the same in UTF-8 */
    SERVE_CREDIT_BYTES = 65536
};

struct serve_options {
    struct copy_address address; /* where to listen */
    const char *directory, *share;
    struct smb2_login login; /* without a user all are guests */
};

struct server {
    const struct serve_options *options;
    SMBD_ADAPTER *adapter;
    int directory;
    uint8_t guid[SMB2_GUID];
    char host[64];
    uint32_t volume; /* its serial number */
};

/* A file or a directory that the client has opened. */
struct serve_open {
    uint64_t serial; /* 0: none */
    int fd;
    uint32_t access;
    bool directory, delete_on_close;
    char *path;                        /* from the served directory; "" is that */
    DIR *list;                         /* of a directory that is being listed */
    char pending[SERVE_NAME_MOST + 1]; /* a name that did not fit into the last answer */
};

enum { SERVE_TREE = 1 }; /* the number of the share, once a client is connected with it */

enum serve_state {
    NOT_NEGOTIATED,
    NEGOTIATED,
    CHALLENGED, /* the client has to answer the challenge */
    LOGGED_IN,
    CONNECTED /* with the share */
};

struct session {
    const struct server *server;
    SMBD_CONNECTION *connection;
    char peer[COPY_ADDRESS_TEXT];
    enum serve_state state;
    uint16_t dialect;
    bool large_requests; /* several credits each */
    uint32_t most;       /* of data in a request */
    uint32_t credits;    /* that the client has */
    uint64_t id;
    bool user_proven; /* the session has a key */
    uint8_t connection_hash[SMB2_INTEGRITY], hash[SMB2_INTEGRITY], key[SMB2_SESSION_KEY];
    uint8_t challenge[SMB2_NTLM_CHALLENGE];
    uint64_t serial; /* of the last open */
    struct serve_open opens[SERVE_OPENS];
    /* Of a compound: */
    uint64_t last_open;
    uint32_t last_status;
    SMBD_BUFFER *buffers[SERVE_BUFFERS];
    bool moving[SERVE_BUFFERS]; /* their data leaves */
    unsigned next_buffer;
    uint8_t *output; /* of answers, SERVE_MOST */
};

struct serve_request {
    const uint8_t *message; /* with its header */
    uint32_t length;
    struct smb2_header header;
    bool proven; /* by the signature of the session's user */
};

struct serve_answer {
    struct smb2_request head;
    const void *data; /* behind it */
    uint32_t data_length;
    bool invalidate; /* the client's token */
    UINT32 token;
    uint8_t *hash; /* that it enters, or NULL */
    bool over;     /* the connection ends without it */
};

/* What a command does. Returns the status; 0, or SMB2_STATUS_MORE_PROCESSING or _BUFFER_OVERFLOW: answer is made. */
typedef uint32_t serve_command(
    struct session *session, const struct serve_request *request, struct serve_answer *answer);

/* ---- serve_server.c ---- */

/* Until a signal ends it. Returns the program's status, or COPY_NEXT_ADDRESS. */
int serve(const struct serve_options *options);

/* ---- serve_session.c ---- */

void serve_session_say(const struct session *session, const char *what);
/* Until the client leaves. */
void serve_session(struct session *session);
/* The fixed part of an answer, all zero but its size. */
uint8_t *serve_begin(struct serve_answer *answer, uint16_t size, uint32_t fixed);
/* That of a request; NULL: it is shorter. */
const uint8_t *serve_body(const struct serve_request *request, uint32_t fixed, uint16_t size);
/* Whether the request took credits enough to move so many bytes. */
bool serve_paid(const struct session *session, const struct serve_request *request, uint32_t bytes);

/* ---- serve_login.c ---- */

serve_command serve_negotiate, serve_session_setup, serve_logoff, serve_tree_connect,
    serve_tree_disconnect;
bool serve_random(void *to, size_t size);

/* ---- serve_open.c ---- */

serve_command serve_close, serve_flush;
/* The one that a request names by that id of its own; in a compound perhaps the one before. NULL: there is none. */
struct serve_open *serve_find_open(
    struct session *session, const struct serve_request *request, const uint8_t *id);
/* A free one; NULL: there is none. */
struct serve_open *serve_new_open(struct session *session);
void serve_put_open_id(const struct session *session, const struct serve_open *open, uint8_t *id);
/* Closes it, and removes the file if that was asked for. */
void serve_end_open(const struct session *session, struct serve_open *open);
void serve_end_all_opens(struct session *session);

/* ---- serve_create.c ---- */

enum serve_access {
    SERVE_READ_DATA = 0x1,
    SERVE_WRITE_DATA = 0x2,
    SERVE_APPEND_DATA = 0x4,
    SERVE_EXECUTE = 0x20,
    SERVE_WRITE_ATTRIBUTES = 0x100,
    SERVE_DELETE = 0x10000
};

serve_command serve_create;

/* ---- serve_data.c, serve_info.c, serve_set.c, serve_list.c ---- */

serve_command serve_read, serve_write;
serve_command serve_query_info;
serve_command serve_set_info;
serve_command serve_query_directory;

/* ---- serve_path.c: names, and what is beneath the served directory ---- */

/* The status of an errno. */
uint32_t serve_status(int error);
/* Whether a name may be part of a path. */
bool serve_name_allowed(const char *name);
/*
 * A client's path as one of this host.
 * name  in: UTF-16
 * path  out: SERVE_PATH_MOST
 * Returns 0 or a status.
 */
uint32_t serve_path(const uint8_t *name, uint32_t length, char *path);
/*
 * Where a path's last part is. No link is followed.
 * name  out: of the last part, in path; of the served directory "."
 * Returns a descriptor of the folder, to be closed; or a negative errno, -ENOTDIR: of a part that is none, or a link.
 */
int serve_folder(int directory, const char *path, const char **name);
/* Whether the path still leads to that file. */
bool serve_is_at(int folder, const char *name, int fd);

/* ---- serve_attributes.c ---- */

enum serve_attributes { SERVE_READ_ONLY = 0x1, SERVE_DIRECTORY = 0x10, SERVE_ARCHIVE = 0x20 };

/* 100 ns since 1601. */
uint64_t serve_time(struct timespec time);
uint64_t serve_now(void);
uint32_t serve_attributes(const struct stat *stat);
/* Creation, last access, last write, change: 32 bytes. */
void serve_put_times(uint8_t *to, const struct stat *stat);
/* Allocated bytes, end of the file: 16 bytes. */
void serve_put_sizes(uint8_t *to, const struct stat *stat);
/* Times of a client's, zero: left as it is. Returns 0 or a status. */
uint32_t serve_set_times(int fd, uint64_t access, uint64_t write);

#endif
