/* SPDX-License-Identifier: MIT */
/* smb2_session.c - who the client is. Source: [MS-SMB2] 2.2.5, 2.2.6. */
#include "smb2.h"
#include "smb2_octets.h"

#include <string.h>

enum { SIZE_REQUEST = 25, FIXED_REQUEST = 24, SIZE_ANSWER = 9, FIXED_ANSWER = 8 };

void smb2_put_session_setup(struct smb2_request *request, const uint8_t *token, uint16_t length)
{
    uint8_t *body = request->octets + SMB2_HEADER;

    memset(request, 0, sizeof(*request));
    put16(body, SIZE_REQUEST);
    body[3] = SMB2_SIGNING_ENABLED;
    put16(body + 12, SMB2_HEADER + FIXED_REQUEST);
    put16(body + 14, length);
    memcpy(body + FIXED_REQUEST, token, length);
    request->length = SMB2_HEADER + FIXED_REQUEST + length;
}

bool smb2_get_session(const uint8_t *message, uint32_t length, struct smb2_session *session)
{
    const uint8_t *body = smb2_body(message, length, FIXED_ANSWER, SIZE_ANSWER);

    if (!body)
        return false;
    session->flags = get16(body + 2);
    session->token_length = get16(body + 6);
    session->token = message;
    if (session->token_length)
        session->token =
            smb2_part(message, length, FIXED_ANSWER, get16(body + 4), session->token_length);
    return session->token;
}
