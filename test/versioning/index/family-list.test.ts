import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FamilyList } from '../../../src/versioning/index/family-list.ts'

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
})
