/* SPDX-License-Identifier: MIT */
/* uuid_text.c - UUIDs that are new, and as text (uuid_text.h). */
#include "win32/text/uuid_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void uuid_print(const UUID *uuid, bool capitals, char text[UUID_LENGTH + 1])
{
    const UCHAR *d = uuid->Data4;

    snprintf(text, UUID_LENGTH + 1,
        capitals ? "%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X"
                 : "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
        uuid->Data1, uuid->Data2, uuid->Data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool uuid_parse(const char *text, UUID *uuid)
{
    UCHAR octets[16];
    unsigned count = 0;

    for (unsigned i = 0; i < UUID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text[i] != '-' : digit(text[i]) < 0)
            return false;
        if (dash)
            continue;
        if (count % 2)
            octets[count / 2] = (UCHAR)(octets[count / 2] << 4 | digit(text[i]));
        else
            octets[count / 2] = (UCHAR)digit(text[i]);
        count++;
    }
    if (text[UUID_LENGTH])
        return false;
    uuid->Data1 =
        (ULONG)octets[0] << 24 | (ULONG)octets[1] << 16 | (ULONG)octets[2] << 8 | octets[3];
    uuid->Data2 = (USHORT)(octets[4] << 8 | octets[5]);
    uuid->Data3 = (USHORT)(octets[6] << 8 | octets[7]);
    memcpy(uuid->Data4, octets + 8, 8);
    return true;
}

/*
 * UuidCreate - a new random UUID (RFC 4122, version 4).
 * Returns  RPC_S_OK. Any thread.
 */
RPC_STATUS UuidCreate(UUID *uuid)
{
    size_t got = 0;

    while (got < sizeof(*uuid)) {
        ssize_t more = getrandom((char *)uuid + got, sizeof(*uuid) - got, 0);

        got += more > 0 ? (size_t)more : 0; /* less only where a signal came */
    }
    uuid->Data3 = (USHORT)((uuid->Data3 & 0x0fff) | 0x4000);
    uuid->Data4[0] = (UCHAR)((uuid->Data4[0] & 0x3f) | 0x80);
    return RPC_S_OK;
}

/* CoCreateGuid - makes a GUID by UuidCreate. Returns S_OK, or E_INVALIDARG where guid is NULL. */
HRESULT WINAPI CoCreateGuid(GUID *guid)
{
    if (!guid)
        return E_INVALIDARG;
    UuidCreate(guid);
    return S_OK;
}

/* UuidCreateNil - the UUID of zeros. Returns RPC_S_OK. */
RPC_STATUS UuidCreateNil(UUID *uuid)
{
    *uuid = GUID_NULL;
    return RPC_S_OK;
}

/* UuidEqual - TRUE where two UUIDs are the same; NULL is the nil one. status: out, RPC_S_OK. */
int UuidEqual(UUID *a, UUID *b, RPC_STATUS *status)
{
    return UuidCompare(a, b, status) == 0;
}

/* UuidIsNil - TRUE for the nil UUID and for NULL. status: out, RPC_S_OK. */
int UuidIsNil(UUID *uuid, RPC_STATUS *status)
{
    return UuidCompare(uuid, NULL, status) == 0;
}

/*
 * UuidToStringA, UuidToStringW - a UUID as text in small letters.
 * uuid     NULL is the nil one
 * text     out: RpcStringFree frees it
 * Returns  RPC_S_OK, RPC_S_OUT_OF_MEMORY.
 */
RPC_STATUS UuidToStringA(const UUID *uuid, RPC_CSTR *text)
{
    *text = malloc(UUID_LENGTH + 1);
    if (!*text)
        return RPC_S_OUT_OF_MEMORY;
    uuid_print(uuid ? uuid : &GUID_NULL, false, (char *)*text);
    return RPC_S_OK;
}

/*
 * UuidFromStringA, UuidFromStringW - the UUID of such a text; NULL gives the nil one.
 * Returns  RPC_S_OK, or RPC_S_INVALID_STRING_UUID for a text of another form.
 */
RPC_STATUS UuidFromStringA(RPC_CSTR text, UUID *uuid)
{
    if (!text)
        return UuidCreateNil(uuid);
    return uuid_parse((const char *)text, uuid) ? RPC_S_OK : RPC_S_INVALID_STRING_UUID;
}

/* RpcStringFreeA, RpcStringFreeW - frees a text that such a function made, and stores NULL. Returns RPC_S_OK. */
RPC_STATUS RpcStringFreeA(RPC_CSTR *text)
{
    free(*text);
    *text = NULL;
    return RPC_S_OK;
}

RPC_STATUS RpcStringFreeW(RPC_WSTR *text)
{
    free(*text);
    *text = NULL;
    return RPC_S_OK;
}
