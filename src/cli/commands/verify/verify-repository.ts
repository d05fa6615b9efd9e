import { isAboutGitCacheFile, removeGitCacheFiles } from '../../../git/maintenance/stale-files.ts'
import { fsck } from '../../../git/process/fsck.ts'
import { assertServable } from '../../../git/repository-format.ts'
import type { Family } from '../../../versioning/family/family.ts'
import { pathOf } from '../../../versioning/index/index-entry.ts'
import type { Registry } from '../../../versioning/registry.ts'
import type { Finding } from '../../../versioning/verify/finding.ts'
import { damage, derived, findingsOf } from '../../../versioning/verify/finding.ts'
import { compareReaders } from '../../../versioning/verify/second-reader.ts'
import { verifyArtifact } from '../../../versioning/verify/verify-artifact.ts'
import type { ExpectedMirrors } from '../../../versioning/verify/verify-mirrors.ts'
import { checkRowKeys } from './check-row-keys.ts'
import { rowCheck } from './check-rows.ts'

/** One repository of a project, verified. */
export interface VerifiedRepository {
  /** `<family folder>/<slug>`. */
  readonly repository: string
  readonly revisions: number
  readonly findings: readonly Finding[]
}

/** What a repository is verified against. */
export interface RepositoryVerification {
  readonly registry: Registry
  readonly mirrors: ExpectedMirrors
  /** Whether isomorphic-git reads it, too. */
  readonly secondReader: boolean
}

/** Verifies one repository: its format, its bytes, and what the registry makes of it. */
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
  // git would look at the wrong thing, or not know what it is.
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
    const second = secondReader ? await findingsOf(() => compareReaders(artifact.repository)) : []
    return [...verified.findings, ...keys, ...second]
  })
  return { repository, revisions, findings: withoutRepeats([...bytes, ...rest]) }
}

/** What git finds wrong with the bytes on the disk. */
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

/** So many sentences of git are enough to go on with. */
const ENOUGH = 4
const RESTORE = 'Restore it from a mirror (git fetch into it, or put a clone --mirror in its place).'

function summary(problems: readonly string[]): string {
  const more = problems.length > ENOUGH ? `; and ${problems.length - ENOUGH} more` : ''
  return problems.slice(0, ENOUGH).join('; ') + more
}

function withoutRepeats(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.sentence, finding])).values()]
}
