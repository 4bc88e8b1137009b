# SPDX-License-Identifier: Apache-2.0
"""Selectors and devices from the grammar, the same for the same seed."""

import random
import re
import string

import grammar
import patterns

DRIVER = "gpu.example.com"
DOMAINS = [DRIVER, "dra.example.com", "resource.kubernetes.io"]
MISSING_DOMAIN = "no.such.example.com"

# Names and the type that they mostly have.
NAMES = {
    "string": ["productName", "architecture", "uuid", "label"],
    "int": ["index", "numaNode", "cores", "huge"],
    "bool": ["healthy", "mig", "ecc"],
    "version": ["driverVersion", "cudaVersion"],
    "list": ["modes", "links", "versions", "flags"],
}
LIST_KIND = {"modes": "strings", "links": "ints", "versions": "versions", "flags": "bools"}
CAPACITIES = ["memory", "cores", "bandwidth"]

VALUES = ["A100", "H100", "NVIDIA H100 80GB HBM3", "Hopper", "ampere", "", "a", "ab", "abab", "GPU-1234", "b", "é", "ÄÖ ü", "日本",
          "a\U0001F600b", "x,y,z", "a b", "1", "1.5", "true", "H", "80GB", "0", " padded ", "A", "a\nb", "tab\there", "\"quoted\"", "back\\slash", "it's"]
INTS = [0, 1, 2, 3, 5, 7, 8, 64, 132, -1, -5, 1000, 2**31, 2**53 + 1, 2**63 - 1, -2**63]
VERSIONS = ["1.0.0", "1.2.3", "2.0.0", "0.0.1", "12.4.0", "550.54.15", "1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-beta+build.5", "1.2.3+b1", "10.0.0", "1.10.0", "1.2.10-rc.1"]
ODD_VERSIONS = ["1", "1.2", "v1.2.3", "v1", "01.2.3", "1.2.3.4", "1.2.x", "", "1.2.3-", "1.2.3-01", " 1.2.3", "1.2.3-a..b", "99999999999999999999.0.0", "18446744073709551615.0.0", "1.2-alpha", "V1.2.3", "1.2.3-é", "1.02.3", "vv1.2.3"]
QUANTITIES = ["0", "1", "10", "1k", "1Ki", "80Gi", "40G", "80G", "1.5Gi", "1500m", "0.5", "100n", "1u", "12e6", "1E3", "1E", "2Ei", "3P", "4Ti", "-1", "-1.5", "+5", "0.1n", "1e-3", "9223372036854775807", "1024Mi", "1Gi", "1073741824", "999999999999999999999", "1e18", "1M", "1Mi",
              "12345678901234567890123456789012345678901234567890", "1e100", "1e30", "1e-30", "12345678901234567890e40", "-9223372036854775808",
              "99999999999999999999999999999999999999999", "-12345678901234567890.123456789123", "9223372036854775808", "123456789012345678901234567890Gi",
              "0.12345678901234567890", "1234567890123456789012345678901234567890123456789n", "-9999999999999999999", "9007199254740993000000000"]
ODD_QUANTITIES = ["", "x", "1.5.5", "1gi", "1 Gi", " 1", "1.", ".5", "+", "-", ".", "1ki", "1KI", "1e", "1e1.5", "1Kii", "--1", "1e400", "1E-400", "10Ei", "1e+3", "0x10", "1_000", "00001", "0.0000000001", "1.10Ki",
                  ".e-10", "-e-10", "e-10", "e5", ".5e-10", "00000000000000000000.1", "+.", "Ki", ".Ki", "0.000000000000000000000Ki",
                  "1.5Ei", "7Pi", "99Ti", "100Ti", "99999Gi", "100000Gi", "0.3e-9", "1.0000000000000000001", "1.00000000000000000000000000Gi"]
IPS = ["127.0.0.1", "10.0.0.1", "0.0.0.0", "::1", "::", "fe80::1", "2001:db8::1", "2001:DB8::0001", "224.0.0.1", "169.254.1.1", "ff02::1", "255.255.255.255", "::ffff:1.2.3.4"]
ODD_IPS = ["010.0.0.1", "10.0.0", "1.2.3.4.5", "fe80::1%eth0", "", "x", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::"]
CIDRS = ["10.0.0.0/8", "10.0.0.1/24", "192.168.0.0/16", "0.0.0.0/0", "::/0", "2001:db8::/32", "2001:db8::1/64"]
ODD_CIDRS = ["10.0.0.0/33", "10.0.0.0", "x/8", "10.0.0.0/08", "::ffff:1.2.3.4/100", "fe80::1%eth0/64", "127.0.0.1/32", "10.0.0.0/-1"]
URLS = ["http://example.com/a/b?c=d&e=f", "https://user@h:8080/p%20q", "/abs/path", "rel"]
ODD_URLS = ["mailto:a@b", "http://[::1]:80/", "", "http://a b/", "HTTP://EXAMPLE.com", "//host/x", "http://h:port/", "a://b?x=1&x=2;y", "%zz", "http://h/%zz"]
DURATIONS = ["1s", "1h30m", "0", "1.5s", "-1m", "100ms", "1us", "1ns", "1h1m1s1ms"]
ODD_DURATIONS = ["x", "", "1", "1d", "9223372036s", "99999999999s", "315576000000s", "+5s", ".5s", "1µs", "-0.5h", "1 s"]
TIMES = ["2023-01-01T00:00:00Z", "2009-02-13T23:31:30Z", "1970-01-01T00:00:00Z", "2024-02-29T12:30:45.123456789Z", "2023-06-15T12:00:00+05:30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
         "2050-07-01T00:00:00Z", "2060-01-15T12:00:00Z", "2038-03-14T07:00:00Z", "2044-11-06T05:59:59Z", "1850-01-01T00:00:00Z", "1942-06-01T00:00:00Z",
         "2045-03-26T01:00:00Z", "2048-10-25T01:00:00Z", "1901-12-13T20:45:52Z"]
ODD_TIMES = ["2023-13-01T00:00:00Z", "2023-02-30T00:00:00Z", "2023-01-01", "", "2023-01-01T00:00:00", "10000-01-01T00:00:00Z", "2023-01-01t00:00:00z", "2023-01-01T24:00:00Z", "2023-01-01T00:00:60Z", "2023-01-01T00:00:00.1234567891Z", "0000-01-01T00:00:00Z"]
ZONES = ["UTC", "+01:00", "-02:30", "America/New_York", "Europe/Berlin", "Australia/Sydney", "Asia/Kolkata", "Africa/Casablanca", "Europe/Dublin",
         "America/Sao_Paulo", "Etc/GMT+5", "EST5EDT", "Antarctica/Troll", "Asia/Gaza", "Pacific/Apia", "America/Nuuk"]
ODD_ZONES = ["Nowhere/City", "", "01:00", "+25:00", "../zoneinfo/UTC", "/etc/localtime", "America", "zone.tab", "\\x"]
INT_TEXTS = ["0", "1", "-1", "42", "9223372036854775807"]
ODD_INT_TEXTS = ["9223372036854775808", "-9223372036854775808", "", "x", "1.5", "0x10", " 1", "1 ", "+1", "1e3", "18446744073709551615", "007", "1_000"]
DOUBLE_TEXTS = ["0", "1.5", "-1e10", "1e400"]
ODD_DOUBLE_TEXTS = ["nan", "inf", "-Infinity", "", "x", "0x1p4", ".5", "1.", " 1", "1e", "1_0", "+1.5"]
BOOL_TEXTS = ["true", "false", "True", "TRUE", "t", "f", "1", "0"]
ODD_BOOL_TEXTS = ["", "yes", "tRUE", "F", "False", "FALSE", "T"]
FORMATS = ["dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime", "nosuch"]
FORMAT_TEXTS = ["%s", "%d", "%x", "%X", "%o", "%b", "%f", "%e", "%.3f", "%.0e", "%s %s"]
ODD_FORMAT_TEXTS = ["%%", "%", "%s %s %s", "a%sb%dc", "%.3s", "%z", "%.100f", "%5d", "%+d"]
LITERALS = {
    "int": ["0", "1", "2", "-1", "10", "0x1F", "-0x1F", "0X1f", "9223372036854775807", "-9223372036854775808", "4294967296", "1000000007", "00"],
    "uint": ["0u", "1u", "2U", "10u", "0xFFu", "18446744073709551615u"],
    "double": ["0.0", "1.5", "-2.25", "1e3", "1E-3", "3.0e+10", "0.1", "1e308", "5e-324", "2.0", "100.0", "-0.0", "1e16", "123456789.125"],
    "bytes": ["b''", "b'abc'", "b\"\\xff\\x00\"", "b'é'", "br'\\n'", "B'a'", "b'\\141'", "b'a'", "b'''x'''"],
}

ELEMENTS = ["int", "string", "bool", "double"]


def productions():
    """Every type and what makes it: lists, maps and optionals are made from their patterns."""
    table = {"selector": grammar.SELECTORS, "bool": grammar.BOOL, "int": grammar.INT, "uint": grammar.UINT, "double": grammar.DOUBLE,
             "string": grammar.STRING, "bytes": grammar.BYTES, "duration": grammar.DURATION, "timestamp": grammar.TIMESTAMP, "semver": grammar.SEMVER,
             "quantity": grammar.QUANTITY, "ip": grammar.IP, "cidr": grammar.CIDR, "url": grammar.URL, "type": grammar.TYPE, "dyn": grammar.DYN}
    for element in ELEMENTS:
        def fill(rows, element=element):
            return [(weight, re.sub(r"\b(list|map|optional)_E\b|(?<=[$:])([ELM])\b",
                                    lambda m: f"{m.group(1)}_{element}" if m.group(1) else
                                    {"E": element, "L": f"list_{element}", "M": f"map_{element}"}[m.group(2)], text)) for weight, text in rows]
        table[f"list_{element}"] = fill(grammar.LISTS)
        table[f"map_{element}"] = fill(grammar.MAPS)
        table[f"optional_{element}"] = fill(grammar.OPTIONALS)
    table["list_int"] += grammar.LIST_INT
    table["list_string"] += grammar.LIST_STRING
    return table


TABLE = productions()
# What an expression of a type becomes when it must not grow: something without holes, or with leaves only.
ENDS = {
    "selector": "device.driver == $driver", "bool": "true", "int": "$small", "uint": "$uintliteral", "double": "$doubleliteral", "string": "$value",
    "bytes": "$bytesliteral", "duration": "duration($durationtext)", "timestamp": "timestamp($timestamptext)", "semver": "semver($versiontext)",
    "quantity": "quantity($quantitytext)", "ip": "ip($iptext)", "cidr": "cidr($cidrtext)", "url": "url($urltext)", "type": "int", "dyn": "dyn($small)",
}
ENDS.update({f"list_{e}": f"[${e}]" for e in ELEMENTS})
ENDS.update({f"map_{e}": "{\"a\": $" + e + "}" for e in ELEMENTS})
ENDS.update({f"optional_{e}": f"optional.of(${e})" for e in ELEMENTS})
HOLE = re.compile(r"\$([a-z_]+)|=(string|int|bool|version|list|capacity)\b(?!=)|%([vw])(?::([a-z_]+))?")


def quote(text, rng):
    """A CEL string literal of the text, in one of the ways to write it."""
    mark = rng.choice("\"\"\"'")
    out = []
    for char in text:
        if char == mark or char == "\\":
            out.append("\\" + char)
        elif char == "\n":
            out.append("\\n")
        elif char == "\t":
            out.append("\\t")
        elif ord(char) > 126 and rng.random() < 0.2:
            out.append(f"\\U{ord(char):08x}")
        else:
            out.append(char)
    return mark + "".join(out) + mark


class Generator:
    def __init__(self, seed, list_attributes=True):
        self.rng = random.Random(seed)
        self.list_attributes = list_attributes
        self.patterns = patterns.Generator(self.rng)
        self.weights = {}

    def pick(self, rows):
        weights = self.weights.get(id(rows))
        if weights is None:
            total, weights = 0, []
            for weight, _ in rows:
                total += weight
                weights.append(total)
            self.weights[id(rows)] = weights
        return self.rng.choices(rows, cum_weights=weights)[0][1]

    # Leaves: `$name` that is no type.

    def text_of(self, good, odd, odds=0.15):
        return quote(self.rng.choice(odd if odd and self.rng.random() < odds else good), self.rng)

    def leaf(self, name):
        rng = self.rng
        if name.endswith("literal") and name[:-7] in LITERALS:
            return rng.choice(LITERALS[name[:-7]])
        if name == "format":
            return rng.choice(FORMATS)
        if name in ("small", "hundreds"):
            return str(rng.choice([0, 1, 2, 3, 3, 4, 8, -1]) if name == "small" else rng.choice([10, 100, 300, 900, 2000]))
        if name == "longtext":
            return quote("ab" * rng.randrange(8, 200), rng)
        if name == "pattern":
            return quote(self.patterns.pattern(), rng)
        if name == "stringliteral":
            return quote("".join(rng.choice(string.printable[:95] + "éß日\U0001F600") for _ in range(rng.randrange(12))), rng)
        good, odd = {
            "driver": ([DRIVER, DRIVER, "dra.example.com", ""], None), "domain": (DOMAINS + [DRIVER] * 9 + [MISSING_DOMAIN], None), "value": (VALUES, None),
            "name": (sum(NAMES.values(), []) + CAPACITIES, None), "separator": ([",", " ", "", "b", "-"], None), "versiontext": (VERSIONS, ODD_VERSIONS),
            "quantitytext": (QUANTITIES, ODD_QUANTITIES), "iptext": (IPS, ODD_IPS), "cidrtext": (CIDRS, ODD_CIDRS), "urltext": (URLS, ODD_URLS),
            "durationtext": (DURATIONS, ODD_DURATIONS), "timestamptext": (TIMES, ODD_TIMES), "zone": (ZONES, ODD_ZONES), "inttext": (INT_TEXTS, ODD_INT_TEXTS),
            "doubletext": (DOUBLE_TEXTS, ODD_DOUBLE_TEXTS), "booltext": (BOOL_TEXTS, ODD_BOOL_TEXTS), "formatname": (FORMATS, None), "formattext": (FORMAT_TEXTS, ODD_FORMAT_TEXTS),
        }[name]
        return self.text_of(good, odd)

    def attribute_name(self, kind):
        if self.rng.random() < 0.04:
            return "noSuchName"
        if self.rng.random() < 0.04:
            kind = self.rng.choice(list(NAMES))
        return self.rng.choice(CAPACITIES if kind == "capacity" else NAMES[kind])

    # Expressions of a type.

    def expression(self, kind, depth, scope):
        rng = self.rng
        if kind not in TABLE:
            return self.leaf(kind)
        if rng.random() < 0.01:
            kind = rng.choice(list(TABLE))  # a type error, as a rule
        known = [name for name, of in scope.items() if of == kind]
        if known and rng.random() < 0.6:
            return rng.choice(known)
        if depth <= 0 and kind != "selector":
            return self.fill(ENDS[kind], 0, scope)
        text = self.fill(self.pick(TABLE[kind]), depth - 1, scope)
        return f"({text})" if self.compound(text) else text

    @staticmethod
    def compound(text):
        """Whether it wants parentheses where it is an operand. Too many do no harm."""
        return text.startswith(("-", "!")) or re.search(r" (&&|\|\||[-+*/%<>]|[=!<>]=|in|\?) ", text) is not None

    def fill(self, text, depth, scope):
        scope, names, out, last = dict(scope), {}, [], 0
        for match in HOLE.finditer(text):
            out.append(text[last:match.start()])
            last = match.end()
            kind, attribute, variable, of = match.groups()
            if kind:
                out.append(self.expression(kind, depth, scope))
            elif attribute:
                out.append(self.attribute_name(attribute))
            else:
                if variable not in names:
                    names[variable] = self.rng.choice(["x", "y", "z", "i", "k"])
                    scope[names[variable]] = of
                out.append(names[variable])
        out.append(text[last:])
        return "".join(out)

    def selector(self, depth=2):
        if depth > 0 and self.rng.random() < 0.35:
            return re.sub(r"\$selector|\$bool", lambda m: self.wrapped(m.group(0), depth), self.pick(grammar.JOINS))
        return self.fill(self.pick(grammar.SELECTORS), 1, {})

    def wrapped(self, hole, depth):
        text = self.selector(depth - 1) if hole == "$selector" else self.expression("bool", 1, {})
        return f"({text})" if re.search(r" (&&|\|\||\?) ", text) else text

    def damaged(self, text):
        """One small slip of the keyboard."""
        if not text:
            return text
        at = self.rng.randrange(len(text))
        slip = self.rng.randrange(4)
        if slip == 0:
            return text[:at] + text[at + 1:]
        if slip == 1:
            return text[:at] + self.rng.choice("()[]{}.,?:!&|=<>+-*/%\"'\\ 0aé`\n;@#$") + text[at:]
        if slip == 2:
            return text[:at] + text[at:at + 2][::-1] + text[at + 2:]
        return text[:at]

    def large(self):
        count = self.rng.choice([5, 10, 11, 12, 20, 23, 24, 30, 31, 32, 48, 60, 62, 64, 80, 100, 120, 124, 125, 126, 200, 248, 249, 250, 251, 252, 260])
        if self.rng.random() < 0.5:
            part, between, before, behind = self.pick(grammar.CHAIN)
            return before + between.join([part] * count) + behind
        if self.rng.random() < 0.2:
            before, inner, behind, end = self.pick(grammar.NEST_TYPES)
            count = min(count, 40)
        else:
            before, inner, behind, end = self.pick(grammar.NEST)
        return before * count + inner + behind * count + end

    def text(self):
        draw = self.rng.random()
        if draw < 0.002:
            return self.large()
        if draw < 0.55:
            text = self.selector()
        elif draw < 0.80:
            text = self.expression("bool", 3, {})
        elif draw < 0.93:
            text = self.expression(self.rng.choice(list(TABLE)), 2, {})
        elif draw < 0.998:
            text = self.pick(grammar.ODD)
        else:
            text = self.fill(self.pick(grammar.HEAVY), 1, {})
        return self.damaged(text) if self.rng.random() < 0.03 else text

    # Devices.

    def attribute(self, kind, name):
        rng = self.rng
        if rng.random() < 0.04:
            kind = rng.choice(list(NAMES))
        if kind == "string":
            return {"string": rng.choice(VALUES)}
        if kind == "int":
            return {"int": rng.choice(INTS)}
        if kind == "bool":
            return {"bool": rng.random() < 0.6}
        if kind == "version":
            return {"version": rng.choice(VERSIONS)}
        of = LIST_KIND.get(name, "strings")
        values = {"strings": VALUES, "ints": INTS, "versions": VERSIONS, "bools": [True, False]}[of]
        return {of: [rng.choice(values) for _ in range(rng.choice([1, 1, 2, 3, 5, 48, 49]))]}

    def device(self):
        rng = self.rng
        device = {"driver": rng.choice([DRIVER] * 9 + [""]), "attributes": {}, "capacity": {}}
        if rng.random() < 0.3:
            device["allowMultipleAllocations"] = rng.random() < 0.5
        for kind, names in NAMES.items():
            for name in names:
                if kind == "list" and not (self.list_attributes and rng.random() < 0.15):
                    continue
                for domain in DOMAINS:
                    if rng.random() < (0.85 if domain == DRIVER else 0.25):
                        full = name if domain == DRIVER and rng.random() < 0.8 else f"{domain}/{name}"
                        device["attributes"][full] = self.attribute(kind, name)
        for name in CAPACITIES:
            for domain in DOMAINS:
                if rng.random() < (0.85 if domain == DRIVER else 0.25):
                    full = name if domain == DRIVER and rng.random() < 0.8 else f"{domain}/{name}"
                    device["capacity"][full] = {"value": rng.choice(QUANTITIES)}
        if rng.random() < 0.01:
            device["attributes"]["broken"] = rng.choice([{}, {"version": "1.2"}, {"version": "v1.2.3"}])
        return device

    def features(self):
        if not self.list_attributes:
            return self.rng.choice([["ConsumableCapacity"], []])
        return self.rng.choices([["ConsumableCapacity"], ["ConsumableCapacity", "ListTypeAttributes"], [], ["ListTypeAttributes"]], [5, 3, 1, 1])[0]


def pairs(seed, count, list_attributes=True):
    generator = Generator(f"selectors {seed}", list_attributes)
    for number in range(count):
        yield {"id": f"{seed}:{number}", "expression": generator.text(), "device": generator.device(), "features": generator.features()}
