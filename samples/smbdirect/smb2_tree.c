/* SPDX-License-Identifier: MIT */
/* smb2_tree.c - the share. Source: [MS-SMB2] 2.2.9, 2.2.10. */
#include "smb2.h"
#include "smb2_octets.h"

#include <stdio.h>
#include <string.h>

enum { SIZE_REQUEST = 9, FIXED_REQUEST = 8, SIZE_ANSWER = 16 };

bool smb2_put_tree_connect(struct smb2_request *request, const char *host, const char *share)
{
    uint8_t *body = request->octets + SMB2_HEADER;
    char path[4 * SMB2_NAME_MOST];
    int length = snprintf(path, sizeof(path), "\\\\%s\\%s", host, share);

    memset(request, 0, sizeof(*request));
    if (length >= (int)sizeof(path))
        return false;
    length = smb2_utf16(path, body + FIXED_REQUEST, SMB2_NAME_MOST);
    if (length < 0)
        return false;
    put16(body, SIZE_REQUEST);
    put16(body + 4, SMB2_HEADER + FIXED_REQUEST);
    put16(body + 6, (uint16_t)length);
    request->length = SMB2_HEADER + FIXED_REQUEST + (uint32_t)length;
    return true;
}

bool smb2_get_tree(const uint8_t *message, uint32_t length, struct smb2_tree *tree)
{
    const uint8_t *body = smb2_body(message, length, SIZE_ANSWER, SIZE_ANSWER);

    if (!body)
        return false;
    tree->type = body[2];
    tree->flags = get32(body + 4);
    return true;
}
