# SPDX-License-Identifier: Apache-2.0
"""The grammar of generated selectors, as data. A production is (weight, text); in its text `$T` stands for
an expression of type T and `%v:T` names a new variable of type T that what follows may use (`%v` names it
again). A type of one letter in a list's or map's name (list_int, map_int) says what is in it; maps have
string keys. What a map is iterated for never depends on its order, which is random in the peer."""

# What users write. Holes: =driver =domain =string =int =bool =version =list =capacity name attributes and
# capacities that mostly exist, with the type that they mostly have; they are filled by expressions.py.
SELECTORS = [
    (10, 'device.driver == $driver'),
    (3, 'device.driver != $driver'),
    (12, 'device.attributes[$domain].=string == $value'),
    (4, 'device.attributes[$domain].=string != $value'),
    (4, '$value == device.attributes[$domain].=string'),
    (5, 'device.attributes[$domain].=string in [$value, $value]'),
    (2, 'device.attributes[$domain].=string in [$value, $value, $value, "A100", "H100"]'),
    (3, 'device.attributes[$domain].=string.startsWith($value)'),
    (2, 'device.attributes[$domain].=string.endsWith($value)'),
    (3, 'device.attributes[$domain].=string.contains($value)'),
    (3, 'device.attributes[$domain].=string.matches($pattern)'),
    (3, 'device.attributes[$domain].=string.lowerAscii() == $value.lowerAscii()'),
    (2, 'device.attributes[$domain].=string.lowerAscii().contains($value)'),
    (2, 'device.attributes[$domain].=string.split($separator).size() == $small'),
    (1, 'device.attributes[$domain].=string.size() > $small'),
    (1, 'size(device.attributes[$domain].=string) <= $small'),
    (8, 'device.attributes[$domain].=int == $small'),
    (5, 'device.attributes[$domain].=int >= $small'),
    (4, 'device.attributes[$domain].=int < $small'),
    (2, 'device.attributes[$domain].=int % 2 == 0'),
    (2, 'device.attributes[$domain].=int + $small == device.attributes[$domain].=int'),
    (2, 'device.attributes[$domain].=int * $small > $int'),
    (2, 'device.attributes[$domain].=int in [0, 1, 2]'),
    (1, 'device.attributes[$domain].=int > $double'),
    (1, 'double(device.attributes[$domain].=int) / $double < $double'),
    (8, 'device.attributes[$domain].=bool'),
    (4, '!device.attributes[$domain].=bool'),
    (4, 'device.attributes[$domain].=bool == true'),
    (2, 'device.attributes[$domain].=bool != false'),
    (8, 'device.attributes[$domain].=version.isGreaterThan(semver($versiontext))'),
    (5, 'device.attributes[$domain].=version.isLessThan(semver($versiontext))'),
    (6, 'device.attributes[$domain].=version.compareTo(semver($versiontext)) >= 0'),
    (3, 'device.attributes[$domain].=version.compareTo(semver($versiontext)) < 0'),
    (2, 'device.attributes[$domain].=version == semver($versiontext)'),
    (1, 'device.attributes[$domain].=version in [semver($versiontext), semver($versiontext)]'),
    (1, 'device.attributes[$domain].=version in [$value, "1.2.3"]'),
    (2, 'device.attributes[$domain].=version.major() == $small'),
    (2, 'device.attributes[$domain].=version.minor() >= $small'),
    (3, 'device.attributes[$domain].=version.isGreaterThan(semver($versiontext, true))'),
    (12, 'device.capacity[$domain].=capacity.compareTo(quantity($quantitytext)) >= 0'),
    (4, 'device.capacity[$domain].=capacity.compareTo(quantity($quantitytext)) == 0'),
    (6, 'device.capacity[$domain].=capacity.isGreaterThan(quantity($quantitytext))'),
    (5, 'device.capacity[$domain].=capacity.isLessThan(quantity($quantitytext))'),
    (3, 'device.capacity[$domain].=capacity == quantity($quantitytext)'),
    (3, 'quantity($quantitytext).isLessThan(device.capacity[$domain].=capacity)'),
    (2, 'device.capacity[$domain].=capacity.add(quantity($quantitytext)).compareTo(quantity($quantitytext)) > 0'),
    (2, 'device.capacity[$domain].=capacity.sub(quantity($quantitytext)).isGreaterThan(quantity($quantitytext))'),
    (2, 'device.capacity[$domain].=capacity.asInteger() >= $int'),
    (1, 'device.capacity[$domain].=capacity.isInteger()'),
    (1, 'device.capacity[$domain].=capacity.asApproximateFloat() > $double'),
    (6, '$name in device.attributes[$domain]'),
    (4, '!($name in device.attributes[$domain])'),
    (3, '$domain in device.attributes'),
    (3, '$name in device.capacity[$domain]'),
    (6, 'has(device.attributes[$domain].=string)'),
    (3, '!has(device.attributes[$domain].=bool)'),
    (2, 'has(device.capacity[$domain].=capacity)'),
    (5, 'has(device.attributes[$domain].=bool) && device.attributes[$domain].=bool'),
    (4, '"=string" in device.attributes[$domain] && device.attributes[$domain].=string == $value'),
    (5, 'device.attributes[$domain].?=string.orValue($value) == $value'),
    (4, 'device.attributes[$domain].?=int.orValue($small) >= $small'),
    (3, 'device.attributes[$domain].?=bool.orValue(false)'),
    (2, 'device.attributes[?$domain].?=string.hasValue()'),
    (2, 'device.attributes[$domain][?"=string"] == optional.of($value)'),
    (2, 'device.capacity[$domain].?=capacity.hasValue()'),
    (1, 'device.attributes[$domain].?=string.optMap(v, v.contains($value)).orValue(true)'),
    (5, 'cel.bind(dra, device.attributes[$domain], dra.=bool && dra.=int > $small)'),
    (4, 'cel.bind(d, device.attributes[$domain], d.=string == $value || d.=string == $value)'),
    (3, 'device.attributes.exists(d, d == $domain)'),
    (2, 'device.attributes.exists_one(d, d.startsWith($value))'),
    (2, 'device.attributes[$domain].exists(k, k == $name)'),
    (1, 'device.attributes[$domain].all(k, k.size() < 33)'),
    (1, 'device.attributes.all(d, size(device.attributes[d]) > $small)'),
    (1, 'size(device.attributes) == $small'),
    (1, 'size(device.capacity[$domain]) == $small'),
    (3, 'device.allowMultipleAllocations'),
    (3, 'device.allowMultipleAllocations == false'),
    (3, 'device.attributes[$domain].=list.exists(x, x == $value)'),
    (3, 'device.attributes[$domain].=list.includes($value)'),
    (2, 'device.attributes[$domain].=string.includes($value)'),
    (2, 'device.attributes[$domain].=int.includes($small)'),
    (2, '$value in device.attributes[$domain].=list'),
    (2, 'device.attributes[$domain].=list.size() >= $small'),
    (2, 'device.attributes[$domain].=list.all(x, x.isGreaterThan(semver($versiontext)))'),
    (2, 'device.attributes[$domain].=list[$small] == $value'),
]

JOINS = [
    (10, '$selector && $selector'), (5, '$selector || $selector'), (3, '!($selector)'),
    (2, '$selector ? $selector : $selector'), (2, '($selector) == ($selector)'),
    (3, '$selector && $selector && $selector'), (2, '$selector || $selector && $selector'),
    (2, '($selector || $selector) && $selector'), (1, '[$selector, $selector].all(b, b)'),
    (1, '[$selector, $selector].exists_one(b, b)'), (2, '$selector && $bool'), (2, '$bool || $selector'),
]

BOOL = [
    (3, 'true'), (3, 'false'), (4, '$bool && $bool'), (4, '$bool || $bool'), (3, '!$bool'),
    (2, '$bool ? $bool : $bool'), (4, '$int == $int'), (3, '$int < $int'), (3, '$int >= $int'),
    (2, '$int <= $int'), (2, '$int > $int'), (2, '$int != $int'), (2, '$uint < $uint'),
    (2, '$uint == $uint'), (2, '$double <= $double'), (2, '$double == $double'), (1, '$double != $double'),
    (1, '$int < $double'), (1, '$double >= $uint'), (1, '$uint > $int'), (1, 'dyn($int) == $double'),
    (1, 'dyn($uint) == dyn($int)'), (5, '$string == $string'), (2, '$string < $string'), (1, '$string >= $string'),
    (2, '$bytes == $bytes'), (1, '$bytes < $bytes'), (1, '$bool < $bool'), (1, '$bool == $bool'),
    (2, '$duration < $duration'), (1, '$duration == $duration'), (2, '$timestamp < $timestamp'),
    (1, '$timestamp == $timestamp'), (1, 'null == null'), (1, 'dyn($int) == null'), (1, '$dyn == $dyn'),
    (1, '$dyn != $dyn'), (1, '$dyn < $int'), (1, '$dyn > $string'), (2, '$type == $type'),
    (2, '$list_int == $list_int'), (2, '$list_string == $list_string'), (1, '$list_int != $list_int'),
    (1, '$map_int == $map_int'), (1, '$map_string != $map_string'), (3, '$string.startsWith($string)'),
    (2, '$string.endsWith($string)'), (3, '$string.contains($string)'), (3, '$string.matches($pattern)'),
    (1, 'matches($string, $pattern)'), (3, '$int in $list_int'), (3, '$string in $list_string'),
    (2, '$string in $map_int'), (1, '$double in [$double, $double]'), (1, 'dyn($double) in dyn($list_int)'),
    (2, '$list_int.all(%v:int, $bool)'), (2, '$list_int.exists(%v:int, $bool)'),
    (1, '$list_int.exists_one(%v:int, $bool)'), (2, '$list_string.exists(%v:string, $bool)'),
    (1, '$list_string.all(%v:string, $bool)'), (1, '$map_int.all(%v:string, $bool)'),
    (1, '$map_string.exists(%v:string, $bool)'), (1, '$map_int.exists(%v:string, %w:int, $bool)'),
    (1, '$list_int.all(%v:int, %w:int, $bool)'), (1, '$list_string.exists(%v:int, %w:string, $bool)'),
    (1, '$list_int.existsOne(%v:int, %w:int, $bool)'), (1, 'cel.bind(%v:int, $int, $bool)'),
    (1, 'cel.bind(%v:string, $string, $bool)'), (1, 'cel.bind(%v:list_int, $list_int, $bool)'),
    (1, '$optional_int == $optional_int'), (1, '$optional_int.hasValue()'), (1, '$optional_string.hasValue()'),
    (1, 'has($map_int.a)'), (1, 'has($map_string.b)'), (2, 'sets.contains($list_int, $list_int)'),
    (1, 'sets.equivalent($list_string, $list_string)'), (1, 'sets.intersects($list_int, $list_int)'),
    (1, 'sets.contains($list_string, $list_string)'), (2, '$list_int.isSorted()'), (1, '$list_string.isSorted()'),
    (2, '$semver.isGreaterThan($semver)'), (2, '$semver.isLessThan($semver)'), (1, '$semver == $semver'),
    (2, 'isSemver($versiontext)'), (1, 'isSemver($versiontext, $bool)'), (1, 'isSemver($string)'),
    (2, '$quantity.isGreaterThan($quantity)'), (2, '$quantity.isLessThan($quantity)'),
    (2, 'quantity($quantitytext) == quantity($quantitytext)'), (2, 'isQuantity($quantitytext)'),
    (1, 'isQuantity($string)'), (1, '$quantity.isInteger()'), (2, 'isIP($iptext)'), (1, '$ip == $ip'),
    (1, 'ip.isCanonical($iptext)'), (1, '$ip.isUnspecified()'), (1, '$ip.isLoopback()'),
    (1, '$ip.isLinkLocalMulticast()'), (1, '$ip.isLinkLocalUnicast()'), (1, '$ip.isGlobalUnicast()'),
    (1, 'isCIDR($cidrtext)'), (1, '$cidr == $cidr'), (2, '$cidr.containsIP($iptext)'), (1, '$cidr.containsIP($ip)'),
    (1, '$cidr.containsCIDR($cidrtext)'), (1, '$cidr.containsCIDR($cidr)'), (1, 'isURL($urltext)'),
    (1, '$url == $url'), (2, 'cel.bind(%v:quantity, $quantity, $bool)'),
    (1, 'cel.bind(%v:quantity, $quantity, %v.compareTo($quantity) > 0 || %v.isInteger())'),
    (1, 'cel.bind(%v:quantity, $quantity, %v.add($quantity) == $quantity || %v.isLessThan($quantity))'),
    (1, '$semver in [$semver, $semver]'), (1, '$dyn in [semver($versiontext), semver($versiontext)]'),
    (1, '$dyn in [$semver, semver("1.2.3")]'), (1, '$dyn.path($string).check($string).allowed()'),
    (1, '$dyn.group($string).resource($string).name($string).check($string).reason() == $string'),
    (1, '$dyn.serviceAccount($string, $string) == $dyn'), (1, '$dyn.check($string).errored() || $bool'),
    (1, '$dyn.error() == $dyn'), (1, '$dyn.fieldSelector($string).labelSelector($string) == $dyn'),
    (1, '$dyn.resource($dyn).subresource($string).namespace($dyn) == $dyn'), (2, '!format.$format().validate($string).hasValue()'),
    (1, 'format.named($formatname).hasValue()'), (1, '!format.$format().validate($value).hasValue()'),
    (2, '$list_int.includes($int)'), (1, '$list_string.includes($string)'), (1, 'bool($booltext)'),
    (3, '$selector'),
]

INT = [
    (8, '$small'), (4, '$intliteral'), (3, '$int + $int'), (2, '$int - $int'), (2, '$int * $int'), (2, '$int / $int'),
    (2, '$int % $int'), (2, '-$int'), (1, '$bool ? $int : $int'), (2, 'size($string)'), (2, '$string.size()'),
    (2, '$list_int.size()'), (1, 'size($list_string)'), (1, '$map_int.size()'), (1, 'size($bytes)'),
    (2, 'int($double)'), (1, 'int($uint)'), (1, 'int($inttext)'), (1, 'int($timestamp)'), (1, 'int($int)'),
    (2, '$list_int[$small]'), (1, '$map_int[$string]'), (1, '$map_int.a'), (1, '$list_int.sum()'), (1, '$list_int.min()'),
    (1, '$list_int.max()'), (1, '$list_int.indexOf($int)'), (1, '$list_string.lastIndexOf($string)'),
    (2, '$string.indexOf($string)'), (1, '$string.indexOf($string, $small)'), (1, '$string.lastIndexOf($string)'),
    (1, '$string.lastIndexOf($string, $small)'), (1, '$string.indexOf("", $small)'), (1, '$string.lastIndexOf("", $small)'),
    (1, '{"a": $int}[$dyn]'), (1, '[$int, $int][$dyn]'), (1, '[$int][dyn($semver)]'), (1, '$semver.major()'), (1, '$semver.minor()'), (1, '$semver.patch()'),
    (2, '$semver.compareTo($semver)'), (2, '$quantity.compareTo($quantity)'), (1, '$quantity.asInteger()'),
    (1, 'sign($quantity)'), (1, '$quantity.sign()'), (1, '$optional_int.value()'), (1, '$optional_int.orValue($int)'), (1, '$ip.family()'),
    (1, '$cidr.prefixLength()'), (1, '$duration.getHours()'), (1, '$duration.getMinutes()'),
    (1, '$duration.getSeconds()'), (1, '$duration.getMilliseconds()'), (1, '$timestamp.getFullYear()'),
    (1, '$timestamp.getMonth()'), (1, '$timestamp.getDayOfYear()'), (1, '$timestamp.getDayOfMonth()'),
    (1, '$timestamp.getDate()'), (1, '$timestamp.getDayOfWeek()'), (2, '$timestamp.getHours($zone)'), (1, '$timestamp.getDayOfYear($zone)'), (1, '$timestamp.getMinutes($zone)'),
    (1, '$timestamp.getMinutes()'), (1, '$timestamp.getSeconds()'), (1, '$timestamp.getMilliseconds()'),
    (1, '$timestamp.getHours()'), (2, 'device.attributes[$domain].=int'), (1, 'cel.bind(%v:int, $int, $int)'),
]

UINT = [
    (6, '$uintliteral'), (2, '$uint + $uint'), (2, '$uint - $uint'), (1, '$uint * $uint'), (1, '$uint / $uint'),
    (1, '$uint % $uint'), (2, 'uint($int)'), (1, 'uint($double)'), (1, 'uint($inttext)'), (1, 'uint($uint)'),
]

DOUBLE = [
    (8, '$doubleliteral'), (2, '$double + $double'), (1, '$double - $double'), (2, '$double * $double'),
    (2, '$double / $double'), (1, '-$double'), (2, 'double($int)'), (1, 'double($uint)'), (1, 'double($doubletext)'),
    (1, '$quantity.asApproximateFloat()'), (1, '[$double, $double].max()'), (1, '[$double, $double].sum()'),
]

STRING = [
    (10, '$value'), (4, '$stringliteral'), (3, '$string + $string'), (2, 'string($int)'), (2, 'string($double)'),
    (1, 'string($uint)'), (1, 'string($bool)'), (1, 'string($bytes)'), (1, 'string($duration)'),
    (1, 'string($timestamp)'), (1, 'string($string)'), (2, '$string.charAt($small)'), (2, '$string.lowerAscii()'),
    (2, '$string.upperAscii()'), (2, '$string.replace($string, $string)'), (1, '$string.replace($string, $string, $small)'),
    (2, '$string.substring($small)'), (2, '$string.substring($small, $small)'), (2, '$string.trim()'),
    (2, '$list_string.join($string)'), (1, '$list_string.join()'), (2, '$list_string[$small]'), (1, '$map_string.a'),
    (1, '$map_string[$string]'), (1, '$string.find($pattern)'), (1, '$optional_string.value()'),
    (2, '$optional_string.orValue($string)'), (1, 'strings.quote($string)'), (1, '$bool ? $string : $string'),
    (2, '"%s-%d".format([$string, $int])'), (1, '"%.2f|%e".format([$double, $double])'),
    (1, '"%x %X %o %b".format([$int, $string, $int, $int])'), (1, '"%s %s".format([$list_int, $map_int])'),
    (1, '"%s %s %s".format([$duration, $timestamp, $double])'), (1, '$formattext.format([$dyn, $dyn])'),
    (1, '$list_string.min()'), (1, '$list_string.max()'), (1, '$url.getScheme()'), (1, '$url.getHost()'),
    (1, '$url.getHostname()'), (1, '$url.getPort()'), (1, '$url.getEscapedPath()'), (1, 'string($ip)'),
    (1, 'string($cidr)'), (2, 'device.driver'), (3, 'device.attributes[$domain].=string'),
    (1, 'cel.bind(%v:string, $string, $string)'), (1, 'string(type($dyn))'), (1, '$string.reverse()'),
]

BYTES = [(6, '$bytesliteral'), (2, 'bytes($string)'), (2, '$bytes + $bytes'), (1, 'bytes($bytes)')]

LISTS = [
    (6, '[$E, $E]'), (3, '[$E, $E, $E]'), (2, '[$E]'), (2, '[]'), (2, '$L + $L'), (2, '$L.filter(%v:E, $bool)'),
    (2, '$L.map(%v:E, $E)'), (1, '$L.map(%v:E, $bool, $E)'), (1, '$bool ? $L : $L'), (2, '$L.slice($small, $small)'),
    (1, '$L.distinct()'), (1, '$L.reverse()'), (1, '$L.sort()'), (1, '[$L, $L].flatten()'), (1, '$L.sortBy(%v:E, $E)'),
    (1, '$L.transformList(%v:int, %w:E, $E)'), (1, '$L.transformList(%v:int, %w:E, $bool, $E)'), (1, '[?$optional_E, $E]'),
    (1, '[[$L], [[$L]]].flatten(2)'), (1, 'cel.bind(%v:L, $L, $L)'),
]

LIST_INT = [(2, 'lists.range($small)'), (1, '$map_int.map(%v:string, $map_int[%v]).sort()')]
LIST_STRING = [
    (3, '$string.split($separator)'), (1, '$string.split($separator, $small)'), (2, '$string.findAll($pattern)'),
    (1, '$string.findAll($pattern, $small)'), (2, 'device.attributes[$domain].=list'), (1, '$map_int.map(%v:string, %v).sort()'),
]

MAPS = [
    (5, '{"a": $E, "b": $E}'), (3, '{"a": $E}'), (2, '{}'), (1, '{$string: $E, $string: $E}'), (1, '$bool ? $M : $M'),
    (1, '{?"a": $optional_E}'), (1, '$M.transformMap(%v:string, %w:E, $E)'), (1, '$M.transformMap(%v:string, %w:E, $bool, $E)'),
    (1, '$M.transformMapEntry(%v:string, %w:E, {%v + "x": $E})'), (1, '{"c": $E, "c": $E}'),
]

OPTIONALS = [
    (4, 'optional.of($E)'), (3, 'optional.none()'), (2, 'optional.ofNonZeroValue($E)'), (2, '$optional_E.or($optional_E)'),
    (2, '$map_E.?a'), (2, '$map_E[?$string]'), (2, '$list_E[?$small]'), (1, '$optional_E.optMap(%v:E, $E)'),
    (1, '$optional_E.optFlatMap(%v:E, $optional_E)'), (1, '$list_E.first()'), (1, '$list_E.last()'),
    (1, '[$optional_E, $optional_E].unwrapOpt()[?0]'), (1, '$list_E.unwrapOpt()[?0]'),
]

DURATION = [
    (6, 'duration($durationtext)'), (1, '$duration + $duration'), (1, '$duration - $duration'),
    (1, '$timestamp - $timestamp'),
]
TIMESTAMP = [
    (6, 'timestamp($timestamptext)'), (1, '$timestamp + $duration'), (1, '$timestamp - $duration'),
    (1, '$duration + $timestamp'), (1, 'timestamp($int)'),
]
SEMVER = [
    (6, 'semver($versiontext)'), (2, 'semver($versiontext, $bool)'), (2, 'device.attributes[$domain].=version'),
    (1, 'semver($string)'),
]
QUANTITY = [
    (6, 'quantity($quantitytext)'), (3, 'device.capacity[$domain].=capacity'), (1, '$quantity.add($quantity)'),
    (1, '$quantity.sub($quantity)'), (1, '$quantity.add($int)'), (1, '$quantity.sub($int)'), (1, 'quantity($string)'),
    (1, 'cel.bind(%v:quantity, $quantity, $quantity)'), (1, '[$quantity, $quantity][0]'),
]
IP = [(6, 'ip($iptext)'), (1, '$cidr.ip()'), (1, 'cidr($cidrtext).masked().ip()')]
CIDR = [(6, 'cidr($cidrtext)'), (1, '$cidr.masked()')]
URL = [(1, 'url($urltext)')]
TYPE = [
    (4, 'type($dyn)'), (1, 'type($int)'), (1, 'type($list_int)'), (1, 'type($quantity)'), (1, 'type($semver)'),
    (1, 'type($duration)'), (1, 'type($optional_int)'), (1, 'type(null)'), (1, 'type(type(1))'), (1, 'int'), (1, 'string'),
    (1, 'list'), (1, 'map'), (1, 'double'), (1, 'null_type'), (1, 'bool'), (1, 'uint'), (1, 'bytes'), (1, 'type'),
    (1, 'google.protobuf.Duration'), (1, 'google.protobuf.Timestamp'), (1, 'optional_type'), (1, 'net.IP'),
    (1, 'kubernetes.Quantity'), (1, 'kubernetes.Semver'),
]
DYN = [
    (2, 'dyn($int)'), (2, 'dyn($string)'), (1, 'dyn($double)'), (1, 'dyn($bool)'), (1, 'dyn($list_int)'), (1, 'dyn($uint)'),
    (1, 'dyn($map_string)'), (1, 'dyn($duration)'), (1, 'dyn(null)'), (1, 'dyn($bytes)'),
    (2, 'device.attributes[$domain].=string'), (1, 'device.attributes[$domain].=int'), (1, 'device.attributes[$domain].=bool'),
    (1, 'device.attributes[$domain].=version'), (1, 'device.attributes[$domain].=list'), (1, 'dyn($optional_int)'),
    (1, 'dyn($timestamp)'), (1, 'dyn($type)'), (1, 'dyn($quantity)'), (1, 'dyn($semver)'),
]

# Runs into the cost limit, at admission or when evaluated, or stays just below it.
HEAVY = [
    (2, 'lists.range($hundreds).all(a, lists.range($hundreds).all(b, a + b >= 0))'),
    (1, 'lists.range($hundreds).map(a, a * a).exists(b, b == -1)'),
    (1, '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(b, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(c, '
        '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(d, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(e, string(a + b + c).matches("[0-9]+"))))))'),
    (1, 'cel.bind(a, $longtext, cel.bind(b, a + a + a + a, cel.bind(c, b + b + b + b, (c + c + c + c).contains("ab"))))'),
    (1, 'lists.range($hundreds).all(a, $longtext.matches("(a|b)*c?"))'),
    (1, 'device.attributes.all(a, device.attributes.all(b, device.attributes[a].all(c, device.attributes[b].all(d, c + d != ""))))'),
    (1, 'lists.range($hundreds).sortBy(a, -a)[0] >= 0'),
    (1, '$longtext.split("").size() > $small'),
    (1, 'sets.contains(lists.range($hundreds), lists.range($hundreds))'),
    (1, 'lists.range($hundreds).map(x, string(x)).join(",").size() > $small'),
    (1, 'lists.range($hundreds).distinct().size() == $small'),
    (1, '$longtext.replace("a", $longtext).size() > $small'),
]

# Whole expressions that are odd in a way of their own.
ODD = [
    (1, ''), (1, ' '), (1, 'device'), (1, 'devices.driver == "x"'), (1, 'device.foo == "x"'), (1, 'device.attributes'),
    (1, 'device.attributes["a"]["b"]["c"]'), (1, '1'), (1, '"true"'), (1, 'null'), (1, 'dyn(true)'), (1, 'dyn(1)'),
    (1, 'dyn("true")'), (1, 'device.driver'), (1, 'foo(1)'), (1, 'has(device)'), (1, 'has(device.attributes["a"])'),
    (1, 'device.driver = "x"'), (1, 'true // and a comment'), (1, 'true /* no */'), (1, '(((((((((true)))))))))'),
    (1, 'if true'), (1, 'for'), (1, 'device.`driver` == "x"'), (1, '!!!!true'), (1, '-(-1) == 1'), (1, '- -1 == 1'), (1, '--1 == 1'),
    (1, '1 == 1 == true'), (1, 'a.b.C{x: 1}'), (1, '{1: 2}[1] == 2'), (1, "{1: 'a', 2: 'b'}[2u] == 'b'"), (1, '{1.5: 1}'),
    (1, '{null: 1}'), (1, '[1, "a"]'), (1, '[1, 2u].size() == 2'), (1, '[dyn(1), dyn("a")].size() == 2'), (1, '{"a": 1, "b": "c"}'),
    (1, '[[], [1]].size() == 2'), (1, '[{}, {"a": 1}].size() == 2'), (1, 'device.driver.size'), (1, 'device.attributes["a"].size()'),
    (1, '9223372036854775808 > 0'), (1, '-9223372036854775808 < 0'), (1, '-9223372036854775809 < 0'), (1, '18446744073709551616u > 0u'),
    (1, '0x7fffffffffffffff > 0'), (1, '0xFFFFFFFFFFFFFFFFu > 0u'), (1, '1e400 > 0.0'), (1, '1e-400 == 0.0'), (1, '.5 < 1.0'), (1, '1. < 2.0'),
    (1, '5 .5'), (1, '1 / 0 == 1'), (1, '1 % 0 == 1'), (1, 'true || 1 / 0 == 1'), (1, '1 / 0 == 1 || true'), (1, 'false && 1 / 0 == 1'),
    (1, '(1 / 0 == 1 ? true : false) || true'), (1, '9223372036854775807 + 1 > 0'), (1, '-9223372036854775807 - 2 < 0'),
    (1, '9223372036854775807 * 2 > 0'), (1, '(-9223372036854775807 - 1) / -1 > 0'), (1, '-(-9223372036854775807 - 1) > 0'),
    (1, '(-9223372036854775807 - 1) % -1 == 0'), (1, '0.0 / 0.0 == 0.0 / 0.0'), (1, '0.0 / 0.0 != 0.0 / 0.0'), (1, '1.0 / 0.0 > 1e308'),
    (1, '-0.0 == 0.0'), (1, 'int(1e19) > 0'), (1, 'int(-0.9) == 0'), (1, 'uint(-1) > 0u'), (1, 'uint(1.9) == 1u'), (1, "'\\u00e9' == 'é'"),
    (1, "'é'.size() == 1"), (1, "b'é'.size() == 2"), (1, "'\\x41\\101\\u0041\\U00000041' == 'AAAA'"), (1, "'\\ud800' == ''"),
    (1, "r'\\n'.size() == 2"), (1, "'''a\nb'''.contains('\\n')"), (1, "'a\nb'"), (1, '"unterminated'), (1, "'\\q'"), (1, "b'\\u0041' == b'A'"),
    (1, 'true ? 1 : 2'), (1, 'true ? true : 2'), (1, '[1, 2, 3].exists(x, x > 2, x < 4)'), (1, '[1].all(1, true)'), (1, '[1].all(a.b, true)'),
    (1, 'all([1], x, true)'), (1, '[1, 2].map(x, x * 2) == [2, 4]'), (1, '1.exists(x, true)'), (1, '"abc".all(x, true)'),
    (1, '[1].exists(device, device == 1)'), (1, '[1].exists(x, [2].exists(x, x == 2) && x == 1)'), (1, 'has({"a": 1}.b) || has({"a": 1}.a)'),
    (1, '{"a": {"b": 1}}.a.b == 1'), (1, '{"a": 1}.?a.?b.hasValue()'), (1, '{"a": {"b": 1}}.?a.?b == optional.of(1)'), (1, 'optional.none().value() == 1'),
    (1, '[1, 2][2] == 1'), (1, '[1, 2][-1] == 1'), (1, '[1, 2][1.0] == 2'), (1, '[1, 2][0u] == 1'), (1, '"a"[0]'), (1, 'duration("1h") == duration("3600s")'),
    (1, 'duration("x") == duration("1s")'), (1, 'timestamp("x") == timestamp(0)'), (1, '"a".matches("(")'), (1, '"a".find("(") == ""'),
    (1, '"a".matches("(?=a)")'), (1, '"(".matches(device.driver)'), (1, 'quantity("x") == quantity("1")'), (1, 'semver("x") == semver("1.0.0")'),
    (1, 'ip("x") == ip("::1")'), (1, 'device == device'), (1, 'device.attributes == device.attributes'), (1, 'device.capacity == {}'),
    (1, 'type(device) == type(1)'), (1, 'type(device.attributes) == map'), (1, 'type(device.capacity["a"]) == map'), (1, 'in'), (1, 'true in [true]'),
    (1, '1 in 1'), (1, '1 in "abc"'), (1, 'null'), (1, 'null in [null]'), (1, '[null, 1].size() == 2'), (1, '{"a": null}.a == null'),
    (1, 'dyn([1, "a"]) == []'), (1, '"\U0001F600".size() == 1'), (1, '"a\U0001F600b".charAt(1) == "\U0001F600"'), (1, '"a\U0001F600b".indexOf("b") == 2'),
    (1, 'device.attributes["tangram.dev"].granted'), (1, 'authorizer.path("/").check("get").allowed()'), (1, 'math.greatest(1, 2) == 2'),
    (1, 'base64.encode(b"a") == "YQ=="'), (1, 'lists.range(-1).size() == 0'), (1, '"%d".format([1.5]) == ""'), (1, '"%z".format([1]) == ""'),
    (1, '"%".format([]) == ""'), (1, '"%d".format([]) == ""'), (1, '"%d %d".format([1]) == ""'), (1, '"a".format(1)'), (1, 'x'), (1, '.device.driver == ""'),
    (1, 'string(1) == "1" && string(1.5) == "1.5" && string(1u) == "1"'), (1, 'string(1e100) == "1e+100"'), (1, 'double("nan") == double("nan")'),
    (1, 'double("inf") > 1.0'), (1, 'int("0x10") == 16'), (1, 'int(" 1") == 1'), (1, 'bool("TRUE") && !bool("0") && bool("t")'), (1, 'timestamp("2009-02-13T23:31:30Z").getHours("America/New_York") == 18'),
    (1, 'timestamp("2009-02-13T23:31:30Z").getHours("+01:00") == 0'), (1, 'timestamp("0001-01-01T00:00:00Z") - duration("1ns") < timestamp(0)'),
    (1, 'timestamp("9999-12-31T23:59:59Z") + duration("1s") > timestamp(0)'), (1, 'timestamp("9999-12-31T23:59:59.999999999Z") > timestamp(0)'),
    (1, '[1, 2, 3].sum() == 6 && [1.0].sum() == 1.0 && [duration("1s")].sum() == duration("1s")'), (1, '[].sum() == 0'), (1, '[].min() == 0'), (1, '["b", "a"].isSorted()'),
    (1, '[[1]].isSorted()'), (1, '[3, 1, 2].sort() == [1, 2, 3]'), (1, '[1, 1].distinct() == [1]'), (1, '[[1, [2]]].flatten() == [1, [2]]'), (1, '[1].slice(1, 0) == []'),
    (1, '[dyn(1), dyn("a")].sort() == []'), (1, 'cel.bind(x, 1, x + y)'), (1, 'cel.bind(x, x, true)'), (1, 'cel.bind(1, 1, true)'), (1, 'optional.of(1).optMap(x, x + 1).value() == 2'),
    (1, '"abc".substring(2, 1) == ""'), (1, '"abc".substring(4) == ""'), (1, '"abc".charAt(3) == ""'), (1, '"abc".charAt(4) == ""'), (1, '"a,b".split(",", 0) == []'), (1, '"a,b".split(",", -1).size() == 2'),
    (1, '"ab".replace("", "_") == "_a_b_"'), (1, '"abab".replace("ab", "c", 1) == "cab"'), (1, '"ab".indexOf("b", 5) == -1'), (1, '"\\t a \\u2003".trim() == "a"'), (1, '["a", 1].join("")'),
]

# Large ones: what is repeated, and what stands before and behind all of it. The number of repetitions is drawn; some pass
# the limits of depth, of length or of cost. `{}` is the repeated part of a chain, NEST puts one into the other.
CHAIN = [
    (2, ('device.driver == "a"', " && ", "", "")), (2, ("true", " || ", "", "")), (1, ("1", " + ", "", " > 0")), (1, ("2", " * ", "", " > 0")),
    (1, ("1", ", ", "[", "].size() > 0")), (1, ('"a"', ", ", "[", "].size() > 0")), (1, ('"ab"', " + ", "", ' == ""')), (1, ("true", " ? true : ", "", "")),
    (1, ('"a".contains("a")', " == ", "", "")), (1, ("x", ".", "", " == 1")), (1, ("1", " < ", "", " == true")), (1, ("1 in [1]", " && ", "", "")),
    (1, ("'a': 1, 'b'", ": 2, ", "{", ": 3}.size() > 0")), (1, ('lowerAscii()', ".", '"a".', ' == "a"')), (1, ("a", "", '"', '" == device.driver')),
    (1, ("[0]", "", "[1]", " == 1")), (1, ("!", "", "", "true")), (1, ("-", "", "", "1 < 2")), (1, ('?"a"', "][", '{"a": 1}[', '].hasValue()')),
]
NEST = [
    (2, ("(", "true", ")", "")), (1, ("!(", "true", ")", "")),
    (1, ("dyn(", "1", ")", " == 1")), (1, ("size([", "1", "])", " == 1")), (1, ("(true && ", "true", ")", "")), (1, ("[1].all(x, ", "true", ")", "")),
    (1, ("[1].exists(x, x == 1 && ", "true", ")", "")), (1, ("cel.bind(x, 1, ", "x", ")", " == 1")), (1, ("(true ? ", "true", " : false)", "")), (1, ("optional.of(", "1", ")", ".hasValue()")),
    (1, ("-(", "1", ")", " < 2")), (1, ("true || (", "false", ")", "")),
]
# Nested types take the peer a time that grows with the third power.
NEST_TYPES = [
    (2, ("[", "1", "]", ".size() > 0")), (1, ('{"a": ', "1", "}", ".size() > 0")), (1, ("[1, 2].map(x, ", "x", ")", ".size() == 2")),
]
