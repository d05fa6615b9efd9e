import { expect } from 'chai'
import { BoundedCache } from '../../src/cache/bounded-cache.ts'

describe('bounded cache', () => {
  it('never holds more than its limit, keeps what is in use, and tells of all that leaves', () => {
    const held = new Set<string>()
    const cache = new BoundedCache<number, string>(10, () => 1, { dispose: (value) => held.delete(value) })
    const put = (key: number) => {
      held.add(`v${key}`)
      cache.set(key, `v${key}`)
    }
    put(0)
    for (let key = 1; key < 1000; key++) {
      put(key)
      expect(cache.get(0)).to.equal('v0')
      expect(held.size).to.be.at.most(10)
      for (const value of held) expect(cache.peek(Number(value.slice(1)))).to.equal(value)
    }
    expect(cache.get(1)).to.equal(undefined)
    put(999)
    cache.clear()
    expect(held.size).to.equal(0)
    expect(cache.get(0)).to.equal(undefined)
  })

  it('does not keep what is too heavy, and forgets what it held under that key', () => {
    const gone: string[] = []
    const cache = new BoundedCache<string, string>(8, (value) => value.length, {
      dispose: (value) => gone.push(value),
    })
    cache.set('a', 'ok')
    cache.set('a', 'far too heavy')
    expect(cache.get('a')).to.equal(undefined)
    expect(gone).to.deep.equal(['ok', 'far too heavy'])
  })

  it('lets go of what nobody used for a while when something else comes', () => {
    let now = 0
    const cache = new BoundedCache<string, number>(100, () => 1, { unusedFor: 10, now: () => now })
    cache.set('used', 1)
    cache.set('unused', 2)
    for (now = 1; now < 30; now++) {
      expect(cache.get('used')).to.equal(1)
      cache.set('other', now)
    }
    expect(cache.keys()).to.have.members(['used', 'other'])
  })

  it('lets nothing go for its age unless it was told to', () => {
    let now = 0
    const cache = new BoundedCache<string, number>(100, () => 1, { now: () => now })
    cache.set('unused', 1)
    now = Number.MAX_VALUE
    cache.set('other', 2)
    cache.set('another', 3)
    expect(cache.get('unused')).to.equal(1)
  })
})
