import type { Json, JsonObject } from '../../json/json.ts'
import { damaged } from './damaged.ts'
import { decodeJsonFile } from './decode-json-file.ts'
import { ProblemCollector } from './problem-collector.ts'
import { assertKnownFormat } from './stored-format.ts'

/**
 * The document in a JSON file, which git may have brought, by the reader that also takes what clients send. What that would
 * not store is refused with `damaged_repository` naming the file and each place, a format of later servers with `unsupported_format`;
 * `what` is what the sentence calls it.
 */
export async function decodeDocument(
  path: string,
  bytes: Buffer,
  what: string,
  read: (value: Json, problems: ProblemCollector) => JsonObject | Promise<JsonObject>,
  maxValues?: number,
): Promise<JsonObject> {
  const problems = new ProblemCollector([])
  const object = await decodeJsonFile(path, bytes, what, maxValues)
  assertKnownFormat(path, object)
  const document = await read(object, problems)
  const refusal = problems.refusal('damaged_repository')
  if (refusal) throw damaged(`${path}: ${refusal.message}.`)
  return document
}
