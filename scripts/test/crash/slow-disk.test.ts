import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { Reply, RunningService } from '../../../test/support/servers/service.ts'
import { startService } from '../../../test/support/servers/service.ts'
import { crashed } from '../../proofs/crash/crash.ts'
import type { StepCall } from '../../../test/support/disk/disk-steps.ts'
import { longText } from '../../proofs/crash/long-text.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'
import { slowDown } from '../../../test/support/disk/slow-down.ts'

const STORE = '/store'

// Which kinds of calls a history meets slow is in `faults.test.ts`; here it is what a client sees of it.
describe('crash: a disk that is slow', () => {
  let disk: SimulatedDisk
  let service: RunningService
  let held: Held

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    disk = new SimulatedDisk(randomFrom(1))
    held = new Held(disk)
    service = await startService({ fs: disk.fs, storeDir: STORE, env })
    for (const slug of ['slow', 'other']) await create(slug)
  }
  const create = async (slug: string): Promise<Reply> => {
    const reply = await service.post('/simple/workflows/', {
      workflow: { slug, data: { parameters: { n: 1 } } },
    })
    variants.set(slug, reply.body.workflow.variant_id)
    return reply
  }
  const variants = new Map<string, string>()
  const commit = (slug: string, text = ''): Promise<Reply> =>
    service.post('/workflows/revisions/commit', {
      workflow_revision: {
        workflow_variant_id: variants.get(slug),
        message: 'm',
        data: { parameters: { text } },
      },
    })
  const version = async (slug: string): Promise<unknown> => {
    const { status, body } = await service.post('/workflows/revisions/retrieve', {
      workflow_variant_ref: { slug },
    })
    expect(status).to.equal(200)
    return body.workflow_revision.version
  }
  afterEach(async () => {
    held.release()
    await service.stop({ keepStore: true })
  })

  for (const calls of [['sync'], ['syncDir'], ['sync', 'syncDir']] as readonly (readonly StepCall[])[]) {
    it(`has writes wait for ${calls.join(' and ')}, and reads of everything go on`, async () => {
      await start()
      held.hold(({ call }) => calls.includes(call))
      const created = create('new')
      const committed = commit('slow', longText(1))
      await held.untilHeld()
      for (let round = 0; round < 3; round++) {
        expect(await version('slow')).to.equal(1)
        expect(await version('other')).to.equal(1)
      }
      expect((await service.get('/health')).status).to.equal(200)
      held.release()
      expect([(await created).status, (await committed).status]).to.deep.equal([200, 200])
      expect(await version('slow')).to.equal(2)
    })
  }

  it('under one repository holds up nobody who writes to another', async () => {
    await start()
    held.hold(({ path }) => path.includes('/slow.git'))
    const long = commit('slow', longText(1))
    await held.untilHeld()
    const behind = commit('slow')
    expect((await commit('other')).status).to.equal(200)
    expect([await version('other'), await version('slow')]).to.deep.equal([2, 1])
    held.release()
    expect([(await long).status, (await behind).status]).to.deep.equal([200, 200])
    expect(await version('slow')).to.equal(3)
  })

  it('fills the server up to its limit: who comes then gets a 503 at once, and all others what they asked for', async () => {
    await start({ MAX_REQUESTS: '6' })
    held.hold(() => true)
    const refused: Reply[] = []
    const asked = Array.from({ length: 10 }, async () => {
      const reply = await commit('slow')
      if (reply.status === 503) refused.push(reply)
      return reply.status
    })
    while (refused.length < 4) await nextTurn()
    for (const { body, headers } of refused) {
      expect(body.code).to.equal('overloaded')
      expect(headers.get('retry-after')).not.to.equal(null)
    }
    held.release()
    expect((await Promise.all(asked)).filter((status) => status === 200)).to.have.length(6)
    expect([(await commit('other')).status, await version('slow')]).to.deep.equal([200, 7])
  })

  it('is waited for by a stop: what was begun is answered, and there afterwards', async () => {
    await start()
    held.hold(() => true)
    const begun = commit('slow')
    await held.untilHeld()
    const stopped = service.stop({ keepStore: true })
    held.release()
    const { status, headers } = await begun
    expect([status, headers.get('connection')]).to.deep.equal([200, 'close'])
    await stopped
    service = await startService({
      fs: crashed(disk.state, 'nothing unsynced', randomFrom(1)).fs,
      storeDir: STORE,
    })
    expect(await version('slow')).to.equal(2)
  })

  it('that never lets a stop come to its end costs nothing that was answered', async () => {
    await start()
    expect((await commit('slow')).status).to.equal(200)
    held.hold(() => true)
    const stopped = service.stop({ keepStore: true })
    await held.untilHeld()
    const cut = crashed(disk.state, 'nothing unsynced', randomFrom(1))
    held.release()
    await stopped
    service = await startService({ fs: cut.fs, storeDir: STORE })
    expect(await version('slow')).to.equal(2)
  })

  const slow: Readonly<Record<string, readonly StepCall[]>> = {
    'files that are made, named and removed': ['create', 'makeDir', 'link', 'rename', 'remove'],
    writes: ['write'],
    reads: ['read'],
    syncs: ['sync', 'syncDir'],
  }
  for (const [what, calls] of Object.entries(slow)) {
    it(`answers later, and otherwise as ever, where it is ${what} that take long`, async () => {
      await start()
      slowDown(disk, 5, ({ call }) => calls.includes(call))
      expect((await create('new')).status).to.equal(200)
      const replies = await Promise.all([commit('new'), commit('new'), commit('other')])
      expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200])
      expect([await version('new'), await version('other')]).to.deep.equal([3, 2])
    })
  }
})

/** Steps of a disk that wait until they are let go. */
class Held {
  #isHeld: (step: { readonly call: StepCall; readonly path: string }) => boolean = () => false
  #waiting: (() => void)[] = []

  constructor(disk: SimulatedDisk) {
    disk.holdUp((step) =>
      this.#isHeld(step) ? new Promise<void>((resolve) => this.#waiting.push(resolve)) : undefined,
    )
  }

  hold(isHeld: (step: { readonly call: StepCall; readonly path: string }) => boolean): void {
    this.#isHeld = isHeld
  }

  async untilHeld(): Promise<void> {
    while (this.#waiting.length === 0) await nextTurn()
  }

  release(): void {
    this.#isHeld = () => false
    for (const go of this.#waiting.splice(0)) go()
  }
}
