/* SPDX-License-Identifier: MIT */
/*
 * smb2.h - the messages of SMB2 that smbdcat needs: requests as a client sends them, answers as it takes them. A pair
 * of functions each, in a file each (smb2_negotiate.c and so on), which know nothing of connections.
 *
 * Said once:
 * - A smb2_put_* function writes a whole request but its header, which smb2_put_header adds last. It fits.
 * - A smb2_get_* function takes a whole answer, of which its peer may have chosen every octet. It returns false if a
 *   length or an offset in it leads outside, or if it is another message.
 * - Sizes are in bytes. Functions may be called in any thread; what they are given is the caller's.
 *
 * Source: [MS-SMB2] 2.2, in the dialects 3.0, 3.0.2 and 3.1.1.
 */
#ifndef SMB2_H
#define SMB2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SMB2_HEADER = 64,
    SMB2_GUID = 16,
    SMB2_SALT = 32,
    SMB2_FILE_ID = 16,
    SMB2_SIGNATURE = 16,
    SMB2_NAME_MOST = 1024, /* of a path, in UTF-16 */
    SMB2_TOKEN_MOST = 2304 /* of the authentication */
};

/* [MS-SMB2] 2.2.3 */
enum smb2_dialect { SMB2_3_0 = 0x0300, SMB2_3_0_2 = 0x0302, SMB2_3_1_1 = 0x0311 };

/* ---- smb2_header.c ---- */

/* [MS-SMB2] 2.2.1.2, the numbers of the commands used here. */
enum smb2_command {
    SMB2_NEGOTIATE = 0,
    SMB2_SESSION_SETUP = 1,
    SMB2_LOGOFF = 2,
    SMB2_TREE_CONNECT = 3,
    SMB2_TREE_DISCONNECT = 4,
    SMB2_CREATE = 5,
    SMB2_CLOSE = 6,
    SMB2_FLUSH = 7,
    SMB2_READ = 8,
    SMB2_WRITE = 9,
    SMB2_CANCEL = 12,
    SMB2_ECHO = 13,
    SMB2_QUERY_DIRECTORY = 14,
    SMB2_QUERY_INFO = 16,
    SMB2_SET_INFO = 17
};

enum smb2_header_flags {
    SMB2_FLAG_RESPONSE = 1,
    SMB2_FLAG_ASYNC = 2,   /* the header has no tree */
    SMB2_FLAG_RELATED = 4, /* in a compound: session, tree and file are those of the one before */
    SMB2_FLAG_SIGNED = 8
};

struct smb2_header {
    uint16_t charge;  /* credits that the request takes */
    uint32_t status;  /* of an answer */
    uint16_t command; /* enum smb2_command */
    uint16_t credits; /* asked for, or granted */
    uint32_t flags;
    uint32_t next; /* where the next message of a compound begins; 0: none follows */
    uint64_t id;
    uint32_t tree;
    uint64_t session;
};

/* A request, or an answer: what of it is not data. */
struct smb2_request {
    uint8_t octets[SMB2_HEADER + 64 + 2 * SMB2_NAME_MOST + SMB2_TOKEN_MOST];
    uint32_t length;
};

void smb2_put_header(struct smb2_request *request, const struct smb2_header *header);
/* False also: the message is encrypted, or compressed. */
bool smb2_get_header(const uint8_t *message, uint32_t length, struct smb2_header *header);
/* For the files of the messages: an answer's fixed part of so many bytes, which begins with size; NULL: it has not. */
const uint8_t *smb2_body(const uint8_t *message, uint32_t length, uint32_t fixed, uint16_t size);
/* For them: the part of an answer at an offset from its header; NULL: it leads outside of it, or into its header. */
const uint8_t *smb2_part(
    const uint8_t *message, uint32_t length, uint32_t fixed, uint32_t offset, uint32_t part);

/* ---- smb2_negotiate.c ---- */

enum smb2_capabilities {
    SMB2_LARGE_MTU = 4
}; /* requests of more than 65536 bytes, by several credits */
enum smb2_security_mode { SMB2_SIGNING_ENABLED = 1, SMB2_SIGNING_REQUIRED = 2 };

struct smb2_negotiate {
    const uint16_t *dialects;
    uint16_t dialect_count;
    uint32_t capabilities;
    uint8_t guid[SMB2_GUID];
    uint8_t salt[SMB2_SALT]; /* of 3.1.1 */
};

struct smb2_negotiated {
    uint16_t security_mode, dialect;
    uint32_t capabilities;
    uint32_t transact_most, read_most, write_most;
};

void smb2_put_negotiate(struct smb2_request *request, const struct smb2_negotiate *negotiate);
bool smb2_get_negotiated(
    const uint8_t *message, uint32_t length, struct smb2_negotiated *negotiated);

/* ---- smb2_session.c ---- */

enum smb2_session_flags { SMB2_SESSION_GUEST = 1, SMB2_SESSION_NULL = 2, SMB2_SESSION_ENCRYPT = 4 };

struct smb2_session {
    uint16_t flags;
    const uint8_t *token; /* in the message */
    uint16_t token_length;
};

/* token in: SMB2_TOKEN_MOST at most */
void smb2_put_session_setup(struct smb2_request *request, const uint8_t *token, uint16_t length);
bool smb2_get_session(const uint8_t *message, uint32_t length, struct smb2_session *session);

/* ---- smb2_tree.c ---- */

enum { SMB2_SHARE_DISK = 1 };
enum { SMB2_SHARE_ENCRYPT = 0x8000 };

struct smb2_tree {
    uint8_t type;
    uint32_t flags;
};

/* Both in UTF-8. False: what they make is no UTF-8, or longer than SMB2_NAME_MOST. */
bool smb2_put_tree_connect(struct smb2_request *request, const char *host, const char *share);
bool smb2_get_tree(const uint8_t *message, uint32_t length, struct smb2_tree *tree);

/* ---- smb2_create.c ---- */

struct smb2_file {
    uint8_t id[SMB2_FILE_ID];
    uint64_t size;
};

/* A file for reading, which has to be there; or one for writing: made, or emptied. path in: UTF-8, with "/". */
bool smb2_put_create(struct smb2_request *request, const char *path, bool write);
bool smb2_get_created(const uint8_t *message, uint32_t length, struct smb2_file *file);
void smb2_put_close(struct smb2_request *request, const uint8_t file[SMB2_FILE_ID]);
bool smb2_get_closed(const uint8_t *message, uint32_t length);

/* ---- smb2_data.c ---- */

/* [MS-SMB2] 2.2.19: how the data passes. The last: the answer takes the server's access back; not with 3.0. */
enum smb2_channel { SMB2_IN_MESSAGE = 0, SMB2_RDMA_V1 = 1, SMB2_RDMA_V1_INVALIDATE = 2 };

/* A piece of a file. */
struct smb2_piece {
    const uint8_t *file;
    uint64_t offset;
    uint32_t length;
    enum smb2_channel channel;
    /* Memory of this end, with RDMA ([MS-SMBD] 2.2.3.1): */
    uint64_t address;
    uint32_t token;
};

/* What of the piece there is: in the message, or moved by RDMA. */
struct smb2_moved {
    uint32_t length;
    const uint8_t *data; /* in the message; else NULL */
};

void smb2_put_read(struct smb2_request *request, const struct smb2_piece *piece);
/* channel in: the request's */
bool smb2_get_read(
    const uint8_t *message, uint32_t length, enum smb2_channel channel, struct smb2_moved *moved);
/* In a message the data follows the request. */
void smb2_put_write(struct smb2_request *request, const struct smb2_piece *piece);
bool smb2_get_written(const uint8_t *message, uint32_t length, uint32_t *written);

/* ---- smb2_ntlm.c: who the client is, as tokens of NTLMSSP ([MS-NLMP]) ---- */

enum { SMB2_NTLM_CHALLENGE = 8, SMB2_SESSION_KEY = 16 };

/* In UTF-8; without a user, a guest. */
struct smb2_login {
    const char *user, *password, *domain;
};

/* Token out, SMB2_TOKEN_MOST. Returns its length. */
uint16_t smb2_ntlm_begin(uint8_t *token);
/*
 * smb2_ntlm_answer - the answer to a server's challenge.
 * challenge        in: its token
 * time             in: 100 ns since 1601, for servers that do not say theirs
 * client_challenge in: random
 * token            out: SMB2_TOKEN_MOST
 * key              out: the session's, unless it is a guest's
 * Returns the token's length; 0: the challenge makes no sense; -1: the login is too long, or no UTF-8.
 */
int smb2_ntlm_answer(const uint8_t *challenge, uint32_t length, const struct smb2_login *login,
    uint64_t time, const uint8_t client_challenge[SMB2_NTLM_CHALLENGE], uint8_t *token,
    uint8_t key[SMB2_SESSION_KEY]);

/* ---- smb2_signing.c ---- */

enum { SMB2_INTEGRITY = 64 };

/* [MS-SMB2] 3.2.5.2: a message before the session is there enters its hash. hash in and out: at first zero */
void smb2_integrity_add(uint8_t hash[SMB2_INTEGRITY], const uint8_t *message, uint32_t length);
/* The key of a session's signatures. hash in: of 3.1.1; key out */
void smb2_signing_key(uint16_t dialect, const uint8_t session[SMB2_SESSION_KEY],
    const uint8_t hash[SMB2_INTEGRITY], uint8_t key[SMB2_SESSION_KEY]);
/* Signs a request, whose header has the flag, and its data. */
void smb2_sign(struct smb2_request *request, const void *data, uint32_t length,
    const uint8_t key[SMB2_SESSION_KEY]);
/* Whether a message with a header is signed by the key. */
bool smb2_signature_is_right(
    const uint8_t *message, uint32_t length, const uint8_t key[SMB2_SESSION_KEY]);

/* ---- smb2_status.c ---- */

/* The name of an NTSTATUS that a server answers with, or its number. Returns text. */
const char *smb2_status_text(uint32_t status, char *text, size_t size);

/* Of [MS-ERREF] 2.3 what the program looks at. */
#define SMB2_STATUS_PENDING         0x00000103u
#define SMB2_STATUS_END_OF_FILE     0xC0000011u
#define SMB2_STATUS_MORE_PROCESSING 0xC0000016u

/* ---- smb2_utf16.c ---- */

/*
 * smb2_utf16 - UTF-8 as UTF-16, little-endian.
 * most  in: code units that to has room for
 * Returns the bytes written; -1: text is no UTF-8, or to has no room.
 */
int smb2_utf16(const char *text, uint8_t *to, uint32_t most);

#endif
