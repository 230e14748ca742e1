/* SPDX-License-Identifier: MIT */
/*
 * verbs_peer.c - the other end of a connection, by libibverbs and librdmacm alone: it knows nothing of NetworkDirect.
 *
 * Commands come on standard input, one a line; each is answered by one line: "ok ..." or "error ...". Waits end after
 * PATIENCE_MS with an error; anything that only a broken set-up explains ends the program. Numbers are decimal, but
 * addresses and tokens (0x...); octets are hex digits, "-" for none. A token is the key in network order, read as a
 * number.
 *
 *   listen ADDRESS                          ok PORT
 *   request                                 ok RESPONDER INITIATOR OCTETS     the next connection request
 *   accept RESPONDER INITIATOR OCTETS       ok | rejected OCTETS              established, or not after all
 *   reject OCTETS                           ok
 *   connect FROM TO PORT RESPONDER INITIATOR OCTETS
 *                                           ok RESPONDER INITIATOR OCTETS | rejected OCTETS
 *   memory                                  ok ADDRESS TOKEN                  of the one buffer
 *   put OFFSET OCTETS                       ok
 *   get OFFSET LENGTH                       ok OCTETS
 *   receive OFFSET LENGTH                   ok                                posted
 *   send OFFSET LENGTH                      ok STATUS                         of ibv_wc_status
 *   solicit OFFSET LENGTH                   ok STATUS                         a Send with a solicited event
 *   invalidate OFFSET LENGTH TOKEN          ok STATUS                         a Send that invalidates
 *   write OFFSET LENGTH ADDRESS TOKEN       ok STATUS
 *   read OFFSET LENGTH ADDRESS TOKEN        ok STATUS
 *   reads COUNT OFFSET LENGTH ADDRESS TOKEN ok STATUS                         so many at once; the first failure's
 *   received                                ok STATUS LENGTH                  the next finished Receive
 *   arm                                     ok                                for the next solicited message
 *   event                                   ok                                that has come
 *   disconnect                              ok                                both sides have
 *   disconnected                            ok                                the peer has
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, BUFFER_OCTETS = 1 << 20, DEPTH = 64, PRIVATE_MAX = 256, WORDS_MAX = 8 };
enum { LINE_OCTETS = 2 * 65536 };

/* wr_id of Receives; that of everything else is its number. */
#define RECEIVE_ID UINT64_MAX

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *id;
static struct ibv_pd *pd;
static struct ibv_comp_channel *completions;
static struct ibv_cq *send_cq, *receive_cq;
static struct ibv_mr *mr;
static unsigned char *buffer;

struct octets {
    uint8_t at[PRIVATE_MAX];
    uint8_t count;
};

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "verbs_peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

__attribute__((format(printf, 1, 2))) static void answer(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void answer_errno(const char *what)
{
    answer("error %s: %s", what, strerror(errno));
}

/* ---- octets as text ---- */

static bool octets_parse(const char *text, struct octets *octets)
{
    octets->count = 0;
    if (!strcmp(text, "-"))
        return true;
    for (; text[0] && text[1]; text += 2)
        if (octets->count == PRIVATE_MAX - 1 ||
            sscanf(text, "%2hhx", &octets->at[octets->count++]) != 1)
            return false;
    return !*text;
}

static const char *octets_text(const void *data, size_t count)
{
    static char text[LINE_OCTETS];

    if (!count || count >= sizeof(text) / 2)
        return "-";
    for (size_t i = 0; i < count; i++)
        sprintf(text + 2 * i, "%02x", ((const uint8_t *)data)[i]);
    return text;
}

/* ---- connections ---- */

/* Waits until fd is readable. */
static bool await(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    return poll(&ready, 1, PATIENCE_MS) == 1;
}

/* The next event; the caller acknowledges it. NULL: none came. */
static struct rdma_cm_event *next_event(void)
{
    struct rdma_cm_event *event;

    if (!await(channel->fd)) {
        errno = ETIMEDOUT;
        return NULL;
    }
    if (rdma_get_cm_event(channel, &event))
        broken("rdma_get_cm_event");
    return event;
}

/* Takes the next event, which has to be this one; else the answer is given. */
static bool take(enum rdma_cm_event_type wanted)
{
    struct rdma_cm_event *event = next_event();
    enum rdma_cm_event_type got;
    int status;

    if (!event) {
        answer("error no event, %s expected", rdma_event_str(wanted));
        return false;
    }
    got = event->event;
    status = event->status;
    rdma_ack_cm_event(event);
    if (got != wanted)
        answer("error %s, status %d; %s expected", rdma_event_str(got), status,
            rdma_event_str(wanted));
    return got == wanted;
}

static void make_queues(void)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
    };

    if (!pd) {
        if (!(pd = ibv_alloc_pd(id->verbs)) ||
            !(completions = ibv_create_comp_channel(id->verbs)) ||
            !(send_cq = ibv_create_cq(id->verbs, DEPTH, NULL, completions, 0)) ||
            !(receive_cq = ibv_create_cq(id->verbs, DEPTH, NULL, completions, 0)))
            broken("queues");
        mr = ibv_reg_mr(pd, buffer, BUFFER_OCTETS,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
        if (!mr)
            broken("ibv_reg_mr");
    }
    attr.send_cq = send_cq;
    attr.recv_cq = receive_cq;
    if (rdma_create_qp(id, pd, &attr))
        broken("rdma_create_qp");
}

static struct rdma_conn_param parameters(char **words, struct octets *octets)
{
    return (struct rdma_conn_param){
        .responder_resources = (uint8_t)atoi(words[0]),
        .initiator_depth = (uint8_t)atoi(words[1]),
        .private_data = octets->at,
        .private_data_len = octets->count,
        .retry_count = 6,
        .rnr_retry_count = 6,
    };
}

static void do_listen(char **words)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    if (inet_pton(AF_INET, words[1], &address.sin_addr) != 1 ||
        rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
        broken("listen");
    if (rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 4))
        answer_errno("listen");
    else
        answer("ok %u", ntohs(rdma_get_src_port(listener)));
}

static void do_request(char **words)
{
    struct rdma_cm_event *event = next_event();
    const struct rdma_conn_param *param;

    (void)words;
    if (!event || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        answer("error %s instead of a request", event ? rdma_event_str(event->event) : "nothing");
        if (event)
            rdma_ack_cm_event(event);
        return;
    }
    id = event->id;
    param = &event->param.conn;
    make_queues();
    answer("ok %u %u %s", param->responder_resources, param->initiator_depth,
        octets_text(param->private_data, param->private_data_len));
    rdma_ack_cm_event(event);
}

/* Answers for rdma_connect or rdma_accept. established: the answer on success; NULL: one with the event's data. */
static void answer_event(const char *established)
{
    struct rdma_cm_event *event = next_event();

    if (!event) {
        answer("error no answer");
        return;
    }
    const struct rdma_conn_param *param = &event->param.conn;
    const char *octets = octets_text(param->private_data, param->private_data_len);
    if (event->event == RDMA_CM_EVENT_ESTABLISHED && established)
        answer("%s", established);
    else if (event->event == RDMA_CM_EVENT_ESTABLISHED)
        answer("ok %u %u %s", param->responder_resources, param->initiator_depth, octets);
    else if (event->event == RDMA_CM_EVENT_REJECTED)
        answer("rejected %s", octets);
    else
        answer("error %s, status %d", rdma_event_str(event->event), event->status);
    rdma_ack_cm_event(event);
}

static void do_accept(char **words)
{
    struct octets octets;

    if (!octets_parse(words[3], &octets))
        broken("octets");
    struct rdma_conn_param param = parameters(words + 1, &octets);
    if (rdma_accept(id, &param))
        answer_errno("accept");
    else
        answer_event("ok");
}

static void do_reject(char **words)
{
    struct octets octets;

    if (!octets_parse(words[1], &octets))
        broken("octets");
    if (rdma_reject(id, octets.at, octets.count))
        answer_errno("reject");
    else
        answer("ok");
}

static bool resolve(char **words)
{
    struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET };

    to.sin_port = htons((uint16_t)atoi(words[3]));
    if (inet_pton(AF_INET, words[1], &from.sin_addr) != 1 ||
        inet_pton(AF_INET, words[2], &to.sin_addr) != 1 ||
        rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
        broken("connect");
    if (rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, PATIENCE_MS)) {
        answer_errno("resolve_addr");
        return false;
    }
    if (!take(RDMA_CM_EVENT_ADDR_RESOLVED))
        return false;
    if (rdma_resolve_route(id, PATIENCE_MS)) {
        answer_errno("resolve_route");
        return false;
    }
    return take(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void do_connect(char **words)
{
    struct octets octets;

    if (!octets_parse(words[6], &octets))
        broken("octets");
    struct rdma_conn_param param = parameters(words + 4, &octets);
    if (!resolve(words))
        return;
    make_queues();
    if (rdma_connect(id, &param)) {
        answer_errno("connect");
        return;
    }
    answer_event(NULL);
}

static void do_disconnect(char **words)
{
    (void)words;
    if (rdma_disconnect(id))
        answer_errno("disconnect");
    else if (take(RDMA_CM_EVENT_DISCONNECTED))
        answer("ok");
}

static void do_disconnected(char **words)
{
    (void)words;
    if (take(RDMA_CM_EVENT_DISCONNECTED)) {
        rdma_disconnect(id); /* the answer; its failure would say that it was given */
        answer("ok");
    }
}

/* ---- requests ---- */

/* The next completion of a queue; false: none came. Events of both queues share a channel. */
static bool next_completion(struct ibv_cq *cq, struct ibv_wc *wc)
{
    bool armed = false;

    for (;;) {
        struct ibv_cq *fired;
        void *context;
        int count = ibv_poll_cq(cq, 1, wc);

        if (count < 0)
            broken("ibv_poll_cq");
        if (count)
            return true;
        if (!armed) {
            if (ibv_req_notify_cq(cq, 0))
                broken("ibv_req_notify_cq");
            armed = true;
            continue;
        }
        if (!await(completions->fd))
            return false;
        if (ibv_get_cq_event(completions, &fired, &context))
            broken("ibv_get_cq_event");
        ibv_ack_cq_events(fired, 1);
        if (fired == cq)
            armed = false;
    }
}

static struct ibv_sge part(const char *offset, const char *length)
{
    size_t begin = strtoul(offset, NULL, 0), octets = strtoul(length, NULL, 0);

    if (begin + octets > BUFFER_OCTETS)
        broken("beyond the buffer");
    return (struct ibv_sge){
        .addr = (uintptr_t)(buffer + begin), .length = (uint32_t)octets, .lkey = mr->lkey
    };
}

static uint32_t key_of(const char *token)
{
    return be32toh((uint32_t)strtoul(token, NULL, 0));
}

/* Posts a request count times, and waits for all. */
static void request(struct ibv_send_wr *wr, struct ibv_sge *sge, int count)
{
    enum ibv_wc_status status = IBV_WC_SUCCESS;
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    wr->sg_list = sge;
    wr->num_sge = 1;
    wr->send_flags |= IBV_SEND_SIGNALED;
    for (int i = 0; i < count; i++) {
        int error = ibv_post_send(id->qp, wr, &bad);
        if (error) {
            answer("error post: %s", strerror(abs(error)));
            return;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!next_completion(send_cq, &wc)) {
            answer("error no completion");
            return;
        }
        if (status == IBV_WC_SUCCESS)
            status = wc.status;
    }
    answer("ok %d", status);
}

static void do_send(char **words)
{
    struct ibv_sge sge = part(words[1], words[2]);
    struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

    request(&wr, &sge, 1);
}

static void do_solicit(char **words)
{
    struct ibv_sge sge = part(words[1], words[2]);
    struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SOLICITED };

    request(&wr, &sge, 1);
}

static void do_arm(char **words)
{
    (void)words;
    if (ibv_req_notify_cq(receive_cq, 1))
        broken("ibv_req_notify_cq");
    answer("ok");
}

static void do_event(char **words)
{
    struct ibv_cq *fired;
    void *context;

    (void)words;
    if (!await(completions->fd)) {
        answer("error no event");
        return;
    }
    if (ibv_get_cq_event(completions, &fired, &context))
        broken("ibv_get_cq_event");
    ibv_ack_cq_events(fired, 1);
    answer(fired == receive_cq ? "ok" : "error of another queue");
}

static void do_invalidate(char **words)
{
    struct ibv_sge sge = part(words[1], words[2]);
    struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV };

    wr.wr.rdma.rkey = key_of(words[3]); /* where siw looks for it */
    wr.invalidate_rkey = key_of(words[3]);
    request(&wr, &sge, 1);
}

static void remote(enum ibv_wr_opcode opcode, char **words, int count)
{
    struct ibv_sge sge = part(words[1], words[2]);
    struct ibv_send_wr wr = { .opcode = opcode };

    wr.wr.rdma.remote_addr = strtoull(words[3], NULL, 0);
    wr.wr.rdma.rkey = key_of(words[4]);
    request(&wr, &sge, count);
}

static void do_write(char **words)
{
    remote(IBV_WR_RDMA_WRITE, words, 1);
}

static void do_read(char **words)
{
    remote(IBV_WR_RDMA_READ, words, 1);
}

static void do_reads(char **words)
{
    remote(IBV_WR_RDMA_READ, words + 1, atoi(words[1]));
}

static void do_receive(char **words)
{
    struct ibv_sge sge = part(words[1], words[2]);
    struct ibv_recv_wr wr = { .wr_id = RECEIVE_ID, .sg_list = &sge, .num_sge = 1 }, *bad;
    int error = ibv_post_recv(id->qp, &wr, &bad);

    if (error)
        answer("error post: %s", strerror(abs(error)));
    else
        answer("ok");
}

static void do_received(char **words)
{
    struct ibv_wc wc;

    (void)words;
    if (!next_completion(receive_cq, &wc))
        answer("error no message");
    else
        answer("ok %d %u", wc.status, wc.status == IBV_WC_SUCCESS ? wc.byte_len : 0);
}

/* ---- memory ---- */

static void do_memory(char **words)
{
    (void)words;
    answer("ok 0x%" PRIx64 " 0x%x", (uint64_t)(uintptr_t)buffer, htobe32(mr->rkey));
}

static void do_put(char **words)
{
    size_t offset = strtoul(words[1], NULL, 0), length = strlen(words[2]) / 2;

    if (offset + length > BUFFER_OCTETS)
        broken("beyond the buffer");
    for (size_t i = 0; i < length; i++)
        if (sscanf(words[2] + 2 * i, "%2hhx", &buffer[offset + i]) != 1)
            broken("octets");
    answer("ok");
}

static void do_get(char **words)
{
    size_t offset = strtoul(words[1], NULL, 0), length = strtoul(words[2], NULL, 0);

    if (offset + length > BUFFER_OCTETS)
        broken("beyond the buffer");
    answer("ok %s", octets_text(buffer + offset, length));
}

static const struct {
    const char *name;
    int words; /* the name included */
    void (*run)(char **words);
} commands[] = {
    { "listen", 2, do_listen },
    { "request", 1, do_request },
    { "accept", 4, do_accept },
    { "reject", 2, do_reject },
    { "connect", 7, do_connect },
    { "memory", 1, do_memory },
    { "put", 3, do_put },
    { "get", 3, do_get },
    { "receive", 3, do_receive },
    { "send", 3, do_send },
    { "solicit", 3, do_solicit },
    { "invalidate", 4, do_invalidate },
    { "write", 5, do_write },
    { "read", 5, do_read },
    { "reads", 6, do_reads },
    { "received", 1, do_received },
    { "arm", 1, do_arm },
    { "event", 1, do_event },
    { "disconnect", 1, do_disconnect },
    { "disconnected", 1, do_disconnected },
};

static void run(char *line)
{
    char *words[WORDS_MAX], *rest;
    int count = 0;

    for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    for (size_t i = 0; count && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(words[0], commands[i].name) && count == commands[i].words) {
            commands[i].run(words);
            return;
        }
    fprintf(stderr, "verbs_peer: no such command\n");
    exit(2);
}

/* Exit frees everything, as a kill does. */
int main(void)
{
    static char line[LINE_OCTETS];

    channel = rdma_create_event_channel();
    buffer = aligned_alloc(4096, BUFFER_OCTETS);
    if (!channel || !buffer)
        broken("rdma_create_event_channel");
    memset(buffer, 0, BUFFER_OCTETS);
    while (fgets(line, sizeof(line), stdin))
        run(line);
    return 0;
}
