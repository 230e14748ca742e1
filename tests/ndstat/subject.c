/* SPDX-License-Identifier: MIT */
/*
 * subject.c - a process for ndstat to look at: an adapter on 127.0.0.1, 12288 octets registered, 3 Receives posted.
 * It says "ready", then does what it is told, a line each: "fork", an adapter in a child, which says "child PID", and
 * goes when it is told "gone"; "open", one more adapter, of which "fill" gives the newest the same again and "close"
 * closes the oldest; it repeats these words when it has done so. It ends when its input does. With --no-files it may
 * write no octet into a file while it opens its adapter; with --title it first writes a title over its arguments; with
 * --user N it is that user's process.
 */
#include "tests/support/forks.h"

#include <winsock2.h>

#include <ndsupport.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>

static int is_child;

/* What only a thread of the parent holds is no leak of the child, in which that thread is not. Read by libasan. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return is_child;
}
#endif

enum { OCTETS = 12288, MORE = 8 };

static void need(HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "subject: %s: 0x%08x\n", what, (unsigned)hr);
    exit(1);
}

static IND2Adapter *open_adapter(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    IND2Adapter *adapter = NULL;

    need(NdOpenAdapter(
             &IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), (VOID **)&adapter),
        "NdOpenAdapter");
    return adapter;
}

static void fill(IND2Adapter *adapter)
{
    OVERLAPPED request = { .hEvent = CreateEvent(NULL, TRUE, FALSE, NULL) };
    IND2CompletionQueue *cq;
    IND2MemoryRegion *region;
    IND2QueuePair *qp;
    HANDLE file;
    HRESULT hr;

    need(adapter->lpVtbl->CreateOverlappedFile(adapter, &file), "CreateOverlappedFile");
    need(
        adapter->lpVtbl->CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, file, (VOID **)&region),
        "CreateMemoryRegion");
    hr = region->lpVtbl->Register(
        region, calloc(1, OCTETS), OCTETS, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &request);
    if (hr == ND_PENDING)
        hr = region->lpVtbl->GetOverlappedResult(region, &request, TRUE);
    need(hr, "Register");
    need(adapter->lpVtbl->CreateCompletionQueue(
             adapter, &IID_IND2CompletionQueue, file, 8, 0, 0, (VOID **)&cq),
        "CreateCompletionQueue");
    need(adapter->lpVtbl->CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)cq,
             (IUnknown *)cq, NULL, 4, 4, 1, 1, 0, (VOID **)&qp),
        "CreateQueuePair");
    for (int i = 0; i < 3; i++)
        need(qp->lpVtbl->Receive(qp, NULL, NULL, 0), "Receive");
}

static IND2Adapter *open_adapter_without_files(void)
{
    struct rlimit before, none;
    IND2Adapter *adapter;

    if (getrlimit(RLIMIT_FSIZE, &before))
        exit(1);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
    if (setrlimit(RLIMIT_FSIZE, &none))
        exit(1);
    adapter = open_adapter();
    if (setrlimit(RLIMIT_FSIZE, &before))
        exit(1);
    return adapter;
}

static void child(int gone)
{
    IND2Adapter *adapter;
    char octet;

#ifdef __SANITIZE_ADDRESS__
    is_child = 1;
#endif
    adapter = open_adapter();
    printf("child %ld\n", (long)getpid());
    fflush(stdout);
    if (read(gone, &octet, 1) < 0) /* until the parent says so, or is gone */
        exit(1);
    adapter->lpVtbl->Release(adapter);
    exit(0);
}

/* "open", "fill", "close": the adapters besides the first. False: the line is none of these. */
static int change_adapters(const char *line)
{
    static IND2Adapter *more[MORE];
    static unsigned opened, closed;

    if (strcmp(line, "open\n") == 0 && opened < MORE)
        more[opened++] = open_adapter();
    else if (strcmp(line, "fill\n") == 0 && opened > closed)
        fill(more[opened - 1]);
    else if (strcmp(line, "close\n") == 0 && opened > closed)
        more[closed]->lpVtbl->Release(more[closed]), closed++;
    else
        return 0;
    fputs(line, stdout);
    fflush(stdout);
    return 1;
}

/* The process of another user, which may be traced as before: the leak checker does that. */
static void become(uid_t user)
{
    if (setgid(user) || setuid(user) || unsetenv("XDG_RUNTIME_DIR") || prctl(PR_SET_DUMPABLE, 1))
        exit(1);
}

int main(int argc, char **argv)
{
    char line[64];
    int gone[2] = { -1, -1 };

    if (argc > 1 && strcmp(argv[1], "--title") == 0)
        memset(argv[0], '/', strlen(argv[0]) - 2);
    if (argc > 2 && strcmp(argv[1], "--user") == 0)
        become((uid_t)atoi(argv[2]));
    need(NdStartup(), "NdStartup");
    fill(argc > 1 && strcmp(argv[1], "--no-files") == 0 ? open_adapter_without_files()
                                                        : open_adapter());
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (change_adapters(line))
            continue;
        if (strcmp(line, "fork\n") == 0) {
            if (pipe(gone))
                return 1;
            fflush(stdout);
            if (fork() == 0) {
                close(gone[1]);
                child(gone[0]);
            }
        } else if (strcmp(line, "gone\n") == 0) {
            int status;

            close(gone[1]);
            if (wait(&status) < 0 || status)
                return 1;
            puts("gone");
            fflush(stdout);
        }
    }
    return 0;
}
