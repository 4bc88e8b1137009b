# SPDX-License-Identifier: Apache-2.0
"""The rules. Each takes the tree and yields (path, line, why); the text of the line is added by
the caller. A rule whose tool is missing raises MissingTool: it never passes for that."""

import concurrent.futures
import os
import re
import shutil
import subprocess

import tables
from tree import is_in, line_of


class MissingTool(Exception):
    pass


def need(tool, package):
    if shutil.which(tool) is None:
        raise MissingTool(f"{tool} is not installed (Debian package {package})")


def banned(tree):
    """functions that are unsafe, keep hidden state or wait"""
    names = "|".join(sorted(tables.BANNED_FUNCTIONS, key=len, reverse=True))
    call = re.compile(rf"(?<![\w.])(?<!->)({names})\s*\(")
    for path in tree.c_files(generated=True):
        code = tree.code(path)
        for match in call.finditer(code):
            name = match.group(1)
            yield (path, line_of(code, match.start(1)),
                   f"{name} is banned; use {tables.BANNED_FUNCTIONS[name]}")


def yajl_tree(tree):
    """yajl's tree parser: it recurses, cuts strings at NUL and keeps duplicate keys"""
    use = re.compile(r"\byajl_tree_\w+")
    for path in tree.c_files(generated=True):
        code = tree.code(path)
        for match in use.finditer(code):
            yield path, line_of(code, match.start()), "yajl_tree is banned; use api/runtime/json"
        for line, _, name in tree.includes(path):
            if name == "yajl/yajl_tree.h":
                yield path, line, "yajl_tree is banned; use api/runtime/json"


def layer_of(path):
    folders = [f for f in tables.LAYERS if is_in(path, f)]
    return max(folders, key=len) if folders else None


def layers(tree):
    """includes against the arrows between folders"""
    for path in tree.c_files(generated=True):
        layer = layer_of(path)
        if layer is None:
            yield path, 1, "this folder is in no layer; add it to tests/lint/tables.py"
            continue
        for line, kind, name in tree.includes(path):
            target = name if name in tree.files else None
            if kind == '"' and target is None and not tree.is_generated(path):
                yield path, line, "an include in quotes is a path from the root of the tree"
            if target is None:
                continue
            target_layer = layer_of(target)
            allowed = [layer] + tables.LAYERS[layer]
            if target_layer != layer and not any(is_in(target, f) for f in allowed[1:]):
                may = ", ".join(tables.LAYERS[layer]) or "nothing else"
                yield path, line, f"{layer} may include {may}; not {target_layer}"


def libraries(tree):
    """a library included outside its folder"""
    for path in tree.c_files(generated=True):
        for line, _, name in tree.includes(path):
            for library, (pattern, folders) in tables.LIBRARIES.items():
                if re.match(pattern, name) and not any(is_in(path, f) for f in folders):
                    yield path, line, f"{library} may be included in {', '.join(folders)} only"


def cycles(tree):
    """headers that include each other"""
    headers = {f for f in tree.c_files(generated=True) if f.endswith(".h")}
    state = {}

    def visit(path, trail):
        state[path] = "open"
        for line, _, name in tree.includes(path):
            if name not in headers:
                continue
            if state.get(name) == "open":
                circle = trail[trail.index(name):] + [name] if name in trail else [path, name]
                yield path, line, "header cycle: " + " -> ".join(circle)
            elif name not in state:
                yield from visit(name, trail + [name])
        state[path] = "done"

    for header in sorted(headers):
        if header not in state:
            yield from visit(header, [header])


def file_length(tree):
    """files that are too long"""
    for path in tree.files:
        if tree.is_generated(path) or not tree.is_source(path):
            continue
        count = tree.text(path).count("\n")
        if count > tables.MAX_FILE_LINES:
            yield (path, tables.MAX_FILE_LINES + 1,
                   f"the file has {count} lines, {tables.MAX_FILE_LINES} are the limit")


def bodies(tree, path):
    """(first, last) line of what stands in braces at the left margin; the format rule holds
    function bodies there."""
    start = None
    for number, line in enumerate(tree.code(path).split("\n"), 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            yield start, number
            start = None


def function_length(tree):
    """functions that are too long"""
    for path in tree.c_files():
        for first, last in bodies(tree, path):
            count = last - first + 1
            if count > tables.MAX_FUNCTION_LINES:
                yield (path, first - 1, f"the function's body has {count} lines, "
                       f"{tables.MAX_FUNCTION_LINES} are the limit")


def complexity(tree):
    """functions with too many paths (a switch counts as one)"""
    need("pmccabe", "pmccabe")
    paths = [f for f in tree.c_files() if f.endswith(".c")]
    if not paths:
        return
    out = subprocess.run(["pmccabe", *paths], cwd=tree.root, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False, text=True)
    seen = {}
    for row in out.stdout.splitlines():
        fields = row.split("\t")
        paths_through, first, count = int(fields[0]), int(fields[3]), int(fields[4])
        path, name = re.match(r"(.*)\(\d+\): (.*)", fields[5]).groups()
        seen.setdefault(path, []).append((first, first + count))
        if paths_through > tables.MAX_COMPLEXITY:
            yield (path, first, f"{name} has a complexity of {paths_through}, "
                   f"{tables.MAX_COMPLEXITY} is the limit")
    # A function that the tool overlooked would pass unmeasured.
    for path in paths:
        for first, last in bodies(tree, path):
            if not any(a <= last and first <= b for a, b in seen.get(path, [])):
                yield path, first - 1, "pmccabe does not recognise this function; write it plainly"


def spdx(tree):
    """sources without their licence"""
    for path in tree.files:
        if tree.is_generated(path) or not (tree.is_source(path) or tree.is_manifest(path)):
            continue
        tag = "SPDX-License-Identifier: Apache-2.0"
        if path.endswith((".c", ".h")):
            wanted = f"/* {tag} */"
        else:
            wanted = f"// {tag}" if path.endswith((".go", ".cc", ".cpp", ".proto")) else f"# {tag}"
        if wanted not in tree.lines(path)[:2]:
            yield path, 1, f'the first line (after "#!") must be "{wanted}"'


def readme(tree):
    """folders with sources that nobody explains, or explains at length"""
    folders = {os.path.dirname(f) for f in tree.files
               if tree.is_source(f) or tree.is_manifest(f)} - {""}
    for folder in sorted(folders):
        while folder and any(re.search(p, folder) for p in tables.README_ABOVE):
            folder = os.path.dirname(folder)
        path = folder + "/README.md"
        if folder and path not in tree.files:
            yield path, 1, "a folder with sources has a README.md: what lives here, what may " \
                           "be included from where, where to start reading"
    for path in tree.files:
        if os.path.basename(path) == "README.md" and os.path.dirname(path):
            count = tree.text(path).count("\n")
            if count > tables.MAX_README_LINES:
                yield (path, tables.MAX_README_LINES + 1, f"a README of {count} lines; "
                       f"{tables.MAX_README_LINES} (a page) are the limit")


def cells_of_tests(tree, path):
    """(line, text) of each cell of a column that is headed "tests" or "test"."""
    column = None
    for number, line in enumerate(tree.lines(path), 1):
        cells = [cell.strip() for cell in line.split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = next((i for i, cell in enumerate(cells) if cell in ("tests", "test")), -1)
        elif 0 <= column < len(cells):
            yield number, cells[column]


def proofs(tree):
    """tests that a table of a document names, and that are not there"""
    tests = [f for f in tree.files if f.startswith(("tests/", "e2e/")) and tree.is_source(f)]
    programs = {re.sub(r"\W", "_", os.path.splitext(f)[0]) for f in tests}
    functions = {name for f in tests if f.endswith(".c")
                 for name in re.findall(r"\b(?:TEST|WITH|cmocka_unit_test\w*)\(\s*(\w+)", tree.code(f))}
    scenarios = [title for f in tests if f.endswith(".bats")
                 for title in re.findall(r'^@test "([^"]+)"', tree.text(f), re.MULTILINE)]

    def exists(name):
        if name.startswith("("):
            return any(title.startswith(name) for title in scenarios)
        if "/" in name:
            return any(is_in(f, name) for f in tests)
        if name.endswith("…"):
            return any(function.startswith(name[:-1]) for function in functions)
        return name in functions or any(("_" + p).endswith("_" + name) for p in programs)

    for path in tree.files:
        if not path.endswith(".md"):
            continue
        for number, cell in cells_of_tests(tree, path):
            for quoted, bare in re.findall(r"`([^`]+)`|(\b\w+…)", cell):
                if not exists(quoted or bare):
                    yield path, number, f'no test is called "{quoted or bare}"'


def words(tree):
    """words that must not be in the tree"""
    patterns = [(re.compile(p), why) for p, why in tables.FORBIDDEN_WORDS]
    for path in tree.files:
        if not tree.is_text(path):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for pattern, why in patterns:
                if pattern.search(line):
                    yield path, number, why


def top_level(tree):
    """names at the top of the tree that do not belong there"""
    seen = set()
    for path in tree.files:
        name = path.split("/")[0]
        if name not in tables.TOP_LEVEL and not name.startswith(".") and name not in seen:
            seen.add(name)
            yield path, 1, f'"{name}" does not belong at the top of the tree'


def guards(tree):
    """headers that may be read twice"""
    for path in tree.c_files():
        if path.endswith(".h"):
            match = re.search(r"^#ifndef (\w+)\n#define (\w+)$", tree.text(path), re.MULTILINE)
            if match is None or match.group(1) != match.group(2):
                yield path, 1, "a header starts with #ifndef NAME, #define NAME"


def in_batches(items, size, work):
    batches = [items[i:i + size] for i in range(0, len(items), size)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for found in pool.map(work, batches):
            yield from found


def form(tree):
    """C that clang-format would write otherwise"""
    need("clang-format", "clang-format")

    def check(paths):
        out = subprocess.run(["clang-format", "--dry-run", "-Werror", "--style=file", *paths],
                             cwd=tree.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             check=False, text=True)
        found = [(m.group(1), int(m.group(2)), "clang-format -i would change this")
                 for m in re.finditer(r"^(.+?):(\d+):\d+: error: ", out.stderr, re.MULTILINE)]
        if out.returncode != 0 and not found:
            raise MissingTool("clang-format: " + out.stderr.strip())
        return sorted(set(found))

    yield from in_batches(tree.c_files(), 20, check)


def headers(tree):
    """headers that do not compile alone"""
    compiler = os.environ.get("CC", "cc")
    need(compiler, "build-essential")

    def check(paths):
        found = []
        for path in paths:
            out = subprocess.run(
                [compiler, "-fsyntax-only", "-I.", *tables.HEADER_FLAGS, "-x", "c", "-"],
                input=f'#include "{path}"\n#include "{path}"\n', cwd=tree.root,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, text=True)
            if out.returncode == 0:
                continue
            place = re.search(rf"^(?:\./)?{re.escape(path)}:(\d+):\d+: .*?error: (.*)$", out.stderr,
                              re.MULTILINE)
            line, why = (int(place.group(1)), place.group(2)) if place else (1, out.stderr.strip())
            found.append((path, line, "does not compile alone: " + why.split("\n")[0]))
        return found

    yield from in_batches([f for f in tree.c_files() if f.endswith(".h")], 8, check)


# Name on the command line -> rule, in the order of the run.
RULES = {
    "banned": banned,
    "yajl-tree": yajl_tree,
    "layers": layers,
    "libraries": libraries,
    "cycles": cycles,
    "file-length": file_length,
    "function-length": function_length,
    "complexity": complexity,
    "spdx": spdx,
    "readme": readme,
    "proofs": proofs,
    "words": words,
    "top-level": top_level,
    "guards": guards,
    "form": form,
    "headers": headers,
}
