import { expect } from 'chai'
import { Semaphore } from '../../../src/base/scheduling/semaphore.ts'

describe('scheduling: semaphore', () => {
  const here = new AbortController().signal
  const ask = (key = 'a', signal = here) => ({ key, signal, mostWaiting: 4 })

  it('gives permits in the order they were asked for, and none past a short line', async () => {
    const semaphore = new Semaphore(1)
    const order: number[] = []
    const release = await semaphore.acquire(ask())
    const waiting = [1, 2, 3, 4].map(async (number) => {
      const own = await semaphore.acquire(ask())
      order.push(number)
      own?.()
      own?.()
    })
    expect(await semaphore.acquire(ask())).to.equal(undefined)
    expect(semaphore.load).to.deep.equal({ running: 1, waiting: 4 })
    const other = semaphore.acquire(ask('b')).then((own) => own?.())
    expect(order).to.deep.equal([])
    release?.()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3, 4])
    await other
    const [first, second] = [await semaphore.acquire(ask()), semaphore.acquire(ask())]
    expect(await Promise.race([second.then(() => 'taken'), Promise.resolve('waits')])).to.equal('waits')
    first?.()
    await second
  })

  it('keeps none for who has gone', async () => {
    const semaphore = new Semaphore(1)
    const release = await semaphore.acquire(ask())
    const gone = new AbortController()
    const waiting = semaphore.acquire(ask('a', gone.signal)).catch((error: unknown) => error)
    const alone = semaphore.acquire(ask('b', gone.signal)).catch((error: unknown) => error)
    const next = semaphore.acquire(ask())
    gone.abort(new Error('gone'))
    for (const left of [
      waiting,
      alone,
      semaphore.acquire(ask('a', gone.signal)).catch((error: unknown) => error),
    ])
      expect(await left).to.have.property('message', 'gone')
    expect(semaphore.load).to.deep.equal({ running: 1, waiting: 1 })
    release?.()
    await next
  })

  it('never gives one key more than it may have, and keys take turns', async () => {
    const semaphore = new Semaphore(3, 2)
    const order: string[] = []
    const releases: ((() => void) | undefined)[] = []
    const waiting = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(async (key) => {
      const release = await semaphore.acquire(ask(key))
      order.push(key)
      releases.push(release)
    })
    await turn()
    expect(order).to.deep.equal(['a', 'a', 'b'])
    for (let given = 0; given < waiting.length; given++) {
      await turn()
      expect(semaphore.load.running).to.be.at.most(3)
      releases[given]?.()
    }
    await Promise.all(waiting)
    expect(order.slice(3)).to.deep.equal(['a', 'b', 'c', 'a'])
    expect(semaphore.load).to.deep.equal({ running: 0, waiting: 0 })
  })

  it('gives several permits at once where they are free, and more than there are to one that is alone', () => {
    const semaphore = new Semaphore(10)
    const large = semaphore.tryAcquire(15)
    expect([large, semaphore.tryAcquire(1)].map((it) => typeof it)).to.deep.equal(['function', 'undefined'])
    large?.()
    const most = semaphore.tryAcquire(7)
    expect(semaphore.tryAcquire(4)).to.equal(undefined)
    const rest = semaphore.tryAcquire(3)
    expect(semaphore.load.running).to.equal(10)
    most?.()
    rest?.()
    rest?.()
    expect(semaphore.load.running).to.equal(0)
  })
})

/** Lets everything go as far as it can. */
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
