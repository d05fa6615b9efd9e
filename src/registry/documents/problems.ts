import { type FieldProblem, Refusal, type RefusalCode } from '../../errors.ts'
import { boundedText, isJsonArray, isJsonObject, type Json, stringifyJson } from '../../base/json.ts'
import { nearestName } from '../../base/suggestions.ts'

/**
 * What is wrong with a document, collected while it is read from the outside in. It knows the place that is being read, and
 * keeps only the problems that a refusal names: a large body made of mistakes costs no more than a good one.
 */
export class ProblemCollector {
  readonly #place: (string | number)[]
  readonly #listed: FieldProblem[] = []
  #count = 0

  /** `loc` is the place of the whole document in the request. */
  constructor(loc: readonly (string | number)[]) {
    this.#place = [...loc]
  }

  /** What `read` gives; the problems it adds are those of the member or item `key` of what is being read. */
  below<T>(key: string | number, read: () => T): T {
    this.#place.push(key)
    const result = read()
    this.#place.pop()
    return result
  }

  /** Notes that something is wrong with what is being read; a sentence that takes work is only made where it is listed. */
  add(msg: string | (() => string), type: string): void {
    this.#count++
    if (this.#listed.length >= MOST_LISTED) return
    this.#listed.push({ loc: [...this.#place], msg: typeof msg === 'string' ? msg : msg(), type })
  }

  /** The problems so far, but for those past what a refusal names. */
  get listed(): readonly FieldProblem[] {
    return this.#listed
  }

  /** The refusal that names every problem there was, undefined if there was none. */
  refusal(code: RefusalCode): Refusal | undefined {
    return this.#count === 0 ? undefined : problemsRefusal(code, this.#listed, this.#count)
  }
}

/** How many problems a refusal names. */
export const MOST_LISTED = 100

/**
 * One refusal for everything that is wrong with a request: the problems in `errors`, and their sentences, each behind
 * its place, as the message. Past a hundred the rest is only counted, so that a body made of mistakes is not answered
 * with one many times its size; `count` is how many there are when not all of them are in the list.
 */
export function problemsRefusal(
  code: RefusalCode,
  problems: readonly FieldProblem[],
  count = problems.length,
): Refusal {
  const errors = problems.slice(0, MOST_LISTED).map(boundedProblem)
  const sentences = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  if (errors.length < count) sentences.push(`and ${count - errors.length} more problems`)
  return new Refusal(refusalCode(code, errors), sentences.join('; '), { errors })
}

/** The type of the problem that a key is that nobody reads. */
export const UNKNOWN_KEY = 'extra_forbidden'

/** The type of the problem that a field is that the server makes, in a request that cannot bring one. */
export const READ_ONLY = 'read_only_field'

/**
 * The code for these problems of a request: `unknown_field` if one of them is a key that nobody reads, `read_only_field` if one is the server's, so
 * that clients can tell (interface 2.10).
 */
export function refusalCode(code: RefusalCode, problems: readonly FieldProblem[]): RefusalCode {
  if (code !== 'invalid_request' && code !== 'invalid_delta') return code
  if (problems.some(({ type }) => type === UNKNOWN_KEY)) return 'unknown_field'
  return problems.some(({ type }) => type === READ_ONLY) ? READ_ONLY : code
}

const LONGEST_SENTENCE = 4000
const LONGEST_STEP = 200

/** The problem with long keys of its place, and a long sentence, cut short: either may quote what is as long as a body. */
export function boundedProblem({ loc, msg, type }: FieldProblem): FieldProblem {
  return {
    loc: loc.map((step) => (typeof step === 'string' ? boundedText(step, LONGEST_STEP) : step)),
    msg: boundedText(msg, LONGEST_SENTENCE),
    type,
  }
}

/**
 * The sentence about a key that an object of a closed shape does not have: which was meant, or which there are. Behind `before` other
 * problems that is not looked for any more once nobody would be told.
 */
export function unknownKey(key: string, name: string, keys: readonly string[], before = 0): string {
  const meant = before < MOST_LISTED ? nearestName(key, keys) : undefined
  const remedy = meant === undefined ? `its keys are ${keys.join(', ')}` : `did you mean ${meant}?`
  return `${formatValueForPeople(key)} is not a key of ${name}; ${remedy}`
}

/** A value as a sentence shows it: a short text or number as it was sent, of anything else what it is. */
export function formatValueForPeople(value: Json): string {
  if (isJsonArray(value) || isJsonObject(value)) return typeName(value)
  const text = stringifyJson(value)
  return text.length <= 80 ? text : typeName(value)
}

/** What a value is, in the words of JSON with their article, for sentences that say "but it is …". */
export function typeName(value: Json): string {
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'an array'
  if (isJsonObject(value)) return 'an object'
  // an ExactNumber is the one object left
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`
}
