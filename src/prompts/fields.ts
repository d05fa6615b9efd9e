import { type Json, type JsonObject, getKey, isJsonArray, isJsonObject, numberOf } from '../json/json.ts'
import { PromptProblem } from './prompt-problem.ts'

/**
 * The members of an object, read one by one; null and absent are the same. Each method answers undefined for a member that is not
 * there, and throws a `PromptProblem` for one of another type or range.
 */
export class Fields {
  readonly #object: JsonObject
  readonly #path: string

  /** `path` is where `value` is, '' at the top. */
  constructor(value: Json | undefined, path: string) {
    if (!isJsonObject(value)) throw new PromptProblem(path, 'dict', value)
    this.#object = value
    this.#path = path
  }

  /** Where the member is. */
  pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  json(key: string): Json | undefined {
    return getKey(this.#object, key) ?? undefined
  }

  text(key: string): string | undefined {
    const value = this.json(key)
    return value === undefined || typeof value === 'string' ? value : this.refuse(key, 'str')
  }

  flag(key: string): boolean | undefined {
    const value = this.json(key)
    return value === undefined || typeof value === 'boolean' ? value : this.refuse(key, 'bool')
  }

  /** A number from `least` to `most`. */
  number(key: string, least: number, most: number): number | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    const number = numberOf(value)
    return number !== undefined && number >= least && number <= most
      ? number
      : this.refuse(key, `float[${least}, ${most}]`)
  }

  /** A whole number from `least` to `most`. */
  whole(key: string, least: number, most: number): number | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    const number = numberOf(value)
    return number !== undefined && Number.isInteger(number) && number >= least && number <= most
      ? number
      : this.refuse(key, `int[${least}, ${most}]`)
  }

  object(key: string): JsonObject | undefined {
    const value = this.json(key)
    return value === undefined || isJsonObject(value) ? value : this.refuse(key, 'dict')
  }

  /** A list of at most so many items. */
  list(key: string, most = Infinity): readonly Json[] | undefined {
    const value = this.json(key)
    if (value !== undefined && !isJsonArray(value)) return this.refuse(key, 'list')
    return value === undefined || value.length <= most ? value : this.refuse(key, `list[at most ${most}]`)
  }

  /** One of a few words. */
  choice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.json(key)
    if (value === undefined) return undefined
    return choices.find((choice) => choice === value) ?? this.refuse(key, choices.join(' | '))
  }

  /** A member that has to be there, as one of the methods above has read it. */
  required<T>(key: string, value: T | undefined, expected: string): T {
    return value ?? this.refuse(key, expected)
  }

  refuse(key: string, expected: string): never {
    throw new PromptProblem(this.pathOf(key), expected, this.json(key))
  }
}
