// SPDX-License-Identifier: MIT
// test_registration_cache.cpp - what is registered, found again, evicted and forgotten.
#include "samples/ndmpi/registration_cache.h"

#include "cmocka_cpp.h" // has a macro fail

#include <string.h>

using namespace ndmpi;

namespace
{

unsigned char memory[1000];

class FakeMemory : public Memory
{
  public:
    explicit FakeMemory(int &the_live) : live(the_live)
    {
        ++live;
    }
    ~FakeMemory()
    {
        --live;
    }
    int &live;
};

// Registers at most limit at a time.
class FakeRegistrar : public Registrar
{
  public:
    FakeRegistrar() : live(0), limit(1000), code(ND_INSUFFICIENT_RESOURCES)
    {
    }
    Memory *register_memory(const void *, size_t, Access, HRESULT &hr)
    {
        if (live >= limit) {
            hr = code;
            return NULL;
        }
        hr = ND_SUCCESS;
        return new FakeMemory(live);
    }
    int live, limit;
    HRESULT code;
};

void test_found_again_if_it_covers_what_is_asked_for(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000);
    HRESULT hr;
    RegistrationCache::Entry *first = cache.acquire(memory, 100, SINK, hr);
    assert_non_null(first);
    assert_ptr_equal(cache.acquire(memory, 100, SINK, hr), first);
    assert_ptr_equal(cache.acquire(memory + 50, 50, SOURCE, hr), first);
    assert_int_equal(registrar.live, 1);
    assert_ptr_not_equal(cache.acquire(memory + 50, 51, SINK, hr), first);
    assert_int_equal(registrar.live, 2);
    assert_true(cache.made() == 2 && cache.found() == 2);
}

void test_a_source_is_no_sink(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000);
    HRESULT hr;
    RegistrationCache::Entry *source = cache.acquire(memory, 100, SOURCE, hr);
    assert_ptr_not_equal(cache.acquire(memory, 100, SINK, hr), source);
    assert_int_equal(registrar.live, 2);
}

void test_stays_when_released_and_goes_with_the_cache(void **)
{
    FakeRegistrar registrar;
    HRESULT hr;
    {
        RegistrationCache cache(registrar, 10, 1000);
        cache.release(cache.acquire(memory, 100, SINK, hr));
        assert_int_equal(registrar.live, 1);
        cache.release(cache.acquire(memory, 100, SINK, hr));
        assert_int_equal(registrar.live, 1);
    }
    assert_int_equal(registrar.live, 0);
}

void test_least_recently_used_goes_first(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 2, 1000);
    HRESULT hr;
    for (int i = 0; i < 2; ++i)
        cache.release(cache.acquire(memory + 100 * i, 100, SINK, hr));
    cache.release(cache.acquire(memory, 100, SINK, hr));
    cache.release(cache.acquire(memory + 200, 100, SINK, hr)); // instead of the second
    assert_int_equal(registrar.live, 2);
    assert_true(cache.made() == 3 && cache.found() == 1);
    cache.acquire(memory, 100, SINK, hr);
    assert_true(cache.made() == 3);
    cache.acquire(memory + 100, 100, SINK, hr);
    assert_true(cache.made() == 4);
}

void test_bytes_are_bounded_but_not_of_those_in_use(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 250);
    RegistrationCache::Entry *entries[4];
    HRESULT hr;
    for (int i = 0; i < 4; ++i)
        entries[i] = cache.acquire(memory + 100 * i, 100, SINK, hr);
    assert_int_equal(registrar.live, 4);
    for (int i = 0; i < 4; ++i)
        cache.release(entries[i]);
    assert_int_equal(registrar.live, 2);
}

void test_evicts_for_want_of_resources(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000);
    HRESULT hr;
    registrar.limit = 2;
    cache.release(cache.acquire(memory, 100, SINK, hr));
    RegistrationCache::Entry *used = cache.acquire(memory + 100, 100, SINK, hr);
    assert_non_null(cache.acquire(memory + 200, 100, SINK, hr));
    assert_ptr_equal(cache.acquire(memory + 100, 100, SINK, hr), used);
    assert_null(cache.acquire(memory + 300, 100, SINK, hr)); // both are in use
    assert_int_equal(hr, ND_INSUFFICIENT_RESOURCES);
}

void test_other_failures_evict_nothing(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000);
    HRESULT hr;
    cache.release(cache.acquire(memory, 100, SINK, hr));
    registrar.limit = 1;
    registrar.code = ND_ACCESS_VIOLATION;
    assert_null(cache.acquire(memory + 100, 100, SINK, hr));
    assert_int_equal(hr, ND_ACCESS_VIOLATION);
    assert_int_equal(registrar.live, 1);
}

void test_forgets_what_overlaps(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000);
    HRESULT hr;
    for (int i = 0; i < 4; ++i)
        cache.release(cache.acquire(memory + 100 * i, 100, SINK, hr));
    assert_true(cache.forget(memory + 199, 2)); // the second and the third
    assert_int_equal(registrar.live, 2);
    RegistrationCache::Entry *used = cache.acquire(memory, 100, SINK, hr);
    assert_false(cache.forget(memory, 100));
    assert_int_equal(registrar.live, 2);
    cache.release(used);
    assert_true(cache.forget(memory, sizeof(memory)));
    assert_int_equal(registrar.live, 0);
}

const size_t PAGES = 65536;

void *pages()
{
    return VirtualAlloc(NULL, PAGES, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

DWORD WINAPI free_pages(void *data)
{
    return VirtualFree(data, 0, MEM_RELEASE) ? 0 : 1;
}

void test_memory_that_goes_is_forgotten_at_once(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000000);
    void *first = pages(), *second = pages();
    HRESULT hr;
    cache.release(cache.acquire(first, PAGES, SINK, hr));
    cache.release(cache.acquire(second, PAGES, SINK, hr));
    assert_int_equal(free_pages(first), 0);
    assert_int_equal(registrar.live, 1);
    cache.release(cache.acquire(second, PAGES, SINK, hr));
    assert_true(cache.found() == 1);
    assert_int_equal(free_pages(second), 0);
    assert_int_equal(registrar.live, 0);
}

void test_memory_that_goes_in_use_is_not_found_again(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000000);
    void *data = pages();
    HRESULT hr;
    RegistrationCache::Entry *used = cache.acquire(data, PAGES, SINK, hr);
    assert_int_equal(free_pages(data), 0);
    assert_int_equal(registrar.live, 1);
    RegistrationCache::Entry *another = cache.acquire(data, PAGES, SINK, hr);
    assert_ptr_not_equal(another, used);
    assert_int_equal(registrar.live, 2);
    cache.release(used);
    assert_int_equal(registrar.live, 1);
    cache.release(another);
    assert_int_equal(registrar.live, 1);
}

void test_memory_that_another_thread_frees_is_forgotten_before_it_is_found(void **)
{
    FakeRegistrar registrar;
    RegistrationCache cache(registrar, 10, 1000000);
    void *data = pages();
    DWORD code = 1;
    HRESULT hr;
    cache.release(cache.acquire(data, PAGES, SINK, hr));
    HANDLE thread = CreateThread(NULL, 0, free_pages, data, 0, NULL);
    assert_int_equal(WaitForSingleObject(thread, INFINITE), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    CloseHandle(thread);
    assert_int_equal(registrar.live, 1);
    cache.release(cache.acquire(data, PAGES, SINK, hr));
    assert_true(cache.made() == 2 && cache.found() == 0);
    assert_int_equal(registrar.live, 1);
}

void test_each_cache_is_told(void **)
{
    FakeRegistrar registrar;
    RegistrationCache *caches[2];
    void *data = pages();
    HRESULT hr;
    for (int i = 0; i < 2; ++i) {
        caches[i] = new RegistrationCache(registrar, 10, 1000000);
        caches[i]->release(caches[i]->acquire(data, PAGES, SINK, hr));
    }
    delete caches[0];
    assert_int_equal(registrar.live, 1);
    assert_int_equal(free_pages(data), 0);
    assert_int_equal(registrar.live, 0);
    delete caches[1];
    assert_int_equal(free_pages(pages()), 0); // no cache is told
}

} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again_if_it_covers_what_is_asked_for),
        cmocka_unit_test(test_a_source_is_no_sink),
        cmocka_unit_test(test_stays_when_released_and_goes_with_the_cache),
        cmocka_unit_test(test_least_recently_used_goes_first),
        cmocka_unit_test(test_bytes_are_bounded_but_not_of_those_in_use),
        cmocka_unit_test(test_evicts_for_want_of_resources),
        cmocka_unit_test(test_other_failures_evict_nothing),
        cmocka_unit_test(test_forgets_what_overlaps),
        cmocka_unit_test(test_memory_that_goes_is_forgotten_at_once),
        cmocka_unit_test(test_memory_that_goes_in_use_is_not_found_again),
        cmocka_unit_test(test_memory_that_another_thread_frees_is_forgotten_before_it_is_found),
        cmocka_unit_test(test_each_cache_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
