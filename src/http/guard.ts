import type { z } from 'zod'
import type { FieldProblem } from '../errors.ts'
import { Refusal } from '../errors.ts'

/**
 * Parses a part of a request by its schema, or refuses with `invalid_request` (422) listing every problem with its place:
 * `where` is `body`, `path` or `query`.
 */
export function guard<T>(schema: z.ZodType<T>, value: unknown, where: 'body' | 'path' | 'query'): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.flatMap((issue) => problemsOf(issue, where))
  const sentence = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
  throw new Refusal('invalid_request', `${sentence}.`, { errors })
}

function problemsOf(issue: z.core.$ZodIssue, where: string): FieldProblem[] {
  const loc = [where, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, key],
      msg: `there is no such field here; remove it`,
      type: 'extra_forbidden',
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
