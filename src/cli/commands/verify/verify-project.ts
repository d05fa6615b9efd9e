import type { ProjectStore } from '../../../git/project-store.ts'
import type { Family } from '../../../versioning/family/family.ts'
import { INDEX_FILE } from '../../../versioning/index/database/index-database.ts'
import { pathOf } from '../../../versioning/index/index-entry.ts'
import type { RegistrySettings } from '../../../versioning/registry.ts'
import { Registry } from '../../../versioning/registry.ts'
import { foldSlug } from '../../../versioning/slugs/slug.ts'
import { damage } from '../../../versioning/verify/finding.ts'
import { verifyIndexFile } from '../../../versioning/verify/verify-index-file.ts'
import { verifyIndex } from '../../../versioning/verify/verify-index.ts'
import { expectedMirrors } from '../../../versioning/verify/verify-mirrors.ts'
import type { VerifiedRepository } from './verify-repository.ts'
import { verifyRepository } from './verify-repository.ts'

/** What a project is verified with. */
export interface ProjectToVerify {
  readonly store: ProjectStore
  readonly families: readonly Family[]
  readonly settings: RegistrySettings
  /** Whether isomorphic-git reads the repositories, too. */
  readonly secondReader: boolean
  /** Is told how many repositories there are, before the first is looked at. */
  readonly onCount: (repositories: number) => void
}

/** So many repositories are looked at side by side: git reads one while we decode another. */
const AT_ONCE = 2

/** Verifies every repository of a project, and at last what the index makes of them all. Changes nothing that others see. */
export async function* verifyProject(project: ProjectToVerify): AsyncGenerator<VerifiedRepository> {
  const { store, families, settings, secondReader } = project
  const registry = new Registry(store, families, settings)
  await registry.index.load()
  const places = families.flatMap((family) => store.slugs(family.folder).map((slug) => ({ family, slug })))
  project.onCount(places.length)
  const mirrors = await expectedMirrors(registry)
  const clashes = clashingSlugs(places)
  const running: Promise<VerifiedRepository>[] = []
  for (const place of places) {
    running.push(verifyRepository({ registry, mirrors, secondReader }, place))
    const first = running.length === AT_ONCE ? running.shift() : undefined
    if (first) yield withClash(await first, clashes)
  }
  for (const rest of running) yield withClash(await rest, clashes)
  for (const problem of await verifyIndex(registry, new Registry(store, families, settings)))
    yield { repository: 'the index', revisions: 0, findings: [damage(`${problem}. Restart the servers.`)] }
  const finding = await verifyIndexFile(registry)
  if (finding) yield { repository: INDEX_FILE, revisions: 0, findings: [finding] }
  await registry.index.close()
}

/** By repository: another one of its family whose slug differs in case only (interface 4.9). */
function clashingSlugs(
  places: readonly { readonly family: Family; readonly slug: string }[],
): ReadonlyMap<string, string> {
  const clashes = new Map<string, string>()
  const byFold = new Map<string, string>()
  for (const { family, slug } of places) {
    const path = pathOf(family, slug)
    const other = byFold.get(foldSlug(path))
    if (other !== undefined) clashes.set(path, other)
    byFold.set(foldSlug(path), path)
  }
  return clashes
}

function withClash(verified: VerifiedRepository, clashes: ReadonlyMap<string, string>): VerifiedRepository {
  const other = clashes.get(verified.repository)
  if (other === undefined) return verified
  const finding = damage(`Its slug and that of ${other} differ in case only. Rename one folder.`)
  return { ...verified, findings: [...verified.findings, finding] }
}
