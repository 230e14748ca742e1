/* SPDX-License-Identifier: MIT */
/*
 * main.c - one program for one suite (CONFORMANCE_SUITE=cq), or for all of them.
 */
#include "harness.h"

#ifdef CONFORMANCE_SUITE
#define JOIN_(a, b)     a##b
#define SUITE_OF_(name) JOIN_(suite_, name)
extern const struct suite SUITE_OF_(CONFORMANCE_SUITE);
static const struct suite *const suites[] = { &SUITE_OF_(CONFORMANCE_SUITE) };
#else
#define DECLARE_(group) extern const struct suite suite_##group;
#define LIST_(group)    &suite_##group,
SUITES(DECLARE_)
static const struct suite *const suites[] = { SUITES(LIST_) };
#endif

int main(int argc, char **argv)
{
    return conformance_main(argc, argv, suites, sizeof(suites) / sizeof(suites[0])) ? 1 : 0;
}
