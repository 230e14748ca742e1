/* SPDX-License-Identifier: MIT */
/*
 * processes.c - NdLinuxDescribeCounters: asks the user's processes, waits for their answers, reads them (core/board.h);
 * for root those of all users (core/places.h).
 *
 * The files may hold anything: their writer may be faulty, or of another version, or want to do harm.
 */
#include "ndspi/core/adapter/counters.h"
#include "ndspi/core/board.h"
#include "ndspi/core/places.h"

#include "util/clock.h"

#include <ndspi_linux.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WORD_OCTETS = 64, LOOK_NS = 1000000, LOOKS = 1 << 16 };

/* The most processes of a folder, and octets of a process's file. Other users' leave room for each other. */
enum { PROCESSES = 1024, OTHER_PROCESSES = 256, OTHER_OCTETS = 1 << 16 };

struct process {
    const struct nd_place *place;
    char name[NAME_MAX + 1];
    char *text; /* the newest that was read; NULL: none */
    uint64_t answer;
    ULONG form; /* the text's form; 0: not known */
    bool asked, fresh;
};

struct found {
    struct nd_places places;
    struct process *processes;
    size_t count, room;
};

/* ---- the text ---- */

/* Parses a number that has only digits, and moves past it. */
static bool number(const char **at, UINT64 *value)
{
    char *end;

    while (**at == ' ')
        ++*at;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    if (errno || (*end != ' ' && *end != '\0'))
        return false;
    *at = end;
    return true;
}

/* A word, of which WORD_OCTETS - 1 octets are kept, each of them printable. */
static bool word(const char **at, char out[WORD_OCTETS])
{
    size_t count = 0;

    while (**at == ' ')
        ++*at;
    for (; **at && **at != ' '; ++*at)
        if (count < WORD_OCTETS - 1)
            out[count++] = **at > ' ' && **at < 127 ? **at : '_';
    out[count] = 0;
    return count;
}

static bool at_end(const char *at)
{
    return !*at;
}

/* What follows the keyword in the line; NULL: it has another. */
static const char *after(const char *line, const char *keyword)
{
    size_t octets = strlen(keyword);

    return strncmp(line, keyword, octets) == 0 && line[octets] == ' ' ? line + octets : NULL;
}

/* Returns the next line as a string, which it cuts out of the text. NULL: no whole line follows. */
static char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = 0;
    *text = end + 1;
    return line;
}

static bool read_terminate(const char *at, ND_LINUX_COUNTERS *counters)
{
    ND_LINUX_TERMINATE *to = &counters->Terminates[counters->TerminateCount];
    UINT64 code, sent, received;

    if (!number(&at, &code) || !number(&at, &sent) || !number(&at, &received) || !at_end(at) ||
        code > 0xFFFF || counters->TerminateCount == ND_LINUX_TERMINATES)
        return false;
    *to = (ND_LINUX_TERMINATE){ .Code = (ULONG)code, .Sent = sent, .Received = received };
    counters->TerminateCount++;
    return true;
}

/* A line of an adapter. A name that this version does not know is one of a later version. */
static bool read_counter(const char *line, ND_LINUX_COUNTERS *counters)
{
    const ND_LINUX_COUNTER *row;
    const char *at;
    char name[WORD_OCTETS];
    UINT64 value;

    if ((at = after(line, "terminate")))
        return read_terminate(at, counters);
    at = line;
    if (!word(&at, name) || !number(&at, &value) || !at_end(at))
        return false;
    for (size_t i = 0; (row = nd_counter_row(i)); i++)
        if (strcmp(row->Name, name) == 0)
            memcpy((char *)counters + row->Offset, &value, sizeof(value));
    return true;
}

struct reading {
    ND_LINUX_PROCESS process; /* the program's callback gets it */
    char program[WORD_OCTETS], device[WORD_OCTETS];
    ND_LINUX_COUNTERS counters;
    ULONG form;   /* the form that the title names; 0: it names none */
    bool adapter; /* an adapter was begun, and not told yet */
    ND_LINUX_PROCESS_CALLBACK tell;
    VOID *context;
};

static void tell_adapter(struct reading *reading)
{
    if (reading->adapter && reading->tell)
        reading->tell(reading->context, &reading->process);
    reading->adapter = false;
}

static bool begin_adapter(struct reading *reading, const char *at)
{
    UINT64 port, version, id, serial;

    tell_adapter(reading);
    if (!word(&at, reading->device) || !number(&at, &port) || !number(&at, &version) ||
        !number(&at, &id) || !number(&at, &serial) || !at_end(at) || port > 255 || version < 1 ||
        version > 3 || serial > UINT32_MAX)
        return false;
    reading->process.Device = reading->device;
    reading->process.Port = (ULONG)port;
    reading->process.Version = (ULONG)version;
    reading->process.AdapterId = id;
    reading->process.Serial = (ULONG)serial;
    memset(&reading->counters, 0, sizeof(reading->counters));
    reading->counters.Size = sizeof(reading->counters);
    reading->process.Counters = &reading->counters;
    reading->adapter = true;
    return true;
}

/* Returns whether the text is of this form. A text of another form is only reported, and not read further. */
static bool read_title(struct reading *reading, const char *line)
{
    const char *at = after(line, ND_BOARD_TITLE);
    UINT64 form;

    if (!at || !number(&at, &form) || !at_end(at) || !form || form > UINT32_MAX)
        return false;
    reading->form = (ULONG)form;
    return form == ND_BOARD_FORM;
}

/* Reads the lines before the first adapter. */
static bool read_head(struct reading *reading, char **text, UINT64 *answer)
{
    const char *line = next_line(text), *at;
    UINT64 id;

    if (!line || !read_title(reading, line))
        return false;
    if (!(line = next_line(text)) || !(at = after(line, "process")) || !number(&at, &id) ||
        !at_end(at) || id > UINT32_MAX)
        return false;
    reading->process.ProcessId = (ULONG)id;
    if (!(line = next_line(text)) || !(at = after(line, "program")) ||
        !word(&at, reading->program) || !at_end(at))
        return false;
    reading->process.Program = reading->program;
    return (line = next_line(text)) && (at = after(line, "answer")) && number(&at, answer) &&
           at_end(at);
}

/* Reads the whole text, and calls tell, unless NULL, for each adapter. Returns false if the text is damaged. */
static bool read_text(struct reading *reading, char *text, UINT64 *answer)
{
    const char *line, *at;

    if (!read_head(reading, &text, answer))
        return false;
    while ((line = next_line(&text))) {
        if (strcmp(line, "end") == 0) {
            tell_adapter(reading);
            return !*text;
        }
        if ((at = after(line, "adapter"))) {
            if (!begin_adapter(reading, at))
                return false;
        } else if (!reading->adapter || !read_counter(line, &reading->counters)) {
            return false;
        }
    }
    return false;
}

/* ---- the files ---- */

/* The text of NAME.txt as a string to be freed; NULL: none, or no such file. */
static char *load(const struct process *process)
{
    off_t most = process->place->foreign ? OTHER_OCTETS : ND_BOARD_OCTETS;
    int fd = nd_place_open(process->place, process->name, ND_BOARD_TEXT, O_RDONLY);
    struct stat status;
    char *text = NULL;
    ssize_t octets = -1;

    if (fd < 0)
        return NULL;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= most &&
        (text = malloc((size_t)most + 1)))
        octets = read(fd, text, (size_t)most);
    close(fd);
    if (octets < 0) {
        free(text);
        return NULL;
    }
    text[octets] = 0;
    return text;
}

/* Returns whether the file is newer than the last text read; if so, keeps its text. */
static bool look(struct process *process, bool first)
{
    char *text = load(process), *copy;
    struct reading reading = { .tell = NULL };
    UINT64 answer = 0;
    bool whole;

    if (!text)
        return false;
    copy = strdup(text);
    whole = copy && read_text(&reading, copy, &answer);
    free(copy);
    if (!first && (!whole || answer <= process->answer)) {
        free(text);
        return false;
    }
    free(process->text);
    process->text = text;
    process->answer = answer;
    process->form = reading.form;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct process *first = a, *second = b;

    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    return strcmp(first->name, second->name);
}

static struct process *one_more(struct found *found)
{
    if (found->count == found->room) {
        size_t room = found->room ? 2 * found->room : 64;
        struct process *processes = realloc(found->processes, room * sizeof(*processes));

        if (!processes)
            return NULL;
        found->processes = processes;
        found->room = room;
    }
    return memset(&found->processes[found->count], 0, sizeof(*found->processes));
}

/* Finds every process that has a FIFO there. Returns 0 or a negative errno. */
static int find_in(struct found *found, const struct nd_place *place)
{
    size_t most = found->count + (place->foreign ? OTHER_PROCESSES : PROCESSES);
    const struct dirent *entry;
    struct process *process;
    int error = 0, fd = dup(place->fd);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);

    if (!entries) {
        error = -errno;
        if (fd >= 0)
            close(fd);
        return error;
    }
    for (size_t looks = 0; !error && looks < LOOKS && found->count < most; looks++) {
        if (!(entry = readdir(entries)))
            break;
        if (!(process = one_more(found)))
            error = -ENOMEM;
        else if (nd_board_name(entry->d_name, ND_BOARD_ASK, process->name)) {
            process->place = place;
            found->count++;
        }
    }
    closedir(entries);
    return error;
}

/* Returns 0 or a negative errno. */
static int find(struct found *found)
{
    int error = nd_places_open(&found->places);

    for (size_t i = 0; !error && i < found->places.count; i++)
        error = find_in(found, &found->places.list[i]);
    if (found->count)
        qsort(found->processes, found->count, sizeof(*found->processes), compare);
    return error;
}

/* Does not ask processes of another form: their answers would not be read. */
static void ask_all(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        struct process *process = &found->processes[i];

        (void)look(process, true);
        process->asked = (!process->form || process->form == ND_BOARD_FORM) &&
                         !nd_board_ask(process->place, process->name);
    }
}

/* Waits until each has answered, or the time is up: processes that are stopped or busy may not answer. */
static void await_all(struct found *found, ULONG wait_ms)
{
    const struct timespec pause = { .tv_nsec = LOOK_NS };
    uint64_t end_ms = clock_now_ms() + wait_ms;
    bool all = false;

    while (!all) {
        all = true;
        for (size_t i = 0; i < found->count; i++) {
            struct process *process = &found->processes[i];

            if (process->asked && !process->fresh)
                process->fresh = look(process, false);
            all = all && (process->fresh || !process->asked);
        }
        if (all || clock_now_ms() >= end_ms)
            return;
        nanosleep(&pause, NULL);
    }
}

static void tell_process(struct process *process, ND_LINUX_PROCESS_CALLBACK tell, VOID *context)
{
    struct reading reading = { .tell = NULL };
    char *copy = process->text ? strdup(process->text) : NULL;
    UINT64 answer = 0;

    /* Reads it once without reporting, so that nothing of a damaged text is reported. */
    if (copy && read_text(&reading, copy, &answer)) {
        reading = (struct reading){ .tell = tell, .context = context };
        reading.process.Name = process->name;
        reading.process.UserId = (ULONG)process->place->owner;
        reading.process.Fresh = process->fresh;
        (void)read_text(&reading, process->text, &answer);
    } else if (process->text) {
        reading.process = (ND_LINUX_PROCESS){ .Name = process->name,
            .Damaged = TRUE,
            .UserId = (ULONG)process->place->owner,
            .Form = process->form == ND_BOARD_FORM ? 0 : process->form };
        tell(context, &reading.process);
    }
    free(copy);
}

DECLSPEC_EXPORT HRESULT NdLinuxDescribeCounters(
    ULONG wait, ND_LINUX_PROCESS_CALLBACK tell, VOID *context)
{
    struct found found = { .count = 0 };
    int error;

    if (!tell)
        return ND_INVALID_PARAMETER_2;
    error = find(&found);
    if (!error) {
        ask_all(&found);
        await_all(&found, wait);
        for (size_t i = 0; i < found.count; i++)
            tell_process(&found.processes[i], tell, context);
    }
    for (size_t i = 0; i < found.count; i++)
        free(found.processes[i].text);
    free(found.processes);
    nd_places_close(&found.places);
    return !error             ? ND_SUCCESS
           : error == -ENOMEM ? ND_NO_MEMORY
           : error == -EACCES ? ND_ACCESS_VIOLATION
                              : ND_INSUFFICIENT_RESOURCES;
}
