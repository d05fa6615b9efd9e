import type { FieldProblem } from '../../errors.ts'
import {
  entriesOf,
  getKey,
  isJsonObject,
  keysOf,
  numberOf,
  type Json,
  type JsonObject,
} from '../../json/json.ts'
import type { Warning } from '../../versioning/family/family.ts'
import { typeName } from '../documents/type-name.ts'

/** More than any server takes; each is answered with a warning several times as long. */
const MOST_HEADERS = 1000

/**
 * What is wrong with a `data.headers` that a client sent (interface 7.8). A name must be one HTTP allows; a
 * value is a string HTTP allows, a reference object, or `{"secret": "NAME"}`. A value that is null counts as absent.
 */
export function headersProblems(headers: Json, loc: readonly (string | number)[]): readonly FieldProblem[] {
  if (!isJsonObject(headers)) {
    return [{ loc, msg: `headers must be an object, but it is ${typeName(headers)}`, type: 'object_type' }]
  }
  const members = entriesOf(headers)
  if (members.length > MOST_HEADERS) {
    const msg = `headers must be at most ${MOST_HEADERS}, but there are ${members.length}`
    return [{ loc, msg, type: 'too_long' }]
  }
  return members.flatMap(([name, value]): readonly FieldProblem[] => {
    if (value === null) return []
    const place = [...loc, name]
    const quoted = JSON.stringify(name)
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      const msg = `${quoted} cannot be the name of an HTTP header; use letters, digits and hyphens`
      return [{ loc: place, msg, type: 'header_name' }]
    }
    const problem = typeof value === 'string' ? literalProblem(value) : objectProblem(value)
    return problem === undefined
      ? []
      : [{ loc: place, msg: `header ${quoted} ${problem}`, type: 'header_value' }]
  })
}

/** One warning for each value that is spelled out: it lies in git, so whoever clones the repository has it. */
export function literalHeaderWarnings(headers: JsonObject): readonly Warning[] {
  return entriesOf(headers)
    .filter(([, value]) => typeof value === 'string')
    .map(([name]) => ({
      code: 'literal_header',
      message: `the value of header "${name}" is stored as it is and goes along with every clone of the repository; if it is a credential, store a secret and send {"secret": "NAME"} instead`,
      target: ['headers', name],
    }))
}

function literalProblem(value: string): string | undefined {
  // tab and the printable characters of Latin-1 are what an HTTP field value may hold
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return undefined
  return 'holds a line break, a control character or a character outside Latin-1, which HTTP cannot carry; encode it'
}

function objectProblem(value: Json): string | undefined {
  if (!isJsonObject(value)) {
    return `must be a string, a reference object or {"secret": "NAME"}, but it is ${typeName(value)}`
  }
  const keys = keysOf(value)
  if (keys.includes('secret')) {
    const name = getKey(value, 'secret')
    if (keys.length > 1) return 'must hold nothing beside "secret"'
    return typeof name === 'string' && name !== ''
      ? undefined
      : 'needs the name of a secret, a string that is not empty'
  }
  return referenceProblem(value)
}

/** The reference object of interface 5.1: by id, by slug, or by slug and version. */
function referenceProblem(value: JsonObject): string | undefined {
  const stray = keysOf(value).find((key) => !['id', 'slug', 'version'].includes(key))
  if (stray !== undefined) {
    return `holds the key "${stray}"; a reference object has id, slug and version, a secret only "secret"`
  }
  const [id, slug, version] = ['id', 'slug', 'version'].map((key) => getKey(value, key) ?? undefined)
  if (id === undefined && slug === undefined) return 'names nothing; a reference object needs an id or a slug'
  if (id !== undefined && !(typeof id === 'string' && UUID.test(id))) return 'has an id that is not a UUID'
  if (slug !== undefined && !(typeof slug === 'string' && slug !== ''))
    return 'has a slug that is not a string'
  if (version === undefined) return undefined
  const number = typeof version === 'string' && /^\d+$/.test(version) ? Number(version) : numberOf(version)
  return Number.isSafeInteger(number) && Number(number) >= 1
    ? undefined
    : 'has a version that is not 1, 2, 3 …'
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
