/* SPDX-License-Identifier: MIT */
/* choices.h - plays of which each makes other choices, until all combinations were played (included once). */
#ifndef TESTS_SUPPORT_CHOICES_H
#define TESTS_SUPPORT_CHOICES_H

#include "tests/unit/util/cmocka_test.h"

#include <stdbool.h>

static struct {
    unsigned made, known; /* of this play; those that are prescribed */
    struct {
        unsigned options, chosen;
    } each[4096];
} choices;

/* As prescribed, then the first. */
static unsigned choose(unsigned options)
{
    const unsigned at = choices.made;

    if (options == 1)
        return 0;
    assert_true(at < sizeof(choices.each) / sizeof(choices.each[0]));
    if (at >= choices.known) {
        choices.each[at].chosen = 0;
        choices.each[at].options = options;
    }
    assert_int_equal(choices.each[at].options, options);
    choices.made++;
    return choices.each[at].chosen;
}

/* Prescribes the next play: another choice at the last place that has one. False: all were played. */
static bool choices_next(void)
{
    unsigned *made = &choices.made;

    while (*made && choices.each[*made - 1].chosen + 1 == choices.each[*made - 1].options)
        (*made)--;
    choices.known = *made;
    if (*made)
        choices.each[*made - 1].chosen++;
    *made = 0;
    return choices.known > 0;
}

#endif
