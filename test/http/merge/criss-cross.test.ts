import { expect } from 'chai'
import { git } from '../../support/git/git-program.ts'
import { cloneOf } from '../../support/git/git-client.ts'
import type { MergeClient } from './merge-client.ts'
import { refused, startMerging } from './merge-client.ts'

describe('merge: sides that were merged into one another', () => {
  let client: MergeClient
  before(async () => (client = await startMerging('workflow')))
  after(() => client.stop())

  const data = (x: number, y: number): object => ({ parameters: { x, y } })

  type Commit = (...parents: readonly string[]) => string

  /** Two variants whose heads are what `make` makes of a first commit, and behind that an edit of each. */
  const sides = async (
    make: (commit: Commit, first: string) => readonly [string, string],
  ): Promise<readonly [source: string, target: string]> => {
    const target = await client.make(data(0, 0))
    const source = await client.fork(target)
    const clone = await cloneOf(client.service, target)
    const first = await clone.git('rev-parse', 'HEAD')
    const stream: string[] = []
    let made = 0
    const commit: Commit = (...[parent, ...others]) => {
      const message = `Commit ${++made}`
      stream.push(`commit refs/heads/made\nmark :${made}\ncommitter A <a@b> ${1_800_000_000 + made} +0000`)
      stream.push(`data ${message.length}\n${message}\nfrom ${parent}`)
      for (const other of others) stream.push(`merge ${other}`)
      return `:${made}`
    }
    const [one, other] = make(commit, first)
    for (const [name, mark] of Object.entries({ one, other }))
      stream.push(`reset refs/heads/${name}\nfrom ${mark}\n`)
    git(clone.folder, ['fast-import', '--quiet'], `${stream.join('\n')}\n`)
    await clone.git('push', '-q', 'origin', `one:refs/heads/${target}`, `other:refs/heads/${source}`)
    await client.commit(target, { data: data(1, 0) })
    await client.commit(source, { data: data(0, 2) })
    return [source, target]
  }
  /** So many times, each side takes in what the other one had before. */
  const crissCross = (levels: number) =>
    sides((commit, first) => {
      let [one, other] = [commit(first), commit(first)]
      for (let level = 0; level < levels; level++) [one, other] = [commit(one, other), commit(other, one)]
      return [one, other]
    })
  const withBases = (count: number) =>
    sides((commit, first) => {
      const bases = Array.from({ length: count }, () => commit(first))
      return [commit(...bases), commit(...bases.toReversed())]
    })
  const mergedData = async (source: string, target: string): Promise<unknown> => {
    const { merge } = await client.merge(source, target)
    expect(merge).to.deep.include({ kind: 'merge', base: null, conflicts: [] })
    return (await client.latest(target)).data.parameters
  }

  it('eight times over are merged; nine times over is 422, with the dry run, too', async () => {
    const [source, target] = await crissCross(8)
    expect(await mergedData(source, target)).to.deep.equal({ x: 1, y: 2 })
    for (const levels of [9, 32]) {
      const [theirs, mine] = await crissCross(levels)
      for (const dry_run of [true, false]) {
        const answer = await client.ask(theirs, mine, { dry_run })
        expect(refused(answer)).to.equal('422 too_many_merge_bases')
        expect(answer.body.detail).to.match(/on more than 8 levels/)
      }
      expect((await client.latest(mine)).data.parameters).to.deep.equal({ x: 1, y: 0 })
    }
  })

  // interface 6.12
  it('with 16 merge bases are merged; 17 are 422', async () => {
    const [source, target] = await withBases(16)
    expect(await mergedData(source, target)).to.deep.equal({ x: 1, y: 2 })
    const [theirs, mine] = await withBases(17)
    const answer = await client.ask(theirs, mine)
    expect(refused(answer)).to.equal('422 too_many_merge_bases')
    expect(answer.body.detail).to.match(/They have 17 merge bases; at most 16/)
    const compared = await client.post('/variants/compare', {
      base: { variant: { slug: mine } },
      head: { variant: { slug: theirs } },
    })
    expect(compared.status).to.equal(200)
  })

  it('whose bases have several bases each, others for each pair of them, are 422 after a bounded number of merges', async () => {
    const [source, target] = await sides((commit, first) => {
      let level = Array.from({ length: 16 }, () => commit(first))
      for (let at = 0; at < 7; at++) {
        const before = level
        level = before.map((_, n) =>
          commit(
            ...new Set([0, 1, 2, 3, 4, 5].map((by) => before[(n * (by + 2) + by * by + at) % 16] ?? '')),
          ),
        )
      }
      return [commit(...level), commit(...level.toReversed())]
    })
    const answer = await client.ask(source, target, { dry_run: true })
    expect(refused(answer)).to.equal('422 too_many_merge_bases')
    expect(answer.body.detail).to.match(/takes more than 128 merges/)
  })
})
