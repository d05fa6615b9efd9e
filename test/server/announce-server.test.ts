import { expect } from 'chai'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startService } from '../support/servers/service.ts'
import { lockAlone } from '../../src/storage/sqlite/file-lock.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { thisProcess } from '../../src/storage/files/process-identity.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

describe('servers of several hosts', () => {
  let storeDir: string
  beforeEach(async () => {
    storeDir = temporaryFolder()
    await (await startService({ storeDir })).stop({ keepStore: true })
  })

  const servers = (): string[] => nodeFs.readDir(join(storeDir, '.servers')) ?? []

  /** Has another server say that it runs, or that it did so many seconds ago. */
  const announce = (name: string, secondsAgo = 0): void => {
    const path = join(storeDir, '.servers', name)
    mkdirSync(join(storeDir, '.servers'), { recursive: true })
    writeFileSync(path, '')
    const time = Date.now() / 1000 - secondsAgo
    utimesSync(path, time, time)
  }
  const starts = async (): Promise<string | undefined> => {
    try {
      await (await startService({ storeDir })).stop({ keepStore: true })
      return undefined
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`
    }
  }

  it('is announced as long as it runs', async () => {
    expect(servers()).to.deep.equal([])
    const service = await startService({ storeDir })
    expect(servers()).to.have.length(1)
    expect(servers()[0]).to.match(
      new RegExp(`^${thisProcess().host}\\.[0-9a-f]+\\.${process.pid}\\.\\d+\\.s[0-9a-f]{16}$`),
    )
    await service.stop({ keepStore: true })
    expect(servers()).to.deep.equal([])
  })

  it('is refused while one of another host runs, by its name and with what to do', async () => {
    announce('db-host-2.0123456789ab.4711.99')
    expect(await starts()).to.equal(
      `CannotStart: A server on the host db-host-2 (process 4711) runs over the store ${storeDir}, and all servers of a store have to ` +
        `run on one host. Stop it there; if it has died, start again 60 seconds later, or remove ` +
        `${storeDir}/.servers/db-host-2.0123456789ab.4711.99 now.`,
    )
    rmSync(join(storeDir, '.servers/db-host-2.0123456789ab.4711.99'))
    expect(await starts()).to.equal(undefined)
  })

  it('takes one of another host for dead that has been silent for more than a minute', async () => {
    announce('db-host-2.0123456789ab.4711.99', 61)
    expect(await starts()).to.equal(undefined)
    expect(servers()).to.deep.equal([])
  })

  it('takes one of another host for dead at once whose lock is free', async () => {
    announce('db-host-2.0123456789ab.4711.99.s0123456789abcdef')
    expect(await starts()).to.equal(undefined)
    expect(servers()).to.deep.equal([])
  })

  it('is refused while one of another host keeps its lock, and changes nothing of it', async () => {
    const name = 'db-host-2.0123456789ab.4711.99.s0123456789abcdef'
    announce(name)
    const lock = lockAlone(join(storeDir, '.servers', name), 0)
    expect(await starts()).to.contain(`or remove ${storeDir}/.servers/${name} now`)
    expect(servers()).to.deep.equal([name])
    lock.release()
    expect(await starts()).to.equal(undefined)
  })

  it('runs beside one in a container of this machine, and beside its own that died', async () => {
    const { host, boot } = thisProcess()
    announce(`container-7.${boot}.1.99`)
    announce(`${host}.0123456789ab.4711.99`)
    expect(await starts()).to.equal(undefined)
    expect(servers()).to.deep.equal([`container-7.${boot}.1.99`])
  })
})
