/* SPDX-License-Identifier: MIT */
#include "cat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int digit(char character)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, tolower((unsigned char)character));

    return character && at ? (int)(at - digits) : -1;
}

/* In its place. False: not two digits behind a percent, or a zero, which would end the text. */
static bool decode(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        if (digit(from[1]) < 0 || digit(from[2]) < 0 || (from[1] == '0' && from[2] == '0'))
            return false;
        *to++ = (char)(digit(from[1]) << 4 | digit(from[2]));
        from += 2;
    }
    *to = '\0';
    return true;
}

/* HOST, HOST:PORT, [ADDRESS]:PORT. */
static bool split_host(char *text, struct cat_url *url)
{
    char *end = NULL;

    url->host = text;
    if (*text == '[') {
        url->host = text + 1;
        end = strchr(text, ']');
        if (!end)
            return false;
        *end++ = '\0';
        if (*end && *end != ':')
            return false;
    } else {
        end = strchr(text, ':');
    }
    if (end && *end == ':') {
        *end = '\0';
        url->port = end + 1;
    }
    return *url->host && (!url->port || *url->port);
}

const char *cat_url_parse(const char *text, struct cat_url *url)
{
    static const char scheme[] = "smb://", form[] = "not of the form smb://HOST[:PORT]/SHARE/FILE";
    char *share, *path;

    memset(url, 0, sizeof(*url));
    if (strncasecmp(text, scheme, sizeof(scheme) - 1) != 0)
        return form;
    url->memory = strdup(text + sizeof(scheme) - 1);
    if (!url->memory)
        return "out of memory";
    share = strchr(url->memory, '/');
    path = share ? strchr(share + 1, '/') : NULL;
    if (!path || path == share + 1 || !path[1])
        return form;
    *share++ = *path++ = '\0';
    url->share = share;
    url->path = path;
    if (strchr(url->memory, '@'))
        return "the user is named in a file (-a)";
    if (!split_host(url->memory, url))
        return form;
    if (!decode(share) || !decode(path))
        return "a percent sign without two hexadecimal digits behind it";
    return NULL;
}
