/* SPDX-License-Identifier: MIT */
/*
 * exported.h - what libndspi exports for Wine's bridge alone (ndspi.map). The linker would take a function of the
 * program's that has the same name, so these have a prefix there. Each header that declares one includes this.
 */
#ifndef NDSPI_CORE_EXPORTED_H
#define NDSPI_CORE_EXPORTED_H

#define nd_defer            ndspi_nd_defer
#define nd_file_users_close ndspi_nd_file_users_close
#define nd_file_users_init  ndspi_nd_file_users_init
#define nd_get_class_object ndspi_nd_get_class_object
#define nd_publish_program  ndspi_nd_publish_program

#endif
