// SPDX-License-Identifier: MIT
// Layout, values and identifiers as C++ sees them, and the slots of its virtual methods. The language has no constant for
// a slot, so pointers to the methods and the slots expected are stored side by side as constant data, in a section of
// their own: test_abi reads it from the program itself and from the object files of other targets.
#include "abi_layout.h"

#define ABI_SIZE(type, size64, size32)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5)
#define ABI_SLOT(iface, method, slot)                                                              \
    struct {                                                                                       \
        decltype(&iface::method) method_ptr;                                                       \
        SIZE_T expected;                                                                           \
    } iface##_##method;
#define ABI_SLOTS(iface, base, count)
struct abi_slots {
#include "abi.def"
};

extern "C" const abi_slots abi_slots_cpp;
extern "C" const SIZE_T abi_slots_cpp_size;
const SIZE_T abi_slots_cpp_size = sizeof(abi_slots);

#define ABI_SIZE(type, size64, size32)
#define ABI_ALIGN(type, align64, align32)
#define ABI_FIELD(type, field, size64, size32, offset64, offset32)
#define ABI_VALUE(name, value)
#define ABI_STATUS(name, value)
#define ABI_IID(name, g1, g2, g3, g4, g5)
#define ABI_SLOT(iface, method, slot) { &iface::method, slot },
#define ABI_SLOTS(iface, base, count)
__attribute__((section(".abi"), used)) constexpr abi_slots abi_slots_cpp = {
#include "abi.def"
};
