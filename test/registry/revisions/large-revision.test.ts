import { expect } from 'chai'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import type { Oid } from '../../../src/git/objects/object.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { MOST_WAITING_ASIDE } from '../../../src/base/scheduling/run-aside.ts'
import { LargeDocument } from '../../../src/registry/payload/large-document.ts'
import type { ObjectReader } from '../../../src/registry/payload/tree-files.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { RevisionCache } from '../../../src/registry/revisions/stored-revision.ts'
import { keepBusy } from '../../base/scheduling/busy-threads.ts'
import { context, memoryRegistry, newVariant } from '../memory-registry.ts'

describe('versioning: a revision that is larger than what a commit may bring', () => {
  let objects: ObjectReader
  let oid: Oid
  let cache: RevisionCache
  let reads = 0

  before(async () => {
    const registry = await memoryRegistry()
    const variant = await newVariant(registry, workflowFamily, 'large')
    const data = parseJson(
      `{"script":"def main(): pass","runtime":"python","parameters":{"a":"${'x'.repeat(5000)}"}}`,
    )
    const { revision: place } = await commitRevision(
      registry,
      variant,
      { header: {}, data, loc: [] },
      context,
    )
    const source = place.artifact.repository.objects
    objects = {
      read: (id) => {
        reads++
        return source.read(id)
      },
    }
    oid = place.oid
  })
  beforeEach(() => {
    const limits = { maxBytes: 100_000, maxDocumentBytes: 10, maxValues: 1000 }
    cache = new RevisionCache(workflowFamily, limits, '')
    reads = 0
  })

  it('is opened once for lists that do not show it, and for those that do', async () => {
    const first = await cache.readOutline(objects, oid)
    expect((first.payload as LargeDocument).flags).to.include({ is_custom: false })
    expect(reads).to.be.greaterThan(0)
    reads = 0
    expect(await cache.readOutline(objects, oid)).to.equal(first)
    expect(await cache.readForList(objects, oid)).to.equal(first)
    expect(reads).to.equal(0)
  })

  it('is not taken for damaged where its turn did not come', async () => {
    const gone = new AbortController()
    const end = keepBusy(MOST_WAITING_ASIDE - 1)
    const asked = [cache.readForList(objects, oid, gone.signal), cache.readOutline(objects, oid, gone.signal)]
    const outcomes = Promise.allSettled(asked)
    // The one that comes to the line behind the other one is too much.
    const refused: unknown = await Promise.race(asked).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'overloaded' })
    gone.abort(new Error('gone'))
    const reasons = (await outcomes).map((it) => (it.status === 'rejected' ? it.reason : it))
    expect(reasons).to.have.members([refused, gone.signal.reason])
    await end()
    expect((await cache.read(objects, oid)).damage).to.equal(undefined)
  })
})
