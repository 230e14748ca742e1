// SPDX-License-Identifier: MIT
// process.cpp - started processes, see platform.h: by CreateProcess, on Linux, too.
#include "platform.h"

#include <string.h>
#include <windows.h>

#include "failure.h"

namespace ndmpi
{

namespace
{

class OwnProcess : public Process
{
  public:
    OwnProcess(HANDLE process, DWORD id) : process_(process), id_(id)
    {
    }
    ~OwnProcess()
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
        how = describe_end(status);
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

// Quotes as the C run time parses: it halves backslashes only in front of a quote.
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

// A block of variables: the given ones, then those of this process that they do not replace.
std::vector<char> variables(const std::vector<std::string> &given)
{
    std::vector<std::string> all = given, own = own_variables();
    for (size_t i = 0; i < own.size(); ++i) {
        std::string name = own[i].substr(0, own[i].find('=', 1) + 1);
        bool replaced = false;
        for (size_t j = 0; j < given.size() && !replaced; ++j)
            replaced = given[j].compare(0, name.size(), name) == 0;
        if (!replaced)
            all.push_back(own[i]);
    }
    std::vector<char> block;
    for (size_t i = 0; i < all.size(); ++i)
        block.insert(block.end(), all[i].c_str(), all[i].c_str() + all[i].size() + 1);
    block.push_back(0);
    return block;
}

// In the system's words, without the end of their line.
std::string words_of(DWORD error)
{
    char text[256] = "";
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
        error, 0, text, sizeof(text), NULL);
    while (length > 0 && strchr("\r\n. ", text[length - 1]))
        text[--length] = 0;
    return format("%s (error %u)", length ? text : "CreateProcess", (unsigned)error);
}

// A pipe that has the text and nothing behind it, for a process that inherits it. The text is short, so that this does
// not wait. NULL: the last error says why.
HANDLE pipe_with(const std::string &text)
{
    SECURITY_ATTRIBUTES inherited = { sizeof(inherited), NULL, TRUE };
    HANDLE from, to;
    DWORD written = 0;

    if (!CreatePipe(&from, &to, &inherited, (DWORD)text.size()))
        return NULL;
    bool good = WriteFile(to, text.data(), (DWORD)text.size(), &written, NULL) != 0;
    DWORD error = GetLastError();
    CloseHandle(to); // no process has been started that could inherit it
    if (good && written == text.size())
        return from;
    CloseHandle(from);
    SetLastError(error);
    return NULL;
}

} // namespace

Process *Process::start(const std::vector<std::string> &arguments,
    const std::vector<std::string> &environment, const std::string &input, std::string &problem)
{
    STARTUPINFOA startup = STARTUPINFOA();
    PROCESS_INFORMATION process;
    std::string line;

    for (size_t i = 0; i < arguments.size(); ++i)
        line += (i ? " " : "") + quoted(arguments[i]);
    std::vector<char> command(line.begin(), line.end());
    command.push_back(0);
    std::vector<char> block = variables(environment);
    startup.cb = sizeof(startup);
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdInput = input.empty() ? GetStdHandle(STD_INPUT_HANDLE) : pipe_with(input);
    if (!input.empty() && !startup.hStdInput) {
        problem = "its standard input: " + words_of(GetLastError());
        return NULL;
    }
    startup.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    bool started = CreateProcessA(NULL, &command[0], NULL, NULL, TRUE, 0, &block[0], NULL, &startup,
                       &process) != 0;
    DWORD error = GetLastError();
    if (!input.empty())
        CloseHandle(startup.hStdInput);
    if (!started) {
        problem = words_of(error);
        return NULL;
    }
    CloseHandle(process.hThread);
    return new OwnProcess(process.hProcess, process.dwProcessId);
}

} // namespace ndmpi
