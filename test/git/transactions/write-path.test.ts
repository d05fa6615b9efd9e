import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, repositoryWithHistory } from '../../support/git/git-program.ts'
import type { RefMove } from '../../../src/git/refs/ref-move.ts'
import { RefMoved } from '../../../src/git/refs/ref-move.ts'
import { RefReader } from '../../../src/git/refs/ref-store.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { moveRefs } from '../refs/move-refs.ts'

const MAIN = 'refs/heads/main'

describe('git: moving refs', () => {
  const folder = repositoryWithHistory(3)
  const [third = '', second = '', first = ''] = git(folder, ['rev-list', 'main']).split('\n')

  beforeEach(() => {
    rmSync(`${folder}/refs`, { recursive: true })
    rmSync(`${folder}/packed-refs`, { force: true })
    for (const kind of ['heads', 'tags', 'meta']) mkdirSync(`${folder}/refs/${kind}`, { recursive: true })
    git(folder, ['symbolic-ref', 'HEAD', MAIN])
    git(folder, ['update-ref', 'refs/heads/packed', second])
    git(folder, ['update-ref', 'refs/heads/both', second])
    git(folder, ['pack-refs', '--all'])
    git(folder, ['update-ref', 'refs/heads/both', third])
    git(folder, ['update-ref', MAIN, third])
  })

  it('moves loose and packed refs and makes new ones, as git reads them', async () => {
    const refs = new RefReader(nodeFs, folder)
    refs.snapshot()
    await move(
      folder,
      [
        to(MAIN, third, first),
        to('refs/heads/packed', second, first),
        to('refs/heads/both', third, first),
        to('refs/tags/v1', undefined, second),
        to('refs/environments/live', undefined, third),
      ],
      { refs },
    )
    expect(refsOf(folder)).to.deep.equal({
      [MAIN]: first,
      'refs/heads/packed': first,
      'refs/heads/both': first,
      'refs/tags/v1': second,
      'refs/environments/live': third,
    })
    expect(Object.fromEntries(refs.latest.refs)).to.deep.equal(refsOf(folder))
    expect(leftovers(folder)).to.deep.equal([])
    expect(git(folder, ['fsck', '--strict'])).to.equal('')
  })

  it('points HEAD at a branch, whatever it named before', async () => {
    await move(folder, [to('HEAD', undefined, 'ref: refs/heads/packed')])
    expect(git(folder, ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/packed')
    await move(folder, [to('HEAD', first, 'ref: refs/heads/unborn')])
    expect(git(folder, ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/unborn')
    expect(leftovers(folder)).to.deep.equal([])
  })

  describe('moves nothing, not even the others, when one', () => {
    const cases: Record<string, RefMove> = {
      'that is loose holds something else': to(MAIN, second, first),
      'that is packed holds something else': to('refs/heads/packed', third, first),
      'is packed with the expected value but has a newer loose one': to('refs/heads/both', second, first),
      'is not there': to('refs/heads/absent', third, first),
      'that must not exist is loose': to(MAIN, undefined, first),
      'that must not exist is packed': to('refs/heads/packed', undefined, first),
    }
    for (const [which, wrong] of Object.entries(cases)) {
      it(which, async () => {
        const before = refsOf(folder)
        const others = [to('refs/heads/a', undefined, first), to('refs/tags/z', undefined, first)]
        let decided = false
        const decide = async () => void (decided = true)
        const error = await move(folder, [wrong, ...others], { decide }).catch(itself)
        expect(error).to.be.instanceOf(RefMoved)
        expect(error.message).to.contain(wrong.ref)
        expect(decided).to.equal(false)
        expect(refsOf(folder)).to.deep.equal(before)
        expect(leftovers(folder)).to.deep.equal([])
      })
    }
  })

  it('moves nothing and leaves no lock when the decision fails, and can go on', async () => {
    const before = refsOf(folder)
    const moves = [to(MAIN, third, first), to('refs/tags/v1', undefined, first)]
    const broken = new Error('the disk is full')
    const refs = new RefReader(nodeFs, folder)
    const decide = () => Promise.reject(broken)
    expect(await move(folder, moves, { refs, decide }).catch(itself)).to.equal(broken)
    expect(refsOf(folder)).to.deep.equal(before)
    expect(Object.fromEntries(refs.snapshot().refs)).to.deep.equal(before)
    expect(leftovers(folder)).to.deep.equal([])
    await move(folder, moves, { refs })
    expect(git(folder, ['rev-parse', 'main', 'v1'])).to.equal(`${first}\n${first}`)
  })

  it('decides under all locks, while git still sees the old refs and can move none of them', async () => {
    const moves = [to(MAIN, third, first), to('refs/heads/packed', second, first)]
    const before = refsOf(folder)
    const decide = async () => {
      expect(refsOf(folder)).to.deep.equal(before)
      for (const { ref } of moves) {
        expect(() => git(folder, ['-c', 'core.filesRefLockTimeout=0', 'update-ref', ref, second])).to.throw(
          `cannot lock ref '${ref}'`,
        )
      }
      git(folder, ['update-ref', 'refs/heads/both', first])
    }
    await move(folder, moves, { decide })
    expect(new Set(Object.values(refsOf(folder)))).to.deep.equal(new Set([first]))
  })

  describe('waits for git, which holds a lock of its own', () => {
    for (const [end, expected] of Object.entries({ commit: second, abort: third })) {
      it(`and then sees what it did (${end})`, async () => {
        const program = spawn('git', ['update-ref', '--stdin'], { cwd: folder, stdio: 'pipe' })
        program.stdin.write(`start\nupdate ${MAIN} ${second} ${third}\nprepare\n`)
        for (let said = ''; !said.includes('prepare: ok');) said += String(await once(program.stdout, 'data'))
        let isOver = false
        const moved = move(folder, [to(MAIN, third, first)])
          .catch(itself)
          .finally(() => (isOver = true))
        await pause(60)
        expect(isOver).to.equal(false)
        program.stdin.end(`${end}\n`)
        await once(program, 'exit')
        const error: unknown = await moved
        expect(error instanceof RefMoved).to.equal(end === 'commit')
        expect(git(folder, ['rev-parse', 'main'])).to.equal(end === 'commit' ? expected : first)
        expect(leftovers(folder)).to.deep.equal([])
      })
    }
  })

  it('makes the ref of truth first and those that follow from it after, in the order of names each', async () => {
    const order: string[] = []
    const fs: Fs = {
      ...nodeFs,
      rename: (from, target) => (order.push(target.slice(folder.length + 1)), nodeFs.rename(from, target)),
    }
    const moves = [
      follower('HEAD', 'ref: refs/heads/a'),
      follower('refs/tags/v1', first),
      follower('refs/heads/a', first),
      to('refs/meta/artifact', undefined, second),
      to(MAIN, third, first),
    ]
    await move(folder, moves, { fs })
    expect(order).to.deep.equal([MAIN, 'refs/meta/artifact', 'HEAD', 'refs/heads/a', 'refs/tags/v1'])
  })

  it('says the truth when the disk keeps failing between two refs: the first moved, the other is locked', async () => {
    const fs: Fs = {
      ...nodeFs,
      rename: (from, target) => {
        if (target.endsWith('v1')) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
        nodeFs.rename(from, target)
      },
    }
    const refs = new RefReader(fs, folder)
    refs.snapshot()
    const moves = [to(MAIN, third, first), follower('refs/tags/v1', first)]
    const error: NodeJS.ErrnoException = await move(folder, moves, { fs, refs }).catch(itself)
    expect(error.code).to.equal('ENOSPC')
    expect(refsOf(folder)[MAIN]).to.equal(first)
    expect(refsOf(folder)).not.to.have.property('refs/tags/v1')
    expect(Object.fromEntries(refs.snapshot().refs)).to.deep.equal(refsOf(folder))
    expect(leftovers(folder).filter((path) => path.startsWith('refs/'))).to.deep.equal(['refs/tags/v1.lock'])
    // Nobody decided it in a journal, so there is nothing to finish for who wants it next.
    await move(folder, [to('refs/tags/v1', undefined, second)])
    expect(refsOf(folder)).to.include({ 'refs/tags/v1': second })
    expect(leftovers(folder)).to.deep.equal([])
  })

  it('lets one of several win that move the same refs, in whatever order they name them', async () => {
    const names = ['refs/heads/a', 'refs/heads/b', 'refs/tags/c', MAIN]
    const racers = [first, second, third].map((target, turn) => {
      const moves = names.map((ref) => to(ref, ref === MAIN ? third : undefined, target))
      return move(folder, [...moves.slice(turn), ...moves.slice(0, turn)], { decide: () => pause(5) }).then(
        () => target,
        (error: unknown) => (expect(error).to.be.instanceOf(RefMoved), undefined),
      )
    })
    const winners = (await Promise.all(racers)).filter((target) => target !== undefined)
    expect(winners).to.have.length(1)
    expect(names.map((ref) => refsOf(folder)[ref])).to.deep.equal(names.map(() => winners[0]))
    expect(leftovers(folder)).to.deep.equal([])
  })

  describe('onto a name that is a folder', () => {
    it('makes the ref where the folder, however deep, holds none', async () => {
      mkdirSync(`${folder}/refs/heads/topic/deep/deeper`, { recursive: true })
      await move(folder, [to('refs/heads/topic', undefined, first)])
      expect(refsOf(folder)['refs/heads/topic']).to.equal(first)
    })

    it('makes the ref beside names that only begin like it', async () => {
      git(folder, ['update-ref', 'refs/heads/topic-2/x', first])
      git(folder, ['update-ref', 'refs/tags/topic/x', first])
      git(folder, ['pack-refs', '--all'])
      await move(folder, [to('refs/heads/topic', undefined, first)])
      expect(refsOf(folder)['refs/heads/topic']).to.equal(first)
    })

    const places: Record<string, () => void> = {
      'as a file': () => undefined,
      'in packed-refs': () => void git(folder, ['pack-refs', '--all']),
      'in packed-refs, its empty folder left behind': () => {
        git(folder, ['pack-refs', '--all'])
        mkdirSync(`${folder}/refs/heads/topic/a`, { recursive: true })
      },
    }
    for (const [where, arrange] of Object.entries(places)) {
      it(`refuses to hide a deeper ref, which is ${where}`, async () => {
        git(folder, ['update-ref', 'refs/heads/topic/a/b', first])
        arrange()
        const before = refsOf(folder)
        let decided = false
        const decide = async () => void (decided = true)
        const moves = [to(MAIN, third, first), to('refs/heads/topic', undefined, first)]
        const refusal = await move(folder, moves, { decide }).catch(itself)
        expect(refusal.code).to.equal('slug_taken')
        expect(refusal.message).to.contain('refs/heads/topic cannot').and.contain('refs/heads/topic/a/b ')
        expect(refusal.data).to.deep.equal({ conflict: { slug: 'topic' } })
        expect(decided).to.equal(false)
        expect(refsOf(folder)).to.deep.equal(before)
        expect(leftovers(folder)).to.deep.equal([])
      })
    }

    it('keeps a deeper ref that git makes at the very moment its empty folder goes', async () => {
      mkdirSync(`${folder}/refs/heads/topic`)
      const fs: Fs = {
        ...nodeFs,
        removeFolder: (path) => {
          git(folder, ['update-ref', 'refs/heads/topic/new', second])
          return nodeFs.removeFolder(path)
        },
      }
      await move(folder, [to('refs/heads/topic', undefined, first)], { fs }).catch(itself)
      expect(refsOf(folder)['refs/heads/topic/new']).to.equal(second)
    })
  })

  it('does not write over a symbolic ref as if there were none', async () => {
    git(folder, ['symbolic-ref', 'refs/heads/alias', MAIN])
    const refused = await move(folder, [to('refs/heads/alias', undefined, first)]).catch(itself)
    expect(git(folder, ['symbolic-ref', 'refs/heads/alias'])).to.equal(MAIN)
    expect(refused).to.be.instanceOf(Error)
  })
})

function move(
  folder: string,
  moves: readonly RefMove[],
  with_: { fs?: Fs; refs?: RefReader; decide?: () => Promise<void> } = {},
): Promise<void> {
  const { fs = nodeFs, refs = new RefReader(fs, folder), decide = async () => undefined } = with_
  return moveRefs(fs, folder, refs, moves, decide)
}

function to(ref: string, expected: string | undefined, target: string): RefMove {
  return { ref, expected, target, follows: false }
}

function follower(ref: string, target: string): RefMove {
  return { ref, expected: undefined, target, follows: true }
}

/** All refs as git lists them. */
function refsOf(folder: string): Record<string, string> {
  const lines = git(folder, ['for-each-ref', '--format=%(refname) %(objectname)']).split('\n')
  return Object.fromEntries(lines.filter((line) => line !== '').map((line) => line.split(' ')))
}

/** Locks and owner files. */
function leftovers(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true }).map(String)
  return paths.filter((path) => {
    const isLock = path.endsWith('.lock') || path.startsWith('locks/')
    return isLock && statSync(`${folder}/${path}`).isFile()
  })
}

function itself<T>(error: T): T {
  return error
}
