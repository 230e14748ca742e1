/* SPDX-License-Identifier: MIT */
/* smb2_negotiate.c - the dialect. Source: [MS-SMB2] 2.2.3, 2.2.3.1.1, 2.2.4. */
#include "smb2.h"
#include "smb2_octets.h"

#include <string.h>

enum { FIXED_REQUEST = 36, FIXED_ANSWER = 64, PREAUTH_INTEGRITY = 1, SHA_512 = 1 };

/* At a place that is a multiple of 8. Returns its length. */
static uint32_t put_preauth_integrity(uint8_t *at, const uint8_t salt[SMB2_SALT])
{
    put16(at, PREAUTH_INTEGRITY);
    put16(at + 2, 6 + SMB2_SALT);
    put16(at + 8, 1); /* one algorithm */
    put16(at + 10, SMB2_SALT);
    put16(at + 12, SHA_512);
    memcpy(at + 14, salt, SMB2_SALT);
    return 14 + SMB2_SALT;
}

void smb2_put_negotiate(struct smb2_request *request, const struct smb2_negotiate *negotiate)
{
    uint8_t *body = request->octets + SMB2_HEADER;
    uint32_t length = FIXED_REQUEST;
    bool contexts = false;

    memset(request, 0, sizeof(*request));
    put16(body, FIXED_REQUEST);
    put16(body + 2, negotiate->dialect_count);
    put16(body + 4, SMB2_SIGNING_ENABLED);
    put32(body + 8, negotiate->capabilities);
    memcpy(body + 12, negotiate->guid, SMB2_GUID);
    for (uint16_t i = 0; i < negotiate->dialect_count; i++, length += 2) {
        put16(body + length, negotiate->dialects[i]);
        contexts |= negotiate->dialects[i] == SMB2_3_1_1;
    }
    if (contexts) {
        length = (length + 7) & ~7u;
        put32(body + 28, SMB2_HEADER + length);
        put16(body + 32, 1);
        length += put_preauth_integrity(body + length, negotiate->salt);
    }
    request->length = SMB2_HEADER + length;
}

/* Neither the server's first token nor its contexts say anything that is needed. */
bool smb2_get_negotiated(
    const uint8_t *message, uint32_t length, struct smb2_negotiated *negotiated)
{
    const uint8_t *body = smb2_body(message, length, FIXED_ANSWER, FIXED_ANSWER + 1);

    if (!body)
        return false;
    negotiated->security_mode = get16(body + 2);
    negotiated->dialect = get16(body + 4);
    negotiated->capabilities = get32(body + 24);
    negotiated->transact_most = get32(body + 28);
    negotiated->read_most = get32(body + 32);
    negotiated->write_most = get32(body + 36);
    return true;
}
