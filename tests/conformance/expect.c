/* SPDX-License-Identifier: MIT */
/*
 * expect.c - the expectations: what a failed one says.
 */
#include "harness.h"

#include <stdarg.h>

/* Names of statuses */

#define STATUS(name)                                                                               \
    {                                                                                              \
        name, #name                                                                                \
    }
static const struct {
    HRESULT status;
    const char *name;
} status_names[] = {
    STATUS(ND_SUCCESS),
    STATUS(ND_TIMEOUT),
    STATUS(ND_PENDING),
    STATUS(ND_BUFFER_OVERFLOW),
    STATUS(ND_DEVICE_BUSY),
    STATUS(ND_NO_MORE_ENTRIES),
    STATUS(ND_UNSUCCESSFUL),
    STATUS(ND_ACCESS_VIOLATION),
    STATUS(ND_INVALID_HANDLE),
    STATUS(ND_INVALID_PARAMETER),
    STATUS(ND_INVALID_DEVICE_REQUEST),
    STATUS(ND_NO_MEMORY),
    STATUS(ND_INVALID_PARAMETER_MIX),
    STATUS(ND_DATA_OVERRUN),
    STATUS(ND_SHARING_VIOLATION),
    STATUS(ND_INSUFFICIENT_RESOURCES),
    STATUS(ND_DEVICE_NOT_READY),
    STATUS(ND_IO_TIMEOUT),
    STATUS(ND_NOT_SUPPORTED),
    STATUS(ND_INTERNAL_ERROR),
    STATUS(ND_INVALID_PARAMETER_1),
    STATUS(ND_INVALID_PARAMETER_2),
    STATUS(ND_INVALID_PARAMETER_3),
    STATUS(ND_INVALID_PARAMETER_4),
    STATUS(ND_INVALID_PARAMETER_5),
    STATUS(ND_INVALID_PARAMETER_6),
    STATUS(ND_INVALID_PARAMETER_7),
    STATUS(ND_INVALID_PARAMETER_8),
    STATUS(ND_INVALID_PARAMETER_9),
    STATUS(ND_INVALID_PARAMETER_10),
    STATUS(ND_CANCELED),
    STATUS(ND_REMOTE_ERROR),
    STATUS(ND_INVALID_ADDRESS),
    STATUS(ND_INVALID_DEVICE_STATE),
    STATUS(ND_INVALID_BUFFER_SIZE),
    STATUS(ND_TOO_MANY_ADDRESSES),
    STATUS(ND_ADDRESS_ALREADY_EXISTS),
    STATUS(ND_CONNECTION_REFUSED),
    STATUS(ND_CONNECTION_INVALID),
    STATUS(ND_CONNECTION_ACTIVE),
    STATUS(ND_NETWORK_UNREACHABLE),
    STATUS(ND_HOST_UNREACHABLE),
    STATUS(ND_CONNECTION_ABORTED),
    STATUS(ND_DEVICE_REMOVED),
    STATUS(NT_DATA_ERROR),
    STATUS(NT_BAD_NETWORK_NAME),
    STATUS(NT_CONNECTION_DISCONNECTED),
    STATUS(NT_ADDRESS_ALREADY_ASSOCIATED),
    STATUS(NT_ADDRESS_NOT_ASSOCIATED),
    STATUS(S_FALSE),
    STATUS(E_NOINTERFACE),
    STATUS(E_POINTER),
    STATUS(E_NOTIMPL),
    STATUS(E_OUTOFMEMORY),
    STATUS(E_INVALIDARG),
    STATUS(CLASS_E_NOAGGREGATION),
    STATUS(CLASS_E_CLASSNOTAVAILABLE),
};

const char *status_name(HRESULT status)
{
    static char text[4][16];
    static unsigned next;
    for (size_t i = 0; i < sizeof(status_names) / sizeof(status_names[0]); i++)
        if (status_names[i].status == status)
            return status_names[i].name;
    char *out = text[next++ % 4];
    snprintf(out, sizeof(text[0]), "0x%08X", (unsigned)status);
    return out;
}

/* Expectations */

static char row_note[256];
static char row_breach[256];
static volatile LONG breaches;

void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(row_note, sizeof(row_note), format, args);
    va_end(args);
}

void breach(const char *format, ...)
{
    va_list args;
    if (InterlockedIncrement(&breaches) > 1)
        return; /* the first says what began it */
    va_start(args, format);
    vsnprintf(row_breach, sizeof(row_breach), format, args);
    va_end(args);
}

void expectations_begin(void)
{
    row_note[0] = row_breach[0] = '\0';
    breaches = 0;
}

const char *expectations_breached(void)
{
    return breaches > 0 ? row_breach : NULL;
}

void check_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: row %s", file, line, harness_row_name());
    if (row_note[0])
        fprintf(stderr, " (%s)", row_note);
    fprintf(stderr, ": ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
    row_failed(file, line);
}

void check_status(const char *file, int line, const char *what, HRESULT expected, HRESULT actual)
{
    if (actual != expected)
        check_failed(file, line, "%s: expected %s, got %s", what, status_name(expected),
            status_name(actual));
}

void check_equal(const char *file, int line, const char *what, unsigned long long expected,
    unsigned long long actual)
{
    if (actual != expected)
        check_failed(file, line, "%s: expected %llu (0x%llx), got %llu (0x%llx)", what, expected,
            expected, actual, actual);
}

void check_pointer(
    const char *file, int line, const char *what, const void *expected, const void *actual)
{
    if (actual != expected)
        check_failed(file, line, "%s: expected %p, got %p", what, expected, actual);
}

void check_true(const char *file, int line, const char *what, bool holds)
{
    if (!holds)
        check_failed(file, line, "%s does not hold", what);
}

HRESULT check_one_of(const char *file, int line, const char *what, HRESULT actual,
    const HRESULT *allowed, size_t count)
{
    char names[256] = "";
    for (size_t i = 0; i < count; i++) {
        if (allowed[i] == actual)
            return actual;
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "",
            status_name(allowed[i]));
    }
    check_failed(file, line, "%s: expected one of %s, got %s", what, names, status_name(actual));
}
