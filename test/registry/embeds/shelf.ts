import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { Store } from '../../../src/git/store/store.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { documentFamily } from '../../../src/registry/payload/document-family.ts'
import type { Family } from '../../../src/registry/payload/family.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { readRevisionAt, type Revision } from '../../../src/registry/revisions/revision.ts'

/** Who writes in these tests. */
export const CONTEXT = { actor: { id: 'id', name: 'Ann', email: 'ann@example.com' } }

/** A family of the environments' name whose payload is any document: what the targets of embeds need of it. */
export const pinsFamily = documentFamily({
  name: 'environment',
  folder: 'environments',
  roles: [],
  flagNames: [],
  ownsFile: (name) => name === 'references.json',
  file: 'references.json',
  encode: (data) => [{ path: 'references.json', content: data }],
  decode: async (read) => {
    const bytes = await read('references.json')
    return bytes && (parseJson(bytes.toString('utf8')) as JsonObject) // what encode wrote
  },
  accept: (data) => ({ data: data as JsonObject, warnings: [] }), // what the tests commit
  applyDelta: () => {
    throw new Error('these tests send no deltas')
  },
  flags: () => ({}),
  present: (data) => data,
})

/** A real registry in memory, and what puts something into it. */
export interface Shelf {
  readonly registry: Registry
  /** A new artifact with one variant of the same slug and a revision of each data; the last one is answered. */
  put(slug: string, ...revisions: readonly JsonObject[]): Promise<Revision>
  putEnvironment(slug: string, data: JsonObject): Promise<Revision>
  /** One more revision on the artifact's first variant. */
  commit(artifact: ArtifactView, data: JsonObject | undefined, slug?: string): Promise<Revision>
}

export async function openShelf(families: readonly Family[] = [workflowFamily, pinsFamily]): Promise<Shelf> {
  const store = await Store.open(memoryFs(), '/store')
  const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
  const registry = new Registry(await store.project('default'), families, settings)
  await registry.index.load()
  const commit: Shelf['commit'] = async (artifact, data, slug) => {
    const variant = artifact.defaultVariant
    if (!variant) throw new Error(`${artifact.slug} has no variant`)
    const input = { data, header: {}, slug, loc: [] }
    const { revision: place } = await commitRevision(registry, { artifact, variant }, input, CONTEXT)
    return readRevisionAt(place)
  }
  const put = async (family: Family, slug: string, revisions: readonly JsonObject[]) => {
    const artifact = await createArtifact(
      registry,
      family,
      { slug, header: {}, withVariant: {}, loc: [] },
      CONTEXT,
    )
    let last: Revision | undefined
    for (const data of revisions) last = await commit(last?.artifact ?? artifact, data)
    if (!last) throw new Error('give at least one revision')
    return last
  }
  return {
    registry,
    commit,
    put: (slug, ...revisions) => put(workflowFamily, slug, revisions),
    putEnvironment: (slug, data) => put(pinsFamily, slug, [data]),
  }
}
