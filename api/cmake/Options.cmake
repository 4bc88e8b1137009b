# SPDX-License-Identifier: Apache-2.0
# What a preset can choose, and the flags that follow from the choice.
option(TANGRAM_HARDENED "release flags: LTO, PIE, fortify, stack protector" OFF)
option(TANGRAM_COVERAGE "instrument for gcovr" OFF)
option(TANGRAM_FUZZ "build the fuzz targets with libFuzzer (clang only)" OFF)
set(TANGRAM_SANITIZE "" CACHE STRING "value of -fsanitize=")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
# One file, the shim over libre2.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Debug)
endif()

# Paths inside the binary and in log lines are relative to the source, on every machine the same.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -fno-common)
add_compile_definitions(_GNU_SOURCE TANGRAM_VERSION="${PROJECT_VERSION}")

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_compile_options(-g3)
    if(TANGRAM_SANITIZE)
        add_compile_options(-O1 -fno-omit-frame-pointer)
    else()
        add_compile_options(-O0)
    endif()
endif()
if(TANGRAM_SANITIZE)
    add_compile_options(-fsanitize=${TANGRAM_SANITIZE})
    string(REPLACE "fuzzer-no-link," "" TANGRAM_SANITIZE_LINK "${TANGRAM_SANITIZE}")
    add_link_options(-fsanitize=${TANGRAM_SANITIZE_LINK})
    if(NOT TANGRAM_SANITIZE STREQUAL "thread")
        add_compile_options(-fno-sanitize-recover=all)
    endif()
endif()
if(TANGRAM_COVERAGE)
    add_compile_options(--coverage -O0)
    add_link_options(--coverage)
endif()
if(TANGRAM_HARDENED)
    # Assertions stay: a controller that finds itself in an impossible state must stop, not go on.
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    # Fat objects: programs are linked with LTO, the many test programs without (api/cmake/Targets.cmake).
    add_compile_options(-O2 -flto=auto -ffat-lto-objects -fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
        -fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero
        -fno-strict-overflow -fno-plt)
    add_link_options(-flto=auto -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code,--as-needed)
endif()
