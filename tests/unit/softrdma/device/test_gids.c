/* SPDX-License-Identifier: MIT */
/* The order of the GIDs of a device that serves all addresses of the host, which are those of the test here. */
#include "softrdma/softrdma.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In the order of the kernel: lo has the index 1. */
static const struct interface {
    const char *name, *address;
    unsigned flags;
} interfaces[] = {
    { "lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK },
    { "eth1", "169.254.3.4", IFF_UP },
    { "eth0", "192.0.2.1", IFF_UP },
    { "eth2", "198.51.100.1", 0 },
    { "lo", "198.51.100.2", IFF_UP | IFF_LOOPBACK }, /* a service's, which routers lead here */
    { "lo", "::1", IFF_UP | IFF_LOOPBACK },
    { "eth0", "fe80::1", IFF_UP },
    { "eth0", "fd00::1", IFF_UP },
};

static const unsigned count = sizeof(interfaces) / sizeof(interfaces[0]);

int __wrap_getifaddrs(struct ifaddrs **list);
int __wrap_getifaddrs(struct ifaddrs **list)
{
    struct ifaddrs *all = calloc(count, sizeof(*all));

    for (unsigned i = 0; i < count; i++) {
        struct sockaddr_storage *addr = calloc(1, sizeof(*addr));
        struct sockaddr_in *four = (struct sockaddr_in *)addr;
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)addr;

        addr->ss_family = strchr(interfaces[i].address, ':') ? AF_INET6 : AF_INET;
        assert_int_equal(
            inet_pton(addr->ss_family, interfaces[i].address,
                addr->ss_family == AF_INET ? (void *)&four->sin_addr : (void *)&six->sin6_addr),
            1);
        all[i] = (struct ifaddrs){ .ifa_next = i + 1 < count ? &all[i + 1] : NULL,
            .ifa_flags = interfaces[i].flags,
            .ifa_addr = (struct sockaddr *)addr };
    }
    *list = all;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list);
void __wrap_freeifaddrs(struct ifaddrs *list)
{
    for (unsigned i = 0; i < count; i++)
        free(list[i].ifa_addr);
    free(list);
}

/*
 * Programs that take the first GID, as ibv_rc_pingpong -g 0 and perftest do, give it to their peer on another host:
 * what that host can reach comes first, then what it can reach on the same link, then what means itself.
 */
static void addresses_that_other_hosts_reach_come_first(void **state)
{
    static const char *const order[] = { "::ffff:192.0.2.1", "::ffff:198.51.100.2", "fd00::1",
        "::ffff:169.254.3.4", "fe80::1", "::ffff:127.0.0.1", "::1" };
    int devices, n = sizeof(order) / sizeof(order[0]);
    struct ibv_device **list = srd_get_device_list(&devices);
    struct ibv_context *context = srd_open_device(list[0]);
    struct ibv_port_attr attr;
    union ibv_gid gid;

    (void)state;
    assert_non_null(context);
    srd_free_device_list(list);
    assert_int_equal(srd_query_port(context, 1, &attr), 0);
    assert_int_equal(attr.gid_tbl_len, n);
    for (int i = 0; i < n; i++) {
        char text[INET6_ADDRSTRLEN];

        assert_int_equal(srd_query_gid(context, 1, i, &gid), 0);
        assert_string_equal(inet_ntop(AF_INET6, gid.raw, text, sizeof(text)), order[i]);
    }
    assert_int_equal(srd_query_gid(context, 1, n, &gid), -1);
    assert_int_equal(srd_close_device(context), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_that_other_hosts_reach_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
