# SPDX-License-Identifier: Apache-2.0
# Every library that we use, under a name of ours. Which folder may include which is checked by tests/lint.
find_package(PkgConfig REQUIRED)
function(tangram_import name pc)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${pc})
    add_library(tangram::${name} ALIAS PkgConfig::${name})
endfunction()

tangram_import(yajl yajl)
tangram_import(curl libcurl)
tangram_import(nghttp2 libnghttp2)
tangram_import(microhttpd libmicrohttpd)
tangram_import(yaml yaml-0.1)
tangram_import(protobufc libprotobuf-c)
tangram_import(cmocka cmocka)
tangram_import(re2 re2)

# libev ships no .pc file on Debian.
find_path(EV_INCLUDE ev.h REQUIRED)
find_library(EV_LIBRARY ev REQUIRED)
add_library(tangram_ev INTERFACE)
target_include_directories(tangram_ev SYSTEM INTERFACE ${EV_INCLUDE})
target_link_libraries(tangram_ev INTERFACE ${EV_LIBRARY})
add_library(tangram::ev ALIAS tangram_ev)

find_path(UTHASH_INCLUDE uthash.h REQUIRED)
find_package(Threads REQUIRED)
