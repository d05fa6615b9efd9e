/**
 * The Python that calls scripts. `open_harness(result_bytes)` puts the bridge to JavaScript out of sight (a curtain: what keeps scripts in
 * is the process, see seal.ts) and gives the functions `bind(script, entry_point)` and `call(args)`; what a call answers is a letter of
 * messages.ts and a text. The imports at the top are those that scripts want most: in a snapshot they cost nothing.
 */
export const PYTHON_HARNESS = `
import collections, copy, datetime, decimal, difflib, functools, itertools, json, math, random, re, statistics, string
import textwrap, typing, unicodedata

def open_harness(result_bytes):
    # names of its own: scripts may change the modules
    import builtins, gc, linecache, random, sys
    from builtins import BaseException, MemoryError, RuntimeError, StopIteration, SyntaxError
    from builtins import callable, compile, exec, isinstance, len, next, enumerate
    from inspect import iscoroutine
    from json import dumps, loads
    from traceback import extract_tb, format_exception_only, format_list

    bridge = ('js', 'pyodide_js', 'pyodide', '_pyodide', '_pyodide_core', 'micropip', 'ctypes', '_ctypes')
    for name in [*sys.modules]:
        if name.partition('.')[0] in bridge:
            del sys.modules[name]
    for name in bridge:
        sys.modules[name] = None
    sys.meta_path[:] = [it for it in sys.meta_path if getattr(it, '__module__', None) == '_frozen_importlib'
                        or getattr(it, '__module__', None) == '_frozen_importlib_external']
    for name in [*vars(sys.modules['__main__'])]:
        if not name.startswith('__'):
            del vars(sys.modules['__main__'])[name]
    random.seed()
    gc.collect()

    file = 'script.py'
    code = None
    syntax = None
    entry_point = None

    def failure(kind, message, stacktrace=None):
        report = {'kind': kind, 'message': message[:2000]}
        if stacktrace is not None:
            report['stacktrace'] = [line[:500] for line in stacktrace[-40:]]
        return 'F' + dumps(report)

    def lines_of(pieces):
        return [line for piece in pieces for line in piece.rstrip('\\n').split('\\n')]

    def summary(error):
        return lines_of(format_exception_only(error))

    def headline(error):
        lines = summary(error)
        return lines[-1] if isinstance(error, SyntaxError) else lines[0]

    def raised(error):
        if isinstance(error, MemoryError):
            return failure('memory', 'The script took more memory than scripts have.')
        frames = extract_tb(error.__traceback__)
        first = next((at for at, frame in enumerate(frames) if frame.filename == file), len(frames))
        shown = [frame for frame in frames[first:] if '://' not in frame.filename]
        return failure('exception', headline(error), lines_of(format_list(shown)) + summary(error))

    def bind(script, name):
        nonlocal code, syntax, entry_point
        entry_point = name
        linecache.cache[file] = (len(script), None, script.splitlines(True), file)
        try:
            code = compile(script, file, 'exec', dont_inherit=True)
        except MemoryError:
            syntax = failure('memory', 'The script took more memory than scripts have.')
        except BaseException as error:
            syntax = failure('syntax', headline(error), summary(error))

    def call(text):
        if syntax is not None:
            return syntax
        space = {'__name__': 'script', '__builtins__': builtins}
        try:
            args = loads(text)
            exec(code, space)
            entry = space.get(entry_point)
            if not callable(entry):
                return failure('entry', f'The script defines no function {entry_point}; define it at the top level.')
            value = entry(*args)
            if iscoroutine(value):
                value = settle(value)
        except BaseException as error:
            return raised(error)
        if value is None:
            return 'U'
        try:
            result = dumps(value, allow_nan=False)
        except MemoryError as error:
            return raised(error)
        except BaseException as error:
            return failure('result', f'What {entry_point} returned cannot be written as JSON: {headline(error)}')
        if len(result) > result_bytes:
            return failure('output', f'What {entry_point} returned is longer than {result_bytes} bytes.')
        return 'V' + result

    def settle(coroutine):
        try:
            coroutine.send(None)
        except StopIteration as end:
            return end.value
        coroutine.close()
        raise RuntimeError(f'{entry_point} awaits something that never comes')

    return bind, call
`
