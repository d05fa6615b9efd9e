import { expect } from 'chai'
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { dropRedundantPacks } from '../../../src/git/maintenance/maintain.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'

describe('git: packs that another one stands for', () => {
  it('go with all that lies beside them, and a multi-pack index with them', async () => {
    const { gitdir, folder, one, two, both } = repository()
    writeFileSync(`${folder}/${one}.rev`, '')
    git(gitdir, ['multi-pack-index', 'write'])
    await dropRedundantPacks(nodeFs, gitdir, [one, two], [both])
    expect(readdirSync(folder).sort()).to.deep.equal([`${both}.idx`, `${both}.pack`])
    expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
  })

  it('go where the rest of their objects lies in packs that stay, and not two for one another', async () => {
    const { gitdir, folder, one, two, both } = repository()
    const before = readdirSync(folder)
    git(gitdir, ['pack-objects', '--quiet', 'objects/pack/pack'], `${git(gitdir, ['rev-parse', 'main'])}\n`)
    const part = newPack(folder, before)
    await dropRedundantPacks(nodeFs, gitdir, [both, two, one], [part])
    const left = [one, two, both].filter((name) => existsSync(`${folder}/${name}.pack`))
    expect(left).to.deep.equal([both])
    expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
  })

  it('stay as soon as one object is nowhere else', async () => {
    const { gitdir, folder, one, two, both } = repository()
    const before = readdirSync(folder)
    await dropRedundantPacks(nodeFs, gitdir, [both], [one])
    await dropRedundantPacks(nodeFs, gitdir, [two], [one])
    await dropRedundantPacks(nodeFs, gitdir, [one, two, both], [])
    expect(readdirSync(folder)).to.deep.equal(before)
  })

  it('stay when somebody keeps them, when they cannot be read, and when the other one is gone', async () => {
    const { gitdir, folder, one, two, both } = repository()
    writeFileSync(`${folder}/${one}.keep`, '')
    renameSync(`${folder}/${two}.idx`, `${folder}/other`)
    writeFileSync(`${folder}/${two}.idx`, 'damaged')
    await dropRedundantPacks(nodeFs, gitdir, [one, two], [both])
    for (const name of [one, two]) expect(existsSync(`${folder}/${name}.pack`), name).to.equal(true)
    renameSync(`${folder}/other`, `${folder}/${two}.idx`)
    renameSync(`${folder}/${both}.idx`, `${folder}/other`)
    await dropRedundantPacks(nodeFs, gitdir, [two], [both])
    expect(existsSync(`${folder}/${two}.pack`)).to.equal(true)
  })
})

/** A repository of three packs: of one commit, of the next, and of both. */
function repository() {
  const gitdir = temporaryFolder()
  git(gitdir, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  const folder = `${gitdir}/objects/pack`
  const packs = ['first', 'second'].map((text, number) => {
    const before = readdirSync(folder)
    const from = number > 0 ? 'from refs/heads/main^0\n' : ''
    const stream =
      `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_700_000_000 + number} +0000\ndata 1\nx\n` +
      `${from}M 100644 inline f\ndata ${text.length}\n${text}\n`
    git(gitdir, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], stream)
    return newPack(folder, before)
  })
  const before = readdirSync(folder)
  git(gitdir, ['pack-objects', '--all', '--quiet', 'objects/pack/pack'], '')
  const [one = '', two = ''] = packs
  return { gitdir, folder, one, two, both: newPack(folder, before) }
}

function newPack(folder: string, before: readonly string[]): string {
  const name = readdirSync(folder).find((file) => file.endsWith('.idx') && !before.includes(file)) ?? ''
  return name.replace(/\.idx$/, '')
}
