import type { TreeEntry } from '../../git/objects/tree.ts'
import { isLight } from '../../json/is-light.ts'
import { printHeavy } from '../../json/print-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { DocumentLimits } from './document-limits.ts'
import type { ObjectSink } from './tree-files.ts'
import { writeFile } from './tree-files.ts'

/**
 * The bytes of a file that holds a value as people read it (interface 15.5): two-space JSON, keys in their order, a newline. Deep values grow a
 * hundredfold by that; a text that would be longer than `maxBytes` is written on one line, whoever writes it. (Then it may be
 * longer all the same.)
 */
export async function jsonFileBytes(
  value: object,
  { maxBytes }: Pick<DocumentLimits, 'maxBytes'>,
): Promise<Buffer> {
  const indented = isLight(value)
    ? Buffer.from(`${stringifyJson(value, 2)}\n`)
    : await printHeavy(value, { indent: 2, ending: '\n', maxBytes })
  if (indented !== undefined && indented.length <= maxBytes) return indented
  return printHeavy(value, { ending: '\n' }) as Promise<Buffer> // without a limit there always are some
}

/** Writes such a file and answers the tree entry that names it. */
export async function writeJsonFile(
  sink: ObjectSink,
  name: string,
  value: object,
  limits: DocumentLimits,
): Promise<TreeEntry> {
  return writeFile(sink, name, await jsonFileBytes(value, limits))
}
