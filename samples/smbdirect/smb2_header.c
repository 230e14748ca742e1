/* SPDX-License-Identifier: MIT */
/* smb2_header.c - what every message begins with. Source: [MS-SMB2] 2.2.1. */
#include "smb2.h"
#include "smb2_octets.h"

#include <string.h>

static const uint8_t protocol[4] = { 0xfe, 'S', 'M', 'B' };

void smb2_put_header(struct smb2_request *request, const struct smb2_header *header)
{
    uint8_t *at = request->octets;

    memset(at, 0, SMB2_HEADER);
    memcpy(at, protocol, sizeof(protocol));
    put16(at + 4, SMB2_HEADER);
    put16(at + 6, header->charge);
    put32(at + 8, header->status);
    put16(at + 12, header->command);
    put16(at + 14, header->credits);
    put32(at + 16, header->flags);
    put64(at + 24, header->id);
    put32(at + 36, header->tree);
    put64(at + 40, header->session);
}

bool smb2_get_header(const uint8_t *message, uint32_t length, struct smb2_header *header)
{
    if (length < SMB2_HEADER || memcmp(message, protocol, sizeof(protocol)) != 0 ||
        get16(message + 4) != SMB2_HEADER)
        return false;
    header->charge = get16(message + 6);
    header->status = get32(message + 8);
    header->command = get16(message + 12);
    header->credits = get16(message + 14);
    header->flags = get32(message + 16);
    header->next = get32(message + 20);
    header->id = get64(message + 24);
    header->tree = header->flags & SMB2_FLAG_ASYNC ? 0 : get32(message + 36);
    header->session = get64(message + 40);
    return true;
}

const uint8_t *smb2_body(const uint8_t *message, uint32_t length, uint32_t fixed, uint16_t size)
{
    const uint8_t *body = message + SMB2_HEADER;

    return length >= SMB2_HEADER + fixed && get16(body) == size ? body : NULL;
}

const uint8_t *smb2_part(
    const uint8_t *message, uint32_t length, uint32_t fixed, uint32_t offset, uint32_t part)
{
    if (offset < SMB2_HEADER + fixed || offset > length || part > length - offset)
        return NULL;
    return message + offset;
}
