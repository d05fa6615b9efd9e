import { expect } from 'chai'
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { git, repositoryWithHistory, temporaryFolder } from '../../support/git/git-program.ts'
import type { Refusal } from '../../../src/errors.ts'
import type { RefSnapshot } from '../../../src/git/refs/ref-store.ts'
import { RefReader } from '../../../src/git/refs/ref-store.ts'
import { moveRefs } from './move-refs.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

const MAIN = 'refs/heads/main'

describe('git: the refs of a repository', () => {
  const source = repositoryWithHistory(3)
  const [third = '', second = '', first = ''] = git(source, ['rev-list', 'main']).split('\n')

  describe('as git left them', () => {
    const changes: Record<string, (folder: string) => unknown> = {
      'after git update-ref': (folder) => git(folder, ['update-ref', MAIN, first]),
      'after git update-ref of a new ref': (folder) =>
        git(folder, ['update-ref', 'refs/meta/artifact', first]),
      'in a folder of refs that was not there': (folder) =>
        git(folder, ['update-ref', 'refs/environments/live', first]),
      'after git pack-refs --all': (folder) => git(folder, ['pack-refs', '--all']),
      'after git pack-refs --all and a move': (folder) => {
        git(folder, ['pack-refs', '--all'])
        git(folder, ['update-ref', MAIN, second])
      },
      'after git branch -d': (folder) => git(folder, ['branch', '-D', 'old']),
      'after git branch -d of a packed one': (folder) => {
        git(folder, ['pack-refs', '--all'])
        git(folder, ['branch', '-D', 'old'])
      },
      'after git branch -m': (folder) => git(folder, ['branch', '-m', 'old', 'older']),
      'after git tag': (folder) => git(folder, ['tag', 'v1', second]),
      'after git fetch': (folder) => git(folder, ['fetch', '-q', source, '+refs/heads/*:refs/heads/*']),
      'after git push': (folder) => git(source, ['push', '-q', folder, 'main:fresh']),
      'after git symbolic-ref HEAD': (folder) => git(folder, ['symbolic-ref', 'HEAD', 'refs/heads/old']),
      'after a HEAD that names a branch that is not born': (folder) =>
        git(folder, ['symbolic-ref', 'HEAD', 'refs/heads/unborn']),
      'after HEAD is detached': (folder) => git(folder, ['update-ref', '--no-deref', 'HEAD', first]),
    }
    for (const [what, change] of Object.entries(changes)) {
      it(`are seen with the next look, ${what}`, () => {
        const folder = copyOf(source, { old: first, [MAIN]: second })
        const reader = new RefReader(nodeFs, folder)
        settle(folder)
        const before = reader.snapshot()
        expect(contents(before)).to.deep.equal(asGitSees(folder))
        expect(reader.snapshot()).to.equal(before)
        change(folder)
        expect(contents(reader.snapshot())).to.deep.equal(asGitSees(folder))
        expect(contents(new RefReader(nodeFs, folder).snapshot())).to.deep.equal(asGitSees(folder))
        for (const [ref, oid] of reader.snapshot().refs) expect(reader.current(ref)).to.equal(oid)
      })
    }

    it('are the same object if packing changed where they lie and not what they are', () => {
      const folder = copyOf(source, { [MAIN]: second })
      const reader = new RefReader(nodeFs, folder)
      const before = reader.snapshot()
      git(folder, ['pack-refs', '--all'])
      expect(reader.snapshot()).to.equal(before)
      git(folder, ['update-ref', MAIN, third])
      const after = reader.snapshot()
      expect(after).not.to.equal(before)
      expect(before.refs.get(MAIN)).to.equal(second)
    })

    it('are seen one by one without a snapshot, also a packed one that is gone', () => {
      const folder = copyOf(source, { [MAIN]: second, old: first })
      git(folder, ['pack-refs', '--all'])
      const reader = new RefReader(nodeFs, folder)
      settle(folder)
      expect(reader.current(MAIN)).to.equal(second)
      git(folder, ['update-ref', MAIN, third])
      expect(reader.current(MAIN)).to.equal(third)
      expect(reader.current('refs/heads/old')).to.equal(first)
      git(folder, ['branch', '-D', 'old'])
      expect(reader.current('refs/heads/old')).to.equal(undefined)
      expect(reader.current('refs/heads/absent')).to.equal(undefined)
    })
  })

  it('are those of no repository where there is none', () => {
    expect(contents(new RefReader(nodeFs, `${temporaryFolder()}/absent`).snapshot())).to.deep.equal({
      refs: {},
      head: undefined,
    })
  })

  it('cost a stat a folder and no read while nothing changed, and none for a folder that is not there', () => {
    const folder = copyOf(source, { [MAIN]: second })
    settle(folder)
    const { fs, calls } = countingFs()
    const reader = new RefReader(fs, folder)
    const before = reader.snapshot()
    for (const absent of ['meta', 'environments'])
      expect(readdirSync(`${folder}/refs`)).to.not.include(absent)
    calls.length = 0
    expect(reader.snapshot()).to.equal(before)
    // The repository, refs, and heads and tags below it.
    expect(calls).to.deep.equal(Array.from({ length: 4 }, () => 'stat'))
  })

  it('are looked at again as long as another change could carry the same time', () => {
    const folder = copyOf(source, { [MAIN]: second })
    const heads = `${folder}/refs/heads`
    const reader = new RefReader(nodeFs, folder)
    // A time of a moment ago that stays that: as if both changes fell into one tick of the clock.
    const now = new Date(Date.now() + 60_000)
    for (const oid of [first, third]) {
      writeFileSync(`${heads}/main`, `${oid}\n`)
      utimesSync(heads, now, now)
      expect(reader.snapshot().refs.get(MAIN)).to.equal(oid)
    }
  })

  describe('that we moved ourselves', () => {
    it('are known without a look, and the look that agrees keeps the object', async () => {
      const folder = copyOf(source, { [MAIN]: second })
      const { fs, calls } = countingFs()
      const reader = new RefReader(fs, folder)
      const before = reader.snapshot()
      const moves = [
        { ref: MAIN, expected: second, target: third, follows: false },
        { ref: 'refs/tags/v1', expected: undefined, target: first, follows: true },
        { ref: 'HEAD', expected: undefined, target: 'ref: refs/heads/other', follows: true },
      ]
      await moveRefs(fs, folder, reader, moves)
      calls.length = 0
      const applied = reader.latest
      expect(calls).to.deep.equal([])
      expect(contents(applied)).to.deep.equal({
        refs: { [MAIN]: third, 'refs/tags/v1': first },
        head: 'refs/heads/other',
      })
      expect(reader.snapshot()).to.equal(applied)
      settle(folder)
      expect(reader.snapshot()).to.equal(applied)
      expect(contents(before)).to.deep.equal({ refs: { [MAIN]: second }, head: MAIN })
    })

    it('give way to what another process did since', () => {
      const folder = copyOf(source, { [MAIN]: second })
      const reader = new RefReader(nodeFs, folder)
      reader.snapshot()
      git(folder, ['update-ref', MAIN, third])
      reader.apply([{ ref: MAIN, target: first }])
      expect(reader.latest.refs.get(MAIN)).to.equal(first)
      expect(reader.snapshot().refs.get(MAIN)).to.equal(third)
    })

    it('are there in memory, too, where nobody else moves any', async () => {
      const fs = memoryFs()
      fs.makeDir('/bot.git')
      fs.makeDir('/bot.git/refs/heads')
      fs.create('/bot.git/HEAD', Buffer.from(`ref: ${MAIN}\n`))
      const reader = new RefReader(fs, '/bot.git')
      let expected: string | undefined
      for (const target of [first, second, third]) {
        const moves = [{ ref: MAIN, expected, target, follows: false }]
        await moveRefs(fs, '/bot.git', reader, moves)
        expect(reader.current(MAIN)).to.equal(target)
        for (const look of [reader, new RefReader(fs, '/bot.git')]) {
          expect(contents(look.snapshot())).to.deep.equal({ refs: { [MAIN]: target }, head: MAIN })
        }
        expected = target
        // Long enough for the times of the folders to be believed.
        await pause(30)
        fs.append('/bot.git/first-parents', Buffer.from('derived'))
        expect(reader.snapshot().refs.get(MAIN)).to.equal(target)
      }
    })
  })

  it('are looked at once for all that ask in the same turn of the event loop', async () => {
    const folder = copyOf(source, { [MAIN]: second })
    const reader = new RefReader(nodeFs, folder)
    await nextTurn()
    const seen = reader.shared()
    git(folder, ['update-ref', MAIN, third])
    expect(reader.shared()).to.equal(seen)
    await Promise.resolve()
    expect(reader.shared()).to.equal(seen)
    await nextTurn()
    expect(reader.shared().refs.get(MAIN)).to.equal(third)
  })

  describe('that are damaged', () => {
    const oid = '0123456789'.repeat(4)
    const damages: Record<string, readonly [path: string, content: string]> = {
      'an empty file': ['refs/heads/broken', ''],
      'half an id': ['refs/heads/broken', oid.slice(0, 20)],
      'an id and more': ['refs/tags/broken', `${oid} ${oid}\n`],
      'no id at all': ['refs/meta/broken', 'hello\n'],
      'a line of packed-refs without a name': ['packed-refs', `${oid}\n`],
      'a line of packed-refs without an id': ['packed-refs', `${oid} refs/heads/a\nhello refs/heads/b\n`],
    }
    for (const [what, [path, content]] of Object.entries(damages)) {
      it(`are refused by name, and read again once they are mended: ${what}`, () => {
        const folder = copyOf(source, { [MAIN]: second })
        git(folder, ['update-ref', 'refs/meta/artifact', first])
        const reader = new RefReader(nodeFs, folder)
        settle(folder)
        reader.snapshot()
        git(folder, ['update-ref', MAIN, third])
        writeFileSync(`${folder}/${path}`, content)
        for (const look of [() => reader.snapshot(), () => new RefReader(nodeFs, folder).snapshot()]) {
          const refusal = refusalOf(look)
          expect(refusal.code).to.equal('damaged_repository')
          expect(refusal.message).to.match(new RegExp(`^${folder}/${path} does not hold an object id`))
        }
        if (path !== 'packed-refs') expect(refusalOf(() => reader.current(path)).message).to.contain(path)
        rmSync(`${folder}/${path}`)
        expect(contents(reader.snapshot())).to.deep.equal(asGitSees(folder))
      })
    }
  })

  it('are only those the registry knows: no deeper, symbolic or foreign ones, and no locks', () => {
    const folder = copyOf(source, { [MAIN]: second })
    const reader = new RefReader(nodeFs, folder)
    const deeper = ['refs/heads/topic/a', 'refs/notes/commits', 'refs/remotes/origin/main', 'refs/tags/a/b/c']
    for (const ref of deeper) git(folder, ['update-ref', ref, first])
    git(folder, ['symbolic-ref', 'refs/heads/alias', MAIN])
    writeFileSync(`${folder}/refs/heads/main.lock`, '')
    mkdirSync(`${folder}/refs/tags/empty`)
    const known = { refs: { [MAIN]: second }, head: MAIN }
    expect(contents(reader.snapshot())).to.deep.equal(known)
    rmSync(`${folder}/refs/heads/main.lock`)
    git(folder, ['pack-refs', '--all'])
    expect(contents(reader.snapshot())).to.deep.equal(known)
    expect(reader.current('refs/heads/alias')).to.equal(undefined)
    expect(reader.current('refs/heads/topic')).to.equal(undefined)
  })

  it('are read beside the lines that git adds for annotated tags', () => {
    const folder = copyOf(source, { [MAIN]: second })
    git(folder, ['tag', '-a', '-m', 'One', 'v1', first])
    git(folder, ['pack-refs', '--all'])
    const tag = git(folder, ['rev-parse', 'refs/tags/v1'])
    expect(new RefReader(nodeFs, folder).snapshot().refs.get('refs/tags/v1')).to.equal(tag)
    expect(tag).not.to.equal(first)
  })
})

/** A repository with the objects of `source` and these refs; a short name is a branch. */
function copyOf(source: string, refs: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  cpSync(source, folder, { recursive: true })
  rmSync(`${folder}/refs/heads/main`)
  const named = Object.entries(refs).map(([name, oid]) => [name.replace(/^(?!refs\/)/, 'refs/heads/'), oid])
  git(folder, ['update-ref', '--stdin'], named.map(([name, oid]) => `create ${name} ${oid}\n`).join(''))
  return folder
}

/** Makes the folders as old as if nothing had moved for an hour. */
function settle(folder: string): void {
  const anHourAgo = Date.now() / 1000 - 3600
  for (const name of ['', 'refs', 'refs/heads', 'refs/tags', 'refs/meta']) {
    if (nodeFs.stat(`${folder}/${name}`)) utimesSync(`${folder}/${name}`, anHourAgo, anHourAgo)
  }
}

interface Contents {
  readonly refs: Readonly<Record<string, string>>
  readonly head: string | undefined
}

function contents({ refs, head }: RefSnapshot): Contents {
  return { refs: Object.fromEntries(refs), head }
}

/** The same from git itself. */
function asGitSees(folder: string): Contents {
  const lines = git(folder, ['for-each-ref', '--format=%(refname) %(objectname)']).split('\n')
  const head = nodeFs.readFile(`${folder}/HEAD`)?.toString()
  return {
    refs: Object.fromEntries(lines.filter((line) => line !== '').map((line) => line.split(' '))),
    head: head?.startsWith('ref: ') ? head.slice('ref: '.length).trimEnd() : undefined,
  }
}

/** The real disk, with the names of the calls that were made on it. */
function countingFs(): { readonly fs: Fs; readonly calls: string[] } {
  const calls: string[] = []
  const fs: Fs = {
    ...nodeFs,
    stat: (path) => (calls.push('stat'), nodeFs.stat(path)),
    readDir: (path) => (calls.push('readDir'), nodeFs.readDir(path)),
    readFile: (path) => (calls.push('readFile'), nodeFs.readFile(path)),
  }
  return { fs, calls }
}

function refusalOf(action: () => unknown): Refusal {
  try {
    action()
  } catch (error) {
    return error as Refusal // the assertions that follow say so
  }
  throw new Error('It was not refused.')
}
