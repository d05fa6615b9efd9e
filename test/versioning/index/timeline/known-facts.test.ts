import { expect } from 'chai'
import fc from 'fast-check'
import { workflowFamily } from '../../../../src/handlers/workflows.ts'
import type { CommitFacts } from '../../../../src/versioning/index/timeline/commit-facts.ts'
import { commitRevision } from '../../../../src/versioning/revisions/commit-revision.ts'
import { FactsTable, FactsTableWriter } from '../../../../src/versioning/index/timeline/facts-table.ts'
import type { Registry } from '../../../../src/versioning/registry.ts'
import type { Timeline } from '../../../../src/versioning/index/timeline/timeline.ts'
import { context, memoryRegistry, newVariant, timelineOver } from '../../memory-registry.ts'

/** Ids that begin alike share slots. */
const oid = fc
  .tuple(fc.constantFrom('00000000', '00000001', 'ffffffff', '0a0a0a0a'), fc.stringMatching(/^[0-9a-f]{32}$/))
  .map(([first, rest]) => first + rest)
const facts: fc.Arbitrary<CommitFacts> = fc.record({
  oid,
  parent: fc.option(oid, { nil: undefined }),
  seconds: fc.oneof(fc.integer(), fc.nat(4102444800), fc.constantFrom(0, -1, 2 ** 40)),
  author: fc.oneof(fc.constantFrom('Ann <ann@example.com>', ''), fc.string({ unit: 'grapheme' })),
  text: fc.oneof(fc.constantFrom(undefined, null, ''), fc.string({ unit: 'grapheme' })),
})

/** As they are told, whatever a server of before wrote: of a time that a calendar has. */
const within = (one: CommitFacts): CommitFacts => ({
  ...one,
  seconds: Math.min(Math.max(one.seconds, 0), 253_402_300_799),
})

describe('versioning: the facts of commits in a table', () => {
  it('are found by id, and nothing else is', () => {
    fc.assert(
      fc.property(fc.uniqueArray(facts, { selector: (one) => one.oid }), oid, (all, other) => {
        const table = tableOf(all)
        for (const one of all) expect(table?.find(one.oid)).to.deep.equal(within(one))
        if (!all.some((one) => one.oid === other)) expect(table?.find(other)).to.equal(undefined)
      }),
    )
  })

  it('are none in bytes of another format', () => {
    expect(FactsTable.of(Buffer.alloc(0))).to.equal(undefined)
    expect(FactsTable.of(Buffer.from('BPF2........'))).to.equal(undefined)
  })
})

describe('versioning: what a server keeps of its timeline', () => {
  const FILE = 'kept.timeline'
  let registry: Registry
  beforeEach(async () => {
    registry = await memoryRegistry()
    for (const slug of ['one', 'two']) {
      const place = await newVariant(registry, workflowFamily, slug)
      await commitRevision(registry, place, { data: {}, message: `Of ${slug}`, header: {}, loc: [] }, context)
    }
  })

  const path = (): string => `${registry.store.folder}/${FILE}`
  const messages = async (timeline: Timeline): Promise<unknown[]> =>
    (await timeline.all()).rows.map(({ text }) => text)
  /** Another server, which cannot read a commit. */
  const withoutObjects = async (): Promise<Timeline> => {
    const later = await memoryRegistry(registry.store.fs)
    for (const { repository } of await later.index.list(workflowFamily)) {
      later.store.fs.rename(`${repository.path}/objects`, `${repository.path}/away`)
    }
    return timelineOver(later, FILE)
  }

  it('is written once it is filled, and spares the next server the commits', async () => {
    await timelineOver(registry, FILE).fill(new AbortController().signal)
    expect(await messages(await withoutObjects())).to.have.members(['of one', 'of two'])
  })

  it('is written when it ends, if somebody asked', async () => {
    const timeline = timelineOver(registry, FILE)
    timeline.keep()
    expect(registry.store.fs.stat(path())).to.equal(undefined)
    await timeline.all()
    timeline.keep()
    expect(await messages(await withoutObjects())).to.have.members(['of one', 'of two'])
  })

  it('is not taken into memory for a question about some artifacts, which reads their commits', async () => {
    await timelineOver(registry, FILE).fill(new AbortController().signal)
    const { fs } = registry.store
    const later = await memoryRegistry(fs)
    const [artifact = expect.fail()] = await later.index.list(workflowFamily)
    const timeline = timelineOver(later, FILE)
    fs.rename(`${artifact.repository.path}/objects`, `${artifact.repository.path}/away`)
    expect((await timeline.of([artifact])).unreadable).to.have.length(1)
    expect((await timeline.all()).rows).to.have.length(2)
  })

  it('is not written where few commits were read that it does not have', async () => {
    await timelineOver(registry, FILE).fill(new AbortController().signal)
    const before = registry.store.fs.stat(path())?.inode
    const again = timelineOver(await memoryRegistry(registry.store.fs), FILE)
    await again.fill(new AbortController().signal)
    again.keep()
    expect(registry.store.fs.stat(path())?.inode).to.equal(before)
    // a thousand commits are worth a file
    const { store } = registry
    await registry.timeline(workflowFamily).fill(new AbortController().signal)
    expect(store.fs.stat(`${store.folder}/${workflowFamily.folder}.timeline`)).to.equal(undefined)
  })

  it('is left as it is by a server that has too many rows to keep them', async () => {
    await timelineOver(registry, FILE).fill(new AbortController().signal)
    const before = registry.store.fs.stat(path())?.inode
    await newVariant(registry, workflowFamily, 'three').then((place) =>
      commitRevision(registry, place, { data: {}, message: 'Of three', header: {}, loc: [] }, context),
    )
    const short = timelineOver(registry, FILE, 1)
    await short.fill(new AbortController().signal)
    expect(await messages(short)).to.have.length(3)
    short.keep()
    expect(registry.store.fs.stat(path())?.inode).to.equal(before)
  })

  it('is not believed if it is damaged, cut off or of another format', async () => {
    await timelineOver(registry, FILE).fill(new AbortController().signal)
    const { fs } = registry.store
    const whole = fs.readFile(path()) ?? expect.fail()
    const flipped = Buffer.from(whole)
    flipped.writeUInt8(flipped.readUInt8(60) ^ 1, 60)
    for (const bytes of [flipped, whole.subarray(0, 70), Buffer.alloc(0), Buffer.from('nonsense')]) {
      fs.remove(path())
      fs.create(path(), bytes)
      const later = await memoryRegistry(fs)
      expect(await messages(timelineOver(later, FILE))).to.have.members(['of one', 'of two'])
    }
  })
})

function tableOf(all: readonly CommitFacts[]): FactsTable | undefined {
  const writer = new FactsTableWriter(all.length)
  for (const one of all) writer.add(one)
  return FactsTable.of(writer.finish())
}
