# SPDX-License-Identifier: MIT
# Tests that call Windows' functions alone: tests/portable builds them, too.
set(win32_tests printf scanf string strsafe strsafe_ex stdlib macros functions sdk intsafe tchar tchar_narrow)
