import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Refusal } from '../../src/errors.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { holdingLock, sweepDeadLocks, LockFile } from '../../src/storage/files/lock-file.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import type { ProcessIdentity } from '../../src/storage/files/process-identity.ts'
import { identityName, thisProcess } from '../../src/storage/files/process-identity.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

describe('git: a lock', () => {
  const deadPid = spawnSync('true').pid
  const owners: Record<string, ProcessIdentity> = {
    'a process that ended': { ...thisProcess(), pid: deadPid },
    'a process of before the restart of the machine': { ...thisProcess(), boot: 'feedfacecafe' },
    'another process that had our number before us': { ...thisProcess(), start: '1' },
  }
  const dead = `${identityName({ ...thisProcess(), pid: deadPid })}.1`

  describe('is a file of git’s kind, with an owner', () => {
    for (const [disk, fs, makeFolder] of [
      ['on disk', nodeFs, temporaryFolder],
      ['in memory', memoryFs(), () => '/gitdir'],
    ] as const) {
      it(`published, it becomes the file and leaves nothing, ${disk}`, async () => {
        const folder = makeFolder()
        fs.makeDir(folder)
        fs.append(`${folder}/ref`, Buffer.from('old\n'))
        const lock = await new LockFile(fs, folder, 'new\n').acquire(`${folder}/ref.lock`)
        expect(fs.readFile(`${folder}/ref.lock`)?.toString()).to.equal('new\n')
        expect(fs.readFile(`${folder}/ref`)?.toString()).to.equal('old\n')
        expect(fs.readDir(`${folder}/locks`)?.[0]).to.contain(identityName(thisProcess()))
        lock.publish(`${folder}/ref`)
        expect(fs.readFile(`${folder}/ref`)?.toString()).to.equal('new\n')
        await nextTurn()
        expect(fs.readDir(folder)?.sort()).to.deep.equal(['locks', 'ref'])
        expect(fs.readDir(`${folder}/locks`)).to.deep.equal([])
        fs.remove(`${folder}/ref`)
      })

      it(`released, it leaves the file as it was and nothing else, ${disk}`, async () => {
        const folder = makeFolder()
        fs.makeDir(folder)
        fs.append(`${folder}/ref`, Buffer.from('old\n'))
        const lock = await new LockFile(fs, folder, 'new\n').acquire(`${folder}/ref.lock`)
        lock.release()
        expect(fs.readFile(`${folder}/ref`)?.toString()).to.equal('old\n')
        expect(fs.readDir(folder)?.sort()).to.deep.equal(['locks', 'ref'])
        expect(fs.readDir(`${folder}/locks`)).to.deep.equal([])
      })
    }

    it('leaves no owner file when the disk refuses the link', async () => {
      const folder = temporaryFolder()
      const readOnly = Object.assign(new Error('read-only'), { code: 'EROFS' })
      const fs = { ...nodeFs, link: () => raise(readOnly) }
      const refused = await new LockFile(fs, folder, '').acquire(`${folder}/ref.lock`).catch(itself)
      expect(refused).to.equal(readOnly)
      expect(everythingIn(folder)).to.deep.equal([])
    })

    it('is had where another server makes its folders, or empties them, between one look and the next', async () => {
      const folder = temporaryFolder()
      const missing = Object.assign(new Error('no such file or directory'), { code: 'ENOENT' })
      let tries = 0
      const unlessFirst = (path: string): void => {
        if (++tries % 3 === 0) return
        mkdirSync(dirname(path), { recursive: true })
        raise(missing)
      }
      const fs: Fs = {
        ...nodeFs,
        create: (path, bytes) => (unlessFirst(path), nodeFs.create(path, bytes)),
        link: (from, to) => (unlessFirst(to), nodeFs.link(from, to)),
      }
      const lock = await new LockFile(fs, folder, 'new\n').acquire(`${folder}/heads/team/ref.lock`)
      lock.publish(`${folder}/heads/team/ref`)
      expect(nodeFs.readFile(`${folder}/heads/team/ref`)?.toString()).to.equal('new\n')
      expect(tries).to.equal(6)
    })

    it('is given up when the work under it throws', async () => {
      const folder = temporaryFolder()
      const broken = new Error('broken')
      const work = async () => {
        expect(readdirSync(folder)).to.include('slugs.lock')
        throw broken
      }
      expect(await holdingLock(nodeFs, folder, 'slugs', work).catch(itself)).to.equal(broken)
      expect(everythingIn(folder)).to.deep.equal([])
      expect(await holdingLock(nodeFs, folder, 'slugs', async () => 'next')).to.equal('next')
    })
  })

  describe('is waited for', () => {
    it('while its holder lives, and goes to who waited', async () => {
      const folder = temporaryFolder()
      const first = await new LockFile(nodeFs, folder, 'first\n').acquire(`${folder}/ref.lock`)
      let hasSecond = false
      const second = new LockFile(nodeFs, folder, 'second\n')
        .acquire(`${folder}/ref.lock`)
        .then((lock) => ((hasSecond = true), lock))
      await pause(150)
      expect(hasSecond).to.equal(false)
      first.publish(`${folder}/ref`)
      ;(await second).publish(`${folder}/ref`)
      expect(readFileSync(`${folder}/ref`, 'utf8')).to.equal('second\n')
      await nextTurn()
      expect(everythingIn(folder)).to.deep.equal(['ref'])
    })

    it('five seconds at most: then it is refused by name, and left to whoever has it', async () => {
      const folder = temporaryFolder()
      const child = await holderIn(folder, 'living')
      leaveLock(folder, 'elsewhere', `${identityName({ ...thisProcess(), host: 'elsewhere', pid: 1 })}.1`)
      // git creates its lock without an owner file.
      writeFileSync(`${folder}/gits.lock`, 'git\n')
      const before = everythingIn(folder)
      const start = performance.now()
      const refusals = await Promise.all(
        ['living', 'elsewhere', 'gits'].map(async (name) => {
          const path = `${folder}/${name}.lock`
          const refusal: Refusal = await new LockFile(nodeFs, folder, 'mine\n').acquire(path).catch(itself)
          return { path, refusal, after: performance.now() - start }
        }),
      )
      for (const { path, refusal, after } of refusals) {
        expect(refusal.code, path).to.equal('locked')
        expect(refusal.message).to.match(new RegExp(`^${path} is held by another process.*remove that file`))
        expect(after).to.be.at.least(4990)
      }
      expect(everythingIn(folder)).to.deep.equal(before)
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
  })

  describe('is taken over', () => {
    it('from a server that was killed', async () => {
      const folder = temporaryFolder()
      const child = await holderIn(folder, 'ref')
      child.kill('SIGKILL')
      await once(child, 'exit')
      const lock = await new LockFile(nodeFs, folder, 'mine\n').acquire(`${folder}/ref.lock`)
      lock.publish(`${folder}/ref`)
      expect(readFileSync(`${folder}/ref`, 'utf8')).to.equal('mine\n')
      expect(everythingIn(folder)).to.deep.equal(['ref'])
    })

    for (const [who, owner] of Object.entries(owners)) {
      it(`from ${who}`, async () => {
        const folder = temporaryFolder()
        leaveLock(folder, 'ref', `${identityName(owner)}.7`)
        const lock = await new LockFile(nodeFs, folder, 'mine\n').acquire(`${folder}/ref.lock`)
        expect(readFileSync(`${folder}/ref.lock`, 'utf8')).to.equal('mine\n')
        lock.release()
        expect(everythingIn(folder)).to.deep.equal([])
      })
    }

    it('without an owner, if it is of before the start of the machine', async () => {
      const folder = temporaryFolder()
      writeFileSync(`${folder}/ref.lock`, 'old\n')
      utimesSync(`${folder}/ref.lock`, 1_000_000_000, 1_000_000_000)
      const lock = await new LockFile(nodeFs, folder, 'mine\n').acquire(`${folder}/ref.lock`)
      expect(readFileSync(`${folder}/ref.lock`, 'utf8')).to.equal('mine\n')
      lock.release()
      expect(everythingIn(folder)).to.deep.equal([])
    })

    it('also where the process that was taking it over died, too', async () => {
      const folder = temporaryFolder()
      leaveLock(folder, 'ref', dead)
      const taker = `${identityName({ ...thisProcess(), boot: 'feedfacecafe' })}.3`
      writeFileSync(`${folder}/locks/${taker}`, '')
      linkSync(`${folder}/locks/${taker}`, `${folder}/locks/${dead}.takeover`)
      const lock = await new LockFile(nodeFs, folder, 'mine\n').acquire(`${folder}/ref.lock`)
      lock.release()
      expect(everythingIn(folder)).to.deep.equal([])
    })

    it('by one only of those that find it, each of the others in turn', async () => {
      const folder = temporaryFolder()
      leaveLock(folder, 'slugs', dead)
      let inside = 0
      let most = 0
      const work = async () => {
        most = Math.max(most, ++inside)
        await pause(2)
        inside--
      }
      await Promise.all(Array.from({ length: 12 }, () => holdingLock(nodeFs, folder, 'slugs', work)))
      expect(most).to.equal(1)
      expect(everythingIn(folder)).to.deep.equal([])
    })

    it('and held by one process at a time, also of several that start at a dead one’s lock', async () => {
      const folder = temporaryFolder()
      leaveLock(folder, 'slugs', dead)
      writeFileSync(`${folder}/count`, '0')
      const ends = [1, 2, 3].map(() => once(spawnNode(folder, COUNT_UP), 'exit'))
      expect((await Promise.all(ends)).map(([code]) => code)).to.deep.equal([0, 0, 0])
      expect(readFileSync(`${folder}/count`, 'utf8')).to.equal('45')
      expect(everythingIn(folder)).to.deep.equal(['count'])
    })
  })

  describe('of a dead process', () => {
    it('is swept away with its owner file; others’ and git’s stay', async () => {
      const folder = temporaryFolder()
      for (const name of ['heads', 'tags', 'notes']) mkdirSync(`${folder}/${name}`)
      leaveLock(folder, 'HEAD', dead)
      leaveLock(folder, 'heads/main', `${dead}1`)
      leaveLock(folder, 'tags/v1', `${dead}2`)
      leaveLock(folder, 'notes/n', `${identityName({ ...thisProcess(), host: 'elsewhere' })}.1`)
      // Its ref moved, the process died before it could remove the owner file.
      writeFileSync(`${folder}/locks/${dead}3`, 'moved\n')
      linkSync(`${folder}/locks/${dead}3`, `${folder}/heads/moved`)
      writeFileSync(`${folder}/heads/gits.lock`, 'git\n')
      const held = await new LockFile(nodeFs, folder, 'mine\n').acquire(`${folder}/heads/held.lock`)
      await sweepDeadLocks(nodeFs, folder, [folder, `${folder}/heads`, `${folder}/tags`, `${folder}/absent`])
      const left = everythingIn(folder).filter((path) => !path.startsWith('locks/'))
      expect(left).to.deep.equal(['heads/gits.lock', 'heads/held.lock', 'heads/moved', 'notes/n.lock'])
      expect(readdirSync(`${folder}/locks`).filter((name) => name.startsWith(dead))).to.deep.equal([])
      expect(readdirSync(`${folder}/locks`)).to.have.length(2)
      held.publish(`${folder}/heads/held`)
      expect(readFileSync(`${folder}/heads/held`, 'utf8')).to.equal('mine\n')
    })

    it('one of several with a shared owner file is taken over, and the others know their owner still', async () => {
      const folder = temporaryFolder()
      mkdirSync(`${folder}/heads`)
      leaveLock(folder, 'heads/one', `${dead}.shared`)
      for (const name of ['two', 'three'])
        linkSync(`${folder}/locks/${dead}.shared`, `${folder}/heads/${name}.lock`)
      for (const name of ['one', 'two', 'three'])
        (await new LockFile(nodeFs, folder, 'new\n').acquire(`${folder}/heads/${name}.lock`)).publish(
          `${folder}/heads/${name}`,
        )
      expect(readFileSync(`${folder}/heads/three`, 'utf8')).to.equal('new\n')
      expect(readdirSync(`${folder}/locks`)).to.deep.equal([])
    })

    it('is not looked for where no dead process left an owner file', async () => {
      const folder = temporaryFolder()
      writeFileSync(`${folder}/HEAD.lock`, '')
      await sweepDeadLocks({ ...nodeFs, create: () => raise(new Error('written')) }, folder, [folder])
      expect(everythingIn(folder)).to.deep.equal(['HEAD.lock'])
    })
  })
})

/** Takes `process.argv[1]`'s lock and never lets go. */
const HOLD = `
  const lock = await new LockFile(nodeFs, process.argv[1], 'theirs\\n').acquire(process.argv[1] + '/' + process.argv[2] + '.lock')
  process.stdout.write('held')
  setInterval(() => lock, 1000)`

/** Counts up in a file that only the lock keeps from losing steps. */
const COUNT_UP = `
  const count = process.argv[1] + '/count'
  for (let step = 0; step < 15; step++) {
    await holdingLock(nodeFs, process.argv[1], 'slugs', async () => {
      const before = Number(readFileSync(count, 'utf8'))
      await new Promise((resolve) => setTimeout(resolve, 1))
      writeFileSync(count, String(before + 1))
    })
  }`

function spawnNode(folder: string, script: string, ...args: readonly string[]) {
  const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const imports =
    `import { readFileSync, writeFileSync } from 'node:fs'\n` +
    `import { holdingLock, LockFile } from ${at('../../src/storage/files/lock-file.js')}\n` +
    `import { nodeFs } from ${at('../../src/storage/files/node-fs.js')}\n`
  return spawn(process.execPath, ['--input-type=module', '-e', imports + script, folder, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Another process that holds `<folder>/<name>.lock`. */
async function holderIn(folder: string, name: string): Promise<ReturnType<typeof spawn>> {
  const child = spawnNode(folder, HOLD, name)
  after(() => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  expect(String(said)).to.equal('held')
  return child
}

/** A lock as a process of this name left it. */
function leaveLock(folder: string, name: string, owner: string): void {
  mkdirSync(`${folder}/locks`, { recursive: true })
  writeFileSync(`${folder}/locks/${owner}`, 'theirs\n')
  linkSync(`${folder}/locks/${owner}`, `${folder}/${name}.lock`)
}

/** The paths of all files below the folder. */
function everythingIn(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true }).map(String)
  return paths.filter((path) => statSync(`${folder}/${path}`).isFile()).sort()
}

function raise(error: Error): never {
  throw error
}

function itself<T>(error: T): T {
  return error
}
