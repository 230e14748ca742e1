/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <process.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"
#include "interrupt.h"
#include "phases.h"
#include "platform.h"
#include "rate.h"

namespace ndperf
{

namespace
{

enum { LOOK_MS = 250, LOOKS_A_RATE = 4, PATIENCE_LOOKS = 8 };

// Values of messages.
enum { DONE_MESSAGES, DONE_SECONDS_E9, DONE_PROCESSOR_E3, DONE_DAMAGED };
enum { COUNT_BEGUN, COUNT_SENT };
enum { START_SIZE, START_ITERATIONS, START_DURATION };

/*
 * The workers that still run. The waiting thread sleeps on a condition variable, not on events of the adapter: of two
 * threads that wait for those, one would often take events that the other has to be woken for.
 */
class Running
{
  public:
    explicit Running(size_t count) : count_(count)
    {
        InitializeSRWLock(&lock_);
        InitializeConditionVariable(&none_);
    }
    void one_ended()
    {
        AcquireSRWLockExclusive(&lock_);
        if (--count_ == 0)
            WakeConditionVariable(&none_);
        ReleaseSRWLockExclusive(&lock_);
    }
    // Waits until no worker runs, LOOK_MS at most. Returns whether none runs.
    bool ended()
    {
        AcquireSRWLockExclusive(&lock_);
        while (count_ && SleepConditionVariableSRW(&none_, &lock_, LOOK_MS, 0))
            continue;
        bool all = count_ == 0;
        ReleaseSRWLockExclusive(&lock_);
        return all;
    }

  private:
    SRWLOCK lock_;
    CONDITION_VARIABLE none_;
    size_t count_;
};

struct Part {
    Worker *worker;
    const Phase *phase;
    Running *running;
};

unsigned __stdcall run_part(void *argument)
{
    Part *part = (Part *)argument;
    part->worker->run(*part->phase);
    part->running->one_ended();
    return 0;
}

} // namespace

Session::Session(const Options &options)
    : options_(options), p_(options.parameters), cookie_(0), peer_(), damaged_(0),
      stopped_by_peer_(false), part_()
{
}

Session::~Session()
{
    workers_.clear();
    refuser_.reset();
    channel_.reset();
    adapter_.reset();
}

int Session::run()
{
    if (!options_.server)
        report_.reset(new Report(options_, p_));
    check(NdStartup(), "NdStartup");
    if (options_.server)
        meet_client();
    else
        meet_server();
    Meeting meeting = { peer_, cookie_, channel_->lost() };
    for (UINT32 i = 0; i < p_.threads; ++i)
        workers_.push_back(
            std::unique_ptr<Worker>(new Worker(*adapter_, p_, options_.server, meeting)));
    connect_streams();
    if (options_.server && p_.streams())
        refuser_.reset(new Refuser(*adapter_, greeting(cookie_, 0)));
    bool right = measure();
    finish();
    return right ? 0 : STATUS_FAILED;
}

// ---- phases ---------------------------------------------------------------------------------------------------------

// Whether the user of either end has stopped the measurement.
bool Session::is_to_stop(bool &by_peer)
{
    by_peer = channel_->is_stopped();
    return by_peer || interrupted();
}

// Looks now and then while the workers run: at the connection, since a worker that polls memory, or shares its
// Receives, would not notice its end; for users who stop the measurement; for other clients, which it refuses. Returns
// false: the measurement was stopped. A server's workers go on until its client has stopped its own, which wait for
// answers.
bool Session::run_workers(const Phase &phase)
{
    std::vector<Part> parts;
    std::vector<HANDLE> threads;
    Running running(workers_.size());
    RateLine rate(phase.size, report_ != nullptr);
    unsigned looks = 0, stopped_at = 0;

    for (size_t i = 0; i < workers_.size(); ++i) {
        Part part = { workers_[i].get(), &phase, &running };
        parts.push_back(part);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
        HANDLE thread = (HANDLE)_beginthreadex(NULL, 0, run_part, &parts[i], 0, NULL);
        if (!thread)
            fail("no thread can be started: error %u", (unsigned)GetLastError());
        threads.push_back(thread);
    }
    while (!running.ended()) {
        if (WaitForSingleObject(channel_->lost(), 0) == WAIT_OBJECT_0)
            fail_lost();
        if (is_to_stop(stopped_by_peer_)) {
            if (options_.server || (stopped_at && looks - stopped_at > PATIENCE_LOOKS))
                stop_early(stopped_by_peer_);
            stop_workers();
            stopped_at = stopped_at ? stopped_at : looks + 1;
        }
        if (refuser_)
            refuser_->look();
        if (++looks % LOOKS_A_RATE == 0 && rate.is_shown())
            rate.show(messages_so_far());
    }
    for (size_t i = 0; i < threads.size(); ++i) {
        WaitForSingleObject(threads[i], INFINITE);
        CloseHandle(threads[i]);
    }
    return !stopping();
}

UINT64 Session::messages_so_far() const
{
    UINT64 messages = 0;
    for (size_t i = 0; i < workers_.size(); ++i)
        messages += workers_[i]->messages();
    return messages;
}

// Returns this side's counts of the phase.
Message Session::own_part(double processor) const
{
    Message done(DONE);
    UINT64 start = ~(UINT64)0, end = 0, damaged = 0;

    for (size_t i = 0; i < workers_.size(); ++i) {
        Worker &worker = *workers_[i];
        start = worker.start < start ? worker.start : start;
        end = worker.end > end ? worker.end : end;
        for (size_t k = 0; k < worker.streams().size(); ++k)
            damaged += worker.streams()[k]->damaged;
    }
    done.values[DONE_MESSAGES] = messages_so_far();
    double seconds = (double)(end - start) / ticks_per_second();
    done.values[DONE_SECONDS_E9] = (UINT64)(seconds * 1e9);
    done.values[DONE_PROCESSOR_E3] = (UINT64)(processor * 1e3);
    done.values[DONE_DAMAGED] = damaged;
    return done;
}

// Checks the memory, with verify, for Writes that the receiver does not notice.
void Session::verify(const Phase &phase)
{
    if (!p_.verify || p_.test != WRITE_BW)
        return;
    for (size_t i = 0; i < p_.streams(); ++i) {
        Message own(COUNT);
        own.values[COUNT_BEGUN] = stream(i).begun;
        own.values[COUNT_SENT] = stream(i).sent;
        Message peer = channel_->swap(own);
        verify_writes(*workers_[i % workers_.size()], stream(i), phase, peer.values[COUNT_BEGUN],
            peer.values[COUNT_SENT]);
    }
}

// Runs a phase, which both ends begin and end together. Returns false: it was stopped.
bool Session::run_phase(const Phase &phase)
{
    for (size_t i = 0; i < workers_.size(); ++i)
        prepare_phase(*workers_[i], phase);
    Message start(START);
    start.values[START_SIZE] = phase.size;
    start.values[START_ITERATIONS] = phase.iterations;
    start.values[START_DURATION] = phase.duration;
    Message other = channel_->swap(start);
    if (memcmp(other.values, start.values, sizeof(start.values)))
        fail("the peer measures other messages than this side: is it the same ndperf?");
    return run_workers(phase);
}

Row Session::row_of(const Phase &phase, const Message &own, const Message &peer)
{
    Row row;
    row.size = phase.size;
    row.messages = own.values[DONE_MESSAGES];
    row.seconds = (double)own.values[DONE_SECONDS_E9] * 1e-9;
    row.peer_messages = p_.bidirectional ? peer.values[DONE_MESSAGES] : 0;
    row.peer_seconds = p_.bidirectional ? (double)peer.values[DONE_SECONDS_E9] * 1e-9 : 0;
    row.processor = (double)own.values[DONE_PROCESSOR_E3] * 1e-3;
    row.peer_processor = peer.kind == DONE ? (double)peer.values[DONE_PROCESSOR_E3] * 1e-3 : -1;
    for (size_t i = 0; i < workers_.size(); ++i)
        row.samples.add(workers_[i]->samples);
    row.samples.set_scale(
        (p_.test == SEND_LAT || p_.test == WRITE_LAT ? 0.5e6 : 1e6) / ticks_per_second());
    return row;
}

// Keeps this end's counts of a phase whose end the peer has not reported: they are reported if nothing more comes.
void Session::keep_part(const Phase &phase, double processor)
{
    part_.phase = phase;
    part_.own = own_part(processor);
    part_.is_there = report_ && part_.own.values[DONE_MESSAGES] > 0;
}

// Runs all phases. Returns whether all checked data was right.
bool Session::measure()
{
    std::vector<UINT32> sizes = p_.sizes();

    if (report_)
        report_->begin();
    for (size_t i = 0; i < sizes.size() && !damaged_; ++i) {
        Phase warmup = { sizes[i], p_.warmup, 0 };
        Phase phase = { sizes[i], p_.iterations, p_.duration };
        if (p_.warmup && !run_phase(warmup))
            stop_early(stopped_by_peer_);
        double began = processor_seconds();
        UINT64 begin = ticks();
        bool is_whole = run_phase(phase);
        double wall = (double)(ticks() - begin) / ticks_per_second();
        double processor = wall > 0 ? (processor_seconds() - began) / wall * 100 : 0;
        keep_part(phase, processor);
        if (!is_whole)
            stop_early(stopped_by_peer_);
        verify(phase);
        Message own = own_part(processor);
        Message peer = channel_->swap(own);
        part_.is_there = false;
        damaged_ = own.values[DONE_DAMAGED] + peer.values[DONE_DAMAGED];
        if (report_) {
            Row row = row_of(phase, own, peer);
            report_->add(row);
        }
    }
    if (report_)
        report_->end();
    if (damaged_)
        fprintf(stderr, "%s: messages that came damaged: %llu\n", program(),
            (unsigned long long)damaged_);
    return damaged_ == 0;
}

// Reports the results until now, since the user of either end has stopped the measurement. Other threads may still run.
void Session::stop_early(bool by_peer)
{
    if (part_.is_there) {
        Row row = row_of(part_.phase, part_.own, Message(STOPPED));
        part_.is_there = false;
        report_->add(row);
    }
    if (report_)
        report_->stop();
    claim_end(); // so that no other thread reports that the connections end below
    if (!by_peer)
        channel_->tell_stop();
    std::string who = by_peer ? address_text(channel_->endpoint().peer()) + " was " : "";
    end(STATUS_FAILED,
        who + "stopped before the end" + (report_ ? ": these are the figures until then" : ""));
}

// Ends the session: the client ends the connections, when the server has sent its last message.
void Session::finish()
{
    channel_->swap(Message(BYE));
    if (options_.server)
        channel_->await_end();
    for (size_t i = 0; i < p_.streams(); ++i)
        stream(i).endpoint->disconnect(); // the peer may have disconnected first
    channel_->endpoint().disconnect();
    workers_.clear();
    refuser_.reset();
    channel_.reset();
    adapter_.reset();
    NdCleanup();
}

} // namespace ndperf
