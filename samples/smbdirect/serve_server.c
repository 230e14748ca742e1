/* SPDX-License-Identifier: MIT */
/* serve_server.c - the server: what it serves, and a session for each connection, in a thread of the library's. */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* ---- the program ---- */

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
    SMBD_PARAMETERS parameters;
    int result;

    lift_limits();
    if (!prepare(&server))
        return 1;
    SmbdDefaultParameters(&parameters);
    parameters.Buffers = SERVE_BUFFERS;
    parameters.CreditMs = parameters.ResponseMs = parameters.RequestMs = 60000; /* as smbdcopy */
    result =
        copy_listen(&options->address, &parameters, &server.adapter, serve_connection, &server);
    close(server.directory);
    return result;
}
