import { expect } from 'chai'
import type { Crash } from '../../proofs/crash/crash.ts'
import { crashed, CRASHES } from '../../proofs/crash/crash.ts'
import { imageOf } from '../../../test/support/disk/image.ts'
import { randomFrom } from '../../../test/support/values/random.ts'
import { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

const OLD = Buffer.from('old')
const NEW = Buffer.from('new')

describe('crash: the simulated disk', () => {
  it('keeps the bytes of a file once the file is synced, and its name once its folder is', async () => {
    const disk = newDisk()
    await disk.fs.createSynced('/synced', OLD)
    expect(after(disk, 'nothing unsynced').readDir('/')).to.deep.equal([])
    disk.fs.create('/lost', OLD)
    await disk.fs.syncDir('/')
    const left = after(disk, 'nothing unsynced')
    expect(left.readFile('/synced')).to.deep.equal(OLD)
    expect(left.readFile('/lost')).to.deep.equal(Buffer.alloc(0))
    expect(after(disk, 'everything').readFile('/lost')).to.deep.equal(OLD)
  })

  it('undoes a rename, a link and a removal of which the folder was not told', async () => {
    const disk = newDisk()
    for (const name of ['a', 'b', 'c']) await disk.fs.createSynced(`/${name}`, Buffer.from(name))
    await disk.fs.syncDir('/')
    disk.fs.rename('/a', '/b')
    disk.fs.link('/b', '/d')
    disk.fs.remove('/c')
    const left = after(disk, 'nothing unsynced')
    expect(left.readDir('/')).to.have.members(['a', 'b', 'c'])
    expect(left.readFile('/b')?.toString()).to.equal('b')
    expect(after(disk, 'everything').readDir('/')).to.have.members(['b', 'd'])
  })

  it('vouches with a sync for what was written before it, not for what came while it ran', async () => {
    const disk = newDisk()
    const log = disk.fs.createLog('/log')
    await disk.fs.syncDir('/')
    log.append(OLD)
    const sync = log.sync()
    log.append(NEW)
    await sync
    expect(after(disk, 'nothing unsynced').readFile('/log')).to.deep.equal(OLD)
    expect(after(disk, 'killed').readFile('/log')?.toString()).to.equal('oldnew')
  })

  it('never has a file that is renamed into another folder in neither of them', async () => {
    for (let seed = 0; seed < 50; seed++) {
      const disk = newDisk()
      disk.fs.makeDir('/from')
      disk.fs.makeDir('/to')
      await disk.fs.createSynced('/from/file', OLD)
      disk.flush()
      disk.fs.rename('/from/file', '/to/file')
      await disk.fs.syncDir('/from')
      const left = crashed(disk.state, 'some of it', randomFrom(seed)).fs
      expect(left.readFile('/to/file')).to.deep.equal(OLD)
    }
  })

  it('tears writes and loses names one by one, always the same for a seed', async () => {
    const disk = newDisk()
    await disk.fs.createSynced('/file', Buffer.alloc(4000, 1))
    await disk.fs.syncDir('/')
    disk.fs.append('/file', Buffer.alloc(4000, 2))
    for (const name of ['a', 'b', 'c']) disk.fs.create(`/${name}`, OLD)
    const images = (): string[] =>
      Array.from({ length: 40 }, (_, seed) =>
        imageOf(crashed(disk.state, 'some of it', randomFrom(seed)).state),
      )
    expect(new Set(images()).size).to.be.greaterThan(20)
    expect(images()).to.deep.equal(images())
    for (let seed = 0; seed < 40; seed++) {
      const bytes = crashed(disk.state, 'some of it', randomFrom(seed)).fs.readFile('/file')
      expect(bytes?.subarray(0, 4000)).to.deep.equal(Buffer.alloc(4000, 1))
    }
  })

  it('does not vouch for bytes whose sync failed, when a later one does not', async () => {
    const outcomes = new Set<string>()
    for (let seed = 0; seed < 20; seed++) {
      const disk = new SimulatedDisk(randomFrom(seed))
      const log = disk.fs.createLog('/log')
      await disk.fs.syncDir('/')
      log.append(OLD)
      disk.watch(({ call }) => (call === 'synced' ? { code: 'EIO' } : undefined))
      expect(await log.sync().catch((error: NodeJS.ErrnoException) => error.code)).to.equal('EIO')
      disk.watch(() => undefined)
      await log.sync()
      outcomes.add(after(disk, 'nothing unsynced').readFile('/log')?.toString() ?? '')
    }
    expect([...outcomes].sort()).to.deep.equal(['', 'old'])
  })

  it('is left alone by what happens to its copies', () => {
    for (const crash of CRASHES) {
      const disk = newDisk()
      disk.fs.create('/file', OLD)
      const before = imageOf(disk.state)
      const left = after(disk, crash)
      left.remove('/file')
      left.makeDir('/folder')
      left.append('/folder/other', NEW)
      expect(imageOf(disk.state), crash).to.equal(before)
    }
  })
})

function newDisk(): SimulatedDisk {
  return new SimulatedDisk(randomFrom(1))
}

function after(disk: SimulatedDisk, crash: Crash): SimulatedDisk['fs'] {
  return crashed(disk.state, crash, randomFrom(1)).fs
}
