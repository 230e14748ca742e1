/* SPDX-License-Identifier: MIT */
/* smb2_create.c - a file is opened, and closed. Source: [MS-SMB2] 2.2.13 to 2.2.16. */
#include "smb2.h"
#include "smb2_octets.h"

#include <string.h>

enum {
    SIZE_REQUEST = 57,
    FIXED_REQUEST = 56,
    SIZE_ANSWER = 89,
    FIXED_ANSWER = 88,
    SIZE_CLOSE = 24,
    SIZE_CLOSED = 60
};

enum { IMPERSONATION = 2 };
enum {
    READ_DATA = 0x1,
    WRITE_DATA = 0x2,
    READ_ATTRIBUTES = 0x80,
    WRITE_ATTRIBUTES = 0x100,
    SYNCHRONIZE = 0x100000
};
enum { SHARE_READ = 1 };
enum { OPEN = 1, OVERWRITE_IF = 5 };
enum { SEQUENTIAL_ONLY = 0x4, NON_DIRECTORY_FILE = 0x40 };

/* A separator of Windows' in a name would be another name there. */
static bool put_name(uint8_t *to, const char *path, uint16_t *length)
{
    int octets = strchr(path, '\\') ? -1 : smb2_utf16(path, to, SMB2_NAME_MOST);

    if (octets <= 0)
        return false;
    for (int i = 0; i < octets; i += 2)
        if (get16(to + i) == '/')
            put16(to + i, '\\');
    *length = (uint16_t)octets;
    return true;
}

bool smb2_put_create(struct smb2_request *request, const char *path, bool write)
{
    uint8_t *body = request->octets + SMB2_HEADER;
    uint16_t length;

    memset(request, 0, sizeof(*request));
    if (!put_name(body + FIXED_REQUEST, path, &length))
        return false;
    put16(body, SIZE_REQUEST);
    put32(body + 4, IMPERSONATION);
    put32(body + 24, write ? WRITE_DATA | WRITE_ATTRIBUTES | READ_ATTRIBUTES | SYNCHRONIZE
                           : READ_DATA | READ_ATTRIBUTES | SYNCHRONIZE);
    put32(body + 32, write ? 0 : SHARE_READ);
    put32(body + 36, write ? OVERWRITE_IF : OPEN);
    put32(body + 40, SEQUENTIAL_ONLY | NON_DIRECTORY_FILE);
    put16(body + 44, SMB2_HEADER + FIXED_REQUEST);
    put16(body + 46, length);
    request->length = SMB2_HEADER + FIXED_REQUEST + length;
    return true;
}

bool smb2_get_created(const uint8_t *message, uint32_t length, struct smb2_file *file)
{
    const uint8_t *body = smb2_body(message, length, FIXED_ANSWER, SIZE_ANSWER);

    if (!body)
        return false;
    file->size = get64(body + 48);
    memcpy(file->id, body + 64, SMB2_FILE_ID);
    return true;
}

void smb2_put_close(struct smb2_request *request, const uint8_t file[SMB2_FILE_ID])
{
    uint8_t *body = request->octets + SMB2_HEADER;

    memset(request, 0, sizeof(*request));
    put16(body, SIZE_CLOSE);
    memcpy(body + 8, file, SMB2_FILE_ID);
    request->length = SMB2_HEADER + SIZE_CLOSE;
}

bool smb2_get_closed(const uint8_t *message, uint32_t length)
{
    return smb2_body(message, length, SIZE_CLOSED, SIZE_CLOSED);
}
