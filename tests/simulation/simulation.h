/* SPDX-License-Identifier: MIT */
/*
 * simulation.h - two hosts on a simulated kernel: softrdma as it is, but what lies below it is this folder's.
 *
 *   simulate.c   the program: options, seeds, one schedule after the other
 *   schedule.c   one schedule: which thread runs next, what the network does, when time passes; its three parts
 *   host.c       the hosts, and what each schedule makes on them
 *   program.c    what the programs at the two ends do, drawn at random
 *   draw.c       the requests that they post
 *   meet.c       how an end comes to its stream: at once, or from TCP to shared memory
 *   model.c      what may come of each request: the checks
 *   quiet.c      what must have come of all of them when nothing moves
 *   wire.c       every octet that is sent, held against the RFCs
 *   share.c      shared memory, and the bells by which its ends wake each other
 *   steps.h      in the files of softrdma that do so: where threads change
 *   kernel.c     sockets, the clock, futexes, random numbers: system calls that the linker leads here (--wrap)
 *   reactor.c    in place of reactor/: which source is ready, who drives
 *   threads.c    the hosts' threads as coroutines: one runs at a time, and changes at known places alone
 *
 * Everything that happens follows from the schedule's seed, so a seed that fails does so again.
 */
#ifndef TESTS_SIMULATION_SIMULATION_H
#define TESTS_SIMULATION_SIMULATION_H

#include "softrdma/connection/conn.h"
#include "softrdma/queues/qp.h"

#include <setjmp.h>
#include <stdio.h>

enum { HOSTS = 2, LINKS = 2, REQUESTS = 64, RECEIVES = 96, PLACES = 512, PAGES = 72 };
enum { MEMORY_OCTETS = 6 << 20, PATTERN_OCTETS = 1 << 20, GUARD_OCTETS = 16, UNTOUCHED = 0xee };

/* --- random numbers (splitmix64) -------------------------------------------------------------- */

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* --- threads ---------------------------------------------------------------------------------- */

enum thread_state {
    THREAD_DONE,
    THREAD_READY,
    THREAD_SLEEPS, /* in reactor_wait */
    THREAD_BLOCKS, /* at a futex */
};

struct thread {
    int host;
    bool background;
    void (*body)(struct thread *thread);
    enum thread_state state;
    bool inside;       /* in a call of the product: not at a border between two of the program's */
    bool in_turn;      /* runs callbacks of the reactor */
    bool signalled;    /* reactor_signal */
    bool sent_home;    /* its wait ends now */
    const void *futex; /* where it blocks */
    unsigned put_off;  /* it has no processor for so many turns */
    uint64_t vain_turns; /* of the background thread */
    jmp_buf place;
    void *fake_stack;
    char *stack;
    const struct lock *held[24]; /* debug builds */
    int n_held;
};

enum { THREADS = HOSTS * 3 }; /* of each host: two of the program's, the background thread */

extern struct thread *current;

/* Runs it until it yields. */
void thread_run(struct thread *thread);
/* Back to the schedule, until that runs it again. */
void thread_yield(void);
/* Perhaps: here another thread may run. */
void thread_may_change(void);
void threads_make(struct thread *threads);

/* --- the network ------------------------------------------------------------------------------ */

enum { BUFFER_OCTETS = 1 << 18 };

struct buffer {
    uint32_t head, tail; /* counts */
    uint8_t octets[BUFFER_OCTETS];
};

/* What one end of a connection sends the other. */
struct direction {
    struct buffer out, in; /* in the sender's kernel, in the receiver's */
    bool fin_sent, fin_arrived;
    bool reset_sent; /* behind what is out */
};

struct end_socket {
    bool open, shut, linger_zero;
    int error;  /* to be reported by the next call */
    bool dead;  /* it was */
    bool noted; /* by the network, after a cut */
};

/* The Unix socket by which the peer rings. */
struct bell {
    bool open, peer_closed;
    bool reset;             /* the peer had not answered when it closed its own */
    unsigned coming, there; /* octets: rung; and to be answered */
};

struct monitor {
    uint8_t header[64], trailer[4]; /* of the FPDU that is under way */
    uint32_t total, at, crc;
    uint64_t fpdus, messages, acknowledged, read_requests, responses;
    uint32_t send_msn, send_mo, read_msn; /* due */
    uint32_t read_octets[REQUESTS], read_got;
    bool terminated;
    int fault; /* of the Terminate */
};

/* --- requests --------------------------------------------------------------------------------- */

enum request_kind { KIND_SEND, KIND_WRITE, KIND_READ, KIND_BIND, KIND_INVALIDATE };

/* A memory window, or a fast region: a Bind is its registration then, and its key stays. */
struct window {
    struct ibv_mw *mw;
    struct ibv_mr *fast;
    uint32_t key;    /* when bound, or last bound */
    uint64_t base;   /* of its first octet, for peers */
    uint8_t *memory; /* the same for its owner; fast: NULL */
    uint64_t pages[PAGES];
    uint32_t n_pages, offset; /* in the first */
    uint32_t octets;          /* the first half holds the pattern's beginning */
    uint32_t used;            /* of the second half, by Writes and Reads */
    bool bound;               /* its Bind is complete */
    bool revoking;            /* a thread has */
    unsigned invalidating;    /* Invalidates of its owner's that are not complete */
    bool pending;             /* its Bind is not complete */
    unsigned generation;
};

struct request {
    uint8_t kind;
    bool signaled, solicited, refused; /* refused: it was not queued */
    bool complete;
    enum ibv_wc_status status;
    enum ibv_wc_status local_error;  /* it fails so here; 0: it does not */
    enum ibv_wc_status remote_error; /* the peer refuses it so */
    uint32_t vendor_err;
    uint32_t octets;
    uint32_t message;      /* Sends: the count of those before */
    uint32_t pattern;      /* where its octets come from */
    uint8_t *place;        /* where they go */
    struct window *window; /* it goes through this, or is about it */
    struct window *here;   /* its own list of entries is of this fast region */
    struct window *into;   /* its octets go there, to this octet, and to no place */
    uint32_t into_at;
    unsigned generation;
    uint32_t invalidates;
    bool has_invalidate;
    bool fenced;
    bool maybe;      /* whether it is refused depends on the order of what both ends do */
    bool maybe_here; /* whether it fails here does */
};

struct receive {
    uint8_t *place;
    uint32_t octets;
    bool bad; /* its key is none */
    bool complete;
    enum ibv_wc_status status;
};

/* Why a connection may end. */
enum cause {
    CAUSE_CUT = 1 << 0,
    CAUSE_ENDED = 1 << 1,       /* disconnected, aborted, destroyed */
    CAUSE_BAD_REQUEST = 1 << 2, /* refused by the peer */
    CAUSE_LOCAL = 1 << 3,       /* a request or Receive that fails at its own end */
    CAUSE_NOT_READY = 1 << 4,   /* no Receive for long */
    CAUSE_MAYBE = 1 << 5,       /* a window that goes while the peer uses it */
};

struct end {
    int host, link;
    struct ibv_qp *qp;
    uint32_t qp_num;
    struct srd_conn *conn;
    struct lock owner_lock;
    bool begun, attached;
    bool ended, gone; /* by its program; the queue pair is destroyed */
    unsigned established, downs, frees;

    struct request requests[REQUESTS];
    unsigned posted, completed; /* completed: the next that is due, or behind */
    unsigned accepted, retired; /* without those that were not queued */
    unsigned sends;             /* posted */
    uint32_t message[REQUESTS]; /* their requests */
    struct receive receives[RECEIVES];
    unsigned receives_posted, receives_done, delivered;
    bool failed, receive_failed;
    bool read_gone; /* a Read that came too late for its source was flushed: it had no answer */
    unsigned causes, n_causes; /* of this end */
    uint64_t ready_ns;         /* a Receive was posted last */
    struct window window;
    struct monitor monitor; /* of what it sends */
    struct end_socket socket;
    bool killed; /* its process: what it does from then on, nobody else sees */

    /* where it shares memory */
    struct srd_share *share;
    struct bell bell;
    uint32_t reply_octets, by_tcp; /* of its Reply, and sent so */
    bool met;                      /* the active one has that */
    uint64_t published;            /* octets, as the monitor has seen them */
    enum ibv_event_type event;     /* the first; IBV_EVENT_CQ_ERR: none */
    unsigned events;
};

struct place {
    uint8_t *at;
    uint32_t octets;
};

struct host {
    struct ibv_context *context;
    struct ibv_pd *pd, *other_pd;
    uint8_t *memory;
    uint32_t used;
    struct place places[PLACES];
    unsigned n_places;
    struct ibv_mr *all, *pattern, *write_only, *other; /* other: of the other domain */
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq[2];
    unsigned n_cqs;
    struct ibv_srq *srq;
    unsigned srq_posted;
    bool limited; /* the shared queue's limit is armed */
    struct receive srq_receives[RECEIVES];
    struct end ends[LINKS];
    unsigned calls_left;
    bool stopped;
    bool armed, solicited_only; /* a thread sleeps, or is about to */
};

/* What a schedule is like. */
struct settings {
    unsigned links;
    bool soft, crc, windows, wants_events, moderates, second_thread;
    bool starves; /* few Receives are posted in time */
    bool speaks_first;
    uint8_t rtr;
    uint16_t reads[HOSTS];  /* it serves */
    uint16_t issues[HOSTS]; /* it has in flight */
    uint32_t fpdu_octets[HOSTS];
    bool srq[HOSTS];
    bool fast[HOSTS]; /* its windows are fast regions */
    uint8_t rnr_retries[HOSTS];
    uint32_t message_octets; /* at most */
    uint32_t rdma_octets;
    uint32_t send_buffer, receive_buffer;
    unsigned depth, receive_depth;
    bool sig_all;
    unsigned bad;                 /* of 1000 requests */
    unsigned change;              /* of 1000 places where threads may change */
    unsigned cuts, ends;          /* of 10000 steps */
    unsigned partial, interrupts; /* of 1000 calls */
    unsigned weight_background, weight_network, weight_time, weight_program;
    bool long_times;
    bool shared[LINKS];
    unsigned steps, spurious; /* of 1000 steps, of 1000 turns */
    unsigned kills;           /* of 10000 steps */
    unsigned bell_octets;     /* that fit into its socket */
};

enum part { PART_MAIN, PART_DRAIN, PART_OVER };

struct simulation {
    uint64_t seed;
    struct random random, noise; /* noise: for the product */
    bool verbose, running;
    bool slow;    /* time has jumped while the programs ran */
    bool resting; /* it goes on until nothing moves: then nothing goes wrong by chance */
    uint64_t now_ns, begun_ns;
    uint64_t steps, activity;
    enum part part;
    struct settings set;
    struct host hosts[HOSTS];
    struct direction ways[LINKS][HOSTS]; /* by the sender */
    bool cut[LINKS];
    struct thread threads[THREADS];
    uint64_t fpdus, requests, receives, switches, shared, bells, kills; /* of all schedules */
};

extern struct simulation sim;
extern const uint8_t *pattern;

static inline uint32_t below(uint32_t n)
{
    return (uint32_t)((random_next(&sim.random) >> 32) * n >> 32);
}

static inline bool chance(uint32_t of_1000)
{
    return of_1000 && below(1000) < of_1000;
}

static inline struct end *peer_of(struct end *end)
{
    return &sim.hosts[!end->host].ends[end->link];
}

#define say(...)                                                                                   \
    do {                                                                                           \
        if (__builtin_expect(sim.verbose, 0))                                                      \
            say_(__VA_ARGS__);                                                                     \
    } while (0)
void say_(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            fail(__VA_ARGS__);                                                                     \
    } while (0)

/* kernel.c */
enum { FIRST_FD = 1 << 20, FIRST_BELL = FIRST_FD + HOSTS * LINKS };
static inline int fd_of(const struct end *end)
{
    return FIRST_FD + end->link * HOSTS + end->host;
}
static inline int bell_of(const struct end *end)
{
    return FIRST_BELL + end->link * HOSTS + end->host;
}
static inline bool is_bell(int fd)
{
    return fd >= FIRST_BELL;
}
/* Also of its bell. */
struct end *end_of_fd(int fd);
uint32_t socket_events(const struct end *end);
/* Moves octets, a FIN or a reset of one direction; returns whether there was something. */
bool network_moves(struct end *from, uint32_t most);
void network_cuts(int link);
/* The processes of a host's ends are killed: its kernel closes what they had open. */
void network_kills(int host);
/* After a cut: this end learns of it. Returns whether it did not know. */
bool network_tells(struct end *end);
static inline uint32_t buffered(const struct buffer *buffer)
{
    return buffer->head - buffer->tail;
}
void kernel_reset(void);

/* reactor.c */
/* One turn of the calling thread. Returns whether anything was ready or due. */
bool reactor_turns(int host, bool background);
bool reactor_has_work(int host); /* something is ready or due */
bool host_sleeps(int host);      /* a thread of the program's waits, and drives */
uint64_t reactor_next_ns(void);
void reactor_check_empty(void);

/* wire.c */
void wire_sees(struct end *from, const uint8_t *octets, uint32_t count);
void wire_ends(struct end *from, bool reset);

/* share.c */
void share_make(int link);
/* What no connection has taken. */
void share_drop(struct end *end);
/* The end was killed: what it stores from now on is in a copy of its own. */
void share_leaves(struct end *end);
void share_quiet(struct end *end);
/* Bells that were rung come. Returns whether there was one. */
bool bell_moves(struct end *to, bool all);
uint32_t bell_events(const struct end *end);
/* Its system calls: as send, recv and close. */
ssize_t bell_rings(struct end *from);
ssize_t bell_answers(struct end *end, size_t size);
int bell_closes(struct end *end);

/* meet.c */
/* The program goes on with an end that has no stream yet. */
void meet(struct end *end);
/* Its socket is ready, or it was rung. */
void meet_ready(struct end *end);

/* host.c */
enum { INLINE_OCTETS = 200 }; /* of a request */
void host_make(int host);
void schedule_open(void);
void schedule_close(void);
/* Of an end that has begun, once. */
void attach(struct end *end);
/* Octets of the host's own, with a guard behind them; NULL: there are none left. */
uint8_t *place_for(struct host *host, uint32_t octets);
/* Where an octet of a window is; how many of those wanted are there in one piece. */
uint8_t *window_at(const struct window *window, uint32_t at, uint32_t *octets);

/* program.c */
void program_main(struct thread *thread);
void program_second(struct thread *thread);
void end_connection(struct end *end, unsigned how);

/* model.c */
/* Whether a Send of the peer's that takes the window of this end away is still to come. */
bool is_being_revoked(struct end *end);
void note_cause(struct end *end, enum cause cause);
void note_time(void);
void model_posts(struct end *end, struct request *request);
/* It was not queued. */
void model_unposts(struct end *end, struct request *request);
void model_sees_event(struct end *end, enum ibv_event_type type);
void model_sees_limit(struct host *host);
void model_sees(struct host *host, const struct ibv_wc *wc, bool of_receives);
unsigned causes_of(struct end *end);
bool only_cause(struct end *end);
/* What a request fails with where nothing else is wrong; SUCCESS: it does not. */
enum ibv_wc_status error_of(const struct request *request);

/* quiet.c */
/* No program does anything, and the network has nothing: what must have happened by now. */
void model_quiet(void);
/* Everything has been done that can be. */
void model_drained(void);
void model_over(void);

/* schedule.c */
void schedule_run(void);

#endif
