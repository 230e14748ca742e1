/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - the checker's record of regions: the name of a region is its adapter's, and another adapter may have
 * given the same one, as two devices do.
 */
#include "ndspi/check/memory.h"

#include "ndspi/check/pending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

enum { NAME = 0x1234, OTHER = 0x1235 };

static const struct nd_check_kind kind = { .name = "IND2MemoryRegion" };

/* An adapter, a region of it, and calls of that. */
struct owner {
    struct nd_checked adapter, object;
    struct nd_check_call call;
    char memory[16];
};

static struct owner owners[3];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        owners[i].object = (struct nd_checked){ .kind = &kind, .adapter = &owners[i].adapter };
        owners[i].call = (struct nd_check_call){ .object = &owners[i].object,
            .name = "IND2MemoryRegion::Register" };
    }
    return 0;
}

static void add(struct owner *owner, UINT64 name)
{
    nd_check_registered(&owner->call, ND_PENDING, name, owner->memory, sizeof(owner->memory), 0);
}

static void take_back(struct owner *owner)
{
    const struct nd_check_pending none = { 0 };

    nd_check_deregistered(&owner->call, ND_PENDING, 0, &none);
}

/* Whose region an entry of that adapter's queue pair names; NULL: nobody's. */
static const struct nd_checked *named(struct owner *owner, UINT64 name)
{
    const struct nd_check_region *region;

    lock_acquire(&nd_check_lock);
    region = nd_check_region_locked(name, &owner->adapter);
    lock_release(&nd_check_lock);
    return region ? region->object : NULL;
}

static void each_adapter_has_its_own(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) { /* the one that came last is looked at first */
        add(&owners[first], NAME);
        add(&owners[!first], NAME);
        assert_ptr_equal(named(&owners[0], NAME), &owners[0].object);
        assert_ptr_equal(named(&owners[1], NAME), &owners[1].object);
        take_back(&owners[first]);
        assert_ptr_equal(named(&owners[!first], NAME), &owners[!first].object);
        take_back(&owners[!first]);
        assert_null(named(&owners[0], NAME));
        assert_null(named(&owners[1], NAME));
    }
}

/* So that the checker can say whose it is. */
static void an_adapter_without_one_finds_anothers(void **state)
{
    (void)state;
    add(&owners[0], NAME);
    assert_ptr_equal(named(&owners[2], NAME), &owners[0].object);
    assert_null(named(&owners[2], OTHER));
    take_back(&owners[0]);
    assert_null(named(&owners[2], NAME));
}

/* What the checker says of a request with one entry, by a queue pair of the adapter. */
static const char *said_of(struct owner *owner, UINT64 name, const void *buffer)
{
    const struct nd_check_entry entry = { .buffer = buffer, .length = 16, .name = name };

    log_catch();
    nd_check_entry(&owner->call, 0, &entry, ND_CHECK_READS);
    return log_caught();
}

static void an_entry_in_its_own_region_is_right(void **state)
{
    (void)state;
    add(&owners[0], NAME);
    add(&owners[1], NAME);
    for (int i = 0; i < 2; i++)
        assert_string_equal(said_of(&owners[i], NAME, owners[i].memory), "");
    take_back(&owners[0]);
    take_back(&owners[1]);
}

/* Of a name that was another adapter's the checker does not tell who took it back. */
static void a_name_that_is_gone_was_its_adapters(void **state)
{
    (void)state;
    add(&owners[0], OTHER);
    take_back(&owners[0]);
    assert_non_null(strstr(
        said_of(&owners[2], OTHER, owners[0].memory), "entry 0 has 0x1235, which no region has"));
    assert_non_null(strstr(said_of(&owners[0], OTHER, owners[0].memory),
        "entry 0 has 0x1235, which IND2MemoryRegion::Register took from IND2MemoryRegion"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_adapter_has_its_own),
        cmocka_unit_test(an_adapter_without_one_finds_anothers),
        cmocka_unit_test(an_entry_in_its_own_region_is_right),
        cmocka_unit_test(a_name_that_is_gone_was_its_adapters),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
