/* SPDX-License-Identifier: MIT */
/*
 * What abi_layout.* could not say at compile time: slots of C++ virtual methods, here and in object files of other
 * targets (the .abi section, named on the command line), and the bytes of the identifiers the library exports.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ndspi.h>

/* A pointer to a virtual method: 1 + offset, and 0; where functions may be odd, the offset, and 1. */
struct slot {
    uint64_t ptr;
    uint64_t adj;
    uint64_t expected;
};

extern const struct slot abi_slots_cpp[];
extern const size_t abi_slots_cpp_size;

static const char *const names[] = {
#define ABI_SIZE(type, size64, size32)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5)
#define ABI_SLOT(iface, method, slot) #iface "::" #method,
#define ABI_SLOTS(iface, base, count)
#include "abi.def"
};
#define SLOTS (sizeof(names) / sizeof(names[0]))

static const char *object_path;

static void check_slots(const struct slot *slots, size_t size)
{
    assert_int_equal(size, SLOTS * sizeof(*slots));
    for (size_t i = 0; i < SLOTS; ++i) {
        uint64_t offset = slots[i].expected * 8;
        bool right = (slots[i].ptr == offset + 1 && slots[i].adj == 0) ||
                     (slots[i].ptr == offset && slots[i].adj == 1);
        if (!right)
            fail_msg("%s is not in slot %u", names[i], (unsigned)slots[i].expected);
    }
}

static void test_slots_of_cpp_methods(void **state)
{
    (void)state;
    check_slots(abi_slots_cpp, abi_slots_cpp_size);
}

static void test_slots_in_object_file(void **state)
{
    (void)state;
    static struct slot slots[SLOTS + 1];
    FILE *file = fopen(object_path, "rb");
    assert_non_null(file);
    size_t size = fread(slots, 1, sizeof(slots), file);
    assert_int_equal(ferror(file), 0);
    fclose(file);
    check_slots(slots, size);
}

static void check_iid(const char *name, const IID *iid, uint32_t g1, uint16_t g2, uint16_t g3,
    uint16_t g4, uint64_t g5)
{
    unsigned char expected[16] = { g1, g1 >> 8, g1 >> 16, g1 >> 24, g2, g2 >> 8, g3, g3 >> 8,
        g4 >> 8, g4, g5 >> 40, g5 >> 32, g5 >> 24, g5 >> 16, g5 >> 8, g5 };
    if (memcmp(iid, expected, sizeof(expected)) != 0)
        fail_msg("%s has other bytes", name);
}

static void test_exported_identifiers(void **state)
{
    (void)state;
#define ABI_SIZE(type, size64, size32)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5) check_iid(#name, &name, g1, g2, g3, g4, g5);
#define ABI_SLOT(iface, method, slot)
#define ABI_SLOTS(iface, base, count)
#include "abi.def"
}

int main(int argc, char **argv)
{
    const struct CMUnitTest native[] = {
        cmocka_unit_test(test_slots_of_cpp_methods),
        cmocka_unit_test(test_exported_identifiers),
    };
    const struct CMUnitTest foreign[] = {
        cmocka_unit_test(test_slots_in_object_file),
    };
    if (argc < 2)
        return cmocka_run_group_tests(native, NULL, NULL);
    object_path = argv[1];
    return cmocka_run_group_tests(foreign, NULL, NULL);
}
