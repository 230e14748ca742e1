/* SPDX-License-Identifier: MIT */
/* serve_server.c - the server: it listens, and has a session for each connection, in a thread of the library's. */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 32, NEXT_ADDRESS = -1 };

/* ---- sessions ---- */

static void say_end(const struct session *session)
{
    const char *reason;
    NTSTATUS status = SmbdFailure(session->connection, &reason);
    char text[64], what[256];

    if (NT_SUCCESS(status) || status == STATUS_CONNECTION_DISCONNECTED)
        return;
    snprintf(what, sizeof(what), "%s: %s", reason, copy_status_text(status, text, sizeof(text)));
    serve_session_say(session, what);
}

static VOID serve_connection(PVOID context, SMBD_CONNECTION *connection)
{
    struct session *session = calloc(1, sizeof(*session));
    struct copy_address peer = { .length = sizeof(peer.in6) };
    ULONG most = SmbdAgreed(connection)->MaxReadWriteSize;

    if (session)
        session->output = malloc(SERVE_MOST);
    if (!session || !session->output) {
        copy_say("no memory for a session");
        free(session);
        return;
    }
    session->server = context;
    session->connection = connection;
    session->credits = 1;
    session->most = most < SERVE_MOST ? most : SERVE_MOST;
    if (NT_SUCCESS(SmbdPeerAddress(connection, &peer.sa, peer.length)))
        copy_address_text(&peer.sa, session->peer, sizeof(session->peer));
    serve_session(session);
    say_end(session);
    free(session->output);
    free(session);
}

static VOID refused(PVOID context, const SOCKADDR *peer, NTSTATUS status, const char *reason)
{
    char address[COPY_ADDRESS_TEXT], text[64];

    (void)context;
    copy_say("%s: not served: %s: %s", copy_address_text(peer, address, sizeof(address)), reason,
        copy_status_text(status, text, sizeof(text)));
}

/* ---- the program ---- */

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

static int listen_and_run(struct server *server, const sigset_t *ending)
{
    const struct copy_address *address = &server->options->address;
    const SMBD_SERVICE service = { .Serve = serve_connection,
        .Refused = refused,
        .Context = server,
        .MaxConnections = MOST_CONNECTIONS };
    SMBD_PARAMETERS parameters;
    SMBD_LISTENER *listener;
    NTSTATUS status;

    SmbdDefaultParameters(&parameters);
    parameters.Buffers = SERVE_BUFFERS;
    parameters.CreditMs = parameters.ResponseMs = parameters.RequestMs = 60000; /* as smbdcopy */
    status = SmbdListen(
        server->adapter, &address->sa, address->length, &parameters, &service, &listener);
    if (NT_SUCCESS(status))
        run(listener, ending);
    else
        failed(address, "cannot listen", status);
    return NT_SUCCESS(status) ? 0 : NEXT_ADDRESS;
}

/* Many files may be open; one that would become too large fails, and does not end the program. */
static void lift_limits(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    signal(SIGXFSZ, SIG_IGN);
}

static bool prepare(struct server *server)
{
    if (gethostname(server->host, sizeof(server->host) - 1) ||
        !serve_random(server->guid, sizeof(server->guid)) ||
        !serve_random(&server->volume, sizeof(server->volume))) {
        copy_say("no name of this host, or no random numbers: %s", strerror(errno));
        return false;
    }
    server->directory = open(server->options->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (server->directory >= 0)
        return true;
    copy_say("%s: %s", server->options->directory, strerror(errno));
    return false;
}

int serve(const struct serve_options *options)
{
    struct server server = { .options = options };
    int result = NEXT_ADDRESS;
    NTSTATUS status;
    sigset_t ending;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL); /* before other threads start */
    lift_limits();
    if (!prepare(&server))
        return 1;
    status = SmbdOpenAdapter(copy_interface_of(&options->address), &server.adapter);
    if (NT_SUCCESS(status)) {
        result = listen_and_run(&server, &ending);
        SmbdCloseAdapter(server.adapter);
    } else {
        failed(&options->address, "no adapter", status);
    }
    close(server.directory);
    return result;
}
