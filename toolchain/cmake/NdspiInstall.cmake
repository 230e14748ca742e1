# SPDX-License-Identifier: MIT
# What `cmake --install` puts where, apart from targets installed beside their definition.
