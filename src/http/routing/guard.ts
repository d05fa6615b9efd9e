import type { z } from 'zod'
import type { FieldProblem } from '../../errors.ts'
import { Refusal } from '../../errors.ts'
import {
  MOST_LISTED,
  boundedProblem,
  refusalCode,
  UNKNOWN_KEY,
} from '../../resources/documents/problems-refusal.ts'

/**
 * Parses a part of a request by its schema, or refuses with `invalid_request` (422) listing every problem (of very many, the first hundred)
 * with its place: `where` is `body`, `path` or `query`. Fields that are `unknown` are problems, too, and make it `unknown_field`.
 */
export function guard<T>(
  schema: z.ZodType<T>,
  value: unknown,
  where: 'body' | 'path' | 'query',
  unknown: readonly FieldProblem[] = [],
): T {
  const result = schema.safeParse(value)
  if (result.success && unknown.length === 0) return result.data
  const issues = result.error?.issues ?? []
  const places = new Set(unknown.map(({ loc }) => JSON.stringify(loc)))
  const invalid = issues
    .slice(0, MOST_LISTED)
    .flatMap((issue) => problemsOf(issue, where))
    .filter(({ loc }) => !places.has(JSON.stringify(loc)))
  const errors = [...unknown, ...invalid]
  const listed = errors.slice(0, MOST_LISTED).map(boundedProblem)
  const sentences = listed.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)
  const more = errors.length - listed.length + Math.max(0, issues.length - MOST_LISTED)
  if (more > 0) sentences.push(`and ${more} more problems`)
  throw new Refusal(refusalCode('invalid_request', listed), ended(sentences.join('; ')), { errors: listed })
}

function problemsOf(issue: z.core.$ZodIssue, where: string): FieldProblem[] {
  const loc = [where, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, key],
      msg: `there is no such field here; remove it`,
      type: UNKNOWN_KEY,
    }))
  }
  const type =
    issue.code === 'custom' && typeof issue.params?.['type'] === 'string' ? issue.params['type'] : issue.code
  return [{ loc, msg: inWordsOfJson(issue.message.replace(/^Invalid input: /, '')), type }]
}

/** Names the classes that stand for exact JSON the way the sender knows them. */
function inWordsOfJson(message: string): string {
  return message
    .replace(/ExactNumber$/, 'a number that is out of range or too exact')
    .replace(/ExactObject$/, 'object')
}

/** The text with a full stop, unless it ends with a question. */
function ended(text: string): string {
  return text.endsWith('?') ? text : `${text}.`
}
