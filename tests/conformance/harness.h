/* SPDX-License-Identifier: MIT */
/*
 * harness.h - rows, expectations and clean-up for the conformance suite.
 *
 * Test files see nothing but the public Windows surface and this header, so that the same sources build natively and
 * as a PE program. A row is a function that returns when its behaviour holds and otherwise never returns: the failing
 * expectation ends it. Whatever a row made through the fixture is released afterwards, in either case.
 *
 * Expectations end the row by a jump, so they belong to the thread that runs the row.
 */
#ifndef TESTS_CONFORMANCE_HARNESS_H
#define TESTS_CONFORMANCE_HARNESS_H

#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <ndspi.h>
#include <ndprovider.h>
#include <ndsupport.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "../support/spec_codes.h"

/* How long anything may take before it counts as never, in ms: emulated machines are slow. */
#define DEADLINE_MS 30000

/* Statuses that clients meet and that have no ND_ name. */
#define NT_DATA_ERROR                 ((HRESULT)SPEC_STATUS_DATA_ERROR)
#define NT_BAD_NETWORK_NAME           ((HRESULT)SPEC_STATUS_BAD_NETWORK_NAME)
#define NT_CONNECTION_DISCONNECTED    ((HRESULT)SPEC_STATUS_CONNECTION_DISCONNECTED)
#define NT_ADDRESS_ALREADY_ASSOCIATED ((HRESULT)SPEC_STATUS_ADDRESS_ALREADY_ASSOCIATED)
#define NT_ADDRESS_NOT_ASSOCIATED     ((HRESULT)SPEC_STATUS_ADDRESS_NOT_ASSOCIATED)

struct dialect;
extern const struct dialect dialect_v2, dialect_v1; /* see dialect.h */

struct row {
    const struct dialect *dialect;
    const char *name;
    const char *covers; /* behaviours, see README.md */
    void (*run)(void);
};

struct suite {
    const char *name;
    const struct row *rows;
    size_t count;
};

/* At the end of each test file: SUITE(cq) turns ROWS_cq of rows.h into the table, a row over both versions into two. A
 * row without a function, or a function without a row, does not compile. */
#define SUITE_V2_(function, covers)            { &dialect_v2, #function, covers, function },
#define SUITE_V1_(function, covers)            { &dialect_v1, #function, covers, function },
#define SUITE_BOTH_(function, covers)          SUITE_V2_(function, covers) SUITE_V1_(function, covers)
#define SUITE_ROW_(dialects, function, covers) SUITE_##dialects##_(function, covers)
#define SUITE(group)                                                                               \
    static const struct row group##_rows[] = { ROWS_##group(SUITE_ROW_) };                         \
    const struct suite suite_##group = { #group, group##_rows,                                     \
        sizeof(group##_rows) / sizeof(group##_rows[0]) };                                          \
    extern const struct suite suite_##group

/* Method of a COM object: CALL(cq, Resize, 8). */
#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

/* Expected value first. The expression is evaluated once. */
#define expect_status(expected, expression)                                                        \
    check_status(__FILE__, __LINE__, #expression, (HRESULT)(expected), (HRESULT)(expression))
#define expect_equal(expected, expression)                                                         \
    check_equal(__FILE__, __LINE__, #expression, (unsigned long long)(expected),                   \
        (unsigned long long)(expression))
#define expect_pointer(expected, expression)                                                       \
    check_pointer(__FILE__, __LINE__, #expression, (expected), (expression))
#define expect_true(expression) check_true(__FILE__, __LINE__, #expression, (expression) != 0)
/* One of several statuses; returns which. */
#define expect_one_of(expression, ...)                                                             \
    check_one_of(__FILE__, __LINE__, #expression, (HRESULT)(expression),                           \
        (const HRESULT[]){ __VA_ARGS__ },                                                          \
        sizeof((const HRESULT[]){ __VA_ARGS__ }) / sizeof(HRESULT))
#define fail_row(...) check_failed(__FILE__, __LINE__, __VA_ARGS__)

void check_status(const char *file, int line, const char *what, HRESULT expected, HRESULT actual);
void check_equal(const char *file, int line, const char *what, unsigned long long expected,
    unsigned long long actual);
void check_pointer(
    const char *file, int line, const char *what, const void *expected, const void *actual);
void check_true(const char *file, int line, const char *what, bool holds);
HRESULT check_one_of(const char *file, int line, const char *what, HRESULT actual,
    const HRESULT *allowed, size_t count);
void check_failed(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* A rule that every row relies on was broken; fails the row at its end. Any thread. */
void breach(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a table-driven row is at; printed with a failure, forgotten with the row. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "ND_CANCELED", or the value in hexadecimal in one of a few static buffers. */
const char *status_name(HRESULT status);

/*
 * The keeper. After a row objects are released in the reverse order of their making (the last Release must return 0),
 * then handles are closed, then memory is freed: OVERLAPPED structures and buffers outlive every object.
 */
void keep_object(void *object);
void keep_handle(HANDLE handle);
/* Zeroed, at least 64-byte aligned for 64 bytes and more; freed after the row. */
void *keep_memory(size_t bytes);
/* Releases now instead of at the end; returns what Release returned. object: an interface. */
ULONG release_kept(void *object);
/* Closes now instead of at the end. */
void close_now(HANDLE handle);

/* Exports of the provider library: linked natively, found with LoadLibrary in a PE build. */
HRESULT provider_class_object(REFCLSID clsid, REFIID iid, void **object);
HRESULT provider_can_unload(void);

/* True when the suite runs with --poll: completions are awaited by polling, never by Notify. */
bool harness_polls(void);
/* True when the suite runs with --one-adapter: both ends of a pair live on one adapter. */
bool harness_one_adapter(void);
/* False when devices.h says that the row holds in part on the device: it checks what is left. */
bool row_holds_in_full(void);
/* Counts the rows that were begun. */
unsigned harness_row_number(void);
/* "v1.connector.nobody_listens" */
const char *harness_row_name(void);
/* Between expect.c and the runner: a row begins; breach()'s message, or NULL; the row is over. */
void expectations_begin(void);
const char *expectations_breached(void);
void row_failed(const char *file, int line) __attribute__((noreturn));
/* Addresses given as arguments ("127.0.0.1", "[::1]"), or NULL: the one, and that of --peer. */
const char *harness_address(void);
const char *harness_peer(void);

/*
 * conformance_main - run one or more suites.
 * argv     [--v1 | --v2] [--poll] [--one-adapter] [--list] [--row NAME] [--peer ADDRESS] [--device DEVICE] [ADDRESS];
 *          NAME with or without version and suite; DEVICE: one of devices.h, whose exceptions hold (default: the
 *          variable NDSPI_CONFORMANCE_DEVICE, else none)
 * Returns  0, or the number of failed rows (natively: as cmocka reports it).
 */
int conformance_main(int argc, char **argv, const struct suite *const *suites, size_t count);

#endif
