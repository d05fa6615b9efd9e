import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fs from 'node:fs'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { findMergeBase } from 'isomorphic-git'
import { commonHistory, firstParentsWhile, isAncestor } from '../../../src/git/history/merge-bases.ts'
import { encodeCommit, type GitObject, type Oid, hashObject } from '../../../src/git/objects/object.ts'
import { TimeSlice } from '../../../src/base/scheduling/cooperative.ts'
import { git } from '../../support/git/git-program.ts'
import { samples } from '../../support/samples.ts'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** A commit of a random history: which of those before it are its parents, counted back, and how its clock goes. */
interface Step {
  readonly parents: readonly number[]
  readonly tick: number
}

describe('merge bases of random histories', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-bases-'))
    git(folder, ['init', '-q', '--bare', '.'])
    git(folder, ['mktree'], '')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const steps = (tick: fc.Arbitrary<number>): fc.Arbitrary<Step[]> =>
    fc.array(fc.record({ parents: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }), tick }), {
      minLength: 2,
      maxLength: 30,
    })

  const made = (history: readonly Step[]) => {
    const objects = new Map<Oid, GitObject>()
    const commits: Oid[] = []
    let seconds = 1_700_000_000
    for (const [index, { parents, tick }] of history.entries()) {
      seconds += tick
      const who = { name: 'A', email: 'a@b', seconds, timezone: '+0000' }
      const bytes = encodeCommit({
        tree: EMPTY_TREE,
        parents: parents.flatMap((back) => commits[index - back] ?? []),
        author: who,
        committer: who,
        message: `${index}\n`,
      })
      const oid = hashObject('commit', bytes)
      objects.set(oid, { kind: 'commit', bytes })
      commits.push(oid)
    }
    return { commits, reader: { read: async (oid: Oid) => objects.get(oid) }, objects }
  }
  const stored = (objects: ReadonlyMap<Oid, GitObject>): void => {
    const files = [...objects].map(([oid, { bytes }]) => {
      writeFileSync(join(folder, `${oid}.commit`), bytes)
      return `${oid}.commit`
    })
    git(folder, ['hash-object', '-t', 'commit', '-w', '--stdin-paths'], files.join('\n'))
  }
  const lines = (text: string): string[] => text.split('\n').filter((it) => it !== '')
  const answerOf = (args: readonly string[]): string[] => {
    try {
      return lines(git(folder, args))
    } catch {
      return []
    }
  }

  for (const [name, tick] of [
    ['clocks that go on', fc.integer({ min: 0, max: 2 })],
    ['clocks that go astray', fc.integer({ min: -5, max: 5 })],
  ] as const) {
    it(`are those of git merge-base --all and of isomorphic-git, with ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(steps(tick), fc.nat(), fc.nat(), async (history, one, other) => {
          const { commits, reader, objects } = made(history)
          stored(objects)
          const [first = '', second = ''] = [one, other].map((at) => commits[at % commits.length] ?? '')
          const slice = new TimeSlice()
          const { bases, isInFirst, isInSecond } = await commonHistory(reader, first, second, slice)
          const expected = answerOf(['merge-base', '--all', first, second])
          expect([...bases].sort()).to.deep.equal(expected.sort())
          const theirs = await findMergeBase({ fs, dir: folder, gitdir: folder, oids: [first, second] })
          expect([...bases]).to.include.members(theirs)
          expect(await isAncestor(reader, first, second, slice)).to.equal(expected.includes(first))
          if (name === 'clocks that go astray') return
          const ahead = await firstParentsWhile(reader, second, (oid) => !isInFirst(oid), slice)
          expect(ahead).to.deep.equal(answerOf(['rev-list', '--first-parent', `${first}..${second}`]))
          const behind = await firstParentsWhile(reader, first, (oid) => !isInSecond(oid), slice)
          expect(behind).to.deep.equal(answerOf(['rev-list', '--first-parent', `${second}..${first}`]))
        }),
        { numRuns: samples(30) },
      )
    })
  }

  it('of a criss-cross are both, without their ancestor that a clock gone astray hides behind one of them', async () => {
    const { commits, reader, objects } = made([
      { parents: [], tick: 70 },
      { parents: [1], tick: 10 }, // the ancestor, which both merge, too
      { parents: [1], tick: -75 }, // older by its date than all that it comes from
      { parents: [1], tick: 85 }, // one base
      { parents: [4], tick: 1 }, // the other one
      { parents: [2, 1, 4], tick: 9 },
      { parents: [3, 2, 5], tick: 0 },
    ])
    stored(objects)
    const [, , , one = '', other = '', first = '', second = ''] = commits
    const { bases } = await commonHistory(reader, first, second, new TimeSlice())
    expect(bases).to.have.members([one, other])
    expect(answerOf(['merge-base', '--all', first, second])).to.have.members([one, other])
  })

  it('of very many are all of them, without those that lie behind others', async () => {
    const { commits, reader, objects } = made([
      { parents: [], tick: 1000 },
      { parents: [1], tick: 1 }, // an ancestor of the others, and younger by its date than they are
      ...Array.from({ length: 20 }, (_, at) => ({ parents: [at + 1], tick: at === 0 ? -500 : 1 })),
      { parents: Array.from({ length: 21 }, (_, at) => at + 1), tick: 1 },
      { parents: Array.from({ length: 21 }, (_, at) => at + 2), tick: 1 },
    ])
    stored(objects)
    const [first = '', second = ''] = commits.slice(-2)
    const { bases } = await commonHistory(reader, first, second, new TimeSlice())
    expect(bases).to.have.members(commits.slice(2, 22))
    expect(answerOf(['merge-base', '--all', first, second])).to.have.members([...bases])
  })

  it('what lies behind the base is not read', async () => {
    const long = Array.from({ length: 400 }, (_, at) => ({ parents: at === 0 ? [] : [1], tick: 1 }))
    const { commits, reader } = made([...long, { parents: [2], tick: 1 }])
    let read = 0
    const counting = { read: (oid: Oid) => (read++, reader.read(oid)) }
    const { bases } = await commonHistory(counting, commits[399] ?? '', commits[400] ?? '', new TimeSlice())
    expect(bases).to.deep.equal([commits[398]])
    expect(read).to.be.below(10)
  })
})
