import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { expectSound } from '../../../support/git/expect-sound.ts'
import { git } from '../../../support/git/git-program.ts'
import type { RunningService } from '../../../support/servers/service.ts'
import { ADMIN_KEY, startService } from '../../../support/servers/service.ts'
import { fillStore } from './full-store.ts'
import type { ReadRequest } from './recorded-requests.ts'
import { answersTo, readRequests } from './recorded-requests.ts'
import { runCommand } from './run-command.ts'

/** Answers hold addresses; these are the same wherever the server listens. */
const env = { PUBLIC_URL: 'https://registry.example' }

describe('backup and restore: a store with every feature in use', () => {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-backup-'))
  const [storeDir, backup] = [join(folder, 'store'), join(folder, 'backup')]
  let requests: ReadRequest[]
  let answers: readonly string[]
  const running: RunningService[] = []
  const started = async (store = storeDir): Promise<RunningService> => {
    const service = await startService({ storeDir: store, env })
    running.push(service)
    return service
  }
  const stopped = async (): Promise<void> => {
    for (const service of running.splice(0)) await service.stop({ keepStore: true })
  }

  before(async () => {
    await fillStore(await started())
    // What git brought is in lists within two seconds, or after a start.
    await stopped()
    const service = await started()
    requests = await readRequests(service)
    answers = await answersTo(service, requests)
    const { failures } = await runCommand('backup', ['--to', backup, '--store', storeDir])
    expect(failures).to.deep.equal([])
    await stopped()
  })
  afterEach(stopped)
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Every answer of the service is the recorded one, and what it was asked of has no other record than the backup. */
  async function expectSame(service: RunningService): Promise<void> {
    const now = await answersTo(service, requests)
    for (const [index, request] of requests.entries()) {
      expect(now[index], JSON.stringify(request)).to.equal(answers[index])
    }
    for (const family of ['workflows', 'testsets', 'environments', 'queries']) {
      for (const name of readdirSync(join(backup, 'default', family))) {
        const metaIn = (store: string): string =>
          git(join(store, 'default', family, name), ['rev-parse', 'refs/meta/artifact'])
        expect(metaIn(service.storeDir), `${family}/${name}`).to.equal(metaIn(backup))
      }
    }
  }

  it('is asked by at least 500 requests, nearly all of which find something', () => {
    expect(requests.length).to.be.at.least(500)
    expect(answers.filter((answer) => answer.startsWith('200 ')).length).to.be.above(requests.length * 0.9)
    expect(new Set(answers).size).to.be.above(requests.length * 0.5)
  })

  it('wiped and restored, answers every request as before, byte for byte', async () => {
    rmSync(storeDir, { recursive: true })
    const { failures } = await runCommand('restore', ['--from', backup, '--store', storeDir])
    expect(failures).to.deep.equal([])
    await expectSame(await started())
    for (const family of ['workflows', 'testsets', 'environments', 'queries']) {
      const names = readdirSync(join(storeDir, 'default', family))
      expect(names).to.deep.equal(readdirSync(join(backup, 'default', family)))
      for (const name of names) expect(name).to.match(/^[^.].*\.git$/)
      for (const name of names.filter((it) => it.endsWith('-main.git'))) {
        expectSound(join(storeDir, 'default', family, name))
      }
    }
  })

  it('restored under a running server that has just seeded its environments, the same', async () => {
    const other = join(folder, 'other')
    const service = await started(other)
    expect((await service.post('/environments/query')).body.count).to.equal(3)
    const { lines, failures } = await runCommand('restore', ['--from', backup, '--store', other])
    expect(failures).to.deep.equal([])
    expect(lines[0]).to.contain(' 3 in place of a seeded environment,')
    await expectSame(service)
  })

  it('restored over HTTP to such a server, the same', async () => {
    const service = await started(join(folder, 'remote'))
    const args = ['--from', backup, '--url', service.url, '--key', ADMIN_KEY]
    expect((await runCommand('restore', args)).failures).to.deep.equal([])
    await expectSame(service)
  })

  it('copied in by hand under a running server, is found by slug at once and by all else in two seconds', async () => {
    const other = join(folder, 'by-hand')
    const service = await started(other)
    const copy = (family: string, slug: string): void =>
      cpSync(join(backup, 'default', family, `${slug}.git`), service.repository(slug, family), {
        recursive: true,
      })
    const [at = -1] = requests.flatMap(({ path, body }, index) =>
      path === '/testsets/revisions/retrieve' && JSON.stringify(body) === BY_SLUG ? [index] : [],
    )
    const request = requests[at] ?? expect.fail('no such request')
    expect((await service.post(request.path, request.body)).status).to.equal(404)
    copy('testsets', 'capitals')
    expect(await answersTo(service, [request])).to.deep.equal([answers[at]])
    for (const family of ['workflows', 'testsets', 'queries']) {
      for (const name of readdirSync(join(backup, 'default', family))) {
        copy(family, name.slice(0, -'.git'.length))
      }
    }
    const copied = readdirSync(join(backup, 'default', 'workflows')).length
    const found = async (): Promise<number> =>
      (await service.post('/workflows/query', { include_archived: true })).body.count
    while ((await found()) < copied) await pause(100)
    expect(await found()).to.equal(copied)
  })
})

const BY_SLUG = JSON.stringify({ testset_ref: { slug: 'capitals' } })
