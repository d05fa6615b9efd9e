import { expect } from 'chai'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { git, repositoryWithHistory } from '../../support/git/git-program.ts'
import { History, ancestorAt, isOnChain } from '../../../src/git/history/first-parent-history.ts'
import { ObjectDatabase } from '../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../src/git/packs/pack-cache.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

describe('git: first-parent history', () => {
  it('counts as git rev-list --first-parent does, merges included', async () => {
    const gitdir = repositoryWithHistory(5)
    const tree = git(gitdir, ['rev-parse', 'main^{tree}'])
    const side = git(gitdir, ['commit-tree', tree, '-p', 'main~3', '-m', 'side'])
    const merge = git(gitdir, ['commit-tree', tree, '-p', 'main', '-p', side, '-m', 'merge'])
    const history = open(gitdir)
    for (const oid of [merge, side, git(gitdir, ['rev-parse', 'main~4'])]) {
      const count = git(gitdir, ['rev-list', '--first-parent', '--count', oid])
      expect((await history.node(oid)).depth).to.equal(Number(count))
    }
    const [head, aside] = [await history.node(merge), await history.node(side)]
    expect(isOnChain(aside, head)).to.equal(false)
    expect(ancestorAt(head, 2)?.oid).to.equal(git(gitdir, ['rev-parse', 'main~3']))
    expect(ancestorAt(head, 7)).to.equal(undefined)
  })

  it('keeps nothing beside a short history', async () => {
    const gitdir = repositoryWithHistory(10)
    await open(gitdir).node(git(gitdir, ['rev-parse', 'main']))
    expect(existsSync(`${gitdir}/first-parents`)).to.equal(false)
  })

  it('keeps a long one, adds to it, and reads it back', async () => {
    const gitdir = repositoryWithHistory(200)
    const commits = git(gitdir, ['rev-list', 'main']).split('\n')
    const kept = (): number => readFileSync(`${gitdir}/first-parents`).length / 48
    await open(gitdir).node(commits[100] ?? '')
    expect(kept()).to.equal(100)
    const knowing = open(gitdir)
    for (const oid of commits.slice(0, 100).reverse()) {
      await knowing.node(oid)
      expect(commits.indexOf(oid) + kept(), 'few are walked at the next start').to.be.within(137, 200)
    }
    expect(kept()).to.equal(164)
    expect(chainOf(await open(gitdir).node(commits[0] ?? ''))).to.deep.equal(commits)
  })

  it('walks a very long one the same with and without the git program, down to what is known', async () => {
    const gitdir = repositoryWithHistory(1500)
    const all = git(gitdir, ['rev-list', 'main']).split('\n')
    for (const isSeenByOthers of [true, false]) {
      const fs = { ...nodeFs, isSeenByOthers }
      const history = () => new History(fs, gitdir, new ObjectDatabase(fs, gitdir, new PackCache()))
      expect(chainOf(await history().node(all[0] ?? ''))).to.deep.equal(all)
      rmSync(`${gitdir}/first-parents`)
      const knowing = history()
      await knowing.node(all[1200] ?? '')
      expect(chainOf(await knowing.node(all[0] ?? ''))).to.deep.equal(all)
      rmSync(`${gitdir}/first-parents`)
    }
  })

  const damages: Readonly<Record<string, (path: string) => void>> = {
    'is deleted': (path) => rmSync(path),
    'ends in half a record': (path) => appendFileSync(path, 'half a record'),
    'has a flipped bit in its last record': (path) => flip(path, -20),
    'has a flipped bit in its middle': (path) => flip(path, 48 * 50 + 45),
    'is of something else': (path) => writeFileSync(path, Buffer.alloc(48 * 3, 7)),
  }
  for (const [what, damage] of Object.entries(damages)) {
    it(`never tells anything wrong when the file ${what}`, async () => {
      const gitdir = repositoryWithHistory(100)
      const head = git(gitdir, ['rev-parse', 'main'])
      await open(gitdir).node(head)
      damage(`${gitdir}/first-parents`)
      const history = open(gitdir)
      const read = async (): Promise<string[]> => chainOf(await history.node(head))
      // What lies deeper than the damage is noticed only when it is asked for; then the second try is right.
      const chain = await read().catch(read)
      expect(chain).to.deep.equal(git(gitdir, ['rev-list', 'main']).split('\n'))
    })
  }
})

function open(gitdir: string): History {
  return new History(nodeFs, gitdir, new ObjectDatabase(nodeFs, gitdir, new PackCache()))
}

function chainOf(head: Awaited<ReturnType<History['node']>>): string[] {
  const oids = []
  for (let node: typeof head | undefined = head; node; node = node.parent) oids.push(node.oid)
  return oids
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  const index = at < 0 ? bytes.length + at : at
  bytes[index] = (bytes[index] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
