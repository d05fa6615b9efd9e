import { expect } from 'chai'
import { mkdirSync, writeFileSync } from 'node:fs'
import { git } from '../../../support/git/git-program.ts'
import { verified } from './verified.ts'
import { storeForEach } from './verify-store.ts'

describe('verify --second-reader', () => {
  const { dir, repository } = storeForEach()

  it('finds nothing in a sound store, loose or packed, with notes and annotated tags', async () => {
    const gitdir = repository('workflows/bot')
    git(gitdir, ['notes', '--ref=evaluations', 'add', '-m', 'four of five', 'bot'])
    git(gitdir, ['tag', '-a', '-m', 'annotated', 'by-hand', 'bot'])
    expect(
      (await verified(dir(), { secondReader: true })).lines.filter((line) => !line.startsWith('ok')),
    ).to.deep.equal([])
    git(gitdir, ['repack', '-adfq'])
    expect((await verified(dir(), { secondReader: true })).isSound).to.equal(true)
  })

  it('names the repository, the ref and the object that only our reader can read', async () => {
    const gitdir = repository('workflows/bot')
    // A second copy that is damaged: ours passes it by for the one in a pack, isomorphic-git believes it.
    git(gitdir, ['repack', '-adfq'])
    const oid = git(gitdir, ['rev-parse', 'bot'])
    const loose = `${gitdir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
    mkdirSync(`${gitdir}/objects/${oid.slice(0, 2)}`, { recursive: true })
    writeFileSync(loose, 'no object')
    const { of, isSound } = await verified(dir(), { secondReader: true })
    expect(isSound).to.equal(false)
    expect(of('workflows/bot')).to.match(/^damaged .*second reader/)
    expect(of('workflows/bot')).to.include(`object ${oid} of refs/heads/bot cannot be read by it`)
    expect(of('testsets/rows')).to.match(/^ok /)
  })
})
