/* SPDX-License-Identifier: MIT */
/*
 * harness.c - the runner (cmocka natively; our own in a PE build, and by OWN_RUNNER where there is no cmocka) and the
 * keeper.
 */
#include "dialect.h"
#include "exceptions.h"

#include <setjmp.h>

#ifdef _WIN32
#define OWN_RUNNER
#endif
#ifndef OWN_RUNNER
#include <cmocka.h>
#endif

static jmp_buf row_end;

#define MAX_KEPT 4096

static struct {
    const struct row *row;
    char name[128];
    void *objects[MAX_KEPT];
    size_t object_count;
    HANDLE handles[MAX_KEPT];
    size_t handle_count;
    void *memory[MAX_KEPT];
    size_t memory_count;
    bool polls, one_adapter;
    bool failed;  /* the row */
    bool open;    /* it has begun and has not been cleaned up */
    bool guarded; /* it ends at row_end */
    bool asked;   /* it has asked whether it holds in full */
    const char *suite;
    const char *address, *peer, *device, *only; /* arguments, or NULL */
    const struct dialect *dialect;
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

const char *harness_peer(void)
{
    return harness.peer;
}

const char *harness_row_name(void)
{
    return harness.row ? harness.name : "-";
}

const struct dialect *row_dialect(void)
{
    return harness.row->dialect;
}

bool row_is_v1(void)
{
    return harness.row->dialect == &dialect_v1;
}

void row_failed(const char *file, int line)
{
    harness.failed = true;
    if (harness.guarded)
        longjmp(row_end, 1);
#ifdef OWN_RUNNER
    (void)file, (void)line;
#else
    _fail(file, line);
#endif
    abort(); /* _fail does not return while a row runs */
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

ULONG release_kept(void *object)
{
    for (size_t i = harness.object_count; i-- > 0;)
        if (harness.objects[i] == object) {
            harness.object_count--;
            memmove(&harness.objects[i], &harness.objects[i + 1],
                (harness.object_count - i) * sizeof(harness.objects[0]));
            return CALL((IUnknown *)object, Release);
        }
    fail_row("release of an object that is not kept");
}

ULONG release_now(any_object any)
{
    return release_kept(any.object->unknown);
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

/* Releases everything, whether the row passed or not. Returns what failed in that, or NULL. */
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

/* "v1.connector.nobody_listens" */
static void full_name(char *out, const char *suite, const struct row *row)
{
    snprintf(out, sizeof(harness.name), "%s.%s.%s", row->dialect->name, suite, row->name);
}

/* Whether a name that was asked for means a row: its own, with the suite's, with the version's. */
static bool is_named(const char *asked, const char *suite, const struct row *row)
{
    char name[sizeof(harness.name)];
    full_name(name, suite, row);
    return names_row(asked, name) || strcmp(asked, row->name) == 0;
}

static bool is_asked_for(const char *suite, const struct row *row)
{
    return (!harness.dialect || harness.dialect == row->dialect) &&
           (!harness.only || is_named(harness.only, suite, row));
}

static void row_begin(const struct row *row)
{
    WSADATA data;
    harness.row = row;
    full_name(harness.name, harness.suite, row);
    harness.number++;
    expectations_begin();
    harness.failed = harness.asked = false;
    harness.open = true;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        fail_row("WSAStartup failed");
    expect_status(ND_SUCCESS, NdStartup());
}

/* Of the row that runs: what devices.h says; NULL: that it passes. */
static const struct exception *row_exception(void)
{
    return exception_of(harness.device, harness.name);
}

static bool row_is(enum exception_result result)
{
    const struct exception *exception = row_exception();
    return exception && exception->result == result;
}

bool row_holds_in_full(void)
{
    harness.asked = true;
    return !row_is(IN_PART);
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
    const char *wrong;
    if (!harness.open)
        return;
    harness.open = false;
    wrong = keeper_empty();
#ifndef _WIN32
    if (!wrong && !nothing_is_left())
        wrong = "DllCanUnloadNow says that an object is left";
#endif
    dialect_v1_row_end();
    NdCleanup();
    WSACleanup();
    if (!wrong)
        wrong = expectations_breached();
    if (!wrong && row_is(IN_PART) && !harness.asked)
        wrong = "devices.h says that it holds in part, and there is no part that it leaves out";
    if (wrong && !harness.failed)
        fail_row("%s", wrong);
}

/* False when an expectation ended it. */
static bool guarded(void (*step)(void))
{
    harness.guarded = setjmp(row_end) == 0;
    if (!harness.guarded)
        return false;
    step();
    harness.guarded = false;
    return true;
}

static void row_run(void)
{
    harness.row->run();
}

/* The row runs, is cleaned up, and has to fail. */
static bool fails_as_expected(const struct exception *exception)
{
    bool passed = guarded(row_run);
    passed = guarded(row_end_clean) && passed;
    fprintf(stderr,
        passed ? "row %s passes; devices.h says that it fails on %s: %s\n"
               : "row %s fails, as expected on %s: %s\n",
        harness.name, exception->device, exception->reason);
    return !passed;
}

#ifdef OWN_RUNNER
static void row_begin_now(void)
{
    row_begin(harness.row);
}

enum outcome { FAILED, PASSED, SKIPPED };

static enum outcome row_outcome(void)
{
    bool passed = guarded(row_begin_now);
    if (passed && row_is(NOT_APPLICABLE)) {
        printf("not applicable: %s\n", row_exception()->reason);
        return guarded(row_end_clean) ? SKIPPED : FAILED;
    }
    if (passed && row_is(FAILS))
        return fails_as_expected(row_exception()) ? PASSED : FAILED;
    passed = passed && guarded(row_run);
    return guarded(row_end_clean) && passed ? PASSED : FAILED;
}

static int run_suites(const struct suite *const *suites, size_t count)
{
    static const char *const words[] = { "  FAILED", "      OK", " SKIPPED" };
    int counts[] = { 0, 0, 0 };
    for (size_t s = 0; s < count; s++)
        for (size_t r = 0; r < suites[s]->count; r++) {
            harness.suite = suites[s]->name;
            harness.row = &suites[s]->rows[r];
            if (!is_asked_for(harness.suite, harness.row))
                continue;
            enum outcome outcome = row_outcome();
            printf("[%s] %s\n", words[outcome], harness.name);
            fflush(stdout);
            counts[outcome]++;
        }
    printf(
        "%d rows passed, %d failed, %d skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED];
}
#else
static int row_setup(void **state)
{
    row_begin(*state);
    return 0;
}

static void row_trampoline(void **state)
{
    (void)state;
    if (row_is(NOT_APPLICABLE)) {
        fprintf(stderr, "row %s, not applicable on %s: %s\n", harness.name, harness.device,
            row_exception()->reason);
        skip();
    } else if (!row_is(FAILS)) {
        row_run();
    } else if (!fails_as_expected(row_exception())) {
        _fail(__FILE__, __LINE__);
    }
}

static int row_teardown(void **state)
{
    (void)state;
    row_end_clean();
    return 0;
}

static int run_suite(const struct suite *suite)
{
    struct CMUnitTest *tests = calloc(suite->count, sizeof(*tests));
    char(*names)[sizeof(harness.name)] = calloc(suite->count, sizeof(*names));
    size_t used = 0;
    int failed = 0;
    for (size_t r = 0; tests && names && r < suite->count; r++) {
        const struct row *row = &suite->rows[r];
        if (!is_asked_for(suite->name, row))
            continue;
        full_name(names[used], suite->name, row);
        tests[used] = (struct CMUnitTest){ names[used], row_trampoline, row_setup, row_teardown,
            (void *)(uintptr_t)row };
        used++;
    }
    harness.suite = suite->name;
    if (used > 0)
        failed = _cmocka_run_group_tests(suite->name, tests, used, NULL, NULL);
    free(names);
    free(tests);
    return failed;
}

static int run_suites(const struct suite *const *suites, size_t count)
{
    int failed = 0;
    for (size_t s = 0; s < count; s++)
        failed += run_suite(suites[s]);
    return failed;
}
#endif

static void list_rows(const struct suite *suite)
{
    for (size_t r = 0; r < suite->count; r++) {
        char name[sizeof(harness.name)];
        full_name(name, suite->name, &suite->rows[r]);
        if (is_asked_for(suite->name, &suite->rows[r]))
            printf("%s %s\n", name, suite->rows[r].covers);
    }
}

int conformance_main(int argc, char **argv, const struct suite *const *suites, size_t count)
{
    bool list = false;
    harness.device = getenv("NDSPI_CONFORMANCE_DEVICE");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--poll") == 0)
            harness.polls = true;
        else if (strcmp(argv[i], "--one-adapter") == 0)
            harness.one_adapter = true;
        else if (strcmp(argv[i], "--v1") == 0)
            harness.dialect = &dialect_v1;
        else if (strcmp(argv[i], "--v2") == 0)
            harness.dialect = &dialect_v2;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--peer") == 0 && i + 1 < argc)
            harness.peer = argv[++i];
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            harness.device = argv[++i];
        else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc)
            harness.only = argv[++i];
        else
            harness.address = argv[i];
    }
    if (harness.device && !device_is_known(harness.device)) {
        fprintf(stderr, "devices.h knows no device \"%s\"\n", harness.device);
        return 1;
    }
    if (!list)
        return run_suites(suites, count);
    for (size_t s = 0; s < count; s++)
        list_rows(suites[s]);
    return 0;
}
