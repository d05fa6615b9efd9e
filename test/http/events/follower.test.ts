import { expect } from 'chai'
import { Follower } from '../../../src/http/events/open-events.ts'

describe('events: a follower', () => {
  it('gets what was pushed while it did not ask in one piece, in its order', async () => {
    const follower = new Follower(() => true)
    for (const text of ['a', 'b', 'c']) follower.push(text)
    const pieces = follower.pieces()
    expect(await pieces.next()).to.deep.equal({ value: 'abc', done: false })
    const next = pieces.next()
    follower.push('d')
    expect((await next).value).to.equal('d')
  })

  it('is reminded that it is connected where nothing waits for it', async () => {
    const follower = new Follower(() => true)
    const pieces = follower.pieces()
    follower.remind('.')
    follower.remind('.')
    expect((await pieces.next()).value).to.equal('.')
  })

  it('is cut off once more waits for it than a client may leave unread, and keeps none of it', async () => {
    const follower = new Follower(() => true)
    const piece = 'x'.repeat(1024)
    for (let n = 0; n < 512; n++) follower.push(piece)
    const pieces = follower.pieces()
    expect((await pieces.next()).value).to.have.length(512 * 1024)
    for (let n = 0; n < 513; n++) follower.push(piece)
    follower.push('late')
    expect(await pieces.next()).to.deep.equal({ value: undefined, done: true })
  })

  it('is told nothing more once it may not be, whether something happens or not', async () => {
    for (const happens of [(it: Follower) => it.push('secret'), (it: Follower) => it.remind('.')]) {
      let isIn = true
      const follower = new Follower(() => isIn)
      const next = follower.pieces().next()
      isIn = false
      happens(follower)
      expect(await next).to.deep.equal({ value: undefined, done: true })
    }
  })
})
