import { expect } from 'chai'
import { startService } from '../../../test/support/servers/service.ts'
import { FAULTS, failEverywhere, SLOWNESSES } from '../../proofs/crash/fail-everywhere.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

// `npm run proof -- crash` begins to fail at many more steps.
describe('crash: a disk that fails for a while', () => {
  for (const fault of FAULTS) {
    it(`refuses writes and damages nothing when ${fault.name}, and the server goes on afterwards`, async () => {
      const { runs, refused, failures } = await failEverywhere({ seed: 1, rounds: 3, fault, every: 163 })
      expect(failures).to.deep.equal([])
      expect(runs).to.be.greaterThan(1)
      expect(refused).to.be.greaterThan(0)
    })
  }

  for (const fault of SLOWNESSES) {
    it(`refuses nothing and damages nothing when ${fault.name}`, async () => {
      const { runs, refused, failures } = await failEverywhere({ seed: 1, rounds: 2, fault, every: 151 })
      expect(failures).to.deep.equal([])
      expect([runs > 0, refused]).to.deep.equal([true, 0])
    })
  }

  it('is 503 storage_unavailable at the door, and forgotten once it works again', async () => {
    const disk = new SimulatedDisk(randomFrom(1))
    const service = await startService({ fs: disk.fs, storeDir: '/store' })
    const create = (slug: string) => service.post('/workflows/', { workflow: { slug } })
    try {
      for (const { code, calls, isShort = false } of FAULTS) {
        disk.watch(({ call }) => (call !== 'read' && calls.includes(call) ? { code, isShort } : undefined))
        const reply = await create('refused')
        expect([reply.status, reply.body.code], code).to.deep.equal([503, 'storage_unavailable'])
        expect(reply.headers.get('retry-after'), code).not.to.equal(null)
        disk.watch(() => undefined)
        expect((await create(`after-${code.toLowerCase()}-${isShort}`)).status).to.equal(200)
      }
      expect((await service.post('/workflows/query', {})).body.count).to.equal(FAULTS.length)
    } finally {
      disk.watch(() => undefined)
      await service.stop({ keepStore: true })
    }
  })
})
