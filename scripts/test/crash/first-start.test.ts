import { followStore } from '../../../src/cluster/following/open-following.ts'
import { expect } from 'chai'
import { type Crash, CRASHES, crashed } from '../../proofs/crash/crash.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'
import { STORE } from '../../proofs/crash/open-server.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { MemoryDatabase } from '../../../test/support/postgres/memory-log.ts'

describe('crash: the first start of a server over a database', () => {
  it('may be killed at any step, and its machine cut off at any step of the next start: the one after finds a copy', async () => {
    const database = new MemoryDatabase()
    const powerCuts = CRASHES.slice(1)
    let seed = 0
    const start = async (disk: SimulatedDisk, crashAt: () => Crash): Promise<SimulatedDisk[]> => {
      const left: SimulatedDisk[] = []
      disk.watch(({ call }) => {
        if (call !== 'read') left.push(crashed(disk.state, crashAt(), randomFrom(++seed), seed))
      })
      await (await followStore(disk.fs, STORE, database.open)).close()
      return left
    }
    let cuts = 0
    let next = 0
    for (const killed of await start(new SimulatedDisk(randomFrom(0)), () => 'killed')) {
      for (const cut of await start(killed, () => powerCuts[next++ % powerCuts.length] ?? 'some of it')) {
        // A third of them, at other steps each time, finds what all find.
        if (cuts++ % 3 === 0) await (await followStore(cut.fs, STORE, database.open)).close()
      }
    }
    expect(cuts).to.be.greaterThan(200)
  })
})
