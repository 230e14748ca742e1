/* SPDX-License-Identifier: MIT */
/*
 * mistakes.h - a mistake of a program, and what both ends of its connection are told: the codes that their calls
 * return, and the lines that the library writes with its settings at their defaults. Two processes play each row.
 */
#ifndef TESTS_ROBUSTNESS_MISTAKES_MISTAKES_H
#define TESTS_ROBUSTNESS_MISTAKES_MISTAKES_H

#include "tests/robustness/child.h"

enum { MISTAKE_LINES = 6, MISTAKE_OCTETS = 65536, MISTAKE_DEPTH = 4 };

/* What the passive end tells the active one, once both are connected. */
struct mistake_offer {
    uint64_t address;
    UINT32 token;
};

struct mistake {
    const char *name;
    const char *words;   /* of the table that `table` prints */
    bool no_reads;       /* the passive end accepts with an inbound read limit of 0 */
    const char *setting; /* NAME=VALUE in the environment of both; NULL: none */
    /*
     * The passive end, connected: prepare may change what is offered, its memory with all rights. NULL: it does not.
     * Then passive; NULL: posts a Receive of all its memory and says how that ends. The end is closed after the active
     * one is through.
     */
    void (*prepare)(struct nd2_end *end, struct mistake_offer *offer);
    void (*passive)(struct nd2_end *end);
    void (*active)(struct nd2_end *end, const struct mistake_offer *offer); /* connected */
    /* all that each writes; a "*" stands for any octets but blanks, "**" for any */
    const char *active_lines[MISTAKE_LINES], *passive_lines[MISTAKE_LINES];
};

/* The tables: refusals.c, ... Each ends with a row without a name. */
extern const struct mistake mistakes_refused[], mistakes_strict[], mistakes_of_arguments[],
    mistakes_of_arguments1[];

/* ---- for the ends ---- */

/* Writes "WHAT: NAME" with the public name of a code. */
void mistake_say(const char *what, HRESULT hr);
/* The next result of the end: says its request, which is its context, and its code; "nothing" after a while. */
void mistake_result(struct nd2_end *end);

/* A region of the end's adapter over octets of its memory. */
IND2MemoryRegion *mistake_region(struct nd2_end *end, size_t octets, ULONG flags);
void mistake_deregister(struct nd2_end *end, IND2MemoryRegion *region);

/* Post with the name as context, and say the code if the post fails. */
void mistake_send(struct nd2_end *end, const void *memory, ULONG octets, UINT32 token);
void mistake_receive(struct nd2_end *end, void *memory, ULONG octets, UINT32 token);
void mistake_write(struct nd2_end *end, ULONG octets, uint64_t address, UINT32 token);
/* Exported by the program, so that the checker finds its name. */
__attribute__((visibility("default"))) void mistake_read(
    struct nd2_end *end, ULONG octets, uint64_t address, UINT32 token, UINT32 sink);

/* The end posts nothing, so a message waits in vain and the connection ends: says the code of NotifyDisconnect. */
void mistake_wait_for_the_end(struct nd2_end *end);

#endif
