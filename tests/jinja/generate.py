"""Random templates, with the arguments that they are for.

Expressions are made by type, so that most templates mean something. What docs/language.md lists as different from Jinja, in
"Templates", is not made; `check.py` compares everything else.
"""

import random
from dataclasses import dataclass, field

WORDS = ["a", "B", "ab", "Hello World", "x y  z", "ünï", "日本", "0", "12", "-3", "it's", 'say "hi"', "a,b,c", "  pad ", "", "l1\nl2", "<&>"]
PIECES = [
    "text", " ", "\n", "\n\n", "  \n", "\t", "a b", "{", "}", "%", "#", "{ {", "} }", "- ", "\\", "\"", "'", "é", "日", "# head\n",
    "* item\n", "$x", "<b>", "1.", "\n    ", "end",
]
TEXTS = ["plain", "two words", "{{ 7 * 7 }}", "{% if %}", "a\nb\n", "ünï 日本", "\\n", "'\"", "<&>", "0", "false", " ", "{# c #}"]


@dataclass
class Argument:
    name: str
    kind: str  # choice, boolean, text
    required: bool
    default: str | None = None
    values: list[str] = field(default_factory=list)

    @property
    def variable(self):
        return self.name.replace("-", "_")

    @property
    def may_be_absent(self):
        return not self.required and self.default is None

    def kdl(self):
        quoted = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        line = f"arg {self.name}"
        if self.kind == "boolean":
            line += " type=boolean"
        if self.required:
            line += " required=#true"
        if self.default is not None:
            line += " default=" + (f"#{self.default}" if self.kind == "boolean" else quoted(self.default))
        if self.kind == "choice":
            line += " { one-of " + " ".join(map(quoted, self.values)) + " }"
        return line

    def given(self, rng):
        """A value from a caller, or None."""
        if not self.required and rng.random() < 0.4:
            return None
        if self.kind == "boolean":
            return rng.choice(["true", "false"])
        return rng.choice(self.values if self.kind == "choice" else TEXTS)

    def states(self):
        """A value for each state that a template can distinguish."""
        absent = [None] if self.may_be_absent else []
        if self.kind == "boolean":
            return ["true", "false", *absent]
        return (self.values if self.kind == "choice" else ["some text"]) + absent

    def seen(self, given):
        """What a template sees for what a caller gave; None is an absent one."""
        value = given if given is not None else self.default
        return value == "true" if self.kind == "boolean" and value is not None else value


@dataclass
class Template:
    text: str
    files: dict[str, str]
    arguments: list[Argument]


def template(seed):
    return Generator(random.Random(seed)).template()


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.fresh = 0
        self.files = {}
        self.arguments = []
        # What may be read here: names by type.
        self.scope = []
        # Macros that may be called here: name, number of parameters, whether it has a caller.
        self.macros = []
        self.loops = 0
        self.inside_macro = 0

    # Arguments

    def template(self):
        rng = self.rng
        for index in range(rng.randint(0, 3)):
            self.arguments.append(self.argument(index))
        for argument in self.arguments:
            kind = {"choice": "str", "boolean": "bool", "text": "text"}[argument.kind]
            self.scope.append((argument.variable, kind, argument.may_be_absent))
        if rng.random() < 0.08:
            text = self.child()
        else:
            text = self.body(3)
        return Template(text, self.files, self.arguments)

    def argument(self, index):
        rng = self.rng
        kind = rng.choice(["choice", "choice", "boolean", "text", "text"])
        name = rng.choice(["name", "env", "on", "my-arg", "tier"]) + f"-{index}" * rng.randint(0, 1) + "abcd"[index]
        values = [word for word in rng.sample(WORDS, rng.randint(1, 3)) if word] or ["v"]
        mode = rng.choice(["required", "default", "optional"])
        default = None
        if mode == "default":
            default = {"choice": values[0], "boolean": rng.choice(["true", "false"]), "text": "some default"}[kind]
        return Argument(name, kind, mode == "required", default, values if kind == "choice" else [])

    # Statements

    def body(self, depth, length=None):
        parts = []
        scope, macros = len(self.scope), len(self.macros)
        for _ in range(length if length is not None else self.rng.randint(1, 5)):
            parts.append(self.statement(depth))
        del self.scope[scope:]
        del self.macros[macros:]
        return "".join(parts)

    def tag(self, content):
        left = self.rng.choices(["{%", "{%-", "{%+"], [7, 3, 1])[0]
        right = self.rng.choices(["%}", "-%}", "+%}"], [7, 3, 1])[0]
        space = self.rng.choice([" ", " ", "  ", "\n"])
        return f"{left}{space}{content}{space}{right}"

    def text(self):
        # No brace at the end: with the tag that follows it would make another one.
        text = "".join(self.rng.choices(PIECES, k=self.rng.randint(1, 4)))
        return text.replace("{{", "{ {").replace("{%", "{ %").replace("{#", "{ #").rstrip("{")

    def statement(self, depth):
        rng = self.rng
        simple = [self.text, self.print, self.print, self.comment, self.set]
        if depth > 0:
            blocks = [
                self.if_block, self.if_block, self.for_block, self.for_block, self.set_block, self.with_block, self.macro,
                self.call_macro, self.call_block, self.filter_block, self.raw, self.include, self.import_file, self.from_import,
                self.guard, self.namespace,
            ]
            if rng.random() < 0.55:
                return rng.choice(blocks)(depth - 1)
        return rng.choice(simple)()

    def print(self):
        left = self.rng.choices(["{{", "{{-"], [8, 1])[0]
        right = self.rng.choices(["}}", "-}}"], [8, 1])[0]
        return f"{left} {self.printed()} {right}"

    def faulty(self):
        """What is refused, or fails for some value of an argument."""
        rng = self.rng
        faults = [f"{self.int(0)} // 0", f"'a' - {self.int(0)}", f"{self.dict(0)}.missing", f"{self.int(0)}.x.y", f"[{self.int(0)}][7]|abs"]
        for name, kind, absent in self.scope:
            if kind == "text":
                faults += [f"{name}|upper", f"{name} ~ 'a'", f"{name} == 'a'"]
            if absent:
                faults += [name, f"[{name}]|length"]
        return rng.choice(faults)

    def printed(self):
        rng = self.rng
        if rng.random() < 0.01:
            return self.faulty()
        texts = [(name, absent) for name, kind, absent in self.scope if kind == "text"]
        if texts and rng.random() < 0.5:
            name, absent = rng.choice(texts)
            if absent:
                return rng.choice([f"{name} or {self.str(0)}", f"{name} if {name} else {self.str(0)}", f"{name} if {name} is defined else {self.int(0)}"])
            return name
        captures = [name for name, kind, _ in self.scope if kind == "capture"]
        if captures and rng.random() < 0.5:
            return rng.choice(captures)
        return self.expr(2)

    def comment(self):
        dash = lambda: self.rng.choice(["", "", "-"])
        return "{#" + dash() + self.rng.choice([" note ", "", " {{ x }} ", " {% if %}\n"]) + dash() + "#}"

    def raw(self, _):
        inside = self.rng.choice(["{{ x }}", "{% if %}", "{# no #}", " }} ", "\n{{\n", self.text()])
        return self.tag("raw").replace("+%}", "%}") + inside + self.tag("endraw")

    def if_block(self, depth):
        parts = [self.tag(f"if {self.bool(2)}"), self.body(depth)]
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            parts += [self.tag(f"elif {self.bool(1)}"), self.body(depth)]
        if self.rng.random() < 0.5:
            parts += [self.tag("else"), self.body(depth)]
        return "".join(parts) + self.tag("endif")

    def guard(self, depth):
        """A test of an optional argument, and its use."""
        absent = [(name, kind) for name, kind, absent in self.scope if absent]
        if not absent:
            return self.if_block(depth)
        name, _ = self.rng.choice(absent)
        # A test of its truth would keep a false boolean out, which is as Jinja has it.
        condition = self.rng.choice([f"{name} is defined", f"{name} is not undefined", f"{name}", f"not {name} is undefined"])
        scope = self.scope
        self.scope = [(other, kind, absent and other != name) for other, kind, absent in scope]
        inside = self.body(depth)
        self.scope = scope
        other = self.tag("else") + self.body(depth) if self.rng.random() < 0.5 else ""
        return self.tag(f"if {condition}") + inside + other + self.tag("endif")

    def for_block(self, depth):
        rng = self.rng
        kind = rng.choice(["int", "str", "pair", "nested"])
        scope = len(self.scope)
        if kind == "pair":
            key, value = self.name("str"), self.name("int")
            target = f"{key}, {value}"
            items = self.dict(1) + rng.choice(["|items", "|dictsort"])
            names = [(key, "str", False), (value, "int", False)]
        elif kind == "nested":
            item = self.name("list")
            target, items, names = item, f"[{self.list('int', 1)}, {self.list('int', 1)}]", [(item, "list:int", False)]
        else:
            item = self.name(kind)
            target, items, names = item, self.list(kind, 2), [(item, kind, False)]
        # What the sequence is made of is known before the loop; a filter knows the item, and not the loop.
        condition = ""
        self.scope += names
        if rng.random() < 0.25:
            condition = f" if {self.bool(1)}"
        self.loops += 1
        inside = self.body(depth)
        self.loops -= 1
        del self.scope[scope:]
        otherwise = self.tag("else") + self.body(depth, 1) if rng.random() < 0.3 else ""
        return self.tag(f"for {target} in {items}{condition}") + inside + otherwise + self.tag("endfor")

    def set(self):
        rng = self.rng
        kind = rng.choice(["int", "str", "bool", "list:int", "list:str", "dict"])
        value = self.typed(kind, 2)
        name = self.name(kind)
        if rng.random() < 0.15:
            other = self.name("int")
            second = self.int(1)
            self.scope += [(name, kind, False), (other, "int", False)]
            return self.tag(f"set {name}, {other} = {value}, {second}")
        self.scope.append((name, kind, False))
        return self.tag(f"set {name} = {value}")

    def set_block(self, depth):
        rng = self.rng
        name = self.name("capture")
        filtered = rng.random() < 0.4
        scope, macros = self.scope, self.macros
        if filtered:
            self.without_texts()
        inside = self.body(depth)
        self.scope, self.macros = scope, macros
        filters = rng.choice(["upper", "lower", "trim", "replace('a', 'b')", "title"]) if filtered else ""
        self.scope.append((name, "str" if filtered else "capture", False))
        return self.tag(f"set {name}" + (f" | {filters}" if filters else "")) + inside + self.tag("endset")

    def without_texts(self):
        """Hides what may hold free text."""
        self.scope = [entry for entry in self.scope if entry[1] not in ("text", "capture")]
        self.macros = [macro for macro in self.macros if not macro[3]]

    def filter_block(self, depth):
        scope, macros = self.scope, self.macros
        self.without_texts()
        inside = self.body(depth)
        self.scope, self.macros = scope, macros
        filters = self.rng.choice(["upper", "lower", "trim", "replace('e', 'E')|upper", "indent(2)", "capitalize"])
        return self.tag(f"filter {filters}") + inside + self.tag("endfilter")

    def with_block(self, depth):
        rng = self.rng
        scope, pairs = len(self.scope), []
        for _ in range(rng.randint(1, 2)):
            kind = rng.choice(["int", "str", "list:int"])
            value = self.typed(kind, 1)
            # A name that is set already: the values see what it was.
            known = [name for name, other, _ in self.scope if other == kind and name[0] == kind[0]]
            known = [name for name in known if all(name != argument.variable for argument in self.arguments)]
            name = rng.choice(known) if known and rng.random() < 0.4 else self.name(kind)
            if all(name != other for other, _, _ in pairs):
                pairs.append((name, kind, value))
        self.scope += [(name, kind, False) for name, kind, _ in pairs]
        inside = self.body(depth)
        del self.scope[scope:]
        return self.tag("with " + ", ".join(f"{name} = {value}" for name, _, value in pairs)) + inside + self.tag("endwith")

    def namespace(self, depth):
        name, item = self.name("ns"), self.name("int")
        change = self.rng.choice([f"{name}.n + {item}", f"{name}.n * 2", f"{item}"])
        loop = self.tag(f"for {item} in {self.list('int', 1)}") + self.tag(f"set {name}.n = {change}") + self.tag("endfor")
        return self.tag(f"set {name} = namespace(n={self.int(0)})") + loop + "{{ " + f"{name}.n" + " }}"

    # Macros

    def define(self, depth, with_caller=None):
        """A macro: its definition, name, parameters, whether it calls, whether it may print free text."""
        rng = self.rng
        name = self.name("m")
        parameters, declared = [], []
        outer, outer_loops, macros = self.scope, self.loops, self.macros
        # A macro sees what is global where it is made; arguments are.
        self.scope = [entry for entry in outer if any(entry[0] == argument.variable for argument in self.arguments)]
        self.loops, self.macros = 0, []
        self.inside_macro += 1
        for _ in range(rng.randint(0, 3)):
            parameter = self.name("int")
            has_default = bool(declared and "=" in declared[-1]) or rng.random() < 0.3
            declared.append(f"{parameter}={self.int(1)}" if has_default else parameter)
            parameters.append((parameter, has_default))
            self.scope.append((parameter, "int", False))
        calls = rng.random() < 0.3 if with_caller is None else with_caller
        has_text = any(kind == "text" for _, kind, _ in self.scope)
        inside = self.body(depth)
        self.inside_macro -= 1
        if calls:
            inside += "{{ caller() }}" + self.text()
        self.scope, self.loops, self.macros = outer, outer_loops, macros
        head = self.tag(f"macro {name}({', '.join(declared)})")
        return head + inside + self.tag("endmacro"), (name, parameters, calls, has_text)

    def macro(self, depth):
        text, macro = self.define(depth)
        self.macros.append(macro)
        return text + self.call_macro(depth)

    def call(self, macro, prefix=""):
        rng = self.rng
        name, parameters, _, _ = macro
        given, named = [], False
        for parameter, has_default in parameters:
            if has_default and rng.random() < 0.5:
                named = True
                continue
            named |= rng.random() < 0.2
            given.append(f"{parameter}={self.int(1)}" if named else self.int(1))
        return f"{prefix}{name}({', '.join(given)})"

    def call_macro(self, depth):
        macros = [macro for macro in self.macros if not macro[2]]
        if not macros:
            return self.print()
        return "{{ " + self.call(self.rng.choice(macros)) + " }}"

    def call_block(self, depth):
        macros = [macro for macro in self.macros if macro[2]]
        definition = ""
        if not macros:
            definition, macro = self.define(depth, True)
            macros = [macro]
        macro = self.rng.choice(macros)
        call = self.call(macro)
        loops, self.loops = self.loops, 0
        self.inside_macro += 1
        inside = self.body(depth)
        self.inside_macro -= 1
        self.loops = loops
        return definition + self.tag(f"call {call}") + inside + self.tag("endcall")

    # Files

    def file(self, text):
        path = f"f{len(self.files)}.j2"
        self.files[path] = text
        return path

    def include(self, depth):
        loops, self.loops = self.loops, 0
        macros, self.macros = self.macros, []
        scope = self.scope
        if self.inside_macro:
            # What is set around the macro is not seen.
            self.scope = [entry for entry in scope if any(entry[0] == argument.variable for argument in self.arguments)]
        path = self.file(self.body(depth))
        self.loops, self.macros, self.scope = loops, macros, scope
        if self.rng.random() < 0.1:
            return self.tag("include 'missing.j2' ignore missing")
        return self.tag(f"include '{path}'" + self.rng.choice(["", "", " ignore missing"]))

    def library(self, depth):
        # An imported file does not see the arguments.
        scope, self.scope = self.scope, []
        arguments, self.arguments = self.arguments, []
        macros, self.macros = self.macros, []
        loops, self.loops = self.loops, 0
        definition, macro = self.define(depth, False)
        constant = self.name("int")
        text = self.text() + definition + self.tag(f"set {constant} = {self.int(1)}")
        self.scope, self.arguments, self.macros, self.loops = scope, arguments, macros, loops
        return self.file(text), macro, constant

    def import_file(self, depth):
        path, macro, constant = self.library(depth)
        name = self.name("lib")
        return self.tag(f"import '{path}' as {name}") + "{{ " + self.call(macro, f"{name}.") + " }}{{ " + f"{name}.{constant}" + " }}"

    def from_import(self, depth):
        path, macro, constant = self.library(depth)
        alias = self.name("m")
        renamed = (alias, *macro[1:])
        self.macros.append(renamed)
        self.scope.append((constant, "int", False))
        return self.tag(f"from '{path}' import {macro[0]} as {alias}, {constant}") + "{{ " + self.call(renamed) + " }}"

    def child(self):
        """A template that extends another."""
        rng = self.rng
        names = [self.name("block") for _ in range(rng.randint(1, 3))]
        base = self.text()
        for name in names:
            loops, self.loops = self.loops, 0
            base += self.tag(f"block {name}") + self.body(1) + self.tag(f"endblock {rng.choice(['', name])}") + self.text()
        path = self.file(base)
        text = self.tag(f"extends '{path}'")
        for name in rng.sample(names, rng.randint(0, len(names))):
            inside = self.body(1) + ("{{ super() }}" if rng.random() < 0.5 else "") + self.body(1)
            text += self.text() + self.tag(f"block {name}") + inside + self.tag("endblock")
        return text

    # Expressions

    def name(self, kind):
        self.fresh += 1
        return f"{kind[0]}{self.fresh}"

    def variable(self, kind):
        """A variable of a type, in a form that is never undefined; None if there is none."""
        found = [(name, absent) for name, other, absent in self.scope if other == kind]
        if not found:
            return None
        name, absent = self.rng.choice(found)
        if not absent:
            return name
        other = {"str": self.str_literal, "bool": lambda: self.rng.choice(["true", "false"])}[kind]()
        return self.rng.choice([f"{name}|default({other})", f"({name} if {name} is defined else {other})"])

    def typed(self, kind, depth):
        if kind.startswith("list:"):
            return self.list(kind[5:], depth)
        return {"int": self.int, "str": self.str, "bool": self.bool, "dict": self.dict}[kind](depth)

    def expr(self, depth):
        kind = self.rng.choice(["int", "str", "str", "bool", "list:int", "list:str", "dict", "float"])
        return self.float(depth) if kind == "float" else self.typed(kind, depth)

    def float(self, depth):
        rng = self.rng
        literal = rng.choice(["1.5", "0.25", "2.0", "10.0", "-0.5"])
        return rng.choice([literal, f"{literal} + {self.int(0)}", f"{self.int(0)} / {rng.choice([1, 2, 4, 8])}", f"'{literal}'|float", f"{literal}|round", f"({literal} * {self.int(0)})|int", f"{literal} < {self.int(0)}"])

    def str_literal(self):
        word = self.rng.choice(WORDS)
        escaped = word.replace("\\", "\\\\").replace("\n", "\\n")
        if "'" in word:
            return '"' + escaped + '"'
        return "'" + escaped + "'"

    def choose(self, leaves, branches, depth):
        options = leaves if depth <= 0 else leaves + branches * 2
        return self.rng.choice(options)()

    def inline_if(self, make, depth):
        return f"({make(depth - 1)} if {self.bool(depth - 1)} else {make(depth - 1)})"

    def int(self, depth):
        rng, less = self.rng, depth - 1
        leaves = [lambda: str(rng.choice([0, 1, 2, 3, 7, 10, 42])), lambda: self.variable("int") or "5"]
        if self.loops:
            leaves.append(lambda: "loop." + rng.choice(["index", "index0", "length", "revindex", "revindex0", "depth", "depth0"]))
        branches = [
            lambda: f"{self.int(less)} {rng.choice(['+', '-', '*'])} {self.int(less)}",
            lambda: f"({self.int(less)} {rng.choice(['+', '-', '*'])} {self.int(less)})",
            lambda: f"({self.int(less)}) {rng.choice(['//', '%'])} {rng.choice([1, 2, 3, 5])}",
            lambda: f"{rng.choice([2, 3])} ** {rng.choice([0, 1, 2, 3])}",
            lambda: f"-{rng.choice([1, 2, 9])}",
            lambda: f"({self.int(less)})|abs",
            lambda: f"({self.str(less)})|{rng.choice(['length', 'count'])}",
            lambda: f"({self.list('int', less)})|{rng.choice(['length', 'sum', 'count'])}",
            lambda: f"[{self.int(0)}, {self.int(less)}]|{rng.choice(['first', 'last', 'max', 'min'])}",
            lambda: f"[{self.int(0)}, {self.int(less)}][{rng.choice([0, 1, -1])}]",
            lambda: f"{{'k': {self.int(less)}}}.k",
            lambda: f"{{'k': {self.int(less)}}}['k']",
            lambda: f"'{rng.choice(['7', ' 12 ', 'x', '3.9', '-4'])}'|int",
            lambda: f"([9] + {self.list('int', less)})|{rng.choice(['first', 'last', 'max', 'min'])}",
            lambda: self.inline_if(self.int, depth),
        ]
        return self.choose(leaves, branches, depth)

    def str(self, depth):
        rng, less = self.rng, depth - 1
        leaves = [self.str_literal, lambda: self.variable("str") or "'s'", lambda: self.variable("str") or "'s'"]
        if self.loops:
            leaves.append(lambda: f"loop.cycle({self.str_literal()}, {self.str_literal()})")
        filters = ["upper", "lower", "trim", "title", "capitalize", "string", "reverse", "replace('a', 'xy')", "replace('l', 'L', 1)", "indent", "indent(2)", "indent(2, true)", "indent(1, blank=true)", "trim('a ')", "default('d')", "d('e', true)", "list|join", "list|join('-')", "list|reverse|join"]
        branches = [
            lambda: f"({self.str(less)}) ~ ({rng.choice([self.str, self.int, self.bool])(less)})",
            lambda: f"({self.str(less)}) + {self.str(0)}",
            lambda: f"({self.str(less)})|{rng.choice(filters)}",
            lambda: f"({self.str(less)})|{rng.choice(filters)}|{rng.choice(filters)}",
            lambda: f"({self.str(less)})[{self.slice()}]",
            lambda: f"('pad' ~ {self.str(0)})[{rng.choice([0, 1, 2, -1])}]",
            lambda: f"({self.list(rng.choice(['str', 'int']), less)})|join({rng.choice([self.str_literal(), ''])})",
            lambda: f"['x', {self.str(less)}]|{rng.choice(['first', 'last', 'max', 'min'])}",
            lambda: f"({self.int(less)})|string",
            lambda: f"{self.str(0)} * {rng.choice([0, 1, 2, 3])}",
            lambda: self.inline_if(self.str, depth),
            lambda: f"({self.str(less)} or {self.str(0)})",
            lambda: f"({self.str(less)} and {self.str(0)})",
            lambda: f"{{'k': {self.str(less)}}}.k",
            lambda: f"{self.str_literal()} {self.str_literal()}",
        ]
        return self.choose(leaves, branches, depth)

    def slice(self):
        bound = lambda: self.rng.choice(["", "0", "1", "2", "-1", "-2", "5"])
        return f"{bound()}:{bound()}" + self.rng.choice(["", "", ":1", ":2", ":-1", ":"])

    def bool(self, depth):
        rng, less = self.rng, depth - 1
        leaves = [lambda: rng.choice(["true", "false", "True", "False"]), lambda: self.variable("bool") or "true"]
        texts = [name for name, kind, absent in self.scope if kind == "text" and absent]
        if texts:
            leaves.append(lambda: f"({rng.choice(texts)} is {rng.choice(['defined', 'undefined', 'not defined', 'none'])})")
        strings = [argument for argument in self.arguments if argument.kind == "choice" and any(argument.variable == name and not absent for name, _, absent in self.scope)]
        if strings:
            def compared():
                argument = rng.choice(strings)
                value = "'" + rng.choice(argument.values).replace("'", "\\'").replace("\n", "\\n") + "'"
                return rng.choice([f"{argument.variable} == {value}", f"{argument.variable} != {value}", f"{argument.variable} in [{value}]", f"{value} not in [{argument.variable}]"])
            leaves += [compared, compared]
        if self.loops:
            leaves.append(lambda: "loop." + rng.choice(["first", "last"]))
        compare = lambda: rng.choice(["==", "!=", "<", "<=", ">", ">="])
        branches = [
            lambda: f"({self.int(less)} {compare()} {self.int(less)})",
            lambda: f"({self.str(less)} {compare()} {self.str(less)})",
            lambda: f"({self.int(0)} < {self.int(0)} <= {self.int(0)})",
            lambda: f"({self.bool(less)} {rng.choice(['and', 'or'])} {self.bool(less)})",
            lambda: f"(not {self.bool(less)})",
            lambda: f"(({self.int(less)}) is {rng.choice(['odd', 'even', 'not odd', 'divisibleby(3)', 'divisibleby 2', 'number', 'string', 'integer', 'float', 'iterable', 'mapping', 'sequence', 'none', 'defined', 'boolean', 'eq 3', 'ge(2)', 'lt 5', 'in [1, 2, 3]', 'sameas true'])})",
            lambda: f"(({self.str(less)}) is {rng.choice(['string', 'upper', 'lower', 'number', 'iterable', 'sequence', 'mapping', 'none', 'true', 'false', 'boolean', 'not string', 'integer'])})",
            lambda: f"({self.str(0)} in {self.str(less)})",
            lambda: f"({self.int(0)} {rng.choice(['in', 'not in'])} {self.list('int', less)})",
            lambda: f"({self.str(0)} {rng.choice(['in', 'not in'])} {self.list('str', less)})",
            lambda: f"({self.str(0)} in {self.dict(less)})",
            lambda: f"(({self.list('int', less)}) is {rng.choice(['iterable', 'sequence', 'mapping', 'string'])})",
            lambda: f"({self.list('int', less)} == {self.list('int', less)})",
            lambda: f"(({rng.choice([self.int, self.str, self.bool])(less)}) is {rng.choice(['true', 'false', 'boolean', 'defined', 'none'])})",
        ]
        return self.choose(leaves, branches, depth)

    def list(self, kind, depth):
        rng, less = self.rng, depth - 1
        item = {"int": self.int, "str": self.str}[kind]
        literal = lambda: "[" + ", ".join(item(0) for _ in range(rng.randint(0, 4))) + "]"
        leaves = [literal, lambda: self.variable(f"list:{kind}") or literal()]
        branches = [
            lambda: f"({self.list(kind, less)} + {self.list(kind, 0)})",
            lambda: f"({self.list(kind, less)})[{self.slice()}]",
            lambda: f"({self.list(kind, less)})|{rng.choice(['sort', 'sort(reverse=true)', 'reverse|list', 'list', 'unique|list'])}",
            lambda: f"[{item(less)}, {item(less)}]",
            lambda: f"({self.list(kind, 0)} * {rng.choice([0, 1, 2])})",
            lambda: f"({item(less)}, {item(0)})|list",
        ]
        if kind == "int":
            branches += [
                lambda: f"range({rng.choice(['3', '1, 4', '5, 0, -2', '0', '0, 9, 3'])})|list",
                lambda: f"({self.list('int', less)})|{rng.choice(['select', 'reject'])}('{rng.choice(['odd', 'even'])}')|list",
                lambda: f"({self.list('int', less)})|select('gt', {rng.choice([0, 1, 2])})|list",
                lambda: f"({self.list('str', less)})|map('length')|list",
                lambda: f"[{{'a': {self.int(less)}}}, {{'a': {self.int(0)}}}]|map(attribute='a')|list",
                lambda: f"[{{'a': {self.int(less)}}}, {{'a': {self.int(0)}}}]|sort(attribute='a')|map(attribute='a')|list",
            ]
        else:
            branches += [
                lambda: f"({self.str(less)})|list",
                lambda: f"({self.list('str', less)})|map('{rng.choice(['upper', 'lower', 'trim', 'capitalize', 'title', 'string'])}')|list",
                lambda: f"({self.list('int', less)})|map('string')|list",
                lambda: f"({self.dict(less)})|list",
                lambda: f"[{{'n': {self.str(0)}, 'v': {self.int(less)}}}, {{'n': {self.str(0)}, 'v': {self.int(0)}}}]|selectattr('v', '{rng.choice(['odd', 'even'])}')|map(attribute='n')|list",
            ]
        return self.choose(leaves, branches, depth)

    def dict(self, depth):
        rng, less = self.rng, depth - 1
        keys = lambda: rng.sample(["'a'", "'b'", "'c'", "'key'", "'Z'"], rng.randint(0, 3))
        literal = lambda: "{" + ", ".join(f"{key}: {self.int(less)}" for key in keys()) + "}"
        leaves = [literal, lambda: self.variable("dict") or literal()]
        branches = [lambda: f"dict(a={self.int(less)}, b={self.int(0)})", lambda: f"({self.dict(less)} if {self.bool(less)} else {self.dict(0)})"]
        return self.choose(leaves, branches, depth)
