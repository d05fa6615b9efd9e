import type { JsonObject } from '../../json/json.ts'
import type { DocumentReader } from './accept-document.ts'
import { damaged } from './damaged.ts'
import { decodeJsonFile } from './json-file.ts'
import { ProblemCollector } from './problem-collector.ts'

/**
 * The document in a JSON file, which git may have brought, by the reader that also takes what clients send. What that would
 * not store is refused with `damaged_repository` naming the file and each place; `what` is what the sentence calls it.
 */
export function decodeDocument(path: string, bytes: Buffer, what: string, read: DocumentReader): JsonObject {
  const problems = new ProblemCollector([])
  const document = read(decodeJsonFile(path, bytes, what), problems)
  const refusal = problems.refusal('damaged_repository')
  if (refusal) throw damaged(`${path}: ${refusal.message}.`)
  return document
}
