import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { readdirSync, symlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { randomFrom } from '../support/values/random.ts'
import { SimulatedDisk } from '../support/disk/simulated-disk.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

const codeOf = (action: () => unknown): string | undefined => {
  try {
    action()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
  return undefined
}

describe('fs: the disk and the memory behave alike', () => {
  for (const [name, make] of [
    ['nodeFs', () => ({ fs: nodeFs as Fs, root: temporaryFolder() })],
    ['memoryFs', () => ({ fs: memoryFs(), root: '/root' })],
    ['a simulated disk', () => ({ fs: new SimulatedDisk(randomFrom(1)).fs, root: '/root' })],
  ] as const) {
    describe(name, () => {
      let fs: Fs
      let root: string
      let count = 0
      const fresh = () => {
        const folder = `${root}/${++count}`
        fs.makeDir(folder)
        return folder
      }
      before(() => {
        ;({ fs, root } = make())
        fs.makeDir(root)
      })

      it('answers undefined for what is not there', () => {
        const folder = fresh()
        fs.create(`${folder}/file`, Buffer.from('x'))
        for (const path of [`${folder}/none`, `${folder}/none/below`, `${folder}/file/below`]) {
          expect(fs.stat(path), path).to.equal(undefined)
          expect(fs.readDir(path), path).to.equal(undefined)
          expect(fs.readFile(path), path).to.equal(undefined)
          expect(fs.open(path), path).to.equal(undefined)
          expect(() => fs.remove(path), path).not.to.throw()
          expect(() => fs.removeTree(path), path).not.to.throw()
        }
        expect(fs.readDir(`${folder}/file`)).to.equal(undefined)
        expect(fs.readFile(folder)).to.equal(undefined)
        expect(fs.open(folder)).to.equal(undefined)
      })

      it('keeps nothing open of what is no file', () => {
        const folder = fresh()
        // other tests and threads of this process open a few, too
        const before = readdirSync('/proc/self/fd').length
        for (let times = 0; times < 200; times++) expect(fs.open(folder)).to.equal(undefined)
        expect(readdirSync('/proc/self/fd').length - before).to.be.below(100)
      })

      it('creates files once, and reads them whole', async () => {
        const folder = fresh()
        fs.create(`${folder}/a`, Buffer.from('first'))
        expect(codeOf(() => fs.create(`${folder}/a`, Buffer.from('second')))).to.equal('EEXIST')
        await fs.createSynced(`${folder}/b`, Buffer.from('one two'))
        await fs.createSynced(`${folder}/c`, Buffer.alloc(0))
        const again = await fs.createSynced(`${folder}/b`, Buffer.from('three')).catch((error) => error.code)
        expect(again).to.equal('EEXIST')
        expect(fs.readFile(`${folder}/a`)?.toString()).to.equal('first')
        expect(fs.readFile(`${folder}/b`)?.toString()).to.equal('one two')
        expect(fs.readFile(`${folder}/c`)?.length).to.equal(0)
        expect(fs.readDir(folder)?.sort()).to.deep.equal(['a', 'b', 'c'])
        expect(codeOf(() => fs.create(`${folder}/none/a`, Buffer.alloc(1)))).to.equal('ENOENT')
      })

      it('keeps every byte of long files', async () => {
        const folder = fresh()
        for (const size of [65_535, 65_536, 65_537, 3_000_001]) {
          const bytes = Buffer.alloc(size, 'abcdefg')
          await fs.createSynced(`${folder}/${size}`, bytes)
          expect(fs.readFile(`${folder}/${size}`)?.equals(bytes)).to.equal(true)
          expect(fs.stat(`${folder}/${size}`)?.size).to.equal(size)
        }
      })

      it('syncs and removes many files, whether or not they are there', async () => {
        const folder = fresh()
        const [a, b, c] = ['a', 'b', 'c'].map((name) => `${folder}/${name}`) as [string, string, string]
        for (const path of [a, b, c]) fs.create(path, Buffer.alloc(0))
        await fs.syncAll([a, `${folder}/none`, folder])
        await fs.removeAll([a, `${folder}/none`, `${folder}/none/below`, c])
        expect(fs.readDir(folder)).to.deep.equal(['b'])
      })

      it('does not hand out memory that a later read changes', () => {
        const folder = fresh()
        fs.create(`${folder}/a`, Buffer.from('first'))
        fs.create(`${folder}/b`, Buffer.from('other'))
        const first = fs.readFile(`${folder}/a`)
        fs.readFile(`${folder}/b`)
        expect(first?.toString()).to.equal('first')
      })

      it('reads from any position, also after the file was removed', () => {
        const folder = fresh()
        fs.create(`${folder}/a`, Buffer.from('0123456789'))
        const handle = fs.open(`${folder}/a`)!
        fs.remove(`${folder}/a`)
        const target = Buffer.alloc(4)
        expect(handle.size).to.equal(10)
        expect(handle.read(target, 3)).to.equal(4)
        expect(target.toString()).to.equal('3456')
        expect(handle.read(target, 8)).to.equal(2)
        expect(handle.read(target, 10)).to.equal(0)
        handle.close()
      })

      it('appends', () => {
        const folder = fresh()
        fs.append(`${folder}/log`, Buffer.from('a\n'))
        fs.append(`${folder}/log`, Buffer.from('b\n'))
        expect(fs.readFile(`${folder}/log`)?.toString()).to.equal('a\nb\n')
      })

      it('writes a file on, reads it back and corrects it', async () => {
        const folder = fresh()
        const file = fs.createFile(`${folder}/draft`)
        expect(codeOf(() => fs.createFile(`${folder}/draft`))).to.equal('EEXIST')
        expect(codeOf(() => fs.createFile(`${folder}/none/draft`))).to.equal('ENOENT')
        file.append(Buffer.from('head'))
        file.append(Buffer.from('body'))
        file.overwrite(Buffer.from('HE'), 0)
        file.append(Buffer.from('tail'))
        file.overwrite(Buffer.from('Y'), 7)
        file.append(Buffer.from('.'))
        const target = Buffer.alloc(6)
        expect(file.read(target, 6)).to.equal(6)
        expect(target.toString()).to.equal('dYtail')
        expect(file.read(target, 10)).to.equal(3)
        expect(file.read(target, 13)).to.equal(0)
        await file.sync()
        file.close()
        expect(fs.readFile(`${folder}/draft`)?.toString()).to.equal('HEadbodYtail.')
      })

      it('makes folders with their parents, again without complaint', () => {
        const folder = fresh()
        fs.makeDir(`${folder}/a/b/c`)
        fs.makeDir(`${folder}/a/b/c`)
        expect(fs.stat(`${folder}/a/b`)?.kind).to.equal('folder')
        fs.removeTree(`${folder}/a`)
        expect(fs.readDir(folder)).to.deep.equal([])
      })

      it('makes a repository’s folder only when it is the one that is asked for', () => {
        const folder = fresh()
        const code = codeOf(() => fs.makeDir(`${folder}/gone.git/refs/heads`))
        expect(code).to.equal('ENOENT')
        expect(fs.readDir(folder)).to.deep.equal([])
        fs.makeDir(`${folder}/made/new.git`)
        fs.makeDir(`${folder}/made/new.git/refs/heads`)
        expect(fs.readDir(`${folder}/made/new.git`)).to.deep.equal(['refs'])
      })

      it('renames over a file, and over nothing else that holds something', () => {
        const folder = fresh()
        fs.create(`${folder}/new`, Buffer.from('new'))
        fs.create(`${folder}/old`, Buffer.from('old'))
        fs.rename(`${folder}/new`, `${folder}/old`)
        expect(fs.readDir(folder)).to.deep.equal(['old'])
        expect(fs.readFile(`${folder}/old`)?.toString()).to.equal('new')

        fs.makeDir(`${folder}/full/child`)
        fs.makeDir(`${folder}/empty`)
        fs.makeDir(`${folder}/moving/inside`)
        expect(codeOf(() => fs.rename(`${folder}/old`, `${folder}/empty`))).to.equal('EISDIR')
        expect(codeOf(() => fs.rename(`${folder}/moving`, `${folder}/old`))).to.equal('ENOTDIR')
        expect(codeOf(() => fs.rename(`${folder}/moving`, `${folder}/full`))).to.be.oneOf([
          'ENOTEMPTY',
          'EEXIST',
        ])
        expect(codeOf(() => fs.rename(`${folder}/none`, `${folder}/other`))).to.equal('ENOENT')
        fs.rename(`${folder}/moving`, `${folder}/empty`)
        expect(fs.readDir(`${folder}/empty`)).to.deep.equal(['inside'])
        expect(fs.readDir(`${folder}/full`)).to.deep.equal(['child'])
      })

      it('links a second name to one inode, once', () => {
        const folder = fresh()
        fs.create(`${folder}/owner`, Buffer.from('content'))
        fs.create(`${folder}/other`, Buffer.from('content'))
        fs.link(`${folder}/owner`, `${folder}/lock`)
        expect(codeOf(() => fs.link(`${folder}/other`, `${folder}/lock`))).to.equal('EEXIST')
        expect(codeOf(() => fs.link(`${folder}/none`, `${folder}/lock2`))).to.equal('ENOENT')
        const inode = fs.stat(`${folder}/owner`)?.inode
        expect(fs.stat(`${folder}/lock`)?.inode).to.equal(inode)
        expect(fs.stat(`${folder}/other`)?.inode).not.to.equal(inode)
        expect(fs.stat(`${folder}/lock`)?.links).to.equal(2)
        fs.rename(`${folder}/lock`, `${folder}/target`)
        fs.remove(`${folder}/owner`)
        expect(fs.stat(`${folder}/target`)).to.include({ inode, links: 1, kind: 'file' })
        expect(fs.readFile(`${folder}/target`)?.toString()).to.equal('content')
      })

      it('changes the time of a folder whenever an entry comes, goes or is renamed', async () => {
        const folder = fresh()
        const elsewhere = fresh()
        fs.create(`${elsewhere}/incoming`, Buffer.from('x'))
        const steps: Record<string, () => unknown> = {
          create: () => fs.create(`${folder}/a`, Buffer.from('a')),
          createSynced: () => fs.createSynced(`${folder}/b`, Buffer.from('b')),
          append: () => fs.append(`${folder}/log`, Buffer.from('b')),
          rename: () => fs.rename(`${folder}/a`, `${folder}/c`),
          'rename over': () => fs.rename(`${folder}/b`, `${folder}/c`),
          'rename into': () => fs.rename(`${elsewhere}/incoming`, `${folder}/incoming`),
          'rename away': () => fs.rename(`${folder}/incoming`, `${elsewhere}/incoming`),
          link: () => fs.link(`${folder}/c`, `${folder}/d`),
          remove: () => fs.remove(`${folder}/d`),
          makeDir: () => fs.makeDir(`${folder}/e/f`),
          removeTree: () => fs.removeTree(`${folder}/e`),
        }
        for (const [step, action] of Object.entries(steps)) {
          const before = fs.stat(folder)!.modified
          await pause(15)
          await action()
          expect(fs.stat(folder)!.modified, step).to.be.greaterThan(before)
          expect(fs.stat(folder)!.modified, step).to.be.closeTo(Date.now(), 60_000)
        }
        await fs.syncDir(folder)
      })
    })
  }

  it('nodeFs: sees a symbolic link as such', () => {
    const folder = temporaryFolder()
    symlinkSync('/', `${folder}/link`)
    expect(nodeFs.stat(`${folder}/link`)?.kind).to.equal('other')
  })

  it('nodeFs: makes folders also while somebody removes those that are empty', async () => {
    const folder = temporaryFolder()
    const paths = JSON.stringify(['a/b/c', 'a/b', 'a'].map((path) => `${folder}/${path}`))
    const remover = spawn(process.execPath, [
      '-e',
      `const rest = new Int32Array(new SharedArrayBuffer(4))
       process.stdout.write('.')
       for (;;) {
         for (const path of ${paths}) try { fs.rmdirSync(path) } catch {}
         Atomics.wait(rest, 0, 0, 0.02)
       }`,
    ])
    const closed = once(remover, 'close')
    try {
      await once(remover.stdout, 'data')
      for (let time = 0; time < 2000; time++) nodeFs.makeDir(`${folder}/a/b/c`)
    } finally {
      remover.kill('SIGKILL')
      await closed
    }
  })

  it('nodeFs: leaves no half-made file behind', async () => {
    const folder = temporaryFolder()
    const bad = { length: 10 } as Uint8Array
    expect(await nodeFs.createSynced(`${folder}/a`, bad).catch(() => 'failed')).to.equal('failed')
    expect(readdirSync(folder)).to.deep.equal([])
  })
})
