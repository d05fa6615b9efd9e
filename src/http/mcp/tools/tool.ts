import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import {
  getKey,
  getPath,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type PlainObject,
  withKey,
} from '../../../base/json.ts'
import type { Rest } from '../rest.ts'
import { given, shortRecord } from '../short-record.ts'
import type { ToolGroup } from '../tool-groups.ts'

/** A tool of MCP: what agents are told of it, and its work over the REST interface. */
export interface Tool {
  readonly name: string
  readonly group: ToolGroup
  readonly title: string
  readonly description: string
  /** Closed: an unknown argument is refused. */
  readonly input: z.ZodType
  /** What it does beside reading: `adds` leaves all that was there, `replaces` changes what is used now, `runs` calls models. */
  readonly effect?: 'adds' | 'replaces' | 'runs'
  /** Answers a short record. Throws a `Refusal` for arguments that contradict each other, and a `RestFailure`. */
  run(input: never, rest: Rest): Promise<JsonObject>
}

/** A tool whose `run` takes what its own schema makes of the arguments. */
export function tool<Input extends z.ZodType>(
  it: Omit<Tool, 'run' | 'input'> & {
    readonly input: Input
    run(input: z.output<Input>, rest: Rest): Promise<JsonObject>
  },
): Tool {
  return it
}

export const SLUG = z.string().min(1).max(256)
export const VERSION_NUMBER = z.int().min(1).describe('The number of a version, counted in its variant')
export const fields = z
  .array(z.string().min(1).max(500))
  .min(1)
  .max(50)
  .optional()
  .describe('Only these fields of each record; dots lead inside: data.parameters. Without it: the usual ones')
export const next = z
  .string()
  .max(500)
  .optional()
  .describe('The `next` of the answer before, for the page after it')
export const object = z
  .custom<JsonObject>((value) => isJsonObject(value as Json), 'must be an object')
  .meta({ type: 'object' })

export function limit(usual: number) {
  return z.int().min(1).max(100).default(usual).describe('How many at most')
}

/** The arguments that name an artifact, and of its versions which one. */
export const NAMED = {
  name: SLUG.describe('The slug, such as support-bot'),
  environment: SLUG.optional().describe('The version that this environment runs: production'),
  version: VERSION_NUMBER.optional(),
  variant: SLUG.optional().describe('The latest version of this variant, or the variant of `version`'),
  fields,
}

export interface Named {
  readonly name: string
  readonly environment?: string | undefined
  readonly version?: number | undefined
  readonly variant?: string | undefined
}

/** What the body of a request names for these arguments; `word` is the surface's: `application`. */
export function references(word: string, { name, environment, version, variant }: Named): PlainObject {
  if (environment !== undefined && (version !== undefined || variant !== undefined))
    throw new Refusal(
      'invalid_request',
      'environment: an environment runs one version. Leave version and variant out, or the environment.',
    )
  return given({
    [`${word}_ref`]: { slug: name },
    [`${word}_variant_ref`]: variant === undefined ? undefined : { slug: variant },
    [`${word}_revision_ref`]: version === undefined ? undefined : { version },
    environment_ref: environment === undefined ? undefined : { slug: environment },
  })
}

/** References for routes that take no environment: the revision that it runs, by its id. */
export async function atRevision(rest: Rest, word: string, named: Named): Promise<PlainObject> {
  if (named.environment === undefined) return references(word, named)
  return { [`${word}_revision_ref`]: { id: idOf(await retrieve(rest, word, named)) } }
}

/** The revision that the arguments name; `beside` are other members of the request. */
export async function retrieve(
  rest: Rest,
  word: string,
  named: Named,
  beside: PlainObject = {},
): Promise<JsonObject> {
  const answer = await rest.post(`/${word}s/revisions/retrieve`, { ...references(word, named), ...beside })
  return record(answer, `${word}_revision`)
}

/** The record under this name. Refuses an answer without one: an artifact may have no version yet. */
export function record(answer: JsonObject, name: string): JsonObject {
  const found = getKey(answer, name)
  if (isJsonObject(found)) return found
  throw new Refusal('invalid_request', 'There is no version yet: nothing has been committed there.')
}

export function idOf(revision: JsonObject | undefined): string {
  return String(revision && getKey(revision, 'id'))
}

/** The items of a list inside of an answer; none where there is no list. */
export function listIn(value: Json, ...path: readonly string[]): readonly Json[] {
  const list = getPath(value, ...path)
  return isJsonArray(list) ? list : []
}

/** A page of short records under `name`, with the `next` of the page after it. */
export function page(
  answer: JsonObject,
  name: string,
  asked: readonly string[] | undefined,
  usual: readonly string[],
  rows: readonly Json[] = listIn(answer, name),
): PlainObject {
  const short = rows.map((row) => (isJsonObject(row) ? shortRecord(row, asked, usual) : row))
  return given({ [name]: short, next: getPath(answer, 'windowing', 'next') })
}

/** The record that a write made, with the `warnings` and `deployments` of the answer. */
export function written(
  answer: JsonObject,
  name: string,
  asked: readonly string[] | undefined,
  usual: readonly string[] = COMMITTED,
): JsonObject {
  const short = shortRecord(record(answer, name), asked, usual)
  return ['deployments', 'warnings'].reduce((all, key) => {
    const value = getKey(answer, key)
    return value === undefined ? all : withKey(all, key, value)
  }, short)
}

const COMMITTED = ['version', 'variant_slug', 'id', 'subject']

/** What an evaluation is of, how far it is and what it came to. */
export const EVALUATION = [
  ...['id', 'state', 'rows', 'summary'],
  ...['testset.revision_slug', 'application.revision_slug'],
]
