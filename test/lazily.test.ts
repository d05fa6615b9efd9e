import { expect } from 'chai'
import { lazily } from '../src/lazily.ts'

describe('lazily', () => {
  it('loads once, when first asked, and then has no more promises', async () => {
    let loads = 0
    const value = lazily(async () => ({ load: ++loads }))
    expect(loads).to.equal(0)
    const asked = [value(), value()]
    expect(asked[0]).to.be.a('promise')
    const [first, second] = await Promise.all(asked)
    expect(second).to.equal(first)
    expect(value()).to.equal(first)
    expect(loads).to.equal(1)
  })
})
