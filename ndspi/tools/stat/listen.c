/* SPDX-License-Identifier: MIT */
/* listen.c - a server that Prometheus scrapes, by libmicrohttpd; without that library the option says so. */
#include "ndspi/tools/stat/forms.h"

#ifdef NDSTAT_HTTP

#include <microhttpd.h>

#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static enum MHD_Result answer(
    struct MHD_Connection *connection, unsigned status, char *text, size_t octets, const char *type)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(octets, text, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (!response) {
        free(text);
        return MHD_NO;
    }
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    char *copy = strdup(text);

    return copy ? answer(connection, status, copy, strlen(copy), "text/plain") : MHD_NO;
}

static enum MHD_Result answer_metrics(
    const struct stat_server *server, struct MHD_Connection *connection)
{
    struct stat_snapshot snapshot = { .wanted = server->wanted, .n_wanted = server->n_wanted };
    HRESULT status = stat_take(&snapshot, server->wait_ms);
    char *text = NULL;
    size_t octets = 0;
    FILE *out = FAILED(status) ? NULL : open_memstream(&text, &octets);
    bool written = false;

    if (out) {
        stat_prometheus(out, &snapshot, server->sysfs);
        written = !ferror(out);
        written = !fclose(out) && written;
    }
    stat_free(&snapshot);
    if (written)
        return answer(
            connection, MHD_HTTP_OK, text, octets, "text/plain; version=0.0.4; charset=utf-8");
    free(text);
    return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "the counters cannot be read\n");
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *data, size_t *data_octets, void **request)
{
    (void)version, (void)data, (void)request;
    if (*data_octets) { /* a body, which is dropped */
        *data_octets = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET alone\n");
    if (strcmp(url, "/metrics") != 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "/metrics has the counters\n");
    return answer_metrics(context, connection);
}

/* "ADDRESS:PORT", "[ADDRESS]:PORT"; *port also as a number. NULL with *wrong. */
static struct addrinfo *parse(const char *where, unsigned *port, const char **wrong)
{
    const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM };
    const char *colon = strrchr(where, ':');
    struct addrinfo *found = NULL;
    char host[128];
    size_t octets = colon ? (size_t)(colon - where) : 0;

    *wrong = "ADDRESS:PORT is wanted, or [ADDRESS]:PORT";
    if (!octets || octets >= sizeof(host) || !colon[1])
        return NULL;
    if (where[0] == '[' && where[octets - 1] == ']') {
        where++;
        octets -= 2;
    } else if (memchr(where, ':', octets)) {
        return NULL;
    }
    memcpy(host, where, octets);
    host[octets] = 0;
    if (getaddrinfo(host, colon + 1, &hints, &found))
        return NULL;
    *port = (unsigned)strtoul(colon + 1, NULL, 10);
    return found;
}

/* The daemon, with as little as a scrape needs: few connections, and none for long. */
static struct MHD_Daemon *start(const struct addrinfo *at, const struct stat_server *server)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;

    if (at->ai_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, (void *)(uintptr_t)server,
        MHD_OPTION_SOCK_ADDR, at->ai_addr, MHD_OPTION_CONNECTION_LIMIT, 16u,
        MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384,
        MHD_OPTION_END);
}

static unsigned port_of(struct MHD_Daemon *daemon, unsigned asked)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info ? info->port : asked;
}

int stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong)
{
    struct MHD_Daemon *daemon;
    struct addrinfo *at;
    char text[128] = "";
    unsigned port;
    sigset_t ends;
    int number;

    if (!(at = parse(where, &port, wrong)))
        return 1;
    /* Before the daemon's thread begins, so that it does not take the signals either. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    daemon = start(at, server);
    getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(at);
    if (!daemon) {
        *wrong = "cannot listen there";
        return 1;
    }
    ready(text, port_of(daemon, port));
    sigwait(&ends, &number);
    MHD_stop_daemon(daemon);
    return 0;
}

#else

int stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong)
{
    (void)where, (void)server, (void)ready;
    *wrong = "this ndstat was built without libmicrohttpd";
    return 1;
}

#endif
