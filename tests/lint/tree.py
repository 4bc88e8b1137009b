# SPDX-License-Identifier: Apache-2.0
"""The files under test: their kinds and their text, and C without comments and strings."""

import functools
import os
import re
import subprocess

import tables

C_SUFFIXES = (".c", ".h")
SCRIPT_SUFFIXES = (".py", ".sh", ".bash", ".bats", ".cmake")
SPDX_SUFFIXES = C_SUFFIXES + SCRIPT_SUFFIXES + (".cc", ".cpp", ".proto", ".go")

# A comment, a string, a character; whatever comes first wins.
COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class Tree:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = sorted(f for f in self._list() if os.path.isfile(os.path.join(self.root, f)))

    def _list(self):
        """What git knows or would take; where there is no git, everything but what was built."""
        if os.path.exists(os.path.join(self.root, ".git")):
            out = subprocess.run(
                ["git", "-C", self.root, "-c", "safe.directory=*", "ls-files", "-z", "--cached",
                 "--others", "--exclude-standard"], check=True, stdout=subprocess.PIPE).stdout
            return {os.fsdecode(name) for name in out.split(b"\0") if name}
        found = set()
        for folder, folders, names in os.walk(self.root):
            if folder == self.root and "build" in folders:
                folders.remove("build")
            found.update(os.path.relpath(os.path.join(folder, n), self.root) for n in names)
        return found

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        with open(os.path.join(self.root, path), "rb") as f:
            return f.read().decode("utf-8", "replace")

    @functools.lru_cache(maxsize=None)
    def lines(self, path):
        return self.text(path).split("\n")

    def line(self, path, number):
        lines = self.lines(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def is_text(self, path):
        with open(os.path.join(self.root, path), "rb") as f:
            return b"\0" not in f.read(8192)

    def is_generated(self, path):
        return tables.GENERATED_FOLDER in path.split("/")[:-1]

    def is_script(self, path):
        return path.endswith(SCRIPT_SUFFIXES) or os.path.basename(path) == "CMakeLists.txt" or (
            "." not in os.path.basename(path) and self.text(path).startswith("#!"))

    def is_source(self, path):
        return path.endswith(SPDX_SUFFIXES) or self.is_script(path)

    def is_manifest(self, path):
        return path.endswith((".yaml", ".yml")) and path.startswith(("deploy/", "e2e/"))

    def c_files(self, generated=False):
        return [f for f in self.files
                if f.endswith(C_SUFFIXES) and (generated or not self.is_generated(f))]

    @functools.lru_cache(maxsize=None)
    def code(self, path):
        """C text with comments, strings and characters blanked; lines and columns stay."""
        def blank(match):
            return re.sub(r"[^\n]", " ", match.group(0))
        return COMMENT_OR_STRING.sub(blank, self.text(path))

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        """(line, '<' or '"', name) of each include that is not commented out."""
        def blank_comments(match):
            text = match.group(0)
            return re.sub(r"[^\n]", " ", text) if text.startswith("/") else text
        text = COMMENT_OR_STRING.sub(blank_comments, self.text(path))
        return [(text.count("\n", 0, m.start(1)) + 1, m.group(1), m.group(2))
                for m in INCLUDE.finditer(text)]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def is_in(path, folder):
    return path == folder or path.startswith(folder + "/")
