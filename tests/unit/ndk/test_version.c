/* SPDX-License-Identifier: MIT */
/* test_version.c - which version is negotiated, with devices that can be invalidated at and with others. */
#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include "ndk/adapter/version.h"

struct row {
    USHORT major, minor;
    bool invalidates;
    NTSTATUS status;
    USHORT got; /* minor */
};

static const struct row rows[] = {
    { 1, 0, true, 0, 2 },
    { 1, 1, true, 0, 2 },
    { 1, 2, true, 0, 2 },
    { 1, 3, true, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 2, 0, true, 0, 1 },
    { 2, 1, true, 0, 1 },
    { 2, 2, true, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 0, 0, true, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 3, 0, true, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 1, 0xFFFF, true, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 1, 0, false, 0, 1 },
    { 1, 1, false, 0, 1 },
    { 1, 2, false, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 2, 0, false, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
    { 2, 1, false, (NTSTATUS)SPEC_NDIS_STATUS_BAD_VERSION, 0 },
};

static void highest_minor_of_the_major_version_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        NDK_VERSION asked = { rows[i].major, rows[i].minor }, chosen = { 77, 88 };
        NTSTATUS status = ndk_version_choose(asked, rows[i].invalidates, &chosen);

        assert_int_equal(status, rows[i].status);
        assert_int_equal(chosen.Major, status ? 77 : rows[i].major);
        assert_int_equal(chosen.Minor, status ? 88 : rows[i].got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(highest_minor_of_the_major_version_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
