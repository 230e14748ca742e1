/* SPDX-License-Identifier: MIT */
/* adapter_facts.c - network interfaces as /sys, /proc and /etc/resolv.conf have them. */
#include "win32/sockets/adapters.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number that /sys has of an interface; false: it has none, or the driver does not say. */
static bool read_number(const char *interface, const char *what, long long *number)
{
    char path[64 + IF_NAMESIZE];
    FILE *file;
    bool found;

    snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, what);
    if (!(file = fopen(path, "re")))
        return false;
    found = fscanf(file, "%lld", number) == 1;
    fclose(file);
    return found;
}

void adapter_find_facts(struct adapter_facts *facts)
{
    char path[64 + IF_NAMESIZE];
    long long number;

    facts->mtu = read_number(facts->name, "mtu", &number) ? (unsigned)number : 0;
    facts->speed = read_number(facts->name, "speed", &number) && number > 0
                       ? (uint64_t)number * 1000000
                       : UINT64_MAX;
    if (read_number(facts->name, "type", &number))
        facts->hardware = (unsigned short)number;
    snprintf(path, sizeof(path), "/sys/class/net/%s/wireless", facts->name);
    facts->wireless = !access(path, F_OK);
}

bool adapter_name_server(unsigned which, union adapter_server *server)
{
    FILE *file = fopen("/etc/resolv.conf", "re");
    char line[256], text[INET6_ADDRSTRLEN];

    memset(server, 0, sizeof(*server));
    while (file && !server->any.sa_family && fgets(line, sizeof(line), file)) {
        if (sscanf(line, " nameserver %45[0-9a-fA-F.:]", text) != 1)
            continue;
        if (inet_pton(AF_INET, text, &server->v4.sin_addr) == 1)
            server->v4.sin_family = AF_INET;
        else if (inet_pton(AF_INET6, text, &server->v6.sin6_addr) == 1)
            server->v6.sin6_family = AF_INET6;
        if (server->any.sa_family && which--)
            memset(server, 0, sizeof(*server));
    }
    if (file)
        fclose(file);
    return server->any.sa_family;
}

/* A line of /proc/net/route: Iface Destination Gateway Flags. */
static bool v4_gateway(const char *line, const char *interface, union adapter_server *gateway)
{
    char name[IF_NAMESIZE];
    unsigned address, flags;
    enum { USES_GATEWAY = 2 };

    if (sscanf(line, "%15s %*x %x %x", name, &address, &flags) != 3 || strcmp(name, interface) ||
        !(flags & USES_GATEWAY))
        return false;
    gateway->v4.sin_family = AF_INET;
    gateway->v4.sin_addr.s_addr = address;
    return true;
}

/* A line of /proc/net/ipv6_route: destination, its prefix, source, its prefix, gateway, three numbers, flags, name. */
static bool v6_gateway(const char *line, const char *interface, union adapter_server *gateway)
{
    char name[IF_NAMESIZE], digits[33];
    unsigned flags;
    enum { USES_GATEWAY = 2 };

    if (sscanf(line, "%*s %*x %*s %*x %32s %*x %*x %*x %x %15s", digits, &flags, name) != 3 ||
        strcmp(name, interface) || !(flags & USES_GATEWAY))
        return false;
    gateway->v6.sin6_family = AF_INET6;
    for (unsigned i = 0; i < 16; i++) {
        char pair[3] = { digits[2 * i], digits[2 * i + 1], 0 };

        gateway->v6.sin6_addr.s6_addr[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

bool adapter_gateway(
    const struct adapter_facts *facts, unsigned which, union adapter_server *gateway)
{
    static const struct {
        const char *path;
        bool (*read)(const char *line, const char *interface, union adapter_server *gateway);
    } tables[] = { { "/proc/net/route", v4_gateway }, { "/proc/net/ipv6_route", v6_gateway } };
    bool found = false;

    for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables) && !found; i++) {
        FILE *file = fopen(tables[i].path, "re");
        char line[512];

        while (file && !found && fgets(line, sizeof(line), file)) {
            memset(gateway, 0, sizeof(*gateway));
            found = tables[i].read(line, facts->name, gateway) && !which--;
        }
        if (file)
            fclose(file);
    }
    return found;
}
