/* SPDX-License-Identifier: MIT */
/* copy_listen.c - how a program serves: it opens the adapter of an address, and listens until a signal ends it. */
#include "copy_host.h"

#include <signal.h>

enum { MOST_CONNECTIONS = 32 };

static VOID refused(PVOID context, const SOCKADDR *peer, NTSTATUS status, const char *reason)
{
    char address[COPY_ADDRESS_TEXT], text[64];

    (void)context;
    copy_say("%s: not served: %s: %s", copy_address_text(peer, address, sizeof(address)), reason,
        copy_status_text(status, text, sizeof(text)));
}

static void failed(const struct copy_address *address, const char *what, NTSTATUS status)
{
    const char *hint = copy_status_hint(status);
    char where[COPY_ADDRESS_TEXT], text[64];

    copy_say("%s: %s: %s%s%s%s", copy_address_text(&address->sa, where, sizeof(where)), what,
        copy_status_text(status, text, sizeof(text)), hint ? " (" : "", hint ? hint : "",
        hint ? ")" : "");
}

/* Serves until a signal ends the program. */
static void run(SMBD_LISTENER *listener, const sigset_t *ending)
{
    struct copy_address address = { .length = sizeof(address.in6) };
    char text[COPY_ADDRESS_TEXT];
    int signal;

    SmbdListenerAddress(listener, &address.sa, address.length);
    copy_say("listening on %s", copy_address_text(&address.sa, text, sizeof(text)));
    sigwait(ending, &signal);
    SmbdCloseListener(listener);
}

int copy_listen(const struct copy_address *address, const SMBD_PARAMETERS *parameters,
    SMBD_ADAPTER **adapter, SMBD_SERVE *serve, void *context)
{
    const SMBD_SERVICE service = {
        .Serve = serve, .Refused = refused, .Context = context, .MaxConnections = MOST_CONNECTIONS
    };
    SMBD_LISTENER *listener;
    NTSTATUS status;
    sigset_t ending;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL); /* before other threads start */
    status = SmbdOpenAdapter(copy_interface_of(address), adapter);
    if (!NT_SUCCESS(status)) {
        failed(address, "no adapter", status);
        return COPY_NEXT_ADDRESS;
    }
    status = SmbdListen(*adapter, &address->sa, address->length, parameters, &service, &listener);
    if (NT_SUCCESS(status))
        run(listener, &ending);
    else
        failed(address, "cannot listen", status);
    SmbdCloseAdapter(*adapter);
    return NT_SUCCESS(status) ? 0 : COPY_NEXT_ADDRESS;
}
