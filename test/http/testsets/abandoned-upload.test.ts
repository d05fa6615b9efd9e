import { expect } from 'chai'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { git } from '../../support/git/git-program.ts'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { pathsBelow } from '../../support/disk/paths-below.ts'
import { settledFiles, storeFiles } from './store-files.ts'
import type { MadeTestset, TestsetClient } from './testset-client.ts'
import { startTestsets } from './testset-client.ts'

const ROWS = 25_000
const FILE = `q\n${Array.from({ length: ROWS }, (_, n) => `question ${n * 7919}\n`).join('')}`

describe('testsets: an upload while something else happens', () => {
  let client: TestsetClient
  let kept: MadeTestset
  before(async () => (client = await startTestsets()))
  beforeEach(async () => (kept = await client.make([{ q: 'here' }])))
  after(() => client.stop())

  const isThere = (pattern: RegExp): boolean =>
    pathsBelow(client.service.storeDir).some((path) => pattern.test(path))
  /** Resolves when the rows of some upload are being written. */
  const untilAtWork = async (): Promise<void> => {
    while (!isThere(/\/tmp_[^/]*_pack$/)) await wait(1)
  }
  const untilAtRest = async (): Promise<void> => {
    while (isThere(/\/tmp_|\.uploads\/.|\/\.new-/)) await wait(1)
  }

  /** Sends the file, and goes away once the server works on it. */
  const abandon = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    const sent = request(client.service.url + path, {
      method: 'POST',
      headers: { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'text/csv', ...headers },
    })
    sent.on('error', () => undefined)
    sent.end(FILE)
    await untilAtWork()
    sent.destroy()
    await untilAtRest()
  }

  for (const [what, path] of [
    ['creates a testset', () => '/simple/testsets/upload?testset_slug=never'],
    ['replaces rows', () => `/simple/testsets/${kept.id}/upload`],
    ['follows a revision', () => `/testsets/revisions/${kept.revisionId}/upload`],
  ] as const) {
    it(`that ${what} stores nothing when its client goes away, and leaves nothing behind`, async () => {
      const before = await settledFiles(client.service.storeDir)
      await abandon(path())
      expect(storeFiles(client.service.storeDir)).to.deep.equal(before)
      expect((await client.latest(kept)).version).to.equal(1)
    })
  }

  it('is done when it is sent again with its Idempotency-Key, whatever became of it before', async () => {
    const path = `/simple/testsets/${kept.id}/upload?include_testcases=false`
    const headers = { 'idempotency-key': `gone-${kept.id}`, 'content-type': 'text/csv' }
    await abandon(path, headers)
    for (const replayed of [null, 'true']) {
      const reply = await client.service.call('POST', path, FILE, headers)
      expect(reply.body.testset.data.testcase_ids).to.have.length(ROWS)
      expect(reply.headers.get('idempotent-replayed')).to.equal(replayed)
    }
    expect((await client.latest(kept, { include_testcases: false })).version).to.equal(2)
  })

  it('goes on top of what was committed meanwhile', async () => {
    const path = `/testsets/revisions/${kept.revisionId}/upload?include_testcases=false`
    const uploading = client.service.call('POST', path, FILE, { 'content-type': 'text/csv' })
    await untilAtWork()
    const rows = { remove: kept.ids, add: [{ data: { q: 'question 0' } }] }
    const change = await client.change(kept, { rows })
    const { body } = await uploading
    expect([change.version, body.testset_revision.version]).to.deep.equal([2, 3])
    expect(body.testset_revision.data.testcase_ids).to.have.length(ROWS)
    const repository = client.repository(kept.slug)
    expect(git(repository, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    // the first row of the file is the one that was committed meanwhile, and stays where it lies
    const changed = git(repository, ['diff', '--name-status', 'HEAD~1', 'HEAD', '--', 'testcases/00/00'])
    expect(changed.split('\n')[0]).to.equal('A\ttestcases/00/00/03.json')
  })
})
