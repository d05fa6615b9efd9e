import { dirname } from 'node:path'
import { expect } from 'chai'
import { ExactNumber, ExactObject, type Json } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { type TestSandbox, testSandbox } from './test-sandbox.ts'

/** What tries to get out, and what it comes to: an answer, or `kind` and the beginning of the message. */
const ATTEMPTS: readonly (readonly [name: string, body: string, outcome: unknown])[] = [
  ['reads a file of the host', 'return open("/etc/passwd").read()', 'exception FileNotFoundError'],
  [
    'reads its own code',
    `return open(${JSON.stringify(import.meta.filename)}).read()`,
    'exception FileNotFoundError',
  ],
  ['reads the environment', 'return open("/proc/self/environ").read()', 'exception FileNotFoundError'],
  [
    'asks for the environment',
    `import os; return [os.environ.get(k) for k in ("SECRET", "PATH")]`,
    [null, '/'],
  ],
  [
    'looks for paths of the host',
    `import os, sys; return [${JSON.stringify(process.cwd())} in it for it in [str(dict(os.environ)), sys.executable, str(sys.path), str(sys.argv)]]`,
    Array(4).fill(false),
  ],
  ['lists the disk', 'import os; return "work" in os.listdir("/") or "etc" in os.listdir("/")', false],
  ['runs a program', 'import subprocess; return subprocess.run(["id"])', 'exception OSError'],
  ['forks', 'import os; return os.fork()', 'exception OSError'],
  ['starts a thread', 'import threading; threading.Thread(target=print).start()', 'exception RuntimeError'],
  [
    'starts a process',
    'import multiprocessing; multiprocessing.Process(target=print).start()',
    'exception ModuleNotFoundError',
  ],
  [
    'opens a connection',
    'import socket; return str(socket.create_connection(("127.0.0.1", 1), 1))',
    'exception OSError',
  ],
  [
    'listens',
    'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); return str(s.accept())',
    'exception',
  ],
  [
    'fetches an address',
    'import urllib.request; return urllib.request.urlopen("http://127.0.0.1/").read()',
    'exception urllib.error.URLError',
  ],
  ['reads standard input', 'return input()', 'exception OSError'],
  ['imports js', 'import js', 'exception ModuleNotFoundError'],
  ['imports pyodide', 'import pyodide', 'exception ModuleNotFoundError'],
  ['imports pyodide_js', 'import pyodide_js', 'exception ModuleNotFoundError'],
  ['imports pyodide.http', 'import pyodide.http', 'exception ModuleNotFoundError'],
  ['imports micropip', 'import micropip', 'exception ModuleNotFoundError'],
  ['imports ctypes', 'import ctypes', 'exception ModuleNotFoundError'],
  [
    'imports js by another way',
    'import importlib, sys; del sys.modules["js"]; importlib.import_module("js")',
    'exception ModuleNotFoundError',
  ],
  ['is cancelled', 'raise KeyboardInterrupt', 'exception KeyboardInterrupt'],
  ['exits', 'import sys; sys.exit(3)', 'exception SystemExit: 3'],
  ['recurses', 'def f(): return f()\n  return f()', 'exception RecursionError'],
  [
    'throws what throws',
    'class E(Exception):\n    def __str__(self): raise SystemExit\n  raise E()',
    'exception',
  ],
  ['throws ten megabytes', 'raise ValueError("x" * 10_000_000)', 'exception ValueError: xxx'],
  ['returns no number', 'return {"a": [float("nan")]}', 'result'],
  ['returns half a character', 'return "\\ud800"', 'result'],
  ['returns what contains itself', 'a = []; a.append(a); return a', 'result'],
  ['returns what is nested deeply', 'a = []\n  for _ in range(300): a = [a]\n  return a', 'result'],
  ['returns a key twice', 'return {1: 1, "1": 2}', 'result'],
  ['returns a set', 'return {1, 2}', 'result What evaluate returned cannot be written as JSON: TypeError'],
  [
    'returns what throws',
    'class D(dict):\n    def items(self): raise KeyboardInterrupt\n  return D(a=1)',
    'result',
  ],
  ['returns too much', 'return "x" * 2_000_000', 'output'],
  [
    'tampers with the harness’s words',
    'import json, builtins; json.dumps = json.loads = None; del builtins.callable; return [1]',
    [1],
  ],
  [
    'tampers with the harness’s modules',
    'import traceback, inspect; traceback.extract_tb = None; return [2]',
    [2],
  ],
  ['leaves a finalizer', 'class F:\n    def __del__(self): raise SystemExit\n  F(); return 1', 1],
]

/** Goes round the curtain and gets hold of the bridge to JavaScript, and of pyodide itself on the other side. */
const BEYOND = `
import gc, os, sys
for name in ("pyodide", "_pyodide", "_pyodide_core", "js", "pyodide_js"): sys.modules.pop(name, None)
import _pyodide_core as core
loaders = [it for it in gc.get_objects() if type(it).__name__ == "JsLoader"]
pyodide = next(it.jsproxy for it in loaders if "mountNodeFS" in dir(it.jsproxy))
def evaluate(way, path=None):
    if way == "see": return str(core.to_js([1]).constructor.constructor)
    if way == "code": return core.to_js([1]).constructor.constructor("return process")()
    if way == "wait": return core.run_sync(pyodide.loadPackage("http://127.0.0.1/a.whl"))
    pyodide.mountNodeFS("/home/host", path)
    return os.listdir("/home/host")
`

describe('sandbox: Python', () => {
  let sandbox: TestSandbox
  before(() => {
    process.env['SECRET'] = 'shown'
    sandbox = testSandbox({ resultBytes: 1024 ** 2 })
  })
  after(() => {
    delete process.env['SECRET']
    return sandbox.close()
  })

  const ECHO = 'def evaluate(it):\n  return it'

  it('passes JSON in and out exactly', async () => {
    const value: Json = [
      'Grüße, 世界 🙂',
      new ExactNumber('1.0'),
      new ExactNumber('12345678901234567890'),
      0.1,
      null,
      true,
      new ExactObject([
        ['__proto__', 1],
        ['10', 1],
        ['2', {}],
      ]),
    ]
    expect(stringifyJson(await sandbox.call('python', ECHO, [value]))).to.equal(stringifyJson(value))
  })

  it('answers undefined for None, lists for tuples, and awaits what is ready', async () => {
    const script =
      'async def evaluate(it):\n  return None if it is None else (it, await later(it))\nasync def later(it):\n  return it + 1'
    expect(await sandbox.call('python', script, [null])).to.equal(undefined)
    expect(await sandbox.call('python', script, [1])).to.deep.equal([1, 2])
    const waits = 'import asyncio\nasync def evaluate():\n  await asyncio.Future()'
    expect((await sandbox.failure('python', waits)).kind).to.equal('exception')
  })

  it('has the standard library, and globals of its own in each call', async () => {
    const script = `import re, math, statistics, difflib
seen = globals().get("seen", 0) + 1
def evaluate(text):
    global seen
    seen += 1
    return [seen, re.sub("a+", "b", text), math.floor(statistics.mean([1, 2])), difflib.SequenceMatcher(None, "a", "a").ratio()]`
    for (let call = 0; call < 2; call++)
      expect(stringifyJson(await sandbox.call('python', script, ['caat']))).to.equal('[2,"cbt",1,1.0]')
  })

  it('draws other random numbers in another interpreter', async () => {
    const script = 'import random\ndef evaluate():\n  return random.random()'
    const one = await sandbox.call('python', script, [], 'one')
    expect(await sandbox.call('python', script, [], 'two')).not.to.deep.equal(one)
  })

  it('says where an exception came from, in lines of the script', async () => {
    const script = 'def inner(x):\n  return 1 / x\n\ndef evaluate():\n  return inner(0)'
    const failure = await sandbox.failure('python', script)
    expect([failure.kind, failure.message]).to.deep.equal([
      'exception',
      'ZeroDivisionError: division by zero',
    ])
    expect(failure.stacktrace?.filter((line) => !line.includes('~'))).to.deep.equal([
      '  File "script.py", line 5, in evaluate',
      '    return inner(0)',
      '  File "script.py", line 2, in inner',
      '    return 1 / x',
      'ZeroDivisionError: division by zero',
    ])
  })

  it('says where a script cannot be read, and that it has no such function', async () => {
    const failure = await sandbox.failure('python', 'def evaluate()\n  return 1')
    expect([failure.kind, failure.message, failure.stacktrace?.[0]]).to.deep.equal([
      'syntax',
      "SyntaxError: expected ':'",
      '  File "script.py", line 1',
    ])
    expect((await sandbox.failure('python', 'evaluate = 1')).kind).to.equal('entry')
  })

  describe('what gets out of it', () => {
    const functions = ATTEMPTS.map(([, body], index) => `def attempt_${index}():\n  ${body}`)
    const script = `${functions.join('\n')}\ndef evaluate(index):\n  return globals()[f"attempt_{index}"]()`

    for (const [index, [name, , outcome]] of ATTEMPTS.entries())
      it(`a script that ${name} is contained`, async () => {
        if (typeof outcome === 'string') {
          const { kind, message, stacktrace = [] } = await sandbox.failure('python', script, [index])
          expect(`${kind} ${message}`.slice(0, outcome.length), message).to.equal(outcome)
          expect(message.length).to.be.lessThan(3000)
          expect(stacktrace.join('\n')).not.to.match(/node_modules|file:/)
        } else expect(await sandbox.call('python', script, [index])).to.deep.equal(outcome)
        expect(await sandbox.call('python', ECHO, [[1]])).to.deep.equal([1])
      })

    it('a script that gets hold of the bridge finds nothing on the other side', async () => {
      expect(await sandbox.call('python', BEYOND, ['see'])).to.equal('function Function() { [native code] }')
      for (const [way, path, message] of [
        ['code', null, 'EvalError: Code generation from strings disallowed'],
        ['wait', null, 'RuntimeError: '],
        ['mount', '/', "hostPath '/' does not exist"],
        ['mount', dirname(import.meta.filename), 'does not exist'],
      ] as const) {
        const failure = await sandbox.failure('python', BEYOND, [way, path])
        expect(failure.kind).to.equal('exception')
        expect(failure.message).to.contain(message)
        expect(failure.stacktrace?.join()).not.to.contain('node_modules')
      }
    })

    for (const [name, script] of [
      ['os._exit', 'import os\ndef evaluate():\n  os._exit(0)'],
      ['os.abort', 'import os\ndef evaluate():\n  os.abort()'],
      ['a signal', 'import os, signal\ndef evaluate():\n  os.kill(os.getpid(), signal.SIGKILL)'],
      ['the shell', 'import os\ndef evaluate():\n  return os.system("id")'],
      [
        'all of the stack',
        'import sys\ndef evaluate():\n  sys.setrecursionlimit(10**8)\n  def f(): return f()\n  return f()',
      ],
    ] as const)
      it(`a script that breaks its interpreter by ${name} breaks no other`, async () => {
        expect((await sandbox.failure('python', script)).kind).to.equal('exception')
        expect(await sandbox.call('python', ECHO, [2])).to.equal(2)
      })

    it('a script that takes all memory is told so by Python, before anything has to be killed', async () => {
      for (const body of [
        'a = []\n  while True: a.append(bytearray(10_000_000))',
        'return len("x" * (2**31 - 1))',
      ]) {
        const { kind, message } = await sandbox.failure('python', `def evaluate():\n  ${body}`)
        expect([kind, message]).to.deep.equal(['memory', 'The script took more memory than scripts have.'])
      }
      expect(await sandbox.call('python', ECHO, [2])).to.equal(2)
    })
  })
})
