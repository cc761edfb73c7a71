"""Types of the CPN ML of a file of CPN Tools, checked by a Standard ML system.

It has what inscriptions use of CPN ML: multisets, times and random functions. Each inscription is
given to the compiler as CPN Tools gives it: as a token, a multiset, or a multiset with times.
"""

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree.ElementTree import Element, parse

SML = shutil.which("sml")

PRELUDE = """
infix 8 `; infix 7 @+; infix 7 @++; infix 6 ++; infix 6 +++; infix 5 ^^;
type 'a ms = 'a list;
type Time = %s;
type 'a tms = ('a * Time) list;
fun n ` x = List.tabulate (n, fn _ => x) : 'a ms;
val op ++ = List.@; val op +++ = List.@; val op ^^ = List.@;
val empty = [];
val now : Time = %s;
fun time () = now;
fun ms @++ t = map (fn c => (c, t : Time)) ms : 'a tms;
fun ms @+ (n : int) = map (fn c => (c, %s n : Time)) ms : 'a tms;
fun exponential (r : real) = r;
fun uniform (a : real, b : real) = a + b;
fun erlang (n : int, r : real) = r;
fun normal (m : real, v : real) = m + v;
fun discrete (a : int, b : int) = a + b;
fun bernoulli (p : real) = trunc p;
"""


def colset(element: Element) -> str:
    """Return the declaration of a colour set as one of a type."""
    name = element.findtext("id", "")
    if element.find("enum") is not None:
        members = [it.text or "" for it in element.findall("enum/id")]
        return f"datatype {name} = {' | '.join(members)};"
    fields = [[it.text for it in of.findall("id")] for of in element.findall("record/recordfield")]
    if fields:
        return f"type {name} = {{{', '.join(f'{label} : {of}' for label, of in fields)}}};"
    parts = [it.text or "" for it in element.findall("product/id")]
    if parts:
        return f"type {name} = {' * '.join(parts)};"
    for form, text in (("list", "{} list"), ("alias", "{}")):
        of = element.findtext(f"{form}/id")
        if of is not None:
            return f"type {name} = {text.format(of)};"
    base = {"unit": "unit", "bool": "bool", "int": "int", "string": "string", "real": "real"}
    found = [of for form, of in base.items() if element.find(form) is not None]
    return f"type {name} = {found[0] if found else 'Time'};"


def inscriptions(page: Element, colours: dict[str, str]) -> list[tuple[str, list[str]]]:
    """Return expressions that must have a type, each with the types that will do."""
    found: list[tuple[str, list[str]]] = []
    places = {}
    for place in page.findall("place"):
        of = place.findtext("type/text", "")
        places[place.get("id")] = of
        initial = place.findtext("initmark/text")
        if initial:
            found.append((initial, [of, f"{of} ms", f"{of} tms"]))
    for arc in page.findall("arc"):
        text = arc.findtext("annot/text")
        if not text:
            continue
        end = arc.find("placeend")
        of = places[end.get("idref") if end is not None else None]
        if "@+" in text and arc.get("orientation") == "TtoP":
            # As CPN Tools 4 does, before anything else.
            before, after = text.split("@+", 1)
            text = f"({before})@+{after}"
        types = [of, f"{of} ms"]
        if of.endswith("timed"):
            types.append(f"{of} tms")
            found.append((f"1`{text}" if re.match(r"\(\(?[^`]*\)@", text) else text, types))
            continue
        found.append((text, types))
    for transition in page.findall("trans"):
        guard = transition.findtext("cond/text")
        if guard:
            found.append((guard, ["bool list"]))
        priority = transition.findtext("priority/text")
        if priority:
            found.append((priority, ["int"]))
        code = transition.findtext("code/text")
        if code:
            match = re.fullmatch(
                r"(?:input \((.*?)\);\n)?output \((.*?)\);\naction(.*);", code, re.DOTALL
            )
            assert match is not None, code
            of = " * ".join(colours[name] for name in match[2].split(", "))
            found.append((match[3], [of]))
    return found


def declarations(file: Path) -> tuple[Element, Element, list[str]]:
    """Return a net, its declarations, and these in Standard ML."""
    net = parse(file).getroot().find("cpnet")
    assert net is not None
    box, option = net.find("globbox"), net.find("options/option/value/boolean")
    assert box is not None and option is not None
    model = ("real", "0.0", "Real.fromInt")
    if option.text != "true":
        model = ("IntInf.int", "0", "IntInf.fromInt")
    lines = [PRELUDE % model]
    for element in box.iter():
        if element.tag == "color":
            lines.append(colset(element))
        elif element.tag == "ml" and element.find("layout") is not None:
            lines.append(element.text or "")
    return net, box, lines


def evaluate(
    file: Path, pattern: str, token: str, expressions: dict[str, str], work: Path
) -> dict[str, float]:
    """Return the values of inscriptions for a token that a pattern takes apart."""
    assert SML is not None
    _, _, lines = declarations(file)
    lines.append(f"val {pattern} : Start = {token};")
    for name, text in expressions.items():
        show = "Int.toString" if name.startswith("int") else "Real.fmt (StringCvt.GEN (SOME 15))"
        lines.append(f'val _ = print ("{name} = " ^ {show} ({text}) ^ "\\n");')
    script = work / "values.sml"
    script.write_text("\n".join([*lines, ""]))
    result = subprocess.run(
        [SML, str(script)], input="", capture_output=True, text=True, timeout=120, check=False
    )
    found = re.findall(r"^(\w+) = (\S+)$", result.stdout, re.M)
    assert "Error" not in result.stdout, result.stdout
    return {name: float(value.replace("~", "-")) for name, value in found}


def faults(file: Path, work: Path) -> tuple[list[str], int]:
    """Return the inscriptions that have no type, and the number of all.

    A fault of a declaration is one of all inscriptions.
    """
    net, box, lines = declarations(file)
    colours = {it.findtext("id", ""): it.findtext("type/id", "") for it in box.iter("var")}
    parameters = ", ".join(f"{name} : {of}" for name, of in colours.items()) or "_ : unit"
    waiting = [it for page in net.findall("page") for it in inscriptions(page, colours)]
    count = len(waiting)
    while any(types for _, types in waiting):
        tests = [(text, types.pop(0)) for text, types in waiting if types]
        wrong = compiled("\n".join(lines), parameters, tests, work)
        waiting = [(tests[number][0], waiting[number][1]) for number in sorted(wrong)]
    return [text for text, _ in waiting], count


def compiled(script: str, parameters: str, tests: list[tuple[str, str]], work: Path) -> set[int]:
    """Compile expressions with types; return the numbers of those with an error."""
    assert SML is not None
    head = [*script.splitlines(), "structure Tests = struct"]
    body = [
        f"val _ = fn ({parameters}) => (({' '.join(text.split())}) : {of})" for text, of in tests
    ]
    file = work / "inscriptions.sml"
    file.write_text("\n".join([*head, *body, "end;", 'val _ = print "compiled\\n";', ""]))
    result = subprocess.run(
        [SML, str(file)], input="", capture_output=True, text=True, timeout=120, check=False
    )
    lines = [int(it) for it in re.findall(r"inscriptions\.sml:(\d+)\.", result.stdout)]
    wrong = {line - len(head) - 1 for line in lines if "Error" in result.stdout}
    assert "compiled" in result.stdout or wrong, result.stdout
    assert all(0 <= number < len(tests) for number in wrong), result.stdout
    return wrong
