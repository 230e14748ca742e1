/* SPDX-License-Identifier: MIT */
/* test_codes.c - the programs name every code of NetworkDirect, and those that others pass on. */
#include "samples/ndsample.h"

#include "tests/support/spec_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const HRESULT codes[] = {
#define ROW(name, value) (HRESULT) SPEC_##name,
    SPEC_ND_CODES(ROW)
#undef ROW
        (HRESULT) 0xC0000022u, /* port below 1024 */
    (HRESULT)0xC00000CCu,      /* Connect: no address that can be resolved */
    (HRESULT)0xC000020Cu,      /* NotifyDisconnect after a Disconnect */
    (HRESULT)0xC0000238u,      /* a second Bind */
    (HRESULT)0xC0000239u,      /* Connect before Bind */
    (HRESULT)0x80004001u,
    (HRESULT)0x80004002u,
    (HRESULT)0x80004003u, /* E_ */
    (HRESULT)0x80040111u,
    (HRESULT)0x8007000Eu,
    (HRESULT)0x80070057u,
};

static void test_every_code_has_a_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        const char *name = sample_code_name(codes[i]);

        if (strcmp(name, "unknown code") == 0)
            print_error("0x%08x\n", (unsigned)codes[i]);
        assert_string_not_equal(name, "unknown code");
    }
    assert_string_equal(sample_code_name((HRESULT)0xC0000001u), "ND_UNSUCCESSFUL");
    assert_string_equal(sample_code_name((HRESULT)0xC00000F8u), "ND_INVALID_PARAMETER_10");
    assert_string_equal(sample_code_name((HRESULT)0xDEADBEEFu), "unknown code");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_code_has_a_name) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
