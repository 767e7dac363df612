"""torch as it is in a new process, whatever a notebook has set."""

import contextlib

import torch


@contextlib.contextmanager
def neutral_torch():
    """Put a changed default dtype, default device, grad mode or autocast aside for a while.

    One thread works meanwhile: on a busy machine several wait for each other at every small tensor.
    """
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        stack.callback(torch.set_default_dtype, dtype)
        torch.set_default_dtype(torch.float32)
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        if torch.get_default_device().type != "cpu":  # such a context slows every call into torch
            stack.enter_context(torch.device("cpu"))
        yield
