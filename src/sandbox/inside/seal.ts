import { createRequire, syncBuiltinESMExports } from 'node:module'

/**
 * Leaves nothing in this process's JavaScript that could do harm, for whoever gets out of the interpreter into it: of the globals only
 * those of the language and what pyodide asks for while it runs; of Node's modules none of the functions. What the process must not
 * do at all (files, children, add-ons, code from strings) its flags forbid; this is for the network, which Node 20 has no flag for, and
 * a second lock on the rest.
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

/** Those that reach out of the process; all others do so through them. */
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

/** The language's own, and what pyodide uses while it runs: text codecs, random bytes, clocks. */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
  AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON Math Intl ArrayBuffer
  Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array Uint8ClampedArray BigUint64Array
  BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef Proxy Reflect FinalizationRegistry decodeURI
  decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN Iterator SharedArrayBuffer Atomics
  TextEncoder TextDecoder crypto performance`.split(/\s+/),
)

const QUIET = Object.freeze({ log: refuseQuietly, warn: refuseQuietly, error: refuseQuietly })

/** Replaces every function of a module, and of the classes in it. */
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
