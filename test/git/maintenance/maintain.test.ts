import { expect } from 'chai'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { countObjects, maintain } from '../../../src/git/maintenance/maintain.ts'
import { startMaintenance } from '../../../src/git/maintenance/schedule.ts'
import { storeRepositories } from '../../../src/git/store/repository-path.ts'
import { Store } from '../../../src/git/store/store.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { expectSound } from '../../support/git/expect-sound.ts'

describe('git: upkeep', () => {
  it('leaves a repository alone that is in order', async () => {
    const gitdir = repository()
    commitFiles(gitdir, 3)
    expect(await maintain(nodeFs, gitdir)).to.equal(undefined)
    expect(countObjects(nodeFs, gitdir).packs).to.equal(3)
  })

  it('makes a handful of many packs, loose objects and loose refs, and prunes nothing', async () => {
    const gitdir = repository()
    commitFiles(gitdir, 12)
    const head = git(gitdir, ['rev-parse', 'main'])
    for (let number = 0; number < 300; number++) writeFileSync(`${gitdir}/refs/tags/t${number}`, `${head}\n`)
    const unreachable = git(gitdir, ['hash-object', '-w', '--stdin'], 'nobody needs it')
    const kept = packsOf(gitdir)[0]?.replace(/pack$/, 'keep') ?? ''
    writeFileSync(`${gitdir}/objects/pack/${kept}`, 'somebody’s')
    const refs = git(gitdir, ['for-each-ref'])
    const upkept = await maintain(nodeFs, gitdir)
    expect(upkept?.problem).to.equal(undefined)
    expect(upkept?.before).to.include({ packs: 11, looseRefs: 301, looseObjects: 1 })
    expect(upkept?.after).to.include({ packs: 1, looseRefs: 0, looseObjects: 0 })
    expect(git(gitdir, ['for-each-ref'])).to.equal(refs)
    expect(git(gitdir, ['cat-file', 'blob', unreachable])).to.equal('nobody needs it')
    expect(existsSync(`${gitdir}/objects/pack/${kept}`)).to.equal(true)
    expect(git(gitdir, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    expect(await maintain(nodeFs, gitdir)).to.equal(undefined)
  })

  it('keeps unreachable objects of packs, too, when it makes one pack of all', async () => {
    const gitdir = repository()
    const packs: string[] = []
    // Each of twice as many objects as the one before, so that only making one of all makes them fewer.
    for (let number = 0; number < 9; number++) packs.push(commitPack(gitdir, 2 ** (number + 2) - 2))
    git(gitdir, ['update-ref', 'refs/heads/main', packs[7] ?? ''])
    const upkept = await maintain(nodeFs, gitdir)
    expect([upkept?.before.packs, upkept?.after.packs]).to.deep.equal([9, 1])
    expect(git(gitdir, ['cat-file', '-t', packs[8] ?? ''])).to.equal('commit')
  })

  it('what a power cut or a kill stops in the middle is taken up by the next', async () => {
    const gitdir = repository()
    commitFiles(gitdir, 12)
    const stopping = new AbortController()
    const running = maintain(nodeFs, gitdir, { signal: stopping.signal })
    stopping.abort()
    await running
    expect(git(gitdir, ['rev-list', '--count', 'main'])).to.equal('12')
    await maintain(nodeFs, gitdir, { anyway: true })
    expect(countObjects(nodeFs, gitdir)).to.include({ packs: 1, looseRefs: 0 })
    expect(git(gitdir, ['fsck', '--strict'])).to.equal('')
  })

  it('goes on in the background until it is stopped, and leaves stores in memory alone', async () => {
    const folder = temporaryFolder()
    const gitdir = repository(`${folder}/default/workflows/bot.git`)
    commitFiles(gitdir, 12)
    const stop = startMaintenance(
      nodeFs,
      () => storeRepositories(nodeFs, folder, ['workflows', 'testsets']),
      10,
    )
    for (let waited = 0; countObjects(nodeFs, gitdir).packs > 1; waited += 10) {
      expect(waited, 'milliseconds').to.be.below(10_000)
      await pause(10)
    }
    await stop()
    commitFiles(gitdir, 12)
    await pause(50)
    expect(countObjects(nodeFs, gitdir).packs).to.equal(13)
    const inMemory = memoryFs()
    await Store.open(inMemory, '/store')
    await startMaintenance(inMemory, () => expect.fail('was asked for repositories'), 0)()
  })

  describe('of what a server writes', () => {
    let service: RunningService
    before(async () => (service = await startService({ env: { UPKEEP: 'off' } })))
    after(() => service.stop())

    it('a small artifact takes at most 56 KB afterwards, in the words of du', async () => {
      const id = await create(service, 'small')
      for (let number = 2; number <= 6; number++) await commit(service, id, number)
      await service.post('/workflows/revisions/deploy', {
        workflow_revision_ref: { slug: 'small', version: 5 },
        environment_ref: { slug: 'production' },
      })
      const gitdir = service.repository('small')
      await maintain(nodeFs, gitdir, { anyway: true })
      expect(kilobytes(gitdir)).to.be.at.most(56)
      expect((await latest(service, 'small')).version).to.equal(6)
    })

    it('a history takes at most twice what git gc --aggressive makes of it', async () => {
      const id = await create(service, 'long')
      for (let number = 2; number <= 120; number++) await commit(service, id, number)
      const gitdir = service.repository('long')
      await maintain(nodeFs, gitdir, { anyway: true })
      const copy = `${temporaryFolder()}/long.git`
      // A copy of the files would meet those that the server puts together just then.
      git('/', ['clone', '--quiet', '--mirror', `file://${gitdir}`, copy])
      git(copy, ['gc', '--aggressive', '--prune=now', '--quiet'])
      expect(kilobytes(gitdir)).to.be.at.most(2 * kilobytes(copy))
    })

    it('goes on beside writing and reading: nothing is lost, refused or wrong', async () => {
      const id = await create(service, 'busy')
      const gitdir = service.repository('busy')
      const committed: string[] = []
      let isOver = false
      const reading = (async () => {
        for (let last = 0; !isOver;) {
          const { version, data } = await latest(service, 'busy')
          expect(version).to.be.at.least(last)
          expect(data.parameters.number).to.equal(version)
          last = version
        }
      })()
      const writing = (async () => {
        for (let number = 2; number <= 80; number++) committed.push(await commit(service, id, number))
        isOver = true
      })()
      while (!isOver) {
        await maintain(nodeFs, gitdir, { anyway: true })
        await pause(20)
      }
      await Promise.all([writing, reading])
      const known = git(gitdir, ['rev-list', '--reverse', 'busy']).split('\n')
      expect(known).to.have.length(80)
      expect(committed.every((revision, index) => known[index + 1]?.startsWith(revision))).to.equal(true)
      await maintain(nodeFs, gitdir, { anyway: true })
      expect(countObjects(nodeFs, gitdir).packs).to.be.at.most(5)
      expectSound(gitdir)
    })
  })
})

/** An empty bare repository, where one lies in a store. */
function repository(path = `${temporaryFolder()}/default/workflows/bot.git`): string {
  git('/', ['init', '--quiet', '--bare', '--initial-branch=main', path])
  return path
}

/** So many commits on main, each in a pack of its own. */
function commitFiles(gitdir: string, count: number): void {
  for (let number = 0; number < count; number++) {
    const from = existsSync(`${gitdir}/refs/heads/main`) || existsSync(`${gitdir}/packed-refs`)
    const stream =
      `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_700_000_000 + number} +0000\n` +
      `data 1\nx\n${from ? 'from refs/heads/main^0\n' : ''}M 100644 inline f\ndata 40\n${String(Math.random()).padEnd(40)}\n`
    git(gitdir, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], stream)
  }
}

/** A pack with a root commit of so many files that no ref needs. Answers the commit. */
function commitPack(gitdir: string, files: number): string {
  const names = Array.from({ length: files }, (_, number) => {
    return `M 100644 inline f${number}\ndata 40\n${String(Math.random()).padEnd(40)}\n`
  })
  const stream = `commit refs/heads/passing\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata 1\nx\n${names.join('')}`
  git(gitdir, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--force'], stream)
  const oid = git(gitdir, ['rev-parse', 'refs/heads/passing'])
  git(gitdir, ['update-ref', '-d', 'refs/heads/passing'])
  return oid
}

function packsOf(gitdir: string): string[] {
  return readdirSync(`${gitdir}/objects/pack`).filter((name) => name.endsWith('.pack'))
}

function kilobytes(folder: string): number {
  return Number(git('/', ['-c', `alias.du=!du -sk ${folder} | cut -f1`, 'du']))
}

async function create(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/simple/workflows/', { workflow: { slug, data: data(1) } })
  return body.workflow.variant_id
}

/** Answers the first twelve digits of the commit. */
async function commit(service: RunningService, variantId: string, number: number): Promise<string> {
  const { body } = await service.post('/workflows/revisions/commit', {
    workflow_revision: { workflow_variant_id: variantId, message: `${number}`, data: data(number) },
  })
  return body.workflow_revision.id.replaceAll('-', '').slice(0, 12)
}

async function latest(service: RunningService, slug: string) {
  const { body } = await service.post('/workflows/revisions/retrieve', { workflow_variant_ref: { slug } })
  return body.workflow_revision
}

/** A prompt of some length, of which a little changes with each revision. */
function data(number: number): object {
  const rules = Array.from({ length: 30 }, (_, rule) => `Rule ${rule}: mind ${(rule * number) % 97}.`)
  return { parameters: { number, system: 'You are calm and brief. '.repeat(20), rules } }
}
