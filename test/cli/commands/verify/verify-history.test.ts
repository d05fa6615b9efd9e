import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { git } from '../../../support/git/git-program.ts'
import { startService } from '../../../support/servers/service.ts'
import { verified } from './verified.ts'
import { commitFile, storeForEach } from './verify-store.ts'

describe('branchpoint verify: history against the heads it saw before', () => {
  const { dir, repository } = storeForEach()

  it('a history that only grew is fine', async () => {
    expect((await verified(dir())).isSound).to.equal(true)
    commitFile(repository('workflows/bot'), 'bot', 'data.json', '{"parameters": {"n": 9}}')
    git(repository('workflows/bot'), ['branch', 'more', 'bot'])
    expect((await verified(dir())).of('workflows/bot')).to.match(/^ok .* 4 revisions$/)
  })

  const rewrites: Record<string, readonly [rewrite: (gitdir: string) => void, named: RegExp]> = {
    'a rewind': [
      (gitdir) => void git(gitdir, ['update-ref', 'refs/heads/bot', 'bot~1']),
      /history of refs\/heads\/bot was rewritten or renumbered.*git update-ref refs\/heads\/bot [0-9a-f]{40}/,
    ],
    'a merge that puts another first parent before it': [
      (gitdir) => {
        const tree = git(gitdir, ['rev-parse', 'bot^{tree}'])
        const merge = git(gitdir, ['commit-tree', tree, '-p', 'fork', '-p', 'bot', '-m', 'Merge'])
        git(gitdir, ['update-ref', 'refs/heads/bot', merge])
      },
      /refs\/heads\/bot was rewritten or renumbered/,
    ],
    'a branch that is gone': [
      (gitdir) => {
        git(gitdir, ['update-ref', 'refs/heads/other', 'bot'])
        git(gitdir, ['update-ref', '-d', 'refs/heads/bot'])
        git(gitdir, ['symbolic-ref', 'HEAD', 'refs/heads/other'])
      },
      /refs\/heads\/bot is gone/,
    ],
    'a tag that was moved': [
      (gitdir) => void git(gitdir, ['update-ref', 'refs/tags/chosen', 'bot~1']),
      /refs\/tags\/chosen was moved/,
    ],
    'a commit that is pruned': [
      (gitdir) => {
        git(gitdir, ['update-ref', 'refs/heads/bot', 'bot~1'])
        git(gitdir, ['update-ref', '-d', 'refs/environments/production'])
        git(gitdir, ['update-ref', '-d', 'refs/tags/chosen'])
        git(gitdir, ['gc', '--quiet', '--prune=now'])
      },
      /refs\/heads\/bot was rewritten/,
    ],
  }
  for (const [what, [rewrite, named]] of Object.entries(rewrites)) {
    it(`${what}: is told until it is put back or accepted`, async () => {
      await verified(dir())
      rewrite(repository('workflows/bot'))
      for (let times = 0; times < 2; times++) {
        const { of, isSound } = await verified(dir())
        expect(of('workflows/bot'))
          .to.match(/^damaged /)
          .and.to.match(named)
        expect(isSound).to.equal(false)
      }
      rmSync(`${repository('workflows/bot')}/verified-heads`)
      expect((await verified(dir())).of('workflows/bot')).not.to.match(named)
    })
  }

  it('a fork that went on and whose branch is gone is no fork that a crash cut off', async () => {
    const gitdir = repository('workflows/bot')
    commitFile(gitdir, 'fork', 'data.json', '{"parameters": {"n": 9}}')
    await verified(dir())
    git(gitdir, ['update-ref', '-d', 'refs/heads/fork'])
    const { of } = await verified(dir(), { repair: true })
    expect(of('workflows/bot')).to.match(/^damaged .*refs\/heads\/fork is gone/)
    await (await startService({ storeDir: dir() })).stop({ keepStore: true })
    expect(git(gitdir, ['for-each-ref', 'refs/heads/fork'])).to.equal('')
  })
})
