/* SPDX-License-Identifier: MIT */
/* A program of the embedded device's own functions: opens the device, and closes it. */
#include <softrdma.h>
#include <stdio.h>

int main(void)
{
    int count = 0;
    struct ibv_device **list = srd_get_device_list(&count);
    struct ibv_context *context = list && count ? srd_open_device(list[0]) : NULL;
    struct ibv_device_attr attr = { .max_qp = 0 };
    int good = context && !srd_query_device(context, &attr) && attr.max_qp > 0 &&
               !srd_close_device(context);

    if (list)
        srd_free_device_list(list);
    printf("softrdma: %d devices, %d queue pairs\n", count, attr.max_qp);
    return !good;
}
