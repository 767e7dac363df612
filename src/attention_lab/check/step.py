"""What a step is: all that the checks know of it, in one object."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import torch
from torch import Tensor

from attention_lab.check.draw import (
    ALL_ALIKE,
    EDGES,
    HEADS_COUNTED,
    LESSON,
    SMALL,
    VISIBLE,
    Draw,
    Sizes,
    as_function,
    elsewhere,
    in_float64,
    sliced,
    transposed,
)
from attention_lab.observation import Call, Module, Probe, Tag


class Step:
    """A step or an exercise. A file of this package defines one and overrides what is different.

    right: a right answer; its name is the step's. takes: the sizes of each argument by name, "B T"
    for a tensor, "T" for a number, "" for what has none; of_class: those of the arguments that
    build it, if the answer is a class. axes: of each tensor that comes back, and returns: what
    these are called where there are several. constants: positions of arguments that need no
    gradient. catalogue: the module of `attention_lab.check.catalogue` that holds its known
    mistakes. by_hand: what to compare where no known mistake fits. substitutes: text of right
    functions for those of the learner's that a class may call.
    """

    right: Callable
    takes: tuple[str, ...]
    of_class: tuple[str, ...] = ()
    axes: tuple[str, ...] = ("batch", "head", "token", "feature")
    returns: tuple[str, ...] = ("result",)
    constants: tuple[int, ...] = ()
    catalogue: str = ""
    by_hand: str = "take two tokens, print what each line makes, and compare it with a sum by hand."
    substitutes: str = ""

    @property
    def name(self) -> str:
        return self.right.__name__

    @property
    def signature(self) -> str:
        """How an answer is called, as a learner writes it."""
        if not self.of_class:
            return f"{self.name}{inspect.signature(self.right)}"
        return f"forward{inspect.signature(self.right.forward)}"

    def answer(self, given, *beside):
        """What is tried, made of what a learner gives to the check."""
        return given

    # --- its trials ---

    def arguments(self, draw: Draw, sizes: Sizes) -> tuple:
        """Arguments for one call at `sizes`."""
        raise NotImplementedError

    def probes(self, draw: Draw, hidden: bool) -> Iterator[Probe]:
        """The visible trials, then the hidden ones if asked for."""
        yield from self.visible(draw)
        if hidden:
            yield from self.hidden(draw)

    def at(self, draw: Draw, sizes: Sizes) -> Probe:
        """An ordinary trial at `sizes`."""
        calls = self.calls(self.arguments(draw, sizes))
        return self.probe(self.told(sizes), *calls, basic=True)

    def visible(self, draw):
        for sizes, gradients in zip(VISIBLE, (2, 1), strict=True):
            call = Call(self.arguments(draw, sizes))
            calls = (self.with_gradient(draw, call),) * gradients + (call,) * (2 - gradients)
            yield self.probe(self.told(sizes), *calls, basic=True)
        for sizes in (ALL_ALIKE, LESSON):
            yield self.probe(self.told(sizes), Call(self.arguments(draw, sizes)), basic=True)
        yield from self.counted(draw)
        yield from self.kinds(draw, SMALL)

    def counted(self, draw):
        """The same tokens with more and more heads: a loop over heads makes more and more calls.

        What a loop over features goes over is the same for all: d_model, or d_head where heads stay
        apart.
        """
        for H in HEADS_COUNTED if "H" in self.told_sizes else ():
            d_model = 12 * H if "head" in self.axes and "d_model" not in self.told_sizes else 24
            call = Call(self.arguments(draw, Sizes(2, 5, d_model, H)))
            yield self.probe(f"{H} heads, calls counted", call, heads=H)

    def hidden(self, draw):
        for sizes in (*EDGES, *draw.related()):
            calls = self.calls(self.arguments(draw, sizes))
            yield self.probe(self.told(sizes), *calls, basic=True)
        yield from self.kinds(draw, draw.fresh())

    def kinds(self, draw, sizes):
        """A trial of everything that is not a size; hidden ones differ from visible ones in their
        numbers and sizes only."""
        calls = self.calls(self.arguments(draw, sizes))
        both = (*in_float64(calls), *calls)
        yield self.probe("float64 numbers, then float32 ones", *both, tags=(Tag.FLOAT64,))
        calls = [self.calls(self.arguments(draw, sizes)) for _ in range(2)]
        yield self.probe("two inputs of the same size", *chain(*calls))
        for layout, about in (
            (transposed, "an input whose memory is not in order"),
            (sliced, "an input that is a slice of a larger tensor"),
        ):
            calls = self.calls(tuple(map(layout, self.arguments(draw, sizes))))
            if layout is transposed:
                calls = tuple(self.with_gradient(draw, call) for call in calls)
            yield self.probe(about, *calls, tags=(Tag.STRIDED,))
        calls = map(elsewhere, self.calls(self.arguments(draw, sizes)))
        yield self.probe("another device than the CPU", *calls)
        for about, args in self.special(draw, sizes):
            yield self.probe(about, *self.calls(args), tags=(Tag.VALUES,))
        yield from self.extremes(draw, sizes)

    def special(self, draw, sizes):
        """What the numbers of a trial are like, and the arguments."""
        first, *others = self.arguments(draw, sizes)
        for about, numbers in draw.special(*first.shape).items():
            yield about, (numbers, *others)

    def extremes(self, draw, sizes):
        """Trials that only this step needs."""
        return ()

    def around(self, step: "Step", draw: Draw) -> Iterator[Probe]:
        """Trials of another step inside this one."""
        return iter(())

    def calls(self, args: tuple) -> tuple[Call, ...]:
        """The calls that are made with these arguments."""
        return (Call(args),)

    def with_gradient(self, draw, call):
        """Return `call` with a gradient to send backwards."""
        with torch.no_grad():
            right = self.right(*map(as_function, call.args))
        outputs = right if isinstance(right, tuple) else (right,)
        upstream = tuple(draw.normal(*o.shape).to(o.dtype) for o in outputs)
        return replace(call, upstream=upstream, constants=self.constants)

    def probe(self, about, *calls, **options) -> Probe:
        return Probe(self.name, about, calls, **options)

    # --- what its arguments are ---

    @property
    def told_sizes(self) -> tuple[str, ...]:
        """The sizes that its arguments have, in the order in which they are told."""
        names = " ".join((*self.takes, *self.of_class)).split()
        return tuple(dict.fromkeys(names))

    def told(self, sizes: Sizes) -> str:
        """Return in words the sizes that its arguments have."""
        return ", ".join(f"{name}={getattr(sizes, name)}" for name in self.told_sizes)

    def told_way(self, call: Call) -> str:
        """Return in words what is particular about a call, or ""."""
        return ""

    def sizes(self, call: Call, module: Module | None = None) -> dict[str, int]:
        """The sizes of a call by name."""
        given = [*zip(self.takes, call.args, strict=False)]
        given += zip(self.of_class, module.args if module else (), strict=False)
        sizes = {}
        for names, value in given:
            if isinstance(value, Tensor | int):
                shape = value.shape if isinstance(value, Tensor) else (value,)
                sizes |= dict(zip(names.split(), shape, strict=False))
        sizes.pop("1", None)
        if {"d_model", "H"} <= sizes.keys():
            sizes["d_head"] = sizes["d_model"] // sizes["H"]
        return sizes

    def is_masked(self, call: Call) -> bool:
        """Whether a call closes something."""
        return False

    def by_head(self, probe: Probe) -> list[Tensor]:
        """What the heads of a trial have of their own: numbers with the axis H first."""
        return [
            value.transpose(0, 1)
            for names, value in zip(self.takes, probe.calls[0].args, strict=False)
            if names.startswith("B H") and value.shape[2] > 1
        ][:1]

    def scores(self, probe: Probe, call: int) -> Tensor | None:
        """The scores that a call is about, None where it is about none."""
        return None

    def for_faulty(self, probe: Probe, call: int) -> tuple:
        """What a faulty implementation of the catalogue is called with."""
        return tuple(map(as_function, probe.calls[call].args))

    # --- what comes back ---

    def dtypes(self, call: Call) -> tuple[torch.dtype, ...]:
        """The dtypes that are right for what comes back."""
        return (call.args[0].dtype,)

    def compared(self, output: Tensor) -> Tensor:
        """The numbers by which an output of the right shape is judged."""
        return output

    def picture(self, trial) -> list[str]:
        """Figures for the card of a wrong result of the right shape."""
        return []
