/* SPDX-License-Identifier: MIT */
#include "util/processors.h"

#include <stdio.h>
#include <unistd.h>

bool processors_read(const char *path, cpu_set_t *set)
{
    FILE *file = fopen(path, "re");
    unsigned first, last;
    int got = 0, next = ',';

    CPU_ZERO(set);
    while (file && next == ',' && fscanf(file, "%u", &first) == 1) {
        last = first;
        if ((next = getc(file)) == '-') {
            if (fscanf(file, "%u", &last) != 1)
                break;
            next = getc(file);
        }
        for (unsigned i = first; i <= last && i < CPU_SETSIZE; i++)
            CPU_SET(i, set);
        got++;
    }
    if (file)
        fclose(file);
    return got > 0;
}

void processors_online(cpu_set_t *set)
{
    if (processors_read("/sys/devices/system/cpu/online", set))
        return;
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPU_SETSIZE; i++)
        CPU_SET((size_t)i, set);
}

unsigned processors_highest_node(void)
{
    cpu_set_t nodes;
    unsigned node = CPU_SETSIZE - 1;

    if (!processors_read("/sys/devices/system/node/online", &nodes))
        return 0;
    while (node && !CPU_ISSET(node, &nodes))
        node--;
    return node;
}

bool processors_of_node(unsigned node, cpu_set_t *set)
{
    char path[64];
    cpu_set_t online;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
    processors_online(&online);
    if (processors_read(path, set)) {
        CPU_AND(set, set, &online);
        return true;
    }
    CPU_ZERO(set);
    if (!access(path, F_OK)) /* the node has memory and no processors */
        return true;
    if (node || processors_highest_node())
        return false;
    *set = online;
    return true;
}
