"""Symmetric nets in PNML as nets of CPN Tools, whose reader then reads them.

Grammar: http://www.pnml.org/version-2009/grammar/symmetricnet
"""

from collections.abc import Callable
from dataclasses import dataclass

from headrace.net.exchange.names import ML_WORDS, PlainNames
from headrace.net.exchange.safe_xml import Source, Xml

TYPES = tuple(
    f"http://www.pnml.org/version-2009/grammar/{name}"
    for name in ("symmetricnet", "highlevelnet", "pt-hlpng")
)
ORDERED = (
    "successor", "predecessor", "lessthan", "lessthanorequal", "greaterthan", "greaterthanorequal",
)  # fmt: skip
"""Operators that need the order of a sort; its values are whole numbers then."""
COMPARISONS = {
    "equality": "=",
    "inequality": "<>",
    "lessthan": "<",
    "lessthanorequal": "<=",
    "greaterthan": ">",
    "greaterthanorequal": ">=",
}
JOINED = {"and": "andalso", "or": "orelse"}
MULTISETS = ("add", "subtract", "numberof", "scalarproduct", "all", "empty")
MOST_COPIES = 100
"""Largest factor of a multiset."""


@dataclass(frozen=True)
class Sort:
    """A sort: the name of its colour set, and the range of its numbers."""

    name: str
    first: int = 0
    size: int = 0


class SymmetricNet:
    """Writes a symmetric net in the form of CPN Tools, with the lines of its own file."""

    def __init__(self, source: Source, net: Xml, pages: list[Xml]) -> None:
        self.source, self.pages = source, pages
        self.is_ordered = any(part.tag in ORDERED for part in net.walk())
        self.names = PlainNames(ML_WORDS | {"true", "false", "empty", "Dot", "Bool", "not", "div"})
        self.declarations: list[Xml] = [
            _element("color", net, id="Dot", unit=""),
            _element("color", net, id="Bool", bool=""),
        ]
        self.sorts: dict[str, Sort] = {}
        self.constants: dict[str, tuple[str, Sort]] = {}
        self.variables: dict[str, tuple[str, Sort]] = {}
        self.declared = {
            part.get("id"): part
            for page in (net, *pages)
            for declaration in page.all("declaration")
            for part in declaration.walk()
            if part.get("id")
        }
        for part in self.declared.values():
            if part.tag == "namedsort":
                self._named(part.get("id"), part)
            elif part.tag == "variabledecl":
                name = self.names.new(part.get("name"), "x")
                sort = self._sort(part.children[0]) if part.children else Sort("Dot")
                self.variables[part.get("id")] = name, sort
                kind = _element("type", part, id=sort.name)
                self.declarations.append(Xml("var", {}, part.line, "", [kind, _text("id", name)]))
            elif part.tag != "feconstant":
                raise self._refused(part)

    def _refused(self, part: Xml) -> ValueError:
        return self.source.error(part.line, f"{part.tag} of symmetric nets is not read")

    # --- sorts --------------------------------------------------------------------------------

    def _named(self, key: str, at: Xml) -> Sort:
        if key not in self.sorts:
            part = self.declared.get(key)
            if part is None or part.tag != "namedsort" or len(part.children) != 1:
                raise self.source.error(at.line, f"no sort has the id {key!r}")
            self.declared[key] = Xml("sort within itself", {}, part.line)
            self.sorts[key] = self._sort(part.children[0], part.get("name") or key)
            self.declared[key] = part
        return self.sorts[key]

    def _sort(self, form: Xml, preferred: str = "Sort") -> Sort:
        """Return a sort; one that has no name yet is declared."""
        if form.tag == "usersort":
            return self._named(form.get("declaration"), form)
        if form.tag in ("dot", "bool"):
            return Sort(form.tag.capitalize())
        name = self.names.new(preferred, "Sort")
        if form.tag in ("cyclicenumeration", "finiteenumeration"):
            members = form.all("feconstant")
            sort = Sort(name, 0, len(members))
            labels = [str(number) for number in range(len(members))]
            if not self.is_ordered:
                labels = [
                    self.names.new(each.get("name" if _is_word(each.get("name")) else "id"), "c")
                    for each in members
                ]
                body = Xml("enum", {}, form.line, "", [_text("id", label) for label in labels])
            else:
                body = _range(form, 0, len(members) - 1)
            for each, label in zip(members, labels, strict=True):
                self.constants[each.get("id")] = label, sort
        elif form.tag == "finiteintrange":
            first, last = (self._whole(form, key) for key in ("start", "end"))
            sort, body = Sort(name, first, last - first + 1), _range(form, first, last)
        elif form.tag == "productsort":
            parts = [self._sort(part) for part in form.children]
            sort = Sort(name)
            body = Xml("product", {}, form.line, "", [_text("id", part.name) for part in parts])
        else:
            raise self._refused(form)
        color = Xml("color", {}, form.line, "", [_text("id", name), body])
        self.declarations.append(color)
        return sort

    def _whole(self, part: Xml, key: str) -> int:
        text = part.get(key).strip()
        if not text.lstrip("-").isdecimal() or len(text) > 9:
            raise self.source.error(part.line, f"{key}: expected a whole number, not {text[:20]!r}")
        return int(text)

    # --- terms --------------------------------------------------------------------------------

    def _plain(self, term: Xml) -> Xml:
        """Return what a tuple of one part has."""
        while term.tag == "tuple" and len(term.all("subterm")) == 1:
            (term,) = self._parts(term, 1)
        return term

    def _parts(self, term: Xml, number: int | None = None) -> list[Xml]:
        parts = [child for sub in term.all("subterm") for child in sub.children]
        if not parts or (number is not None and len(parts) != number):
            raise self.source.error(term.line, f"{term.tag}: expected {number or 'some'} subterms")
        return parts

    def _sort_of(self, term: Xml) -> Sort:
        match term.tag:
            case "variable":
                return self._variable(term)[1]
            case "useroperator":
                return self._constant(term)[1]
            case "finiteintrangeconstant" if term.children:
                form = term.children[0]
                first, last = (self._whole(form, key) for key in ("start", "end"))
                return Sort("", first, last - first + 1)
            case "successor" | "predecessor":
                return self._sort_of(self._parts(term, 1)[0])
        raise self._refused(term)

    def _variable(self, term: Xml) -> tuple[str, Sort]:
        key = term.get("refvariable")
        if key not in self.variables:
            raise self.source.error(term.line, f"no variable has the id {key!r}")
        return self.variables[key]

    def _constant(self, term: Xml) -> tuple[str, Sort]:
        key = term.get("declaration")
        if key not in self.constants:
            raise self.source.error(term.line, f"no constant has the id {key!r}")
        return self.constants[key]

    def term(self, term: Xml) -> str:
        """Return a value or condition in CPN ML."""
        term = self._plain(term)
        match term.tag:
            case "variable":
                return self._variable(term)[0]
            case "useroperator":
                return self._constant(term)[0]
            case "dotconstant":
                return "()"
            case "booleanconstant":
                return "true" if term.get("value") == "true" else "false"
            case "finiteintrangeconstant":
                return str(self._whole(term, "value")).replace("-", "~")
            case "successor" | "predecessor":
                (part,) = self._parts(term, 1)
                sort = self._sort_of(part)
                step = (1 if term.tag == "successor" else sort.size - 1) - sort.first
                signed = str(step).replace("-", "~")
                back = f" + {sort.first}" if sort.first else ""
                return f"(({self.term(part)} + {signed}) mod {sort.size}{back})"
            case "tuple":
                return f"({', '.join(map(self.term, self._parts(term)))})"
            case "not":
                return f"not ({self.term(self._parts(term, 1)[0])})"
            case "imply":
                one, other = map(self.term, self._parts(term, 2))
                return f"(not ({one}) orelse {other})"
        if term.tag in COMPARISONS:
            one, other = map(self.term, self._parts(term, 2))
            return f"({one} {COMPARISONS[term.tag]} {other})"
        if term.tag in JOINED:
            return f"({f' {JOINED[term.tag]} '.join(map(self.term, self._parts(term)))})"
        raise self._refused(term)

    def multiset(self, term: Xml) -> str:
        """Return a multiset in CPN ML."""
        term = self._plain(term)
        match term.tag:
            case "all" if term.children:
                return f"{self._sort(term.children[0]).name}.all ()"
            case "empty":
                return "empty"
            case "add" | "subtract":
                sign = " ++ " if term.tag == "add" else " -- "
                return f"({sign.join(map(self.multiset, self._parts(term)))})"
            case "numberof" | "scalarproduct":
                number, part = self._parts(term, 2)
                count = self._whole(number, "value")
                if not self._is_multiset(part):
                    return f"{count}`{self.term(part)}"
                if not 0 < count <= MOST_COPIES:
                    raise self.source.error(
                        number.line, f"expected a factor from 1 to {MOST_COPIES}, not {count}"
                    )
                return f"({' ++ '.join([self.multiset(part)] * count)})"
            case "tuple" if self._is_multiset(term):
                return f"tuple.mult ({', '.join(map(self.multiset, self._parts(term)))})"
        return f"1`{self.term(term)}"

    def _is_multiset(self, term: Xml) -> bool:
        term = self._plain(term)
        if term.tag == "tuple":
            return any(map(self._is_multiset, self._parts(term)))
        return term.tag in MULTISETS

    # --- the net ------------------------------------------------------------------------------

    def _label(self, node: Xml, label: str, tag: str, write: Callable[[Xml], str]) -> list[Xml]:
        """Return a label of a node as CPN Tools has it; none if the node has none."""
        child = node.find(label)
        structure = node.find(label, "structure")
        if child is None:
            return []
        if structure is None or len(structure.children) != 1:
            raise self.source.error(child.line, f"{label}: expected a structure with one term")
        return [Xml(tag, {}, child.line, "", [_text("text", write(structure.children[0]))])]

    def workspace(self, ends: Callable[[Xml], tuple[Xml, Xml]]) -> Xml:
        """Return the file of CPN Tools; `ends` returns the nodes of an arc."""
        page = Xml("page", {"id": "page"}, self.pages[0].line)
        for each in self.pages:
            for place in each.all("place"):
                kind = self._label(place, "type", "type", lambda form: self._sort(form).name)
                initial = self._label(place, "hlinitialMarking", "initmark", self.multiset)
                page.children.append(_node("place", place, kind + initial))
            for transition in each.all("transition"):
                guard = self._label(transition, "condition", "cond", self.term)
                page.children.append(_node("trans", transition, guard))
            for arc in each.all("arc"):
                one, other = ends(arc)
                inward = one.tag == "place"
                place, transition = (one, other) if inward else (other, one)
                parts = self._label(arc, "hlinscription", "annot", self.multiset)
                for tag, end in (("transend", transition), ("placeend", place)):
                    parts.append(Xml(tag, {"idref": end.get("id")}, arc.line))
                orientation = "PtoT" if inward else "TtoP"
                attributes = {"id": arc.get("id"), "orientation": orientation}
                page.children.append(Xml("arc", attributes, arc.line, "", parts))
        box = Xml("globbox", {}, page.line, "", self.declarations)
        net = Xml("cpnet", {}, page.line, "", [box, page])
        return Xml("workspaceElements", {}, page.line, "", [net])


def _is_word(name: str) -> bool:
    return name.isidentifier() and name.isascii()


def _text(tag: str, text: str) -> Xml:
    return Xml(tag, {}, 0, "", [], text)


def _element(tag: str, at: Xml, **children: str) -> Xml:
    return Xml(tag, {}, at.line, "", [_text(key, text) for key, text in children.items()])


def _range(form: Xml, first: int, last: int) -> Xml:
    bounds = [_text("ml", str(bound).replace("-", "~")) for bound in (first, last)]
    return Xml("int", {}, form.line, "", [Xml("with", {}, form.line, "", bounds)])


def _node(tag: str, node: Xml, labels: list[Xml]) -> Xml:
    name = node.text_at("name", "text") or node.get("id")
    return Xml(tag, {"id": node.get("id")}, node.line, "", [_text("text", name), *labels])
