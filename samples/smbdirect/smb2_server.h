/* SPDX-License-Identifier: MIT */
/*
 * smb2_server.h - what a server of SMB2 needs besides smb2.h: the other side of NTLMSSP, names as clients send them,
 * and the codes that it answers with. Functions may be called in any thread; what they are given is the caller's.
 */
#ifndef SMB2_SERVER_H
#define SMB2_SERVER_H

#include "smb2.h"

/* ---- smb2_ntlm_server.c. Source: [MS-NLMP] 3.2.5 ---- */

/*
 * smb2_ntlm_challenge - the answer to a client's first token.
 * begin      in: the token, of which the client may have chosen every octet
 * challenge  in: random
 * time       in: 100 ns since 1601
 * host       in: this one's name; what is not ASCII in it is left out
 * token      out: SMB2_TOKEN_MOST
 * Returns its length; 0: begin makes no sense.
 */
uint16_t smb2_ntlm_challenge(const uint8_t *begin, uint32_t length,
    const uint8_t challenge[SMB2_NTLM_CHALLENGE], uint64_t time, const char *host, uint8_t *token);

enum smb2_ntlm_verdict {
    SMB2_NTLM_NO_SENSE,
    SMB2_NTLM_REFUSED, /* another user, or a wrong password */
    SMB2_NTLM_USER     /* the one of the login */
};

/*
 * smb2_ntlm_check - the client's answer to the challenge; version 2 alone.
 * token      in: of which the client may have chosen every octet
 * login      in: user and password; any domain does. Without a user nobody is the user
 * key        out: the session's, of the user
 */
enum smb2_ntlm_verdict smb2_ntlm_check(const uint8_t *token, uint32_t length,
    const uint8_t challenge[SMB2_NTLM_CHALLENGE], const struct smb2_login *login,
    uint8_t key[SMB2_SESSION_KEY]);

/* ---- smb2_utf16.c ---- */

/*
 * smb2_utf8 - UTF-16, little-endian, as UTF-8, with a zero behind it.
 * length  in: bytes of text
 * to      out
 * size    in: of to
 * Returns the bytes written without the zero; -1: text is no UTF-16, has a zero, or to has no room.
 */
int smb2_utf8(const uint8_t *text, uint32_t length, char *to, uint32_t size);

/* ---- [MS-ERREF] 2.3, besides those of smb2.h ---- */

#define SMB2_STATUS_BUFFER_OVERFLOW        0x80000005u
#define SMB2_STATUS_NO_MORE_FILES          0x80000006u
#define SMB2_STATUS_INFO_LENGTH_MISMATCH   0xC0000004u
#define SMB2_STATUS_INVALID_PARAMETER      0xC000000Du
#define SMB2_STATUS_NO_MEMORY              0xC0000017u
#define SMB2_STATUS_ACCESS_DENIED          0xC0000022u
#define SMB2_STATUS_OBJECT_NAME_INVALID    0xC0000033u
#define SMB2_STATUS_OBJECT_NAME_NOT_FOUND  0xC0000034u
#define SMB2_STATUS_OBJECT_NAME_COLLISION  0xC0000035u
#define SMB2_STATUS_OBJECT_PATH_NOT_FOUND  0xC000003Au
#define SMB2_STATUS_SHARING_VIOLATION      0xC0000043u
#define SMB2_STATUS_QUOTA_EXCEEDED         0xC0000044u
#define SMB2_STATUS_LOGON_FAILURE          0xC000006Du
#define SMB2_STATUS_DISK_FULL              0xC000007Fu
#define SMB2_STATUS_INSUFFICIENT_RESOURCES 0xC000009Au
#define SMB2_STATUS_MEDIA_WRITE_PROTECTED  0xC00000A2u
#define SMB2_STATUS_FILE_IS_A_DIRECTORY    0xC00000BAu
#define SMB2_STATUS_NOT_SUPPORTED          0xC00000BBu
#define SMB2_STATUS_NETWORK_NAME_DELETED   0xC00000C9u
#define SMB2_STATUS_BAD_NETWORK_NAME       0xC00000CCu
#define SMB2_STATUS_REQUEST_NOT_ACCEPTED   0xC00000D0u
#define SMB2_STATUS_NOT_SAME_DEVICE        0xC00000D4u
#define SMB2_STATUS_DIRECTORY_NOT_EMPTY    0xC0000101u
#define SMB2_STATUS_NOT_A_DIRECTORY        0xC0000103u
#define SMB2_STATUS_TOO_MANY_OPENED_FILES  0xC000011Fu
#define SMB2_STATUS_FILE_CLOSED            0xC0000128u
#define SMB2_STATUS_IO_DEVICE_ERROR        0xC0000185u
#define SMB2_STATUS_USER_SESSION_DELETED   0xC0000203u
#define SMB2_STATUS_NO_INTEGRITY_OVERLAP   0xC05D0000u

#endif
