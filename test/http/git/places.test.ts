import { expect } from 'chai'
import { Places } from '../../../src/http/git/places.ts'

describe('git: places', () => {
  const here = new AbortController().signal

  it('are given in the order they were asked for, and refused past a short queue', async () => {
    const places = new Places(1)
    const order: number[] = []
    const leave = await places.take('a', here)
    const waiting = [1, 2, 3, 4].map(async (number) => {
      const give = await places.take('a', here)
      order.push(number)
      give()
      give()
    })
    const refused = await places.take('a', here).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'overloaded')
    expect(order).to.deep.equal([])
    leave()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3, 4])
    const [first, second] = [await places.take('a', here), places.take('a', here)]
    expect(await Promise.race([second.then(() => 'taken'), Promise.resolve('waits')])).to.equal('waits')
    first()
    await second
  })

  it('are not kept for who has gone', async () => {
    const places = new Places(1)
    const leave = await places.take('a', here)
    const gone = new AbortController()
    const waiting = places.take('a', gone.signal).catch((error: unknown) => error)
    const next = places.take('a', here)
    gone.abort(new Error('gone'))
    expect(await waiting).to.have.property('message', 'gone')
    leave()
    await next
  })

  it('are never all one project’s, and projects take turns', async () => {
    const places = new Places(3)
    const order: string[] = []
    const leaves: (() => void)[] = []
    const ask = (project: string): Promise<unknown> =>
      places.take(project, here).then((leave) => {
        order.push(project)
        leaves.push(leave)
      })
    const waiting = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(ask)
    await turn()
    expect(order).to.deep.equal(['a', 'a', 'b'])
    for (let given = 0; given < waiting.length; given++) {
      await turn()
      expect(places.load.running).to.be.at.most(3)
      leaves[given]?.()
    }
    await Promise.all(waiting)
    expect(order.slice(3)).to.deep.equal(['a', 'b', 'c', 'a'])
    expect(places.load).to.deep.equal({ running: 0, waiting: 0 })
  })
})

/** Lets everything go as far as it can. */
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
