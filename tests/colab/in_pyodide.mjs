// node in_pyodide.mjs PYODIDE FOLDER: run the Python code on standard input in Python's build for the
// browser, with FOLDER in reach as sys.argv[1]. A warning is an error.

import { readFileSync } from "node:fs";

const [pyodide, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pyodide);
const python = await loadPyodide();
python.mountNodeFS("/mnt", folder);
python.runPython("import sys, warnings; sys.argv = ['-c', '/mnt']; warnings.simplefilter('error')");
python.runPython(readFileSync(0, "utf8"));
