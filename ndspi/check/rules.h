/* SPDX-License-Identifier: MIT */
/*
 * rules.h - what the checker of programs (NDSPI_CHECK) looks for: the text of each rule, and what to do about it. The
 * table of docs/checker.md is made of these rows (tests/unit/ndspi/check/list_rules.c).
 */
#ifndef NDSPI_CHECK_RULES_H
#define NDSPI_CHECK_RULES_H

/* rule(NAME, the rule, what to do) */
/* clang-format off */
#define ND_CHECK_RULES(rule)                                                                       \
    rule(RELEASED,                                                                                 \
        "an object is used while the program holds a reference to it",                             \
        "Forget its address with the last Release")                                                \
    rule(RELEASE,                                                                                  \
        "each reference is released once",                                                         \
        "Look for a second Release, or for an AddRef that is missing")                             \
    rule(RUNNING,                                                                                  \
        "the last Release of an object comes after all its other calls",                           \
        "Give each thread a reference of its own (AddRef), or join the thread first")              \
    rule(ALIVE,                                                                                    \
        "objects are released before the process ends",                                            \
        "Release it, or look for an AddRef without a Release")                                     \
    rule(TWICE,                                                                                    \
        "an OVERLAPPED serves one request at a time",                                              \
        "Wait for the end of its request, or give each request an OVERLAPPED of its own")          \
    rule(OVERLAPPED,                                                                               \
        "a request has an OVERLAPPED",                                                             \
        "Pass one that lives until the request has ended, with an event or without")               \
    rule(CHANGED,                                                                                  \
        "an OVERLAPPED is left alone until its request has ended",                                 \
        "Fill or free it when GetOverlappedResult no longer returns ND_PENDING")                   \
    rule(GONE,                                                                                     \
        "the memory of an OVERLAPPED lives until its request has ended",                           \
        "Keep it in the object that it serves, or call CancelOverlappedRequests first")            \
    rule(TOKEN,                                                                                    \
        "an entry's token is that of a region of the same adapter that is registered",             \
        "Register the memory first, and ask the region for its token each time")                   \
    rule(NAMED,                                                                                    \
        "a region stays registered until the requests that name it have ended",                    \
        "Wait for their results, or Flush the queue pair, before it is deregistered")              \
    rule(OUTSIDE,                                                                                  \
        "an entry lies inside of the region that its token names",                                 \
        "Look at its address and length, or register all of the buffer")                           \
    rule(RIGHTS,                                                                                   \
        "what a Receive or a Read stores into is registered for that",                             \
        "Register it with ND_MR_FLAG_ALLOW_LOCAL_WRITE")                                           \
    rule(SINK,                                                                                     \
        "what a Read stores into is registered as the target of a Read",                           \
        "Register it with ND_MR_FLAG_RDMA_READ_SINK, too")                                         \
    rule(FIRST,                                                                                    \
        "the side that connects sends first",                                                      \
        "Have the accepting side wait for a message before it sends one")                          \
    rule(DEPTH,                                                                                    \
        "a queue takes as many requests as it is deep, until their results are fetched",           \
        "Fetch results before more is posted, or make the queue deeper")                           \
    rule(ENTRIES,                                                                                  \
        "a request has as many entries as its queue was made for",                                 \
        "Ask for more when the queue is made, up to the limit of the adapter")                     \
    rule(LONG,                                                                                     \
        "a request is as long as the adapter and the queue pair take",                             \
        "Look at MaxTransferLength, and at the inline length asked for")                           \
    rule(OVERRUN,                                                                                  \
        "a completion queue has room for the results of all requests of its queue pairs",          \
        "Make it as deep as their queues together, or fetch results sooner")                       \
    rule(CONNECTED,                                                                                \
        "a queue pair is connected before anything but a Receive is posted",                       \
        "Wait until CompleteConnect, or Accept, has ended")                                        \
    rule(LATE,                                                                                     \
        "a Receive is posted before the peer may send",                                            \
        "Post it before Connect or Accept, and the next before the peer is told to send more")     \
    rule(INTERFACE,                                                                                \
        "an object is asked for by an IID that it has",                                            \
        "Pass the IID of the interface whose pointer is stored")                                   \
    rule(LIMIT,                                                                                    \
        "what is asked for lies within the limits of the adapter",                                 \
        "Ask Query for them, or look at ndinfo")                                                   \
    rule(FILE,                                                                                     \
        "an overlapped file is open, and of the same adapter",                                     \
        "Pass what CreateOverlappedFile stored, and close it after its objects")                   \
    rule(SIZE,                                                                                     \
        "a structure has the version and the size of its interface",                               \
        "Set its version, and pass its sizeof")                                                    \
    rule(BOUND,                                                                                    \
        "Bind is called once, and before Connect or Listen",                                       \
        "Look at the order of the calls")                                                          \
    rule(ADDRESS,                                                                                  \
        "an address is whole, of a family that the adapter has, and one of a host",                \
        "Fill a sockaddr_in or sockaddr_in6, and pass its size")                                   \
    rule(FLAGS,                                                                                    \
        "flags and types are those that the call takes",                                           \
        "Look at its page, and at nddef.h")                                                        \
    rule(ONCE,                                                                                     \
        "a region is registered once",                                                             \
        "Deregister it first, or make a region for each buffer")                                   \
    rule(NO_READS,                                                                                    \
        "Reads are posted where the connection allows some",                                       \
        "Give Connect and Accept read limits: what one end asks for, the other has to serve")      \
    rule(COMPLETE,                                                                                 \
        "a Connect that has ended with success is followed by CompleteConnect or Reject",          \
        "Call CompleteConnect: the peer's Accept waits for it")                                    \
    rule(FETCH,                                                                                    \
        "the results that a Notify told of are fetched",                                           \
        "Call GetResults until it returns fewer than it may, then Notify again")
/* clang-format on */

enum nd_check_rule {
#define ND_CHECK_NAME(name, text, advice) ND_CHECK_##name,
    ND_CHECK_RULES(ND_CHECK_NAME)
#undef ND_CHECK_NAME
};

#endif
