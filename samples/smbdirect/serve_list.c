/* SPDX-License-Identifier: MIT */
/*
 * serve_list.c - what is in a directory: files and directories whose names a client can send. Source: [MS-SMB2] 2.2.33,
 * 2.2.34, 3.3.5.18; entries: [MS-FSCC] 2.4.10, 2.4.14, 2.4.19.
 */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SIZE_REQUEST = 33, FIXED_REQUEST = 32, SIZE_ANSWER = 9, FIXED_ANSWER = 8 };
enum { DIRECTORY = 1, FULL_DIRECTORY = 2, ID_FULL_DIRECTORY = 38 };
enum { RESTART = 1, SINGLE = 2, BY_INDEX = 4, REOPEN = 0x10 };
enum { INDEX_AT = 72 };

struct listing {
    struct serve_open *open;
    uint8_t class;
    uint32_t name_at; /* where an entry has its name */
    uint8_t *to;
    uint32_t most, length, last; /* room; used; where the last entry begins */
    unsigned count;
};

/* 0: no kind of entry that is known here. */
static uint32_t name_at(uint8_t class)
{
    switch (class) {
    case DIRECTORY: return 64;
    case FULL_DIRECTORY: return 68;
    case ID_FULL_DIRECTORY: return 80;
    default: return 0;
    }
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What a client is told of; ".." could be outside, so both are the directory itself. */
static bool is_listed(const struct serve_open *open, const char *name, struct stat *stat)
{
    if (is_dots(name))
        return !fstat(open->fd, stat);
    return serve_name_allowed(name) && !fstatat(open->fd, name, stat, AT_SYMLINK_NOFOLLOW) &&
           (S_ISREG(stat->st_mode) || S_ISDIR(stat->st_mode));
}

/* False: it has no room. A name that is no UTF-8 is left out. */
static bool put_entry(struct listing *listing, const char *name, const struct stat *stat)
{
    uint32_t at = (listing->length + 7) & ~7u;
    uint8_t utf16[2 * SERVE_NAME_MOST], *entry = listing->to + at;
    int length = smb2_utf16(name, utf16, SERVE_NAME_MOST);

    if (length < 0)
        return true;
    if (at > listing->most || listing->name_at + (uint32_t)length > listing->most - at)
        return false;
    memset(listing->to + listing->length, 0, at - listing->length);
    memset(entry, 0, listing->name_at);
    serve_put_times(entry + 8, stat);
    serve_put_sizes(entry + 40, stat);
    /* Here the end of the file comes first. */
    put64(entry + 40, get64(entry + 48));
    put64(entry + 48, S_ISREG(stat->st_mode) ? (uint64_t)stat->st_blocks * 512 : 0);
    put32(entry + 56, serve_attributes(stat));
    put32(entry + 60, (uint32_t)length);
    if (listing->class == ID_FULL_DIRECTORY)
        put64(entry + INDEX_AT, stat->st_ino);
    memcpy(entry + listing->name_at, utf16, (size_t)length);
    if (listing->count++)
        put32(listing->to + listing->last, at - listing->last);
    listing->last = at;
    listing->length = at + listing->name_at + (uint32_t)length;
    return true;
}

/* The name that was left over, or the next one; NULL: there is none. */
static const char *next_name(struct serve_open *open, char *name, size_t size)
{
    struct dirent *entry;

    if (*open->pending) {
        snprintf(name, size, "%s", open->pending);
        *open->pending = '\0';
        return name;
    }
    entry = readdir(open->list);
    if (!entry)
        return NULL;
    snprintf(name, size, "%s", entry->d_name);
    return name;
}

static uint32_t list(struct listing *listing, bool single)
{
    struct serve_open *open = listing->open;
    char name[sizeof(open->pending)];
    struct stat stat;

    while ((!single || !listing->count) && next_name(open, name, sizeof(name))) {
        if (!is_listed(open, name, &stat) || put_entry(listing, name, &stat))
            continue;
        snprintf(open->pending, sizeof(open->pending), "%s", name);
        return listing->count ? 0 : SMB2_STATUS_INFO_LENGTH_MISMATCH;
    }
    return listing->count ? 0 : SMB2_STATUS_NO_MORE_FILES;
}

/* The list from its begin, or where it was. */
static uint32_t begin_list(struct serve_open *open, uint8_t flags)
{
    int fd;

    if (open->list && flags & (RESTART | REOPEN)) {
        rewinddir(open->list);
        *open->pending = '\0';
    }
    if (open->list)
        return 0;
    fd = openat(open->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return serve_status(errno);
    open->list = fdopendir(fd);
    if (open->list)
        return 0;
    close(fd);
    return SMB2_STATUS_NO_MEMORY;
}

/* Patterns other than "*" are none that are known here. */
static uint32_t check(const struct serve_request *request, const uint8_t *asked)
{
    uint16_t length = get16(asked + 26);
    const uint8_t *pattern =
        smb2_part(request->message, request->length, FIXED_REQUEST, get16(asked + 24), length);

    if (!pattern)
        return SMB2_STATUS_INVALID_PARAMETER;
    if (length != 2 || get16(pattern) != '*' || !name_at(asked[2]) || asked[3] & BY_INDEX)
        return SMB2_STATUS_NOT_SUPPORTED;
    return 0;
}

uint32_t serve_query_directory(
    struct session *session, const struct serve_request *request, struct serve_answer *answer)
{
    const uint8_t *asked = serve_body(request, FIXED_REQUEST, SIZE_REQUEST);
    struct listing listing = { .to = session->output };
    uint32_t status;
    uint8_t *body;

    if (!asked)
        return SMB2_STATUS_INVALID_PARAMETER;
    listing.open = serve_find_open(session, request, asked + 8);
    if (!listing.open)
        return SMB2_STATUS_FILE_CLOSED;
    status = check(request, asked);
    if (status)
        return status;
    listing.class = asked[2];
    listing.name_at = name_at(asked[2]);
    listing.most = get32(asked + 28);
    if (!listing.open->directory || listing.most > SERVE_OUTPUT ||
        !serve_paid(session, request, listing.most))
        return SMB2_STATUS_INVALID_PARAMETER;
    if (!(listing.open->access & SERVE_READ_DATA))
        return SMB2_STATUS_ACCESS_DENIED;
    status = begin_list(listing.open, asked[3]);
    if (!status)
        status = list(&listing, asked[3] & SINGLE);
    if (status)
        return status;
    answer->data = listing.to;
    answer->data_length = listing.length;
    body = serve_begin(answer, SIZE_ANSWER, FIXED_ANSWER);
    put16(body + 2, SMB2_HEADER + FIXED_ANSWER);
    put32(body + 4, listing.length);
    return 0;
}
