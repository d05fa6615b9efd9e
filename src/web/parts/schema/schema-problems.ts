import { ExactNumber, membersOf } from '../../api/json.ts'

/** A problem at a path, worded to follow its name. */
export interface SchemaProblem {
  readonly path: readonly (string | number)[]
  readonly msg: string
}

const MOST_PROBLEMS = 50
const DEEPEST = 20

/**
 * The problems that a form can find with a JSON Schema: types, required keys, choices, ranges, lengths, and unknown keys. The server checks the
 * rest, so it may refuse a value that has no problems here.
 */
export function schemaProblems(schema: unknown, value: unknown): readonly SchemaProblem[] {
  const found: SchemaProblem[] = []
  collect(schema, value, [], found)
  return found
}

function collect(schema: unknown, value: unknown, path: SchemaProblem['path'], into: SchemaProblem[]): void {
  if (into.length >= MOST_PROBLEMS || path.length > DEEPEST) return
  const say = (msg: string, at = path): void => void into.push({ path: at, msg })
  const words = chosenOf(membersOf(schema), value)
  if (!words) return
  const types = typesIn(words['type'])
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return say(`must be ${listed(types.map((type) => WORDS[type] ?? type))}`)
  const { enum: choices, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = words
  if (Array.isArray(choices) && !choices.some((choice) => isSame(choice, value)))
    return say(
      `must be one of ${choices
        .slice(0, 20)
        .map((it) => JSON.stringify(it))
        .join(', ')}`,
    )
  if ('const' in words && !isSame(words['const'], value))
    return say(`must be ${JSON.stringify(words['const'])}`)
  if (typeof value === 'number' || value instanceof ExactNumber) {
    const range = { least: numberIn(minimum), most: numberIn(maximum) }
    const problem = problemOfRange(Number(String(value)), range)
    const [above, below] = [numberIn(exclusiveMinimum), numberIn(exclusiveMaximum)]
    if (problem !== undefined) say(problem)
    else if (above !== undefined && Number(String(value)) <= above) say(`must be more than ${above}`)
    else if (below !== undefined && Number(String(value)) >= below) say(`must be less than ${below}`)
  } else if (typeof value === 'string') {
    const [least, most] = [numberIn(words['minLength']), numberIn(words['maxLength'])]
    if (least !== undefined && value.length < least)
      say(value === '' ? 'must not be empty' : `must have at least ${least} characters`)
    if (most !== undefined && [...value].length > most) say(`must have at most ${most} characters`)
  } else if (Array.isArray(value)) {
    const [least, most] = [numberIn(words['minItems']), numberIn(words['maxItems'])]
    if (least !== undefined && value.length < least) say(`must have at least ${least} items`)
    if (most !== undefined && value.length > most) say(`must have at most ${most} items`)
    for (const [at, item] of value.entries()) collect(words['items'], item, [...path, at], into)
  } else if (isPlainObject(value)) collectMembers(words, value, path, into)
}

function collectMembers(
  words: Words,
  value: Words,
  path: SchemaProblem['path'],
  into: SchemaProblem[],
): void {
  const { required, properties, additionalProperties } = words
  const known = membersOf(properties)
  for (const name of Array.isArray(required) ? required : [])
    if (!Object.hasOwn(value, String(name))) into.push({ path: [...path, String(name)], msg: 'is required' })
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(known, name)) collect(known[name], member, [...path, name], into)
    else if (additionalProperties === false && !('patternProperties' in words))
      into.push({ path: [...path, name], msg: 'is not in the schema' })
    else collect(additionalProperties, member, [...path, name], into)
  }
}

type Words = Readonly<Record<string, unknown>>

/** The keywords of a schema; if it offers alternatives, those of the one that matches the value's type. Undefined if that is not clear. */
function chosenOf(words: Words, value: unknown): Words | undefined {
  const several = words['anyOf'] ?? words['oneOf']
  if (!Array.isArray(several)) return words
  const offered = several.map(membersOf)
  if (value === null) return offered.some((it) => typesIn(it['type']).includes('null')) ? undefined : words
  const others = offered.filter((it) => !typesIn(it['type']).includes('null'))
  const [only] = others
  return others.length === 1 && only ? { ...words, ...only } : undefined
}

function typesIn(type: unknown): readonly string[] {
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((it): it is string => typeof it === 'string') : []
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'number':
      return typeof value === 'number' || value instanceof ExactNumber
    case 'integer':
      return value instanceof ExactNumber ? /^-?\d+$/.test(value.text) : Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'object':
      return isPlainObject(value)
    default:
      return typeof value === type
  }
}

function isPlainObject(value: unknown): value is Words {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Why a number is outside of an inclusive range. */
function problemOfRange(
  value: number,
  {
    least = -Infinity,
    most = Infinity,
  }: { readonly least: number | undefined; readonly most: number | undefined },
): string | undefined {
  if (value >= least && value <= most) return undefined
  if (most === Infinity) return `must be at least ${least}`
  return least === -Infinity ? `must be at most ${most}` : `must be from ${least} to ${most}`
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
}
