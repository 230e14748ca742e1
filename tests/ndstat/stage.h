/* SPDX-License-Identifier: MIT */
/* stage.h - ndstat, and processes for it to look at, in a directory that no others use. */
#ifndef TESTS_NDSTAT_STAGE_H
#define TESTS_NDSTAT_STAGE_H

#include "tests/support/program.h"

#include <jansson.h>
#include <stdbool.h>

struct stage {
    const char *ndstat, *subject; /* the programs */
    const char *
        patience; /* of ndstat, ms: far more than a process of this test needs to answer, or none */
    char home[64], folder[128]; /* XDG_RUNTIME_DIR, and ndspi in it */
};

extern struct stage stage;

/* Takes the two programs from main's arguments. Returns whether they are there. */
bool stage_arguments(int argc, char **argv);
/* For each test. */
int stage_set_up(void **state);
int stage_tear_down(void **state);
/* How many entries the directory has; removes them. */
unsigned stage_entries(const char *path, bool remove_them);
/* A subject, which is ready. */
void stage_start(struct program *program);
/* ndstat with up to four arguments. */
void stage_run(struct program *program, const char *a, const char *b, const char *c, const char *d);
/* What --json says, with that status; and a member of one of the adapters. */
json_t *stage_adapters(int status);
const char *text_of(json_t *array, size_t index, const char *name);
json_int_t number_of(json_t *array, size_t index, const char *name);
json_int_t counter_of(json_t *array, size_t index, const char *name);
bool is_fresh(json_t *array, size_t index);

/* What a process shows: its title, process, program and answer; an adapter. */
#define HEAD    "ndspi-counters 2\nprocess 77\nprogram p\nanswer 1\n"
#define ADAPTER "adapter dev0 1 2 5 0\n"

/* A process "counters.7", whose FIFO this test reads; the descriptor. ndstat does not wait for it. */
int stage_fake(const char *octets, size_t count);

#define STAGE_ROW(name) cmocka_unit_test_setup_teardown(name, stage_set_up, stage_tear_down)

#endif
