import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { temporaryFolder } from '../../support/git/git-program.ts'

describe('versioning: a disk that has no room for index.db', () => {
  let service: RunningService
  // Before the folder is removed that the small disk is in.
  after(async () => {
    // Not where the test was skipped. SQLite's statements keep the file open until they are collected.
    await (service as RunningService | undefined)?.stop({ keepStore: true })
    if (service) execFileSync('umount', ['--lazy', join(storeDir, '.small')])
  })

  const storeDir = temporaryFolder()
  const small = join(storeDir, '.small')

  before(async function () {
    mkdirSync(join(storeDir, 'default'))
    mkdirSync(small)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small], { stdio: 'pipe' })
    } catch {
      process.stderr.write('      SKIPPED: only root may mount the small disk that this is about\n')
      this.skip()
    }
    // Artifacts have room; SQLite keeps its log where the link leads.
    symlinkSync(join(small, 'index.db'), join(storeDir, 'default', 'index.db'))
    service = await startService({ storeDir })
  })
  const commit = async (number: number): Promise<void> => {
    const message = `Number ${number} ${'x'.repeat(900)}`
    const sent = { workflow_ref: { slug: 'bot' }, message, data: { parameters: { number } } }
    const { status, text } = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: sent,
    })
    expect(status, text).to.equal(200)
  }
  const listed = async (): Promise<number> => {
    const { status, text, body } = await service.post('/workflows/revisions/query')
    expect(status, text).to.equal(200)
    return body.count
  }
  const problems = async () => (await service.get('/ready')).body.damaged

  it('answers from what it has, says so at /ready, and catches up once there is room', async () => {
    await service.post('/simple/workflows/', { workflow: { slug: 'bot', data: { parameters: {} } } })
    expect(await listed()).to.equal(1)
    expect(await problems()).to.deep.equal([])
    fill(join(small, 'filler'))
    for (let number = 2; number <= 40; number++) await commit(number)
    const before = await listed()
    expect(before).to.be.within(1, 39)
    const [problem, ...others] = await problems()
    expect(others).to.deep.equal([])
    expect(problem.repository).to.equal('index.db')
    expect(problem.reason).to.match(/^cannot be written: .*(full|disk I\/O error)/)
    // What is named is answered from its repository.
    const retrieve = { workflow_revision_ref: { slug: 'bot', version: 40 } }
    expect((await service.post('/workflows/revisions/retrieve', retrieve)).status).to.equal(200)
    rmSync(join(small, 'filler'))
    expect(await listed()).to.equal(40)
    expect(await problems()).to.deep.equal([])
    const { status, body } = await service.post('/search', { query: '"number 33"', include_history: true })
    expect([status, body.count]).to.deep.equal([200, 1])
  })
})

/** Takes all the room that is left of a disk. */
function fill(path: string): void {
  for (const bytes of [64 * 1024, 4096, 1]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes))
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).to.equal('ENOSPC')
    }
  }
}
