/* SPDX-License-Identifier: MIT */
/*
 * serve_client.h - a client of smbdserve that sends what it likes, over a library that keeps the rules of SMB Direct:
 * requests that are right, to be sent as they are, or changed.
 */
#ifndef TESTS_SAMPLES_SMBDIRECT_SERVE_CLIENT_H
#define TESTS_SAMPLES_SMBDIRECT_SERVE_CLIENT_H

#include "smb2.h"
#include "smb2_octets.h"
#include "smbd.h"

/* [MS-ERREF] 2.3, written out. */
enum {
    BUFFER_OVERFLOW = 0x80000005,
    NO_MORE_FILES = 0x80000006,
    INFO_LENGTH_MISMATCH = 0xC0000004,
    INVALID_PARAMETER = 0xC000000D,
    END_OF_FILE = 0xC0000011,
    ACCESS_DENIED = 0xC0000022,
    NAME_INVALID = 0xC0000033,
    NAME_NOT_FOUND = 0xC0000034,
    NAME_COLLISION = 0xC0000035,
    PATH_NOT_FOUND = 0xC000003A,
    IS_A_DIRECTORY = 0xC00000BA,
    NOT_SUPPORTED = 0xC00000BB,
    NAME_DELETED = 0xC00000C9,
    BAD_NETWORK_NAME = 0xC00000CC,
    NOT_ACCEPTED = 0xC00000D0,
    NOT_EMPTY = 0xC0000101,
    NOT_A_DIRECTORY = 0xC0000103,
    FILE_CLOSED = 0xC0000128,
    SESSION_DELETED = 0xC0000203,
    NO_OVERLAP = 0xC05D0000,
    ENDED = 0xffffffff /* no answer: the connection has come to its end */
};
enum { READ_IT = 0x120089, CHANGE_IT = 0x13019f }; /* the second: delete, too */
enum { OPEN = 1, CREATE = 2, OPEN_IF = 3, OVERWRITE_IF = 5 };
enum { DIRECTORY_FILE = 1, DELETE_ON_CLOSE = 0x1000 };
enum { BODY = SMB2_HEADER, CREDITS = 256 };

struct client {
    SMBD_CONNECTION *connection;
    uint64_t id, session;
    uint32_t tree;
    uint8_t answer[65536 + 256]; /* the last one */
    uint32_t length;
};

/* Of the loopback; says why there is none, and ends the program. */
void client_server(uint16_t port);
void client_server_end(void);

/* What is being done, before each message of a test. Counts what was not as expected, and says it. */
extern const char *client_doing;
void expect(const char *what, uint32_t status, uint32_t expected);
unsigned client_failures(void);

void client_connect(struct client *client);
/* Negotiated, logged in as a guest, and connected with the share. */
void client_arrive(struct client *client);
void client_leave(struct client *client);

/* A message as it is; a request, with its header. They return the status of the answer, or ENDED. */
uint32_t ask_octets(struct client *client, const void *octets, uint32_t length);
uint32_t ask(struct client *client, struct smb2_request *request, uint16_t command);
uint32_t await_answer(struct client *client);
void put_header(struct client *client, struct smb2_request *request, uint16_t command);
uint32_t set_up(struct client *client, const uint8_t *token, int length);
uint32_t open_it(struct client *client, const char *name, uint32_t access, uint32_t disposition,
    uint32_t options, uint8_t *file);
uint32_t close_it(struct client *client, const uint8_t *file);

/* Requests without their headers. */
uint8_t *begin(struct smb2_request *request, uint16_t size, uint32_t length);
void negotiation(struct smb2_request *request);
void creation(struct smb2_request *request, const char *name, size_t length, uint32_t access,
    uint32_t disposition, uint32_t options);
void listing(struct smb2_request *request, const uint8_t *file, uint8_t class, uint32_t most);
void question(
    struct smb2_request *request, const uint8_t *file, uint8_t type, uint8_t class, uint32_t most);
void change(struct smb2_request *request, const uint8_t *file, uint8_t class, const void *data,
    uint32_t length);
void renaming(struct smb2_request *request, const uint8_t *file, const char *name, bool replace);
void moving(struct smb2_request *request, const uint8_t *file, uint16_t command, uint64_t offset,
    uint32_t length, enum smb2_channel channel);

#endif
