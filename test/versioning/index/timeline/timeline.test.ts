import { expect } from 'chai'
import type { JsonObject } from '../../../../src/json/json.ts'
import { workflowFamily } from '../../../../src/handlers/workflows.ts'
import { commitRevision } from '../../../../src/versioning/revisions/commit-revision.ts'
import { forkVariant } from '../../../../src/versioning/variants/fork-variant.ts'
import { queryRevisions } from '../../../../src/versioning/revisions/query-revisions.ts'
import type { VariantLocation } from '../../../../src/versioning/revisions/references.ts'
import type { Registry } from '../../../../src/versioning/registry.ts'
import type { TimelineRow } from '../../../../src/versioning/index/timeline/timeline-row.ts'
import type { Timeline } from '../../../../src/versioning/index/timeline/timeline.ts'
import { idIn } from '../../../../src/versioning/index/timeline/timeline-row.ts'
import { context, memoryRegistry, newVariant, timelineOver } from '../../memory-registry.ts'

describe('versioning: the timeline of revisions', () => {
  let registry: Registry
  let timeline: Timeline

  beforeEach(async () => {
    registry = await memoryRegistry()
    timeline = timelineOver(registry)
  })

  const commit = async (place: VariantLocation, message: string): Promise<VariantLocation> => {
    const data: JsonObject = { parameters: { message } }
    const made = await commitRevision(registry, place, { data, message, header: {}, loc: [] }, context)
    return { artifact: made.place.artifact, variant: made.place.variant }
  }

  const forked = (slug: string): Promise<VariantLocation> =>
    forkVariant(
      registry,
      workflowFamily,
      { variant: { slug } },
      { slug: 'fork', header: {}, loc: [] },
      context,
    )
  const all = async (of = timeline): Promise<readonly TimelineRow[]> => (await of.all()).rows

  it('follows what happens, as one that is made anew finds it', async () => {
    const same = async (expected: number): Promise<void> => {
      const rows = await all()
      expect(rows).to.have.length(expected)
      const anew = await all(timelineOver(registry))
      expect(rows.map(told)).to.deep.equal(anew.map(told))
    }
    await same(0)
    let one = await newVariant(registry, workflowFamily, 'one')
    const two = await newVariant(registry, workflowFamily, 'two')
    await same(0)
    one = await commit(one, 'First')
    await commit(two, 'Other')
    await same(2)
    one = await commit(one, 'Second')
    await same(3)
    const fork = await forked('one')
    await same(3)
    await commit(fork, 'Third')
    await same(4)
    registry.store.fs.removeTree(two.artifact.repository.path)
    await registry.index.sweep()
    await same(3)
  })

  it('says which variants hold a revision, and looks for its message in lower case', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    place = await commit(place, 'A Straße İ')
    const fork = await forked('bot')
    await commit(fork, 'On the fork')
    expect(
      (await all()).map(({ link, holders }) => [link.depth, link.text, holders.map(({ slug }) => slug)]),
    ).to.deep.equal([
      [1, 'A Straße İ'.toLowerCase(), ['bot', 'fork']],
      [2, 'on the fork', ['fork']],
    ])
  })

  it('keeps no long message, and queries look into it all the same', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    place = await commit(place, `${'x'.repeat(5000)} Needle`)
    await commit(place, 'Short')
    expect((await all()).map(({ link }) => link.text)).to.deep.equal([null, 'short'])
    const versions = async (message: string): Promise<number[]> => {
      const { rows } = await queryRevisions(registry, workflowFamily, { roles: {}, filter: { message } })
      return rows.map(({ version }) => version)
    }
    expect(await versions('needle')).to.deep.equal([1])
    expect(await versions('S')).to.deep.equal([2])
  })

  it('reads nothing again while nothing moves, and never changes what it has answered', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    place = await commit(place, 'First')
    const rows = await all()
    expect(await all()).to.equal(rows)
    await commit(place, 'Second')
    expect(await all()).to.have.length(2)
    expect(rows).to.have.length(1)
  })

  it('is as good where it is too long to be kept', async () => {
    const short = timelineOver(registry, undefined, 2)
    let place = await newVariant(registry, workflowFamily, 'bot')
    for (const message of ['One', 'Two', 'Three']) {
      place = await commit(place, message)
      expect((await all(short)).map(told)).to.deep.equal((await all()).map(told))
    }
    expect(await all(short)).to.not.equal(await all(short))
  })

  it('is filled before anybody asks, so that who does reads nothing', async () => {
    for (let number = 0; number < 60; number++) {
      await commit(await newVariant(registry, workflowFamily, `bot-${number}`), `${number}`)
    }
    const reader = await memoryRegistry(registry.store.fs)
    const filled = reader.timeline(workflowFamily)
    await filled.fill(new AbortController().signal)
    for (const { repository } of await reader.index.list(workflowFamily)) {
      reader.store.fs.rename(`${repository.path}/objects`, `${repository.path}/away`)
    }
    const { rows, unreadable } = await filled.all()
    expect(rows).to.have.length(60)
    expect(unreadable).to.deep.equal([])
  })

  it('ends filling once it is told to, and gives way to who asks', async () => {
    for (let number = 0; number < 60; number++) {
      await commit(await newVariant(registry, workflowFamily, `bot-${number}`), `${number}`)
    }
    const stop = new AbortController()
    const filling = timeline.fill(stop.signal).catch((error: Error) => error.name)
    expect((await timeline.all()).rows).to.have.length(60)
    stop.abort()
    expect(await filling).to.be.oneOf(['AbortError', undefined])
    const stopped = timelineOver(registry)
    expect(await stopped.fill(AbortSignal.abort()).catch((error: Error) => error.name)).to.equal('AbortError')
    expect((await stopped.all()).rows).to.have.length(60)
  })

  it('lets others have their turn while it reads one long history', async () => {
    let place = await newVariant(registry, workflowFamily, 'bot')
    for (let number = 0; number < 250; number++) place = await commit(place, `${number}`)
    const artifacts = await registry.index.list(workflowFamily)
    let hadTurn = false
    setImmediate(() => (hadTurn = true))
    expect((await timeline.of(artifacts)).rows).to.have.length(250)
    expect(hadTurn).to.equal(true)
  })

  it('puts what was made in one second of one version in the order of ids', async () => {
    for (const slug of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await commit(await newVariant(registry, workflowFamily, slug), slug)
    }
    const ids = (await all()).map((row) => [row.seconds, idIn(row)] as const)
    const sorted = [...ids].sort(([a, one], [b, other]) => a - b || (one < other ? -1 : 1))
    expect(ids).to.deep.equal(sorted)
  })

  it('is shared by those that ask together', async () => {
    await commit(await newVariant(registry, workflowFamily, 'bot'), 'First')
    const [one, other] = await Promise.all([all(), all()])
    expect(one).to.have.length(1)
    expect(other).to.equal(one)
  })

  it('says whose commits cannot be read, shows the others, and looks again', async () => {
    const { fs } = registry.store
    const { repository } = (await commit(await newVariant(registry, workflowFamily, 'bad'), 'Lost')).artifact
    await commit(await newVariant(registry, workflowFamily, 'good'), 'Kept')
    const reader = await memoryRegistry(fs)
    fs.rename(`${repository.path}/objects/pack`, `${repository.path}/objects/away`)
    const damaged = await reader.timeline(workflowFamily).all()
    expect(damaged.rows.map(({ link }) => link.text)).to.deep.equal(['kept'])
    expect(damaged.unreadable.map(({ artifact }) => artifact.slug)).to.deep.equal(['bad'])
    fs.rename(`${repository.path}/objects/away`, `${repository.path}/objects/pack`)
    const healed = await reader.timeline(workflowFamily).all()
    expect(healed.rows).to.have.length(2)
    expect(healed.unreadable).to.deep.equal([])
  })
})

function told(row: TimelineRow): unknown[] {
  const { link, holders, seconds } = row
  return [idIn(row), link.depth, seconds, link.author, link.text, holders.map(({ slug }) => slug)]
}
