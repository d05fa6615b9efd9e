import { CacheFile } from '../../storage/cache-file.ts'
import { isOnChain } from '../../git/history/first-parent-history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { MissingRef } from './missing-refs.ts'
import type { Finding } from './finding.ts'
import { damage, derived } from './finding.ts'

/** The name of the record beside a repository. */
export const VERIFIED_HEADS_FILE = 'verified-heads'

/**
 * Compares an artifact with what the last verification saw: every branch and `refs/meta/artifact` must hold its recorded head
 * on its first-parent chain, or revisions that clients know have gone or have other versions now; tags must stand where they
 * stood. Where nothing is wrong, what is seen now becomes the record. `missing` are refs that can be put back where
 * they were, which is told elsewhere.
 *
 * The record is the file `verified-heads`, lines of `<commit> <ref>` and a checksum. It is no part of the repository: clones do
 * not have it, and the first verification of a repository only writes it. Deleting it is how a rewrite that was meant is accepted.
 */
export async function verifyHeads(
  artifact: ArtifactView,
  missing: readonly MissingRef[],
): Promise<readonly Finding[]> {
  const { repository } = artifact
  const file = recordOf(artifact)
  const seen = file.read()
  const now = encodeHeads(artifact)
  if (!seen && repository.fs.stat(file.path)) {
    const rewrite = async (): Promise<string> => {
      file.write(now)
      return `wrote ${VERIFIED_HEADS_FILE} anew`
    }
    return [derived(`${VERIFIED_HEADS_FILE} is damaged; what was verified before is not known.`, rewrite)]
  }
  const findings: Finding[] = []
  for (const [ref, oid] of seen ? decodeHeads(seen) : []) {
    if (missing.some((it) => it.ref === ref && it.target === oid)) continue
    const problem = await problemOf(artifact, ref, oid)
    if (problem !== undefined) findings.push(damage(`${problem} ${remedy(ref, oid)}`))
  }
  if (findings.length === 0 && missing.length === 0 && !seen?.equals(now)) file.write(now)
  return findings
}

/** The refs that the last verification saw, and the commits they held; none if there was no verification. */
export function recordedHeads(artifact: ArtifactView): ReadonlyMap<string, Oid> {
  return new Map(decodeHeads(recordOf(artifact).read() ?? Buffer.alloc(0)))
}

function recordOf({ repository: { fs, path } }: ArtifactView): CacheFile {
  return new CacheFile(fs, `${path}/${VERIFIED_HEADS_FILE}`)
}

/** What became of a ref that held this commit. */
async function problemOf(
  { repository, source }: ArtifactView,
  ref: string,
  before: Oid,
): Promise<string | undefined> {
  const now = source.refs.refs.get(ref)
  if (now === before) return undefined
  if (now === undefined) return `${ref} is gone; it was at ${before}.`
  if (ref.startsWith(TAGS)) return `${ref} was moved from ${before} to ${now}.`
  const { history } = repository
  // A commit that was pruned is on no chain.
  const isKept =
    (await repository.objects.has(before)) && isOnChain(await history.node(before), await history.node(now))
  return isKept
    ? undefined
    : `The history of ${ref} was rewritten or renumbered: its first-parent chain does not hold ${before} any more.`
}

function remedy(ref: string, before: Oid): string {
  return `Put it back (git update-ref ${ref} ${before}; fetch it from a mirror if it is missing), or, if it was meant, delete ${VERIFIED_HEADS_FILE}.`
}

const TAGS = 'refs/tags/'

function encodeHeads({ source }: ArtifactView): Buffer {
  const lines = [...source.refs.refs]
    .filter(([ref]) => /^refs\/(heads|tags|meta)\//.test(ref))
    .map(([ref, oid]) => `${oid} ${ref}\n`)
    .sort()
  return Buffer.from(lines.join(''))
}

function* decodeHeads(content: Buffer): Generator<readonly [string, Oid]> {
  for (const line of content.toString('utf8').split('\n')) {
    const [oid = '', ref = ''] = line.split(' ')
    if (ref !== '') yield [ref, oid]
  }
}
