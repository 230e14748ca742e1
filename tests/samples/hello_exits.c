/* SPDX-License-Identifier: MIT */
/* hello_exits.c - the smallest sample, which ends by ExitProcess as many programs for Windows do. */
int hello(int count, char **word);
#define main hello
#include "samples/hello/hello.c"
#undef main

int main(int count, char **word)
{
    ExitProcess((UINT)hello(count, word));
}
