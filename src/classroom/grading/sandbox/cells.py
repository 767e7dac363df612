"""From the text of a cell to code, as IPython does it, but nothing twice.

Most cells of a submission are as they were released: a process that has learned these compiles
them once for all the submissions that are forked from it.
"""

import ast
import hashlib
import warnings
from functools import lru_cache
from weakref import WeakKeyDictionary

from IPython.core.compilerop import CachingCompiler
from IPython.core.inputtransformer2 import TransformerManager

# More cells than a notebook has.
KEPT = 1000
IPYTHONS = TransformerManager().token_transformers


class Transformer(TransformerManager):
    """Turns IPython's commands into Python."""

    def do_token_transforms(self, lines):
        """What is Python as it stands holds no command of IPython's, and is not searched token by
        token; a notebook may have other commands."""
        if self.token_transformers == IPYTHONS and _is_python("".join(lines)):
            return lines
        return super().do_token_transforms(lines)


@lru_cache(maxsize=KEPT)
def _is_python(text):
    with warnings.catch_warnings(action="ignore"):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False
    return True


class Compiler(CachingCompiler):
    """Parses each text once and compiles each of its statements once."""

    def __init__(self):
        super().__init__()
        self._parsed = lru_cache(maxsize=KEPT)(self._parse)
        self._compiled = WeakKeyDictionary()  # by statement, then by how it was compiled

    def get_code_name(self, raw_code, transformed_code, number):
        """One name for one text, whatever its number, as in the kernel of a notebook."""
        digest = hashlib.sha1(transformed_code.encode(errors="replace"), usedforsecurity=False)
        return f"<ipython-input-{digest.hexdigest()}>"

    def ast_parse(self, source, filename="<unknown>", symbol="exec"):
        tree = self._parsed(source, filename, symbol, self.flags)
        if not isinstance(tree, ast.Module):
            return tree
        return ast.Module(list(tree.body), tree.type_ignores)  # magics take statements off it

    def _parse(self, source, filename, symbol, flags):
        return super().ast_parse(source, filename, symbol)

    def __call__(self, source, filename, symbol, **options):
        statements = getattr(source, "body", None)
        if options or not isinstance(statements, list) or len(statements) != 1:
            return super().__call__(source, filename, symbol, **options)
        known = self._compiled.setdefault(statements[0], {})
        how = filename, symbol, self.flags
        if how in known:
            return known[how]
        code = super().__call__(source, filename, symbol)
        if self.flags == how[-1]:  # else it tells, from the __future__, how to compile the rest
            known[how] = code
        return code

    def learn(self, cell: str):
        """Compile a cell, as IPython has transformed it, ahead of its being run.

        Raises SyntaxError for what is no Python.
        """
        name, flags = self.get_code_name(cell, cell, 0), self.flags
        try:
            statements = self.ast_parse(cell, name).body
            self.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            for statement in statements:
                if statement is statements[-1] and isinstance(statement, ast.Expr):
                    self(ast.Interactive([statement]), name, "single")
                else:
                    self(ast.Module([statement], []), name, "exec")
        finally:
            self.flags = flags
