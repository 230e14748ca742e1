// SPDX-License-Identifier: MIT
//
// impostor - stands in for ndmpirun and does not keep to the protocol: starts the program as rank 0 of 2, and when it
// has come answers it wrongly. Its status is the program's.
// usage: impostor silent|nonsense|endless|twice|gone|deaf PROGRAM [ARGUMENT...]
#include <stdio.h>
#include <string.h>

#include "samples/ndmpi/job.h"
#include "samples/ndmpi/platform.h"
#include "samples/ndmpi/stream.h"

using namespace ndmpi;

namespace
{

class Impostor : private ListenerOwner, private StreamOwner, private Request
{
  public:
    Impostor(const std::string &manner, const SOCKADDR_INET &address)
        : manner_(manner), listener_(executive_, *this, address), stream_(NULL), process_(NULL),
          over_(false), good_(false)
    {
    }
    bool run(const std::vector<std::string> &command)
    {
        std::vector<std::string> variables;
        std::string problem;
        variables.push_back(NDMPI_RANK "=0");
        variables.push_back(NDMPI_SIZE "=2");
        variables.push_back(NDMPI_ROOT "=" + address_text(listener_.address()));
        variables.push_back(NDMPI_KEY "=0123456789abcdef");
        variables.push_back(NDMPI_ADDRESS "=127.0.0.1");
        variables.push_back(NDMPI_PORTS "=0-0");
        variables.push_back(NDMPI_VERSION "=2");
        variables.push_back(NDMPI_HERE "=2");
        variables.push_back(NDMPI_PATIENCE "=2");
        if (manner_ == "deaf")
            listener_.close();
        process_ = Process::start(command, variables, "", problem);
        if (!process_)
            fail("%s", problem.c_str());
        HANDLE thread = CreateThread(NULL, 0, wait, this, 0, NULL);
        while (!over_)
            executive_.run(INFINITE);
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
        delete process_;
        if (manner_ != "deaf")
            listener_.close();
        if (stream_)
            stream_->close();
        while (!listener_.idle() || (stream_ && !stream_->idle()))
            executive_.run(INFINITE);
        delete stream_;
        return good_;
    }

  private:
    void came(SOCKET socket)
    {
        stream_ = new Stream(executive_, *this, socket);
    }
    void said(Stream &stream, const std::string &line)
    {
        if (line.compare(0, 5, "card ") != 0) {
            printf("impostor: %s\n", line.c_str());
        } else if (manner_ == "nonsense") {
            stream.write("HTTP/1.0 400 Bad Request");
        } else if (manner_ == "endless") {
            for (int i = 0; i < 100; ++i)
                stream.write("at 0 127.0.0.1:1" + std::string(500, ' ') + "x");
        } else if (manner_ == "twice") {
            stream.write("at 0 127.0.0.1:1");
            stream.write("at 0 127.0.0.1:1");
        } else if (manner_ == "gone") {
            stream.close();
        }
    }
    void left(Stream &, const std::string &)
    {
    }
    // The program has ended.
    void ended(HRESULT)
    {
        over_ = true;
    }
    static DWORD WINAPI wait(void *self)
    {
        Impostor *impostor = (Impostor *)self;
        std::string how;
        impostor->good_ = impostor->process_->wait(how);
        impostor->executive_.post(*impostor, ND_SUCCESS);
        return 0;
    }

    const std::string manner_;
    Executive executive_;
    Listener listener_;
    Stream *stream_;
    Process *process_;
    bool over_, good_;
};

} // namespace

int main(int argc, char **argv)
{
    WSADATA data;
    SOCKADDR_INET address;
    if (argc < 3 || WSAStartup(MAKEWORD(2, 2), &data) != 0 || !parse_address("127.0.0.1", address))
        return 2;
    Impostor impostor(argv[1], address);
    return impostor.run(std::vector<std::string>(argv + 2, argv + argc)) ? 0 : 1;
}
