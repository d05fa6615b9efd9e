import { expect } from 'chai'
import { Places } from '../../../src/http/git/places.ts'

describe('git: places', () => {
  const here = new AbortController().signal

  it('are given in the order they were asked for, and refused past a short queue', async () => {
    const places = new Places(1)
    const order: number[] = []
    const leave = await places.take(here)
    const waiting = [1, 2, 3, 4].map(async (number) => {
      const give = await places.take(here)
      order.push(number)
      give()
      give()
    })
    const refused = await places.take(here).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'overloaded')
    expect(order).to.deep.equal([])
    leave()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3, 4])
    const [first, second] = [await places.take(here), places.take(here)]
    expect(await Promise.race([second.then(() => 'taken'), Promise.resolve('waits')])).to.equal('waits')
    first()
    await second
  })

  it('are not kept for who has gone', async () => {
    const places = new Places(1)
    const leave = await places.take(here)
    const gone = new AbortController()
    const waiting = places.take(gone.signal).catch((error: unknown) => error)
    const next = places.take(here)
    gone.abort(new Error('gone'))
    expect(await waiting).to.have.property('message', 'gone')
    leave()
    await next
  })
})
