import { type FieldProblem, Refusal, type RefusalCode } from '../../errors.ts'
import { boundedText, isJsonArray, isJsonObject, type Json, stringifyJson } from '../../base/json.ts'
import { nearestName } from '../../base/suggestions.ts'

/**
 * Collects the problems of a document while it is read from the outside in. It knows the current place, and keeps only the problems that a
 * refusal lists, so that a large body of mistakes costs no more than a valid one.
 */
export class ProblemCollector {
  readonly #place: (string | number)[]
  readonly #listed: FieldProblem[] = []
  #count = 0

  /** `loc` is the document's place in the request. */
  constructor(loc: readonly (string | number)[]) {
    this.#place = [...loc]
  }

  /** Answers what `read` answers; problems added meanwhile belong to the member or item `key` of the current place. */
  below<T>(key: string | number, read: () => T): T {
    this.#place.push(key)
    const result = read()
    this.#place.pop()
    return result
  }

  /** Adds a problem at the current place; a function is only called for a sentence that will be listed. */
  add(msg: string | (() => string), type: string): void {
    this.#count++
    if (this.#listed.length >= MOST_LISTED) return
    this.#listed.push({ loc: [...this.#place], msg: typeof msg === 'string' ? msg : msg(), type })
  }

  /** The problems so far, without those past the limit of a refusal. */
  get listed(): readonly FieldProblem[] {
    return this.#listed
  }

  /** The refusal that names every problem; undefined if there was none. */
  refusal(code: RefusalCode): Refusal | undefined {
    return this.#count === 0 ? undefined : problemsRefusal(code, this.#listed, this.#count)
  }
}

/** The number of problems that a refusal lists. */
export const MOST_LISTED = 100

/**
 * One refusal for all problems of a request: `errors` has the problems, and the message has their sentences, each behind its place. Past a
 * hundred problems the rest is only counted, so that a body of mistakes does not get a much larger answer. `count` is the number of
 * problems, if the list is not complete.
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

/** The type of the problem of an unknown key. */
export const UNKNOWN_KEY = 'extra_forbidden'

/** The type of the problem of a field that the server sets, in a request that cannot set it. */
export const READ_ONLY = 'read_only_field'

/**
 * The code for these problems of a request, so that clients can tell them apart (interface 2.10): `unknown_field` if one is an unknown key,
 * `read_only_field` if one is a field that the server sets.
 */
export function refusalCode(code: RefusalCode, problems: readonly FieldProblem[]): RefusalCode {
  if (code !== 'invalid_request' && code !== 'invalid_delta') return code
  if (problems.some(({ type }) => type === UNKNOWN_KEY)) return 'unknown_field'
  return problems.some(({ type }) => type === READ_ONLY) ? READ_ONLY : code
}

const LONGEST_SENTENCE = 4000
const LONGEST_STEP = 200

/** The problem with long keys of its place and a long sentence cut, because both may quote a part as long as the body. */
export function boundedProblem({ loc, msg, type }: FieldProblem): FieldProblem {
  return {
    loc: loc.map((step) => (typeof step === 'string' ? boundedText(step, LONGEST_STEP) : step)),
    msg: boundedText(msg, LONGEST_SENTENCE),
    type,
  }
}

/**
 * The sentence about an unknown key of an object with a closed shape: a similar key, or the list of keys. `before` is the number of earlier
 * problems; past the limit of a refusal, no similar key is searched.
 */
export function unknownKey(key: string, name: string, keys: readonly string[], before = 0): string {
  const meant = before < MOST_LISTED ? nearestName(key, keys) : undefined
  const remedy = meant === undefined ? `its keys are ${keys.join(', ')}` : `did you mean ${meant}?`
  return `${formatValueForPeople(key)} is not a key of ${name}; ${remedy}`
}

/** A value for use in a sentence: a short text or number unchanged, otherwise its type. */
export function formatValueForPeople(value: Json): string {
  if (isJsonArray(value) || isJsonObject(value)) return typeName(value)
  const text = stringifyJson(value)
  return text.length <= 80 ? text : typeName(value)
}

/** The JSON type of a value with its article, for sentences that say "but it is …". */
export function typeName(value: Json): string {
  if (value === null) return 'null'
  if (isJsonArray(value)) return 'an array'
  if (isJsonObject(value)) return 'an object'
  // the only other object is an ExactNumber
  return typeof value === 'object' ? 'a number' : `a ${typeof value}`
}
