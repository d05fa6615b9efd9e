/**
 * The JavaScript that calls scripts, evaluated in a context before the script has a say. `call(entry, args)`; `write(value, bytes)`
 * is the JSON text of a value, undefined for undefined, false for a text that is too long; `describe(error)` is the JSON text of
 * what was thrown and its stack.
 */
export const JAVASCRIPT_HARNESS = `'use strict';
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
