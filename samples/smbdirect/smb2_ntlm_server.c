/* SPDX-License-Identifier: MIT */
/* smb2_ntlm_server.c - NTLMSSP as its server, version 2 alone. Source: [MS-NLMP] 2.2.1, 3.2.5.1. */
#include "smb2_ntlm.h"
#include "smb2_octets.h"
#include "smb2_server.h"

#include <nettle/memops.h>
#include <string.h>

enum { BEGIN_LEAST = 16, ANSWER_LEAST = 64, RESPONSE_LEAST = SMB2_NTLM_PROOF + 28 };
enum { NAME_MOST = 15 }; /* of a computer, in characters: NetBIOS has no more */

static const uint8_t mark[8] = NTLM_MARK;

/* Without the exchange of a key: the session's is the one that both can compute. */
static const uint32_t offered = NTLM_UNICODE | NTLM_REQUEST_TARGET | NTLM_SIGN | NTLM_NTLM |
                                NTLM_ALWAYS_SIGN | NTLM_TARGET_IS_SERVER | NTLM_EXTENDED_SECURITY |
                                NTLM_TARGET_INFO | NTLM_KEY_128;

static bool is_message(const uint8_t *token, uint32_t length, uint32_t least, uint32_t type)
{
    return length >= least && memcmp(token, mark, sizeof(mark)) == 0 && get32(token + 8) == type;
}

/* The name in capitals of ASCII. Returns its bytes. */
static uint16_t put_name(uint8_t *to, const char *host)
{
    uint16_t length = 0;

    for (; *host && *host != '.' && length < 2 * NAME_MOST; host++) {
        char letter = *host >= 'a' && *host <= 'z' ? (char)(*host - 'a' + 'A') : *host;

        if (letter > ' ' && letter < 0x7f) {
            put16(to + length, (uint16_t)letter);
            length += 2;
        }
    }
    return length;
}

static uint32_t put_pair(uint8_t *to, uint16_t pair, const uint8_t *value, uint16_t length)
{
    put16(to, pair);
    put16(to + 2, length);
    memcpy(to + 4, value, length);
    return 4u + length;
}

uint16_t smb2_ntlm_challenge(const uint8_t *begin, uint32_t length,
    const uint8_t challenge[SMB2_NTLM_CHALLENGE], uint64_t time, const char *host, uint8_t *token)
{
    uint8_t name[2 * NAME_MOST], clock[8], *info;
    uint16_t name_length = put_name(name, host);
    uint32_t info_length = 0;

    if (!is_message(begin, length, BEGIN_LEAST, NTLM_BEGIN) ||
        !(get32(begin + 12) & NTLM_UNICODE) || !(get32(begin + 12) & NTLM_EXTENDED_SECURITY))
        return 0;
    memset(token, 0, SMB2_TOKEN_MOST);
    memcpy(token, mark, sizeof(mark));
    put32(token + 8, NTLM_CHALLENGE);
    put16(token + 12, name_length);
    put16(token + 14, name_length);
    put32(token + 16, NTLM_CHALLENGE_LENGTH);
    put32(token + NTLM_CHALLENGE_FLAGS, offered);
    memcpy(token + 24, challenge, SMB2_NTLM_CHALLENGE);
    memcpy(token + NTLM_CHALLENGE_LENGTH, name, name_length);
    info = token + NTLM_CHALLENGE_LENGTH + name_length;
    put64(clock, time);
    info_length += put_pair(info, NTLM_PAIR_DOMAIN, name, name_length);
    info_length += put_pair(info + info_length, NTLM_PAIR_COMPUTER, name, name_length);
    info_length += put_pair(info + info_length, NTLM_PAIR_TIME, clock, sizeof(clock));
    info_length += put_pair(info + info_length, NTLM_PAIR_END, name, 0);
    put16(token + 40, (uint16_t)info_length);
    put16(token + 42, (uint16_t)info_length);
    put32(token + 44, NTLM_CHALLENGE_LENGTH + name_length);
    return (uint16_t)(NTLM_CHALLENGE_LENGTH + name_length + info_length);
}

/* A part of the answer. place in: of its length, and its offset 4 bytes behind that. NULL: it leads outside */
static const uint8_t *get_part(
    const uint8_t *token, uint32_t length, uint32_t place, uint16_t *part)
{
    uint32_t offset = get32(token + place + 4);

    *part = get16(token + place);
    if (!*part)
        return token;
    return offset <= length && *part <= length - offset ? token + offset : NULL;
}

static bool is_user(const uint8_t *name, uint16_t length, const char *user)
{
    uint8_t wanted[SMB2_NTLM_NAME], given[SMB2_NTLM_NAME];
    char text[2 * SMB2_NTLM_NAME];

    return smb2_utf8(name, length, text, sizeof(text)) > 0 &&
           smb2_ntlm_user(text, given) == length && smb2_ntlm_user(user, wanted) == length &&
           memcmp(given, wanted, length) == 0;
}

enum smb2_ntlm_verdict smb2_ntlm_check(const uint8_t *token, uint32_t length,
    const uint8_t challenge[SMB2_NTLM_CHALLENGE], const struct smb2_login *login,
    uint8_t key[SMB2_SESSION_KEY])
{
    const uint8_t *response, *domain, *user;
    uint16_t response_length, domain_length, user_length;
    uint8_t proof[SMB2_NTLM_PROOF];

    if (!is_message(token, length, ANSWER_LEAST, NTLM_ANSWER))
        return SMB2_NTLM_NO_SENSE;
    response = get_part(token, length, 20, &response_length);
    domain = get_part(token, length, 28, &domain_length);
    user = get_part(token, length, 36, &user_length);
    if (!response || !domain || !user)
        return SMB2_NTLM_NO_SENSE;
    if (!login->user || response_length < RESPONSE_LEAST || domain_length > SMB2_NTLM_NAME ||
        user_length > SMB2_NTLM_NAME || !is_user(user, user_length, login->user) ||
        !smb2_ntlm_user_key(login, domain, domain_length, key))
        return SMB2_NTLM_REFUSED;
    smb2_ntlm_proof(key, challenge, response + SMB2_NTLM_PROOF,
        (uint32_t)response_length - SMB2_NTLM_PROOF, proof);
    return memeql_sec(proof, response, sizeof(proof)) ? SMB2_NTLM_USER : SMB2_NTLM_REFUSED;
}
