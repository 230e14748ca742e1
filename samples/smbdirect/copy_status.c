/* SPDX-License-Identifier: MIT */
#include "copy_host.h"

#include <stdarg.h>

static const struct {
    NTSTATUS status;
    const char *name, *hint;
} table[] = {
#define NAME(status) status, #status
    { NAME(STATUS_ACCESS_VIOLATION), NULL },
    { NAME(STATUS_ADDRESS_ALREADY_EXISTS), NULL },
    { NAME(STATUS_BUFFER_OVERFLOW), NULL },
    { NAME(STATUS_CANCELLED), NULL },
    { NAME(STATUS_CONNECTION_ABORTED), NULL },
    { NAME(STATUS_CONNECTION_DISCONNECTED), NULL },
    { NAME(STATUS_CONNECTION_INVALID), NULL },
    { NAME(STATUS_CONNECTION_REFUSED), "does smbdcopy -s run there?" },
    { NAME(STATUS_DEVICE_REMOVED), NULL },
    { NAME(STATUS_HOST_UNREACHABLE), "is the address right?" },
    { NAME(STATUS_INSUFFICIENT_RESOURCES), NULL },
    { NAME(STATUS_INTERNAL_ERROR), NULL },
    { NAME(STATUS_INVALID_ADDRESS), "the address has to be one of an RDMA device of this host" },
    { NAME(STATUS_INVALID_BUFFER_SIZE), NULL },
    { NAME(STATUS_INVALID_DEVICE_REQUEST), NULL },
    { NAME(STATUS_INVALID_DEVICE_STATE), NULL },
    { NAME(STATUS_INVALID_PARAMETER), NULL },
    { NAME(STATUS_IO_TIMEOUT), "is the address right, and does smbdcopy -s run there?" },
    { NAME(STATUS_NETWORK_UNREACHABLE), "is the address right?" },
    { NAME(STATUS_NOT_SUPPORTED), NULL },
    { NAME(STATUS_REMOTE_RESOURCES), NULL },
    { NAME(STATUS_SHARING_VIOLATION), "another program listens at this port; choose one" },
    { NAME(STATUS_TOO_MANY_ADDRESSES), NULL },
    { NAME(NDIS_STATUS_ADAPTER_NOT_READY), "no RDMA device serves it (ndinfo lists them)" },
    { NAME(NDIS_STATUS_BAD_VERSION), NULL },
#undef NAME
};

const char *copy_status_text(NTSTATUS status, char *text, size_t size)
{
    snprintf(text, size, "status 0x%08x", (unsigned)status);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].status == status)
            snprintf(text, size, "%s", table[i].name);
    return text;
}

const char *copy_status_hint(NTSTATUS status)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].status == status)
            return table[i].hint;
    return NULL;
}

/* What a peer chose may have control characters, which a terminal would obey: ASCII's, and those of 8 bits in UTF-8. */
static void put_printable(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < 0x20 || *at == 0x7f)
            fprintf(stderr, "\\x%02x", *at);
        else if (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
            fprintf(stderr, "\\x%02x\\x%02x", *at, at[1]), at++;
        else
            putc(*at, stderr);
    }
}

void copy_say(const char *format, ...)
{
    va_list arguments;
    char line[1024];

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    flockfile(stderr); /* sessions have threads of their own */
    fprintf(stderr, "%s: ", copy_program);
    put_printable(line);
    putc('\n', stderr);
    funlockfile(stderr);
}
