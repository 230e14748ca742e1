# SPDX-License-Identifier: MIT
# The device: memory, queues, connections.
nd_test(NAME softrdma.connect SOURCES cm/test_connect.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cq SOURCES queues/test_cq.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.several SOURCES queues/test_several.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_several PRIVATE -Wl,--wrap=reactor_poll,--wrap=ppoll)
nd_test(NAME softrdma.sleep SOURCES events/test_sleep.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.background SOURCES events/test_background.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.memory SOURCES memory/test_memory.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cm SOURCES cm/test_cm.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cm_raw SOURCES cm/test_raw.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.churn SOURCES cm/test_churn.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.device SOURCES device/test_device.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.conn_end SOURCES connection/test_end.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_conn_end PRIVATE
    -Wl,--wrap=srd_conn_apply,--wrap=srd_conn_create,--wrap=srd_stream_tx)
nd_test(NAME softrdma.cm_waits SOURCES cm/test_waits.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.cm_faults SOURCES cm/test_faults.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_cm_faults PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)
nd_test(NAME softrdma.unmapped SOURCES memory/test_unmapped.c pair.c LINK softrdma_internal)
nd_test(NAME softrdma.turns SOURCES connection/test_turns.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_turns PRIVATE -Wl,--wrap=srd_stream_tx_done,--wrap=reactor_turn_at_once)
nd_test(NAME softrdma.absent SOURCES device/test_absent.c pair.c LINK softrdma_internal
    ENV "NDSPI_LOG=warn;NDSPI_LOG_FILE=${CMAKE_CURRENT_BINARY_DIR}/absent.log")
nd_test(NAME softrdma.timer SOURCES events/test_timer.c LINK softrdma_internal)
target_link_options(test_softrdma_timer PRIVATE -Wl,--wrap=clock_gettime)
nd_test(NAME softrdma.owed SOURCES connection/test_owed.c pair.c LINK softrdma_internal)
target_link_options(test_softrdma_owed PRIVATE -Wl,--wrap=clock_gettime,--wrap=ppoll
    -Wl,--wrap=srd_stream_owes_ack,--wrap=srd_stream_deadline_ms)
