"""Declarations of files of CPN Tools: colour sets, variables, values and functions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headrace.net.exchange.digits import width
from headrace.net.exchange.ml_meaning import Choices, Colour, Meaning, Union
from headrace.net.exchange.ml_syntax import Ml, MlError, parse_declarations, parse_ml
from headrace.net.exchange.ml_text import plain_label
from headrace.net.exchange.ml_trees import FALSE, TRUE, reduced
from headrace.net.exchange.names import PlainNames
from headrace.net.exchange.safe_xml import Source, Xml

MOST_VALUES = 1000
"""Most values of a colour set that are counted up."""

RESERVED = {
    "if", "then", "else", "and", "or", "not", "with", "true", "false", "empty", "_", "unit", "bool",
    "int", "real", "time", "text",
}  # fmt: skip
"""Names that a document keeps for itself."""

BASE = {"int": "int", "intinf": "int", "real": "real", "string": "text", "time": "time"}

PRIORITIES = {"P_HIGH": 100, "P_NORMAL": 1000, "P_LOW": 10000}
"""Those of CPN Tools; files repeat them."""

UNITS = ("ps", "ns", "us", "ms", "s", "min", "h")


class Declarations:
    """The declarations of a file, and the part of the document that they become."""

    def __init__(self, source: Source, choices: Choices) -> None:
        self.source = source
        self.meaning = Meaning(choices)
        self.meaning.values |= {name: ("int", value) for name, value in PRIORITIES.items()}
        self.variables = self.meaning.variables
        self.colours: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.names = PlainNames(RESERVED)
        self.left_out: dict[str, int] = {}

    def read(self, box: Xml) -> None:
        """Read a block of declarations."""
        for declaration in box.children:
            match declaration.tag:
                case "block":
                    self.read(declaration)
                case "color":
                    self._colour(declaration)
                case "var":
                    kind = declaration.text_at("type", "id")
                    for variable in declaration.all("id"):
                        self.variables[variable.text.strip()] = kind
                case "ml":
                    self._code(declaration)
                case "globref":
                    self._reference(declaration)
                case "use":
                    self._count("files of code")

    def _reference(self, declaration: Xml) -> None:
        name = declaration.text_at("id")
        try:
            self.meaning.references[name] = parse_ml(declaration.text_at("ml"))
        except MlError as error:
            self.meaning.unread[name] = str(error)
            self._count("reference variables")

    def _count(self, label: str) -> None:
        self.left_out[label] = self.left_out.get(label, 0) + 1

    def notes(self) -> Iterator[str]:
        """Yield what was not read."""
        yield from (f"{number} {label}" for label, number in self.left_out.items())

    # --- colour sets --------------------------------------------------------------------------

    def _colour(self, declaration: Xml) -> None:
        name = declaration.text_at("id")
        skip = ("id", "timed", "layout", "declare")
        forms = [child for child in declaration.children if child.tag not in skip]
        if len(forms) != 1:
            raise self.source.error(declaration.line, f"the colour set {name} has no form")
        try:
            colour = self._form(name, forms[0])
        except MlError as error:
            colour = Colour("", why=str(error))
        colour.timed = declaration.find("timed") is not None
        colour.own = name
        if not colour.kind:
            self._count("colour sets of other forms")
        self.meaning.colours[name] = colour

    def _known(self, name: str) -> Colour:
        colour = self.meaning.colours.get(name)
        if colour is None:
            raise MlError(f"the colour set {name} is not declared before")
        if not colour.kind:
            raise MlError(f"the colour set {name} is not read: {colour.why}")
        if colour.element is not None:
            raise MlError(f"{name}, a list, is read as the colour set of a place only")
        return colour

    def _form(self, name: str, form: Xml) -> Colour:
        ids = [child.text.strip() for child in form.all("id")]
        match form.tag:
            case "unit":
                for new in form.findall_ids():
                    self.meaning.members[new] = "()"
                return Colour("unit", domain=[("tuple", [])])
            case "bool":
                for new, value in zip(form.findall_ids(), ("false", "true"), strict=False):
                    self.meaning.members[new] = value
                return Colour("bool", domain=[FALSE, TRUE])
            case "int" | "intinf" | "real" | "string" | "time":
                kind = BASE[form.tag]
                if kind == "time" and self.meaning.has_real_time:
                    kind = "real"
                is_text = kind == "text"
                if is_text and self.meaning.choices.alphabet is not None:
                    kind = "int"
                return Colour(kind, domain=self._range(form), is_text=is_text)
            case "enum":
                own = self.names.new(name, "Enum")
                members = {member: self.names.new(member, "member") for member in ids}
                self.meaning.members |= members
                self.colours[own] = list(members.values())
                return Colour(own, domain=[("name", label) for label in ids])
            case "index":
                bounds = [self.whole(ml.text) for ml in form.all("ml")]
                if len(bounds) != 2 or len(ids) != 1:
                    raise MlError("expected index NAME with FIRST..LAST")
                self.meaning.indices.add(ids[0])
                return Colour("int", domain=_numbers(*bounds))
            case "product":
                return self._product(name, [(f"f{i + 1}", key) for i, key in enumerate(ids)], True)
            case "record":
                fields = []
                for part in form.all("recordfield"):
                    labels = [child.text.strip() for child in part.all("id")]
                    if len(labels) != 2:
                        raise MlError("expected a field with a name and a colour set")
                    fields.append((plain_label(labels[0]), labels[1]))
                return self._product(name, fields, False)
            case "alias":
                element = self._known(ids[0]) if ids else Colour("", why="it names no colour set")
                return replace(element)
            case "list":
                element = self._known(ids[0] if ids else "")
                if not self.meaning.choices.is_coded(name):
                    return Colour(element.kind, is_list=True, element=element)
                width(element)
                return Colour("int", element=element)
            case "union":
                return self._union(name, form)
            case "subset":
                return self._subset(form, ids)
        raise MlError(f"the form {form.tag} is not read")

    def _subset(self, form: Xml, ids: list[str]) -> Colour:
        if not ids:
            raise MlError("it names no colour set")
        target = self._known(ids[0])
        listed, function = form.text_at("with", "ml"), form.text_at("by", "ml")
        if listed:
            tree = self.meaning.expand(parse_ml(listed))
            if tree[0] != "list":
                raise MlError("expected a list of values")
            return Colour(target.kind, domain=list(tree[1]))
        if not function or target.domain is None:
            raise MlError("subsets of large colour sets by a function are not read")
        kept = []
        for value in target.domain:
            call = ("apply", parse_ml(function), value)
            truth = reduced(self.meaning.expand(call))
            if truth not in (TRUE, FALSE):
                raise MlError(f"{function} has no value that is known")
            if truth == TRUE:
                kept.append(value)
        return Colour(target.kind, domain=kept or None)

    def whole(self, text: str) -> int:
        tree = self.meaning.expand(parse_ml(text))
        value = self._constant(tree)
        if not isinstance(value, int):
            raise MlError(f"expected a whole number, not {text.strip()[:40]}")
        return value

    def _constant(self, tree: Ml) -> Any:
        """Return a number or text; None if an expanded tree is none."""
        known = reduced(self._named(tree))
        return known[1] if known[0] in ("int", "real", "text") else None

    def _named(self, tree: Ml) -> Ml:
        """Put in values that the document has under a name."""
        if tree[0] == "name" and tree[1] in self.meaning.values:
            return self._named(self.meaning.expand(self.meaning.values[tree[1]]))
        if tree[0] == "binary":
            return ("binary", tree[1], self._named(tree[2]), self._named(tree[3]))
        return tree

    def _range(self, form: Xml) -> list[Ml] | None:
        bounds = [ml.text for with_ in form.all("with") for ml in with_.all("ml")]
        if form.tag != "int" or len(bounds) != 2:
            return None
        return _numbers(*(self.whole(bound) for bound in bounds))

    def _product(self, name: str, fields: list[tuple[str, str]], is_product: bool) -> Colour:
        kinds = {field: self._known(field_kind) for field, field_kind in fields}
        if len(kinds) != len(fields) or not fields:
            raise MlError("expected one or more different fields")
        own = self.names.new(name, "Record")
        kinds_of_fields = {field: colour.kind for field, colour in kinds.items()}
        self.colours[own] = kinds_of_fields
        self.meaning.records[own] = kinds_of_fields
        if is_product:
            self.meaning.products.add(own)
        domain: list[list[Ml]] | None = [[]]
        for colour in kinds.values():
            if domain is None or colour.domain is None:
                domain = None
                break
            if len(domain) * len(colour.domain) > MOST_VALUES:
                domain = None
                break
            domain = [[*a, b] for a in domain for b in colour.domain]
        parts = list(kinds.items())
        if domain is None:
            return Colour(own, parts=parts, is_product=is_product)
        if is_product:
            values_of = [("tuple", values) for values in domain]
            return Colour(own, domain=values_of, parts=parts, is_product=True)
        labels = list(kinds_of_fields)
        records: list[Ml] = [
            ("record", list(zip(labels, values, strict=True))) for values in domain
        ]
        return Colour(own, domain=records, parts=parts)

    def _union(self, name: str, form: Xml) -> Colour:
        parts: dict[str, Colour | None] = {}
        for part in form.all("unionfield"):
            kind = part.text_at("type", "id")
            parts[part.text_at("id")] = self._known(kind) if kind else None
        record, forms = self.names.new(name, "Union"), self.names.new(f"{name}_form", "Forms")
        tags = {each: self.names.new(each, "form") for each in parts}
        self.colours[forms] = list(tags.values())
        fields = {
            each: f"as_{plain_label(each)}"
            for each, part in parts.items()
            if part is not None and part.kind != "unit"
        }
        kinds = {fields[each]: part.kind for each, part in parts.items() if part and each in fields}
        self.colours[record] = {"form": forms, **kinds}
        self.meaning.records[record] = self.colours[record]
        self.meaning.products.add(record)
        unset = {field: self._any(kind) for field, kind in kinds.items()}
        union = Union(record, tags, fields, unset)
        for each, tag in tags.items():
            self.meaning.constructors[each] = union
            self.meaning.members[f"{each} form"] = tag
        return Colour(record)

    def _any(self, kind: str) -> str:
        """Return a value of a kind, for a field that is not used."""
        known = {"int": "0", "bool": "false", "real": "0.0", "text": '""', "time": "0 s"}
        if kind in known:
            return known[kind]
        inner = self.colours[kind]
        if isinstance(inner, list):
            return str(inner[0])
        return f"{kind}({', '.join(map(self._any, inner.values()))})"

    # --- values and functions -----------------------------------------------------------------

    def _code(self, declaration: Xml) -> None:
        text = declaration.text
        try:
            declarations = parse_declarations(text)
        except MlError as error:
            words = text.replace("(", " ").split()
            if len(words) > 1:
                self.meaning.unread[words[1]] = str(error)
            self._count("declarations of other forms")
            return
        for form, name, body in declarations:
            if form == "fun":
                self.meaning.functions[name] = body
            elif name == "unit_of_time" and body[0] == "text" and body[1] in UNITS:
                self.meaning.unit = body[1]
            else:
                self.meaning.values[name] = body
                self._value(name, body)

    def _value(self, name: str, tree: Ml) -> None:
        """Make a number or text a value of the document."""
        if name.startswith("P_"):
            # Priorities.
            return
        try:
            value = self._constant(self.meaning.expand(tree))
        except MlError:
            return
        if isinstance(value, str) and self.meaning.choices.alphabet is not None:
            return
        if value is None or (isinstance(value, str) and ('"' in value or "\n" in value)):
            return
        own = self.names.new(name, "value")
        self.meaning.constants[name] = own
        self.values[own] = f'"{value}"' if isinstance(value, str) else value


def _numbers(first: int, last: int) -> list[Ml] | None:
    if not 0 <= last - first < MOST_VALUES:
        return None
    return [("int", number) for number in range(first, last + 1)]
