import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { Store } from '../../../src/git/store/store.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { META_REF } from '../../../src/registry/artifacts/artifact-record.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import type { HeaderFilter } from '../../../src/registry/artifacts/filters.ts'
import { queryArtifacts, queryVariants } from '../../../src/registry/artifacts/query-artifacts.ts'
import { ArtifactIndex } from '../../../src/registry/index/artifact-index.ts'
import {
  IndexEntry,
  namesOf,
  type RestoredArtifact,
  viewCache,
} from '../../../src/registry/index/index-entry.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { context, newVariant } from '../memory-registry.ts'

/** So many views stay. */
const KEPT = 4
const ARTIFACTS = 30

describe('versioning: views that are let go of', () => {
  let folder: string
  let registry: Registry
  let views: ReturnType<typeof viewCache>

  const list = (index: ArtifactIndex) => index.list(workflowFamily)

  const opened = async (): Promise<Registry> => {
    const project = await (await Store.open(nodeFs, folder)).project('default')
    const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
    return new Registry(project, [workflowFamily], settings)
  }

  beforeEach(async () => {
    folder = temporaryFolder()
    const before = await opened()
    await before.index.load()
    for (let number = 0; number < ARTIFACTS; number++)
      await newVariant(before, workflowFamily, `bot-${number}`)
    const header = { name: 'Odd', tags: ODD_TAGS, meta: ODD_TAGS }
    const sent = { slug: 'odd', header, withVariant: {}, loc: [] }
    await createArtifact(before, workflowFamily, sent, context)
    // By then no other change of a repository could bear the same times.
    await pause(60)
    await before.index.close()
    registry = await opened()
    views = viewCache(KEPT)
    const index = new ArtifactIndex(
      registry.store,
      [workflowFamily],
      (family) => registry.revisions(family),
      'ours',
      undefined,
      views,
    )
    Object.assign(registry, { index })
    index.restore()
    await index.load()
  })
  afterEach(() => registry.index.close())

  it('a few stay in memory after lists over many artifacts, of each kind', async () => {
    const { index } = registry
    const seen: WeakRef<ArtifactView>[] = []
    for (const view of await list(index)) seen.push(new WeakRef(view))
    const asked = { filter: {}, roles: {}, windowing: { limit: 3 } }
    expect((await queryArtifacts(registry, workflowFamily, asked)).rows.length).to.equal(3)
    expect((await queryVariants(registry, workflowFamily, { ...asked, windowing: {} })).rows.length).to.equal(
      ARTIFACTS + 1,
    )
    expect(seen.length).to.equal(ARTIFACTS + 1)
    expect(views.size).to.be.at.most(KEPT)
    const left = await collected(() => seen.filter((view) => view.deref()).length <= KEPT)
    expect(left).to.equal(true)
  })

  it('nobody is given another one as long as somebody holds it', async () => {
    const { index } = registry
    const held = [...(await list(index))]
    await index.list(workflowFamily)
    expect([...(await list(index))].every((view, at) => view === held[at])).to.equal(true)
  })

  it('one that a look has shown is judged by its refs from then on, also once it was saved and let go of', () => {
    const view = registry.index.viewAt('workflows/bot-1')
    if (!view) throw new Error('bot-1 is not there')
    const { id, record } = view
    const saved: RestoredArtifact = {
      id,
      createdAt: record.created_at,
      names: () => namesOf(view),
      recordJson: JSON.stringify(record),
      record: () => record,
      viewJson: '{}',
      isUnrecorded: false,
      stamps: '',
      view: () => view,
    }
    const entry = new IndexEntry(workflowFamily, 'bot-1', saved, viewCache(KEPT))
    expect([entry.wasLookedAt, entry.isAsRestored]).to.deep.equal([false, true])
    entry.view = view
    entry.saved(view, saved)
    expect([entry.wasLookedAt, entry.isAsRestored]).to.deep.equal([true, false])
  })

  it('what is written through one that was let go of shows at once, and what git writes, too', async () => {
    const { index, store } = registry
    const slugs = [...(await list(index))].map(({ slug }) => slug)
    expect(slugs.length).to.equal(ARTIFACTS + 1)
    const repository = store.repository('workflows', 'bot-2')
    const head = repository.refs.shared().refs.get(META_REF) ?? ''
    await repository.transact(async (transaction) => transaction.move('refs/tags/ours', head))
    const written = await index.takeInOwn(workflowFamily, 'bot-2')
    expect(written.tags.get('ours')).to.equal(head)
    git(`${folder}/default/workflows/bot-3.git`, ['update-ref', 'refs/tags/theirs', META_REF])
    expect((await index.findBySlug(workflowFamily, 'bot-3'))?.tags.has('theirs')).to.equal(true)
    git(`${folder}/default/workflows/bot-4.git`, ['update-ref', 'refs/tags/theirs', META_REF])
    await index.sweep()
    expect(index.viewAt('workflows/bot-4')?.tags.has('theirs')).to.equal(true)
  })

  it('a filter finds in the records what is in no view', async () => {
    const found = async (filter: HeaderFilter): Promise<readonly string[]> =>
      (await queryArtifacts(registry, workflowFamily, { filter, roles: {} })).rows.map(({ slug }) => slug)
    expect(await found({ slug: 'bot-7' })).to.deep.equal(['bot-7'])
    expect(await found({ tags: { team: 'none' } })).to.deep.equal([])
    expect((await found({})).length).to.equal(ARTIFACTS + 1)
    for (const [key, value] of Object.entries(ODD_TAGS)) {
      expect(await found({ tags: { [key]: value } }), key).to.deep.equal(['odd'])
      expect(await found({ meta: { [key]: value } }), key).to.deep.equal(['odd'])
    }
    expect(await found({ tags: { deep: { inner: 'x' } } })).to.deep.equal(['odd'])
    expect(await found({ tags: { deep: { inner: 'other' } } })).to.deep.equal([])
    expect(registry.index.viewAt('workflows/odd')?.record.tags).to.deep.equal(ODD_TAGS)
  })
})

const ODD_TAGS: JsonObject = {
  quoted: 'a "b" \\ c\n\u0001/',
  far: 'Größe 𝒳 日本語',
  empty: '',
  'a key': true,
  count: 1.5,
  list: ['one', { two: 'three' }],
  deep: { inner: 'x', more: [] },
  none: null,
}

/** Whether something becomes true once memory that nobody holds is taken back. */
async function collected(isTrue: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 10 && !isTrue(); tries++) {
    // A turn of its own: what was looked at in this one stays.
    await pause(1)
    // V8 takes everything back before it counts.
    queryObjects(WeakRef)
  }
  return isTrue()
}
