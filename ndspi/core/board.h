/* SPDX-License-Identifier: MIT */
/*
 * board.h - where processes of a user show what they count, so that the user's other processes can read it.
 *
 * A process has two entries in the user's directory: NAME.ask, a FIFO, and NAME.txt. A reader writes an octet into the
 * FIFO, and the process replaces the file. So a process writes nothing unless it is asked, each file is whole, and a
 * reader notices that the owner is gone: no process has its FIFO open for reading, even if its number was reused.
 *
 *     ndspi-counters 2
 *     process 4711
 *     program ndping
 *     answer 3                     the answers so far, this one included
 *     adapter softrdma0 1 2 513 0  device, port, version (3: NDKPI), adapter id, serial: the first it opened has 0
 *     inbound_bytes 8192           and the other names of NdLinuxCounter
 *     terminate 4352 1 0           code, sent, received
 *     end
 */
#ifndef NDSPI_CORE_BOARD_H
#define NDSPI_CORE_BOARD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "ndspi/core/exported.h"

#define ND_BOARD_TITLE "ndspi-counters" /* its form follows */
#define ND_BOARD_BEGIN "counters."      /* each NAME begins so */
#define ND_BOARD_ASK   ".ask"
#define ND_BOARD_TEXT  ".txt"
#define ND_BOARD_NEW   ".new" /* NAME.new becomes NAME.txt */
#define ND_BOARD_FRESH "new." /* a FIFO's name, new.PID.ADDRESS, until it is ready */

/*
 * Raised with each change that a reader of the previous form would misread. A reader reports a file of another form and
 * reads no more of it. It skips counters with unknown names, so new counters need no new form. 1: adapters had no
 * serial.
 */
enum { ND_BOARD_FORM = 2 };

/* Room for a path, and the most octets of a file. */
enum { ND_BOARD_PATH = 256, ND_BOARD_OCTETS = 1 << 18 };

/*
 * nd_board_directory - the user's directory: ndspi in XDG_RUNTIME_DIR, or else /dev/shm/ndspi-USER.
 * make  in: whether to make it where it is missing
 * Returns 0 or a negative errno; EACCES: it is another user's, or others may enter it.
 */
int nd_board_directory(char path[ND_BOARD_PATH], bool make);

/*
 * nd_board_name - the NAME of an entry.
 * entry  in: as the directory has it, so anything
 * end    in: ND_BOARD_ASK, ND_BOARD_TEXT or ND_BOARD_NEW
 * name   out: digits and dots after ND_BOARD_BEGIN
 * Returns false: it is no such entry.
 */
bool nd_board_name(const char *entry, const char *end, char name[NAME_MAX + 1]);

/*
 * nd_board_clean - removes what processes left behind that ended without doing so.
 * directory  in: as nd_board_directory returns it
 */
void nd_board_clean(const char *directory);

/*
 * nd_board_ask - asks the owner of NAME.ask for an answer.
 * Returns 0; -ENXIO or -EPIPE: it is gone; another negative errno. Raises no SIGPIPE.
 */
struct nd_place;
int nd_board_ask(const struct nd_place *place, const char *name);

/*
 * nd_publish_program - the name that the board has (adapter/publish.c), for a process whose argv[0] is not the program:
 * under Wine it is the loader, and Wine overwrites it. Without it it is that of argv[0] as the library was loaded.
 * name  in: without a path; it is copied, and cut at 255 octets
 * Any thread.
 */
void nd_publish_program(const char *name) __attribute__((visibility("default")));

#endif
