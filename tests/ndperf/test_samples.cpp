/* SPDX-License-Identifier: MIT */
/* What ndperf makes of measured times. */
#include "tools/perf/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

using ndperf::Bucket;
using ndperf::Samples;
using ndperf::Summary;

static void assert_number(double found, double wanted)
{
    assert_true(fabs(found - wanted) < 1e-6);
}

/* 1000 ticks down to 1, of half a microsecond. */
static Samples thousand()
{
    Samples samples(10);
    for (UINT64 ticks = 1000; ticks > 0; --ticks)
        samples.add(ticks);
    samples.set_scale(0.5);
    return samples;
}

static void a_percentile_is_a_sample(void **)
{
    Samples samples = thousand();
    assert_number(samples.at(0), 500);
    samples.sort();
    Summary s = samples.summary();
    assert_number(s.min, 0.5);
    assert_number(s.median, 250);
    assert_number(s.p90, 450);
    assert_number(s.p99, 495);
    assert_number(s.p999, 499.5);
    assert_number(s.max, 500);
    assert_number(s.mean, 250.25);
    assert_true(fabs(s.deviation - 144.337496) < 1e-5);
}

static void one_sample_is_every_percentile(void **)
{
    Samples samples;
    samples.add(7);
    Summary s = samples.summary();
    assert_number(s.min, 7);
    assert_number(s.median, 7);
    assert_number(s.p999, 7);
    assert_number(s.max, 7);
    assert_number(s.deviation, 0);
    assert_int_equal(samples.histogram().size(), 1);
}

static void a_histogram_has_every_sample_once(void **)
{
    Samples samples = thousand();
    samples.sort();
    std::vector<Bucket> buckets = samples.histogram();
    UINT64 count = 0;

    assert_true(buckets.front().from <= 0.5 && buckets.front().count > 0);
    assert_true(buckets.back().below > 500 && buckets.back().count > 0);
    for (size_t i = 0; i < buckets.size(); ++i) {
        count += buckets[i].count;
        assert_true(buckets[i].from < buckets[i].below);
        if (i)
            assert_number(buckets[i].from / buckets[i - 1].below, 1);
    }
    assert_int_equal(count, 1000);
}

static void the_samples_of_threads_are_put_together(void **)
{
    Samples all = thousand(), more;
    more.add(4000);
    all.add(more);
    all.sort();
    assert_int_equal(all.count(), 1001);
    assert_number(all.summary().max, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentile_is_a_sample),
        cmocka_unit_test(one_sample_is_every_percentile),
        cmocka_unit_test(a_histogram_has_every_sample_once),
        cmocka_unit_test(the_samples_of_threads_are_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
