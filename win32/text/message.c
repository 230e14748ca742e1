/* SPDX-License-Identifier: MIT */
/* message.c - FormatMessage: messages of codes, and texts with inserts; gai_strerrorA. */
#include "win32/text/message.h"

#include "win32/text/message_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <ws2tcpip.h>

enum { ARGUMENTS = 99 };

/* The arguments of a call: an array, or a list, of which read holds what was needed so far. */
struct arguments {
    const ULONG_PTR *array;
    va_list *list;
    ULONG_PTR read[ARGUMENTS];
    unsigned count;
};

static bool argument_get(struct arguments *arguments, unsigned number, ULONG_PTR *value)
{
    if (number < 1 || number > ARGUMENTS || (!arguments->array && !arguments->list))
        return false;
    if (arguments->array) {
        *value = arguments->array[number - 1];
        return true;
    }
    while (arguments->count < number)
        arguments->read[arguments->count++] = va_arg(*arguments->list, ULONG_PTR);
    *value = arguments->read[number - 1];
    return true;
}

/*
 * Reads a directive between exclamation marks, behind an insert's number. Returns the text behind it; NULL: it does not
 * end.
 */
static const char *directive_read(const char *text, char directive[32])
{
    const char *end;

    strcpy(directive, "%s");
    if (*text != '!')
        return text;
    if (!(end = strchr(text + 1, '!')) || end - text > 30)
        return NULL;
    snprintf(directive, 32, "%%%.*s", (int)(end - text - 1), text + 1);
    return end + 1;
}

/* Puts the argument of %1 ... %99; each star takes another one. Returns the text behind it; NULL with errno. */
static const char *insert_put(struct message_lines *out, const char *text,
    struct arguments *arguments, win_message_insert *insert)
{
    unsigned number = (unsigned)(*text++ - '0'), count = 0;
    ULONG_PTR values[3];
    char directive[32], *piece;

    if (*text >= '0' && *text <= '9')
        number = number * 10 + (unsigned)(*text++ - '0');
    if (!(text = directive_read(text, directive)))
        goto invalid;
    for (const char *star = directive; (star = strchr(star, '*')) && count < 2; star++, count++)
        if (!argument_get(arguments, number++, &values[count]))
            goto invalid;
    if (!argument_get(arguments, number, &values[count++]))
        goto invalid;
    if (!(piece = insert(directive, values, count)))
        return NULL;
    message_lines_put(out, piece, strlen(piece));
    free(piece);
    return text;

invalid:
    errno = EINVAL;
    return NULL;
}

/* The octets of the character at text. */
static size_t character(const char *text)
{
    size_t octets = 1;

    while (((unsigned char)text[octets] & 0xc0) == 0x80)
        octets++;
    return octets;
}

/* Puts what is no escape. Returns the text behind it. */
static const char *plain_put(struct message_lines *out, const char *text, bool lines)
{
    const size_t octets = *text == '\r' && text[1] == '\n' ? 2 : character(text);

    if (*text == ' ' || (!lines && (*text == '\r' || *text == '\n')))
        message_lines_space(out);
    else if (*text == '\r' || *text == '\n') /* however a line ends in the text */
        message_lines_end(out, "\r\n");
    else
        message_lines_put(out, text, octets);
    return text + octets;
}

/* Puts the character behind a percent sign, which is no digit. */
static void escape_put(struct message_lines *out, const char *text, DWORD flags)
{
    switch (*text) {
    case 'n': message_lines_end(out, "\r\n"); break;
    case 'r': message_lines_end(out, "\r"); break;
    case 't':
        if (flags & FORMAT_MESSAGE_MAX_WIDTH_MASK) /* Wine ends the line here, too */
            message_lines_end(out, "\r\n");
        else
            message_lines_put(out, "\t", 1);
        break;
    default:
        if (flags & FORMAT_MESSAGE_IGNORE_INSERTS)
            message_lines_put(out, "%", 1);
        message_lines_put(out, text, character(text));
    }
}

/* Puts the text with its inserts; with a width its line ends are spaces. False with errno. */
static bool message_run(struct message_lines *out, DWORD flags, const char *text,
    struct arguments *arguments, win_message_insert *insert)
{
    while (*text) {
        if (*text != '%') {
            text = plain_put(out, text, !(flags & FORMAT_MESSAGE_MAX_WIDTH_MASK));
            continue;
        }
        if (!*++text) {
            errno = EINVAL;
            return false;
        }
        if (*text == '0')
            break; /* the text ends here, without a line end */
        if (*text >= '1' && *text <= '9' && !(flags & FORMAT_MESSAGE_IGNORE_INSERTS)) {
            if (!(text = insert_put(out, text, arguments, insert)))
                return false;
            continue;
        }
        escape_put(out, text, flags);
        text += character(text);
    }
    errno = ENOMEM;
    return !out->failed;
}

static char *fail(DWORD error)
{
    SetLastError(error);
    return NULL;
}

/* The message of a code, with a line end; NULL with the last error. */
static char *system_text(DWORD id)
{
    const char *text = win_message_text(id);
    char *line = NULL;

    if (!text)
        return fail(ERROR_MR_MID_NOT_FOUND);
    if (asprintf(&line, "%s.\r\n", text) < 0)
        return fail(ERROR_NOT_ENOUGH_MEMORY);
    return line;
}

/* The text of a source; NULL with the last error. */
static char *build(DWORD flags, const char *source, va_list *list, win_message_insert *insert)
{
    const DWORD width = flags & FORMAT_MESSAGE_MAX_WIDTH_MASK;
    struct message_lines lines = { .width = width == FORMAT_MESSAGE_MAX_WIDTH_MASK ? 0 : width };
    struct arguments arguments = { .count = 0 };

    if (flags & FORMAT_MESSAGE_ARGUMENT_ARRAY)
        arguments.array = (const ULONG_PTR *)list;
    else
        arguments.list = list;
    if (!message_run(&lines, flags, source, &arguments, insert)) {
        SetLastError(errno == ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
        free(lines.text);
        return NULL;
    }
    if (!lines.length) {
        free(lines.text);
        return fail(ERROR_NO_WORK_DONE);
    }
    lines.text[lines.length] = 0;
    return lines.text;
}

char *win_message_build(
    DWORD flags, const char *source, DWORD id, va_list *list, win_message_insert *insert)
{
    char *text = NULL, *result;

    if (flags & FORMAT_MESSAGE_FROM_STRING
            ? (flags & (FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_FROM_HMODULE)) || !source
            : !(flags & (FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_FROM_HMODULE)))
        return fail(ERROR_INVALID_PARAMETER);
    /* Modules have no messages here, so FROM_HMODULE finds the system's, too. */
    if (!(flags & FORMAT_MESSAGE_FROM_STRING) && !(source = text = system_text(id)))
        return NULL;
    result = build(flags, source, list, insert);
    free(text);
    return result;
}

static char *insert_narrow(const char *directive, const ULONG_PTR values[3], unsigned count)
{
    int length = -1;
    char *text = NULL;

    /* Two passes of Windows' printf, to count and to write. Every argument has at most the size of a pointer. */
    for (int pass = 0; pass < 2; pass++) {
        size_t room = pass ? (size_t)length + 1 : 0;

        if (pass && !(text = malloc(room)))
            return NULL;
        switch (count) {
        case 1: length = wincrt_snprintf(text, room, directive, values[0]); break;
        case 2: length = wincrt_snprintf(text, room, directive, (int)values[0], values[1]); break;
        default:
            length =
                wincrt_snprintf(text, room, directive, (int)values[0], (int)values[1], values[2]);
        }
        if (length < 0)
            break;
    }
    if (length >= 0)
        return text;
    free(text);
    return NULL;
}

/*
 * FormatMessageA, FormatMessageW - the words for a code, or a text with its inserts filled in.
 * flags      FORMAT_MESSAGE_FROM_SYSTEM (or FROM_HMODULE: no module has messages of its own) or FROM_STRING;
 *            ALLOCATE_BUFFER: text points to a pointer that receives memory for LocalFree; IGNORE_INSERTS: what a
 *            percent sign begins stays, but %n, %r, %t and %0; ARGUMENT_ARRAY; a width: line ends of the message become
 *            spaces, %t ends a line, and a line that reaches so many characters ends at its last spaces, or there;
 *            MAX_WIDTH_MASK: no line is that long
 * id         a Win32 or Winsock error, an HRESULT, an NTSTATUS or a NetworkDirect code
 * language   ignored: English
 * Returns    the length; 0 with ERROR_INVALID_PARAMETER (flags, an insert without an argument or whose format does not
 *            end), ERROR_MR_MID_NOT_FOUND (no words for the code), ERROR_NO_WORK_DONE (the text is empty),
 *            ERROR_INSUFFICIENT_BUFFER, ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: FormatMessage function (winbase.h); for the lines, Wine.
 */
DWORD WINAPI FormatMessageA(DWORD flags, LPCVOID source, DWORD id, DWORD language, LPSTR text,
    DWORD size, va_list *arguments)
{
    char *message, *to = text;
    size_t length;

    (void)language;
    if (!text) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER)
        *(LPSTR *)(void *)text = NULL;
    if (!(message = win_message_build(flags, source, id, arguments, insert_narrow)))
        return 0;
    length = strlen(message);
    if (flags & FORMAT_MESSAGE_ALLOCATE_BUFFER) {
        to = LocalAlloc(LMEM_FIXED, length >= size ? length + 1 : size);
        *(LPSTR *)(void *)text = to;
    } else if (length >= size) {
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        to = NULL;
    }
    if (to)
        memcpy(to, message, length + 1);
    free(message);
    return to ? (DWORD)length : 0;
}

/*
 * gai_strerrorA, gai_strerrorW - the system's message of a code, in a line.
 * Returns  what the calling thread's next call replaces.
 * Threads  any
 * Source   gai_strerrorA function (ws2tcpip.h)
 */
char *WSAAPI gai_strerrorA(int code)
{
    static _Thread_local char text[GAI_STRERROR_BUFFER_SIZE + 1];

    if (!FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                            FORMAT_MESSAGE_MAX_WIDTH_MASK,
            NULL, (DWORD)code, 0, text, sizeof(text), NULL))
        text[0] = 0;
    return text;
}
