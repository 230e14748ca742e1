/* SPDX-License-Identifier: MIT */
/*
 * smb2_ntlm.h - what both sides of NTLMSSP need, for the files smb2_ntlm*.c. Source: [MS-NLMP] 2.2.1 (messages),
 * 2.2.2.5 (flags), 2.2.2.1 (the server's pairs), 3.3.2 (keys).
 */
#ifndef SMB2_NTLM_H
#define SMB2_NTLM_H

#include "smb2.h"

#define NTLM_MARK "NTLMSSP"

enum { NTLM_BEGIN = 1, NTLM_CHALLENGE = 2, NTLM_ANSWER = 3 };
enum {
    NTLM_CHALLENGE_LENGTH = 48,
    NTLM_CHALLENGE_FLAGS = 20, /* where a challenge has them */
    SMB2_NTLM_PROOF = 16,
    SMB2_NTLM_NAME = 512 /* of a user, a password or a domain, in UTF-16 */
};
enum {
    NTLM_UNICODE = 0x1,
    NTLM_REQUEST_TARGET = 0x4,
    NTLM_SIGN = 0x10,
    NTLM_NTLM = 0x200,
    NTLM_ANONYMOUS = 0x800,
    NTLM_ALWAYS_SIGN = 0x8000,
    NTLM_TARGET_IS_SERVER = 0x20000,
    NTLM_EXTENDED_SECURITY = 0x80000,
    NTLM_TARGET_INFO = 0x800000,
    NTLM_KEY_128 = 0x20000000
};
enum { NTLM_PAIR_END = 0, NTLM_PAIR_COMPUTER = 1, NTLM_PAIR_DOMAIN = 2, NTLM_PAIR_TIME = 7 };

/* A user's name in capitals. Returns its bytes; -1: it is too long, or no UTF-8. */
int smb2_ntlm_user(const char *user, uint8_t text[SMB2_NTLM_NAME]);
/*
 * What is known of a user by its password, its name, and a domain in UTF-16.
 * login  in: user and password
 * False: the login is too long, or no UTF-8.
 */
bool smb2_ntlm_user_key(const struct smb2_login *login, const uint8_t *domain,
    uint32_t domain_length, uint8_t key[SMB2_SESSION_KEY]);
/* The first part of an answer to the challenge, by the rest of it. key in: the user's; out: the session's */
void smb2_ntlm_proof(uint8_t key[SMB2_SESSION_KEY], const uint8_t challenge[SMB2_NTLM_CHALLENGE],
    const uint8_t *rest, uint32_t length, uint8_t proof[SMB2_NTLM_PROOF]);

#endif
