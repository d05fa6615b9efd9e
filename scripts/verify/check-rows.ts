import type { Oid } from '../../src/git/object.ts'
import type { ObjectStore } from '../../src/git/object-store.ts'
import { canonicalJson } from '../../src/json/canonical-json.ts'
import { Refusal } from '../../src/errors.ts'
import { decodeRowFolder } from '../../src/resources/testsets/row-folder.ts'
import { DEEPEST_POSITION, positionPath } from '../../src/resources/testsets/row-position.ts'
import { decodeRow, dedupIdOf } from '../../src/resources/testsets/stored-row.ts'
import { readBlobs, rowBytesOf } from '../../src/resources/testsets/stored-rows.ts'
import { asStored } from '../../src/resources/testsets/testset-payload.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { readBytes } from '../../src/versioning/tree-files.ts'
import type { PayloadCheck } from '../../src/versioning/verify-revisions.ts'

/**
 * A check of a testset's rows (design 1), for the revisions of one repository one after the other: each row file must hold the
 * canonical JSON of an object and one newline, or its id would not be the hash of its content, and so must what lies beside it.
 * A folder that an earlier revision had is not looked at again. Dedup ids must be there and unique in what a branch or tag names.
 */
export function rowCheck(): PayloadCheck {
  const seen = new Set<string>()
  return async (objects, payload, { isTip }) => {
    const { tree } = asStored(payload)
    if (tree === undefined) return []
    const problems: string[] = []
    await checkFolder({ objects, seen, problems }, tree, '')
    if (isTip && problems.length === 0) problems.push(...(await repeatedDedupIds(objects, tree)))
    return problems
  }
}

interface Look {
  readonly objects: ObjectStore
  /** Folders by how deep they hang, and blobs. */
  readonly seen: Set<string>
  readonly problems: string[]
}

async function checkFolder(look: Look, tree: Oid, prefix: string): Promise<void> {
  const { objects, seen, problems } = look
  const key = `${prefix.length} ${tree}`
  if (seen.has(key) || prefix.length >= DEEPEST_POSITION) return
  seen.add(key)
  const folder = decodeRowFolder(await readBytes(objects, tree, 'tree'))
  const files: { readonly path: string; readonly oid: Oid }[] = []
  for (let byte = 0; byte < 256; byte++) {
    const position = prefix + String.fromCharCode(byte)
    const [row, meta] = [folder.rows[byte], folder.metas[byte]]
    if (row !== undefined) files.push({ path: `${positionPath(position)}.json`, oid: row })
    if (row !== undefined && meta !== undefined)
      files.push({ path: `${positionPath(position)}.meta.json`, oid: meta })
  }
  const fresh = files.filter(({ oid }) => !seen.has(oid))
  const blobs = await readBlobs(
    objects,
    fresh.map(({ oid }) => oid),
  )
  for (const [index, { path, oid }] of fresh.entries()) {
    seen.add(oid)
    const problem = problemOf(blobs[index] ?? Buffer.alloc(0))
    if (problem !== undefined)
      problems.push(`testcases/${path} ${problem}. Commit it in canonical form (RFC 8785 and one newline).`)
  }
  for (const [byte, below] of folder.folders.entries())
    if (below !== undefined) await checkFolder(look, below, prefix + String.fromCharCode(byte))
}

/** What is wrong with the bytes of a row, or of what lies beside one. */
function problemOf(bytes: Buffer): string | undefined {
  try {
    const data = decodeRow(bytes)
    return bytes.equals(Buffer.from(`${canonicalJson(data)}\n`)) ? undefined : 'is not canonical'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `does not decode (${whyNot(bytes)})`
  }
}

function whyNot(bytes: Buffer): string {
  try {
    parseJson(bytes.toString('utf8'))
    return 'no object'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function repeatedDedupIds(objects: ObjectStore, tree: Oid): Promise<string[]> {
  const paths = new Map<string, string>()
  const problems: string[] = []
  for await (const batch of rowBytesOf(objects, tree)) {
    for (const { row, data } of batch) {
      const path = `testcases/${positionPath(row.position)}.json`
      const dedupId = dedupIdOf(decodeRow(data))
      const other = dedupId === undefined ? undefined : paths.get(dedupId)
      if (dedupId === undefined) problems.push(`${path} has no dedup id.`)
      else if (other !== undefined) problems.push(`${other} and ${path} have the same dedup id "${dedupId}".`)
      else paths.set(dedupId, path)
    }
  }
  return problems
}
