/* SPDX-License-Identifier: MIT */
/* listen.c - a server that Prometheus scrapes, by libmicrohttpd; in a build without that library the option says so. */
#include "tools/stat/forms.h"

#ifdef NDSTAT_HTTP

#include <microhttpd.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Each connection carries one request: so the connection's deadline, which the client cannot extend, is the request's.
 */
enum { CLIENTS = 16, CONNECTIONS = 64, DEADLINE_MS = 10000, KEEP_MS = 1000 };

/* The number of descriptors that are no client's: the daemon's, and those with which the counters are read. */
enum { DESCRIPTORS = 8 };

struct client {
    int fd;
    uint64_t since_ms, number; /* number 0: no client */
    bool ended;                /* it is shut down, and the daemon has not closed it yet */
};

/* One thread, which runs the daemon, uses all of it. */
struct listening {
    const struct stat_server *server;
    struct MHD_Response *metrics; /* the answer for all clients, read at read_ms; NULL: none */
    uint64_t read_ms, numbers;
    unsigned connections; /* most connections, by the descriptors that may be open */
    unsigned kept;        /* most clients before the oldest has to make room */
    bool closed;          /* a connection was closed since the daemon ran last */
    struct client clients[CONNECTIONS];
};

static uint64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Makes a response of text, which is from malloc and becomes the response's. */
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

/* Asks the processes. NULL: they cannot be read, or memory is short. */
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

/* Answers with the metrics. However many clients ask, the processes are asked once in KEEP_MS. */
static enum MHD_Result answer_metrics(
    struct listening *listening, struct MHD_Connection *connection)
{
    if (listening->metrics && clock_ms() - listening->read_ms >= KEEP_MS) {
        MHD_destroy_response(listening->metrics); /* clients that still read it keep it */
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
    if (*data_octets) { /* drops the request's body */
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

/* Shuts the connection down; the daemon notices its end, and closes it. */
static void end_client(struct client *client)
{
    shutdown(client->fd, SHUT_RDWR);
    client->ended = true;
}

/*
 * Sets the most connections, by the number of descriptors, and the most clients, which are fewer, so that one more can
 * always be accepted: without a descriptor it would wait until another one ends.
 */
static void count_descriptors(struct listening *listening)
{
    struct rlimit limit;
    unsigned count = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        limit.rlim_cur = 0;
    for (rlim_t fd = 0; fd < limit.rlim_cur && count < CONNECTIONS + DESCRIPTORS; fd++)
        if (fcntl((int)fd, F_GETFD) < 0)
            count++;
    listening->connections = count > DESCRIPTORS + 2 ? count - DESCRIPTORS : 2;
    listening->kept = listening->connections / 2 < CLIENTS ? listening->connections / 2 : CLIENTS;
}

/* Disconnects the oldest if there are too many, so that clients that send or read nothing do not block others. */
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
    if (count > listening->kept)
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
        listening->closed = true;
        return;
    }
    for (size_t i = 0; i < CONNECTIONS && !client; i++)
        if (!listening->clients[i].number)
            client = &listening->clients[i];
    if (!client) /* impossible: the daemon has no more connections than clients has elements */
        return;
    *client = (struct client){
        .fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
        .since_ms = clock_ms(),
        .number = ++listening->numbers,
    };
    *own = client;
    make_room(listening);
}

/* Ends the clients whose time is up. Returns the ms until the next one's is up; -1: there is none. */
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

/* Whether text is a port. getaddrinfo takes "99999", "-1" and "+80", too. */
static bool is_port(const char *text)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);

    return *text >= '0' && *text <= '9' && !*end && port <= 65535;
}

/* Parses "ADDRESS:PORT" or "[ADDRESS]:PORT". Returns NULL with the reason in *wrong. */
static struct addrinfo *parse(const char *where, const char **wrong)
{
    const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM };
    const char *colon = strrchr(where, ':');
    struct addrinfo *found = NULL;
    char host[128];
    size_t octets = colon ? (size_t)(colon - where) : 0;

    *wrong = "ADDRESS:PORT is wanted, or [ADDRESS]:PORT, an IP address and a port from 0 to 65535";
    if (!octets || octets >= sizeof(host) || !is_port(colon + 1))
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
    return found;
}

/* Makes the listening socket, as the daemon would not say why it fails. Returns -1 with errno. */
static int listening_socket(const struct addrinfo *at)
{
    static const int on = 1;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

    if (fd < 0)
        return -1;
    if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
        (at->ai_family != AF_INET6 ||
            !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) &&
        !bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, CONNECTIONS))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Starts a daemon without a thread of its own: serve runs it. It closes the socket when it ends. */
static struct MHD_Daemon *start(int socket, struct listening *listening)
{
    return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, listening,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT, listening->connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_NOTIFY_CONNECTION, notice,
        listening, MHD_OPTION_END);
}

/* Calls ready with the address and port of the socket, as the system names them. */
static void tell_ready(int socket, void (*ready)(const char *address, unsigned port))
{
    struct sockaddr_storage at = { 0 };
    socklen_t octets = sizeof(at);
    char text[128] = "", port[8] = "";

    if (!getsockname(socket, (struct sockaddr *)&at, &octets))
        getnameinfo((struct sockaddr *)&at, octets, text, sizeof(text), port, sizeof(port),
            NI_NUMERICHOST | NI_NUMERICSERV);
    ready(text, (unsigned)strtoul(port, NULL, 10));
}

/* Serves until `ends` is readable. */
static void serve(struct MHD_Daemon *daemon, struct listening *listening, int ends)
{
    struct pollfd wait[] = {
        { .fd = ends, .events = POLLIN },
        { .fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN },
    };

    do {
        MHD_UNSIGNED_LONG_LONG own_ms;
        int next_ms;

        listening->closed = false;
        MHD_run(daemon);
        next_ms = check_deadlines(listening);
        if (MHD_get_timeout(daemon, &own_ms) == MHD_YES &&
            (next_ms < 0 || own_ms < (MHD_UNSIGNED_LONG_LONG)next_ms))
            next_ms = (int)own_ms;
        /* The daemon stops listening with too many connections; its next run begins again. */
        if (listening->closed)
            next_ms = 0;
        wait[0].revents = 0;
        (void)poll(wait, 2, next_ms);
    } while (!wait[0].revents);
}

/* Serves until SIGINT or SIGTERM, which can be read from `ends`. */
static bool listen_on(int socket, struct listening *listening, int ends,
    void (*ready)(const char *address, unsigned port))
{
    struct MHD_Daemon *daemon = start(socket, listening);

    if (!daemon) {
        close(socket);
        return false;
    }
    tell_ready(socket, ready);
    serve(daemon, listening, ends);
    MHD_stop_daemon(daemon);
    return true;
}

enum stat_end stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong)
{
    struct listening listening = { .server = server };
    struct addrinfo *at;
    sigset_t signals;
    bool listened;
    int ends, socket;

    if (!(at = parse(where, wrong)))
        return STAT_WRONG_ADDRESS;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    socket = listening_socket(at);
    ends = socket < 0 ? -1 : signalfd(-1, &signals, SFD_CLOEXEC);
    *wrong = ends < 0 ? strerror(errno) : "the HTTP server does not start (is ulimit -n too low?)";
    freeaddrinfo(at);
    if (ends < 0) {
        if (socket >= 0)
            close(socket);
        return STAT_NOT_LISTENING;
    }
    count_descriptors(&listening);
    listened = listen_on(socket, &listening, ends, ready);
    if (listening.metrics)
        MHD_destroy_response(listening.metrics);
    close(ends);
    return listened ? STAT_ENDED : STAT_NOT_LISTENING;
}

#else

enum stat_end stat_listen(const char *where, const struct stat_server *server,
    void (*ready)(const char *address, unsigned port), const char **wrong)
{
    (void)where, (void)server, (void)ready;
    *wrong = "this ndstat was built without libmicrohttpd";
    return STAT_NOT_LISTENING;
}

#endif
