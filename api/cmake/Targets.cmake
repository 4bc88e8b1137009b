# SPDX-License-Identifier: Apache-2.0
# One call a folder. Sources are globbed: a folder is a library, a file in it belongs to it.

# tangram_library(NAME [LINK targets...] [PRIVATE_LINK targets...] [SUBFOLDERS dirs...])
function(tangram_library name)
    cmake_parse_arguments(ARG "" "" "LINK;PRIVATE_LINK;SUBFOLDERS" ${ARGN})
    set(globs ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    foreach(sub IN LISTS ARG_SUBFOLDERS)
        list(APPEND globs ${CMAKE_CURRENT_SOURCE_DIR}/${sub}/*.c)
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${globs})
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    if(NOT sources)
        # A folder of headers only.
        add_library(${name} INTERFACE)
        target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
        target_link_libraries(${name} INTERFACE ${ARG_LINK})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${TANGRAM_WARNINGS}>")
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# tangram_program(NAME [LINK targets...]): main.c of the current folder, into bin/
function(tangram_program name)
    cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/main.c)
        return()
    endif()
    add_executable(${name} main.c)
    target_compile_options(${name} PRIVATE ${TANGRAM_WARNINGS})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# tangram_test_program(NAME SOURCES files... [LINK targets...] [BENCH]): a program that tests run, into tests/
#
# BENCH: it measures, so it is linked as programs are; others save the minutes that this takes.
function(tangram_test_program name)
    cmake_parse_arguments(ARG "BENCH" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(${name} PRIVATE ${TANGRAM_WARNINGS} -Wno-missing-prototypes -Wno-missing-declarations)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${ARG_LINK})
    if(TANGRAM_HARDENED AND NOT ARG_BENCH)
        target_compile_options(${name} PRIVATE -fno-lto)
        target_link_options(${name} PRIVATE -fno-lto)
    endif()
endfunction()

# tangram_unit_tests(AREA [NO_THREADS] [LINK targets...] [SLOW tests...]): each *_test.c of the current folder is a test of its own
#
# NO_THREADS: what is tested may not include threads (tests/lint), so the thread sanitizer has nothing to find in it.
# SLOW: those that a sanitizer on a busy machine makes take minutes.
function(tangram_unit_tests area)
    cmake_parse_arguments(ARG "NO_THREADS" "" "LINK;SLOW" ${ARGN})
    if(ARG_NO_THREADS AND TANGRAM_SANITIZE STREQUAL "thread")
        return()
    endif()
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.c)
    foreach(source IN LISTS tests)
        get_filename_component(stem ${source} NAME_WE)
        set(name ${area}_${stem})
        tangram_test_program(${name} SOURCES ${source} LINK ${ARG_LINK} tangram::cmocka)
        target_compile_definitions(${name} PRIVATE TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TEST_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
        add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS unit)
    endforeach()
    foreach(slow IN LISTS ARG_SLOW)
        set_tests_properties(${area}_${slow} PROPERTIES TIMEOUT 600)
    endforeach()
endfunction()

# tangram_failing_arena(TEST): its allocations from arenas go through tests/support/failing_arena.h.
function(tangram_failing_arena test)
    if(NOT TARGET ${test}) # NO_THREADS under the thread sanitizer
        return()
    endif()
    foreach(call alloc alloc_array strndup strdup printf)
        target_link_options(${test} PRIVATE -Wl,--wrap=tg_arena_${call})
    endforeach()
endfunction()
