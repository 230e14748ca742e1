# SPDX-License-Identifier: MIT
# The device: memory, queues, connections.
nd_test(NAME softrdma.connect SOURCES test_connect.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cq SOURCES test_cq.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.sleep SOURCES test_sleep.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.background SOURCES test_background.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.leave SOURCES test_leave.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.memory SOURCES test_memory.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cm SOURCES test_cm.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cm_raw SOURCES test_cm_raw.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.churn SOURCES test_churn.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.device SOURCES test_device.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.conn_end SOURCES test_conn_end.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_conn_end PRIVATE -Wl,--wrap=srd_conn_want)
