// SPDX-License-Identifier: MIT
// platform_posix.cpp - see platform.h.
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failure.h"

extern char **environ;

namespace ndmpi
{

const char PATH_SEPARATOR = '/';
const char PROGRAM_SUFFIX[] = "";

namespace
{

class PosixProcess : public Process
{
  public:
    explicit PosixProcess(pid_t pid) : pid_(pid), ended_(false)
    {
        pthread_mutex_init(&mutex_, NULL);
    }
    ~PosixProcess()
    {
        pthread_mutex_destroy(&mutex_);
    }
    unsigned long id() const
    {
        return (unsigned long)pid_;
    }
    bool wait(std::string &how);
    void kill();

  private:
    const pid_t pid_;
    pthread_mutex_t mutex_;
    bool ended_;
};

// The process is waited for first and reaped under the lock, so that kill never meets another one of the same number.
bool PosixProcess::wait(std::string &how)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)pid_, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&mutex_);
    ended_ = true;
    waitpid(pid_, &status, 0);
    pthread_mutex_unlock(&mutex_);
    if (WIFSIGNALED(status))
        how = format("was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        how = format("exited with status %d", WEXITSTATUS(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void PosixProcess::kill()
{
    pthread_mutex_lock(&mutex_);
    if (!ended_)
        ::kill(pid_, SIGKILL);
    pthread_mutex_unlock(&mutex_);
}

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<char *> all;
    for (size_t i = 0; i < texts.size(); ++i)
        all.push_back(const_cast<char *>(texts[i].c_str()));
    return all;
}

} // namespace

Process *Process::start(const std::vector<std::string> &arguments,
    const std::vector<std::string> &environment, std::string &problem)
{
    std::vector<char *> argv = pointers(arguments), envp = pointers(environment);
    for (char **variable = environ; *variable; ++variable)
        envp.push_back(*variable);
    argv.push_back(NULL);
    envp.push_back(NULL);

    pid_t pid;
    int error = posix_spawnp(&pid, argv[0], NULL, NULL, &argv[0], &envp[0]);
    if (error) {
        problem = strerror(error);
        return NULL;
    }
    return new PosixProcess(pid);
}

void keep_private(SOCKET socket)
{
    fcntl((int)socket, F_SETFD, FD_CLOEXEC);
}

bool terminal()
{
    return isatty(STDERR_FILENO);
}

bool runnable(const std::string &path)
{
    return access(path.c_str(), X_OK) == 0;
}

} // namespace ndmpi
