package mapping

import (
	"strconv"
	"strings"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// unknownTime stands in for a timestamp when not even a first-seen time is given:
// both eras require one.
const unknownTime = "1970-01-01T00:00:00.000Z"

// writeTime writes a timestamp: as it came when it is RFC 3339, rewritten when it
// can be understood, and otherwise firstSeen (G-17).
func writeTime(w *wire.Writer, name string, v wire.Value, firstSeen string) Notes {
	text, isText := v.Text()
	if isText && isRFC3339(text) {
		w.Value(name, v)
		return 0
	}
	if at, ok := parseTime(v); ok {
		w.Name(name)
		w.SetBuf(at.appendJSON(w.Buf()))
		return Notes(0).With(NoteTimestamp)
	}
	if firstSeen == "" {
		firstSeen = unknownTime
	}
	w.Text(name, firstSeen)
	return Notes(0).With(NoteTimestamp)
}

// ParseTime reads a timestamp of a peer as seconds since 1970 and nanoseconds. It
// understands RFC 3339 with any offset and fraction, the same with a space for
// the T or without a zone (then UTC), and the number of seconds or milliseconds
// since 1970 (G-17). ok is false for everything else.
func ParseTime(v wire.Value) (sec, nsec int64, ok bool) {
	at, ok := parseTime(v)
	return at.sec, at.nsec, ok
}

// FormatTime returns an instant in RFC 3339, UTC, with milliseconds.
func FormatTime(unixMs int64) string {
	at := instant{sec: floorDiv(unixMs, 1000)}
	at.nsec = (unixMs - at.sec*1000) * 1e6
	return string(at.append(nil))
}

// instant is a point in time without a zone.
type instant struct{ sec, nsec int64 }

// millisBeyond is the number of seconds from which an epoch number is taken for
// milliseconds: as seconds it would lie beyond the year 5000.
const millisBeyond = 100_000_000_000

// maxEpoch is the end of the year 9999, the last that RFC 3339 can write.
const maxEpoch = 253_402_300_799

func parseTime(v wire.Value) (instant, bool) {
	switch v.Kind() {
	case wire.KindString:
		text, _ := v.Text()
		return parseTimeText(text)
	case wire.KindNumber:
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n < 0 {
			return instant{}, false
		}
		ms := n * 1000
		if n >= millisBeyond {
			ms = n
		}
		if ms > maxEpoch*1000 {
			return instant{}, false
		}
		whole := int64(ms)
		return instant{sec: whole / 1000, nsec: whole % 1000 * 1e6}, true
	default:
		return instant{}, false
	}
}

// isRFC3339 reports whether text is a date-time of RFC 3339 §5.6.
func isRFC3339(text string) bool {
	_, exact, ok := scanTime(text)
	return ok && exact
}

func parseTimeText(text string) (instant, bool) {
	at, _, ok := scanTime(text)
	return at, ok
}

// scanTime reads a date and time. exact is true for RFC 3339 to the letter.
func scanTime(s string) (at instant, exact, ok bool) {
	if len(s) < len("2006-01-02T15:04:05") || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return at, false, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 60 {
		return at, false, false
	}
	exact = s[10] == 'T' || s[10] == 't'
	if !exact && s[10] != ' ' {
		return at, false, false
	}
	nsec, rest, ok := fraction(s[19:])
	if !ok {
		return at, false, false
	}
	offset, zoned, ok := zone(rest)
	if !ok {
		return at, false, false
	}
	at.sec = daysFromCivil(year, month, day)*86400 + hour*3600 + minute*60 + second - offset
	at.nsec = nsec
	return at, exact && zoned, true
}

// fraction reads an optional fraction of a second.
func fraction(s string) (nsec int64, rest string, ok bool) {
	if s == "" || s[0] != '.' {
		return 0, s, true
	}
	n := 1
	for scale := int64(1e8); n < len(s) && s[n] >= '0' && s[n] <= '9'; n, scale = n+1, scale/10 {
		nsec += int64(s[n]-'0') * scale
	}
	return nsec, s[n:], n > 1
}

// zone reads a zone, which may be missing.
func zone(s string) (offset int64, zoned, ok bool) {
	switch {
	case s == "":
		return 0, false, true
	case s == "Z" || s == "z":
		return 0, true, true
	case len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':':
		return 0, false, false
	}
	hour, ok1 := digits(s[1:3])
	minute, ok2 := digits(s[4:6])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, false, false
	}
	offset = hour*3600 + minute*60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true, true
}

func digits(s string) (int64, bool) {
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

func daysIn(year, month int64) int64 {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	default:
		return 31
	}
}

func (at instant) appendJSON(dst []byte) []byte {
	return append(at.append(append(dst, '"')), '"')
}

func (at instant) append(dst []byte) []byte {
	days := floorDiv(at.sec, 86400)
	rest := at.sec - days*86400
	year, month, day := civilFromDays(days)
	for _, part := range []struct {
		n     int64
		width int
		after string
	}{
		{year, 4, "-"},
		{month, 2, "-"},
		{day, 2, "T"},
		{rest / 3600, 2, ":"},
		{rest / 60 % 60, 2, ":"},
		{rest % 60, 2, "."},
		{at.nsec / 1e6, 3, "Z"},
	} {
		text := strconv.FormatInt(part.n, 10)
		dst = append(dst, strings.Repeat("0", max(0, part.width-len(text)))...)
		dst = append(append(dst, text...), part.after...)
	}
	return dst
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// daysFromCivil counts days from 1970-01-01 in the Gregorian calendar. The year
// is taken to begin in March, so that a leap day comes last.
func daysFromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
	}
	month = (month + 9) % 12
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*month+2)/5 + day - 1 - 719468
}

// civilFromDays is the inverse of daysFromCivil.
func civilFromDays(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	ofEra := days - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*ofYear + 2) / 153
	day = ofYear - (153*shifted+2)/5 + 1
	month = (shifted+2)%12 + 1
	year = era*400 + yearOfEra
	if month <= 2 {
		year++
	}
	return year, month, day
}
