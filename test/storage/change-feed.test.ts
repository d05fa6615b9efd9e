import { expect } from 'chai'
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChangeFeed } from '../../src/storage/files/change-feed.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

const BOT = 'workflows/bot'
const TESTS = 'testsets/tests'

describe('git: the log of changes', () => {
  for (const [disk, fs, folderOf] of [
    ['on disk', nodeFs, temporaryFolder],
    ['in memory', memoryFs(), () => '/default'],
  ] as const) {
    it(`tells each server once what the others wrote, and not what it wrote itself, ${disk}`, () => {
      const folder = folderOf()
      fs.makeDir(folder)
      const a = new ChangeFeed(fs, folder, 'a')
      const b = new ChangeFeed(fs, folder, 'b')
      const c = new ChangeFeed(fs, folder, 'c')
      expect(newsOf(a)).to.deep.equal([])
      a.publish(BOT)
      // Who sees the log for the first time cannot tell what it missed.
      for (const log of [a, b, c]) expect(log.pollAfresh()).to.equal('everything')
      a.publish(BOT)
      expect(newsOf(b)).to.deep.equal([BOT])
      b.publish(TESTS)
      a.publish(TESTS)
      a.publish(BOT)
      expect(newsOf(a)).to.deep.equal([TESTS])
      expect(newsOf(b)).to.deep.equal([TESTS, BOT])
      expect(newsOf(c)).to.deep.equal([TESTS, BOT])
      for (const log of [a, b, c]) expect(newsOf(log)).to.deep.equal([])
    })
  }

  it('is looked at once for all that ask in the same turn of the event loop', async () => {
    const folder = temporaryFolder()
    const [a, b] = await two(folder)
    await nextTurn()
    expect(b.poll()).to.deep.equal(new Set())
    a.publish(BOT)
    expect(b.poll()).to.deep.equal(new Set())
    await nextTurn()
    expect(b.poll()).to.deep.equal(new Set([BOT]))
    expect(b.poll()).to.deep.equal(new Set())
  })

  it('has only its tail read, and nothing at all while it holds our own lines only', async () => {
    const folder = temporaryFolder()
    const { fs, read } = measuringFs()
    const [a, b] = await two(folder, fs)
    read()
    for (let count = 0; count < 1000; count++) a.publish(BOT)
    expect(newsOf(a)).to.deep.equal([])
    expect(read()).to.deep.equal({ bytes: 0, opens: 0 })
    expect(newsOf(b)).to.deep.equal([BOT])
    expect(read()).to.deep.equal({ bytes: NAME + 1000 * `a ${BOT}\n`.length, opens: 1 })
    b.publish(TESTS)
    expect(newsOf(a)).to.deep.equal([TESTS])
    expect(read()).to.deep.equal({ bytes: NAME + `b ${TESTS}\n`.length, opens: 1 })
    expect(newsOf(b)).to.deep.equal([])
    expect(newsOf(a)).to.deep.equal([])
    expect(read()).to.deep.equal({ bytes: 0, opens: 0 })
  })

  it('may be full or gone: to announce is no error, the write is safe already', () => {
    const folder = `${temporaryFolder()}/absent`
    const log = new ChangeFeed(nodeFs, folder, 'a')
    log.publish(BOT)
    expect(newsOf(log)).to.deep.equal([])
    expect(existsSync(folder)).to.equal(false)
  })

  describe('says that it cannot tell', () => {
    const losses: Record<string, (path: string) => void> = {
      'when it was deleted': (path) => rmSync(path),
      'when it was cut short': (path) => truncateSync(path, 3),
      'when it was deleted and begun anew, shorter': (path) => {
        rmSync(path)
        writeFileSync(path, `x ${BOT}\n`)
      },
      'when it was deleted and begun anew by a new file of the same length': (path) => {
        const { size } = statSync(path)
        // Its inode is taken, or the file system may give it to the next file.
        writeFileSync(`${path}.new`, 'x'.repeat(size - 1) + '\n')
        nodeFs.rename(`${path}.new`, path)
      },
      'when it was deleted and begun anew, longer, in the same place of the disk': (path) => {
        const { size, ino } = statSync(path)
        rmSync(path)
        writeFileSync(path, `x ${TESTS}\n`.padEnd(size, '.') + `\nx ${BOT}\n`)
        if (statSync(path).ino !== ino) rmSync(path) // this file system does not use it again: then it is a loss anyway
      },
    }
    for (const [when, lose] of Object.entries(losses)) {
      it(when, async () => {
        const folder = temporaryFolder()
        const [a, b] = await two(folder)
        a.publish(BOT)
        a.publish(BOT)
        expect(newsOf(b)).to.deep.equal([BOT])
        lose(`${folder}/changes`)
        expect(b.pollAfresh()).to.equal('everything')
        expect(newsOf(b)).to.deep.equal([])
        a.publish(TESTS)
        // A log that was gone is another one when it comes back.
        expect(['everything', new Set([TESTS])]).to.deep.include(b.pollAfresh())
        expect(newsOf(b)).to.deep.equal([])
      })
    }
  })

  it('is begun anew past sixteen million bytes, which the others notice', async () => {
    const folder = temporaryFolder()
    const [a, b] = await two(folder)
    const path = `${folder}/changes`
    nodeFs.append(path, Buffer.alloc(17_000_000, 'x'))
    a.pollAfresh()
    expect(existsSync(path)).to.equal(false)
    expect(b.pollAfresh()).to.equal('everything')
    a.publish(TESTS)
    expect(readFileSync(path, 'utf8')).to.match(new RegExp(`^log-[0-9a-f-]{36}\na ${TESTS}\n$`))
    expect(b.pollAfresh()).to.equal('everything')
    a.publish(BOT)
    expect(newsOf(b)).to.deep.equal([BOT])
  })
})

/** What is read of a log beside its news, to know it again. */
const NAME = 41

/** Two servers that have seen the log. */
async function two(folder: string, fs: Fs = nodeFs): Promise<readonly [ChangeFeed, ChangeFeed]> {
  const logs = [new ChangeFeed(fs, folder, 'a'), new ChangeFeed(fs, folder, 'b')] as const
  nodeFs.append(`${folder}/changes`, Buffer.from(`z ${BOT}\n`))
  for (const log of logs) log.pollAfresh()
  return logs
}

function newsOf(log: ChangeFeed): string[] | 'everything' {
  const news = log.pollAfresh()
  return news === 'everything' ? news : [...news].sort()
}

/** The real disk, with how many bytes were read and how often a file was opened since the last time this was asked. */
function measuringFs(): { readonly fs: Fs; readonly read: () => { bytes: number; opens: number } } {
  let seen = { bytes: 0, opens: 0 }
  const fs: Fs = {
    ...nodeFs,
    readFile: (path) => {
      const bytes = nodeFs.readFile(path)
      seen = { bytes: seen.bytes + (bytes?.length ?? 0), opens: seen.opens + 1 }
      return bytes
    },
    open: (path) => {
      const handle = nodeFs.open(path)
      seen = { ...seen, opens: seen.opens + 1 }
      if (!handle) return undefined
      const counted = (target: Uint8Array, position: number): number => {
        const got = handle.read(target, position)
        seen = { ...seen, bytes: seen.bytes + got }
        return got
      }
      return { ...handle, read: counted }
    },
  }
  return {
    fs,
    read: () => {
      const since = seen
      seen = { bytes: 0, opens: 0 }
      return since
    },
  }
}
