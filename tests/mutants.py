"""Mutants of C sources: every way to change one line of a file by one small mistake.

The text is read word by word, so that comments, strings, preprocessor lines, assertions and declarations of types
stay unchanged. This relies on the layout of .clang-format: spaces around binary operators and none after unary ones.
"""
import re
from collections import namedtuple

# Replaces text[begin:end], which is within one line, by `after`.
Mutant = namedtuple("Mutant", "kind begin end after")

Token = namedtuple("Token", "kind text begin end")

WORD = re.compile(
    r"""(?P<skip>\s+ | //[^\n]* | /\*.*?\*/ | \#(?:\\\n|[^\n])*)
    |   (?P<text>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*')
    |   (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |   (?P<name>[A-Za-z_]\w*)
    |   (?P<op><<= | >>= | -> | \+\+ | -- | && | \|\| | [<>=!+\-*/%&|^]= | << | >> | \.\.\. | .)""",
    re.S | re.X,
)

BINARY = {
    "<": ["<=", ">"],
    "<=": ["<"],
    ">": [">=", "<"],
    ">=": [">"],
    "==": ["!="],
    "!=": ["=="],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["/"],
    "&&": ["||"],
    "||": ["&&"],
    "&": ["|"],
    "|": ["&"],
    "<<": [">>"],
    ">>": ["<<"],
    "+=": ["-="],
    "-=": ["+="],
    "*=": ["/="],
    "|=": ["&="],
    "&=": ["|="],
}
RELATIONS = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = ("&&", "||")

# Names that are easily confused.
PAIRS = ["first last", "begin end", "n_in n_out", "in out", "rows columns", "true false", "break continue",
         "rt_least rt_most", "low high", "dim stride", "INT64_MAX INT64_MIN", "fmin fmax", "a b", "x y", "dx dy",
         "i j", "i k", "j k", "m n", "n k", "from to", "src dst", "send receive", "kept reduced",
         "before after"]  # fmt: skip
OTHERS = {}
for pair in PAIRS:
    one, two = pair.split()
    OTHERS.setdefault(one, []).append(two)
    OTHERS.setdefault(two, []).append(one)

CHECKS = ("assert", "_Static_assert", "sizeof", "__attribute__", "offsetof")
NO_CALL = ("if", "for", "while", "switch", "return", "sizeof", "case")
NO_STATEMENT = ("case", "default", "do", "else", "for", "goto", "if", "switch", "while", "const", "static", "struct",
                "enum", "typedef", "extern", "_Static_assert", "assert")  # fmt: skip
CLOSING = {"(": ")", "[": "]", "{": "}"}


def tokens_of(text):
    """The words of a C text, except comments, blanks and preprocessor lines."""
    found = (Token(m.lastgroup, m.group(), m.start(), m.end()) for m in WORD.finditer(text))
    return [t for t in found if t.kind != "skip"]


def matching(tokens, i):
    """The index of the bracket that closes tokens[i]; the end if none does."""
    depth = 0
    for k in range(i, len(tokens)):
        if tokens[k].text in CLOSING:
            depth += 1
        elif tokens[k].text in CLOSING.values():
            depth -= 1
            if depth == 0:
                return k
    return len(tokens) - 1


def parts_of(tokens):
    """(begin, end, is_body) of every function's body and every table at file scope, as indices of tokens."""
    i = 0
    while i < len(tokens):
        if tokens[i].text in CLOSING:
            end = matching(tokens, i)
            before = tokens[i - 1].text if i else ""
            if tokens[i].text == "{" and before in (")", "="):
                yield i + 1, end, before == ")"
            i = end
        i += 1


def is_binary(text, t):
    return text[t.begin - 1].isspace() and text[t.end : t.end + 1].isspace()


class Drawing:
    """All mutants of one file."""

    def __init__(self, text):
        self.text, self.tokens, self.mutants = text, tokens_of(text), []
        for begin, end, is_body in parts_of(self.tokens):
            self.names = {t.text for t in self.tokens[begin:end] if t.kind == "name"}
            self.part(begin, end, is_body)

    def part(self, begin, end, is_body):
        i = begin
        while i < end:
            t, after = self.tokens[i], self.tokens[i + 1]
            if t.text in CHECKS and after.text == "(":
                i = matching(self.tokens, i + 1)
            elif t.text in ("enum", "struct", "union") and "{" in (after.text, self.tokens[i + 2].text):
                i = matching(self.tokens, i + 1 if after.text == "{" else i + 2)
            else:
                self.word(i)
                if is_body:
                    self.statement(i)
            i += 1

    def add(self, kind, begin, end, after):
        before = self.text[begin:end]
        if "\n" not in before and before != after:
            self.mutants.append(Mutant(kind, begin, end, after))

    def word(self, i):
        t = self.tokens[i]
        if t.kind == "number":
            self.number(i)
        elif t.kind == "name":
            for other in OTHERS.get(t.text, ()):
                if other in self.names or other in ("true", "false", "break", "continue"):
                    self.add("name", t.begin, t.end, other)
            if self.tokens[i + 1].text == "(" and t.text not in NO_CALL:
                self.arguments(i + 1)
        elif t.text in BINARY and is_binary(self.text, t):
            kind = "relation" if t.text in RELATIONS else "logic" if t.text in LOGIC else "arithmetic"
            for other in BINARY[t.text]:
                self.add(kind, t.begin, t.end, other)
        elif t.text == "!":
            self.add("negation", t.begin, t.end, "")
        elif t.text == "?":
            self.choice(i)
        elif t.text == "++" and self.tokens[i + 1].text != ")":
            self.add("arithmetic", t.begin, t.end, "--")

    def number(self, i):
        t, two_before = self.tokens[i], self.tokens[i - 2 : i]
        is_length = [x.text for x in two_before[1:]] == ["["] and self.is_declared(i - 2)
        whole, point = re.fullmatch(r"(\d+)([uUlL]*)", t.text), re.fullmatch(r"(\d+)(\.\d*(?:e-?\d+)?f?)", t.text)
        if is_length or not (whole or point):
            return
        value, tail = (whole or point).groups()
        for other in (int(value) + 1, max(int(value) - 1, 0)):
            self.add("constant", t.begin, t.end, f"{other}{tail}")

    def is_declared(self, i):
        """Is the name tokens[i] being declared?"""
        before = self.tokens[i - 1]
        return before.kind == "name" or before.text == "*" and not is_binary(self.text, before)

    def arguments(self, i):
        """Exchanges neighbours among the arguments between the brackets from tokens[i] on."""
        end, starts = matching(self.tokens, i), [i + 1]
        k = i + 1
        while k < end:
            if self.tokens[k].text in CLOSING:
                k = matching(self.tokens, k)
            elif self.tokens[k].text == ",":
                starts.append(k + 1)
            k += 1
        starts.append(end + 1)
        for a, b, c in zip(starts, starts[1:], starts[2:]):
            begin, middle = self.tokens[a].begin, self.tokens[b - 2].end
            first, last = self.tokens[b].begin, self.tokens[c - 2].end
            left, right = self.text[begin:middle], self.text[first:last]
            if left != right:
                self.add("arguments", begin, last, right + self.text[middle:first] + left)

    def choice(self, i):
        """Exchanges the two branches of a ?: that is all there is in its brackets."""
        colon, depth = None, 0
        for k in range(i + 1, len(self.tokens)):
            t = self.tokens[k].text
            if depth == 0 and t in ("?", ";", ",", ")", "]", "}") or depth == 0 and t == ":" and colon:
                break
            depth += (t in CLOSING) - (t in CLOSING.values())
            if t == ":" and depth == 0:
                colon = k
        if not colon or self.tokens[k].text in ("?", ":"):
            return
        begin, middle = self.tokens[i + 1].begin, self.tokens[colon - 1].end
        first, last = self.tokens[colon + 1].begin, self.tokens[k - 1].end
        yes, no = self.text[begin:middle], self.text[first:last]
        self.add("choice", begin, last, no + self.text[middle:first] + yes)

    def statement(self, i):
        t, before, after = self.tokens[i], self.tokens[i - 1], self.tokens[i + 1]
        if t.text == "if":
            end = self.tokens[matching(self.tokens, i + 1)]
            self.add("negation", after.begin, end.end, f"(!{self.text[after.begin:end.end]})")
        is_first = before.text in (";", "{", "}", "else", ")") and "\n" in self.text[before.end : t.begin]
        is_type = t.kind == "name" and t.text != "return"
        is_declaration = is_type and (after.kind == "name" or after.text == "*" and not is_binary(self.text, after))
        if not is_first or is_declaration or t.text in NO_STATEMENT or t.kind != "name" and t.text != "*":
            return
        k = i
        while self.tokens[k].text not in (";", "}"):
            k = matching(self.tokens, k) + 1 if self.tokens[k].text in CLOSING else k + 1
        if self.tokens[k].text == ";":
            self.add("statement", t.begin, self.tokens[k].end, "(void)0;")


def mutants_of(text):
    """All mutants of a C text, a list for each line that has any, in their order."""
    lines = {}
    for m in Drawing(text).mutants:
        lines.setdefault(text.count("\n", 0, m.begin) + 1, []).append(m)
    return lines


def applied(text, m):
    return text[: m.begin] + m.after + text[m.end :]
