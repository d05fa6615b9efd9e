import { expect } from 'chai'
import { BoundedCache } from '../../src/git/bounded-cache.ts'

describe('git: bounded cache', () => {
  it('never holds more than its limit, keeps what is in use, and tells of all that leaves', () => {
    const held = new Set<string>()
    const cache = new BoundedCache<number, string>(
      10,
      () => 1,
      (value) => held.delete(value),
    )
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
    const cache = new BoundedCache<string, string>(
      8,
      (value) => value.length,
      (value) => gone.push(value),
    )
    cache.set('a', 'ok')
    cache.set('a', 'far too heavy')
    expect(cache.get('a')).to.equal(undefined)
    expect(gone).to.deep.equal(['ok', 'far too heavy'])
  })
})
