"""Other texts of an answer, defined among copies of the names that it finds in its notebook."""

import ast
import copy
import inspect
import linecache
import textwrap
import types

import torch
from torch import Tensor

from attention_lab.observation.codec import encode
from attention_lab.observation.definition import (
    Definition,
    definition_of,
    functions_of,
    names_in,
)
from attention_lab.observation.neutral import neutral_torch
from attention_lab.observation.observe import (
    decoded,
    failure_from,
    functions_in,
    make_target,
    observe,
    quiet,
)
from attention_lab.observation.probe import Observation, Probe

ORIGINAL = "<the text as it stands>"
COPIED = (dict, list, set, Tensor)
PLAIN = (
    type(None), bool, int, float, complex, str, bytes, tuple, range, torch.dtype, torch.device,
)  # fmt: skip
HARMLESS = {
    "builtins", "torch", "math", "numpy", "einops", "functools", "operator", "typing",
    "collections", "itertools", "warnings", "contextlib", "dataclasses",
}  # fmt: skip
SHOWS = {
    "open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "setattr", "delattr",
    "__import__", "breakpoint", "iter", "count", "cycle", "manual_seed", "seed", "save", "load",
    "hub", "jit", "multiprocessing", "distributed", "tofile", "dump", "savetxt", "savez",
    "__dict__", "__globals__", "__class__",
}  # fmt: skip


class Surroundings:
    """What an answer finds by name, copied: to try other texts in its place leaves the notebook as
    it is.

    given: source text whose functions stand where the answer looks for its own earlier steps.
    """

    def __init__(self, answer, definition: Definition, given: str = ""):
        self._answer = answer
        self._definition = definition
        self._functions = functions_of(answer)
        found = self._functions[0].__globals__
        self._names = dict(found)
        for name in _read_by_all(self._functions, found):
            self._names[name] = self._copied(found[name], found)
        for function in self._functions:
            self._names.update(_enclosed(function))
        if given:
            self._names.update(functions_in(given))
        self._methods = list(_methods(definition.text)) if inspect.isclass(answer) else []
        lines = definition.text.splitlines(keepends=True)
        linecache.cache[ORIGINAL] = (len(definition.text), None, lines, ORIGINAL)
        self._whole = self._defined(definition.text, file=ORIGINAL)  # its errors tell their line
        self._made = {}

    def observe(self, text: str, probes: tuple[Probe, ...], *, again=False) -> tuple:
        """Return what a text shows on each of `probes`, an Observation one.

        again: try it on an instance that has been tried with other texts before, where it differs
        in one method: quicker, and may keep what an earlier text left in it.
        """
        try:
            answer, in_a_method = self._define(text)
        except Exception as error:
            return tuple(Observation(failure=failure_from(error)) for _ in probes)
        build = self._kept if again and in_a_method else None
        return tuple(observe(answer, probe, build) for probe in probes)

    def _define(self, text):
        """Return the answer that a text defines, and whether it differs in one method only."""
        original = self._definition.text
        if text == original:
            return self._whole, False
        for name, start, end in self._methods:
            rest = len(original) - end
            if text[:start] == original[:start] and text[len(text) - rest :] == original[end:]:
                method = textwrap.dedent(text[start : len(text) - rest])
                return type(
                    self._whole.__name__, (self._whole,), {name: self._defined(method, name)}
                ), True
        return self._defined(text), False

    def _defined(self, text, name="", file="<another text>"):
        names = dict(self._names)
        exec(compile(text, file, "exec", dont_inherit=True), names)
        return names[name or self._definition.name]

    def _kept(self, answer, probe):
        """An instance of the answer as it stands, made once, with the methods of another."""
        if probe not in self._made:
            instance = make_target(self._whole, probe)
            self._made[probe] = instance, _copies(vars(instance))
        instance, state = self._made[probe]
        instance.__class__ = answer
        vars(instance).clear()
        vars(instance).update(_copies(state))
        return instance

    def _copied(self, value, found):
        if isinstance(value, Tensor):
            return value.detach().clone()
        if isinstance(value, COPIED):
            return copy.copy(value)
        if isinstance(value, types.FunctionType) and value.__globals__ is found:
            return _among(self._names, value)
        return value


def _copies(state):
    return {k: copy.copy(v) if type(v) in (dict, set, list) else v for k, v in state.items()}


def _methods(text):
    """The name of each method that stands by itself, and where it begins and ends in the text."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.parse(text).body[0].body:
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        if plain and node.name != "__init__":
            start, end = starts[node.lineno - 1], starts[node.end_lineno]
            if not any(word in text[start:end] for word in ("super(", "__class__", ".__")):
                yield node.name, start, end


def observe_edited(surroundings: Surroundings, text: str, request: bytes, again: bool) -> bytes:
    """Try a text on an encoded `Request`; return the encoded observations, one a probe."""
    with neutral_torch(), quiet():
        probes = decoded(request).probes
        return encode(surroundings.observe(text, probes, again=again))


def can_be_tried(answer, definition: Definition) -> bool:
    """Whether an answer may be run again and again: it ends, and leaves nothing that shows."""
    functions = functions_of(answer)
    texts = {definition}
    for value in _reached(functions):
        if inspect.isfunction(value) or inspect.isclass(value):
            if _is_of_a_library(value):
                continue
            texts.add(definition_of(value))
        elif isinstance(value, types.ModuleType):
            if not _is_of_a_library(value):
                return False
        elif not isinstance(value, (*PLAIN, *COPIED)) and not _is_of_a_library(type(value)):
            return False
    return None not in texts and all(_is_harmless(text) for text in texts)


def _is_of_a_library(value):
    module = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return module.split(".")[0] in HARMLESS


def _is_harmless(definition):
    tree = ast.parse(definition.text)
    nodes = list(ast.walk(tree))
    forbidden = (ast.While, ast.Global, ast.Await, ast.AsyncFor)
    if any(isinstance(node, forbidden) for node in nodes):
        return False
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            roots = {alias.name.split(".")[0] for alias in node.names}
            if not {getattr(node, "module", None) or min(roots)} <= HARMLESS:
                return False
    named = {n.id for n in nodes if isinstance(n, ast.Name)}
    attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    if SHOWS & (named | attributes) or any(a.startswith("set_") for a in attributes):
        return False
    return _changes_only_its_own(nodes, definition.name)


def _changes_only_its_own(nodes, name):
    """Whether what is assigned to, `a.b = ...` or `a[b] = ...`, begins with a name of its own."""
    own = {n.arg for n in nodes if isinstance(n, ast.arg)} | {name}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            root = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root.id not in own:
                return False
    return True


def _reached(functions):
    """What functions, and those of the notebook that they call, find by name."""
    found = functions[0].__globals__ if functions else {}
    for name in _read_by_all(functions, found):
        yield found[name]
    for function in functions:
        yield from _enclosed(function).values()


def _read_by_all(functions, found):
    """The global names that functions read, and those of the notebook that they call."""
    names, waiting, seen = set(), list(functions), set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for name in names_in(function.__code__) & found.keys() - names:
            names.add(name)
            value = found[name]
            if not _is_of_a_library(value):
                waiting += [f for f in functions_of(value) if f.__globals__ is found]
    return names


def _enclosed(function):
    """What a function has from the function around it, by name."""
    enclosed = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            enclosed[name] = cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    enclosed.pop("__class__", None)
    return enclosed


def _among(names, function):
    """The same function, which finds other global names."""
    same = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    same.__kwdefaults__ = function.__kwdefaults__
    return same
