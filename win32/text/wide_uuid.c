/* SPDX-License-Identifier: MIT */
/* wide_uuid.c - identifiers of classes and interfaces as wide text; for both widths, as wide.c is. */
#include "win32/text/uuid_text.h"

#include <objbase.h>

#include <stdlib.h>

#define BRACED (UUID_LENGTH + 2)

/* The text in room for UUID_LENGTH characters, or what is no such text where it has another form. */
static void narrow(const WCHAR *wide, char text[UUID_LENGTH + 1])
{
    unsigned i = 0;

    for (; i < UUID_LENGTH && wide[i]; i++)
        text[i] = wide[i] < 0x80 ? (char)wide[i] : '?';
    if (i == UUID_LENGTH && wide[i])
        i = 0; /* too long */
    text[i] = 0;
}

/*
 * StringFromGUID2 - an identifier as text, in braces and capitals.
 * room     of text, in characters
 * Returns  39, the characters with the 0; 0 where room is less.
 */
int WINAPI StringFromGUID2(REFGUID guid, LPOLESTR text, int room)
{
    char narrow_text[UUID_LENGTH + 1];

    if (!text || room < BRACED + 1)
        return 0;
    uuid_print(guid, true, narrow_text);
    text[0] = '{';
    for (int i = 0; i < UUID_LENGTH; i++)
        text[i + 1] = (WCHAR)narrow_text[i];
    text[BRACED - 1] = '}';
    text[BRACED] = 0;
    return BRACED + 1;
}

/*
 * StringFromCLSID, StringFromIID - the same, in memory of its own.
 * text     out: CoTaskMemFree frees it
 * Returns  S_OK, E_OUTOFMEMORY.
 */
HRESULT WINAPI StringFromCLSID(REFCLSID id, LPOLESTR *text)
{
    *text = CoTaskMemAlloc((BRACED + 1) * sizeof(WCHAR));
    if (!*text)
        return E_OUTOFMEMORY;
    StringFromGUID2(id, *text, BRACED + 1);
    return S_OK;
}

HRESULT WINAPI StringFromIID(REFIID id, LPOLESTR *text)
{
    return StringFromCLSID(id, text);
}

static BOOL parse_braced(LPCOLESTR text, GUID *guid)
{
    WCHAR inner[UUID_LENGTH + 1];
    char narrow_text[UUID_LENGTH + 1];

    if (text[0] != '{')
        return FALSE;
    for (int i = 0; i < UUID_LENGTH; i++)
        if (!(inner[i] = text[i + 1]))
            return FALSE;
    if (text[BRACED - 1] != '}' || text[BRACED])
        return FALSE;
    inner[UUID_LENGTH] = 0;
    narrow(inner, narrow_text);
    return uuid_parse(narrow_text, guid);
}

/*
 * CLSIDFromString - the identifier of such a text; NULL gives CLSID_NULL. Names of programs are in no registry here.
 * Returns  S_OK, E_INVALIDARG (id is NULL), CO_E_CLASSSTRING (another form).
 */
HRESULT WINAPI CLSIDFromString(LPCOLESTR text, LPCLSID id)
{
    if (!id)
        return E_INVALIDARG;
    *id = CLSID_NULL;
    return !text || parse_braced(text, id) ? S_OK : CO_E_CLASSSTRING;
}

/*
 * IIDFromString - the same for an interface.
 * Returns  S_OK, E_INVALIDARG (another length than 38), CO_E_IIDSTRING (another form).
 */
HRESULT WINAPI IIDFromString(LPCOLESTR text, LPIID id)
{
    int length = 0;

    if (!text) {
        *id = IID_NULL;
        return S_OK;
    }
    while (length <= BRACED && text[length])
        length++;
    if (length != BRACED)
        return E_INVALIDARG;
    return parse_braced(text, id) ? S_OK : CO_E_IIDSTRING;
}

RPC_STATUS UuidToStringW(const UUID *uuid, RPC_WSTR *text)
{
    char narrow_text[UUID_LENGTH + 1];

    *text = malloc((UUID_LENGTH + 1) * sizeof(WCHAR));
    if (!*text)
        return RPC_S_OUT_OF_MEMORY;
    uuid_print(uuid ? uuid : &GUID_NULL, false, narrow_text);
    for (int i = 0; i <= UUID_LENGTH; i++)
        (*text)[i] = (WCHAR)narrow_text[i];
    return RPC_S_OK;
}

RPC_STATUS UuidFromStringW(RPC_WSTR text, UUID *uuid)
{
    char narrow_text[UUID_LENGTH + 1];

    if (!text)
        return UuidCreateNil(uuid);
    narrow(text, narrow_text);
    return uuid_parse(narrow_text, uuid) ? RPC_S_OK : RPC_S_INVALID_STRING_UUID;
}
