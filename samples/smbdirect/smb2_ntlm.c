/* SPDX-License-Identifier: MIT */
/*
 * smb2_ntlm.c - NTLMSSP, version 2 of its answer. Source: [MS-NLMP] 2.2.1 (messages), 2.2.2.1 (the server's pairs),
 * 3.3.2 (the answer), 3.2.5.1.2 (what a guest sends).
 */
#include "smb2_ntlm.h"
#include "smb2_octets.h"

#include <locale.h>
#include <nettle/hmac.h>
#include <nettle/md4.h>
#include <string.h>
#include <wctype.h>

enum { FIXED_ANSWER = 28, INFO_MOST = 1024, NAME_UNITS = SMB2_NTLM_NAME / 2 };
enum {
    ANSWER_LENGTH =
        72, /* without its code of integrity, which only servers want that were told of it */
    BEGIN_LENGTH = 32
};

static const uint8_t mark[8] = NTLM_MARK;
static const uint32_t offered = NTLM_UNICODE | NTLM_REQUEST_TARGET | NTLM_SIGN | NTLM_NTLM |
                                NTLM_ALWAYS_SIGN | NTLM_EXTENDED_SECURITY | NTLM_KEY_128;

uint16_t smb2_ntlm_begin(uint8_t *token)
{
    memset(token, 0, BEGIN_LENGTH);
    memcpy(token, mark, sizeof(mark));
    put32(token + 8, NTLM_BEGIN);
    put32(token + 12, offered);
    return BEGIN_LENGTH;
}

/* What of the server's challenge is needed. */
struct challenge {
    const uint8_t *octets;
    const uint8_t *info; /* pairs */
    uint16_t info_length;
    bool timed;
    uint64_t time;
};

/* The pairs: number, length, value. */
static bool get_pairs(struct challenge *challenge)
{
    for (uint32_t at = 0; challenge->info_length - at >= 4;) {
        const uint8_t *pair = challenge->info + at;
        uint16_t length = get16(pair + 2);

        if (get16(pair) == NTLM_PAIR_END)
            return true;
        if (length > challenge->info_length - at - 4)
            return false;
        if (get16(pair) == NTLM_PAIR_TIME && length == 8) {
            challenge->timed = true;
            challenge->time = get64(pair + 4);
        }
        at += 4u + length;
    }
    return !challenge->info_length;
}

static bool get_challenge(const uint8_t *token, uint32_t length, struct challenge *challenge)
{
    uint32_t offset;

    memset(challenge, 0, sizeof(*challenge));
    if (length < NTLM_CHALLENGE_LENGTH || memcmp(token, mark, sizeof(mark)) != 0 ||
        get32(token + 8) != NTLM_CHALLENGE || !(get32(token + NTLM_CHALLENGE_FLAGS) & NTLM_UNICODE))
        return false;
    challenge->octets = token + 24;
    challenge->info_length = get16(token + 40);
    offset = get32(token + 44);
    if (challenge->info_length > INFO_MOST || offset > length ||
        challenge->info_length > length - offset)
        return false;
    challenge->info = token + offset;
    return get_pairs(challenge);
}

int smb2_ntlm_user(const char *user, uint8_t text[SMB2_NTLM_NAME])
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    int length = smb2_utf16(user, text, SMB2_NTLM_NAME / 2);

    for (int i = 0; locale && i < length; i += 2)
        put16(text + i, (uint16_t)towupper_l(get16(text + i), locale));
    if (locale)
        freelocale(locale);
    return length;
}

bool smb2_ntlm_user_key(const struct smb2_login *login, const uint8_t *domain,
    uint32_t domain_length, uint8_t key[SMB2_SESSION_KEY])
{
    uint8_t text[SMB2_NTLM_NAME], hash[SMB2_SESSION_KEY];
    struct hmac_md5_ctx hmac;
    struct md4_ctx md4;
    int length = smb2_utf16(login->password, text, sizeof(text) / 2);

    if (length < 0)
        return false;
    md4_init(&md4);
    md4_update(&md4, (size_t)length, text);
    md4_digest(&md4, sizeof(hash), hash);
    length = smb2_ntlm_user(login->user, text);
    if (length < 0)
        return false;
    hmac_md5_set_key(&hmac, sizeof(hash), hash);
    hmac_md5_update(&hmac, (size_t)length, text);
    hmac_md5_update(&hmac, domain_length, domain);
    hmac_md5_digest(&hmac, SMB2_SESSION_KEY, key);
    return true;
}

void smb2_ntlm_proof(uint8_t key[SMB2_SESSION_KEY], const uint8_t challenge[SMB2_NTLM_CHALLENGE],
    const uint8_t *rest, uint32_t length, uint8_t proof[SMB2_NTLM_PROOF])
{
    struct hmac_md5_ctx hmac;

    hmac_md5_set_key(&hmac, SMB2_SESSION_KEY, key);
    hmac_md5_update(&hmac, SMB2_NTLM_CHALLENGE, challenge);
    hmac_md5_update(&hmac, length, rest);
    hmac_md5_digest(&hmac, SMB2_NTLM_PROOF, proof);
    hmac_md5_update(&hmac, SMB2_NTLM_PROOF, proof);
    hmac_md5_digest(&hmac, SMB2_SESSION_KEY, key);
}

/* The answer of a user, at a place of the token. key in: the user's; out: the session's. Returns its length. */
static uint16_t put_answer(uint8_t *at, const struct challenge *challenge, uint64_t time,
    const uint8_t client_challenge[SMB2_NTLM_CHALLENGE], uint8_t key[SMB2_SESSION_KEY])
{
    uint8_t *signed_part = at + SMB2_NTLM_PROOF;
    uint16_t length = (uint16_t)(FIXED_ANSWER + challenge->info_length + 4);

    memset(signed_part, 0, length);
    signed_part[0] = signed_part[1] = 1; /* versions */
    put64(signed_part + 8, challenge->timed ? challenge->time : time);
    memcpy(signed_part + 16, client_challenge, SMB2_NTLM_CHALLENGE);
    memcpy(signed_part + FIXED_ANSWER, challenge->info, challenge->info_length);
    smb2_ntlm_proof(key, challenge->octets, signed_part, length, at);
    return (uint16_t)(SMB2_NTLM_PROOF + length);
}

/* A part of the token behind what it has so far. place in: of its length, again, and of its offset */
static void put_part(uint8_t *token, uint32_t place, uint16_t part, uint32_t *length)
{
    put16(token + place, part);
    put16(token + place + 2, part);
    put32(token + place + 4, *length);
    *length += part;
}

int smb2_ntlm_answer(const uint8_t *challenge_token, uint32_t length,
    const struct smb2_login *login, uint64_t time,
    const uint8_t client_challenge[SMB2_NTLM_CHALLENGE], uint8_t *token,
    uint8_t key[SMB2_SESSION_KEY])
{
    struct challenge challenge;
    uint32_t end = ANSWER_LENGTH;
    uint16_t answer = 0, old = 0;
    int domain = 0, user = 0;

    if (!get_challenge(challenge_token, length, &challenge))
        return 0;
    memset(token, 0, SMB2_TOKEN_MOST);
    memcpy(token, mark, sizeof(mark));
    put32(token + 8, NTLM_ANSWER);
    put32(token + 60, offered | (login->user ? 0 : NTLM_ANONYMOUS));
    if (login->user) {
        domain = smb2_utf16(login->domain, token + end, NAME_UNITS);
        if (domain < 0 || !smb2_ntlm_user_key(login, token + end, (uint32_t)domain, key))
            return -1;
        user = smb2_utf16(login->user, token + end + domain, NAME_UNITS);
        /* Version 2 has nothing in the older answer's place but zeros. */
        old = 24;
        answer =
            put_answer(token + end + domain + user + old, &challenge, time, client_challenge, key);
    } else {
        old = 1; /* a guest's: one zero */
    }
    put_part(token, 28, (uint16_t)domain, &end);
    put_part(token, 36, (uint16_t)user, &end);
    put_part(token, 44, 0, &end);
    put_part(token, 12, old, &end);
    put_part(token, 20, answer, &end);
    put_part(token, 52, 0, &end);
    return (int)end;
}
