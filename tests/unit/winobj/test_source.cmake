# SPDX-License-Identifier: MIT
# Of FOLDER/NAME: the test's name and its source, FOLDER/test_NAME.c.
macro(nd_winobj_test_source test)
    get_filename_component(name ${test} NAME)
    string(REGEX REPLACE "[^/]+$" "test_${name}.c" source ${test})
endmacro()
