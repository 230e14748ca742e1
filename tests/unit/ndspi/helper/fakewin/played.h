/* SPDX-License-Identifier: MIT */
/*
 * played.h - the Windows that the helper functions see: a Winsock catalogue, the libraries it names, and their
 * providers.
 */
#ifndef TESTS_UNIT_NDSPI_HELPER_FAKEWIN_PLAYED_H
#define TESTS_UNIT_NDSPI_HELPER_FAKEWIN_PLAYED_H

#include "tests/unit/ndspi/helper/fakewin/ws2spi.h"

#include "ndspi/helper/catalogue.h"

#include <stdbool.h>

enum { LIBRARIES = 3, V2_A = 0, V2_B = 1, V1 = 2 };

struct library {
    int loads, frees; /* of the operating system */
    int objects;      /* alive: providers and adapters */
    bool fails_to_load;
    bool no_address;
    bool list_grows;     /* its list does, between the first two questions for it */
    HRESULT list_result; /* of QueryAddressList, when not ND_SUCCESS */
    IND2Provider v2;
    INDProvider v1;
    IClassFactory factory;
    IUnknown adapter;
};
extern struct library libraries[LIBRARIES];

struct played {
    FAKE_PROTOCOL_INFO catalogue[8];
    int catalogue_size;
    bool change_works; /* notice of changes of the catalogue */
    OVERLAPPED *change_pending;
    int reads, winsock, handles;
    bool grows; /* the catalogue does, between the two questions */
    int ours;   /* number of the library that is the system's ndspi.dll; -1: none is */
};
extern struct played played;

/* All three libraries are in the catalogue. */
void played_reset(void);
/* Of a library, as its installer makes it. */
FAKE_PROTOCOL_INFO entry_of(int number);
bool loaded(int number);
/* The notice that was asked for comes. */
void change_catalogue(void);

#endif
