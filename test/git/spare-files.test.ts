import { expect } from 'chai'
import { dirname } from 'node:path/posix'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fs } from '../../src/storage/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { nodeFs } from '../../src/storage/node-fs.ts'
import { identityName, thisProcess } from '../../src/storage/process-identity.ts'
import { withSpareFiles } from '../../src/git/spare-files.ts'
import { sweepSpareFiles } from '../../src/git/spare-folder.ts'
import { temporaryFolder } from './git-program.ts'

const BYTES = Buffer.from('content')

describe('git: spare files', () => {
  for (const [where, make] of [
    ['on disk', () => nodeFs],
    ['in memory', memoryFs],
  ] as const) {
    it(`become the files that are created, and go with the process, ${where}`, async () => {
      const [{ fs, filled }, store] = [watched(make()), temporaryFolder()]
      fs.makeDir(store)
      const spare = withSpareFiles(fs, store)
      spare.create(`${store}/first`, BYTES)
      await filled()
      spare.create(`${store}/second`, BYTES)
      expect(fs.stat(`${store}/second`)?.links).to.equal(2)
      for (const name of ['first', 'second']) expect(fs.readFile(`${store}/${name}`)).to.deep.equal(BYTES)
      await spare.dropSpares()
      expect(fs.stat(`${store}/second`)?.links).to.equal(1)
      expect(fs.readDir(`${store}/.spare`)).to.deep.equal([])
    })
  }

  it('never take the place of a file that is there', async () => {
    const store = temporaryFolder()
    const { fs, filled } = watched(nodeFs)
    const spare = withSpareFiles(fs, store)
    spare.create(`${store}/file`, BYTES)
    await filled()
    expect(() => spare.create(`${store}/file`, Buffer.from('other')))
      .to.throw()
      .with.property('code', 'EEXIST')
    expect(nodeFs.readFile(`${store}/file`)).to.deep.equal(BYTES)
    await spare.dropSpares()
  })

  it('are left aside where the file goes to another disk', async () => {
    const store = temporaryFolder()
    const { fs, filled } = watched({ ...nodeFs, link: () => fail('EXDEV') })
    const spare = withSpareFiles(fs, store)
    spare.create(`${store}/first`, BYTES)
    await filled()
    spare.create(`${store}/second`, BYTES)
    expect(nodeFs.readFile(`${store}/second`)).to.deep.equal(BYTES)
    await spare.dropSpares()
  })

  it('are left aside when somebody has removed their folder', async () => {
    const store = temporaryFolder()
    const { fs, filled } = watched(nodeFs)
    const spare = withSpareFiles(fs, store)
    spare.create(`${store}/first`, BYTES)
    await filled()
    nodeFs.removeTree(`${store}/.spare`)
    spare.create(`${store}/second`, BYTES)
    expect(nodeFs.readFile(`${store}/second`)).to.deep.equal(BYTES)
    await spare.dropSpares()
  })

  it('leave nothing behind when only some of them can be made', async () => {
    const fs = memoryFs()
    fs.makeDir('/store')
    let asked = 0
    const createEmpty = async (paths: readonly string[]) => {
      const each = await fs.createEmpty(asked++ === 0 ? paths : paths.slice(0, 3))
      return asked > 1 ? fail('EMFILE') : each
    }
    const spare = withSpareFiles({ ...fs, createEmpty }, '/store')
    for (let number = 0; asked < 2; number++, await pause(1)) spare.create(`/store/${number}`, BYTES)
    await spare.dropSpares()
    expect(fs.readDir('/store/.spare')).to.deep.equal([])
  })

  it('leave nothing behind when the disk is full', async () => {
    const store = temporaryFolder()
    const { fs, filled } = watched({ ...nodeFs, append: () => fail('ENOSPC') })
    const spare = withSpareFiles(fs, store)
    spare.create(`${store}/first`, BYTES)
    await filled()
    expect(() => spare.create(`${store}/second`, BYTES))
      .to.throw()
      .with.property('code', 'ENOSPC')
    expect(nodeFs.stat(`${store}/second`)).to.equal(undefined)
    await spare.dropSpares()
    expect(nodeFs.readDir(`${store}/.spare`)).to.deep.equal([])
  })

  it('lose their spare names a little later, and when the disk failed then, later still', async () => {
    const { fs, filled } = watched(memoryFs())
    fs.makeDir('/store')
    let isFailing = true
    const removeAll = async (paths: readonly string[]) => (isFailing ? fail('EIO') : fs.removeAll(paths))
    const spare = withSpareFiles({ ...fs, removeAll }, '/store')
    spare.create('/store/first', BYTES)
    await filled()
    for (const name of ['second', 'third']) spare.create(`/store/${name}`, BYTES)
    expect(fs.stat('/store/second')?.links).to.equal(2)
    await pause(1100)
    expect(fs.stat('/store/second')?.links).to.equal(2)
    isFailing = false
    spare.create('/store/fourth', BYTES)
    while (fs.stat('/store/second')?.links !== 1) await pause(20)
    expect(fs.readFile('/store/second')).to.deep.equal(BYTES)
  })

  for (const [where, isSpread] of [
    ['elsewhere, where that is possible', true],
    ['where they always were, if it is not', false],
  ] as const) {
    it(`that take long to make are made ${where}`, async () => {
      const store = temporaryFolder()
      const folders = new Set<string>()
      const asked: string[] = []
      const spare = withSpareFiles(
        {
          ...nodeFs,
          createEmpty: async (paths) => {
            for (const path of paths) folders.add(dirname(path))
            await nodeFs.createEmpty(paths)
            return 0.5
          },
          spreadFolders: async (path) => {
            asked.push(path)
            return isSpread
          },
        },
        store,
      )
      let count = 0
      const create = async () => {
        spare.create(`${store}/${++count}`, BYTES)
        if (count % 20 === 0) await pause(1)
      }
      while (isSpread ? folders.size < 4 : count < 2000) await create()
      expect([...folders][0]).to.equal(`${store}/.spare`)
      expect(folders.size).to.equal(isSpread ? 4 : 1)
      expect(asked).to.deep.equal([`${store}/.spare`])
      // One goes with the spare names of what was made in it.
      while (isSpread && [...folders].every((folder) => nodeFs.stat(folder))) await create()
      await spare.dropSpares()
      expect(nodeFs.readDir(`${store}/.spare`)).to.deep.equal([])
      for (const name of [1, count]) {
        expect(nodeFs.readFile(`${store}/${name}`)).to.deep.equal(BYTES)
        expect(nodeFs.stat(`${store}/${name}`)?.links).to.equal(1)
      }
    })
  }

  it('of dead processes are swept with their folders, those of live ones not', () => {
    const store = temporaryFolder()
    const own = identityName(thisProcess())
    const dead = identityName({ ...thisProcess(), pid: 999_999_999 })
    for (const name of [own, dead]) {
      nodeFs.makeDir(`${store}/.spare/${name}.2`)
      for (const path of ['1', '2/3']) nodeFs.create(`${store}/.spare/${name}.${path}`, BYTES)
    }
    sweepSpareFiles(nodeFs, store)
    expect(nodeFs.readDir(`${store}/.spare`)).to.have.members([`${own}.1`, `${own}.2`])
    expect(nodeFs.readDir(`${store}/.spare/${own}.2`)).to.deep.equal(['3'])
  })
})

/** The disk, and what resolves once the first files lie ready on it. */
function watched<F extends Fs>(fs: F): { readonly fs: F; filled(): Promise<void> } {
  let isFilled = false
  const createEmpty = async (paths: readonly string[]): Promise<number> => {
    const each = await fs.createEmpty(paths)
    setImmediate(() => (isFilled = true))
    return each
  }
  return {
    fs: { ...fs, createEmpty },
    filled: async () => {
      while (!isFilled) await pause(5)
    },
  }
}

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}
