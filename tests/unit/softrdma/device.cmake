# SPDX-License-Identifier: MIT
# The device: memory, queues, connections.
nd_test(NAME softrdma.connect SOURCES test_connect.c pair.c LINK softrdma_internal)
