import { followStore } from '../../../src/cluster/following/open-following.ts'
import type { OpenLog } from '../../../src/cluster/following/shared-log.ts'
import { Store } from '../../../src/git/store/store.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { Mirrors } from '../../../src/registry/environments/mirrors.ts'
import { deployRevision } from '../../../src/registry/environments/deploy-revision.ts'
import type { Family } from '../../../src/registry/payload/family.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import type { VariantLocation } from '../../../src/registry/revisions/references.ts'
import { readRevisionAt } from '../../../src/registry/revisions/revision.ts'
import { defaultVariantOrNew } from '../../../src/registry/variants/default-variant.ts'
import { context } from '../memory-registry.ts'

/** What one of several servers has of a project, without the HTTP around it. */
export interface SharedServer {
  readonly fs: Fs
  readonly store: Store
  readonly registry: Registry
  readonly mirrors: Mirrors
  /** Every ref of every repository in its folder, those in the trash under `.trash/`. */
  refs(): Record<string, Record<string, string>>
}

/** Opens a server over a folder in memory, a new one unless it is given. */
export async function sharedServer(openLog: OpenLog, fs: Fs = memoryFs()): Promise<SharedServer> {
  const store = await followStore(fs, '/store', openLog)
  const families = [workflowFamily, environmentFamily]
  const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
  const registry = new Registry(await store.project('default'), families, settings)
  const mirrors = new Mirrors(registry)
  const loaded = registry.index.load()
  // As a server does it, which is asked meanwhile.
  if (!store.filling) await loaded
  return { fs, store, registry, mirrors, refs: () => refsIn(registry) }
}

function refsIn({ store, families }: Registry): Record<string, Record<string, string>> {
  const all: Record<string, Record<string, string>> = {}
  for (const { folder } of families) {
    for (const slug of [...store.slugs(folder)].sort())
      all[`${folder}/${slug}`] = Object.fromEntries(
        [...store.repository(folder, slug).refs.snapshot().refs].sort(),
      )
    for (const slug of [...store.trashedSlugs(folder)].sort())
      all[`.trash/${folder}/${slug}`] = Object.fromEntries(
        [...store.trash.repository(folder, slug).refs.snapshot().refs].sort(),
      )
  }
  return all
}

/** The messages on the branch of the first variant of a workflow, newest first. */
export async function messagesOf({ index }: Registry, slug: string): Promise<string[]> {
  const repository = (await index.findBySlug(workflowFamily, slug))?.repository
  const messages: string[] = []
  let oid = repository?.refs.snapshot().refs.get(`refs/heads/${slug}`)
  while (repository && oid !== undefined) {
    const text: string = (await repository.objects.read(oid))?.bytes.toString('utf8') ?? ''
    messages.push(text.split('\n\n')[1]?.split('\n')[0] ?? '')
    oid = /^parent ([0-9a-f]{40})$/m.exec(text)?.[1]
  }
  return messages
}

/** Deploys the first revision of a workflow to an environment. */
export async function deploy(registry: Registry, bot: string, live: string): Promise<void> {
  const { artifact, variant } = await defaultOf(registry, workflowFamily, bot)
  const oid = artifact.repository.refs.snapshot().refs.get(`refs/heads/${variant.slug}`) ?? ''
  const revision = await readRevisionAt({ artifact, variant, oid, version: 1 })
  const to = await defaultOf(registry, environmentFamily, live)
  await deployRevision(registry, revision, to, { entity: 'workflow', loc: [] }, context)
}

async function defaultOf(registry: Registry, family: Family, slug: string): Promise<VariantLocation> {
  const artifact = await registry.index.findBySlug(family, slug)
  if (!artifact) throw Object.assign(new Error(`${slug} is not there`), { code: 'artifact_not_found' })
  return defaultVariantOrNew(registry, artifact, context)
}
