import { Buffer } from 'node:buffer'
import { readSync, writeSync, constants } from 'node:fs'
import { Worker } from 'node:worker_threads'
import {
  type ScriptReply,
  type BoundScript,
  type InterpreterStart,
  MESSAGE_TAGS,
  type MessageTag,
  type ScriptInterpreter,
} from './messages.ts'
import { openJavaScript } from './javascript.ts'
import { hardenRealm } from './seal.ts'
import { loadPyodide } from 'pyodide'

interface PythonStart {
  readonly resultBytes: number
  /** The memory of a freshly started interpreter, from which starting is five times as fast. */
  readonly from: Uint8Array | undefined
  /** Whether to answer its own memory for others. */
  readonly keep: boolean
}

/**
 * Starts CPython compiled to WebAssembly, with files only in its own memory, no output, and its bridge to JavaScript removed. A flag of the
 * process limits its memory. Each call runs the script again with new globals; imported modules stay.
 */
async function openPython({
  resultBytes,
  from,
  keep,
}: PythonStart): Promise<{ readonly runtime: ScriptInterpreter; readonly memory: Uint8Array | undefined }> {
  // pyodide asks for the flags of open(2), which Node's permissions would refuse
  Object.assign(process, { binding: () => ({ fs: constants }) })
  // hides the path of this program from scripts
  process.argv.length = 1
  const python = await loadPyodide({
    jsglobals: Object.create(null) as object,
    env: {},
    ...(from ? { _loadSnapshot: from } : {}),
    _makeSnapshot: keep,
  })
  if (!from) python.runPython(PYTHON_HARNESS)
  const memory = keep ? python.makeMemorySnapshot() : undefined
  python.setStdin({ error: true })
  const swallow = { write: (bytes: Uint8Array) => bytes.length }
  python.setStdout(swallow)
  python.setStderr(swallow)
  // the harness defines these
  const [bind, call] = python.runPython(`open_harness(${resultBytes})`) as Harness
  return {
    memory,
    runtime: {
      bind: ({ script, entryPoint }) => bind(script, entryPoint),
      call: (args) => answerIn(call(args)),
    },
  }
}

type Harness = [bind: (script: string, entryPoint: string) => void, call: (args: string) => string]

const ANSWERS: readonly MessageTag[] = [MESSAGE_TAGS.value, MESSAGE_TAGS.nothing, MESSAGE_TAGS.failure]

/** The harness answers the letter and the text as one string. */
function answerIn(answer: string): ScriptReply {
  const letter = answer[0] as ScriptReply['letter'] // checked in the next line, because a script can replace the harness
  if (typeof answer !== 'string' || !ANSWERS.includes(letter)) throw new TypeError('The harness is broken.')
  return { letter, text: answer.slice(1) }
}

/**
 * The Python that calls scripts. `open_harness(result_bytes)` hides the bridge to JavaScript (real isolation comes from the process, see
 * seal.ts) and returns the functions `bind(script, entry_point)` and `call(args)`. A call answers a letter of messages.ts and a text. The
 * imports at the top are those that scripts use most; in a snapshot they cost nothing.
 */
const PYTHON_HARNESS = `
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

/**
 * The process of an interpreter: starts the interpreter, hardens the realm, and answers calls until the pipe closes. Calls are read
 * synchronously and never return to the event loop, so timers, promises and imports that a script leaves behind never run.
 */

/** The only file descriptor of the process. */
const PIPE = 3

const read = readSync
const write = writeSync
const kill = process.kill.bind(process)
const { pid } = process

const start = JSON.parse(expectMessage(MESSAGE_TAGS.start).toString()) as InterpreterStart // written by our own server
watch(start)
const snapshot = start.snapshot === 'given' ? expectMessage(MESSAGE_TAGS.snapshot) : undefined
const { runtime, memory } = await open(start, snapshot)
hardenRealm()
send(MESSAGE_TAGS.ready, memory ?? new Uint8Array())
for (let message = nextMessage(); message; message = nextMessage()) {
  if (message.letter === MESSAGE_TAGS.bind) {
    runtime.bind(JSON.parse(message.body.toString()) as BoundScript) // written by our own server
    continue
  }
  const { letter, text } = answerOf(message.body.toString())
  send(letter, Buffer.from(text))
}
kill(pid, 'SIGKILL')

async function open(
  { runtime, memoryBytes, resultBytes, snapshot }: InterpreterStart,
  given: Uint8Array | undefined,
): Promise<{ readonly runtime: ScriptInterpreter; readonly memory?: Uint8Array | undefined }> {
  if (runtime === 'python') return openPython({ resultBytes, from: given, keep: snapshot === 'wanted' })
  return { runtime: await openJavaScript({ isTyped: runtime === 'typescript', memoryBytes, resultBytes }) }
}

/** Any error that leaves the interpreter, such as an exhausted host stack or an abort, means that it is broken. */
function answerOf(args: string): ScriptReply {
  try {
    return runtime.call(args)
  } catch (error) {
    const message =
      error instanceof RangeError
        ? 'The script ran out of stack.'
        : 'The script ended or broke its interpreter.'
    return { letter: MESSAGE_TAGS.lastFailure, text: JSON.stringify({ kind: 'exception', message }) }
  }
}

/** Starts the watchdog, which ends the process when its server is gone, or it takes more memory than scripts may. */
function watch({ parent, memoryBytes }: InterpreterStart): void {
  const worker = new Worker(new URL('./watchdog.js', import.meta.url), {
    workerData: { parent, memoryBytes },
  })
  worker.unref()
}

function expectMessage(letter: MessageTag): Buffer {
  const message = nextMessage()
  if (message?.letter !== letter) throw new Error(`Expected a message ${letter}, got ${message?.letter}.`)
  return message.body
}

/** The next message; undefined when the server has closed the pipe. */
function nextMessage(): { readonly letter: string; readonly body: Buffer } | undefined {
  const head = readBytes(5)
  const body = head && readBytes(head.readUInt32BE() - 1)
  return body && { letter: head.toString('latin1', 4), body }
}

function readBytes(length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length;) {
    const count = read(PIPE, bytes, done, length - done, null)
    if (count === 0) return undefined
    done += count
  }
  return bytes
}

function send(letter: MessageTag, body: Uint8Array): void {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length + 1)
  head.write(letter, 4)
  const message = body.length < 65_536 ? [Buffer.concat([head, body])] : [head, body]
  for (const bytes of message)
    for (let done = 0; done < bytes.length;) done += write(PIPE, bytes, done, bytes.length - done)
}
