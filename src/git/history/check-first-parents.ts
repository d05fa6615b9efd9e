import type { Fs } from '../../storage/files.ts'
import { firstParent } from '../objects/object.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import type { Oid } from '../objects/object.ts'
import { FIRST_PARENTS_FILE, decodeHistory } from './first-parent-history.ts'

/**
 * Checks the cache file `first-parents` against the commits that it lists; commits that git has pruned are skipped. Answers the problem:
 * bytes that are not a record, or a record that a commit contradicts. Undefined if there is no problem or no file.
 */
export async function checkFirstParents(
  fs: Fs,
  gitdir: string,
  objects: ObjectDatabase,
): Promise<string | undefined> {
  const bytes = fs.readFile(`${gitdir}/${FIRST_PARENTS_FILE}`)
  if (!bytes) return undefined
  const depths = new Map<Oid, number>()
  for (const record of decodeHistory(bytes)) {
    if (!record) return 'holds bytes that are no record'
    const { oid, parent, depth } = record
    const commit = await objects.read(oid)
    if (commit && commit.kind !== 'commit') return `tells of ${oid}, which is no commit`
    const before = parent === undefined ? 0 : depths.get(parent)
    // Parents are written before their children. A commit that git has pruned cannot contradict the record.
    const isTrue = !commit || firstParent(commit.bytes) === parent
    if (!isTrue || before === undefined || depth !== before + 1) return `is wrong about commit ${oid}`
    depths.set(oid, depth)
  }
  return undefined
}
