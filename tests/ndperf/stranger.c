/* SPDX-License-Identifier: MIT */
/*
 * Before the second TCP connection of the process, which is the first stream of ndperf, runs STRANGER with the address
 * as its last argument; STRANGER has to fail. In LD_PRELOAD.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void run_stranger(const struct sockaddr_in *server)
{
    char command[2048], address[INET_ADDRSTRLEN];
    const char *stranger = getenv("STRANGER");

    if (!stranger || !inet_ntop(AF_INET, &server->sin_addr, address, sizeof(address)))
        abort();
    snprintf(command, sizeof(command), "LD_PRELOAD= timeout 60 %s %s:%u > /dev/null 2>&1", stranger,
        address, (unsigned)ntohs(server->sin_port));
    if (system(command) == 0) {
        fprintf(stderr, "%s succeeded\n", stranger);
        abort();
    }
}

int connect(int fd, const struct sockaddr *address, socklen_t octets)
{
    static atomic_int connections;
    __typeof__(&connect) real = (__typeof__(&connect))dlsym(RTLD_NEXT, "connect");
    int type = 0;
    socklen_t size = sizeof(type);

    if (address->sa_family == AF_INET && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) &&
        type == SOCK_STREAM && atomic_fetch_add(&connections, 1) == 1)
        run_stranger((const struct sockaddr_in *)address);
    return real(fd, address, octets);
}
