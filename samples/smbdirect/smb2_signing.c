/* SPDX-License-Identifier: MIT */
/*
 * smb2_signing.c - messages that nobody on the way has changed. Source: [MS-SMB2] 3.1.4.1 (signatures), 3.1.4.2 (keys),
 * 3.2.5.2 (the hash of what was said before there were any).
 */
#include "smb2.h"
#include "smb2_octets.h"

#include <nettle/cmac.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>

enum { FLAGS = 16, SIGNATURE = 48, KEY_BITS = 128 }; /* offsets in the header; of a key */

void smb2_integrity_add(uint8_t hash[SMB2_INTEGRITY], const uint8_t *message, uint32_t length)
{
    struct sha512_ctx context;

    sha512_init(&context);
    sha512_update(&context, SMB2_INTEGRITY, hash);
    sha512_update(&context, length, message);
    sha512_digest(&context, SMB2_INTEGRITY, hash);
}

/* Big-endian, as SP800-108 has its numbers. */
static void add_number(struct hmac_sha256_ctx *context, uint8_t number)
{
    const uint8_t octets[] = { 0, 0, 0, number };

    hmac_sha256_update(context, sizeof(octets), octets);
}

/* The labels have their terminating zeros. */
void smb2_signing_key(uint16_t dialect, const uint8_t session[SMB2_SESSION_KEY],
    const uint8_t hash[SMB2_INTEGRITY], uint8_t key[SMB2_SESSION_KEY])
{
    static const uint8_t label[] = "SMBSigningKey", label_3_0[] = "SMB2AESCMAC",
                         context_3_0[] = "SmbSign", zero;
    bool newest = dialect >= SMB2_3_1_1;
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, SMB2_SESSION_KEY, session);
    add_number(&context, 1);
    hmac_sha256_update(
        &context, newest ? sizeof(label) : sizeof(label_3_0), newest ? label : label_3_0);
    hmac_sha256_update(&context, 1, &zero);
    hmac_sha256_update(
        &context, newest ? SMB2_INTEGRITY : sizeof(context_3_0), newest ? hash : context_3_0);
    add_number(&context, KEY_BITS);
    hmac_sha256_digest(&context, SMB2_SESSION_KEY, key);
}

/* The signature's own place counts as zeros. */
static void signature_of(const uint8_t *message, uint32_t length, const void *data,
    uint32_t data_length, const uint8_t *key, uint8_t signature[SMB2_SIGNATURE])
{
    static const uint8_t zeros[SMB2_SIGNATURE];
    struct cmac_aes128_ctx context;

    cmac_aes128_set_key(&context, key);
    cmac_aes128_update(&context, SIGNATURE, message);
    cmac_aes128_update(&context, SMB2_SIGNATURE, zeros);
    cmac_aes128_update(&context, length - SMB2_HEADER, message + SMB2_HEADER);
    cmac_aes128_update(&context, data_length, data);
    cmac_aes128_digest(&context, SMB2_SIGNATURE, signature);
}

void smb2_sign(struct smb2_request *request, const void *data, uint32_t length,
    const uint8_t key[SMB2_SESSION_KEY])
{
    signature_of(request->octets, request->length, data, length, key, request->octets + SIGNATURE);
}

bool smb2_signature_is_right(
    const uint8_t *message, uint32_t length, const uint8_t key[SMB2_SESSION_KEY])
{
    uint8_t signature[SMB2_SIGNATURE];

    if (!(get32(message + FLAGS) & SMB2_FLAG_SIGNED))
        return false;
    signature_of(message, length, NULL, 0, key, signature);
    return memeql_sec(signature, message + SIGNATURE, SMB2_SIGNATURE);
}
