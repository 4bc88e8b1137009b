# SPDX-License-Identifier: Apache-2.0
"""What the lint knows, as data: limits, words, functions, folders and their arrows."""

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 80
MAX_COMPLEXITY = 15
MAX_README_LINES = 60

# Names at the top of the tree; beside these only dot files (checked in or ignored).
TOP_LEVEL = {
    "CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
    "CMakePresets.json", "driver", "controller", "kubelet-plugin", "api", "deploy", "e2e", "tests",
}

# Built by tools, exempt from size, form and complexity, never from the layers.
GENERATED_FOLDER = "generated"

# Function -> what to use in its place.
BANNED_FUNCTIONS = {
    "strcpy": "memcpy with a checked length, or tg_buf",
    "strcat": "tg_buf",
    "strncpy": "memcpy or snprintf: it may leave no NUL",
    "strncat": "tg_buf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "strtok": "strcspn or strsep: it has hidden state",
    "atoi": "tg_parse_i64: it cannot tell an error",
    "atol": "tg_parse_i64: it cannot tell an error",
    "atoll": "tg_parse_i64: it cannot tell an error",
    "atof": "strtod with an end pointer: it cannot tell an error",
    "gets": "tg_file_read",
    "alloca": "an arena or a fixed array",
    "rand": "nothing: decisions are deterministic",
    "srand": "nothing: decisions are deterministic",
    "random": "nothing: decisions are deterministic",
    "srandom": "nothing: decisions are deterministic",
    "system": "fork and exec without a shell",
    "popen": "fork and exec without a shell",
    "sleep": "a timer of the loop, or await the event",
    "usleep": "a timer of the loop, or await the event",
    "nanosleep": "a timer of the loop, or await the event",
    "strerror": "strerrordesc_np: it is not thread safe",
    "mktemp": "mkostemp",
    "tmpnam": "mkostemp",
}

# Written in two halves, so that this file does not contain what it looks for.
FORBIDDEN_WORDS = [
    (r"\bTO" r"DO\b", "unfinished work belongs into an issue, not into the code"),
    (r"\bFIX" r"ME\b", "unfinished work belongs into an issue, not into the code"),
    (r"\bX" r"XX\b", "unfinished work belongs into an issue, not into the code"),
    (r"(?<![\w.$})\]/-])/wo" r"rk/", "a path of one machine"),
    (r"/tmp/t" r"g\b", "a path of one machine"),
]

# A folder may include itself and what is listed. The longest matching folder counts; "x" covers
# everything below x. Arrows point from the reader to what is read.
LAYERS = {
    "api/runtime/base": [],
    "api/runtime/json": ["api/runtime/base"],
    "api/runtime/yaml": ["api/runtime/base", "api/runtime/json"],
    "api/runtime/loop": ["api/runtime/base"],
    "api/runtime/rest": ["api/runtime/base", "api/runtime/json", "api/runtime/loop"],
    "api/runtime/grpc": ["api/runtime/base", "api/runtime/json", "api/runtime/loop"],
    "api/runtime/http": ["api/runtime/base", "api/runtime/json", "api/runtime/loop"],
    "api/kubernetes/values": ["api/runtime/base"],
    "api/kubernetes/objects": [
        "api/runtime/base", "api/runtime/json", "api/runtime/yaml", "api/kubernetes/values"],
    "api/kubernetes/client": ["api/runtime", "api/kubernetes/values", "api/kubernetes/objects"],
    "api/mig": ["api/runtime/base"],
    "api/tangram": [
        "api/runtime/base", "api/runtime/json", "api/runtime/yaml", "api/kubernetes/values",
        "api/kubernetes/objects"],
    "api/kubelet": ["api/runtime"],
    "api": [],
    # What a node knows about its devices: no kubelet, no API server.
    "driver": [
        "api/runtime/base", "api/runtime/json", "api/runtime/yaml", "api/runtime/loop",
        "api/kubernetes/values", "api/kubernetes/objects", "api/mig", "api/tangram"],
    "kubelet-plugin": ["api", "driver"],
    "controller/core": [
        "api/runtime/base", "api/kubernetes/values", "api/kubernetes/objects", "api/mig",
        "api/tangram", "controller/core/explain"],
    # A second opinion on what the search finds: neither reads the other.
    "controller/core/check": [
        "api/runtime/base", "api/runtime/json", "api/kubernetes/values", "api/kubernetes/objects",
        "api/tangram", "controller/core/cel"],
    # The one place of the core that writes JSON.
    "controller/core/explain": [
        "api/runtime/base", "api/runtime/json", "api/kubernetes/values", "api/kubernetes/objects",
        "api/mig", "api/tangram", "controller/core"],
    "controller": ["api", "controller/core"],
    "tests": ["api", "driver", "kubelet-plugin", "controller"],
    "e2e": ["api", "driver", "kubelet-plugin", "controller", "tests/support"],
}

# Library -> how its headers are named, and the folders that may include them. Tests may speak a
# library from the other side of the wire.
LIBRARIES = {
    "yajl": (r"yajl/", ["api/runtime/json"]),
    "libyaml": (r"yaml\.h$", ["api/runtime/yaml"]),
    "libev": (r"ev(\+\+)?\.h$", ["api/runtime/loop"]),
    "libcurl": (r"curl/", ["api/runtime/rest", "tests"]),
    "nghttp2": (r"nghttp2/", ["api/runtime/grpc", "tests"]),
    "libmicrohttpd": (r"microhttpd\.h$", ["api/runtime/http", "tests"]),
    "protobuf-c": (r"protobuf-c/", ["api/kubelet"]),
    "libre2": (r"re2/", ["controller/core/cel"]),
    "uthash": (r"ut(hash|list|array|string|ringbuffer|stack)\.h$", ["api/runtime/base"]),
    "cmocka": (r"cmocka\.h$", ["tests"]),
    # Where else no thread is, the thread sanitizer has nothing to find (NO_THREADS, api/cmake/Targets.cmake).
    "threads": (r"(pthread|threads)\.h$", ["api/runtime/base", "api/runtime/loop", "driver/provider", "tests"]),
    "the dynamic loader": (r"dlfcn\.h$", ["driver/provider", "tests/restart"]),
}

# Folders whose files are explained in the README of the folder above.
README_ABOVE = [
    r"^tests/unit(/[^/]+)?$",
    r"^api/kubelet/proto$",
    r"^e2e/(components|cluster)/[^/]+$",
    r"^deploy/docs$",
    r"^deploy/manifests/[^/]+$",
    r"^deploy/helm/.+$",
    r"^tests/chart/[^/]+$",
    r"^tests/cli/files(/hostile)?$",
    r"(^|/)generated$",
    r"^\.[^/]+",
]

# What a header needs beside the root of the tree to compile alone.
HEADER_FLAGS = [
    "-std=gnu17", "-D_GNU_SOURCE", '-DTANGRAM_VERSION="0"', "-Wall", "-Wextra", "-Werror",
    "-isystem", "api/kubelet/generated",
]
