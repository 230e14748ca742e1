/* SPDX-License-Identifier: MIT */
/* copy.h - what the parts of smbdcopy share. */
#ifndef COPY_H
#define COPY_H

#include "copy_host.h"
#include "copy_protocol.h"
#include "smbd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#include <xxhash.h>

/* ---- copy_file.c ---- */

/* Whether it is a plain file name, without a path. */
bool copy_name_allowed(const char *name, size_t length);

/* What copying a file failed of; error: a negative errno of this file's functions. */
const char *copy_error_text(int error);
/* A regular file to read. Returns a descriptor, size out; or a negative errno, -EBADF: it is none. */
int copy_open_source(int directory, const char *name, uint64_t *size);

/* A file that is being received: it gets its name when it is complete. */
struct copy_target {
    int directory, fd; /* fd: -1: none */
    char name[COPY_NAME_MOST + 1];
    char temporary[32]; /* its name meanwhile; "": it has none */
};

/* These return 0 or a negative errno. */
int copy_target_open(struct copy_target *target, int directory, const char *name);
/* Gives the file its name, replacing any file that had it, and closes it. */
int copy_target_keep(struct copy_target *target);
/* Removes the incomplete file. */
void copy_target_drop(struct copy_target *target);

/* All bytes; 0, a negative errno, or -ENODATA: the file is shorter. */
int copy_read(int fd, void *data, size_t size, uint64_t offset);
int copy_write(int fd, const void *data, size_t size, uint64_t offset);

/* Of the bytes so far. */
struct copy_sum {
    XXH3_state_t *state;
    uint64_t size;
};

bool copy_sum_init(struct copy_sum *sum);
void copy_sum_reset(struct copy_sum *sum);
void copy_sum_add(struct copy_sum *sum, const void *data, size_t size);
void copy_sum_end(const struct copy_sum *sum, uint8_t checksum[COPY_CHECKSUM]);
void copy_sum_free(struct copy_sum *sum);
/* In hexadecimal digits. Returns text. */
const char *copy_sum_text(const uint8_t checksum[COPY_CHECKSUM], char text[2 * COPY_CHECKSUM + 1]);

/* ---- copy_worker.c: a thread that reads, writes and hashes, so that the connection's thread does not ---- */

struct copy_worker;

enum copy_way { COPY_FROM_FILE, COPY_TO_FILE };

/* A piece of the file. */
struct copy_job {
    void *data;
    uint32_t length;
    uint64_t offset;
    /* The worker's: */
    struct copy_job *next;
    int error;
    bool ended;
};

/* One thread has a worker and calls the functions below. NULL: no memory, or no thread. */
struct copy_worker *copy_worker_start(void);
/* As copy_worker_drop; then the thread has ended. */
void copy_worker_stop(struct copy_worker *worker);
/* A new file, with a new checksum. There are no jobs. */
void copy_worker_begin(struct copy_worker *worker, int fd, enum copy_way way);
/* The job and its data are the worker's until it has ended. Jobs follow each other in the file. */
void copy_worker_give(struct copy_worker *worker, struct copy_job *job);
bool copy_worker_has_ended(struct copy_worker *worker, const struct copy_job *job);
/* Waits until it has. Returns 0, or the error (copy_error_text) of the first job that failed. */
int copy_worker_await(struct copy_worker *worker, const struct copy_job *job);
/* Jobs that have not begun are not done; returns when there is none. */
void copy_worker_drop(struct copy_worker *worker);
/* Of all jobs of the file. There is none left. */
void copy_worker_sum(struct copy_worker *worker, uint8_t checksum[COPY_CHECKSUM]);

/* ---- copy_progress.c ---- */

/* One file on its way: a line that changes where standard error is a terminal; a line that stays at the end. */
struct copy_progress {
    const char *name;
    uint64_t size, done;
    bool shown, quiet;
    struct timespec began, showed;
};

void copy_progress_begin(
    struct copy_progress *progress, const char *name, uint64_t size, bool quiet);
void copy_progress_add(struct copy_progress *progress, uint64_t bytes);
/* way in: "sent", "fetched" */
void copy_progress_end(
    struct copy_progress *progress, const char *way, const uint8_t checksum[COPY_CHECKSUM]);
/* Without the line at the end. */
void copy_progress_fail(struct copy_progress *progress);

/* ---- the two sides; they return the program's status, or COPY_NEXT_ADDRESS ---- */

/* Parameters out: for both sides' connections. Hosts may be busy, so wait for a peer longer than by default. */
static inline void copy_parameters(SMBD_PARAMETERS *parameters)
{
    SmbdDefaultParameters(parameters);
    parameters->Buffers = COPY_PIPELINE;
    parameters->CreditMs = parameters->ResponseMs = parameters->RequestMs = 60000;
}

struct copy_options {
    struct copy_address address; /* where to listen, or the server's */
    struct copy_address local;   /* length 0: chosen by the route */
    const char *directory;       /* of the server, or for fetched files */
    unsigned pieces; /* the client's requests under way at a time, COPY_PIPELINE at most */
    bool get, in_messages, quiet;
};

int copy_serve(const struct copy_options *options);
int copy_files(const struct copy_options *options, char **files, int count);

#endif
