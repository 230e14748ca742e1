// SPDX-License-Identifier: MIT
// launch.cpp - see launch.h. Sockets and the ends of processes report to one port, whose thread does everything; a
// thread for each process waits for its end.
#include "launch.h"

#include <stdio.h>

#include <random>

namespace ndmpi
{

namespace
{

const ULONGLONG NEVER = ~0ULL;
const ULONGLONG LEAVE_MS = 5000;  // for the other ranks to end when one has failed
const unsigned GRACE_S = 15;      // a rank gives up this much later than this process
const unsigned STRANGERS = 64;    // unidentified connections, besides one for each rank
const unsigned IGNORED_TOLD = 10; // each by a line; of more only their number, at the end
const ULONGLONG SPEAK_MS = 10000; // to identify itself: no younger connection is closed

HANDLE start_thread(LPTHREAD_START_ROUTINE routine, void *argument)
{
    HANDLE thread = CreateThread(NULL, 0, routine, argument, 0, NULL);
    if (!thread)
        fail("CreateThread failed: error %u", (unsigned)GetLastError());
    return thread;
}

void join(HANDLE thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

UINT64 random_key()
{
    std::random_device random;
    return (UINT64)random() << 32 | random();
}

// For a shell of the other side.
std::string quoted(const std::string &word)
{
    std::string text = "'";
    for (size_t i = 0; i < word.size(); ++i)
        text += word[i] == '\'' ? "'\\''" : std::string(1, word[i]);
    return text + "'";
}

} // namespace

// A process, and its reports.
struct Launch::Rank {
    Launch *launch;
    unsigned number;
    Process *process;
    HANDLE thread;
    Connection *connection; // NULL before its card, and after it has left
    SOCKADDR_INET address;  // where it listens
    bool met, done, ended, good, judged;
    std::string how, failure;
};

struct Launch::Connection : public StreamOwner {
    Connection(Launch &the_launch, SOCKET socket)
        : launch(the_launch), stream(the_launch.executive_, *this, socket), rank(NULL), over(false),
          came(GetTickCount64())
    {
    }
    void said(Stream &, const std::string &line)
    {
        launch.said(*this, line);
    }
    void left(Stream &, const std::string &)
    {
        launch.left(*this);
    }

    Launch &launch;
    Stream stream;
    Rank *rank; // NULL before its card
    bool over;  // to be deleted once its requests have ended
    const ULONGLONG came;
};

// The thread of a process posts this when the process has ended.
struct Launch::End : public Request {
    explicit End(Rank &the_rank) : rank(the_rank), good(false)
    {
    }
    void ended(HRESULT)
    {
        rank.launch->ended(rank, good, how);
        delete this;
    }

    Rank &rank;
    bool good;
    std::string how;
};

// ---- threads --------------------------------------------------------------------------------------------------------

DWORD WINAPI Launch::wait_thread(void *self)
{
    Rank *rank = (Rank *)self;
    End *end = new End(*rank);
    end->good = rank->process->wait(end->how);
    rank->launch->executive_.post(*end, ND_SUCCESS);
    return 0;
}

// ---- start ----------------------------------------------------------------------------------------------------------

Launch::Launch(const Plan &plan)
    : plan_(plan), key_(random_key()), places_(place(plan.hosts, plan.ranks)),
      listener_(executive_, *this, plan.root), aborted_(false), ignored_(0), deadline_(NEVER),
      room_(NEVER)
{
}

Launch::~Launch()
{
    for (size_t i = 0; i < ranks_.size(); ++i) {
        delete ranks_[i]->process;
        delete ranks_[i];
    }
}

std::string Launch::key() const
{
    return format("%016llx", (unsigned long long)key_);
}

// Without the key.
std::vector<std::string> Launch::environment(unsigned rank) const
{
    unsigned here = 0;
    for (size_t i = 0; i < places_.size(); ++i)
        here += places_[i] == places_[rank];
    std::vector<std::string> all;
    all.push_back(format(NDMPI_RANK "=%u", rank));
    all.push_back(format(NDMPI_SIZE "=%u", plan_.ranks));
    all.push_back(NDMPI_ROOT "=" + address_text(listener_.address()));
    // without its port, which is 0: not every Windows function of this kind reads that
    all.push_back(NDMPI_ADDRESS "=" + ip_text(plan_.hosts[places_[rank]].address));
    all.push_back(format(NDMPI_PORTS "=%u-%u", plan_.first_port, plan_.last_port));
    all.push_back(format(NDMPI_VERSION "=%u", plan_.version));
    all.push_back(plan_.shared ? NDMPI_CHANNEL "=shm" : NDMPI_CHANNEL "=nd");
    all.push_back(format(NDMPI_HERE "=%u", here));
    all.push_back(format(NDMPI_PATIENCE "=%u", plan_.patience_s + GRACE_S));
    return all;
}

// A line for the shell of the other host. All users there can see it, and those of this host the remote command, so it
// has no key: that comes by standard input, and a shell of which only the syntax of sh is known reads it.
std::string Launch::remote_line(unsigned number) const
{
    static const char script[] =
        "IFS= read -r " NDMPI_KEY " || { echo \"ndmpirun: no key has come by standard input: does "
        "the remote command (-r) pass it on? ssh -n does not\" >&2; exit 1; }; "
        "export " NDMPI_KEY "; exec \"$@\"";
    std::vector<std::string> variables = environment(number);
    std::string line = "env";

    for (size_t i = 0; i < variables.size(); ++i)
        line += " " + quoted(variables[i]);
    line += " sh -c " + quoted(script) + " sh";
    for (size_t i = 0; i < plan_.command.size(); ++i)
        line += " " + quoted(plan_.command[i]);
    return line;
}

void Launch::start(unsigned number)
{
    const Host &host = plan_.hosts[places_[number]];
    std::vector<std::string> arguments, variables;
    std::string input, problem;

    if (host.login.empty()) {
        arguments = plan_.command;
        variables = environment(number);
        variables.push_back(NDMPI_KEY "=" + key());
    } else {
        arguments = plan_.remote;
        arguments.push_back(host.login);
        arguments.push_back(remote_line(number));
        input = key() + "\n";
    }
    Rank *rank = new Rank();
    rank->launch = this;
    rank->number = number;
    rank->process = Process::start(arguments, variables, input, problem);
    ranks_.push_back(rank);
    if (rank->process) {
        rank->thread = start_thread(wait_thread, rank);
        return;
    }
    rank->ended = rank->judged = true;
    abort(format(
        "rank %u cannot be started: %s: %s (it was looked for beside ndmpirun and on the PATH)",
        number, arguments[0].c_str(), problem.c_str()));
}

bool Launch::run()
{
    for (unsigned rank = 0; rank < plan_.ranks && !aborted_; ++rank)
        start(rank);
    if (!aborted_)
        deadline_ = GetTickCount64() + plan_.patience_s * 1000ULL;

    struct Is {
        static bool over(const Rank &rank)
        {
            return rank.judged;
        }
        static bool good(const Rank &rank)
        {
            return rank.good;
        }
    };
    while (!everybody(Is::over)) {
        executive_.run(until_deadline());
        sweep();
        if (room_ != NEVER)
            make_room();
        if (GetTickCount64() >= deadline_)
            deadline();
    }

    listener_.close();
    for (size_t i = 0; i < connections_.size(); ++i)
        send_away(*connections_[i]);
    for (sweep(); !connections_.empty() || !listener_.idle(); sweep())
        executive_.run(INFINITE);
    for (size_t i = 0; i < ranks_.size(); ++i)
        if (ranks_[i]->thread)
            join(ranks_[i]->thread);
    if (ignored_ > IGNORED_TOLD)
        fprintf(stderr, "ndmpirun: %llu more programs connected that are no rank of this run\n",
            ignored_ - IGNORED_TOLD);
    return !aborted_ && everybody(Is::good);
}

bool Launch::everybody(bool (*is)(const Rank &)) const
{
    for (size_t i = 0; i < ranks_.size(); ++i)
        if (!is(*ranks_[i]))
            return false;
    return true;
}

std::string Launch::describe(const Rank &rank) const
{
    const Host &host = plan_.hosts[places_[rank.number]];
    return format("rank %u (process %lu, %s%s)", rank.number, rank.process->id(),
        host.login.empty() ? "adapter " : "at ",
        host.login.empty() ? ip_text(host.address).c_str() : host.login.c_str());
}

// ---- time -----------------------------------------------------------------------------------------------------------

DWORD Launch::until_deadline() const
{
    ULONGLONG now = GetTickCount64(), next = room_ < deadline_ ? room_ : deadline_;
    if (next == NEVER)
        return INFINITE;
    return next > now ? (DWORD)(next - now) : 0;
}

// The ranks have not met in time, or not ended.
void Launch::deadline()
{
    deadline_ = NEVER;
    if (!aborted_) {
        std::string missing;
        for (size_t i = 0; i < ranks_.size(); ++i)
            if (!ranks_[i]->met)
                missing += format("%s%u", missing.empty() ? "" : ", ", ranks_[i]->number);
        abort(format("rank %s has not come within %u s (-t gives more time)", missing.c_str(),
            plan_.patience_s));
        for (size_t i = 0; i < ranks_.size(); ++i)
            if (!ranks_[i]->met && !ranks_[i]->ended) // it has no connection to send the message on
                ranks_[i]->process->kill();
        return;
    }
    for (size_t i = 0; i < ranks_.size(); ++i)
        if (!ranks_[i]->ended) {
            fprintf(
                stderr, "ndmpirun: %s does not end: it is killed\n", describe(*ranks_[i]).c_str());
            ranks_[i]->process->kill();
        }
}

void Launch::abort(const std::string &why)
{
    if (aborted_)
        return;
    aborted_ = true;
    why_ = why;
    fprintf(stderr, "ndmpirun: %s; the other ranks end, too\n", why.c_str());
    deadline_ = GetTickCount64() + LEAVE_MS;
    for (size_t i = 0; i < ranks_.size(); ++i)
        if (ranks_[i]->connection)
            ranks_[i]->connection->stream.write("abort " + why_);
}

// ---- events ---------------------------------------------------------------------------------------------------------

void Launch::came(SOCKET socket)
{
    connections_.push_back(new Connection(*this, socket));
    make_room();
}

// Strangers may connect and send nothing: when there are too many, the oldest is disconnected once it has had SPEAK_MS.
// Until then further connections wait to be accepted; nothing they send is lost.
void Launch::make_room()
{
    Connection *oldest = NULL;
    unsigned strangers = 0;
    for (size_t i = connections_.size(); i-- > 0;)
        if (!connections_[i]->rank && !connections_[i]->over) {
            oldest = connections_[i];
            ++strangers;
        }
    room_ = NEVER;
    if (strangers > STRANGERS + plan_.ranks) {
        if (GetTickCount64() < oldest->came + SPEAK_MS) {
            room_ = oldest->came + SPEAK_MS;
            return;
        }
        send_away(*oldest);
    }
    listener_.accept();
}

void Launch::send_away(Connection &connection)
{
    connection.stream.close();
    connection.over = true;
}

// Keeps the connections in the order in which they were accepted.
void Launch::sweep()
{
    size_t kept = 0;
    for (size_t i = 0; i < connections_.size(); ++i) {
        if (!connections_[i]->over || !connections_[i]->stream.idle())
            connections_[kept++] = connections_[i];
        else
            delete connections_[i];
    }
    connections_.resize(kept);
}

void Launch::said(Connection &connection, const std::string &line)
{
    if (!connection.rank) {
        card(connection, line);
    } else if (line == "done") {
        connection.rank->done = true;
        connection.stream.write("bye");
    } else if (line.compare(0, 7, "failed ") == 0) {
        connection.rank->failure = line.substr(7);
    }
}

// Any program may connect; those without the key are disconnected.
void Launch::card(Connection &connection, const std::string &line)
{
    unsigned long long key;
    unsigned number;
    char text[80];
    SOCKADDR_INET address;

    if (sscanf(line.c_str(), "card %llx %u %79s", &key, &number, text) != 3 || key != key_ ||
        number >= plan_.ranks || number >= ranks_.size() || ranks_[number]->met ||
        !parse_address(text, address)) {
        if (ignored_++ < IGNORED_TOLD)
            fprintf(stderr, "ndmpirun: a program connected that is no rank of this run: ignored\n");
        send_away(connection);
        return;
    }
    Rank &rank = *ranks_[number];
    rank.met = true;
    rank.address = address;
    rank.connection = &connection;
    connection.rank = &rank;
    if (aborted_) {
        connection.stream.write("abort " + why_);
        return;
    }
    for (size_t i = 0; i < ranks_.size(); ++i) {
        if (ranks_[i]->judged && !ranks_[i]->met)
            abort(format("%s %s before it met the others", describe(*ranks_[i]).c_str(),
                ranks_[i]->how.c_str()));
        if (!ranks_[i]->met)
            return;
    }
    deadline_ = NEVER;
    for (size_t to = 0; to < ranks_.size(); ++to)
        for (size_t i = 0; i < ranks_.size() && ranks_[to]->connection; ++i)
            ranks_[to]->connection->stream.write(
                format("at %u %s", (unsigned)i, address_text(ranks_[i]->address).c_str()));
}

void Launch::left(Connection &connection)
{
    Rank *rank = connection.rank;
    connection.over = true;
    if (!rank)
        return;
    rank->connection = NULL;
    if (rank->ended)
        verdict(*rank);
}

// The rank's last report may still be on its way.
void Launch::ended(Rank &rank, bool good, const std::string &how)
{
    rank.ended = true;
    rank.good = good;
    rank.how = how;
    if (!rank.connection)
        verdict(rank);
}

void Launch::verdict(Rank &rank)
{
    rank.judged = true;
    if (!rank.failure.empty())
        abort(describe(rank) + " failed: " + rank.failure);
    else if (!rank.good)
        abort(describe(rank) + " " + rank.how);
    else if (rank.met && !rank.done)
        abort(describe(rank) + " " + rank.how + " before the run was over");
    for (size_t i = 0; i < ranks_.size() && !rank.met; ++i)
        if (ranks_[i]->met)
            abort(describe(rank) + " " + rank.how + " before it met the others");
}

} // namespace ndmpi
