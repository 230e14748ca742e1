/* SPDX-License-Identifier: MIT */
/* program.h - runs a program as users do, with deadlines, and keeps its output. */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

#include "tests/unit/util/cmocka_test.h"

#include <sys/types.h>

enum { PROGRAM_TEXT_OCTETS = 65536, PROGRAM_PATIENCE_MS = 60000 };

struct program {
    pid_t pid;
    int status; /* of its end: 0 to 255, or 1000 + signal */
    int in, out, err;
    char said[PROGRAM_TEXT_OCTETS]; /* standard output */
    char complained[PROGRAM_TEXT_OCTETS];
};

/* Starts argv[0]; the environment is this process's. Standard input and output are pipes, for use while it runs. */
void program_start(struct program *program, const char *const *argv);
/* The next line of its standard output, without the line end; the test fails when none comes. */
void program_line(struct program *program, char *line, size_t size);
/* Writes a line to its standard input. The test fails when the program has ended. */
void program_tell(struct program *program, const char *line);
/* Closes its standard input, waits for its end, and reads the rest. The test fails when it does not end. */
void program_end(struct program *program);
/* Ends it by a signal, then does the same. */
void program_kill(struct program *program, int signal);
/* All of it. */
void program_run(struct program *program, const char *const *argv);

#define assert_says(text, what) assert_says_at(text, what, __FILE__, __LINE__)
void assert_says_at(const char *text, const char *what, const char *file, int line);

#endif
