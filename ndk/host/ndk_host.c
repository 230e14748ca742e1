/* SPDX-License-Identifier: MIT */
/*
 * ndk_host.c - runs a driver that was built as a shared library: calls its DriverEntry, waits for SIGINT or SIGTERM,
 * and calls its DriverUnload. The program knows libndk's headers alone.
 */
#include <ndkl.h>
#include <ndkwdm.h>

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_MOST = 512,
    DRIVER_TYPE = 4 /* DRIVER_OBJECT.Type */,
    RESULT_FAILED = 1,
    RESULT_USAGE = 2
};

/* A text of characters of 16 or 32 bits, whichever the driver was compiled for. */
struct wide_text {
    UNICODE_STRING string;
    union {
        uint16_t units16[TEXT_MOST];
        uint32_t units32[TEXT_MOST];
    } room;
};

static struct {
    DRIVER_OBJECT object;
    DRIVER_EXTENSION extension;
    struct wide_text name, path, service;
    bool short_text; /* characters have 16 bits */
} driver;

static const char help[] =
    "usage: ndk_host [-p NAME=VALUE]... [-t SECONDS] DRIVER.so\n"
    "\n"
    "Runs a Windows driver that was built as a shared library against libndk: calls its "
    "DriverEntry,\n"
    "waits for SIGINT or SIGTERM, and calls its DriverUnload.\n"
    "\n"
    "  -p, --parameter NAME=VALUE  what the driver finds by RtlQueryRegistryValues: a number is a\n"
    "                              REG_DWORD, other text a REG_SZ\n"
    "  -t, --time SECONDS          end by itself after so long\n"
    "  -V, --version               print the version\n"
    "  -h, --help                  print this\n";

static __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
    va_list arguments;

    fputs("ndk_host: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* Writes what was printed; a full disk shows only now. Returns the program's status. */
static int write_out(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    complain("cannot write to standard output: %s", strerror(errno));
    return RESULT_FAILED;
}

/* Puts two texts of ASCII together. */
static void set_text(struct wide_text *text, const char *begin, const char *end)
{
    char both[TEXT_MOST];
    size_t count;

    snprintf(both, sizeof(both), "%s%s", begin, end);
    for (count = 0; both[count]; count++) {
        if (driver.short_text)
            text->room.units16[count] = (unsigned char)both[count];
        else
            text->room.units32[count] = (unsigned char)both[count];
    }
    text->string.Length = (USHORT)(count * (driver.short_text ? 2 : 4));
    text->string.MaximumLength = (USHORT)sizeof(text->room);
    text->string.Buffer = (PWSTR)&text->room;
}

/* Finds DriverEntry. NULL: it has said why. */
static PDRIVER_INITIALIZE load(const char *path)
{
    char whole[PATH_MAX];
    PDRIVER_INITIALIZE entry;
    void *library;

    if (!realpath(path, whole)) { /* dlopen would look for a plain name in the system's folders */
        complain("%s: %s", path, strerror(errno));
        return NULL;
    }
    if (!(library = dlopen(whole, RTLD_NOW | RTLD_LOCAL))) {
        complain("cannot load the driver: %s", dlerror());
        return NULL;
    }
    *(void **)&entry = dlsym(library, "DriverEntry");
    if (!entry) {
        *(void **)&entry = dlsym(library, "DriverEntry16");
        driver.short_text = entry != NULL;
    }
    if (!entry)
        complain(
            "%s has no DriverEntry. In C++ it is declared extern \"C\"; the linker keeps it if it "
            "is not hidden",
            path);
    return entry;
}

static NTSTATUS begin(PDRIVER_INITIALIZE entry, const char *path)
{
    char copy[PATH_MAX], *name, *dot;

    snprintf(copy, sizeof(copy), "%s", path);
    name = basename(copy);
    if ((dot = strchr(name, '.')))
        *dot = '\0';
    set_text(&driver.name, "\\Driver\\", name);
    set_text(&driver.service, name, "");
    set_text(&driver.path, "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\", name);
    driver.extension = (DRIVER_EXTENSION){ .DriverObject = &driver.object,
        .ServiceKeyName = driver.service.string };
    driver.object = (DRIVER_OBJECT){ .Type = DRIVER_TYPE,
        .Size = sizeof(driver.object),
        .DriverExtension = &driver.extension,
        .DriverName = driver.name.string,
        .DriverInit = entry };
    return entry(&driver.object, &driver.path.string);
}

static void end(void)
{
    driver.object.DriverUnload(&driver.object);
    for (PDEVICE_OBJECT device = driver.object.DeviceObject; device; device = device->NextDevice)
        complain("DriverUnload left the device %p: it has to call IoDeleteDevice", (void *)device);
}

/* Waits for a signal, seconds at most; 0: without an end. */
static void wait_for_signal(const sigset_t *signals, unsigned seconds)
{
    struct timespec time = { .tv_sec = seconds };

    while ((seconds ? sigtimedwait(signals, NULL, &time) : sigwaitinfo(signals, NULL)) < 0 &&
           errno == EINTR) {
    }
}

/* Returns 0, or says why not. */
static int set_parameter(char *argument)
{
    char *equals = argument ? strchr(argument, '=') : NULL;

    if (!equals || equals == argument) {
        complain("-p wants NAME=VALUE");
        return -1;
    }
    *equals = '\0';
    if (NT_SUCCESS(NdklSetParameter(argument, equals + 1)))
        return 0;
    complain("no memory for a parameter");
    return -1;
}

static int set_time(const char *argument, unsigned *seconds)
{
    char *rest = NULL;
    unsigned long value = argument ? strtoul(argument, &rest, 10) : 0;

    if (!rest || *rest || *argument == '-' || value < 1 || value > INT_MAX) {
        complain("-t wants a number of seconds, from 1 on");
        return -1;
    }
    *seconds = (unsigned)value;
    return 0;
}

/* Whether an argument is this option. */
static bool is(const char *argument, const char *letter, const char *word)
{
    return !strcmp(argument, letter) || !strcmp(argument, word);
}

/* Returns the driver's path; NULL: *result is that of the program. */
static const char *read_arguments(int argc, char **argv, unsigned *seconds, int *result)
{
    const char *path = NULL;
    int error = 0;

    *result = RESULT_USAGE;
    for (int i = 1; i < argc && !error; i++) {
        if (is(argv[i], "-h", "--help") || is(argv[i], "-V", "--version")) {
            fputs(argv[i][strspn(argv[i], "-")] == 'h' ? help : "ndk_host " NDK_HOST_VERSION "\n",
                stdout);
            *result = write_out(0);
            return NULL;
        }
        if (is(argv[i], "-p", "--parameter")) {
            error = set_parameter(argv[++i]);
        } else if (is(argv[i], "-t", "--time")) {
            error = set_time(argv[++i], seconds);
        } else if (argv[i][0] == '-') {
            complain("no such option: \"%s\"; ndk_host -h says more", argv[i]);
            return NULL;
        } else if (path) {
            complain("one driver, not also \"%s\"; ndk_host -h says more", argv[i]);
            return NULL;
        } else {
            path = argv[i];
        }
    }
    if (error)
        return NULL;
    if (!path)
        fputs(help, stderr);
    return path;
}

int main(int argc, char **argv)
{
    PDRIVER_INITIALIZE entry;
    unsigned seconds = 0;
    NTSTATUS status;
    sigset_t signals;
    const char *path;
    int result;

    if (!(path = read_arguments(argc, argv, &seconds, &result)))
        return result;
    /* The driver's threads inherit this mask, and so leave the signals to this one. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!(entry = load(path)))
        return RESULT_FAILED;
    if (!NT_SUCCESS(status = begin(entry, path))) {
        complain("DriverEntry of %s failed with status 0x%08x", path, (unsigned)status);
        return RESULT_FAILED;
    }
    if (!driver.object.DriverUnload)
        complain("%s sets no DriverUnload: it ends without", path);
    printf("ndk_host: %s runs\n", path);
    result = write_out(0);
    wait_for_signal(&signals, seconds);
    if (driver.object.DriverUnload)
        end();
    return result;
}
