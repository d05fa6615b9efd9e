import { Refusal } from '../errors.ts'
import { JsonTextError } from '../json/json-text-error.ts'

/**
 * What the door answers when a body is not JSON that can be kept: 400 with line and column for bad syntax, 413 for
 * too many values, 422 with the place for what would be changed in silence (ruling 3.15). Undefined for any other error.
 */
export function refusalOfJson(error: unknown): Refusal | undefined {
  if (!(error instanceof JsonTextError)) return undefined
  const { kind, message, line, column, path } = error
  if (kind === 'syntax')
    return new Refusal('malformed_json', `The body: ${message}`, { details: { line, column } })
  if (kind === 'too_many_values')
    return new Refusal('limit_exceeded', `The body: ${message}`, { details: { line, column } })
  const problem = { loc: ['body', ...path], msg: message, type: kind }
  return new Refusal('invalid_request', `The body: ${message}`, {
    errors: [problem],
    details: { line, column },
  })
}
