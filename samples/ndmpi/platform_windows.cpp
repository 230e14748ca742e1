// SPDX-License-Identifier: MIT
// platform_windows.cpp - see platform.h.
#include "platform.h"

#include <windows.h>

#include <io.h>
#include <stdio.h>

#include "failure.h"

namespace ndmpi
{

const char PATH_SEPARATOR = '\\';
const char PROGRAM_SUFFIX[] = ".exe";

namespace
{

class WindowsProcess : public Process
{
  public:
    WindowsProcess(HANDLE process, DWORD id) : process_(process), id_(id)
    {
    }
    ~WindowsProcess()
    {
        CloseHandle(process_);
    }
    unsigned long id() const
    {
        return id_;
    }
    bool wait(std::string &how)
    {
        DWORD status = 0;
        WaitForSingleObject(process_, INFINITE);
        GetExitCodeProcess(process_, &status);
        how = format("exited with status %u", (unsigned)status);
        return status == 0;
    }
    void kill()
    {
        TerminateProcess(process_, 9);
    }

  private:
    HANDLE process_;
    DWORD id_;
};

// As the C run time takes it apart again: backslashes count double in front of a quote only.
std::string quoted(const std::string &argument)
{
    if (!argument.empty() && argument.find_first_of(" \t\"") == std::string::npos)
        return argument;
    std::string text = "\"";
    size_t backslashes = 0;
    for (size_t i = 0; i < argument.size(); ++i) {
        if (argument[i] == '\\') {
            ++backslashes;
            continue;
        }
        text.append(argument[i] == '"' ? 2 * backslashes + 1 : backslashes, '\\');
        backslashes = 0;
        text += argument[i];
    }
    text.append(2 * backslashes, '\\');
    return text + '"';
}

} // namespace

Process *Process::start(const std::vector<std::string> &arguments,
    const std::vector<std::string> &environment, std::string &problem)
{
    STARTUPINFOA startup = STARTUPINFOA();
    PROCESS_INFORMATION process;
    std::string line;

    for (size_t i = 0; i < arguments.size(); ++i)
        line += (i ? " " : "") + quoted(arguments[i]);
    for (size_t i = 0; i < environment.size(); ++i) {
        size_t equals = environment[i].find('=');
        SetEnvironmentVariableA(
            environment[i].substr(0, equals).c_str(), environment[i].substr(equals + 1).c_str());
    }
    std::vector<char> command(line.begin(), line.end());
    command.push_back(0);
    startup.cb = sizeof(startup);
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessA(NULL, &command[0], NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process)) {
        problem = format("CreateProcess: error %u", (unsigned)GetLastError());
        return NULL;
    }
    CloseHandle(process.hThread);
    return new WindowsProcess(process.hProcess, process.dwProcessId);
}

void keep_private(SOCKET socket)
{
    SetHandleInformation((HANDLE)socket, HANDLE_FLAG_INHERIT, 0);
}

bool terminal()
{
    return _isatty(_fileno(stderr)) != 0;
}

bool runnable(const std::string &path)
{
    return _access(path.c_str(), 0) == 0;
}

} // namespace ndmpi
