import { CacheFile } from '../../../storage/cache-file.ts'
import { decodeFolderKeys, type FolderKeys } from '../../../resources/testsets/dedup/folder-keys.ts'
import { decodeRowFolder } from '../../../resources/testsets/rows/row-folder.ts'
import { keyOfContent, keyOfDedupId, ROW_KEYS_FILE } from '../../../resources/testsets/dedup/row-keys.ts'
import {
  contentOf,
  decodeRow,
  dedupIdOf,
  encodeContent,
} from '../../../resources/testsets/rows/stored-row.ts'
import { readBlobs } from '../../../resources/testsets/rows/stored-rows.ts'
import type { ArtifactView } from '../../../versioning/artifacts/artifact-view.ts'
import type { Oid } from '../../../git/objects/object.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import type { Finding } from '../../../versioning/verify/finding.ts'
import { derived } from '../../../versioning/verify/finding.ts'

/**
 * Compares the derived file `row-keys` with the rows it tells of. A key too few would let a row be added that is there already,
 * so what disagrees is removed, and made again when it is needed.
 */
export async function checkRowKeys({ repository }: ArtifactView): Promise<readonly Finding[]> {
  const { fs, path, objects } = repository
  const file = new CacheFile(fs, `${path}/${ROW_KEYS_FILE}`)
  if (!fs.stat(file.path)) return []
  const remove = async (): Promise<string> => {
    fs.remove(file.path)
    return `removed ${ROW_KEYS_FILE}; it is made again`
  }
  const content = file.read()
  if (!content) return [derived(`The derived file ${ROW_KEYS_FILE} is damaged.`, remove)]
  for (const [tree, kept] of decodeFolderKeys(content)) {
    // A tree that git has pruned since is asked for by nobody.
    if (!(await objects.has(tree)) || isEqual(kept, await keysIn(objects, tree))) continue
    return [derived(`The derived file ${ROW_KEYS_FILE} is wrong about the rows of the tree ${tree}.`, remove)]
  }
  return []
}

type Objects = ArtifactView['repository']['objects']

async function keysIn(objects: Objects, tree: Oid): Promise<FolderKeys> {
  const folder = decodeRowFolder(await readBytes(objects, tree, 'tree'))
  const bytes = [...folder.rows.keys()].filter((byte) => folder.rows[byte] !== undefined)
  const blobs = await readBlobs(
    objects,
    bytes.map((byte) => folder.rows[byte] ?? ''),
  )
  const keys = blobs.flatMap((blob) => {
    const data = decodeRow(blob)
    return [keyOfContent(encodeContent(contentOf(data)).hash), keyOfDedupId(dedupIdOf(data) ?? '')]
  })
  const folders = folder.folders.flatMap((below, byte): [number, Oid][] => (below ? [[byte, below]] : []))
  return { bytes: Uint8Array.from(bytes), keys: Uint32Array.from(keys), folders }
}

function isEqual(a: FolderKeys, b: FolderKeys): boolean {
  return (
    Buffer.from(a.bytes).equals(b.bytes) &&
    a.keys.length === b.keys.length &&
    a.keys.every((key, index) => key === b.keys[index]) &&
    JSON.stringify(a.folders) === JSON.stringify(b.folders)
  )
}
