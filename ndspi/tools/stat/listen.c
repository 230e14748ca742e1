/* SPDX-License-Identifier: MIT */
/* listen.c - a server that Prometheus scrapes, by libmicrohttpd; without that library the option says so. */
#include "ndspi/tools/stat/forms.h"

#ifdef NDSTAT_HTTP

#include <microhttpd.h>

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* One request for each connection: so its deadline, which nothing the client sends moves, is that of the connection. */
enum { CLIENTS = 16, CONNECTIONS = 64, DEADLINE_MS = 10000, KEEP_MS = 1000 };

struct client {
    int fd;
    uint64_t since_ms, number; /* number 0: no client */
    bool ended;                /* shut down; the daemon has not closed it yet */
};

/* All of it belongs to one thread, which runs the daemon. */
struct listening {
    const struct stat_server *server;
    struct MHD_Response *metrics; /* as read at read_ms, for all clients; NULL: none */
    uint64_t read_ms, numbers;
    struct client clients[CONNECTIONS];
};

static uint64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Takes the text, which is from malloc. */
static struct MHD_Response *make(char *text, size_t octets, const char *type)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(octets, text, MHD_RESPMEM_MUST_FREE);

    if (!response) {
        free(text);
        return NULL;
    }
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Connection", "close");
    return response;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    char *copy = strdup(text);
    struct MHD_Response *response = copy ? make(copy, strlen(copy), "text/plain") : NULL;
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Asks the processes. NULL: they, or memory, cannot be had. */
static struct MHD_Response *read_metrics(const struct stat_server *server)
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
        return make(text, octets, "text/plain; version=0.0.4; charset=utf-8");
    free(text);
    return NULL;
}

/* However many ask, the processes are asked once in KEEP_MS. */
static enum MHD_Result answer_metrics(
    struct listening *listening, struct MHD_Connection *connection)
{
    if (listening->metrics && clock_ms() - listening->read_ms >= KEEP_MS) {
        MHD_destroy_response(listening->metrics); /* those who still read it have it still */
        listening->metrics = NULL;
    }
    if (!listening->metrics) {
        listening->metrics = read_metrics(listening->server);
        listening->read_ms = clock_ms();
    }
    if (!listening->metrics)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "the counters cannot be read\n");
    return MHD_queue_response(connection, MHD_HTTP_OK, listening->metrics);
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

/* ---- clients ---- */

/* The daemon finds the connection at its end, and closes it. */
static void end_client(struct client *client)
{
    shutdown(client->fd, SHUT_RDWR);
    client->ended = true;
}

/* With more than CLIENTS the oldest goes, so that those who send nothing or read nothing keep out nobody. */
static void make_room(struct listening *listening)
{
    struct client *oldest = NULL;
    unsigned count = 0;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct client *client = &listening->clients[i];

        if (!client->number || client->ended)
            continue;
        count++;
        if (!oldest || client->number < oldest->number)
            oldest = client;
    }
    if (count > CLIENTS)
        end_client(oldest);
}

static void notice(void *context, struct MHD_Connection *connection, void **own,
    enum MHD_ConnectionNotificationCode code)
{
    struct listening *listening = context;
    struct client *client = *own;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (client)
            client->number = 0;
        return;
    }
    for (size_t i = 0; i < CONNECTIONS && !client; i++)
        if (!listening->clients[i].number)
            client = &listening->clients[i];
    if (!client) /* the daemon has no more connections than there are clients */
        return;
    *client = (struct client){
        .fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        .since_ms = clock_ms(),
        .number = ++listening->numbers,
    };
    *own = client;
    make_room(listening);
}

/* Ends the clients whose time is up. Returns for how many ms none's will be; -1: there is none. */
static int check_deadlines(struct listening *listening)
{
    uint64_t now_ms = clock_ms();
    int next = -1;

    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct client *client = &listening->clients[i];
        uint64_t age_ms = now_ms - client->since_ms;

        if (!client->number || client->ended)
            continue;
        if (age_ms >= DEADLINE_MS)
            end_client(client);
        else if (next < 0 || (uint64_t)next > DEADLINE_MS - age_ms)
            next = (int)(DEADLINE_MS - age_ms);
    }
    return next;
}

/* ---- the daemon ---- */

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

/* Without a thread of its own: serve runs it. */
static struct MHD_Daemon *start(const struct addrinfo *at, struct listening *listening)
{
    unsigned flags = MHD_USE_EPOLL;

    if (at->ai_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, listening, MHD_OPTION_SOCK_ADDR,
        at->ai_addr, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_NOTIFY_CONNECTION, notice,
        listening, MHD_OPTION_END);
}

static unsigned port_of(struct MHD_Daemon *daemon, unsigned asked)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info ? info->port : asked;
}

/* Until `ends` can be read. */
static void serve(struct MHD_Daemon *daemon, struct listening *listening, int ends)
{
    struct pollfd wait[] = {
        { .fd = ends, .events = POLLIN },
        { .fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN },
    };

    do {
        MHD_UNSIGNED_LONG_LONG own_ms;
        int next_ms;

        MHD_run(daemon);
        next_ms = check_deadlines(listening);
        if (MHD_get_timeout(daemon, &own_ms) == MHD_YES &&
            (next_ms < 0 || own_ms < (MHD_UNSIGNED_LONG_LONG)next_ms))
            next_ms = (int)own_ms;
        wait[0].revents = 0;
        (void)poll(wait, 2, next_ms);
    } while (!wait[0].revents);
}

int stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong)
{
    struct listening listening = { .server = server };
    struct MHD_Daemon *daemon;
    struct addrinfo *at;
    char text[128] = "";
    unsigned port;
    sigset_t signals;
    int ends;

    if (!(at = parse(where, &port, wrong)))
        return 1;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    ends = signalfd(-1, &signals, SFD_CLOEXEC);
    daemon = ends < 0 ? NULL : start(at, &listening);
    getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(at);
    if (daemon) {
        ready(text, port_of(daemon, port));
        serve(daemon, &listening, ends);
        MHD_stop_daemon(daemon);
    } else {
        *wrong = "cannot listen there";
    }
    if (listening.metrics)
        MHD_destroy_response(listening.metrics);
    if (ends >= 0)
        close(ends);
    return !daemon;
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
