// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

var suffixes = []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e", "E"}

// Numbers at which something changes: int64, 1024, a thousand.
var edgeNumbers = []string{"0", "1", "9", "10", "999", "1000", "1001", "1023", "1024", "1025", "1048576", "9223372036854775807", "9223372036854775808",
	"9223372036854775806", "4611686018427387904", "8191", "8192", "0.5", "0.001", "0.000000001", "0.0000000001", "0.9999999999", "1.5", "1.", ".5", "00", "007"}

// quantityText: without exponents at which Go computes for minutes; beyond 10,000 ours refuses anyway.
func quantityText(r *rand.Rand) string {
	for {
		text := anyQuantityText(r)
		at := strings.IndexAny(text, "eE")
		if at < 0 {
			return text
		}
		if exponent, err := strconv.Atoi(text[at+1:]); err != nil || exponent > -9000 && exponent < 9000 {
			return text
		}
	}
}

func anyQuantityText(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(pick(r, []string{"", "", "", "-", "+"}))
	switch r.IntN(4) {
	case 0:
		b.WriteString(pick(r, edgeNumbers))
	case 1:
		b.WriteString(digits(r, 4))
	case 2:
		b.WriteString(digits(r, 22))
	default:
		b.WriteString(digits(r, 12))
		b.WriteByte('.')
		if !chance(r, 10) {
			b.WriteString(digits(r, 14))
		}
	}
	suffix := pick(r, suffixes)
	b.WriteString(suffix)
	if suffix == "e" || suffix == "E" && chance(r, 2) {
		b.WriteString(pick(r, []string{"", "+", "-"}))
		b.WriteString(strconv.Itoa(r.IntN(25)))
	}
	return damage(r, b.String(), "0123456789.-+eEkKimMn_ ")
}

// What is outside the range that api/kubernetes/values/quantity.h documents: it has no digit, more than 38 that count, or it is
// printed where no suffix is left for it. The answer is then ours alone.
type reading struct {
	q     resource.Quantity
	valid bool
	apart bool // one of the documented differences
}

func read(text string) reading {
	q, err := resource.ParseQuantity(text)
	number := strings.TrimLeft(text, "+-")
	end := strings.IndexFunc(number, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if end >= 0 {
		number = number[:end]
	}
	if !strings.ContainsAny(number, "0123456789") {
		return reading{valid: false}
	}
	return reading{q: q, valid: err == nil, apart: err == nil && outside(q)}
}

func outside(q resource.Quantity) bool {
	number := strings.TrimRight(strings.TrimLeft(q.AsDec().UnscaledBig().String(), "-"), "0")
	return len(number) > 38
}

// canonical: as Go writes it, but with an exponent where its format has no suffix and Go leaves it out. Quantity.String may
// repeat what was parsed.
func canonical(q resource.Quantity) string {
	if whole := new(big.Int).Abs(new(inf.Dec).Round(q.AsDec(), 0, inf.RoundDown).UnscaledBig()); q.Format == resource.BinarySI && whole.BitLen() > 127 {
		// Beyond what ours computes with; it says so.
		q = q.DeepCopy()
		q.Format = resource.DecimalSI
	}
	number, suffix := q.CanonicalizeBytes(nil)
	text := string(number) + string(suffix)
	if suffix == nil || string(suffix) == "" {
		shown, ok := new(inf.Dec).SetString(string(number))
		if !ok || shown.Cmp(q.AsDec()) != 0 {
			number, exponent := exponentOf(q)
			return number + "e" + strconv.Itoa(exponent)
		}
	}
	return text
}

// exponentOf: an integer and a power of a thousand, as decimal suffixes have it.
func exponentOf(q resource.Quantity) (string, int) {
	unscaled := new(big.Int).Set(q.AsDec().UnscaledBig())
	exponent := -int(q.AsDec().Scale())
	ten := big.NewInt(10)
	for {
		quotient, rest := new(big.Int).QuoRem(unscaled, ten, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		unscaled = quotient
		exponent++
	}
	for exponent%3 != 0 {
		unscaled.Mul(unscaled, ten)
		exponent--
	}
	return unscaled.String(), exponent
}

var formats = map[resource.Format]string{resource.DecimalSI: "0", resource.BinarySI: "1", resource.DecimalExponent: "2"}

func describe(q resource.Quantity) []string {
	return []string{canonical(q), formats[q.Format]}
}

// scaled: Value (scale 0) or MilliValue (3). Below zero those of Go are of no use (Value of -2Pi is -5764607522 there), and
// beyond int64 they wrap around, so that the right answer is computed here.
func scaled(q resource.Quantity, scale inf.Scale) string {
	exact := new(inf.Dec).Round(q.AsDec(), scale, inf.RoundUp)
	number := exact.UnscaledBig()
	switch {
	case q.Sign() < 0 && number.IsInt64():
		return number.String()
	case q.Sign() < 0:
		return strconv.FormatInt(math.MinInt64, 10)
	case !number.IsInt64():
		return strconv.FormatInt(math.MaxInt64, 10)
	case scale == 0:
		return strconv.FormatInt(q.Value(), 10)
	default:
		return strconv.FormatInt(q.MilliValue(), 10)
	}
}

func nextQuantity(r *rand.Rand) question {
	if chance(r, 2) {
		return oneQuantity(quantityText(r))
	}
	a, b := quantityText(r), quantityText(r)
	if chance(r, 8) {
		b = a
	}
	return twoQuantities(a, b)
}

func oneQuantity(text string) question {
	q := question{ask: []string{"quantity", text}}
	switch x := read(text); {
	case x.apart:
		q.want = []string{"out of range"}
	case !x.valid:
		q.want = []string{"invalid"}
	default:
		q.want = append([]string{"ok"}, describe(x.q)...)
		q.want = append(q.want, scaled(x.q, 0), scaled(x.q, 3))
	}
	return q
}

func twoQuantities(a, b string) question {
	q := question{ask: []string{"quantities", a, b}}
	x, y := read(a), read(b)
	if !x.valid || !y.valid || x.apart || y.apart {
		return oneQuantity(a)
	}
	sum, difference := x.q.DeepCopy(), x.q.DeepCopy()
	sum.Add(y.q)
	difference.Sub(y.q)
	q.want = []string{"ok", strconv.Itoa(x.q.Cmp(y.q))}
	for _, result := range []resource.Quantity{sum, difference} {
		if outside(result) {
			q.want = append(q.want, "out of range", "")
			continue
		}
		q.want = append(q.want, describe(result)...)
	}
	return q
}
