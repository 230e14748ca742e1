/* SPDX-License-Identifier: MIT */
/*
 * ndperf - measures latency and bandwidth of NetworkDirect between two hosts, in the manner of perftest. ndperf.1
 * describes it.
 */
#include <winsock2.h>

#include "failure.h"
#include "platform.h"
#include "session.h"

int main(int argc, char **argv)
{
    ndperf::reserve_standard_streams();
    WSADATA data;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        ndperf::fail("Winsock does not start");
    ndperf::Options options = ndperf::parse_options(argc, argv);
    int status = ndperf::Session(options).run();
    WSACleanup();
    return status;
}
