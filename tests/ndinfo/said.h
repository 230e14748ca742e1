/* SPDX-License-Identifier: MIT */
/* said.h - what ndinfo --json said, parsed. */
#ifndef TESTS_NDINFO_SAID_H
#define TESTS_NDINFO_SAID_H

#include "tests/support/program.h"

#include <jansson.h>

/* The caller releases it. The test fails when it is not JSON. */
static inline json_t *program_json(const struct program *program)
{
    json_error_t error;
    json_t *json = json_loads(program->said, JSON_REJECT_DUPLICATES, &error);

    if (!json)
        fail_msg("not JSON, line %d: %s:\n%s", error.line, error.text, program->said);
    return json;
}

#endif
