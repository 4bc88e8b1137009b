# SPDX-License-Identifier: Apache-2.0
# The warning set of every target that we wrote; generated code is compiled without it.
set(TANGRAM_WARNINGS
    -Wall -Wextra -Werror -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wmissing-declarations -Wundef -Wpointer-arith -Wwrite-strings -Wvla
    -Wformat=2 -Wswitch-enum -Wnull-dereference -Wdouble-promotion -Wimplicit-fallthrough)
if(TANGRAM_SANITIZE OR TANGRAM_COVERAGE OR TANGRAM_HARDENED)
    # Instrumentation and inlining make the flow analysis of this one guess.
    list(REMOVE_ITEM TANGRAM_WARNINGS -Wnull-dereference)
endif()
if(TANGRAM_HARDENED)
    # snprintf cuts on purpose in many places; this one guesses lengths from ranges that it does not know.
    list(APPEND TANGRAM_WARNINGS -Wno-format-truncation)
endif()
