import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { type ChildServer, KEY, startBranchpoint } from '../../../scripts/bench/child-server.ts'
import { git } from '../../git/git-program.ts'
import { storeFiles } from './store-files.ts'

const ROWS = 40_000
const FILE = `q,a\n${Array.from({ length: ROWS }, (_, n) => `question ${n},answer ${n * 7919}\n`).join('')}`

describe('testsets: a server that is killed during an upload', () => {
  let storeDir: string
  let server: ChildServer
  /** A testset that was there before, with two revisions. */
  let kept: string
  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-killed-'))
    server = await startBranchpoint(storeDir, { LOG_LEVEL: 'info' })
    const { testset } = await send('/simple/testsets/upload?testset_slug=kept', 'q\nhere\n')
    kept = testset.id
    await send(`/simple/testsets/${kept}/upload`, 'q\nhere\nthere\n')
  })
  afterEach(async () => {
    await server.stop()
    rmSync(storeDir, { recursive: true })
  })

  /** The answer; undefined if the connection broke first. */
  const send = async (path: string, body: string | ReadableStream): Promise<any> => {
    const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'text/csv' }
    const more = { duplex: 'half' } as RequestInit // which the types of node leave out
    return fetch(server.url + path, { method: 'POST', body, headers, ...more }).then(
      (response) => response.json(),
      () => undefined,
    )
  }

  /** Kills the server as soon as a file like this is there, and starts another. */
  const killAt = async (unfinished: RegExp, smallest: number): Promise<void> => {
    while (!filesLike(unfinished).some((path) => sizeOf(join(storeDir, path)) >= smallest)) await pause()
    await server.kill()
    expect(filesLike(unfinished)).to.not.deep.equal([])
    server = await startBranchpoint(storeDir, { LOG_LEVEL: 'info' })
    while (!(await fetch(`${server.url}/ready`)).ok) await pause()
  }
  const filesLike = (pattern: RegExp): string[] =>
    readdirSync(storeDir, { recursive: true, encoding: 'utf8' }).filter((path) => pattern.test(path))

  for (const [what, path, slug] of [
    ['creates a testset', '/simple/testsets/upload?testset_slug=new&', 'new'],
    ['replaces rows', '/simple/testsets/ID/upload?', 'kept'],
  ] as const) {
    it(`that ${what}: the next start removes what was staged, and the same upload succeeds`, async () => {
      const to = `${path.replace('ID', kept)}include_testcases=false`
      const before = filesAtRest(storeDir)
      const cutOff = send(to, FILE)
      await killAt(/\/tmp_[^/]*$/, 100_000)
      expect(await cutOff).to.equal(undefined)
      expect(filesAtRest(storeDir)).to.deep.equal(before)
      const { testset } = await send(to, FILE)
      expect(testset.data.testcase_ids).to.have.length(ROWS)
      const repository = join(storeDir, 'default', 'testsets', `${slug}.git`)
      expect(git(repository, ['fsck', '--strict', '--no-dangling'])).to.equal('')
    })
  }

  it('before the file is there: the next start removes what there is of it', async () => {
    const before = filesAtRest(storeDir)
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(FILE)) })
    const cutOff = send('/simple/testsets/upload', endless)
    await killAt(/^\.uploads\/./, FILE.length)
    expect(await cutOff).to.equal(undefined)
    expect(filesAtRest(storeDir)).to.deep.equal(before)
  })
})

/** Everything in the store but what each server makes for itself, and what is derived. */
function filesAtRest(storeDir: string): string[] {
  return storeFiles(storeDir).filter((line) => !/^\.journal|\/first-parents|\/row-keys/.test(line))
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2))
}
