"""The mutants of a text in C or CUDA: what can be left out of it, one at a time."""
import collections
import re

# `kind`: of what is left out. The text from `begin` to `end` is replaced by `after`.
Mutant = collections.namedtuple("Mutant", "kind begin end after")

WAIT = r"(?:rt_cuda_must\()?cuda(?:Stream|Event|Device)Synchronize\([^;]*;|(?:rt_cuda_must\()?cudaStreamWaitEvent\([^;]*;"


def blank(text):
    """The text with comments, preprocessor lines and strings as blanks, so that places stay the same."""
    hidden = r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*?$(?<!\\)'
    return re.sub(hidden, lambda m: re.sub(r"[^\n]", " ", m[0]) if "define" not in m[0] else m[0], text, flags=re.M)


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return len(text)


def terms(text, begin, end):
    """(begin, end, operator) of the terms of a condition, also within brackets: "&&" or "||" joins it to the next, "" if
    there is no other."""
    parts, operators, start, i = [], [], begin, begin
    while i < end:
        if text[i] == "(":
            i = closing(text, i)
        elif text.startswith(("&&", "||"), i):
            parts.append((start, i))
            operators.append(text[i : i + 2])
            i += 1
            start = i + 1
        i += 1
    parts.append((start, end))
    for k, (a, b) in enumerate(parts):
        a += len(text[a:b]) - len(text[a:b].lstrip())
        if text[a] == "(" and closing(text, a) == b - 1 - (text[b - 1] == " "):
            yield from terms(text, a + 1, closing(text, a))
        else:
            joins = operators[max(0, k - 1) : k + 1]
            yield a, b, "&&" if "&&" in joins else "||" if joins else ""


def condition_before(text, end):
    """Where the condition begins that ends at `end`, before a question mark."""
    before = re.compile(r"[,;:{}]|(?<![<>=!])=(?!=)|\breturn\b")
    depth = 0
    for i in range(end - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth < 0 or (depth == 0 and before.match(text, i)):
            break
    return i + (6 if text.startswith("return", i) else 1)


def tests_of(text):
    """(begin, end, value) of each term of the conditions of if and of ?:, and of those of loops that have several, with
    the value that leaves it out. The term with the loop's own variable ends the loop, and stays."""
    neutral = {"&&": "true", "||": "false"}
    for m in re.finditer(r"\bif (\()", text):
        end = closing(text, m.start(1))
        leaves = re.match(r"\)\s*\{?\s*(return|break|continue|\w+_must\(cudaError)\b", text[end:])
        for a, b, joined in terms(text, m.end(), end):
            yield a, b, neutral.get(joined, "false" if leaves else "true")
    for m in re.finditer(r"\s\? ", text):
        begin = condition_before(text, m.start())
        if "enum {" in text[text.rfind("\n", 0, begin) : begin]:
            continue  # the compiler computes it
        for a, b, joined in terms(text, begin, m.start()):
            yield a, b, neutral.get(joined, "true")
    for m in re.finditer(r"\bfor \([^;]*?(\w+) = [^;]*;([^;]* && [^;]*);", text):
        for a, b, _ in terms(text, *m.span(2)):
            if not re.search(rf"\b{m[1]}\b", text[a:b]):
                yield a, b, "true"


def exchanges_mutants(seen):
    """Of files that exchange with other ranks: each event that isn't recorded, each sign turned round."""
    for m in re.finditer(r"rt_cuda_must\(cudaEventRecord\([^;]*;", seen):
        yield Mutant("record", *m.span(), ";")
    for m in re.finditer(r"(?<=[\w)\]]) ([+-]) (?=[\w(])", seen):
        yield Mutant("sign", *m.span(1), "-" if m[1] == "+" else "+")


def fragment_mutants(seen):
    """Of files that multiply fragments: quotients and remainders by a number take each other's place, factors are halved,
    the two words of a right factor swapped, and the offset of a second word left out."""
    for m in re.finditer(r"(?<=[\w)]) ([/%]) (?=\d)", seen):
        yield Mutant("fragment", *m.span(1), "%" if m[1] == "/" else "/")
    for m in re.finditer(r"\b(2|4|8|16) \* (?=[a-z(])|(?<=[\w)]) \* (2|4|8)\b", seen):
        group = 1 if m[1] else 2
        yield Mutant("fragment", *m.span(group), str(int(m[group]) // 2))
    for m in re.finditer(r"(\w+\[[02]\]), (\w+\[[13]\])", seen):
        yield Mutant("fragment", *m.span(), f"{m[2]}, {m[1]}")
    for m in re.finditer(r"\[[^\]]*?( \+ 2)\]", seen):
        yield Mutant("fragment", *m.span(1), "")


def mutants_of(text, has_sizes=False):
    """`has_sizes`: numbers in it are sizes of a model. Elsewhere a comparison with a number but 0 chooses a way."""
    seen = blank(text)
    if "rt_mma(" in seen or "rt_multiply_rows" in seen:
        yield from fragment_mutants(seen)
    if "RtCollectives" in seen:
        yield from exchanges_mutants(seen)
    for m in re.finditer(r"(?:__sync(?:threads|warp)|rt_copy_group|rt_copy_wait<\d+>)\(\);", seen):
        yield Mutant("barrier", *m.span(), ";")
    for m in re.finditer(WAIT, seen):
        yield Mutant("wait", *m.span(), ";")
    for m in re.finditer(r" \+ 1\b(?!\.|0x)", seen):
        if not re.search(r"\w [*&]?\w+\[[^\]=;()]*$|Shared<[^>]*$", seen[: m.start()]):  # the length of an array
            yield Mutant("+ 1", *m.span(), "")
    for a, b, value in tests_of(seen):
        is_bound = re.search(r" (<=?|>=?) " + ("" if has_sizes else r"(?![1-9]\d*\s*$)"), seen[a:b])
        if is_bound and "\n#" not in seen[a:b]:
            yield Mutant("bounds", a, b, value + " " * seen[a:b].endswith(" "))
