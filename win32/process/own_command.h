/* SPDX-License-Identifier: MIT */
/* own_command.h - the command line of the process itself. */
#ifndef WIN32_PROCESS_OWN_COMMAND_H
#define WIN32_PROCESS_OWN_COMMAND_H

/* own_command_line - the line, which stays; empty where there is no memory or no /proc. Any thread. */
const char *own_command_line(void);

#endif
