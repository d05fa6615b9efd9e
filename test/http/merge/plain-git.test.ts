import { expect } from 'chai'
import * as fc from 'fast-check'
import { cloneOf } from '../../support/git/git-client.ts'
import { samples } from '../../support/samples.ts'
import type { MergeClient } from './merge-client.ts'
import { startMerging } from './merge-client.ts'
import type { Edited } from './random-edits.ts'
import { editedPrompts, editedRows, promptData, rowsData } from './random-edits.ts'

const RUNS = samples(10)

/** What git takes for a renamed row may be another row: see the last test. (The strategy ort looks for renames although it is told not to.) */
const NO_RENAMES = ['-s', 'resolve']

/** What became of random merges, by both. */
interface Counts {
  same: number
  conflicts: number
  onlyOurs: number
  refused: number
}

for (const [singular, family] of [
  ['workflow', 'workflows'],
  ['testset', 'testsets'],
] as const) {
  describe(`merge: ${family} as plain git merges them`, () => {
    let client: MergeClient
    before(async () => (client = await startMerging(singular)))
    after(() => client.stop())

    /** Two variants, edited apart. */
    const apart = async ({ base, target, source }: Edited<object>): Promise<[string, string]> => {
      const mine = await client.make(base)
      const theirs = await client.fork(mine)
      await client.commit(mine, { data: target })
      await client.commit(theirs, { data: source })
      return [theirs, mine]
    }
    const shown = async (variant: string): Promise<unknown> => {
      const { data } = await client.latest(variant)
      return data.testcases?.map(({ data: row }: any) => row) ?? data
    }

    const edits: fc.Arbitrary<Edited<object>> =
      singular === 'workflow'
        ? editedPrompts.map((it) => mapEdited(it, promptData))
        : editedRows.map((it) => mapEdited(it, rowsData))

    it('where git ends without conflict in a tree that a push takes, the data are ours, or we report a conflict', async () => {
      const counts: Counts = { same: 0, conflicts: 0, onlyOurs: 0, refused: 0 }
      await fc.assert(
        fc.asyncProperty(edits, async (edited) => {
          const [source, target] = await apart(edited)
          const clone = await cloneOf(client.service, target, { family })
          const { code } = await clone.try(
            'merge',
            '-q',
            '--no-ff',
            ...(singular === 'testset' ? NO_RENAMES : []),
            '-m',
            'By git',
            `origin/${source}`,
          )
          const byGit = `${target}-git`
          const pushed =
            code === 0 && (await clone.try('push', '-q', 'origin', `HEAD:refs/heads/${byGit}`)).code === 0
          const { status, body } = await client.ask(source, target)
          expect(status === 200 || body.code === 'merge_conflict', JSON.stringify(body)).to.equal(true)
          if (!pushed) {
            if (code === 0) counts.refused++
            else if (status === 200) counts.onlyOurs++
            return
          }
          if (status !== 200) counts.conflicts++
          else {
            expect(await shown(target)).to.deep.equal(await shown(byGit))
            counts.same++
          }
        }),
        { numRuns: RUNS },
      )
      expect(counts.same, JSON.stringify(counts)).to.be.above(RUNS / 6)
    })

    it('conflicts are symmetric, versions and ids stay, and no row or message is lost', async () => {
      await fc.assert(
        fc.asyncProperty(edits, async (edited) => {
          const [source, target] = await apart(edited)
          const ids = client.git(target, 'rev-list', '--first-parent', '--reverse', target).split('\n')
          const there = await client.ask(source, target, { dry_run: true })
          const back = await client.ask(target, source, { dry_run: true })
          const kinds = ({ body }: typeof there): string[] =>
            body.merge.conflicts.map((it: any) => it.kind).sort()
          expect(kinds(back)).to.deep.equal(kinds(there))
          if (there.body.merge.conflicts.length > 0) return
          await client.merge(source, target)
          const now = client.git(target, 'rev-list', '--first-parent', '--reverse', target).split('\n')
          expect(now.slice(0, ids.length)).to.deep.equal(ids)
          if (singular === 'testset') assertNoRowLost(edited, await shown(target))
        }),
        { numRuns: RUNS },
      )
    })

    it('a revert of a commit just made gives the tree before, a cherry-pick of it the tree that it made', async () => {
      await fc.assert(
        fc.asyncProperty(edits, async ({ base, target: changed }) => {
          const variant = await client.make(base)
          const fork = await client.fork(variant)
          const made = await client.commit(variant, { data: changed })
          const tree = (ref: string): string => client.git(variant, 'rev-parse', `${ref}^{tree}`)
          const [before, after] = [tree(fork), tree(variant)]
          const revert = await client.post('/revisions/revert', { revision: { id: made.id } })
          expect(revert.status, revert.text).to.equal(200)
          expect(tree(variant)).to.equal(before)
          const pick = { revision: { id: made.id }, target: { variant: { slug: fork } } }
          expect((await client.post('/revisions/cherry-pick', pick)).status).to.equal(200)
          expect(tree(fork)).to.equal(after)
        }),
        { numRuns: RUNS },
      )
    })
  })
}

describe('merge: a row that plain git loses', () => {
  it('is kept: git takes a row that moved for one that was renamed, and puts the new row of its old place over it', async () => {
    const client = await startMerging('testset')
    try {
      const rows = (...ids: string[]): object => rowsData(ids.map((id) => ({ id, cells: { x: 1 } })))
      const target = await client.make(rows('a', 'b'))
      const source = await client.fork(target)
      await client.commit(target, { data: rows('b', 'a') })
      await client.commit(source, { data: rows('b', 'a', 'new') })
      const clone = await cloneOf(client.service, target, { family: 'testsets' })
      await clone.git('merge', '-q', '--no-ff', '-m', 'By git', `origin/${source}`)
      await clone.git('push', '-q', 'origin', `HEAD:refs/heads/${target}-git`)
      await client.merge(source, target)
      const ids = async (variant: string): Promise<string[]> =>
        (await client.latest(variant)).data.testcases.map(({ data }: any) => data.testcase_dedup_id)
      expect(await ids(`${target}-git`)).to.deep.equal(['new', 'a'])
      expect(await ids(target)).to.deep.equal(['b', 'a', 'new'])
    } finally {
      await client.stop()
    }
  })
})

function mapEdited<T, R>({ base, target, source }: Edited<T>, map: (data: T) => R): Edited<R> {
  return { base: map(base), target: map(target), source: map(source) }
}

/** Every row of either side is there, unless the other side removed one that the base had. */
function assertNoRowLost(edited: Edited<any>, merged: unknown): void {
  const ids = (rows: any[]): Set<string> => new Set(rows.map((row) => (row.data ?? row).testcase_dedup_id))
  const sides = mapEdited(edited, ({ testcases }) => ids(testcases))
  const kept = ids(merged as any[])
  for (const id of [...sides.target, ...sides.source]) {
    const isRemoved = sides.base.has(id) && !(sides.target.has(id) && sides.source.has(id))
    expect(kept.has(id), id).to.equal(!isRemoved)
  }
}
