import { createRequire, syncBuiltinESMExports } from 'node:module'

/**
 * Removes everything harmful from this process's JavaScript, in case a script escapes from the interpreter: all globals except the language's
 * own and those that pyodide needs at run time, and all functions of Node's modules. The process's flags already forbid files, child
 * processes, add-ons and code from strings. This blocks the network, for which Node 20 has no flag, and protects the rest a second time.
 */
export function hardenRealm(): void {
  const require = createRequire(import.meta.url)
  const modules = MODULES.map((name) => require(`node:${name}`) as object)
  for (const module of modules) disarm(module)
  syncBuiltinESMExports()
  for (const name of POWERS) Reflect.deleteProperty(process, name)
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!KEPT.has(name)) Reflect.deleteProperty(globalThis, name)
  Object.defineProperty(globalThis, 'console', { value: QUIET })
}

/** Modules that reach out of the process; all others use these. */
const MODULES = [
  'child_process',
  'dgram',
  'dns',
  'dns/promises',
  'fs',
  'fs/promises',
  'inspector',
  'module',
  'net',
  'tls',
  'vm',
  'worker_threads',
]

const POWERS = [
  'binding',
  '_linkedBinding',
  'dlopen',
  'getBuiltinModule',
  'mainModule',
  'env',
  'chdir',
  'report',
]

/** The language's own globals, and those that pyodide uses at run time: text codecs, random bytes, clocks. */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
  AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON Math Intl ArrayBuffer
  Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array Uint8ClampedArray BigUint64Array
  BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef Proxy Reflect FinalizationRegistry decodeURI
  decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN Iterator SharedArrayBuffer Atomics
  TextEncoder TextDecoder crypto performance`.split(/\s+/),
)

const QUIET = Object.freeze({ log: refuseQuietly, warn: refuseQuietly, error: refuseQuietly })

/** Replaces every function of a module and of its classes. */
function disarm(module: object): void {
  for (const [holder, key] of functionsOf(module)) {
    const inner = (Reflect.get(holder, key) as { readonly prototype?: object }).prototype
    if (inner) for (const [prototype, method] of functionsOf(inner)) replace(prototype, method)
    replace(holder, key)
  }
}

function functionsOf(holder: object): [object, string][] {
  return Object.entries(Object.getOwnPropertyDescriptors(holder))
    .filter(([key, { value }]) => key !== 'constructor' && typeof value === 'function')
    .map(([key]) => [holder, key])
}

function replace(holder: object, key: string): void {
  Reflect.defineProperty(holder, key, { value: refuse, writable: false, configurable: false })
}

function refuse(): never {
  throw new TypeError('Scripts reach no files and no network.')
}

function refuseQuietly(): void {}
