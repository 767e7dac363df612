"""Trying out an answer: the only code that ever calls a learner's function."""

import contextlib
import dis
import inspect
import io
import linecache
import re
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, ValuesView
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attention_lab.observation import mends
from attention_lab.observation.codec import DTYPE_NAMES, decode, encode
from attention_lab.observation.definition import Definition, functions_of, names_in
from attention_lab.observation.elsewhere import THERE, elsewhere, is_there, put
from attention_lab.observation.neutral import COMPARISONS, neutral_torch
from attention_lab.observation.probe import (
    Failure,
    Layer,
    Observation,
    Outcome,
    Request,
    Unknown,
)

MAX_OUTPUTS = 16
MAX_NUMBERS = 4 << 20
_equal = torch.equal  # torch's own, whatever an answer puts in its place later
GIVEN = "<given steps>"
OPERATOR = re.compile(r"\baten::\w+")
NOT_THE_LEARNERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[1]))


class RemoteAnswer(ABC):
    """An answer that lives in another process.

    definition: its text, where other texts may be tried in its place; else None.
    """

    definition: Definition | None = None

    def observe_edited(self, text: str, given: str, request: bytes, again: bool) -> bytes:
        """Take a `Request` for what `text` defines in the place of this answer, among the functions
        of `given`; see `Surroundings.observe`."""
        raise NotImplementedError

    @abstractmethod
    def observe(self, request: bytes) -> bytes:
        """Take an encoded `Request`, return an encoded tuple of one `Observation` a probe."""


def observe_encoded(answer, request: bytes) -> bytes:
    """Try `answer` on an encoded `Request`; return the encoded observations, one a probe.

    Raises nothing, whatever the answer does, but KeyboardInterrupt.
    """
    if isinstance(answer, RemoteAnswer):
        return answer.observe(request)
    with neutral_torch(), quiet():
        request = decoded(request)
        with _substituted(answer, request.substitutes):
            observations = (observe(answer, probe, mend=request.mend) for probe in request.probes)
            return encode(tuple(observations))


def read_ahead(request: bytes) -> None:
    """Decode a `Request` ahead of time: neither this process nor its forks will have to."""
    decoded(request)


@lru_cache(maxsize=32)
def decoded(request):
    """Kept, since a check is often repeated; answers get copies of what is in it."""
    return decode(request, Request)


def observe(answer, probe, build=None, mend="") -> Observation:
    """Try `answer` on one probe; warnings are kept as data. The caller swallows what is printed and
    puts aside whatever defaults of torch the notebook has changed.

    build: makes what is called of the answer for the probe, in the place of `make_target`.
    mend: name of what is set right meanwhile, see `mends`.
    """
    count = _Count()
    around = _counted(count) if probe.heads is not None else contextlib.nullcontext
    around = elsewhere if probe.elsewhere else around
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with mends.given(functions_of(answer), [(g.what, g.value) for g in probe.given]):
                target = build(answer, probe) if build else make_target(answer, probe, mend)
                outcomes = [_call(target, probe, i, around, mend) for i in range(len(probe.calls))]
            scripted = _scripted(answer, target) if probe.heads is not None else ()
        except BaseException as error:
            return Observation(failure=failure_from(error))
    return Observation(
        # Read after the last call: none may change what came of another.
        outcomes=tuple(map(_read, outcomes)),
        called=(*count.names, *scripted),
        calls=count.total,
        warned=tuple(dict.fromkeys(str(w.message)[:300] for w in warned))[:MAX_OUTPUTS],
        reads=_notebook_numbers(answer),
        written=mends.written(functions_of(answer)),
        replaced=_replaced_beside(answer),
    )


# --- building the answer ---


class Unusable(Exception):
    """The answer is not the kind of thing that was asked for."""


def make_target(answer, probe, mend=""):
    """Return what is called: the function itself, or an instance with the probe's weights in it."""
    module = probe.module
    if not callable(answer):
        raise Unusable(f"it is {_article(answer)}, which cannot be called")
    if module is None:
        if inspect.isclass(answer):
            raise Unusable(f"it is the class {answer.__name__}, not a function")
        return answer
    if not (inspect.isclass(answer) and issubclass(answer, nn.Module)):
        raise Unusable(f"it is {_article(answer)}, not a class derived from nn.Module")
    instance = answer(*(mends.as_size(mend, arg) for arg in module.args))
    _write_all(instance, module.names, module.layers, probe.calls[0].elsewhere)
    if answer.forward is nn.Module.forward:
        raise Unusable("it has no `forward`: look at its spelling and its indentation")
    return instance.train(module.training)


def _article(thing):
    kind = type(thing).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _projection(instance, name):
    if not hasattr(instance, name):
        raise Unusable(f"it has no {name}, which should be an nn.Linear")
    layer = getattr(instance, name)
    if not isinstance(layer, nn.Linear):
        raise Unusable(f"its {name} is {_article(layer)}, not an nn.Linear")
    return layer


def _write_all(instance, names, layers, there):
    with elsewhere() if there else contextlib.nullcontext(), torch.no_grad():
        dtype = layers[0].weight.dtype
        if there or any(parameter.dtype != dtype for parameter in instance.parameters()):
            instance.to(dtype=dtype, device=THERE if there else None)
        for name, layer in zip(names, layers, strict=True):
            _write(_projection(instance, name), name, layer)


def _write(linear, name, layer):
    for part in ("weight", "bias"):
        parameter, numbers = getattr(linear, part), getattr(layer, part)
        shape = None if parameter is None else tuple(parameter.shape)
        if shape != tuple(numbers.shape):
            raise Unusable(f"{name}.{part} has shape {shape}, not {tuple(numbers.shape)}")
        parameter.copy_(numbers)


# --- calling it ---


def _call(target, probe, index, around, mend):
    """Return the outcome of one call, its output as the answer returned it."""
    call, layers = probe.calls[index], probe.layers_at(index)
    if call.layers:
        _write_all(target, probe.module.names, call.layers, call.elsewhere)
    leaves, args = _prepare(call)
    try:
        with around(), mends.during(mend, call):
            args = [mends.as_size(mend, arg) for arg in args]
            output, failure = _unpacked(target(*args), call.upstream), None
    except BaseException as error:
        output, failure = None, failure_from(error)
    names = probe.module.names if probe.module else ()
    changed = _changed_layers(target, names, layers)
    afterwards = {"args": _changed_args(call, args), "layers": changed}
    if failure or not call.upstream:
        return Outcome(output=_without_graph(output), failure=failure, **afterwards)
    outputs = output if isinstance(output, tuple) else (output,)
    inputs = leaves + _parameters(target, names)
    gradients, failure = _backward(outputs, call.upstream, inputs)
    output = _without_graph(output)
    return Outcome(output=output, gradients=gradients, backward_failure=failure, **afterwards)


def _without_graph(output):
    """The same memory, and nothing that leads back to how its numbers were made."""
    if isinstance(output, tuple):
        return tuple(map(_without_graph, output))
    return output.detach() if isinstance(output, Tensor) else output


def _read(outcome):
    """The same outcome with its output as plain data."""
    try:
        return replace(outcome, output=_plain(outcome.output))
    except BaseException as error:
        return replace(outcome, output=None, gradients=(), failure=failure_from(error))


def _prepare(call):
    """Return the leaves that gradients are asked for, and the arguments made of them: copies, so
    that a change is seen.

    With gradients an argument is no leaf itself, as in a real pipeline: changing a leaf in place
    would raise where changing an activation goes unseen.
    """
    leaves, args = [], []
    for position, value in enumerate(call.args):
        if isinstance(value, Layer):
            linear = _linear(value, call.elsewhere)
            leaves += [linear.weight, linear.bias]
            args.append(linear)
        elif isinstance(value, Tensor):
            if call.upstream and position not in call.constants:
                leaves.append(value := value.detach().requires_grad_())
            args.append(_copy(value, call.elsewhere))
        else:
            args.append(value)
    return leaves, args


def _linear(layer, there):
    """An `nn.Linear` of these numbers, without the random ones that it would be made with."""
    linear = nn.Linear.__new__(nn.Linear)
    nn.Module.__init__(linear)
    linear.out_features, linear.in_features = layer.weight.shape
    linear.weight = nn.Parameter(_copy(layer.weight, there))
    linear.bias = nn.Parameter(_copy(layer.bias, there))
    return linear


def _copy(tensor, there):
    """The numbers and strides of `tensor`, here or there; gradients reach it."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    return put(copy, there).copy_(tensor)


def _unpacked(output, upstream):
    """Take apart what unpacks to several tensors: a list, an iterator, a dictionary's values, a
    stacked tensor, if as many of that shape are expected."""
    if isinstance(output, Iterator | ValuesView | tuple | list):
        return tuple(_as_plain_class(item) for item in islice(output, MAX_OUTPUTS))
    output = _as_plain_class(output)
    if len(upstream) < 2 or not isinstance(output, Tensor):
        return output
    is_stack = output.shape == (len(upstream), *upstream[0].shape)
    return tuple(output.unbind(0)) if is_stack else output


def _as_plain_class(value):
    """The same tensor, gradient and all, without what a subclass may have redefined."""
    if not isinstance(value, Tensor) or type(value) in (Tensor, nn.Parameter):
        return value
    with torch._C.DisableTorchFunctionSubclass():
        return value.as_subclass(Tensor)


def _backward(outputs, upstream, inputs):
    fits = len(outputs) == len(upstream) and all(
        isinstance(o, Tensor) and o.shape == g.shape and o.dtype == g.dtype and o.device == g.device
        for o, g in zip(outputs, upstream, strict=True)
    )
    if not fits:
        return (), None
    pairs = [(o, g) for o, g in zip(outputs, upstream, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs), None
    try:
        # A scalar: to compare shapes with those of given gradients, torch would import sympy first.
        root = sum((o * g).sum() for o, g in pairs)
        found = torch.autograd.grad(root, inputs, allow_unused=True)
        return tuple(_plain(g) for g in found), None
    except BaseException as error:
        return (), failure_from(error)


def _changed_args(call, args):
    """All arguments as they are now if any has changed, else ()."""
    same = map(_holds, args, call.args)
    return () if all(same) else tuple(_plain(arg) for arg in args)


def _changed_layers(target, names, given):
    """The layers of these names as they are now if any has changed, else ()."""
    layers = [_projection(target, name) for name in names]
    same = map(_holds, layers, given)
    return () if all(same) else tuple(_plain(layer) for layer in layers)


def _holds(value, given):
    """Whether `value` still holds the numbers that were given."""
    if isinstance(given, Layer):
        return _holds(value.weight, given.weight) and _holds(value.bias, given.bias)
    if not isinstance(given, Tensor):
        return True
    if not isinstance(value, Tensor) or (value.dtype, value.device) != (given.dtype, given.device):
        return False
    return _equal(_as_plain_class(value), given)


def _parameters(target, names):
    layers = [getattr(target, name, None) for name in names]
    return [getattr(layer, part, None) for layer in layers for part in ("weight", "bias")]


# --- what is seen, as plain data ---


def _plain(value):
    if value is None or type(value) in (bool, float):
        return value
    if type(value) is int:
        return value if abs(value) < 1 << 63 else Unknown("int")
    if type(value) is str:
        return value[:300]
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, nn.Linear):
        return Layer(_plain_tensor(value.weight), _plain_tensor(value.bias))
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value[:MAX_OUTPUTS])
    if isinstance(value, torch.dtype | torch.device):
        return value
    return Unknown(type(value).__name__[:80])


def _plain_tensor(tensor):
    """A copy of the numbers alone: no subclass, no graph, no memory shared with the learner's."""
    if tensor is None:
        return None
    tensor = _as_plain_class(tensor).detach()
    known = tensor.dtype in DTYPE_NAMES and tensor.layout is torch.strided
    if not known or tensor.dim() > 8 or tensor.numel() > MAX_NUMBERS:
        return Unknown(f"Tensor of {tensor.dtype} and shape {tuple(tensor.shape)}"[:200])
    return torch.empty_like(tensor, device=THERE) if is_there(tensor) else tensor.clone()


def failure_from(error) -> Failure:
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        message = str(error)[:1000]
    except BaseException:
        message = ""
    return Failure(type(error).__name__[:80], message, *_place(error))


def _place(error):
    """The innermost line of the traceback that is the learner's own, and the name of the given step
    that was called there, or ""."""
    line = inside = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_filename == GIVEN:
            inside = code.co_name[:80]
        elif not code.co_filename.startswith(NOT_THE_LEARNERS):
            line, inside = linecache.getline(code.co_filename, number).strip()[:200], ""
    return line, inside


# --- the environment of a trial ---


@contextlib.contextmanager
def quiet():
    """Swallow what is printed."""
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


class _Count:
    """Names of the torch functions called, and how many of the calls were not made by torch's own
    functions: `torch.tensor_split` takes one slice a head by itself."""

    def __init__(self):
        self.total = 0
        self._depth = 0
        self._names = set()

    def call(self, function, args, kwargs):
        self.total += self._depth == 0
        self._names.add(str(getattr(function, "__name__", function))[:100])
        self._depth += 1
        try:
            return function(*args, **(kwargs or {}))
        finally:
            self._depth -= 1

    @property
    def names(self):
        return tuple(sorted(self._names)[:200])


class _FunctionCalls(TorchFunctionMode):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self.count.call(func, args, kwargs)


class _DispatchedCalls(TorchDispatchMode):
    def __init__(self, count):
        super().__init__()
        self.count = count

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler at the first call, which takes seconds

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.count.call(func, args, kwargs)


def _counted(count):
    """Count calls into torch, above (functions) and below (operators) autograd."""

    @contextlib.contextmanager
    def counted():
        with _FunctionCalls(count), _DispatchedCalls(count):
            yield

    return counted


@contextlib.contextmanager
def _substituted(answer, source):
    """Let the functions that `source` defines stand where the answer looks for its own."""
    if not source:
        yield
        return
    functions = functions_in(source)
    saved = [(space, name, space.get(name)) for space in _namespaces(answer) for name in functions]
    try:
        for space, name, _ in saved:
            space[name] = functions[name]
        yield
    finally:
        for space, name, before in saved:
            if before is None:
                space.pop(name, None)
            else:
                space[name] = before


def functions_in(source: str) -> dict:
    """The functions that the given steps' text defines."""
    given = {}
    exec(compile(source, GIVEN, "exec"), given)
    return {name: f for name, f in given.items() if inspect.isfunction(f)}


def _namespaces(answer):
    """The global names that a class's methods see."""
    spaces = {id(f.__globals__): f.__globals__ for f in functions_of(answer)}
    return list(spaces.values())


def _scripted(answer, target):
    """Names of the operators in what the answer has compiled to TorchScript, where no mode sees
    what is called."""
    scripts = (v for v in _reached(answer, target) if hasattr(type(v), "inlined_graph"))
    names = {name for script in scripts for name in OPERATOR.findall(str(script.inlined_graph))}
    return tuple(sorted(names)[:200])


def _reached(answer, target):
    """What the answer's code may call besides torch: itself, the parts of its instance, and what
    its functions, and those of the notebook that they call, find by name."""
    yield answer
    if isinstance(target, nn.Module):
        for module in target.modules():
            yield from (module, *vars(module).values())
    waiting, seen = functions_of(answer), set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for value in _named_in(function):
            yield value
            if inspect.isfunction(value) and value.__globals__ is function.__globals__:
                waiting.append(value)


def _named_in(function):
    """The global and enclosed values that a function's code names."""
    space = function.__globals__
    yield from (space[name] for name in _globals_read(function.__code__) if name in space)
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # nothing is in it yet
            yield cell.cell_contents


def _replaced_beside(answer):
    """Names of torch's comparisons that the notebook of this answer replaced by its own."""
    replaced = {
        name: getattr(module, name, None)
        for (module, name), original in COMPARISONS.items()
        if getattr(module, name, None) is not original
    }
    spaces = _namespaces(answer) if replaced else ()
    return tuple(
        name
        for name, current in replaced.items()
        if any(getattr(current, "__globals__", None) is space for space in spaces)
    )


def _notebook_numbers(answer):
    """Names of global numbers that the answer's code reads."""
    found = set()
    for function in functions_of(answer):
        space, code = function.__globals__, function.__code__
        numbers = {name for name in names_in(code) if type(space.get(name)) in (int, float)}
        if numbers:  # to tell them from attributes takes longer
            found |= numbers & _globals_read(code)
    return tuple(sorted(found)[:MAX_OUTPUTS])


@lru_cache(maxsize=256)
def _globals_read(code):
    read, written = (
        {i.argval for i in dis.get_instructions(code) if i.opname == name}
        for name in ("LOAD_GLOBAL", "STORE_GLOBAL")
    )
    names = read - written  # what it keeps there itself is not the notebook's
    inner = [part for part in code.co_consts if inspect.iscode(part)]
    return frozenset(names.union(*map(_globals_read, inner)))
