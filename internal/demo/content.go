package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// clockURI is the resource that changes; clockPeriod is how often its watchers
// are told so.
const (
	clockURI    = "demo://clock"
	clockPeriod = 2 * time.Second
)

const (
	planetPrefix = "demo://planets/"
	readmeText   = "A small server to try the bridge with. Call its tools, read its resources, watch its clock.\n"
	// pixelPNG is a picture of one pixel.
	pixelPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)

var (
	planets   = []string{"earth", "jupiter", "mars", "mercury", "neptune", "saturn", "uranus", "venus"}
	languages = []string{"dutch", "english", "french", "german", "greek", "italian"}
	hellos    = map[string]string{
		"dutch": "Hallo", "english": "Hello", "french": "Bonjour", "german": "Guten Tag", "greek": "Yasou", "italian": "Ciao",
	}
)

// resourceList is the content of resources/list.
func resourceList() []object {
	return []object{
		{"uri": "demo://readme", "name": "readme", "title": "Read me", "description": "What this server is for", "mimeType": "text/plain", "size": len(readmeText)},
		{"uri": "demo://pixel", "name": "pixel", "title": "Pixel", "description": "A picture of one pixel", "mimeType": "image/png"},
		{"uri": clockURI, "name": "clock", "title": "Clock", "description": "The time; watchers hear of it every two seconds", "mimeType": "text/plain"},
	}
}

// templateList is the content of resources/templates/list.
func templateList() []object {
	return []object{{
		"uriTemplate": planetPrefix + "{planet}", "name": "planet", "title": "Planet",
		"description": "What is known here about a planet", "mimeType": "application/json",
	}}
}

// readResource returns the content at uri, and whether there is any.
func readResource(uri string, now time.Time) (object, bool) {
	switch uri {
	case "demo://readme":
		return object{"uri": uri, "mimeType": "text/plain", "text": readmeText}, true
	case "demo://pixel":
		return object{"uri": uri, "mimeType": "image/png", "blob": pixelPNG}, true
	case clockURI:
		return object{"uri": uri, "mimeType": "text/plain", "text": now.UTC().Format(time.RFC3339)}, true
	}
	name, isPlanet := strings.CutPrefix(uri, planetPrefix)
	place := slices.Index(planets, name)
	if !isPlanet || place < 0 {
		return nil, false
	}
	text := fmt.Sprintf(`{"name":%q,"alphabetical":%d}`, name, place+1)
	return object{"uri": uri, "mimeType": "application/json", "text": text}, true
}

// promptList is the content of prompts/list.
func promptList() []object {
	return []object{
		{"name": "greeting", "title": "Greeting", "description": "Asks for a greeting in some language", "arguments": []object{
			{"name": "name", "description": "Who is greeted", "required": true},
			{"name": "language", "description": "In which language; English if absent"},
		}},
		{"name": "explain", "title": "Explain", "description": "Asks for an explanation of a planet's entry", "arguments": []object{
			{"name": "planet", "description": "Which planet", "required": true},
		}},
	}
}

// getPrompt fills in a prompt. Its error is what the caller did wrong.
func getPrompt(name string, given map[string]string, now time.Time) (object, error) {
	say := func(content object) object { return object{"role": "user", "content": content} }
	switch name {
	case "greeting":
		who, language := given["name"], given["language"]
		if who == "" {
			return nil, fmt.Errorf("params.arguments.name: missing")
		}
		if language == "" {
			language = "english"
		}
		hello, ok := hellos[language]
		if !ok {
			return nil, fmt.Errorf("params.arguments.language: want one of %s", strings.Join(languages, ", "))
		}
		text := fmt.Sprintf("Greet %s in %s, for example with %q.", who, language, hello)
		return object{"description": "A greeting", "messages": []object{say(object{"type": "text", "text": text})}}, nil
	case "explain":
		entry, ok := readResource(planetPrefix+given["planet"], now)
		if !ok {
			return nil, fmt.Errorf("params.arguments.planet: want one of %s", strings.Join(planets, ", "))
		}
		return object{"description": "An explanation", "messages": []object{
			say(object{"type": "resource", "resource": entry}),
			say(object{"type": "text", "text": "Explain this entry in one sentence."}),
		}}, nil
	}
	return nil, fmt.Errorf("unknown prompt: %s", name)
}

// complete proposes values for an argument of a prompt or a resource template.
// ok is false if there is no such argument.
func complete(kind, ref, argument, typed string) (values []string, ok bool) {
	var all []string
	switch kind + " " + ref + " " + argument {
	case "ref/prompt greeting name":
	case "ref/prompt greeting language":
		all = languages
	case "ref/prompt explain planet", "ref/resource " + planetPrefix + "{planet} planet":
		all = planets
	default:
		return nil, false
	}
	values = []string{}
	for _, v := range all {
		if strings.HasPrefix(v, strings.ToLower(typed)) {
			values = append(values, v)
		}
	}
	return values, true
}
