import type { Json, JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import { ProblemCollector } from './problem-collector.ts'

/** What a family stores of a value, and, among the problems, what keeps it from being stored. */
export type DocumentReader = (value: Json, problems: ProblemCollector) => JsonObject

/** A value that a client sent, as `read` would store it; refuses with every problem at its place below `loc`. */
export function acceptDocument(
  value: Json,
  loc: readonly (string | number)[],
  read: DocumentReader,
): AcceptedDocument {
  const problems = new ProblemCollector(loc)
  const data = read(value, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return { data, warnings: [] }
}
