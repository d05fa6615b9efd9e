import {
  getQuickJS,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  Scope,
} from 'quickjs-emscripten'
import { type ScriptReply, MESSAGE_TAGS, type ReportedFailure, type ScriptInterpreter } from './messages.ts'
import type { StripTypes } from './strip-types.ts'

export interface JavaScriptStart {
  /** Whether scripts are TypeScript. */
  readonly isTyped: boolean
  readonly memoryBytes: number
  readonly resultBytes: number
}

/**
 * Starts QuickJS, an engine compiled to WebAssembly, without any host functions. Each call runs the script in a new context, so calls share
 * nothing. A script with `export` is a module, and its functions are its exports.
 */
export async function openJavaScript({
  isTyped,
  memoryBytes,
  resultBytes,
}: JavaScriptStart): Promise<ScriptInterpreter> {
  const stripTypes = isTyped ? (await import('./strip-types.ts')).stripTypes : undefined
  const quickjs = await getQuickJS()
  const engine = quickjs.newRuntime()
  engine.setMemoryLimit(memoryBytes)
  engine.setMaxStackSize(STACK_BYTES)
  let bound: Prepared = { failure: { kind: 'entry', message: 'There is no script.' } }
  return {
    bind: ({ script, entryPoint }) => {
      const prepared = prepare(engine, script, stripTypes)
      bound = 'code' in prepared ? { ...prepared, entryPoint } : prepared
    },
    call: (args) => {
      if ('failure' in bound) return failed(bound.failure)
      const run = { ...bound, args, resultBytes }
      const answer = Scope.withScope((scope) => callOnce(scope, engine, run))
      // an engine that has no memory left for an error throws null
      const isFull = quickjs.getWasmMemory().buffer.byteLength > memoryBytes * 0.75
      return isFull && answer.text === THROWN_NULL ? failed(OUT_OF_MEMORY) : answer
    },
  }
}

/** The engine's own stack; the host's stack, on which it runs, has a megabyte. */
const STACK_BYTES = 256 * 1024

type Prepared = BoundCode | { readonly failure: ReportedFailure }

interface BoundCode {
  readonly code: string
  readonly file: string
  readonly isModule: boolean
  readonly entryPoint: string
}

interface Run extends BoundCode {
  readonly args: string
  readonly resultBytes: number
}

/** Strips types, and reports syntax errors. */
function prepare(
  engine: QuickJSRuntime,
  script: string,
  stripTypes: StripTypes | undefined,
): Omit<BoundCode, 'entryPoint'> | { readonly failure: ReportedFailure } {
  const stripped = stripTypes ? stripTypes(script) : { code: script }
  if ('failure' in stripped) return stripped
  const { code } = stripped
  const file = stripTypes ? 'script.ts' : 'script.js'
  const isModule = /^\s*export\b/m.test(code)
  return Scope.withScope((scope) => {
    const context = scope.manage(engine.newContext())
    const harness = scope.manage(openHarness(context))
    const read = context.evalCode(code, file, { type: isModule ? 'module' : 'global', compileOnly: true })
    if (!read.error) {
      read.value.dispose()
      return { code, file, isModule }
    }
    const { message, stacktrace } = described(context, harness, scope.manage(read.error))
    return { failure: { kind: 'syntax', message, stacktrace } }
  })
}

function callOnce(scope: Scope, engine: QuickJSRuntime, run: Run): ScriptReply {
  const context = scope.manage(engine.newContext())
  const harness = scope.manage(openHarness(context))
  const thrown = (error: QuickJSHandle): ScriptReply =>
    failed(asFailure(described(context, harness, scope.manage(error))))

  const loaded = context.evalCode(run.code, run.file, { type: run.isModule ? 'module' : 'global' })
  if (loaded.error) return thrown(loaded.error)
  const program = scope.manage(loaded.value)
  const entry = scope.manage(findEntry(context, program, run))
  if (context.typeof(entry) !== 'function')
    return failed({
      kind: 'entry',
      message: `The script defines no function ${run.entryPoint}; define it at the top level.`,
    })
  const args = scope.manage(context.newString(run.args))
  const called = callHarness(context, harness, 'call', entry, args)
  if (called.error) return thrown(called.error)
  const settled = settle(scope, engine, context, scope.manage(called.value))
  if (settled === undefined)
    return failed({ kind: 'result', message: `${run.entryPoint} awaits something that never comes.` })
  if (settled.error) return thrown(settled.error)
  const limit = scope.manage(context.newNumber(run.resultBytes))
  const written = callHarness(context, harness, 'write', settled.value, limit)
  if (written.error) {
    const { message, isMemory } = described(context, harness, scope.manage(written.error))
    if (isMemory) return failed(asFailure({ message, isMemory, stacktrace: undefined }))
    const sentence = `What ${run.entryPoint} returned cannot be written as JSON: ${message}`
    return failed({ kind: 'result', message: sentence })
  }
  const result = scope.manage(written.value)
  if (context.typeof(result) === 'undefined') return { letter: MESSAGE_TAGS.nothing, text: '' }
  if (context.typeof(result) === 'string')
    return { letter: MESSAGE_TAGS.value, text: context.getString(result) }
  const message = `What ${run.entryPoint} returned is longer than ${run.resultBytes} bytes.`
  return failed({ kind: 'output', message })
}

function openHarness(context: QuickJSContext): QuickJSHandle {
  return context.unwrapResult(context.evalCode(JAVASCRIPT_HARNESS, 'harness.js'))
}

function callHarness(
  context: QuickJSContext,
  harness: QuickJSHandle,
  name: 'call' | 'write' | 'describe',
  ...args: QuickJSHandle[]
): ReturnType<QuickJSContext['callFunction']> {
  const method = context.getProp(harness, name)
  const result = context.callFunction(method, context.undefined, ...args)
  method.dispose()
  return result
}

/** The entry point as a handle of the engine; undefined if the script has none. */
function findEntry(
  context: QuickJSContext,
  program: QuickJSHandle,
  { isModule, entryPoint }: BoundCode,
): QuickJSHandle {
  if (isModule) return context.getProp(program, entryPoint)
  if (!/^[A-Za-z_$][\w$]*$/.test(entryPoint)) return context.undefined
  // const and let declare no property of the global object
  const found = context.evalCode(
    `typeof ${entryPoint} === 'function' ? ${entryPoint} : undefined`,
    'harness.js',
  )
  if (!found.error) return found.value
  found.error.dispose()
  return context.undefined
}

/** The result of a promise after all pending jobs, or the value itself if it is not a promise; undefined if the promise never settles. */
function settle(
  scope: Scope,
  engine: QuickJSRuntime,
  context: QuickJSContext,
  value: QuickJSHandle,
):
  | { readonly error: QuickJSHandle }
  | { readonly error?: undefined; readonly value: QuickJSHandle }
  | undefined {
  const before = context.getPromiseState(value)
  if (before.type === 'fulfilled' && before.notAPromise) return { value }
  if (before.type !== 'pending') disposeState(before)
  engine.executePendingJobs().dispose()
  const state = context.getPromiseState(value)
  if (state.type === 'pending') return undefined
  return state.type === 'fulfilled' ? { value: scope.manage(state.value) } : { error: state.error }
}

function disposeState(state: { readonly value: QuickJSHandle } | { readonly error: QuickJSHandle }): void {
  const handle = 'value' in state ? state.value : state.error
  handle.dispose()
}

interface Description {
  readonly message: string
  readonly stacktrace: readonly string[] | undefined
  readonly isMemory: boolean
}

/** The thrown value in words, with the script's stack trace. */
function described(context: QuickJSContext, harness: QuickJSHandle, error: QuickJSHandle): Description {
  const result = callHarness(context, harness, 'describe', error)
  if (result.error) {
    result.error.dispose()
    return { message: 'The script ran out of memory or stack.', stacktrace: undefined, isMemory: true }
  }
  const [message = '', stack = ''] = JSON.parse(context.getString(result.value)) as string[] // two texts
  result.value.dispose()
  const lines = stack.split('\n').map((line) => line.trim())
  const stacktrace = lines.filter((line) => line.includes('script.')).slice(0, 40)
  return { message, stacktrace, isMemory: message === 'InternalError: out of memory' }
}

const OUT_OF_MEMORY: ReportedFailure = {
  kind: 'memory',
  message: 'The script took more memory than scripts have.',
}

/** The reply to `throw null`. */
const THROWN_NULL = JSON.stringify({ kind: 'exception', message: 'Thrown: null', stacktrace: [] })

function asFailure({ message, stacktrace, isMemory }: Description): ReportedFailure {
  if (isMemory) return OUT_OF_MEMORY
  return { kind: 'exception', message, ...(stacktrace ? { stacktrace } : {}) }
}

function failed(failure: ReportedFailure): ScriptReply {
  return { letter: MESSAGE_TAGS.failure, text: JSON.stringify(failure) }
}

/**
 * The JavaScript that calls scripts, evaluated in a context before the script. `call(entry, args)` calls it. `write(value, bytes)` is the
 * JSON text of a value, undefined for undefined, false if the text is too long. `describe(error)` is the JSON text of the thrown value and
 * its stack.
 */
const JAVASCRIPT_HARNESS = `'use strict';
(({ parse, stringify }, { isFinite }, String, TypeError, { apply }, Error) => {
  const slice = String.prototype.slice
  const cut = (text, length) => apply(slice, String(text), [0, length])
  const finite = (key, value) => {
    if (typeof value === 'number' && !isFinite(value)) throw new TypeError(value + ' is no number of JSON')
    return value
  }
  const text = (read) => { try { return String(read()) } catch { return '' } }
  return {
    call: (entry, args) => apply(entry, undefined, parse(args)),
    write: (value, bytes) => {
      if (value === undefined) return undefined
      const json = stringify(value, finite)
      if (json === undefined) throw new TypeError('it is a ' + typeof value)
      return json.length > bytes ? false : json
    },
    describe: (error) => {
      const isError = text(() => error instanceof Error) === 'true'
      const message = isError
        ? text(() => error.name) + ': ' + text(() => error.message)
        : 'Thrown: ' + (text(() => stringify(error)) || typeof error)
      return stringify([cut(message, 2000), cut(isError ? text(() => error.stack) : '', 20000)])
    },
  }
})(JSON, Number, String, TypeError, Reflect, Error)`
