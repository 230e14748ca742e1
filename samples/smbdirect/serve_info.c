/* SPDX-License-Identifier: MIT */
/*
 * serve_info.c - what clients ask of files and of the file system. Source: [MS-SMB2] 2.2.37, 2.2.38, 3.3.5.20;
 * structures: [MS-FSCC] 2.4 (files), 2.5 (file systems).
 */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

enum { SIZE_REQUEST = 41, FIXED_REQUEST = 40, SIZE_ANSWER = 9, FIXED_ANSWER = 8 };
enum { OF_FILE = 1, OF_FILE_SYSTEM = 2 };
enum { BASIC = 4, STANDARD = 5, INTERNAL = 6, ALL = 18 };
enum { VOLUME = 1, SIZE = 3, DEVICE = 4, ATTRIBUTE = 5, FULL_SIZE = 7, SECTOR_SIZE = 11 };
enum { BASIC_LENGTH = 40, STANDARD_LENGTH = 24, NAME_AT = 100, VOLUME_NAME_AT = 18 };
enum { DISK = 7, MOUNTED = 0x20 };
enum { CASE_SENSITIVE = 0x1, CASE_PRESERVED = 0x2, UNICODE = 0x4 };
enum { SECTOR = 512, ALIGNED = 1 };

/* An answer's output, of SERVE_OUTPUT. */
struct output {
    uint8_t *to;
    uint32_t length;
    uint32_t fixed; /* what of it has to have room; the rest may be cut */
};

/* ---- files ---- */

static void put_basic(uint8_t *to, const struct stat *stat)
{
    serve_put_times(to, stat);
    put32(to + 32, serve_attributes(stat));
}

static void put_standard(uint8_t *to, const struct stat *stat, const struct serve_open *open)
{
    serve_put_sizes(to, stat);
    put32(to + 16, (uint32_t)stat->st_nlink);
    to[20] = open->delete_on_close;
    to[21] = open->directory;
}

/* From the share on, with Windows' separators. Returns its bytes. */
static uint32_t put_path(uint8_t *to, const struct serve_open *open)
{
    int length = smb2_utf16(open->path, to + 2, SERVE_PATH_IN / 2);

    put16(to, '\\');
    for (int i = 2; i <= length; i += 2)
        if (get16(to + i) == '/')
            put16(to + i, '\\');
    return 2u + (uint32_t)length;
}

static void put_all(struct output *output, const struct stat *stat, const struct serve_open *open)
{
    uint8_t *to = output->to;
    uint32_t name = put_path(to + NAME_AT, open);

    put_basic(to, stat);
    put_standard(to + BASIC_LENGTH, stat, open);
    put64(to + 64, stat->st_ino);
    put32(to + 76, open->access);
    put32(to + 96, name);
    output->length = NAME_AT + name;
    output->fixed = NAME_AT;
}

static uint32_t ask_file(const struct serve_open *open, uint8_t class, struct output *output)
{
    struct stat stat;

    if (fstat(open->fd, &stat))
        return serve_status(errno);
    switch (class) {
    case BASIC:
        put_basic(output->to, &stat);
        output->length = output->fixed = BASIC_LENGTH;
        return 0;
    case STANDARD:
        put_standard(output->to, &stat, open);
        output->length = output->fixed = STANDARD_LENGTH;
        return 0;
    case INTERNAL:
        put64(output->to, stat.st_ino);
        output->length = output->fixed = 8;
        return 0;
    case ALL: put_all(output, &stat, open); return 0;
    default: return SMB2_STATUS_NOT_SUPPORTED;
    }
}

/* ---- the file system ---- */

static void put_volume(struct output *output, const struct server *server)
{
    int length = smb2_utf16(server->options->share, output->to + VOLUME_NAME_AT, 32);

    length = length < 0 ? 0 : length;
    put32(output->to + 8, server->volume);
    put32(output->to + 12, (uint32_t)length);
    output->length = VOLUME_NAME_AT + (uint32_t)length;
    output->fixed = VOLUME_NAME_AT;
}

static void put_attribute(struct output *output)
{
    static const char name[] = "Linux";

    put32(output->to, CASE_SENSITIVE | CASE_PRESERVED | UNICODE);
    put32(output->to + 4, SERVE_NAME_MOST);
    put32(output->to + 8, (uint32_t)smb2_utf16(name, output->to + 12, sizeof(name)));
    output->length = 12 + get32(output->to + 8);
    output->fixed = 12;
}

static void put_sector_size(struct output *output)
{
    for (unsigned i = 0; i < 4; i++)
        put32(output->to + 4 * i, SECTOR);
    put32(output->to + 16, ALIGNED);
    output->length = output->fixed = 28;
}

/* In units of the file system's blocks, which are some sectors. */
static uint32_t put_size(struct output *output, int fd, bool full)
{
    struct statvfs statvfs;
    uint8_t *to = output->to;

    if (fstatvfs(fd, &statvfs))
        return serve_status(errno);
    put64(to, statvfs.f_blocks);
    put64(to + 8, statvfs.f_bavail);
    if (full)
        put64(to + 16, statvfs.f_bfree);
    put32(to + (full ? 24 : 16), (uint32_t)statvfs.f_frsize / SECTOR);
    put32(to + (full ? 28 : 20), SECTOR);
    output->length = output->fixed = full ? 32 : 24;
    return 0;
}

static uint32_t ask_file_system(const struct session *session, const struct serve_open *open,
    uint8_t class, struct output *output)
{
    switch (class) {
    case VOLUME: put_volume(output, session->server); return 0;
    case SIZE: return put_size(output, open->fd, false);
    case DEVICE:
        put32(output->to, DISK);
        put32(output->to + 4, MOUNTED);
        output->length = output->fixed = 8;
        return 0;
    case ATTRIBUTE: put_attribute(output); return 0;
    case FULL_SIZE: return put_size(output, open->fd, true);
    case SECTOR_SIZE: put_sector_size(output); return 0;
    default: return SMB2_STATUS_NOT_SUPPORTED;
    }
}

/* ---- the command ---- */

uint32_t serve_query_info(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST);
    struct output output = { .to = session->output };
    struct serve_open *open;
    uint32_t most, status;
    uint8_t *body;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    most = get32(asked + 4);
    open = serve_find_open(session, request, asked + 24);
    if (!open)
        return SMB2_STATUS_FILE_CLOSED;
    if (most > SERVE_OUTPUT || !serve_paid(session, request, most))
        return SMB2_STATUS_INVALID_PARAMETER;
    memset(output.to, 0, SERVE_OUTPUT);
    switch (asked[2]) {
    case OF_FILE: status = ask_file(open, asked[3], &output); break;
    case OF_FILE_SYSTEM: status = ask_file_system(session, open, asked[3], &output); break;
    default: return SMB2_STATUS_NOT_SUPPORTED;
    }
    if (status)
        return status;
    if (most < output.fixed)
        return SMB2_STATUS_INFO_LENGTH_MISMATCH;
    answer->data = output.to;
    answer->data_length = most < output.length ? most : output.length;
    body = serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    put16(body + 2, SMB2_HEADER + FIXED_ANSWER);
    put32(body + 4, answer->data_length);
    return most < output.length ? SMB2_STATUS_BUFFER_OVERFLOW : 0;
}
