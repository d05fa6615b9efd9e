import { isAboutGitCacheFile, removeGitCacheFiles } from '../../git/maintenance.ts'
import { fsck } from '../../git/program.ts'
import { assertServable } from '../../git/store.ts'
import { type Family, readBytes } from '../../registry/families.ts'
import { pathOf, type Registry } from '../../registry/registries.ts'
import {
  type Finding,
  damage,
  derived,
  findingsOf,
  compareReaders,
  compareSample,
  verifyArtifact,
  type ExpectedMirrors,
  type PayloadCheck,
} from '../../registry/verify.ts'
import type { Oid } from '../../git/objects.ts'
import {
  repeatedDedupIds,
  type RowProblem,
  rowProblems,
  asStored,
  decodeFolderKeys,
  type FolderKeys,
  decodeRowFolder,
  keyOfContent,
  keyOfDedupId,
  ROW_KEYS_FILE,
  contentOf,
  decodeRow,
  dedupIdOf,
  encodeContent,
  readBlobs,
} from '../../registry/testsets.ts'
import { CacheFile } from '../../storage/files.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'

export interface VerifiedRepository {
  /** `<family folder>/<slug>`. */
  readonly repository: string
  readonly revisions: number
  readonly findings: readonly Finding[]
}

export interface RepositoryVerification {
  readonly registry: Registry
  readonly mirrors: ExpectedMirrors
  /** How much of the repository isomorphic-git also reads. */
  readonly secondReader: 'all' | 'sample' | 'nothing'
}

/** Verifies a repository: its format, its bytes, and what the registry reads from it. */
export async function verifyRepository(
  { registry, mirrors, secondReader }: RepositoryVerification,
  { family, slug }: { readonly family: Family; readonly slug: string },
): Promise<VerifiedRepository> {
  const repository = pathOf(family, slug)
  const { store, index } = registry
  const gitdir = store.repository(family.folder, slug).path
  const format = await findingsOf(async () => {
    await assertServable(store.fs, gitdir)
    return []
  })
  // In a wrong format, git could read something else or fail.
  if (format.length > 0) return { repository, revisions: 0, findings: format }
  const bytes = await findingsOf(async () => bytesOf(registry, gitdir))
  let revisions = 0
  const rest = await findingsOf(async () => {
    const artifact = await index.findBySlug(family, slug)
    const problem = index.problems().find((it) => it.repository === repository)
    if (problem) return [damage(problem.reason)]
    if (!artifact) return [damage(`The slug "${slug}" does not lead to it.`)]
    const isTestset = family.folder === 'testsets'
    const verification = { registry, mirrors, checkPayload: isTestset ? rowCheck() : undefined }
    const verified = await verifyArtifact(verification, artifact)
    revisions = verified.revisions
    const keys = isTestset ? await findingsOf(() => checkRowKeys(artifact)) : []
    const found = [...verified.findings, ...keys]
    if (secondReader === 'all')
      return [...found, ...(await findingsOf(() => compareReaders(artifact.repository)))]
    // The sample is skipped if there are findings already, because it would repeat them.
    if (secondReader === 'nothing' || bytes.length > 0 || found.length > 0) return found
    return findingsOf(() => compareSample(artifact.repository))
  })
  return { repository, revisions, findings: withoutRepeats([...bytes, ...rest]) }
}

/** The problems that git finds in the files. */
async function bytesOf({ store }: Registry, gitdir: string): Promise<readonly Finding[]> {
  const problems = await fsck(gitdir)
  const graph = problems.filter(isAboutGitCacheFile)
  const real = problems.filter((problem) => !isAboutGitCacheFile(problem))
  const remove = async (): Promise<string> => `removed ${removeGitCacheFiles(store.fs, gitdir).join(', ')}`
  return [
    ...(real.length > 0 ? [damage(`git fsck: ${summary(real)}. ${RESTORE}`)] : []),
    ...(graph.length > 0 ? [derived(`git fsck: ${summary(graph)}.`, remove)] : []),
  ]
}

const MAX_GIT_PROBLEMS = 4
const RESTORE = 'Restore it from a mirror (git fetch into it, or put a clone --mirror in its place).'

function summary(problems: readonly string[]): string {
  const more = problems.length > MAX_GIT_PROBLEMS ? `; and ${problems.length - MAX_GIT_PROBLEMS} more` : ''
  return problems.slice(0, MAX_GIT_PROBLEMS).join('; ') + more
}

function withoutRepeats(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.sentence, finding])).values()]
}

/**
 * A check of testset rows for the revisions of one repository in order, by the rules for pushes. Skips what the previous revision had, and
 * folders that were checked before. Dedup ids must be unique in the revision of a branch or tag.
 */
function rowCheck(): PayloadCheck {
  const seen = new Set<string>()
  let before: Oid | undefined
  return async (source, payload, { isTip }) => {
    const { tree } = asStored(payload)
    if (tree === undefined) return []
    const problems = await sentencesOf(rowProblems({ source, seen }, tree, before))
    before = tree
    // Repeated dedup ids can be found only if all rows decode.
    return isTip && problems.length === 0 ? sentencesOf(repeatedDedupIds(source, tree)) : problems
  }
}

async function sentencesOf(problems: AsyncIterable<RowProblem>): Promise<string[]> {
  const sentences = []
  for await (const { sentence } of problems)
    sentences.push(`${sentence}. Commit a repaired version with git.`)
  return sentences
}

/**
 * Compares the cache file `row-keys` with the rows. A missing key would let an existing row be added again, so a wrong file is removed and
 * made again when needed.
 */
async function checkRowKeys({ repository }: ArtifactView): Promise<readonly Finding[]> {
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
    // A tree that git has pruned is never looked up.
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
