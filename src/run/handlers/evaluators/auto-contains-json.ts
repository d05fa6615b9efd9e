import { isJsonArray, type Json } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { HandlerDefinition, HandlerRequest } from '../handler.ts'
import { neededOutputs, passed } from '../scoring.ts'

/**
 * Whether a text contains a complete JSON object or array, with anything around it. `NaN` and `Infinity`
 * count as numbers and keys may repeat, as many JSON writers allow.
 *
 * Takes linear time. The first container that closes ends the search, so when an attempt fails, all
 * containers that it opened would fail at the same place, and no attempt begins there again. An attempt that
 * begins inside a string of an earlier one sees strings where that one sees none, so at most two attempts
 * read any one place.
 */
export function containsDocument(text: string): boolean {
  const opened = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if ((char === OPEN_OBJECT || char === OPEN_ARRAY) && opened[at] === 0 && closesFrom(text, at, opened))
      return true
  }
  return false
}

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a

/** What is expected next. A container may close after `first` or `behind`. */
type Next = 'first' | 'value' | 'key' | 'colon' | 'behind'

/** Reads from a `{` or `[` until a container closes, or parsing fails; marks each container it opens. */
function closesFrom(text: string, start: number, opened: Uint8Array): boolean {
  let isObject = false
  let next: Next = 'value'
  let at = start
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (isSpace(char)) at++
    else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (next !== 'value' && !(next === 'first' && !isObject)) return false
      opened[at++] = 1
      isObject = char === OPEN_OBJECT
      next = 'first'
    } else if (char === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return next === 'first' || next === 'behind'
    else if (char === COMMA || char === COLON) {
      if (next !== (char === COMMA ? 'behind' : 'colon')) return false
      next = char === COMMA && isObject ? 'key' : 'value'
      at++
    } else {
      const isKey: boolean = next === 'key' || (next === 'first' && isObject)
      if (next === 'colon' || next === 'behind') return false
      const end = char === QUOTE ? endOfString(text, at) : isKey ? -1 : endOfWord(text, at)
      if (end === -1) return false
      at = end
      next = isKey ? 'colon' : 'behind'
    }
  }
  return false
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

/** The position behind a string's closing quote; -1 if it is malformed. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at + 1
    if (char < 0x20) return -1
    if (char === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) return -1
      at = ESCAPE.lastIndex - 1
    }
  }
  return -1
}

function endOfWord(text: string, start: number): number {
  WORD.lastIndex = start
  return WORD.test(text) ? WORD.lastIndex : -1
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const WORD = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity/y

/**
 * `svc:builtin:auto_contains_json:v0` (interface 11.6): whether the outputs are or contain a complete JSON
 * object or array.
 */
export const autoContainsJson: HandlerDefinition = {
  key: 'auto_contains_json',
  kind: 'builtin',
  schemas: { parameters: closedObject({}), outputs: passed },
  template: {
    name: 'Contains JSON',
    description: 'Passes when there is a JSON object or array somewhere in the output.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  example: { outputs: 'Here it is: {"city":"Paris"}' },
  run,
}

function run(request: HandlerRequest): Json {
  if (isJsonArray(request.outputs)) return { success: true }
  const outputs = neededOutputs(request)
  return { success: typeof outputs !== 'string' || containsDocument(outputs) }
}
