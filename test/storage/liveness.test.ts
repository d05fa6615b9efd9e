import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Liveness, announceProcess, isDead } from '../../src/storage/files/liveness.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import {
  identityName,
  parseIdentity,
  type ProcessIdentity,
  thisProcess,
} from '../../src/storage/files/process-identity.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

/** Announces itself in a store, prints its name, and goes on until it is killed. With a second argument it prints its name before, too, and waits. */
const PROGRAM = `
  const { announceProcess } = await import(${JSON.stringify(new URL('../../src/storage/files/liveness.js', import.meta.url))})
  const { nodeFs } = await import(${JSON.stringify(new URL('../../src/storage/files/node-fs.js', import.meta.url))})
  const { identityName, thisProcess } = await import(${JSON.stringify(new URL('../../src/storage/files/process-identity.js', import.meta.url))})
  if (process.argv[2]) {
    console.log(identityName(thisProcess()))
    await new Promise((resolve) => process.stdin.once('data', resolve))
  }
  await announceProcess(nodeFs, process.argv[1])
  console.log(identityName(thisProcess()))
  setInterval(() => undefined, 1000)`

describe('the lock by which a process says that it lives', () => {
  let storeDir: string
  let liveness: Liveness
  let other: ChildProcess | undefined
  beforeEach(async () => {
    storeDir = temporaryFolder()
    writeFileSync(`${storeDir}/format`, '2\n')
    liveness = await announceProcess(nodeFs, storeDir)
  })
  afterEach(() => {
    liveness.release()
    other?.kill('SIGKILL')
  })

  const files = (): string[] => nodeFs.readDir(`${storeDir}/.servers`) ?? []

  async function startOther(): Promise<ProcessIdentity> {
    const args = ['--input-type=module', '-e', PROGRAM, storeDir]
    other = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [name] = await once(createInterface(other.stdout ?? process.stdin), 'line')
    return parseIdentity(String(name)) as ProcessIdentity // it printed its name
  }

  async function killOther(): Promise<void> {
    const gone = other && once(other, 'exit')
    other?.kill('SIGKILL')
    await gone
  }

  /** The same holder, of which nothing but its lock can tell: its host is another one. */
  const elsewhere = (owner: ProcessIdentity): ProcessIdentity => ({ ...owner, host: 'elsewhere' })

  it('is a file of its own, which goes with the last release', async () => {
    expect(files()).to.deep.equal([identityName(thisProcess())])
    const again = await announceProcess(nodeFs, storeDir)
    again.release()
    expect(files()).to.deep.equal([identityName(thisProcess())])
    liveness.release()
    expect(files()).to.deep.equal([])
    liveness = await announceProcess(nodeFs, storeDir)
  })

  it('tells of another process that it lives, and at once after kill -9 that it is dead', async () => {
    const owner = await startOther()
    expect([isDead(owner, `${storeDir}/default`), files().length]).to.deep.equal([false, 2])
    await killOther()
    expect(isDead(owner, `${storeDir}/default`)).to.equal(true)
    // Who found it dead has removed its file, and goes on knowing it.
    expect(files()).to.deep.equal([identityName(thisProcess())])
    expect(isDead(owner, storeDir)).to.equal(true)
  })

  it('tells by the lock alone where host and number say nothing', async () => {
    const owner = await startOther()
    renameSync(
      `${storeDir}/.servers/${identityName(owner)}`,
      `${storeDir}/.servers/${identityName(elsewhere(owner))}`,
    )
    expect(isDead(elsewhere(owner), storeDir)).to.equal(false)
    await killOther()
    expect(isDead(elsewhere(owner), storeDir)).to.equal(true)
  })

  it('takes a process for alive that another start found before it had locked its file', async () => {
    const args = ['--input-type=module', '-e', PROGRAM, storeDir, 'later']
    other = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface(other.stdout ?? process.stdin)
    const [name] = await once(lines, 'line')
    const owner = parseIdentity(String(name)) as ProcessIdentity // it printed its name
    writeFileSync(`${storeDir}/.servers/${String(name)}`, '')
    expect(isDead(owner, storeDir)).to.equal(true)
    expect(files()).not.to.include(name)
    other.stdin?.write('lock it\n')
    await once(lines, 'line')
    expect(files()).to.include(name)
    expect(isDead(owner, storeDir)).to.equal(false)
  })

  it('takes a holder without a file for dead, never itself nor a process that is seen to run', async () => {
    const owner = await startOther()
    expect(isDead(elsewhere(owner), storeDir)).to.equal(true)
    rmSync(`${storeDir}/.servers/${identityName(owner)}`)
    expect(isDead(owner, storeDir)).to.equal(false)
    expect(isDead(thisProcess(), storeDir)).to.equal(false)
  })

  it('takes nobody for dead while the store is away, nor until all had time to come back', async () => {
    const gone = elsewhere(thisProcess())
    rmSync(`${storeDir}/.servers`, { recursive: true })
    expect(isDead(gone, storeDir)).to.equal(false)
    liveness.renew()
    expect(files()).to.deep.equal([identityName(thisProcess())])
    expect(isDead(gone, storeDir)).to.equal(false)
  })

  it('is locked anew where the file was replaced, and another process sees it', async () => {
    rmSync(`${storeDir}/.servers`, { recursive: true })
    liveness.renew()
    const self = elsewhere(thisProcess())
    renameSync(
      `${storeDir}/.servers/${identityName(thisProcess())}`,
      `${storeDir}/.servers/${identityName(self)}`,
    )
    await startOther()
    // That one has looked at all files when it began, and removed those of the dead.
    expect(files()).to.include(identityName(self))
  })

  it('is swept by the next process that begins, with what an earlier version left', async () => {
    const { host, boot } = thisProcess()
    const dead = `one.${boot}.1.99.s0123456789abcdef`
    writeFileSync(`${storeDir}/.servers/${dead}`, '')
    writeFileSync(`${storeDir}/.servers/${host}.${boot}.999999999.1`, '')
    writeFileSync(`${storeDir}/.servers/two.${boot}.1.99`, '')
    const owner = await startOther()
    expect(files()).to.have.members([identityName(thisProcess()), identityName(owner), `two.${boot}.1.99`])
  })

  it('is not needed in memory, nor by a name that an earlier version wrote', async () => {
    const fs = memoryFs()
    fs.makeDir(storeDir)
    const none = await announceProcess(fs, storeDir)
    none.release()
    const { host, boot, pid, start } = thisProcess()
    expect(parseIdentity(`${host}.${boot}.${pid}.${start}.12`)).to.deep.equal({
      host,
      boot,
      pid,
      start,
      id: undefined,
    })
    expect(isDead({ host, boot, pid: 999_999_999, start }, storeDir)).to.equal(true)
    expect(isDead({ host: 'elsewhere', boot, pid: 999_999_999, start }, storeDir)).to.equal(false)
    expect(isDead({ host, boot, pid, start }, storeDir)).to.equal(false)
  })

  it('is asked for only in the store of the path', async () => {
    const owner = { ...thisProcess(), pid: 999_999_999, host: 'elsewhere' }
    mkdirSync(`${storeDir}-beside`)
    expect(isDead(owner, `${storeDir}-beside/default`)).to.equal(false)
    expect(isDead(owner, `${storeDir}/default`)).to.equal(true)
    rmSync(`${storeDir}-beside`, { recursive: true })
  })
})
