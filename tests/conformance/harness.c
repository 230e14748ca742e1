/* SPDX-License-Identifier: MIT */
/*
 * harness.c - the runner (cmocka natively, our own in a PE build), the expectations, the keeper.
 */
#include "harness.h"

#include <stdarg.h>
#include <setjmp.h>

#ifdef _WIN32
static jmp_buf row_end;
#else
#include <cmocka.h>
#endif

#define MAX_KEPT 4096

static struct {
    const struct row *row;
    char note[256];
    void *objects[MAX_KEPT];
    size_t object_count;
    HANDLE handles[MAX_KEPT];
    size_t handle_count;
    void *memory[MAX_KEPT];
    size_t memory_count;
    bool polls, one_adapter, failed;
    const char *address;
    unsigned number;
} harness;

bool harness_polls(void)
{
    return harness.polls;
}

bool harness_one_adapter(void)
{
    return harness.one_adapter;
}

unsigned harness_row_number(void)
{
    return harness.number;
}

const char *harness_address(void)
{
    return harness.address;
}

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

void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(harness.note, sizeof(harness.note), format, args);
    va_end(args);
}

void check_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    harness.failed = true;
    fprintf(stderr, "%s:%d: row %s", file, line, harness.row ? harness.row->name : "-");
    if (harness.note[0])
        fprintf(stderr, " (%s)", harness.note);
    fprintf(stderr, ": ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
#ifdef _WIN32
    longjmp(row_end, 1);
#else
    _fail(file, line);
    abort(); /* _fail does not return while a row runs */
#endif
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

/* The keeper */

void keep_object(void *object)
{
    if (harness.object_count == MAX_KEPT)
        fail_row("too many objects");
    harness.objects[harness.object_count++] = object;
}

void keep_handle(HANDLE handle)
{
    if (harness.handle_count == MAX_KEPT)
        fail_row("too many handles");
    harness.handles[harness.handle_count++] = handle;
}

void *keep_memory(size_t bytes)
{
    if (harness.memory_count == MAX_KEPT)
        fail_row("too many buffers");
    char *memory = calloc(1, bytes + 64);
    if (!memory)
        fail_row("out of memory");
    harness.memory[harness.memory_count++] = memory;
    return bytes < 64 ? memory : memory + (64 - (uintptr_t)memory % 64) % 64;
}

ULONG release_now(void *object)
{
    for (size_t i = harness.object_count; i-- > 0;)
        if (harness.objects[i] == object) {
            harness.object_count--;
            memmove(&harness.objects[i], &harness.objects[i + 1],
                (harness.object_count - i) * sizeof(harness.objects[0]));
            return CALL((IUnknown *)object, Release);
        }
    fail_row("release_now of an object that is not kept");
}

void close_now(HANDLE handle)
{
    for (size_t i = harness.handle_count; i-- > 0;)
        if (harness.handles[i] == handle) {
            harness.handle_count--;
            memmove(&harness.handles[i], &harness.handles[i + 1],
                (harness.handle_count - i) * sizeof(harness.handles[0]));
            expect_true(CloseHandle(handle));
            return;
        }
    fail_row("close_now of a handle that is not kept");
}

/* Everything goes, whether the row passed or not. Returns what was wrong with that, or NULL. */
static const char *keeper_empty(void)
{
    const char *wrong = NULL;
    while (harness.object_count > 0) {
        IUnknown *object = harness.objects[--harness.object_count];
        if (CALL(object, Release) != 0)
            wrong = "the last Release of an object did not return 0";
    }
    while (harness.handle_count > 0)
        if (!CloseHandle(harness.handles[--harness.handle_count]))
            wrong = "CloseHandle failed";
    while (harness.memory_count > 0)
        free(harness.memory[--harness.memory_count]);
    return wrong;
}

/* The provider library */

#ifdef _WIN32
static FARPROC provider_export(const char *name)
{
    const char *file = getenv("NDSPI_PROVIDER");
    HMODULE module = LoadLibraryA(file ? file : "ndspi.dll");
    FARPROC address = module ? GetProcAddress(module, name) : NULL;
    if (!address)
        fail_row("no provider library with %s (NDSPI_PROVIDER)", name);
    return address;
}

HRESULT provider_class_object(REFCLSID clsid, REFIID iid, void **object)
{
    typedef HRESULT(WINAPI * get_class_object)(REFCLSID, REFIID, void **);
    return ((get_class_object)(void *)provider_export("DllGetClassObject"))(clsid, iid, object);
}

HRESULT provider_can_unload(void)
{
    typedef HRESULT(WINAPI * can_unload)(void);
    return ((can_unload)(void *)provider_export("DllCanUnloadNow"))();
}
#else
HRESULT provider_class_object(REFCLSID clsid, REFIID iid, void **object)
{
    return DllGetClassObject(clsid, iid, object);
}

HRESULT provider_can_unload(void)
{
    return DllCanUnloadNow();
}
#endif

/* Rows */

static void row_begin(const struct row *row)
{
    WSADATA data;
    harness.row = row;
    harness.number++;
    harness.note[0] = '\0';
    harness.failed = false;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        fail_row("WSAStartup failed");
    expect_status(ND_SUCCESS, NdStartup());
}

#ifndef _WIN32
/* Nothing is left in the library: connections may take a moment to end behind their objects. */
static bool nothing_is_left(void)
{
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    while (provider_can_unload() != S_OK) {
        if (GetTickCount64() > end)
            return false;
        SwitchToThread();
    }
    return true;
}
#endif

static void row_end_clean(void)
{
    const char *wrong = keeper_empty();
#ifndef _WIN32
    if (!wrong && !nothing_is_left())
        wrong = "DllCanUnloadNow says that an object is left";
#endif
    NdCleanup();
    WSACleanup();
    if (wrong && !harness.failed)
        fail_row("%s", wrong);
}

#ifdef _WIN32
static void row_begin_and_run(void)
{
    row_begin(harness.row);
    harness.row->run();
}

/* False when an expectation ended it. */
static bool guarded(void (*step)(void))
{
    if (setjmp(row_end) != 0)
        return false;
    step();
    return true;
}

static int run_suites(const struct suite *const *suites, size_t count, const char *only)
{
    int failed = 0, passed = 0;
    for (size_t s = 0; s < count; s++)
        for (size_t r = 0; r < suites[s]->count; r++) {
            harness.row = &suites[s]->rows[r];
            if (only && strcmp(only, harness.row->name) != 0)
                continue;
            bool good = guarded(row_begin_and_run);
            good = guarded(row_end_clean) && good;
            printf(
                "[%s] %s.%s\n", good ? "      OK" : "  FAILED", suites[s]->name, harness.row->name);
            fflush(stdout);
            failed += !good;
            passed += good;
        }
    printf("%d rows passed, %d failed\n", passed, failed);
    return failed;
}
#else
static int row_setup(void **state)
{
    row_begin(*state);
    return 0;
}

static void row_trampoline(void **state)
{
    ((const struct row *)*state)->run();
}

static int row_teardown(void **state)
{
    (void)state;
    row_end_clean();
    return 0;
}

static int run_suites(const struct suite *const *suites, size_t count, const char *only)
{
    int failed = 0;
    for (size_t s = 0; s < count; s++) {
        struct CMUnitTest *tests = calloc(suites[s]->count, sizeof(*tests));
        size_t used = 0;
        for (size_t r = 0; tests && r < suites[s]->count; r++) {
            const struct row *row = &suites[s]->rows[r];
            if (!only || strcmp(only, row->name) == 0)
                tests[used++] = (struct CMUnitTest){ row->name, row_trampoline, row_setup,
                    row_teardown, (void *)(uintptr_t)row };
        }
        if (used > 0)
            failed += _cmocka_run_group_tests(suites[s]->name, tests, used, NULL, NULL);
        free(tests);
    }
    return failed;
}
#endif

int conformance_main(int argc, char **argv, const struct suite *const *suites, size_t count)
{
    const char *only = NULL;
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--poll") == 0)
            harness.polls = true;
        else if (strcmp(argv[i], "--one-adapter") == 0)
            harness.one_adapter = true;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            harness.address = argv[i];
    }
    if (!list)
        return run_suites(suites, count, only);
    for (size_t s = 0; s < count; s++)
        for (size_t r = 0; r < suites[s]->count; r++)
            printf(
                "%s.%s %s\n", suites[s]->name, suites[s]->rows[r].name, suites[s]->rows[r].covers);
    return 0;
}
