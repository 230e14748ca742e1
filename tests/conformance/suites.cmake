# SPDX-License-Identifier: MIT
# The suites, and what all of them are built with: tests/portable builds them, too.
set(suites provider helper adapter device iunknown params overlapped cq notify srq mr mw qp
    sendrecv inline rdma connector states refusal negotiation listener disconnect lifetime closing
    v1_adapter v1_endpoint v1_window v1_connector v1_client mixed)
set(common harness.c exceptions.c expect.c dialect_v2.c dialect_v1.c fixture.c fixture_objects.c
    fixture_pair.c fixture_requests.c fixture_v1.c)
