import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import { FamilyList, MANY } from '../../../src/registry/index/index-tables.ts'
import { IndexEntry, viewCache } from '../../../src/registry/index/index-entry.ts'

describe('versioning: how fresh the list of a family is', () => {
  let begun = 0
  let finish: () => void = () => undefined
  let fails = false
  let list: FamilyList

  beforeEach(() => {
    begun = 0
    fails = false
    list = new FamilyList(async () => {
      begun++
      await new Promise<void>((resolve) => (finish = resolve))
      if (fails) throw new Error('the disk fails')
    })
  })

  it('those that ask together share a sweep, and it does for those that come soon after', async () => {
    const asked = Promise.all([list.fresh(60_000), list.fresh(60_000)])
    await nextTurn()
    const late = list.fresh(60_000)
    finish()
    await Promise.all([asked, late])
    await list.fresh(60_000)
    expect(begun).to.equal(1)
  })

  it('a sweep that began before is not good enough for who wants one from now on', async () => {
    const first = list.fresh(0)
    await nextTurn()
    let isFresh = false
    const second = list.fresh(0).then(() => (isFresh = true))
    finish()
    await first
    await nextTurn()
    expect({ begun, isFresh }).to.deep.equal({ begun: 2, isFresh: false })
    finish()
    await second
    expect(begun).to.equal(2)
  })

  it('one that fails is told, and counts for nothing', async () => {
    fails = true
    const failing = list.fresh(60_000).catch((error: Error) => error.message)
    finish()
    expect(await failing).to.equal('the disk fails')
    fails = false
    const again = list.fresh(60_000)
    finish()
    await again
    expect(begun).to.equal(2)
  })

  it('remembers when a list was asked for, not when it was only looked at', async () => {
    const looked = list.fresh(0)
    finish()
    await looked
    expect(list.unasked).to.equal(Number.POSITIVE_INFINITY)
    await list.fresh(60_000)
    expect(list.unasked).to.be.lessThan(60_000)
  })

  it('a list stays as it was when artifacts come and go afterwards, and the next one has them', () => {
    const [early, first, second, late] = ['bot-1', 'bot-2', 'bot-3', 'bot-4'].map((slug) => {
      const view = { id: slug, digits: slug, slug, record: { created_at: '2026' } } as ArtifactView // what a list looks at
      return new IndexEntry(workflowFamily, slug, view, viewCache())
    }) as [IndexEntry, IndexEntry, IndexEntry, IndexEntry]
    for (const entry of [second, first]) list.add(entry)
    const shown = list.artifacts
    list.isCurrent = false
    list.add(late)
    list.remove(first)
    list.add(early)
    expect([...shown.slugs()]).to.deep.equal(['bot-2', 'bot-3'])
    expect([...list.artifacts.slugs()]).to.deep.equal(['bot-1', 'bot-3', 'bot-4'])
    for (const entry of [early, late]) list.remove(entry)
    expect([...list.artifacts.slugs()]).to.deep.equal(['bot-3'])
    // More go than stay, and no list is asked for in between.
    list.remove(second)
    list.add(late)
    expect([...list.artifacts.slugs()]).to.deep.equal(['bot-4'])
    expect([...shown.slugs()]).to.deep.equal(['bot-2', 'bot-3'])
  })

  it('of very many artifacts shows what the last sweep found, and says how old that is', async () => {
    const view = (number: number): ArtifactView => {
      const id = String(number).padStart(12, '0')
      return { id, digits: id, slug: id, record: { created_at: '2026' } } as ArtifactView // what a list looks at
    }
    for (let number = 0; number <= MANY; number++)
      list.add(new IndexEntry(workflowFamily, `bot-${number}`, view(number), viewCache()))
    const first = [list.fresh(1), list.begun()]
    await nextTurn()
    expect({ begun, age: list.age }).to.deep.equal({ begun: 1, age: 0 })
    finish()
    await Promise.all(first)
    // As if it were long ago: a list that may be no older than nothing at all is answered all the same.
    await pause(5)
    await list.fresh(1)
    expect(begun).to.equal(1)
    const next = list.sweepAtRest()
    expect(list.sweepAtRest()).to.equal(next)
    await nextTurn()
    finish()
    await next
    expect(begun).to.equal(2)
    const urgent = list.fresh(0)
    await nextTurn()
    finish()
    await urgent
    expect(begun).to.equal(3)
  })

  it('is swept in a hurry only while somebody waits, where there are very many', async () => {
    let isUrgent: () => boolean = () => false
    const slow = new FamilyList((asked) => {
      isUrgent = asked
      return new Promise<void>((resolve) => (finish = resolve))
    })
    for (let number = 0; number <= MANY; number++)
      slow.add(
        new IndexEntry(workflowFamily, `bot-${number}`, { id: `${number}` } as ArtifactView, viewCache()),
      )
    const sweep = slow.sweepAtRest()
    expect(isUrgent()).to.equal(false)
    const waits = slow.begun()
    expect(isUrgent()).to.equal(true)
    finish()
    await Promise.all([sweep, waits])
    expect(isUrgent()).to.equal(false)
  })
})
