# SPDX-License-Identifier: Apache-2.0
"""Regular expressions and texts to try them on, the same for the same seed."""

import random

CHARS = list("abcABC01_ -.") + ["é", "日", "\U0001F600", "ß", "K"]
TEXT_CHARS = list("aaabbbcABC012_ -.,\n") + ["é", "É", "日", "\U0001F600", "ß", "K", "k", "ſ", "\u2028", "\t"]
CLASSES = [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", "[abc]", "[^a]", "[a-c]", "[^a-c0-9]", "[[:alpha:]]", "[[:^digit:]]", "[\\d_]", r"\pL", r"\p{Lu}", r"\PL",
           r"\p{Greek}", r"\p{^Lu}", "[é日]", "[]a]", "[^]a]", "[a-]", "[-a]", r"[\x41-\x43]", "[.]", r"[^\n]", r"\x61", r"\x{1F600}", r"\141", r"\t", r"\n", r"\.", r"\-"]
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\z"]
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}", "{2,}", "{1,2}?", "{0}", "{,2}"]
GROUPS = ["({})", "(?:{})", "(?i:{})", "(?i){}", "(?s:{})", "(?m){}", "(?U){}", "(?P<name>{})", "(?<name>{})", "(?i-s:{})", "(?-i){}"]
# Refused by one kind of regular expressions or by all.
ODD = [r"[\Q.\E]", "a**", "a+*", "a{2}{2}", "a{1001}", "a{1000}", "(", ")", "[", "a{2", "*a", "+", "?", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"\1", r"(a)\1", r"\Z", r"\C", r"\8", r"\k<n>", "(?P=n)", "(?#c)", "(?>a)", "a++", "[z-a]", "[[:foo:]]",
       r"\p{Foo}", r"\xZ", r"\x{110000}", "\\", r"\Qa.b\E", r"\Q", r"\E", "(?P<n>a)(?P<n>b)", "(?P<n", "(?P<>a)", "(?P<1>a)", "(?i", "(?x)a", "a||b", "()", "(|a)", "[]", "[^]", "x{1000}{1000}",
       "(?:(?:a{100}){100}){100}", "a{2,1}", "a{1001,}", r"\u0041", r"\h", r"\R", r"\X", r"\G", r"\a\f\v\r", r"\_", r"\é", "(?i)K", "(?i)ſ", "(?i)ß", "(?s).", "(?m)^b$", "a|b|", "^*", "$+", r"\b*", "(?:)", "(?:)*",
       r"\pN", r"\p{Han}+", r"\p{Emoji}", "[a&&b]", "[a--b]", r"[\w-z]", r"[a-\d]", r"[\b]", "(?flags:a)", "(a*)*", "(a*)+", "(a|b)*?c", "(a+)(b+)", "((((((((((a))))))))))"]


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def atom(self, depth):
        draw = self.rng.random()
        if draw < 0.5:
            char = self.rng.choice(CHARS)
            return "\\." if char == "." and self.rng.random() < 0.5 else char
        if draw < 0.75:
            return self.rng.choice(CLASSES)
        if draw < 0.85 or depth <= 0:
            return self.rng.choice(ANCHORS)
        return self.rng.choice(GROUPS).format(self.alternatives(depth - 1))

    def sequence(self, depth):
        out = []
        for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4])):
            out.append(self.atom(depth))
            if self.rng.random() < 0.3:
                out.append(self.rng.choice(REPEATS))
        return "".join(out)

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 2, 3])))

    def pattern(self):
        if self.rng.random() < 0.12:
            odd = self.rng.choice(ODD)
            return odd if self.rng.random() < 0.6 else self.sequence(1) + odd
        return self.alternatives(2)

    def text(self):
        return "".join(self.rng.choice(TEXT_CHARS) for _ in range(self.rng.choice([0, 1, 2, 3, 5, 8, 13])))


FUNCTIONS = ["{}.matches({})", "matches({}, {})", "{}.find({})", "{}.findAll({})", "{}.findAll({}, 2)", "{}.findAll({}, -1)", "{}.findAll({}, 0)"]


def literal(text):
    """As a CEL literal; escapes are not what is tried here."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def pairs(seed, count):
    """Text and pattern each as a constant and as an attribute: a constant pattern is compiled ahead, and a constant text
    with a constant pattern is folded."""
    rng = random.Random(f"patterns {seed}")
    generator = Generator(rng)
    for number in range(count):
        pattern, text = generator.pattern(), generator.text()
        shown = ['device.attributes["a"].text' if rng.random() < 0.7 else literal(text),
                 'device.attributes["a"].pattern' if rng.random() < 0.3 else literal(pattern)]
        yield {"id": f"{seed}:regex:{number}", "expression": rng.choice(FUNCTIONS).format(*shown), "features": ["ConsumableCapacity"],
               "device": {"driver": "a", "attributes": {"text": {"string": text}, "pattern": {"string": pattern}}}}
